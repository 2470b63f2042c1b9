//! `popfib-lab bench`: rows and their keys, on passes too short to mean anything.

use crate::common::{TABLE, bad, file, good, keys, run, stderr};
use serde_json::Value;

const QUICK: [&str; 6] = ["bench", "--count", "1000", "--runs", "1", "--json"];

fn rows(output: &str) -> Vec<Value> {
    serde_json::from_str(output).expect("a JSON array")
}

#[test]
fn a_row_for_each_family_traffic_and_direct_bits() {
    let table = file("bench-rows", TABLE);
    let addresses = file("bench-addresses", "10.0.0.1\n2001:db8::1\n");
    let traffic = format!("random,file:{addresses}");
    let args = [
        "--table",
        &table,
        "--direct-bits",
        "8,16",
        "--traffic",
        &traffic,
    ];
    let output = run(&[&QUICK[..], &args].concat());
    let rows = rows(good(&output));
    assert_eq!(rows.len(), 2 * 2 * 2);
    for row in &rows {
        assert_eq!(
            keys(row),
            [
                "algorithm",
                "build_ms",
                "bytes",
                "direct_bits",
                "family",
                "kernel",
                "mlps",
                "mlps_max",
                "mlps_min",
                "ratio",
                "reference_mlps",
                "runs",
                "threads",
                "traffic",
            ]
        );
        let figure = |key: &str| row[key].as_f64().unwrap();
        assert!(figure("mlps_min") <= figure("mlps") && figure("mlps") <= figure("mlps_max"));
        assert!(figure("mlps_min") > 0.0 && figure("reference_mlps") > 0.0);
        let ratio = figure("mlps") / figure("reference_mlps");
        assert!((figure("ratio") - ratio).abs() < 0.001 * (1.0 + ratio));
        assert_eq!(row["algorithm"], "popfib");
        assert!(row["kernel"].is_string());
        assert_eq!(row["threads"], 1);
        assert_eq!(row["runs"], 1);
    }
    let of = |i: usize| {
        (
            rows[i]["family"].as_str().unwrap(),
            rows[i]["traffic"].as_str().unwrap(),
        )
    };
    assert_eq!(of(0), ("ipv4", "random"));
    assert_eq!(of(2), ("ipv4", format!("file:{addresses}").as_str()));
    assert_eq!(of(4), ("ipv6", "random"));
    assert_eq!(rows[0]["direct_bits"], 8);
    assert_eq!(rows[1]["direct_bits"], 16);
}

#[test]
fn every_pattern_is_measured_if_none_is_named() {
    let table = file("bench-patterns", TABLE);
    let args = ["--family", "ipv6", "--table", &table];
    let output = run(&[&QUICK[..], &args].concat());
    let rows = rows(good(&output));
    let patterns: Vec<&str> = rows
        .iter()
        .map(|row| row["traffic"].as_str().unwrap())
        .collect();
    assert_eq!(
        patterns,
        ["random", "sequential", "repeated", "routes", "zipf"]
    );
}

#[test]
fn the_text_has_a_header_and_a_line_a_row() {
    let table = file("bench-text", TABLE);
    let args = [
        "bench",
        "--count",
        "10",
        "--runs",
        "2",
        "--no-leafvec",
        "--family",
        "ipv4",
    ];
    let output = run(&[&args[..], &["--traffic", "routes,zipf", "--table", &table]].concat());
    let lines: Vec<&str> = good(&output).lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("algorithm") && lines[0].ends_with("ratio"));
    assert!(lines[1].starts_with("poptrie-basic ") && lines[1].contains(" routes "));
    assert!(lines[2].contains(" zipf "));
    assert_eq!(lines[0].len(), lines[1].len());
}

/// Algorithms for which there is no IPv6.
const IPV4_ONLY: [&str; 3] = ["dir-24-8", "sail", "dxr-18-modified"];

#[test]
fn all_algorithms_have_a_row_also_those_that_cannot_be_built() {
    let table = file("bench-all", TABLE);
    let args = [
        "--algorithm",
        "all",
        "--traffic",
        "random",
        "--table",
        &table,
    ];
    let output = run(&[&QUICK[..], &args].concat());
    let rows = rows(good(&output));
    for family in ["ipv4", "ipv6"] {
        let rows: Vec<&Value> = rows.iter().filter(|row| row["family"] == family).collect();
        let mut names: Vec<&str> = rows
            .iter()
            .map(|row| row["algorithm"].as_str().unwrap())
            .collect();
        names.dedup();
        assert_eq!(
            names,
            [
                "popfib",
                "popfib-balanced",
                "poptrie",
                "poptrie-basic",
                "radix",
                "patricia",
                "treebitmap-16-basic",
                "treebitmap-64-basic",
                "treebitmap-16",
                "treebitmap-64",
                "dir-24-8",
                "sail",
                "dxr-16",
                "dxr-18",
                "dxr-18-modified"
            ]
        );
        // popfib beside the others by its scalar kernel too.
        assert!(
            rows.iter()
                .any(|row| row["algorithm"] == "popfib" && row["kernel"] == "scalar")
        );
        for row in rows {
            let name = row["algorithm"].as_str().unwrap();
            let is_missing = family == "ipv6" && IPV4_ONLY.contains(&name);
            for key in ["mlps", "mlps_min", "mlps_max", "ratio", "reference_mlps"] {
                assert_eq!(row[key].is_null(), is_missing, "{name} {key}");
            }
            for key in ["bytes", "build_ms", "direct_bits"] {
                assert_eq!(row[key].is_null(), is_missing, "{name} {key}");
            }
            let reason = row.get("reason").map(|reason| reason.as_str().unwrap());
            let expected = "keys have 128 bits: this structure is for IPv4 only";
            assert_eq!(reason, is_missing.then_some(expected), "{name}");
        }
    }
}

#[test]
fn a_next_hop_too_high_for_an_algorithm_is_told_in_its_row() {
    let routes: String = (0..32_768u32)
        .map(|i| format!("10.{}.{}.0/24 hop{i}\n", i / 256, i % 256))
        .collect();
    let table = file("bench-next-hops", routes);
    let with = |algorithm| {
        let args = ["--algorithm", algorithm, "--family", "ipv4"];
        let output = run(&[
            &QUICK[..5],
            &args,
            &["--traffic", "random", "--table", &table],
        ]
        .concat());
        good(&output).to_owned()
    };
    let text = with("sail");
    let reason = "cannot build: next hop 32768 does not fit: at most 32767";
    assert!(text.lines().nth(1).unwrap().ends_with(reason), "{text}");
    assert!(!with("dxr-18").contains("cannot build"));
}

#[test]
fn latency_adds_the_three_modes() {
    let table = file("bench-latency", TABLE);
    let args = ["--traffic", "random", "--family", "ipv4", "--table", &table];
    for algorithm in ["popfib", "poptrie", "patricia"] {
        let more = ["--latency", "--algorithm", algorithm];
        let rows = rows(good(&run(&[&QUICK[..], &args, &more].concat())));
        assert_eq!(rows.len(), 1);
        for key in ["latency_ns", "throughput_ns", "empty_ns"] {
            assert!(rows[0][key].as_f64().unwrap() > 0.0, "{algorithm} {key}");
        }
    }
    let text = run(&[&QUICK[..5], &args, &["--latency"]].concat());
    let lines: Vec<&str> = good(&text).lines().collect();
    assert!(lines[0].ends_with("latency ns throughput ns empty ns"));
    assert_eq!(lines[0].len(), lines[1].len());
    let output = run(&[&QUICK[..], &args, &["--latency", "--threads", "2"]].concat());
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_a_table_or_file_lacks_is_left_out() {
    let table = file("bench-ipv4", "10.0.0.0/8 a\n");
    let output = run(&[&QUICK[..], &["--traffic", "routes", "--table", &table]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(rows(std::str::from_utf8(&output.stdout).unwrap()).len(), 1);
    assert_eq!(
        stderr(&output),
        "popfib-lab: ipv6: the table has no routes\n"
    );

    let args = ["--family", "ipv6", "--traffic", "routes", "--table", &table];
    let output = run(&[&QUICK[..], &args].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).ends_with("popfib-lab: there is nothing to measure\n"));
}

#[test]
fn bad_arguments_are_errors() {
    let table = file("bench-bad", TABLE);
    let with = |args: &[&str]| run(&[&QUICK[..5], &["--table", &table], args].concat());
    let output = with(&["--pin", "100000"]);
    assert!(bad(&output).contains("100000") || cfg!(not(target_os = "linux")));
    let packed = file("bench-packed", b"\xfd7zXZ\0");
    let traffic = format!("file:{packed}");
    let output = with(&["--traffic", &traffic]);
    assert!(bad(&output).contains(&format!("{packed}: this is xz data")));
    for args in [
        ["--traffic", "caida"],
        ["--traffic", "file:"],
        ["--family", "ipx"],
        ["--direct-bits", "18,25"],
        ["--algorithm", "lulea"],
        ["--count", "0"],
    ] {
        assert_eq!(with(&args).status.code(), Some(2), "{args:?}");
    }
    assert_eq!(run(&["bench", "--runs", "0"]).status.code(), Some(2));
}
