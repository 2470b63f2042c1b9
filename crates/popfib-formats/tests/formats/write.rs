//! Tables written in every form come back as they were, whatever their next hops; files are there
//! as a whole or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::common::rounds::rounds;
use crate::common::{STRICT, load, read, routes, write_form};
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_formats::{OutputFile, RouteTable, WriteError, WriteFormat, WriteOptions, write_table};
use popfib_table::{Dictionary, Records};
use proptest::collection::vec;
use proptest::prelude::*;

fn table(routes: &[(IpPrefix, String)]) -> RouteTable {
    let mut table = RouteTable::default();
    let mut texts = Dictionary::new();
    for (prefix, next_hop) in routes {
        let next_hop = texts.intern(next_hop);
        match prefix {
            IpPrefix::V4(prefix) => table.ribs.ipv4.insert(*prefix, next_hop),
            IpPrefix::V6(prefix) => table.ribs.ipv6.insert(*prefix, next_hop),
        };
    }
    table.records = Records::of_texts_or_none(None, texts);
    table
}

/// The routes as a writer is to hand them out, in order.
fn wanted(table: &RouteTable) -> Vec<(IpPrefix, String)> {
    let name = |n: NextHop| table.value(n).into_owned();
    table.routes().map(|(p, n)| (p, name(n))).collect()
}

fn written(table: &RouteTable, format: WriteFormat) -> Result<String, WriteError> {
    let mut out = Vec::new();
    write_table(table, format, &WriteOptions::default(), &mut out)
        .map(|()| String::from_utf8(out).unwrap())
}

/// CSV as RFC 4180 has it, read character by character.
pub(super) fn csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let (mut row, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    assert!(row.is_empty() && field.is_empty() && !quoted, "{text}");
    rows
}

pub(super) fn prefix() -> impl Strategy<Value = IpPrefix> {
    prop_oneof![
        (any::<u32>(), 0u8..=32)
            .prop_map(|(bits, len)| Prefix::new_masked(bits, len).unwrap().into()),
        (any::<u128>(), 0u8..=128)
            .prop_map(|(bits, len)| Prefix::new_masked(bits, len).unwrap().into()),
    ]
}

/// The forms of routes with their next hops; of lists without them there is `write_lists`.
const FORMS: [&str; 4] = ["text", "json-lines", "csv", "pfx2as"];

/// Plain names, and such that meet what the forms mean by their signs.
fn next_hop() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,10}",
        "[0-9]{1,5}[_,.][0-9]{1,5}",
        "\\{[0-9]{1,5}(,[0-9]{1,5}){0,3}\\}",
        "[a-zA-Z0-9:._-]{1,12}",
        "[ -~]{0,6}",
        "[ ,;#\"\\\\\t\n\r\u{85}\u{feff}üλ]{0,4}",
        any::<String>(),
    ]
}

/// What docs/formats.md says of names.
fn is_name(name: &str) -> bool {
    let is_control = |c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}';
    name.chars().any(|c| !c.is_whitespace()) && !name.chars().any(is_control) && name.len() <= 4096
}

proptest! {
    #[test]
    fn every_form_keeps_what_it_takes(routes in vec((prefix(), next_hop()), 0..30)) {
        let (routes, refused): (Vec<_>, Vec<_>) = routes.into_iter().partition(|(_, name)| is_name(name));
        for route in refused {
            let refused_name = route.1.clone();
            let table = table(&[route]);
            for format in FORMS.map(write_form) {
                // A list of prefixes.
                let is_list = refused_name.is_empty() && format.name() != "pfx2as";
                prop_assert!(written(&table, format).is_err() != is_list);
            }
        }
        let table = table(&routes);
        let wanted = wanted(&table);

        let text = written(&table, write_form("json-lines")).unwrap();
        let lines = text.lines().map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            prop_assert_eq!(value.as_object().unwrap().len(), 2);
            let field = |key: &str| value[key].as_str().unwrap().to_owned();
            Ok((field("prefix").parse().unwrap(), field("next_hop")))
        });
        prop_assert_eq!(&lines.collect::<Result<Vec<_>, _>>()?, &wanted);

        let mut rows = csv(&written(&table, write_form("csv")).unwrap());
        prop_assert_eq!(rows.remove(0), ["prefix", "next_hop"]);
        let rows = rows.into_iter().map(|row| {
            let [prefix, next_hop] = <[String; 2]>::try_from(row).unwrap();
            (prefix.parse().unwrap(), next_hop)
        });
        prop_assert_eq!(&rows.collect::<Vec<_>>(), &wanted);
    }

    #[test]
    fn text_is_read_back_or_refused(routes in vec((prefix(), next_hop()), 1..10)) {
        for route in routes {
            let table = table(&[route]);
            match written(&table, write_form("text")) {
                Ok(text) => {
                    let back = read(text, &STRICT).unwrap();
                    prop_assert_eq!(wanted(&back), wanted(&table));
                }
                Err(error) => {
                    // Nothing is refused that the reader would have taken.
                    let (prefix, next_hop) = &wanted(&table)[0];
                    let back = read(format!("{prefix} {next_hop}\n"), &STRICT);
                    prop_assert!(
                        back.is_err() || crate::common::routes(&back.unwrap()) != crate::common::routes(&table),
                        "{}", error
                    );
                }
            }
        }
    }

    #[test]
    fn pfx2as_has_three_columns_of_numbers(routes in vec((prefix(), next_hop()), 1..10)) {
        for route in routes {
            let table = table(&[route]);
            let (prefix, next_hop) = &wanted(&table)[0];
            let inner = next_hop.strip_prefix('{').and_then(|set| set.strip_suffix('}'));
            let inner = inner.unwrap_or(next_hop);
            let numbers = inner.split(['_', ',']).all(|n| match n.split_once('.') {
                None => n.parse::<u32>().is_ok(),
                Some((a, b)) => a.parse::<u16>().is_ok() && b.parse::<u16>().is_ok(),
            }) && !next_hop.contains('+');
            match written(&table, write_form("pfx2as")) {
                Ok(text) => {
                    prop_assert!(numbers);
                    let line = text.strip_suffix('\n').unwrap();
                    let fields: Vec<&str> = line.split('\t').collect();
                    let [address, len, origin] = fields[..] else { panic!("{line}") };
                    prop_assert_eq!(format!("{address}/{len}"), prefix.to_string());
                    prop_assert_eq!(origin, inner);
                }
                Err(_) => prop_assert!(!numbers, "{}", next_hop),
            }
        }
    }
}

const SMALL: &str = "10.0.0.0/8 east\n10.1.0.0/16 64500\n2001:db8::/32 a\"b\n";

#[test]
fn every_form_to_the_letter() {
    let table = read(SMALL, &STRICT).unwrap();
    let form = |name: &str| written(&table, name.parse().unwrap());
    assert_eq!(form("text").unwrap(), SMALL);
    let lines = "{\"prefix\":\"10.0.0.0/8\",\"next_hop\":\"east\"}\n\
        {\"prefix\":\"10.1.0.0/16\",\"next_hop\":\"64500\"}\n\
        {\"prefix\":\"2001:db8::/32\",\"next_hop\":\"a\\\"b\"}\n";
    assert_eq!(form("json-lines").unwrap(), lines);
    assert_eq!(form("jsonl").unwrap(), lines);
    assert_eq!(
        form("csv").unwrap(),
        "prefix,next_hop\n10.0.0.0/8,east\n10.1.0.0/16,64500\n2001:db8::/32,\"a\"\"b\"\n"
    );
    let refused = form("pfx2as").unwrap_err().to_string();
    assert_eq!(refused, "10.0.0.0/8 \"east\": not an AS number");
    let sets = "10.0.0.0/8 64500_64501\n10.0.0.0/9 {1,2}\n::/0 0\n";
    let numbers = read(sets, &STRICT).unwrap();
    assert_eq!(written(&numbers, write_form("text")).unwrap(), sets);
    assert_eq!(
        written(&numbers, write_form("pfx2as")).unwrap(),
        "10.0.0.0\t8\t64500_64501\n10.0.0.0\t9\t1,2\n::\t0\t0\n"
    );
    assert!("xml".parse::<WriteFormat>().unwrap_err().contains("csv"));
}

#[test]
fn a_refused_route_is_told() {
    for format in [write_form("text"), write_form("pfx2as")] {
        let table = table(&[("10.0.0.0/8".parse().unwrap(), "a b\u{1b}".into())]);
        let error = written(&table, format).unwrap_err().to_string();
        assert!(error.starts_with("10.0.0.0/8 \"a b\\u{1b}\": "), "{error}");
    }
}

// ---------------------------------------------------------------- files

/// A table of more than one zstd frame.
fn large() -> RouteTable {
    let mut table = RouteTable::default();
    let mut texts = Dictionary::new();
    for n in 0..rounds(90_000, 250_000u32) {
        let next_hop = texts.intern(&format!("hop{}", n % 1000));
        table
            .ribs
            .ipv4
            .insert(Prefix::new(n << 8, 24).unwrap(), next_hop);
    }
    table.records = Records::of_texts_or_none(None, texts);
    table
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn files_are_compressed_as_their_names_say() {
    let directory = tempfile::tempdir().unwrap();
    let table = large();
    let plain = written(&table, write_form("text")).unwrap();
    assert!(plain.len() > 1 << 20);
    for (name, magic) in [
        ("t.txt", &b"0.0"[..]),
        ("t.gz", &[0x1f, 0x8b]),
        ("t.txt.GZ", &[0x1f, 0x8b]),
        ("t.bz2", b"BZh"),
        ("t.zst", &[0x28, 0xb5, 0x2f, 0xfd]),
    ] {
        let path = directory.path().join(name);
        let mut file = OutputFile::create(&path).unwrap();
        write_table(
            &table,
            write_form("text"),
            &WriteOptions::default(),
            &mut file,
        )
        .unwrap();
        assert!(!path.exists(), "{name}: not there before it is complete");
        file.finish().unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.starts_with(magic), "{name}");
        if name != "t.txt" {
            assert!(bytes.len() < plain.len() / 2, "{name}: {}", bytes.len());
        }
        assert_eq!(routes(&load(&path, &STRICT).unwrap()), routes(&table));
    }
    assert_eq!(
        names(directory.path()),
        ["t.bz2", "t.gz", "t.txt", "t.txt.GZ", "t.zst"]
    );
}

#[test]
fn an_empty_file_is_a_file() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["e.txt", "e.gz", "e.bz2", "e.zst"] {
        let path = directory.path().join(name);
        OutputFile::create(&path).unwrap().finish().unwrap();
        let error = load(&path, &STRICT).unwrap_err().to_string();
        assert!(error.contains("no route"), "{error}");
    }
}

#[test]
fn an_unfinished_file_leaves_no_trace() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.txt");
    fs::write(&path, "old").unwrap();
    let mut file = OutputFile::create(&path).unwrap();
    file.write_all(&[b'x'; 1 << 20]).unwrap();
    // Under a name of its own where the file system cannot do without one.
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    drop(file);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(directory.path()), ["t.txt"]);
}

#[test]
fn two_writers_of_one_file_do_not_meet() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.txt");
    let mut a = OutputFile::create(&path).unwrap();
    let mut b = OutputFile::create(&path).unwrap();
    a.write_all(b"aaa").unwrap();
    b.write_all(b"b").unwrap();
    b.finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "b");
    a.finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "aaa");
    assert_eq!(names(directory.path()), ["t.txt"]);
}

#[test]
fn places_where_no_file_can_be() {
    let directory = tempfile::tempdir().unwrap();
    assert!(OutputFile::create(directory.path()).is_err());
    assert!(OutputFile::create(&directory.path().join("no/such")).is_err());
    assert!(OutputFile::create(Path::new("")).is_err());
    assert_eq!(names(directory.path()), [""; 0]);
}

#[cfg(unix)]
#[test]
fn links_permissions_and_devices_stay() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let directory = tempfile::tempdir().unwrap();
    let (real, link) = (directory.path().join("real"), directory.path().join("link"));
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real", &link).unwrap();
    let mut file = OutputFile::create(&link).unwrap();
    file.write_all(b"new").unwrap();
    file.finish().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(names(directory.path()), ["link", "real"]);

    let null = Path::new("/dev/null");
    let mut file = OutputFile::create(null).unwrap();
    file.write_all(b"nothing").unwrap();
    file.finish().unwrap();
    let kind = fs::metadata(null).unwrap().file_type();
    assert!(kind.is_char_device());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    for bytes in [1, 1 << 20] {
        let mut file = OutputFile::create(Path::new("/dev/full")).unwrap();
        let written = file.write_all(&vec![b'x'; bytes]);
        let ended = written.and_then(|()| file.finish());
        let kind = ended.unwrap_err().kind();
        assert_eq!(kind, std::io::ErrorKind::StorageFull);
    }
}
