//! `popfib rov`: states of routes, the VRPs that decided, differences between VRPs.

use std::fmt::Write as _;
use std::path::Path;

use crate::common::{bad, file, good, keys, run, run_with, stderr, stdout};
use serde_json::Value;

const TABLE: &str = "\
10.0.0.0/16 64500
10.0.0.0/17 64500
10.0.128.0/17 64501
10.1.0.0/16 64502
10.2.0.0/16 {64500,64501}
10.3.0.0/16 {64500,64501}
10.4.0.0/16 64500_64509
2001:db8::/32 AS64500
";
const VRPS: &str = "\
ASN,IP Prefix,Max Length,Trust Anchor
AS64500,10.0.0.0/16,16,ripe
AS64501,10.0.0.0/16,24,ripe
AS0,10.1.0.0/16,32,ripe
AS64500,10.2.0.0/15,16,ripe
AS64500,10.4.0.0/16,16,ripe
AS64500,2001:db8::/32,48,ripe
";

/// A table and its VRPs as files.
fn files(name: &str) -> [String; 2] {
    [
        file(&format!("rov-{name}-table"), TABLE),
        file(&format!("rov-{name}-vrps"), VRPS),
    ]
}

#[test]
fn a_summary_counts_the_states() {
    let [table, vrps] = files("summary");
    let output = run(&["rov", "--table", &table, "--vrps", &vrps, "--json"]);
    let summary: Value = serde_json::from_str(good(&output)).unwrap();
    assert_eq!(keys(&summary), ["ipv4", "ipv6"]);
    let names = [
        "invalid_as",
        "invalid_length",
        "not_found",
        "routes",
        "valid",
    ];
    assert_eq!(keys(&summary["ipv4"]), names);
    let counts = |family: &str| names.map(|name| summary[family][name].as_u64().unwrap());
    assert_eq!(counts("ipv4"), [4, 1, 0, 8, 3]);
    assert_eq!(counts("ipv6"), [0, 0, 0, 1, 1]);
    let output = run(&["rov", "--table", &table, "--vrps", &vrps]);
    let rows: Vec<Vec<&str>> = good(&output)
        .lines()
        .map(|l| l.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0], ["ipv4", "ipv6"]);
    assert_eq!(rows[1], ["routes", "8", "1"]);
    assert_eq!(rows[3], ["invalid-as", "4", "0"]);
}

#[test]
fn routes_of_a_state_with_the_vrps_that_decided() {
    let [table, vrps] = files("state");
    let states = |states: &str| {
        let output = run(&["rov", "--table", &table, "--vrps", &vrps, "--state", states]);
        (stdout(&output).to_owned(), output.status.code())
    };
    assert_eq!(
        states("invalid-as,invalid-length").0,
        "10.0.0.0/17\t64500\tinvalid-length\t10.0.0.0/16-16 AS64500\n\
         10.1.0.0/16\t64502\tinvalid-as\t10.1.0.0/16-32 AS0\n\
         10.2.0.0/16\t{64500,64501}\tinvalid-as\t10.2.0.0/15-16 AS64500\n\
         10.3.0.0/16\t{64500,64501}\tinvalid-as\t10.2.0.0/15-16 AS64500\n\
         10.4.0.0/16\t64509\tinvalid-as\t10.4.0.0/16-16 AS64500\n"
    );
    assert_eq!(states("not-found"), (String::new(), Some(1)));
    assert_eq!(states("valid").0.lines().count(), 4);
    let output = run(&[
        "rov", "--table", &table, "--vrps", &vrps, "--state", "valid", "--json",
    ]);
    let lines: Vec<Value> = good(&output)
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(keys(&lines[0]), ["origin", "prefix", "state", "vrps"]);
    assert_eq!(
        lines[1].to_string(),
        r#"{"origin":"64501","prefix":"10.0.128.0/17","state":"valid","vrps":[{"asn":64501,"max_length":24,"prefix":"10.0.0.0/16"}]}"#
    );
    let uncovered = file("rov-uncovered", "172.16.0.0/12 1\n");
    let output = run(&[
        "rov",
        "--table",
        &uncovered,
        "--vrps",
        &vrps,
        "--state",
        "not-found",
    ]);
    assert_eq!(good(&output), "172.16.0.0/12\t1\tnot-found\t-\n");
}

#[test]
fn what_other_vrps_change() {
    let [table, vrps] = files("before");
    let json = r#"{"roas":[{"prefix":"10.0.0.0/16","maxLength":17,"asn":64500},
        {"prefix":"10.2.0.0/15","maxLength":16,"asn":"AS64500"},{"prefix":"2001:db8::/32","maxLength":32,"asn":1}]}"#;
    let new = file("rov-before-new", json);
    let diff = |more: &[&str]| {
        let args = [
            "rov",
            "--table",
            &table,
            "--vrps",
            &new,
            "--vrps-before",
            &vrps,
        ];
        run(&[&args, more].concat())
    };
    let output = diff(&[]);
    assert_eq!(
        stdout(&output),
        "10.0.0.0/17\t64500\tinvalid-length\tvalid\n\
         10.0.128.0/17\t64501\tvalid\tinvalid-as\n\
         10.1.0.0/16\t64502\tinvalid-as\tnot-found\n\
         10.4.0.0/16\t64500\tvalid\tnot-found\n\
         10.4.0.0/16\t64509\tinvalid-as\tnot-found\n\
         2001:db8::/32\tAS64500\tvalid\tinvalid-as\n"
    );
    assert_eq!(stderr(&output), "popfib: 6 routes changed state\n");
    assert_eq!(output.status.code(), Some(1));
    let output = diff(&["--state", "invalid-length", "--json"]);
    assert_eq!(
        stdout(&output),
        "{\"prefix\":\"10.0.0.0/17\",\"origin\":\"64500\",\"before\":\"invalid-length\",\"after\":\"valid\"}\n"
    );
    let same = run(&[
        "rov",
        "--table",
        &table,
        "--vrps",
        &vrps,
        "--vrps-before",
        &vrps,
    ]);
    assert_eq!(good(&same), "");
}

/// The origin comes from the AS path, unless another value is asked for.
#[test]
fn a_dump_has_its_origins_in_paths() {
    let dump = file(
        "rov-dump",
        "TABLE_DUMP2|1747000000|B|192.0.2.1|64511|10.0.128.0/17|64511 64501|IGP|192.0.2.1|0|0||NAG||\n\
         TABLE_DUMP2|1747000000|B|192.0.2.1|64511|10.2.0.0/16|64511 {64500,64501}|IGP|192.0.2.1|0|0||NAG||\n",
    );
    let [_, vrps] = files("dump");
    let output = run(&[
        "rov",
        "--table",
        &dump,
        "--vrps",
        &vrps,
        "--state",
        "valid,invalid-as",
    ]);
    assert_eq!(
        good(&output),
        "10.0.128.0/17\t64501\tvalid\t10.0.0.0/16-24 AS64501\n\
         10.2.0.0/16\t{64500,64501}\tinvalid-as\t10.2.0.0/15-16 AS64500\n"
    );
    let output = run(&[
        "rov", "--table", &dump, "--vrps", &vrps, "--value", "next-hop",
    ]);
    assert!(bad(&output).contains("\"192.0.2.1\" is no origin AS"));
}

/// The parts of MRT, as the tests of the formats make them.
#[path = "../../../popfib-formats/tests/formats/mrt_file.rs"]
mod mrt_file;

/// Binary dumps have their origins in paths as well: the best path's, or a peer's.
#[test]
fn a_binary_dump_has_its_origins_in_paths() {
    use mrt_file::{as_path, next_hop, peer_table, rib};
    let path = |segments: &[(u8, &[u32])]| [as_path(segments), next_hop([192, 0, 2, 1])].concat();
    let dump = [
        peer_table(&[([192, 0, 2, 1], 64511), ([192, 0, 2, 2], 64512)]),
        // Valid by the shorter path, invalid by that of the second peer.
        rib(
            2,
            &[17, 10, 0, 128],
            &[
                (0, path(&[(2, &[64511, 64501])])),
                (1, path(&[(2, &[64512, 7, 64500])])),
            ],
        ),
        rib(
            2,
            &[16, 10, 1],
            &[(0, path(&[(2, &[64511, 4_200_000_000])]))],
        ),
        rib(
            2,
            &[16, 10, 2],
            &[(0, path(&[(2, &[64511]), (1, &[64500, 64501])]))],
        ),
        // Of the peer itself.
        rib(2, &[16, 10, 9], &[(0, path(&[]))]),
        rib(
            4,
            &[32, 0x20, 0x01, 0x0d, 0xb8],
            &[(
                1,
                [as_path(&[(2, &[64512, 64500])]), mrt_file::reach(&[1; 16])].concat(),
            )],
        ),
    ]
    .concat();
    let dump = file("rov-dump.mrt", dump);
    let [_, vrps] = files("binary");
    let all = "valid,invalid-as,invalid-length,not-found";
    let of = |more: &[&str]| {
        let args = ["rov", "--table", &dump, "--vrps", &vrps, "--state", all];
        stdout(&run(&[&args[..], more].concat())).to_owned()
    };
    assert_eq!(
        of(&[]),
        "10.0.128.0/17\t64501\tvalid\t10.0.0.0/16-24 AS64501\n\
         10.1.0.0/16\t4200000000\tinvalid-as\t10.1.0.0/16-32 AS0\n\
         10.2.0.0/16\t{64500,64501}\tinvalid-as\t10.2.0.0/15-16 AS64500\n\
         10.9.0.0/16\t64511\tnot-found\t-\n\
         2001:db8::/32\t64500\tvalid\t2001:db8::/32-48 AS64500\n"
    );
    assert_eq!(
        of(&["--peer", "1"]),
        "10.0.128.0/17\t64500\tinvalid-length\t10.0.0.0/16-16 AS64500\n\
         2001:db8::/32\t64500\tvalid\t2001:db8::/32-48 AS64500\n"
    );
}

/// A real dump: the states are those of its text, whose origins `popfib paths` takes from the AS paths.
#[test]
fn a_real_dump() {
    let dump = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("shared/data/raw/bgpdump/bview.20020722.2337.gz"))
        .find(|path| path.is_file());
    let Some(dump) = dump.as_ref().and_then(|path| path.to_str()) else {
        println!("skipped: rov of a real dump: no shared data");
        return;
    };
    let text = file("rov-real.txt", stdout(&run(&["paths", "--table", dump])));
    // Its own routes, of which every third is another's and every fifth too long.
    let routes = run(&["convert", "--table", dump, "--value", "origin-as"]);
    let mut vrps = "ASN,IP Prefix,Max Length\n".to_owned();
    for (number, route) in stdout(&routes).lines().enumerate() {
        let (prefix, origin) = route.split_once(' ').unwrap();
        let origin = if number % 3 == 0 { "64500" } else { origin };
        if number % 4 != 0 && !origin.contains('{') {
            let _ = writeln!(
                vrps,
                "{origin},{prefix},{}",
                prefix.split_once('/').unwrap().1
            );
        }
    }
    let vrps = file("rov-real-vrps", vrps);
    let of = |table: &str| {
        let output = run(&["rov", "--table", table, "--vrps", &vrps, "--json"]);
        serde_json::from_str::<Value>(good(&output)).unwrap()
    };
    let summary = of(dump);
    for state in ["valid", "invalid_as", "invalid_length", "not_found"] {
        assert!(summary["ipv4"][state].as_u64() > Some(100), "{summary}");
    }
    assert_eq!(summary, of(&text));
}

#[test]
fn the_built_in_table_and_standard_input() {
    let output = run_with(
        &["rov", "--vrps", "-", "--state", "valid"],
        b"[{\"asn\":15169,\"prefix\":\"8.8.8.0/24\"}]",
    );
    assert_eq!(
        good(&output),
        "8.8.8.0/24\t15169\tvalid\t8.8.8.0/24-24 AS15169\n"
    );
}

#[test]
fn bad_input_is_one_line() {
    let [table, vrps] = files("bad");
    let of = |vrps: &str| {
        bad(&run_with(
            &["rov", "--table", &table, "--vrps", "-"],
            vrps.as_bytes(),
        ))
        .to_owned()
    };
    let heading = "ASN,IP Prefix,Max Length\n";
    assert_eq!(
        of(&format!("{heading}AS1,10.0.0.0/8,7\n")),
        "<stdin>:2: 10.0.0.0/8: 7: the maximum length is less than the prefix length 8; --skip-invalid goes on without it"
    );
    assert!(of(&format!("{heading}AS1,::/0,129\n")).contains("is more than 128"));
    assert!(of(&format!("{heading}ASX,::/0,0\n")).contains("not an AS number"));
    assert!(of("").contains("there is no VRP in it"));
    let names = file("rov-names", "10.0.0.0/8 east\n11.0.0.0/8 1\n");
    let output = run(&["rov", "--table", &names, "--vrps", &vrps]);
    assert!(bad(&output).contains("10.0.0.0/8: \"east\" is no origin AS"));
    let output = run(&["rov", "--table", &names, "--vrps", &vrps, "--skip-invalid"]);
    assert_eq!(
        stderr(&output),
        "popfib: 1 route without an origin AS left out\n"
    );
    let skipped = format!("{VRPS}AS1,10.0.0.0/8,7\n");
    let output = run_with(
        &["rov", "--table", &table, "--vrps", "-", "--skip-invalid"],
        skipped.as_bytes(),
    );
    assert_eq!(stderr(&output), "popfib: <stdin>: 1 invalid line skipped\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(bad(&run(&["rov", "--table", &table])).contains("--vrps"));
}
