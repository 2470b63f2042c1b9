//! The published vectors, an independent implementation, and what Crypto-PAn promises.

use std::net::IpAddr;

use proptest::prelude::*;

use super::*;
use crate::rounds::rounds;

/// That of the sample of the original implementation.
const KEY: [u8; Anonymizer::KEY_LENGTH] = [
    21, 34, 23, 141, 51, 164, 207, 128, 19, 10, 91, 22, 73, 144, 125, 16, 216, 152, 143, 131, 121,
    121, 101, 39, 98, 87, 76, 45, 42, 132, 34, 2,
];

fn check(by: &Anonymizer, pairs: &[(&str, &str)]) {
    for (address, wanted) in pairs {
        let address: IpAddr = address.parse().unwrap();
        assert_eq!(
            by.ip(address),
            wanted.parse::<IpAddr>().unwrap(),
            "{address}"
        );
    }
}

/// Addresses of `sample_trace_raw.dat`, and those of `sample_trace_sanitized.dat` in their place.
#[test]
fn the_sample_of_the_original() {
    check(
        &Anonymizer::crypto_pan(&KEY),
        &[
            ("128.11.68.132", "135.242.180.132"),
            ("129.118.74.4", "134.136.186.123"),
            ("130.132.252.244", "133.68.164.234"),
            ("141.223.7.43", "141.167.8.160"),
            ("141.233.145.108", "141.129.237.235"),
            ("152.163.225.39", "151.140.114.167"),
            ("156.29.3.236", "147.225.12.42"),
            ("165.247.96.84", "162.9.99.234"),
            ("166.107.77.190", "160.132.178.185"),
            ("192.102.249.13", "252.138.62.131"),
            ("192.215.32.125", "252.43.47.189"),
            ("192.233.80.103", "252.25.108.8"),
            ("192.41.57.43", "252.222.221.184"),
            ("193.150.244.223", "253.169.52.216"),
            ("195.205.63.100", "255.186.223.5"),
            ("198.200.171.101", "249.199.68.213"),
            ("198.26.132.101", "249.36.123.202"),
            ("198.36.213.5", "249.7.21.132"),
            ("198.51.77.238", "249.18.186.254"),
            ("199.217.79.101", "248.38.184.213"),
            ("202.49.198.20", "245.206.7.234"),
            ("203.12.160.252", "244.248.163.4"),
            ("204.184.162.189", "243.192.77.90"),
            ("204.202.136.230", "243.178.4.198"),
            ("204.29.20.4", "243.33.20.123"),
            ("205.178.38.67", "242.108.198.51"),
        ],
    );
}

/// What yacryptopan 1.0.2 makes of addresses with the same key.
#[test]
fn another_implementation() {
    check(
        &Anonymizer::crypto_pan(&KEY),
        &[
            ("0.0.0.0", "120.255.240.1"),
            ("255.255.255.255", "206.120.97.255"),
            ("10.0.0.1", "117.15.0.1"),
            ("192.0.2.1", "252.255.2.112"),
            ("198.51.100.7", "249.18.139.247"),
            ("::", "78ff:f001:9fc0:20df:8380:b1f1:704:ec"),
            ("::1", "78ff:f001:9fc0:20df:8380:b1f1:704:ed"),
            ("2001:db8::1", "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1e"),
            ("2001:db8::2", "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1c"),
            ("2001:db8:1::1", "4401:2bc:603e:23c0:0:6fff:f0f8:c3ed"),
            (
                "2001:4860:4860::8888",
                "4401:7780:2f83:ff20:8070:2f80:e7fc:b6e4",
            ),
            ("fe80::1", "cf7f:c0e:1fc3:da1c:70:b18e:f7f3:2101"),
            ("ff02::1", "cef2:fc0c:1fff:dffe:ff8f:de7f:10f9:3f01"),
            (
                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                "ce78:61ff:387e:8078:38c4:407:c3bf:f781",
            ),
            // As the IPv4 address, which is the project's own rule.
            ("::ffff:192.0.2.1", "::ffff:252.255.2.112"),
        ],
    );
}

#[test]
fn cut_addresses_keep_their_first_bits() {
    check(
        &Anonymizer::cut(24, 48),
        &[
            ("192.0.2.129", "192.0.2.0"),
            ("2001:db8:1:2::3", "2001:db8:1::"),
            ("::ffff:192.0.2.129", "::ffff:192.0.2.0"),
        ],
    );
    let whole = [
        ("192.0.2.129", "192.0.2.129"),
        ("2001:db8::3", "2001:db8::3"),
    ];
    check(&Anonymizer::cut(32, 128), &whole);
    let none = [("192.0.2.129", "0.0.0.0"), ("2001:db8::3", "::")];
    check(&Anonymizer::cut(0, 0), &none);
}

#[test]
fn a_key_is_bytes_or_digits() {
    let key: [u8; 32] = std::array::from_fn(|index| index as u8 * 7);
    let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let upper = digits.to_uppercase();
    let texts = [format!("{digits}\n"), format!("0x{digits}\r\n"), upper];
    assert_eq!(Anonymizer::parse_key(&key), Some(key));
    for text in &texts {
        assert_eq!(Anonymizer::parse_key(text.as_bytes()), Some(key), "{text}");
    }
    let wrong = [
        "",
        &digits[1..],
        &digits[..32 + 1],
        &format!("{digits}00"),
        &format!("g{}", &digits[1..]),
        &format!("{}\u{e9}", &digits[2..]),
    ];
    for text in wrong {
        assert_eq!(Anonymizer::parse_key(text.as_bytes()), None, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(rounds(20, 1_000)))]
    /// Two addresses have as many first bits in common as before, so each also has a place of its own.
    #[test]
    fn prefixes_are_preserved(key: [u8; Anonymizer::KEY_LENGTH], a: u128, b: u128, shared in 0..=128u32) {
        let by = Anonymizer::crypto_pan(&key);
        let rest = u128::MAX.checked_shr(shared).unwrap_or(0);
        let b = a & !rest | b & rest;
        let common = |a: u128, b: u128| (a ^ b).leading_zeros();
        prop_assert_eq!(common(by.ipv6(a), by.ipv6(b)), common(a, b));
        let (a, b) = ((a >> 96) as u32, (b >> 96) as u32);
        prop_assert_eq!((by.ipv4(a) ^ by.ipv4(b)).leading_zeros(), (a ^ b).leading_zeros());
        // IPv4 is the beginning of IPv6.
        prop_assert_eq!(u128::from(by.ipv4(a)), by.ipv6(u128::from(a) << 96) >> 96);
    }
}
