//! The files of `tests/data/hostile`, which all showed a fault once: each ends in
//! the right answer or in one clear line.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{SKIP, STRICT, load, load_from, routes};
use popfib_formats::{
    AddressBatch, AddressFile, AddressOptions, AddressSource, Change, Input, UpdateOptions,
    open_updates,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hostile")
}

/// What a file gives as a table: its routes, or its error without the folder.
fn table(name: &str) -> Result<Vec<String>, String> {
    let path = folder().join(name);
    let input = Input::open(path).unwrap().max_size(64 << 20);
    let loaded = load_from(input, &STRICT);
    loaded.map(|table| routes(&table)).map_err(|error| {
        let message = error.to_string();
        assert!(
            !message.contains(char::is_control) && message.len() < 500,
            "{message}"
        );
        let start = format!("{}/", folder().display());
        message
            .strip_prefix(&start)
            .expect("it names the file")
            .to_owned()
    })
}

fn addresses(name: &str) -> Vec<String> {
    let input = Input::open(folder().join(name)).unwrap();
    let mut file = AddressFile::open(input, None, &AddressOptions::default()).unwrap();
    let mut batch = AddressBatch::new();
    let mut all = Vec::new();
    while file.next_batch(&mut batch).unwrap() {
        all.extend(
            batch
                .ipv4()
                .iter()
                .map(|&a| std::net::Ipv4Addr::from(a).to_string()),
        );
    }
    all
}

fn update(name: &str) -> Result<String, String> {
    let input = Input::open(folder().join(name)).unwrap();
    match open_updates(input, &UpdateOptions::default())
        .unwrap()
        .next_update()
    {
        Ok(Some(update)) => match update.change {
            Change::Announce(next_hop) => Ok(next_hop.to_owned()),
            Change::Withdraw => Ok(String::new()),
        },
        Ok(None) => Ok(String::new()),
        Err(error) => Err(error.without_folder(&folder())),
    }
}

trait WithoutFolder {
    fn without_folder(&self, folder: &Path) -> String;
}

impl WithoutFolder for popfib_formats::ReadError {
    fn without_folder(&self, folder: &Path) -> String {
        let start = format!("{}/", folder.display());
        self.to_string().replace(&start, "")
    }
}

#[test]
fn every_file_has_its_answer() {
    let known: &[(&str, Result<&[&str], String>)] = &[
        ("bgp-prompt-drop.txt", Err("bgp-prompt-drop.txt:3: \"O>* 10.99.0.0/16 [110/20] via 10.0.0.1, eth0\": not a route".into())),
        ("bgp-ribfail2.txt", Err("bgp-ribfail2.txt:11: \"r>i 3.0.0.0/24       10.1.1.3                 0             ...\": not a route".into())),
        ("bgpdump-esc-nexthop.txt", Err("bgpdump-esc-nexthop.txt:1: this is not text: control character U+001B".into())),
        ("frr-empty-nexthop.json", Err("frr-empty-nexthop.json:1: no next hop after \"10.0.0.0/8\"".into())),
        ("gzip-zero-padded.gz", Ok(&["10.0.0.0/8 a"])),
        ("image-bomb.zst", Err("image-bomb.zst: the image has more bytes than the 3348 that its header states".into())),
        ("mmdb-not-depth-first.mmdb", Ok(&["192.0.0.0/2 2451539320"])),
        ("newline-bomb.zst", Err("newline-bomb.zst:66977794: decompressed, this is more than 67108864 bytes, the limit for compressed data".into())),
        ("nexthop-bomb.zst", Err("nexthop-bomb.zst:1: 64006 bytes: a next hop of more than 60000 bytes".into())),
        ("overlap.csv", Err("overlap.csv:3: the range 10.0.0.50 to 10.0.0.255 overlaps 10.0.0.0 to 10.0.0.100 of line 2, and neither lies in the other".into())),
        ("tsv-range-as-pfx2as.tsv", Ok(&["0.0.0.0/0 13335"])),
        ("win28.zst", Ok(&["10.0.0.0/8 aaaaaaaa"])),
        ("addr-semi-comma-in-quotes.csv", Err(String::new())),
        ("addr-tab-in-quotes.csv", Err(String::new())),
        ("updates-comma.txt", Err(String::new())),
        ("updates-ctrl.txt", Err(String::new())),
    ];
    let mut files: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    files.sort();
    let mut names: Vec<_> = known.iter().map(|&(name, _)| name).collect();
    names.sort();
    assert_eq!(files, names);
    for (name, wanted) in known {
        let found = table(name);
        match wanted {
            // No tables; what they are as updates or addresses is below.
            Err(wanted) if wanted.is_empty() => assert!(found.is_err(), "{name}"),
            Err(wanted) => assert_eq!(found, Err(wanted.clone()), "{name}"),
            Ok(wanted) => assert_eq!(found.unwrap(), *wanted, "{name}"),
        }
    }
    for name in ["addr-semi-comma-in-quotes.csv", "addr-tab-in-quotes.csv"] {
        let wanted: &[&str] = match name {
            "addr-tab-in-quotes.csv" => &["10.0.0.1", "10.0.0.2"],
            _ => &["10.0.0.1"],
        };
        assert_eq!(addresses(name), wanted, "{name}");
    }
    for (name, wanted) in [
        (
            "updates-comma.txt",
            "updates-comma.txt:1: more than a next hop: \"a,b\"",
        ),
        (
            "updates-ctrl.txt",
            "updates-ctrl.txt:1: this is not text: control character U+000B",
        ),
        (
            "bgpdump-esc-nexthop.txt",
            "bgpdump-esc-nexthop.txt:1: this is not text: control character U+001B",
        ),
    ] {
        assert_eq!(update(name), Err(wanted.to_owned()));
    }
}

/// Rows that are not understood are counted, and nothing below them goes to another network.
#[test]
fn rows_that_are_skipped_are_counted() {
    for (name, wanted) in [
        (
            "bgp-prompt-drop.txt",
            &[
                "1.0.0.0/24 10.1.1.1",
                "2.0.0.0/24 10.1.1.2",
                "2.1.0.0/24 10.1.1.2",
            ],
        ),
        (
            "bgp-ribfail2.txt",
            &[
                "1.0.0.0/24 10.1.1.1",
                "2.0.0.0/24 10.1.1.2",
                "7.0.0.0/24 10.1.1.7",
            ],
        ),
    ] {
        let table = load(&folder().join(name), &SKIP).unwrap();
        assert_eq!(routes(&table), wanted, "{name}");
        assert_eq!(table.skipped, 3, "{name}");
    }
}

#[test]
#[ignore = "10 GB"]
fn heavy_ten_gigabytes_of_line_ends() {
    let error = load(&folder().join("newline-bomb.zst"), &STRICT).unwrap_err();
    assert_eq!(
        error.without_folder(&folder()),
        "newline-bomb.zst:10485760002: \"x\": not an address"
    );
}
