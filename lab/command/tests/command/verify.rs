//! `popfib-lab verify`: counts and exit status. That it finds mismatches is tested beside its code.

use crate::common::{TABLE, bad, file, good, keys, run, stderr, stdout};
use serde_json::Value;

#[test]
fn every_border_and_random_addresses_are_checked() {
    let table = file("verify-json", TABLE);
    for options in [
        &[][..],
        &["--no-leafvec"],
        &["--no-aggregation"],
        &["--no-leafvec", "--no-aggregation", "--direct-bits", "16"],
        &["--kernel", "scalar", "--against", "rib", "--seed", "9"],
    ] {
        let args = ["verify", "--json", "--random", "1000", "--table", &table];
        let output = run(&[&args, options].concat());
        let report: Value = serde_json::from_str(good(&output)).unwrap();
        assert_eq!(keys(&report), ["ipv4", "ipv6"]);
        assert_eq!(keys(&report["ipv4"]), ["addresses", "mismatches"]);
        // Each route's first, last and neighbours.
        assert_eq!(report["ipv4"]["addresses"], 4 * 3 + 1000);
        assert_eq!(report["ipv6"]["addresses"], 4 * 2 + 1000);
        assert_eq!(report["ipv4"]["mismatches"], 0);
        assert_eq!(report["ipv6"]["mismatches"], 0);
    }
}

#[test]
fn any_structure_can_be_checked_and_can_be_the_judge() {
    let table = file("verify-against", TABLE);
    for name in [
        "popfib",
        "poptrie",
        "radix",
        "patricia",
        "treebitmap-64",
        "dxr-16",
    ] {
        for option in ["--algorithm", "--against"] {
            let args = ["verify", "--json", "--random", "1000", option, name];
            let output = run(&[&args[..], &["--table", &table]].concat());
            let report: Value = serde_json::from_str(good(&output)).unwrap();
            assert_eq!(report["ipv4"]["addresses"], 4 * 3 + 1000, "{option} {name}");
            assert_eq!(report["ipv6"]["addresses"], 4 * 2 + 1000, "{option} {name}");
            assert_eq!(report["ipv4"]["mismatches"], 0, "{option} {name}");
            assert_eq!(report["ipv6"]["mismatches"], 0, "{option} {name}");
        }
    }
}

#[test]
fn a_judge_that_cannot_hold_a_family_is_told() {
    let table = file("verify-sail", TABLE);
    let args = ["verify", "--json", "--against", "sail", "--table", &table];
    let output = run(&args);
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(report["ipv4"]["addresses"], 4 * 3 + 1_000_000);
    assert_eq!(report["ipv6"]["addresses"], 0);
    let note = "popfib-lab: IPv6: sail: keys have 128 bits: this structure is for IPv4 only\n";
    assert_eq!(stderr(&output), note);

    // Named itself, a structure that is not to be had is an error.
    let output = run(&["verify", "--algorithm", "sail", "--table", &table]);
    assert_eq!(
        bad(&output),
        "sail: keys have 128 bits: this structure is for IPv4 only"
    );
    let output = run(&["verify", "--algorithm", "all", "--table", &table]);
    assert!(bad(&output).contains("popfib-lab bench"));
    let output = run(&["info", "--algorithm", "radix", "--table", &table]);
    assert!(bad(&output).contains("radix has no nodes"));
}

#[test]
#[ignore = "2^32 lookups, twice"]
fn heavy_exhaustive_looks_up_every_ipv4_address() {
    let table = file("verify-exhaustive", TABLE);
    for options in [
        &["--direct-bits", "0"][..],
        &["--direct-bits", "18", "--no-leafvec"],
    ] {
        let args = ["verify", "--exhaustive", "--json", "--table", &table];
        let output = run(&[&args, options].concat());
        let report: Value = serde_json::from_str(good(&output)).unwrap();
        assert_eq!(report["ipv4"]["addresses"], 1u64 << 32);
        assert_eq!(report["ipv4"]["mismatches"], 0);
        assert_eq!(report["ipv6"]["addresses"], 4 * 2 + 1_000_000);
    }
}
