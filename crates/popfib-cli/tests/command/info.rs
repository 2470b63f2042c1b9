//! `popfib info` and what all commands that load a table share.

use crate::common::{TABLE, bad, file, good, keys, run, run_with, stderr};
use serde_json::Value;

fn info(args: &[&str]) -> Value {
    let args = [&["info", "--json"], args].concat();
    serde_json::from_str(good(&run(&args))).expect("one JSON value")
}

#[test]
fn json_has_the_keys_of_the_contract() {
    let table = file("info-json", TABLE);
    let info = info(&["--table", &table]);
    assert_eq!(keys(&info), ["ipv4", "ipv6"]);
    for family in ["ipv4", "ipv6"] {
        assert_eq!(
            keys(&info[family]),
            [
                "bytes",
                "compile_ms",
                "direct_bits",
                "leaves",
                "lengths",
                "next_hops",
                "nodes",
                "rib_bytes",
                "routes",
                "share"
            ]
        );
        assert!(info[family]["compile_ms"].is_f64());
    }
    assert_eq!(info["ipv4"]["routes"], 3);
    assert_eq!(info["ipv4"]["next_hops"], 3);
    assert_eq!(info["ipv6"]["routes"], 2);
    assert_eq!(info["ipv6"]["next_hops"], 2);
}

#[test]
fn the_text_has_both_families() {
    let table = file("info-text", TABLE);
    let output = run(&["info", "--table", &table]);
    let lines: Vec<Vec<&str>> = good(&output)
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines[0], ["IPv4", "IPv6"]);
    assert_eq!(lines[1], ["routes", "3", "2"]);
    assert_eq!(lines[2], ["next", "hops", "3", "2"]);
    assert_eq!(lines.len(), 10);
}

#[test]
fn prefix_lengths_and_the_share_of_space() {
    let routes = "10.0.0.0/8 a\n10.1.0.0/16 b\n10.1.2.0/24 c\n128.0.0.0/2 d\n192.0.2.1 e\n";
    let table = file("info-lengths", routes);
    let of_table = info(&["--table", &table]);
    let counts = of_table["ipv4"]["lengths"].as_array().expect("an array");
    assert_eq!(counts.len(), 33);
    for (length, count) in counts.iter().enumerate() {
        let expected = usize::from([2, 8, 16, 24, 32].contains(&length));
        assert_eq!(count, expected, "/{length}");
    }
    // Each address once, whatever covers it.
    let share = (1u64 << 24) + (1 << 30) + 1;
    assert_eq!(of_table["ipv4"]["share"], share as f64 / 2f64.powi(32));
    assert_eq!(of_table["ipv6"]["share"], 0.0);
    assert_eq!(
        of_table["ipv6"]["lengths"].as_array().map(Vec::len),
        Some(129)
    );

    let output = run(&["info", "--lengths", "--table", &table]);
    let text = good(&output);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let [.., title, _, _, _, _, _] = &rows[..] else {
        panic!("{text}")
    };
    assert_eq!(title, &["length", "IPv4", "IPv6"]);
    assert_eq!(rows[rows.len() - 1], ["/32", "1", "0"]);
    assert!(text.contains("25.3906 %"), "{text}");

    // An image tells the same where it has the routes.
    for (options, is_told) in [(&[][..], true), (&["--keep=values"], false)] {
        let image = file("info-lengths.fib", "");
        good(&run(&[
            &["compile", "--table", &table, "-o", &image],
            options,
        ]
        .concat()));
        let of_image = info(&["--table", &image]);
        let expected = |key: &str, other| {
            if is_told {
                of_table["ipv4"][key].clone()
            } else {
                other
            }
        };
        assert_eq!(of_image["ipv4"]["share"], expected("share", Value::Null));
        assert_eq!(
            of_image["ipv4"]["lengths"],
            expected("lengths", Value::Array(Vec::new()))
        );
    }
}

#[test]
fn bad_options_are_usage_errors() {
    for args in [
        &["info", "--table"][..],
        &["info", "unasked"],
        &["compile", "--direct-bits", "25", "-o", "x"],
        &["compile", "--direct-bits", "-1", "-o", "x"],
        // Of the laboratory.
        &["info", "--direct-bits", "18"],
        &["info", "--no-leafvec"],
        &["annotate", "--kernel", "scalar"],
        &["verify", "--against", "radix"],
        &["bench"],
        &["frobnicate"],
        &[],
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

#[test]
fn next_hops_beyond_16_bits_are_taken() {
    use std::fmt::Write;
    let mut routes = String::new();
    for n in 0..70_000 {
        writeln!(routes, "10.{}.{}.{} hop{n}", n >> 16, n >> 8 & 255, n & 255).unwrap();
    }
    let table = file("info-70000", routes);
    assert_eq!(info(&["--table", &table])["ipv4"]["next_hops"], 70_000);
    let output = run(&["verify", "--random", "1000", "--table", &table]);
    assert!(good(&output).lines().nth(1).unwrap().ends_with(" 0"));
    let output = run(&["lookup", "--table", &table, "10.1.17.111"]);
    assert_eq!(good(&output), "10.1.17.111\t10.1.17.111/32\thop69999\n");
}

#[test]
fn replaced_routes_are_counted_and_the_last_wins() {
    let table = file(
        "info-replaced",
        "10.0.0.0/8 a\n10.0.0.0/8 b\n10.0.0.0/8 c\n::/0 d\n",
    );
    let output = run(&["lookup", "--table", &table, "10.0.0.1"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"10.0.0.1\t10.0.0.0/8\tc\n");
    let note = format!("popfib: {table}: 2 routes replaced by a later line for the same prefix\n");
    assert_eq!(stderr(&output), note);
}

#[test]
fn invalid_lines_are_skipped_if_asked() {
    let routes = "10.0.0.0/8 a\nnonsense\n10.0.0.1/8 b\n11.0.0.0/8 c\n";
    let output = run_with(
        &["info", "--json", "--table", "-", "--skip-invalid"],
        routes.as_bytes(),
    );
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stderr(&output).contains("2 invalid lines skipped"),
        "{}",
        stderr(&output)
    );
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(info["ipv4"]["routes"], 2);
    // Nothing is left to skip to.
    let output = run_with(&["info", "--table", "-", "--skip-invalid"], b"nonsense\n");
    bad(&output);
}

#[test]
fn host_bits_are_cleared_if_asked() {
    let output = run_with(
        &["lookup", "--table", "-", "--mask", "10.200.0.1"],
        b"10.1.2.3/8 a\n2001:db8::1/32 b\n",
    );
    assert_eq!(good(&output), "10.200.0.1\t10.0.0.0/8\ta\n");
}
