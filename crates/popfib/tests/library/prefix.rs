//! Prefixes: what is one, what is not and why, and the types of `core::net` and `ipnet`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use popfib::{Address, IpPrefix, Prefix, PrefixError};

fn v4(text: &str) -> Result<Prefix<u32>, PrefixError> {
    text.parse()
}

#[test]
fn text_that_is_no_prefix_says_why() {
    for (text, error) in [
        ("10.0.0.0/33", PrefixError::Length { max: 32 }),
        ("10.0.0.0/999", PrefixError::Length { max: 32 }),
        ("10.0.0.1/8", PrefixError::HostBits),
        ("10.0.0/8", PrefixError::Address),
        ("", PrefixError::Address),
        ("10.0.0.0/", PrefixError::LengthText),
        ("10.0.0.0/+8", PrefixError::LengthText),
        ("10.0.0.0/8/8", PrefixError::LengthText),
    ] {
        assert_eq!(v4(text), Err(error), "{text}");
    }
    let long = "::/129".parse::<IpPrefix>();
    assert_eq!(long, Err(PrefixError::Length { max: 128 }));
    assert_eq!(Prefix::<u8>::new(0, 9), Err(PrefixError::Length { max: 8 }));
    assert_eq!(Prefix::<u16>::new(1, 15), Err(PrefixError::HostBits));
    assert_eq!("0x1ff/8".parse::<Prefix<u8>>(), Err(PrefixError::Address));
}

#[test]
fn masks_must_be_contiguous() {
    let mask = |text: &str| u32::from(text.parse::<Ipv4Addr>().unwrap());
    let bits = mask("10.1.0.0");
    assert_eq!(
        Prefix::with_mask(bits, mask("255.255.0.0")),
        v4("10.1.0.0/16")
    );
    assert_eq!(Prefix::with_mask(0, 0), Ok(Prefix::<u32>::DEFAULT_ROUTE));
    assert_eq!(Prefix::with_mask(bits, u32::MAX), v4("10.1.0.0/32"));
    for hole in ["255.0.255.0", "0.255.255.255", "255.255.0.1"] {
        let error = Prefix::with_mask(bits, mask(hole)).unwrap_err();
        assert_eq!(error, PrefixError::Mask);
        assert!(error.to_string().contains("not contiguous"));
    }
    let host_bits = Prefix::with_mask(bits, mask("255.0.0.0"));
    assert_eq!(host_bits, Err(PrefixError::HostBits));
}

#[test]
fn masks_in_text() {
    assert_eq!(v4("10.1.0.0/255.255.0.0"), v4("10.1.0.0/16"));
    assert_eq!(v4("0.0.0.0/0.0.0.0"), Ok(Prefix::DEFAULT_ROUTE));
    assert_eq!(v4("10.1.0.0/255.0.0.0"), Err(PrefixError::HostBits));
    assert_eq!(v4("10.1.0.0/255.0.255.0"), Err(PrefixError::Mask));
    assert_eq!(v4("10.1.0.0/255.255.0"), Err(PrefixError::LengthText));
    let masked = Prefix::<u32>::parse_masked("10.1.2.3/255.255.128.0");
    assert_eq!(masked, v4("10.1.0.0/17"));
    let v6 = |text: &str| text.parse::<IpPrefix>();
    assert_eq!(v6("2001:db8::/ffff:ffff::"), v6("2001:db8::/32"));
    assert_eq!(v6("2001:db8::/ffff:0:ffff::"), Err(PrefixError::Mask));
    // The families do not mix.
    assert_eq!(v6("2001:db8::/255.255.0.0"), Err(PrefixError::LengthText));
    assert_eq!(v6("10.0.0.0/ffff::"), Err(PrefixError::Address));
    let error = v4("10.0.0.0/255.0.255.0").unwrap_err().to_string();
    assert!(error.contains("not contiguous"), "{error}");
}

#[test]
fn canonical_and_in_order() {
    let prefix = Prefix::<u32>::parse_masked("10.1.2.3/8").unwrap();
    assert_eq!(Ok(prefix), v4("10.0.0.0/8"));
    assert_eq!(prefix.last(), 0x0aff_ffff);
    assert!(prefix.contains(0x0a01_0203) && !prefix.contains(0x0b00_0000));
    let inner = v4("10.0.0.0/16").unwrap();
    assert!(prefix.covers(&inner) && prefix.covers(&prefix) && !inner.covers(&prefix));
    assert!(prefix < inner && inner < v4("10.1.0.0/16").unwrap());
    for text in [
        "0.0.0.0/0",
        "255.255.255.254/31",
        "::/0",
        "2001:db8::/32",
        "::1/128",
    ] {
        assert_eq!(text.parse::<IpPrefix>().unwrap().to_string(), text);
    }
}

#[test]
fn hosts_of_core_net() {
    let four = Ipv4Addr::new(192, 0, 2, 1);
    let six = Ipv6Addr::from(7);
    assert_eq!(IpPrefix::from(IpAddr::V4(four)), IpPrefix::V4(four.into()));
    assert_eq!(IpPrefix::from(IpAddr::V6(six)).to_string(), "::7/128");
    assert_eq!(Prefix::<u128>::from(six).len(), 128);
    assert_eq!(IpPrefix::new(four.into(), 24), Err(PrefixError::HostBits));
}

#[cfg(feature = "ipnet")]
#[test]
fn networks_of_ipnet() {
    use ipnet::{IpNet, Ipv4Net, Ipv6Net};

    for (text, canonical) in [
        ("10.1.2.3/8", "10.0.0.0/8"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("2001:db8::1/32", "2001:db8::/32"),
        ("::1/128", "::1/128"),
    ] {
        let net: IpNet = text.parse().unwrap();
        let prefix = IpPrefix::from(net);
        assert_eq!(prefix.to_string(), canonical);
        assert_eq!(IpNet::from(prefix), net.trunc());
    }
    let four: Ipv4Net = "192.0.2.0/24".parse().unwrap();
    assert_eq!(Ipv4Net::from(Prefix::from(four)), four);
    let six: Ipv6Net = "2001:db8::/48".parse().unwrap();
    assert_eq!(Ipv6Net::from(Prefix::from(six)), six);
}

#[test]
fn subnets_are_all_prefixes_of_a_length() {
    fn check<A: Address>() {
        for len in 0..=A::WIDTH {
            let bits = A::truncate(u128::MAX);
            let prefix = Prefix::new_masked(bits, len).unwrap();
            for deeper in 0..=A::WIDTH.min(len + 8) {
                let parts: Vec<_> = prefix.subnets(deeper).collect();
                let count = if deeper < len { 0 } else { 1 << (deeper - len) };
                assert_eq!(parts.len(), count, "{prefix}: {deeper}");
                assert!(
                    parts
                        .iter()
                        .all(|part| part.len() == deeper && prefix.covers(part))
                );
                assert!(parts.is_sorted_by(|a, b| a < b), "{prefix}: {deeper}");
            }
            assert_eq!(prefix.subnets(A::WIDTH + 1).next(), None);
        }
    }
    check::<u8>();
    check::<u32>();
    check::<u128>();
}
