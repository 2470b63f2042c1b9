//! `popfib-lab evaluate`: the command around the report, on tables that take no time.

use std::fs;
use std::path::PathBuf;

use crate::common::{TABLE, bad, file, path, run, stderr, stdout};

#[test]
fn a_report_and_how_far_it_is() {
    let table = file("evaluate-table.txt", TABLE);
    let trace = file("evaluate-trace", "10.1.2.3\n10.0.0.1\n");
    let updates = file("evaluate-updates", "A 10.9.0.0/16 north\nW 10.9.0.0/16\n");
    let output = path("evaluate-report");
    let args = [
        "evaluate",
        "--tiny",
        "--table",
        &table,
        "--trace",
        &trace,
        "--updates",
        &updates,
        "-o",
        &output,
    ];
    let first = run(&args);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    let page = format!("{output}/report.html");
    assert_eq!(stdout(&first), format!("{page}\n"));
    let told = stderr(&first);
    assert!(told.contains("parts; takes about"), "{told}");
    assert!(
        told.contains("popfib-lab: 1/") && told.contains(" left)\n"),
        "{told}"
    );
    assert!(
        told.contains("trace evaluate-trace: no IPv6 address\n"),
        "{told}"
    );
    assert!(
        told.lines().all(|line| line.starts_with("popfib-lab: ")),
        "{told}"
    );
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("evaluate-table") && html.contains("trace evaluate-trace"));
    let results: serde_json::Value =
        serde_json::from_slice(&fs::read(format!("{output}/results.json")).unwrap()).unwrap();
    assert_eq!(results["tables"][0]["routes"], serde_json::json!([3, 2]));
    assert_eq!(results["effort"], "tiny");

    // Started again, nothing is measured; unless it is asked for.
    let again = run(&args);
    let told = stderr(&again);
    assert!(
        told.contains("of them measured earlier") && !told.contains(" left)"),
        "{told}"
    );
    let fresh = run(&[&args[..], &["--fresh"]].concat());
    assert!(
        stderr(&fresh).contains("popfib-lab: 1/"),
        "{}",
        stderr(&fresh)
    );
}

#[test]
fn what_cannot_be_is_told_in_a_line() {
    let table = file("evaluate-bad-table.txt", TABLE);
    let in_the_way = file("evaluate-in-the-way", "");
    let line = bad(&run(&[
        "evaluate",
        "--tiny",
        "--table",
        &table,
        "-o",
        &in_the_way,
    ]))
    .to_owned();
    assert!(line.starts_with(&format!("{in_the_way}: ")), "{line}");

    let output = path("evaluate-bad");
    let of = |more: &[&str]| {
        let args = [
            &["evaluate", "--tiny", "--table", &table, "-o", &output],
            more,
        ]
        .concat();
        bad(&run(&args)).to_owned()
    };
    let empty = file("evaluate-empty", "# nothing\n");
    assert_eq!(
        of(&["--trace", &empty]),
        format!("{empty}: there is no address in it")
    );
    assert!(of(&["--updates", &empty]).contains("no update in it"));
    let list = file("evaluate-list", "10.0.0.1\n");
    let line = of(&["--trace", &list, "--exclude-source", "192.0.2.1"]);
    assert!(line.contains("packets only"), "{line}");
    let wrong = file("evaluate-wrong", b"\xfd7zXZ\0");
    assert!(of(&["--trace", &wrong]).starts_with(&format!("{wrong}: this is xz data")));
    let line = bad(&run(&["evaluate", "--peer", "AS1", "-o", &output])).to_owned();
    assert!(line.contains("--table"), "{line}");
    // No report was begun.
    assert!(!PathBuf::from(&output).join("report.html").exists());
}

#[test]
fn next_hops_that_nobody_holds_are_noted_and_drawn_anew() {
    let rows: Vec<String> = (0..33_000u32)
        .map(|i| format!("{}.{}.{}.0/24 {i}", 1 + (i >> 16), i >> 8 & 255, i & 255))
        .collect();
    let table = file("evaluate-many.txt", rows.join("\n"));
    let output = path("evaluate-many");
    let args = ["evaluate", "--tiny", "--table", &table, "-o", &output];
    let told = run(&args);
    assert!(stderr(&told).contains("--next-hops"), "{}", stderr(&told));
    let csv = fs::read_to_string(format!("{output}/tables/table3-structures-ipv4-1.csv")).unwrap();
    assert!(csv.contains("\nSAIL,cannot build: next hop"), "{csv}");
    assert!(csv.contains("\nPoptrie18,"), "{csv}");
    let drawn = run(&[&args[..], &["--next-hops", "8"]].concat());
    assert!(
        !stderr(&drawn).contains("--next-hops"),
        "{}",
        stderr(&drawn)
    );
    let csv = fs::read_to_string(format!("{output}/tables/table3-structures-ipv4-1.csv")).unwrap();
    assert!(!csv.contains("SAIL,cannot build"), "{csv}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_that_cannot_write_goes_on_when_it_can() {
    let table = file("evaluate-limit-table.txt", TABLE);
    let output = path("report");
    let args = ["evaluate", "--tiny", "--table", &table, "-o", &output];
    // Files of at most 24 blocks, enough for the parts; a write beyond fails as on a full disk.
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 24; exec \"$@\"", "sh"]);
    let full = limited.arg(crate::common::PROGRAM).args(args).output();
    let full = full.expect("a shell");
    let told = stderr(&full);
    assert_eq!(full.status.code(), Some(2), "{told}");
    let line = told.lines().last().unwrap();
    assert!(
        line.starts_with(&format!("popfib-lab: {output}/")),
        "{told}"
    );
    assert!(line.contains("File too large"), "{told}");
    assert_eq!(stdout(&full), "");
    // What was measured is there as a whole, and nothing else.
    let kept: Vec<PathBuf> = fs::read_dir(format!("{output}/units"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(!kept.is_empty(), "{told}");
    for path in &kept {
        let text = fs::read(path).unwrap();
        assert!(
            serde_json::from_slice::<serde_json::Value>(&text).is_ok(),
            "{path:?}"
        );
    }

    let resumed = run(&args);
    let told = stderr(&resumed);
    assert_eq!(resumed.status.code(), Some(0), "{told}");
    let earlier = format!("{} of them measured earlier", kept.len());
    assert!(told.contains(&earlier), "{told}");
    assert!(fs::metadata(format!("{output}/report.html")).is_ok());
}
