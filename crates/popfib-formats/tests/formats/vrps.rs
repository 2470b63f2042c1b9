//! VRPs: JSON and CSV as validators write them, and what is wrong with either.
//!
//! The samples have the form of what the manuals of rpki-client(8), routinator and StayRTR document.

use crate::common::{gzip, input};
use popfib::family::ByFamily;
use popfib_formats::{Input, LoadOptions, Loaded, ReadError, VrpFormat};
use popfib_table::rpki::FamilyVrps;

fn load_vrps(
    input: Input,
    options: &LoadOptions,
) -> Result<Loaded<ByFamily<FamilyVrps>>, ReadError> {
    popfib_formats::load(input, options)
}

fn skipping() -> LoadOptions {
    LoadOptions {
        skip_invalid: true,
        ..LoadOptions::new()
    }
}

const RPKI_CLIENT: &str = r#"{
	"metadata": { "buildtime": "2026-05-11T00:00:00Z", "roas": 4, "vrps": 3 },
	"roas": [
		{ "asn": 64500, "prefix": "192.0.2.0/24", "maxLength": 24, "ta": "ripe", "expires": 1765000000 },
		{ "asn": 64501, "prefix": "192.0.2.0/24", "maxLength": 26, "ta": "ripe", "expires": 1765000000 },
		{ "asn": 0, "prefix": "2001:db8::/32", "maxLength": 128, "ta": "apnic", "expires": 1765000000 }
	],
	"bgpsec_keys": [ { "asn": 64500, "ski": "AB" } ],
	"aspas": [ { "customer_asid": 64500, "providers": [ 64501 ] } ]
}
"#;
const ROUTINATOR: &str = r#"{
  "metadata": {"generated": 1765000000, "generatedTime": "2025-12-06T05:46:40Z"},
  "roas": [
    { "asn": "AS64500", "prefix": "192.0.2.0/24", "maxLength": 24, "ta": "ripe" },
    { "asn": "AS64501", "prefix": "192.0.2.0\/24", "maxLength": 26, "ta": "ripe" },
    { "asn": "AS0", "prefix": "2001:db8::/32", "maxLength": 128, "ta": "apnic" }
  ]
}"#;
const CSV: &str = "\
ASN,IP Prefix,Max Length,Trust Anchor,Expires
AS64500,192.0.2.0/24,24,ripe,1765000000
AS64501,192.0.2.0/24,26,ripe,1765000000
AS0,2001:db8::/32,128,apnic,1765000000
";
const CSV_COMPATIBLE: &str = "\
\"URI\",\"ASN\",\"IP Prefix\",\"Max Length\",\"Not Before\"
\"rsync://a/b.roa\",\"64500\",\"192.0.2.0/24\",\"24\",\"x\"
\"rsync://a/c.roa\",\"64501\",\"192.0.2.0/24\",\"26\",\"x\"
\"rsync://a/c.roa\",\"64501\",\"192.0.2.0/24\",\"26\",\"x\"
\"rsync://a/d.roa\",\"0\",\"2001:db8::/32\",\"128\",\"x\"
";

fn lines(table: &ByFamily<FamilyVrps>) -> Vec<String> {
    let v4 = table.ipv4.iter();
    let v4 = v4.map(|v| format!("{}-{} {}", v.prefix(), v.max_length(), v.asn()));
    let v6 = table.ipv6.iter();
    v4.chain(v6.map(|v| format!("{}-{} {}", v.prefix(), v.max_length(), v.asn())))
        .collect()
}

fn good(data: impl Into<Vec<u8>>) -> Vec<String> {
    lines(&load_vrps(input(data), &LoadOptions::new()).unwrap())
}

fn bad(data: impl Into<Vec<u8>>) -> String {
    let message = load_vrps(input(data), &LoadOptions::new())
        .unwrap_err()
        .to_string();
    assert!(!message.contains(char::is_control) && message.len() < 300);
    message
}

#[test]
fn every_validators_form() {
    let wanted = [
        "192.0.2.0/24-24 64500",
        "192.0.2.0/24-26 64501",
        "2001:db8::/32-128 0",
    ];
    for file in [
        RPKI_CLIENT,
        ROUTINATOR,
        CSV,
        CSV_COMPATIBLE,
        OPENBGPD,
        BIRD,
        FRR,
        SHOW_ROUTE,
    ] {
        assert_eq!(good(file), wanted, "{file}");
        assert_eq!(good(gzip(file.as_bytes())), wanted);
        assert_eq!(good(format!("\u{feff}{file}")), wanted);
        assert_eq!(good(file.replace('\n', "\r\n")), wanted);
    }
    // Without what is about the file, and without a heading.
    let start = ROUTINATOR.find("[").unwrap();
    assert_eq!(good(&ROUTINATOR[start..ROUTINATOR.len() - 2]), wanted);
    assert_eq!(good(&CSV[CSV.find('\n').unwrap() + 1..]), wanted);
}

#[test]
fn a_maximum_length_may_be_left_out() {
    let json = r#"{"roas":[{"prefix":"10.0.0.0/8","asn":1},{"prefix":"11.0.0.0/8","asn":"1.10","maxLength":null}]}"#;
    assert_eq!(
        good("[{\"prefix\":\"10.0.0.0/8\",\"asn\":1,\"maxLength\":\"9\"}]"),
        ["10.0.0.0/8-9 1"]
    );
    assert_eq!(good(json), ["10.0.0.0/8-8 1", "11.0.0.0/8-8 65546"]);
    assert_eq!(
        good("asn,prefix,maxlength\n1,10.0.0.0/8,\n"),
        ["10.0.0.0/8-8 1"]
    );
}

#[test]
fn lengths_and_numbers_have_bounds() {
    let of = |prefix: &str, max: &str, asn: &str| {
        let json = format!(
            "{{\"roas\":[\n{{\"prefix\":\"{prefix}\",\"maxLength\":{max},\"asn\":{asn}}}]}}"
        );
        let csv = format!(
            "ASN,IP Prefix,Max Length\n{},{prefix},{max}\n",
            asn.trim_matches('"')
        );
        let errors = [bad(json), bad(csv)];
        assert_eq!(errors[0], errors[1]);
        errors[0].clone()
    };
    assert_eq!(
        of("10.0.0.0/8", "7", "1"),
        "t:2: 10.0.0.0/8: 7: the maximum length is less than the prefix length 8"
    );
    assert_eq!(
        of("10.0.0.0/8", "33", "1"),
        "t:2: 10.0.0.0/8: 33: the maximum length is more than 32"
    );
    assert_eq!(
        of("::/0", "129", "1"),
        "t:2: ::/0: 129: the maximum length is more than 128"
    );
    assert!(of("::/0", "99999", "1").contains("is more than 128"));
    assert_eq!(
        of("::/0", "-1", "1"),
        "t:2: ::/0: \"-1\": not a maximum length"
    );
    assert_eq!(of("::/0", "0", "\"ASX\""), "t:2: \"ASX\": not an AS number");
    assert_eq!(
        of("::/0", "0", "4294967296"),
        "t:2: \"4294967296\": not an AS number"
    );
    assert!(of("::/0", "0", "-5").contains("not an AS number"));
    assert_eq!(
        bad("[{\"prefix\":\"::/0\",\"asn\":1.10}]"),
        "t:1: \"1.10\": not an AS number"
    );
    assert!(of("10.0.0.1/8", "8", "1").contains("host bits"));
    assert!(of("10.0.0.0/33", "8", "1").contains("more than 32"));
}

#[test]
fn what_holds_no_vrp() {
    assert!(bad("{\"roa\":[{\"prefix\":1}]}").contains("\"roa\": not a member of a file of VRPs"));
    assert_eq!(
        bad("[{\"prefix\":\"10.0.0.0/8\",\"asn\":1,\"max\":9}]"),
        "t:1: \"max\": not a member that is known"
    );
    for nothing in [
        "",
        "\n",
        "{}",
        "{\"roas\":[]}",
        "[]",
        "{\"roas\":{}}",
        "ASN,IP Prefix,Max Length\n",
    ] {
        assert!(
            bad(nothing).starts_with("t: there is no VRP in it"),
            "{nothing}"
        );
    }
    for (file, reason) in [
        (
            "ASN,IP Prefix,Max Length\n1,10.0.0.0/8,8,x\n",
            "4 columns, where the first line has 3",
        ),
        (
            "roa-set {\n10.0.0.0/8 x 1\n}\n",
            "\"x\": not what should stand here in a VRP",
        ),
        (
            "roa-set {\n10.0.0.0/8 maxlen 9\n}\n",
            "no prefix and AS number on this line",
        ),
    ] {
        assert_eq!(bad(file), format!("t:2: {reason}"));
    }
    assert_eq!(
        bad("10.0.0.0/8 64500\n"),
        "t:1: no ASN, IP Prefix and Max Length on this line"
    );
    assert_eq!(bad("[{\"asn\":1}]"), "t:1: missing field `prefix`");
    assert!(bad("[7]").contains("an object with prefix, maxLength and asn"));
    assert!(bad("{\"roas\":[{\"asn\":1,").contains("cut off"));
    assert!(bad(b"\0\x01\x02").contains("not text"));
}

#[test]
fn invalid_ones_can_be_skipped() {
    let csv = format!("{CSV}AS1,10.0.0.0/8,7\nAS1,10.0.0.0/8\n\n# end\n");
    let table = load_vrps(input(csv), &skipping()).unwrap();
    assert_eq!(
        (table.skipped, table.ipv4.len(), table.ipv6.len()),
        (2, 2, 1)
    );
    let cut = &RPKI_CLIENT[..RPKI_CLIENT.find("64501").unwrap()];
    let table = load_vrps(input(cut), &skipping()).unwrap();
    assert_eq!((table.ipv4.len(), table.notes.len()), (1, 1));
    assert!(load_vrps(input(cut), &LoadOptions::new()).is_err());
}

/// Whatever happens to a file, it ends in VRPs or in one line.
#[test]
fn damaged_files_end_in_one_line() {
    for file in [RPKI_CLIENT, ROUTINATOR, CSV, CSV_COMPATIBLE] {
        let bytes = file.as_bytes();
        for at in 0..bytes.len() {
            let cut = bytes[..at].to_vec();
            let flipped = [b'"', b'[', b'}', b',', b'\n', 0, 0xff].map(|byte| {
                let mut bytes = bytes.to_vec();
                bytes[at] = byte;
                bytes
            });
            for data in flipped.into_iter().chain([cut]) {
                let skipping = load_vrps(input(data.clone()), &skipping());
                match load_vrps(input(data), &LoadOptions::new()) {
                    // What is right is read all the same.
                    Ok(table) => assert_eq!(lines(&table), lines(&skipping.unwrap())),
                    Err(error) => {
                        let message = error.to_string();
                        assert!(!message.contains(char::is_control) && message.len() < 500);
                    }
                }
            }
        }
    }
}

#[test]
fn local_exceptions() {
    let text = r#"{ "slurmVersion": 1,
      "validationOutputFilters": { "prefixFilters": [ { "prefix": "192.0.2.0/24", "comment": "x" }, { "asn": 64496 } ], "bgpsecFilters": [ { "asn": 64496 } ] },
      "locallyAddedAssertions": { "prefixAssertions": [
        { "asn": 64496, "prefix": "198.51.100.0/24", "comment": "y" },
        { "asn": 64496, "prefix": "2001:db8::/32", "maxPrefixLength": 48 } ], "bgpsecAssertions": [ { "asn": 1, "SKI": "a", "routerPublicKey": "b" } ] } }"#;
    let table = load_vrps(input(text), &LoadOptions::new()).unwrap();
    assert_eq!(
        lines(&table),
        ["198.51.100.0/24-24 64496", "2001:db8::/32-48 64496"]
    );
    assert_eq!(table.notes, ["2 prefix filters of SLURM left out"]);
    let wrong = text.replace("198.51.100.0/24", "198.51.100.1/24");
    assert_eq!(
        bad(wrong),
        "t:4: \"198.51.100.1/24\": host bits are set beyond the prefix length; `mask` clears them"
    );
}

const OPENBGPD: &str = "\
# Generated
roa-set {
\t192.0.2.0/24 source-as 64500 expires 1639189098
\t192.0.2.0/24 maxlen 26 source-as 64501
\t2001:db8::/32 maxlen 128 source-as 0
}
aspa-set {
\tcustomer-as 64500 expires 1639189098 provider-as { 64501, 64502 }
}
";
const BIRD: &str = "\
define force_roa_table_update = 1639189098;
roa4 table r4;
roa6 table r6;
protocol static {
\troa4 { table r4; };
\troute 192.0.2.0/24 max 24 as 64500;
\troute 192.0.2.0/24 max 26 as 64501;
}
protocol static {
\troa6 { table r6; };
\troute 2001:db8::/32 max 128 as 0;
}
";
const FRR: &str = "\
RPKI/RTR prefix table
Prefix                                   Prefix Length  Origin-AS
192.0.2.0                                  24 -  24   64500
192.0.2.0                                  24 -  26   64501
2001:db8::                                 32 - 128   0
Number of IPv4 Prefixes: 2
Number of IPv6 Prefixes: 1
";
const SHOW_ROUTE: &str = "\
BIRD 2.0.8 ready.
Table r4:
192.0.2.0/24-24 AS64500  [rpki1 10:00:00.000] * (100)
192.0.2.0/24-26 AS64501  [rpki1 10:00:00.000] * (100)
2001:db8::/32-128 AS0  [rpki1 10:00:00.000] * (100)
";

/// Every word doubled, dropped, replaced, moved to the end of its line: the result is the right one, or an error.
#[test]
fn every_word_counts() {
    for (file, name) in [
        (RPKI_CLIENT, "json"),
        (CSV, "csv"),
        (CSV_COMPATIBLE, "csv"),
        (OPENBGPD, "text"),
        (BIRD, "text"),
        (FRR, "text"),
        (SHOW_ROUTE, "text"),
    ] {
        assert_eq!(VrpFormat::detect(file.as_bytes()).name(), name);
        let right = good(file);
        assert_eq!(right.len(), 3);
        let is_word = |c: char| !matches!(c, ' ' | '\t' | '\n' | ',' | ';' | '{' | '}' | '[' | ']');
        for (line_at, line) in file.split_inclusive('\n').scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some((start, line))
        }) {
            let mut at = 0;
            while let Some(start) = line[at..].find(is_word).map(|n| n + at) {
                let end = line[start..]
                    .find(|c| !is_word(c))
                    .map_or(line.len(), |n| n + start);
                at = end;
                let (before, word, after) = (&line[..start], &line[start..end], &line[end..]);
                let rest = after.trim_end();
                for changed in [
                    format!("{before}{word} {word}{after}"),
                    format!("{before}{after}"),
                    format!("{before}junk{after}"),
                    format!("{before}{rest} {word}\n"),
                ] {
                    let changed = format!(
                        "{}{changed}{}",
                        &file[..line_at],
                        &file[line_at + line.len()..]
                    );
                    if let Ok(table) = load_vrps(input(&*changed), &LoadOptions::new()) {
                        // Without a maximum length, it is that of the prefix.
                        let mut found = lines(&table);
                        for vrp in &mut found {
                            *vrp = vrp
                                .replace("24-24 64501", "24-26 64501")
                                .replace("32-32 ", "32-128 ");
                        }
                        found.dedup();
                        assert!(found == right, "{name}: {word}\n{changed}\n{found:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn host_bits_can_be_cleared() {
    let csv = "ASN,IP Prefix,Max Length\nAS64500,192.0.2.1/24,24\n";
    let options = LoadOptions {
        mask: true,
        ..LoadOptions::new()
    };
    assert!(bad(csv).contains("host bits"));
    assert_eq!(
        lines(&load_vrps(input(csv), &options).unwrap()),
        ["192.0.2.0/24-24 64500"]
    );
}

#[test]
fn prefix_and_maximum_length_first() {
    let text = "# x\n49.10.0.0/19-24 4910 DTAG\n49.20.0.0/19\tAS4920\n2001:db8::/32-48,64500\n";
    assert_eq!(
        good(text),
        [
            "49.10.0.0/19-24 4910",
            "49.20.0.0/19-19 4920",
            "2001:db8::/32-48 64500"
        ]
    );
    for (line, reason) in [
        ("49.10.0.0/19-24", "no prefix and AS number on this line"),
        ("49.10.0.0/19-24 x", "\"x\": not an AS number"),
        ("49.10.0.0/19-18 1", "49.10.0.0/19: 18: "),
    ] {
        let text = format!("49.20.0.0/19-24 1\n{line}\n");
        assert!(
            bad(&*text).starts_with(&format!("t:2: {reason}")),
            "{}",
            bad(&*text)
        );
    }
}

/// With a heading in any spelling, and without one, the length and the AS are never mistaken for each other.
#[test]
fn columns_are_told() {
    let wanted = ["10.0.0.0/8-24 64500"];
    for separator in [",", ";", "\t", ", "] {
        for heading in [
            ["Prefix", "MaxLength", "ASN"],
            ["prefix", "Max Length", "asn"],
            ["IP PREFIX", "MAX LENGTH", "ORIGIN"],
        ] {
            for order in [[0, 1, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let row = ["10.0.0.0/8", "24", "64500"];
                let lines = [heading, row].map(|cells| order.map(|n| cells[n]).join(separator));
                assert_eq!(good(lines.join("\n")), wanted, "{lines:?}");
            }
        }
    }
    for row in ["24 AS64500", "AS64500 24", "24 64500", "64500 24 ripe"] {
        for separator in [",", "\t", " "] {
            let row = format!("10.0.0.0/8 {row}").replace(' ', separator);
            assert_eq!(good(&*row), wanted, "{row}");
        }
    }
    for (file, reason) in [
        (
            "10.0.0.0/8,24,32\n",
            "t:1: 24 or 32: which is the AS? `AS` before it says so",
        ),
        (
            "Prefix MaxLength ASN\n10.0.0.0/8 33 64500\n",
            "t:2: 33 or 64500: which is the AS? `AS` before it says so",
        ),
        (
            "10.0.0.0/8 33 AS64500\n",
            "t:1: 10.0.0.0/8: 33: the maximum length is more than 32",
        ),
    ] {
        assert_eq!(bad(file), reason);
    }
    assert_eq!(
        good("10.0.0.0/8 AS64500 1765000000"),
        ["10.0.0.0/8-8 64500"]
    );
}
