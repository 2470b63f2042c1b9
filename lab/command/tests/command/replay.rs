//! `popfib-lab replay`: what becomes of the table, what is counted, what is refused.

use std::fs;

use crate::common::{TABLE, bad, file, good, run, run_with, stderr, stdout};
use serde_json::Value;

const UPDATES: &str = "\
A 10.1.0.0/16 192.0.2.1
A 10.2.0.0/16 north
W 10.1.2.3/32
W 10.9.0.0/16
A 2001:db8:0:2::/64 south
A 10.2.0.0/16 east
";

const AFTER: &str = "\
10.0.0.0/8 east
10.1.0.0/16 192.0.2.1
10.2.0.0/16 east
2001:db8::/32 east
2001:db8:0:1::/64 west
2001:db8:0:2::/64 south
";

#[test]
fn the_table_is_as_the_updates_make_it() {
    let table = file("replay-table.txt", TABLE);
    let updates = file("replay-updates.txt", UPDATES);
    let after = file("replay-after.txt", "the file of before");
    let output = run(&[
        "replay",
        "--table",
        &table,
        "--updates",
        &updates,
        "--write-table",
        &after,
        "--json",
        "--check-every",
        "1",
    ]);
    let report: Value = serde_json::from_str(good(&output)).expect("JSON");
    for (key, expected) in [
        ("updates", 6),
        ("announced", 4),
        ("repeated", 1),
        ("withdrawn", 2),
        ("absent", 1),
        ("changed", 4),
        ("routes", 6),
        ("mismatches", 0),
    ] {
        assert_eq!(report[key], expected, "{key}");
    }
    for key in [
        "mean_us",
        "p50_us",
        "p99_us",
        "max_us",
        "fib_bytes",
        "fresh_bytes",
    ] {
        assert!(
            report[key].as_f64().is_some_and(|figure| figure > 0.0),
            "{key}"
        );
    }
    let written = fs::read_to_string(after)
        .expect("written")
        .replace('\t', " ");
    assert_eq!(written, AFTER);
}

#[test]
fn a_table_may_begin_without_routes() {
    let updates = file("replay-empty-updates.txt", UPDATES);
    let after = file("replay-empty-after.txt", "");
    let args = [
        "replay",
        "--empty",
        "--updates",
        &updates,
        "--json",
        "--write-table",
        &after,
    ];
    let report: Value = serde_json::from_str(good(&run(&args))).expect("JSON");
    for (key, expected) in [
        ("updates", 6),
        ("repeated", 0),
        ("absent", 2),
        ("routes", 3),
        ("mismatches", 0),
    ] {
        assert_eq!(report[key], expected, "{key}");
    }
    let written = fs::read_to_string(after).expect("written");
    assert_eq!(
        written.replace('\t', " "),
        "10.1.0.0/16 192.0.2.1\n10.2.0.0/16 east\n2001:db8:0:2::/64 south\n"
    );
    for other in [["--table", updates.as_str()], ["--churn", "3"]] {
        let output = run(&[&["replay", "--empty"][..], &other].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("cannot be used with"), "{other:?}");
    }
}

#[test]
fn options_of_the_fib_change_no_route() {
    let table = file("replay-options-table.txt", TABLE);
    for options in [
        &["--direct-bits", "0"][..],
        &["--direct-bits", "18", "--no-aggregation"],
        &["--direct-bits", "24"],
    ] {
        let mut args = vec!["replay", "--table", &table, "--updates", "-", "--json"];
        args.extend(options);
        let output = run_with(&args, UPDATES.as_bytes());
        let report: Value = serde_json::from_str(good(&output)).expect("JSON");
        assert_eq!(report["routes"], 6);
        assert_eq!(report["mismatches"], 0);
    }
}

#[test]
fn readers_are_reported() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("skipped: readers_are_reported: one core only");
        return;
    }
    let table = file("replay-readers-table.txt", TABLE);
    let updates = file("replay-readers-updates.txt", UPDATES);
    let args = [
        "replay",
        "--table",
        &table,
        "--updates",
        &updates,
        "--readers",
        "1",
    ];
    let output = run(&args);
    let text = good(&output);
    for part in [
        "6 updates: 4 announced",
        "1 readers, alone",
        "rate kept",
        "mismatches  0",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let output = run(&[&args[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(good(&output)).expect("JSON");
    assert_eq!(report["readers"], 1);
    assert!(
        report["alone"]["mlps"]
            .as_f64()
            .is_some_and(|rate| rate > 0.0)
    );
}

#[test]
fn bad_input_is_told_in_one_line() {
    let table = file("replay-bad-table.txt", TABLE);
    let updates = file(
        "replay-bad-updates.txt",
        "A 10.0.0.0/8 a\nA 10.0.0.0/99 b\nW 10.0.0.0/8\n",
    );
    let args = ["replay", "--table", &table, "--updates", &updates];
    let output = run(&args);
    let error = bad(&output);
    assert!(error.contains("replay-bad-updates.txt:2: "), "{error}");
    let output = run(&[&args[..], &["--skip-invalid"]].concat());
    assert!(stderr(&output).contains("invalid lines skipped: 1"));
    assert!(stdout(&output).contains("2 updates: 1 announced"));

    let empty = file("replay-empty.txt", "# nothing\n");
    let output = run(&["replay", "--table", &table, "--updates", &empty]);
    assert!(bad(&output).contains("replay-empty.txt: there is no update in it"));
    let output = run(&["replay", "--table", "-", "--updates", "-"]);
    assert!(bad(&output).contains("standard input is the table"));
    let output = run(&["replay", "--table", &table, "--updates", "/nowhere"]);
    assert!(bad(&output).contains("/nowhere"));
    let args = [
        "replay",
        "--table",
        &table,
        "--updates",
        &updates,
        "--readers",
        "100000",
    ];
    assert!(bad(&run(&args)).contains("would measure the scheduler"));
    let output = run(&[
        "replay",
        "--table",
        &table,
        "--updates",
        &updates,
        "--write-table",
        "/nowhere/at/all",
    ]);
    assert!(bad(&output).contains("/nowhere/at/all: "));
}

#[test]
#[ignore = "the streams of a day, every answer checked after each 10,000 updates"]
fn heavy_real_streams() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    for name in ["ris-as3333-20260511-v4", "ris-as3333-20260511-v6"] {
        let table = data.join(format!("tables/{name}.fib64.txt.gz"));
        let updates = data.join(format!("updates/{name}.fib64.updates.txt.gz"));
        if !table.exists() || !updates.exists() {
            println!("skipped: heavy_real_streams: no {name} beside the project");
            continue;
        }
        let (table, updates) = (
            table.to_str().expect("UTF-8"),
            updates.to_str().expect("UTF-8"),
        );
        let args = ["replay", "--table", table, "--updates", updates, "--json"];
        let output = run(&[&args[..], &["--check-every", "10000"]].concat());
        let report: Value = serde_json::from_str(good(&output)).expect("JSON");
        assert_eq!(report["mismatches"], 0);
        assert!(
            report["updates"]
                .as_u64()
                .is_some_and(|updates| updates > 1_000_000)
        );
        let bytes = |key: &str| report[key].as_f64().expect("a number");
        assert!(bytes("fib_bytes") < 1.15 * bytes("fresh_bytes"), "{report}");
    }
}

#[test]
fn updates_made_of_the_table_leave_it_as_it_was() {
    let table = file("replay-made.txt", TABLE);
    let after = file("replay-made-after.txt", "");
    for (what, counts) in [
        (&["--churn", "7"][..], (14, 7, 7)),
        (&["--fill"], (5, 5, 0)),
    ] {
        let mut args = vec![
            "replay",
            "--table",
            &table,
            "--json",
            "--write-table",
            &after,
        ];
        args.extend(what);
        let report: Value = serde_json::from_str(good(&run(&args))).expect("JSON");
        let of = |key: &str| report[key].as_u64().expect(key);
        assert_eq!((of("updates"), of("announced"), of("withdrawn")), counts);
        assert_eq!((of("repeated"), of("absent"), of("mismatches")), (0, 0, 0));
        let after = fs::read_to_string(&after).expect("written");
        let expected = "10.0.0.0/8 east\n10.1.0.0/16 192.0.2.1\n10.1.2.3/32 64500\n\
                        2001:db8::/32 east\n2001:db8:0:1::/64 west\n";
        assert_eq!(after.replace('\t', " "), expected);
    }
}

#[test]
fn updates_come_from_one_place() {
    let table = file("replay-one.txt", TABLE);
    for (args, reason) in [
        (&[][..], "required"),
        (&["--churn", "1", "--fill"], "cannot be used with"),
        (&["--churn", "0"], "0 is not in"),
        (&["--fill", "--readers", "1"], "cannot be used with"),
        (
            &["--churn", "1", "--updates-peer", "0"],
            "cannot be used with",
        ),
    ] {
        let mut all = vec!["replay", "--table", &table];
        all.extend(args);
        let output = run(&all);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            stderr(&output).contains(reason),
            "{args:?}: {}",
            stderr(&output)
        );
    }
}
