//! `popfib-lab info` and the options of every structure.

use crate::common::{TABLE, file, good, run, stderr};
use serde_json::Value;

fn info(args: &[&str]) -> Value {
    let args = [&["info", "--json"], args].concat();
    serde_json::from_str(good(&run(&args))).expect("one JSON value")
}

#[test]
fn options_change_what_is_compiled() {
    // Two halves with one next hop are one leaf if aggregated.
    let routes = "10.0.0.0/9 a\n10.128.0.0/9 a\n10.1.0.0/16 b\n2001:db8::/32 a\n";
    let table = file("info-options", routes);
    let with = |options: &[&str]| info(&[&["--table", table.as_str()], options].concat());
    for bits in [0, 7, 18, 24] {
        let info = with(&["--direct-bits", &bits.to_string()]);
        for family in ["ipv4", "ipv6"] {
            assert_eq!(info[family]["direct_bits"], bits);
            // The root table of longer keys has 16 bits at most; pages are for routes only.
            let root = if family == "ipv6" { bits.min(16) } else { bits };
            assert!(info[family]["bytes"].as_u64().unwrap() >= 4 << root);
        }
    }
    let count = |info: &Value, key| info["ipv4"][key].as_u64().unwrap();
    let plain = with(&["--direct-bits", "0"]);
    let basic = with(&["--direct-bits", "0", "--no-leafvec"]);
    assert_eq!(count(&basic, "nodes"), count(&plain, "nodes"));
    assert!(count(&basic, "leaves") > count(&plain, "leaves"));
    let apart = "10.0.0.0/9 a\n10.128.0.0/9 a\n";
    let apart = file("info-apart", apart);
    let nodes = |options: &[&str]| {
        let args = [&["--table", apart.as_str(), "--direct-bits", "0"], options].concat();
        count(&info(&args), "nodes")
    };
    assert!(nodes(&["--no-aggregation"]) >= nodes(&[]));
    assert_eq!(with(&["--kernel", "scalar"])["ipv4"]["routes"], 3);
}

#[test]
fn a_table_in_the_default_form_is_that_of_popfib_info() {
    let table = file("info-default", TABLE);
    let info = info(&["--table", &table]);
    assert_eq!(info["ipv4"]["routes"], 3);
    assert_eq!(info["ipv6"]["next_hops"], 2);
    for key in [
        "nodes",
        "leaves",
        "direct_bits",
        "bytes",
        "compile_ms",
        "rib_bytes",
    ] {
        assert!(info["ipv6"][key].is_number(), "{key}");
    }
    assert_eq!(info["ipv6"]["size"], "smallest");
}

#[test]
fn bad_options_are_usage_errors() {
    for args in [
        &["info", "--direct-bits", "25"][..],
        &["info", "--kernel", "quantum"],
        &["bench", "--threads", "0"],
        &["bench", "--threads", "100000"],
        &["bench", "--kernel", "portable", "--algorithm", "poptrie"],
        &["info", "--no-leafvec", "--algorithm", "popfib"],
        &["info", "--algorithm", "quantum"],
        &["verify", "--against", "lulea"],
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
    assert!(stderr(&run(&["info", "--kernel", "quantum"])).contains("scalar"));
    assert!(stderr(&run(&["verify", "--against", "lulea"])).contains("rib"));
}

#[test]
fn next_hops_beyond_16_bits_are_taken() {
    use std::fmt::Write;
    let mut routes = String::new();
    for n in 0..70_000 {
        writeln!(routes, "10.{}.{}.{} hop{n}", n >> 16, n >> 8 & 255, n & 255).unwrap();
    }
    let table = file("info-70000", routes);
    for options in [&[][..], &["--no-leafvec"]] {
        let info = info(&[&["--table", table.as_str()], options].concat());
        assert_eq!(info["ipv4"]["next_hops"], 70_000);
        let args = ["verify", "--random", "1000", "--table", &table];
        let output = run(&[&args, options].concat());
        assert!(good(&output).lines().nth(1).unwrap().ends_with(" 0"));
    }
}
