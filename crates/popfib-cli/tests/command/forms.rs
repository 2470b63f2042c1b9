//! The forms in which logs write addresses, each between all that may stand beside it: what is found is what was put there, by
//! the finder in lines, cells and members and by each command; and nothing of it is left in a log that is handed on.

use std::collections::HashMap;
use std::io::Cursor;
use std::net::IpAddr;

use popfib_formats::addresses::{AddressPick, ColumnId, LinePart, find_address};
use popfib_formats::{AddressBatch, AddressFile, AddressOptions, AddressSource, Anonymizer, Input};

use crate::common::{file, run, stderr, stdout};

/// Addresses, each with what logs write for it.
const FORMS: &[(&str, &[&str])] = &[
    (
        "192.0.2.7",
        &[
            "192.0.2.7",
            "192.0.2.7:443",
            "192.0.2.7:51000",
            "192.0.2.7.443",
            "192.0.2.7.0",
            "192.0.2.7.65535",
            "192.0.2.7#53",
            "192.0.2.7(443)",
            "192.0.2.7/24",
            "192.0.2.7/443",
            "192.0.2.7,443",
            "[192.0.2.7]:443",
            "192[.]0[.]2[.]7",
            "192[.]0[.]2[.]7:443",
            "192(.)0.2(.)7",
            "//192.0.2.7/",
            "192.0.2.7%20",
            "src=192.0.2.7",
            "src:192.0.2.7:80",
            "outside/192.0.2.7(443)",
            "HIER_DIRECT/192.0.2.7",
            "ens192:192.0.2.7",
        ],
    ),
    (
        "2001:db8:4538:1:bcf4:5264:e01c:f215",
        &[
            "2001:db8:4538:1:bcf4:5264:e01c:f215",
            "2001:0DB8:4538:0001:BCF4:5264:E01C:F215",
            "2001:db8:4538:1:bcf4:5264:e01c:f215:443",
            "2001:db8:4538:1:bcf4:5264:e01c:f215:50718",
            "2001:db8:4538:1:bcf4:5264:e01c:f215:0",
            "2001:db8:4538:1:bcf4:5264:e01c:f215.443",
            "2001:db8:4538:1:bcf4:5264:e01c:f215.domain",
            "[2001:db8:4538:1:bcf4:5264:e01c:f215]:443",
            "2001:db8:4538:1:bcf4:5264:e01c:f215#53",
            "2001:db8:4538:1:bcf4:5264:e01c:f215/443",
            "2001:db8:4538:1:bcf4:5264:e01c:f215%eth0",
            "src:2001:db8:4538:1:bcf4:5264:e01c:f215:50718",
            "IPv6:2001:db8:4538:1:bcf4:5264:e01c:f215",
            "2001[:]db8[:]4538[:]1[:]bcf4[:]5264[:]e01c[:]f215",
            "2001[:]db8[:]4538[:]1[:]bcf4[:]5264[:]e01c[:]f215:443",
        ],
    ),
    (
        "2001:db8::5",
        &[
            "2001:db8::5",
            "2001:db8::5:51000",
            "2001:db8::5.443",
            "2001:db8::5.51000",
            "2001:db8::5.https",
            "2001:db8::5.domain",
            "2001:db8::5:domain",
            "[2001:db8::5]:443",
            "2001:db8::5[443]",
            "2001:db8::5(443)",
            "2001:db8::5#53",
            "2001:db8::5/128",
            "2001:db8::5%en0",
            "2001:db8::5%en0.443",
            "ens192:2001:db8::5:51000",
            "2001[:]db8[::]5",
            "2001:db8[::]5",
            "2001[:]db8[:][:]5",
            "2001(:)db8(::)5",
            "2001[:]db8[::]5:51000",
        ],
    ),
    (
        "::ffff:192.0.2.7",
        &[
            "::ffff:192.0.2.7",
            "::ffff:192.0.2.7:80",
            "::ffff:192.0.2.7:51000",
            "[::ffff:192.0.2.7]:80",
            "::ffff:192.0.2.7.80",
            "::FFFF:192.0.2.7",
            "0:0:0:0:0:ffff:192.0.2.7:80",
            "[::ffff:c000:207]:80",
        ],
    ),
];

/// What may stand before and after. None of it has a letter or digit right beside the form.
const BESIDE: &[(&str, &str)] = &[
    ("", ""),
    (" ", " "),
    ("\t", "\t"),
    ("x ", " y"),
    ("\"", "\""),
    ("'", "'"),
    ("(", ")"),
    ("<", ">"),
    ("{", "}"),
    ("[client ", "]"),
    ("a=", ";b=1"),
    (",", ","),
    ("|", "|"),
    ("] ", "."),
    ("@", ","),
    ("> ", ": x"),
    ("<- ", " -> x"),
    (">", "</a>"),
    ("%20", "%20"),
    ("\\t", "\\n"),
    ("\\u003c", "\\u003e"),
    ("\u{1b}[31m", "\u{1b}[0m"),
    ("\u{201c}", "\u{201d}"),
];

/// Lines, each with the addresses in it.
fn lines() -> Vec<(String, Vec<IpAddr>)> {
    let mut lines = Vec::new();
    let noise = "27/Nov/2026:10:20:30 +0100 2026-11-27T10:20:30.123Z v1.2.3.4 1.3.6.1.4.1 00:11:22:33:44:55 a.example:80";
    for (address, forms) in FORMS {
        let address: IpAddr = address.parse().unwrap();
        for form in *forms {
            for (before, after) in BESIDE {
                // An escape changes the word that it is before.
                if before.starts_with(['%', '\\', '\u{1b}']) && form.starts_with("HIER") {
                    continue;
                }
                lines.push((format!("{before}{form}{after}"), vec![address]));
                lines.push((
                    format!("{noise} {before}{form}{after} {noise}"),
                    vec![address],
                ));
                for (other, [second, ..]) in FORMS
                    .iter()
                    .map(|(other, forms)| (other, [forms[forms.len() / 2]]))
                {
                    lines.push((
                        format!("{before}{form}{after} {before}{second}{after}"),
                        vec![address, other.parse().unwrap()],
                    ));
                }
            }
        }
    }
    lines
}

fn found(line: &[u8]) -> Vec<IpAddr> {
    let mut at = 0;
    let next = || {
        let found = find_address(line, at)?;
        at = found.range.end;
        Some(found.address)
    };
    std::iter::from_fn(next).collect()
}

/// The addresses that a file has by `options`, cell by cell.
fn read(text: &str, options: AddressOptions) -> Vec<Vec<IpAddr>> {
    let input = Input::from_reader("t", Cursor::new(text.as_bytes().to_vec()));
    let options = AddressOptions {
        pick: AddressPick::All,
        ..options
    };
    let mut source = AddressFile::open(input, None, &options).unwrap();
    let (mut batch, mut cells) = (AddressBatch::new(), Vec::new());
    while source.next_batch(&mut batch).unwrap() {
        let mut all = batch.iter().map(|found| Some(found?.0));
        let counts = batch.cells().iter();
        cells.extend(counts.map(|&count| {
            all.by_ref()
                .take(count.max(1) as usize)
                .flatten()
                .collect::<Vec<_>>()
        }));
    }
    cells
}

#[test]
fn every_form_is_found_wherever_it_stands() {
    let lines = lines();
    for (line, addresses) in &lines {
        assert_eq!(found(line.as_bytes()), *addresses, "{line}");
    }
    let expected: Vec<_> = lines
        .iter()
        .map(|(_, addresses)| addresses.clone())
        .collect();
    let text: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    assert!(read(&text, AddressOptions::default()) == expected);
    let quoted = |line: &String| format!("1,\"{}\",x\n", line.replace('"', "\"\""));
    let csv: String = lines.iter().map(|(line, _)| quoted(line)).collect();
    let columns = vec![ColumnId::Name("client".to_owned())];
    assert!(
        read(
            &format!("n,client,x\n{csv}"),
            AddressOptions {
                columns,
                ..Default::default()
            }
        ) == expected
    );
    let member = |line: &String| {
        format!(
            "{{\"n\":1,\"client\":{}}}\n",
            serde_json::to_string(line).unwrap()
        )
    };
    let json: String = lines.iter().map(|(line, _)| member(line)).collect();
    let parts = vec![LinePart::Path("client".to_owned())];
    assert!(
        read(
            &json,
            AddressOptions {
                parts,
                ..Default::default()
            }
        ) == expected
    );
}

#[test]
fn commands_agree_and_leave_no_address_whole() {
    let lines = lines();
    let text: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    let log = file("forms.log", &text);
    let all = file("all.txt", "0.0.0.0/0 four\n::/0 six\n");
    let output = |args: &[&str]| {
        let output = run(&[args, &["-t", &all, &log]].concat());
        let is_silent =
            stderr(&output).is_empty() || stderr(&output).contains("addresses are taken");
        assert!(is_silent, "{}", stderr(&output));
        stdout(&output).to_owned()
    };
    let numbered = lines.iter().enumerate();
    let numbered = numbered.flat_map(|(at, (_, found))| {
        found
            .iter()
            .map(move |found| format!("{}:{found}\n", at + 1))
    });
    assert!(output(&["grep", "-on"]) == numbered.collect::<String>());
    let first = lines.iter().map(|(_, found)| match found[0] {
        IpAddr::V4(_) => "0.0.0.0/0,four\n",
        IpAddr::V6(_) => "::/0,six\n",
    });
    let annotated = output(&["annotate", "--to", "csv", "--address", "1"]);
    let expected = lines
        .iter()
        .zip(first)
        .map(|((_, found), answer)| format!("{},{answer}", found[0]));
    assert!(
        annotated
            == expected.fold("address,prefix,next_hop\n".to_owned(), |all, line| all
                + &line)
    );
    let mut counts = HashMap::<IpAddr, u64>::new();
    lines
        .iter()
        .flat_map(|(_, found)| found)
        .for_each(|&found| *counts.entry(found).or_default() += 1);
    let counted = run(&["count", "--by", "address", "--address", "all", &log]);
    for line in stdout(&counted).lines() {
        let (count, address) = line.split_once('\t').unwrap();
        assert_eq!(
            counts.remove(&address.parse().unwrap()),
            Some(count.parse().unwrap()),
            "{line}"
        );
    }
    assert!(counts.is_empty());
    let key = "00".repeat(32);
    let anonymizers = [
        (vec!["--cut", "/24,/48"], Anonymizer::cut(24, 48)),
        (vec!["--anonymize"], Anonymizer::crypto_pan(&[0; 32])),
    ];
    let key = file("key", key);
    for (mut args, by) in anonymizers {
        if args.len() == 1 {
            args.push(&key);
        }
        let changed = run(&[&["annotate"], &args[..], &[&log]].concat());
        assert_eq!(stdout(&changed).lines().count(), lines.len());
        for (line, (before, addresses)) in stdout(&changed).lines().zip(&lines) {
            let is_cut = |&address: &IpAddr| {
                let new = by.ip(address);
                // Of a prefix its host bits are cleared, too.
                found(line.as_bytes())
                    .iter()
                    .any(|found| *found == new || Anonymizer::cut(24, 128).ip(new) == *found)
            };
            assert!(addresses.iter().all(is_cut), "{before}\n{line}");
            assert_eq!(
                found(line.as_bytes()).len(),
                addresses.len(),
                "{before}\n{line}"
            );
            for whole in [
                "192.0.2.7",
                "192[",
                "192(",
                "f215",
                "F215",
                "::5",
                "[::]5",
                "[:]5",
                "c000:207",
            ] {
                assert!(!line.contains(whole), "{before}\n{line}");
            }
        }
    }
}
