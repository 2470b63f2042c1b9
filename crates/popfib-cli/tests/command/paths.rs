//! `popfib paths`: which are printed, and how.

use crate::common::{bad, file, good, keys, run, stderr, stdout};
use serde_json::Value;

const DUMP: &str = "\
TABLE_DUMP2|1700000000|B|192.0.2.1|64501|10.0.0.0/8|64501 7|IGP|192.0.2.11|0|0|64501:1 64501:2|NAG||
TABLE_DUMP2|1700000000|B|192.0.2.2|64502|10.0.0.0/8|64502 8|IGP|192.0.2.12|100|5||AG|64502 192.0.2.2|
TABLE_DUMP2|1700000000|B|192.0.2.2|64502|10.1.0.0/16||INCOMPLETE|192.0.2.12|0|0||NAG||
TABLE_DUMP2|1700000000|B|192.0.2.2|64502|2001:db8::/32|64502 9|IGP|2001:db8::1|0|0||NAG||
";

#[test]
fn lines_are_those_of_bgpdump() {
    let dump = file("paths-all", DUMP);
    let paths = |args: &[&str]| run(&[&["paths", "--table", &dump], args].concat());
    assert_eq!(good(&paths(&[])), DUMP);
    let lines: Vec<&str> = DUMP.split_inclusive('\n').collect();
    for (args, expected) in [
        (&["--exact", "10.0.0.0/8"][..], &[0, 1][..]),
        (&["--covering", "10.1.2.3"], &[0, 1, 2]),
        (
            &["--covering", "10.1.2.3", "--covered-by", "10.0.0.0/9"],
            &[2],
        ),
        (
            &["--covered-by", "::/0", "--covered-by", "10.1.0.0/16"],
            &[2, 3],
        ),
        (&["--peer", "AS64501"], &[0]),
    ] {
        let expected: String = expected.iter().map(|at| lines[*at]).collect();
        assert_eq!(good(&paths(args)), expected, "{args:?}");
    }
    let none = paths(&["--exact", "11.0.0.0/8"]);
    assert_eq!((none.status.code(), stdout(&none)), (Some(1), ""));
    // The lines are a dump again.
    let again = file("paths-again", good(&paths(&["--covering", "10.1.2.3"])));
    assert_eq!(
        good(&run(&["lookup", "10.1.2.3", "--table", &again])),
        "10.1.2.3\t10.1.0.0/16\t192.0.2.12\n"
    );
}

#[test]
fn json_lines() {
    let dump = file("paths-json", DUMP);
    let output = run(&["paths", "--json", "--table", &dump]);
    let lines: Vec<Value> = good(&output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(
        keys(&lines[0]),
        [
            "aggregator",
            "as_path",
            "atomic",
            "communities",
            "id",
            "local_preference",
            "med",
            "next_hop",
            "origin",
            "origin_as",
            "peer",
            "peer_as",
            "prefix",
            "time"
        ]
    );
    assert_eq!(
        lines[0]["communities"],
        serde_json::json!(["64501:1", "64501:2"])
    );
    assert_eq!(lines[0]["origin_as"], "7");
    assert_eq!(lines[1]["aggregator"], "64502 192.0.2.2");
    // An empty path is of the peer's own AS.
    assert_eq!(lines[2]["origin_as"], "64502");
}

#[test]
fn prefixes_of_several_origins() {
    let dump = file("paths-moas", DUMP);
    let output = run(&["paths", "--moas", "--table", &dump]);
    assert_eq!(good(&output), "10.0.0.0/8 7 8\n");
    let output = run(&["paths", "--moas", "--json", "--table", &dump]);
    assert_eq!(
        good(&output),
        "{\"prefix\":\"10.0.0.0/8\",\"origins\":[\"7\",\"8\"]}\n"
    );
    let output = run(&["paths", "--moas", "--table", &dump, "--covered-by", "::/0"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn what_has_no_paths_is_refused() {
    let table = file("paths-none", "10.0.0.0/8 a\n");
    let output = run(&["paths", "--table", &table]);
    assert!(
        bad(&output).contains("text has no paths"),
        "{}",
        stderr(&output)
    );
    let dump = file("paths-bad", format!("{DUMP}TABLE_DUMP2|x|B|\n"));
    let output = run(&["paths", "--table", &dump]);
    assert!(
        bad(&output).contains("paths-bad:5: "),
        "{}",
        stderr(&output)
    );
    let output = run(&["paths", "--skip-invalid", "--table", &dump]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), DUMP));
    assert!(stderr(&output).contains("1 invalid line skipped"));
}

#[test]
fn conditions_on_attributes() {
    let dump = file(
        "paths-conditions",
        "\
TABLE_DUMP2|1|B|192.0.2.1|64501|10.0.0.0/8|64501 64500 174|IGP|192.0.2.1|0|0|64501:1 no-export 64500:1:2|NAG||
TABLE_DUMP2|1|B|192.0.2.2|64502|10.0.0.0/8|64502 1174 {64511,174}|IGP|192.0.2.2|0|0|64502:10|NAG||
TABLE_DUMP2|1|B|192.0.2.1|64501|10.1.0.0/16|64501 174 64500|IGP|192.0.2.1|0|0||NAG||
TABLE_DUMP2|1|B|192.0.2.1|64501|2001:db8::/32|(64512 64513) 174|IGP|192.0.2.1|0|0|64501:10|NAG||
TABLE_DUMP2|1|B|192.0.2.1|64501|2001:db8::/32||IGP|192.0.2.1|0|0||NAG||
",
    );
    let all = run(&["paths", &dump]);
    let lines: Vec<&str> = good(&all).split_inclusive('\n').collect();
    for (args, expected) in [
        (&["--origin", "174"][..], &[0, 1, 3][..]),
        (&["--origin", "AS64500,AS64511"], &[1, 2]),
        (&["--origin", "64500", "--origin", "as64511"], &[1, 2]),
        (&["--as-path", "^64501_"], &[0, 2]),
        (&["--as-path", "_174$"], &[0, 3]),
        (&["--as-path", "_174_"], &[0, 1, 2, 3]),
        (&["--as-path", "^64501 .*_64500_"], &[2]),
        (&["--as-path", "^$"], &[4]),
        (&["--community", "64501:1"], &[0]),
        (&["--community", "64501:*"], &[0, 3]),
        (&["--community", "64500:*:2,64502:10"], &[0, 1]),
        (&["--community", "no-export"], &[0]),
        (
            &[
                "--community",
                "*:10",
                "--as-path",
                "_174_",
                "--exact",
                "10.0.0.0/8",
            ],
            &[1],
        ),
    ] {
        let expected: String = expected.iter().map(|at| lines[*at]).collect();
        let found = run(&[&["paths", &dump], args].concat());
        assert_eq!(good(&found), expected, "{args:?}");
    }
    // Of the paths that are left, two origins of one prefix.
    let moas = run(&["paths", &dump, "--moas", "--as-path", "^6450"]);
    assert_eq!(good(&moas), "10.0.0.0/8 174 {174,64511}\n");
    let none = run(&["paths", &dump, "--origin", "1"]);
    assert_eq!((none.status.code(), stdout(&none)), (Some(1), ""));
    for (args, reason) in [
        (["--as-path", "("], "--as-path <REGEX>"),
        (["--origin", "x"], "an AS number, please"),
        (["--community", ""], "a community, please"),
    ] {
        let output = run(&["paths", &dump, args[0], args[1]]);
        let said = bad(&output);
        assert!(said.contains(reason), "{said}");
    }
}
