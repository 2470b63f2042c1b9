//! `popfib verify`: counts and exit status. That it finds mismatches is tested beside its code.

use crate::common::{TABLE, file, good, keys, run};
use serde_json::Value;

#[test]
fn every_border_and_random_addresses_are_checked() {
    let table = file("verify-json", TABLE);
    for options in [&[][..], &["--seed", "9"]] {
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
fn the_text_has_both_families() {
    let table = file("verify-text", TABLE);
    let output = run(&["verify", "--random", "0", "--table", &table]);
    assert_eq!(
        good(&output),
        "         addresses  mismatches\n\
         IPv4            12           0\n\
         IPv6             8           0\n"
    );
}

#[test]
#[ignore = "2^32 lookups"]
fn heavy_long_exhaustive_looks_up_every_ipv4_address() {
    let table = file("verify-exhaustive", TABLE);
    let args = ["verify", "--exhaustive", "--json", "--table", &table];
    let report: Value = serde_json::from_str(good(&run(&args))).unwrap();
    assert_eq!(report["ipv4"]["addresses"], 1u64 << 32);
    assert_eq!(report["ipv4"]["mismatches"], 0);
    assert_eq!(report["ipv6"]["addresses"], 4 * 2 + 1_000_000);
}
