//! Random tables, written in every way that the text format allows, come back as they were.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::common::{Compress, STRICT, bzip2, gzip, plain, read, zstd};
use popfib::{IpPrefix, Prefix};
use proptest::collection::vec;
use proptest::prelude::*;

/// One route and how to write it.
#[derive(Clone, Debug)]
struct Written {
    prefix: IpPrefix,
    next_hop: String,
    spelling: u8,
    before: &'static str,
    separator: &'static str,
    after: &'static str,
    end: &'static str,
}

/// A legal spelling of the prefix; which one is `spelling`'s choice.
fn spell(prefix: IpPrefix, spelling: u8) -> String {
    let address = match prefix {
        IpPrefix::V4(p) => Ipv4Addr::from(p.address()).to_string(),
        IpPrefix::V6(p) => {
            let address = Ipv6Addr::from(p.address());
            let s = address.segments();
            match spelling % 5 {
                0 => address.to_string(),
                1 => address.to_string().to_uppercase(),
                2 => s.map(|s| format!("{s:x}")).join(":"),
                3 => s.map(|s| format!("{s:04X}")).join(":"),
                _ => {
                    let [a, b, c, d] = (p.address() as u32).to_be_bytes();
                    let head = s[..6]
                        .iter()
                        .map(|s| format!("{s:03x}"))
                        .collect::<Vec<_>>();
                    format!("{}:{a}.{b}.{c}.{d}", head.join(":"))
                }
            }
        }
    };
    let host = prefix == IpPrefix::host(prefix.address());
    if host && spelling & 0x40 != 0 {
        address
    } else {
        format!("{address}/{}", prefix.len())
    }
}

fn prefix() -> impl Strategy<Value = IpPrefix> {
    prop_oneof![
        (any::<u32>(), 0u8..=32)
            .prop_map(|(bits, len)| Prefix::new_masked(bits, len).unwrap().into()),
        (any::<u128>(), 0u8..=128)
            .prop_map(|(bits, len)| Prefix::new_masked(bits, len).unwrap().into()),
        // Few bits, so that prefixes repeat; v4-mapped, so that families could mix.
        (0u32..4, 0u8..=4).prop_map(|(n, len)| Prefix::new_masked(n << 28, len).unwrap().into()),
        (0u128..4, 94u8..=128).prop_map(|(n, len)| {
            Prefix::new_masked(0xffff << 32 | n << 30, len)
                .unwrap()
                .into()
        }),
    ]
}

fn written() -> impl Strategy<Value = Written> {
    let before = prop::sample::select(vec!["", "", " ", "\t", "# x\n", "\n", "; y z\r\n \t"]);
    let separator = prop::sample::select(vec![" ", "\t", ",", "  ", " \t ", ", ", " ,", "\t,\t"]);
    let after = prop::sample::select(vec![
        "",
        "",
        " ",
        "\t",
        " #",
        " # x",
        " ; ,\t",
        " ; y\u{e9}",
    ]);
    let end = prop::sample::select(vec!["\n", "\r\n", "\n\n", "\r\n\r\n"]);
    let next_hop = prop_oneof!["[1-9][0-9]{0,4}", "[!-~&&[^,#;]]{1,20}", "\\PC{1,6}"]
        .prop_map(|name| name.replace(|c: char| c.is_whitespace() || ",#;\"".contains(c), "_"));
    (
        prefix(),
        next_hop,
        any::<u8>(),
        before,
        separator,
        after,
        end,
    )
        .prop_map(
            |(prefix, next_hop, spelling, before, separator, after, end)| Written {
                prefix,
                next_hop,
                spelling,
                before,
                separator,
                after,
                end,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 256 } else { 2048 }))]

    #[test]
    fn what_was_written_is_read(
        routes in vec(written(), 1..60),
        mark: bool,
        final_newline: bool,
        compress in prop::sample::select(vec![plain as Compress, gzip, bzip2, zstd]),
        members in 1usize..4,
    ) {
        let mut text = String::new();
        if mark {
            text.push('\u{feff}');
        }
        for r in &routes {
            let prefix = spell(r.prefix, r.spelling);
            text.extend([r.before, &prefix, r.separator, &r.next_hop, r.after, r.end]);
        }
        if !final_newline {
            text.truncate(text.trim_end_matches(['\n', '\r']).len());
        }
        let bytes = text.as_bytes();
        let data = bytes.chunks(bytes.len().div_ceil(members)).flat_map(compress).collect::<Vec<_>>();
        let table = read(data, &STRICT).unwrap();

        let wanted: BTreeMap<IpPrefix, _> =
            routes.iter().map(|r| (r.prefix, r.next_hop.as_str().into())).collect();
        let seen: BTreeMap<IpPrefix, _> =
            table.routes().map(|(p, n)| (p, table.value(n))).collect();
        prop_assert_eq!(&seen, &wanted);
        prop_assert_eq!(table.replaced, (routes.len() - wanted.len()) as u64);
        prop_assert_eq!(table.skipped, 0);
    }

    /// Whatever the bytes are: a table or one line of error, and the numbers add up.
    #[test]
    fn no_bytes_do_harm(data in vec(any::<u8>(), 0..400), magic in 0usize..5) {
        let magics: [&[u8]; 5] = [b"", b"\x1f\x8b\x08\0", b"BZh91AY&SY", b"\x28\xb5\x2f\xfd", b"1.1.1.1 a\n"];
        let data = [magics[magic], &data].concat();
        let lines = data.split(|&b| b == b'\n').count() as u64;
        match read(data, &crate::common::SKIP) {
            Ok(table) => {
                let routes = table.route_count() as u64;
                prop_assert!(routes > 0 || !table.notes.is_empty());
                prop_assert!(magic == 1 || magic == 2 || magic == 3
                    || routes + table.replaced + table.skipped <= lines);
            }
            Err(e) => prop_assert!(!e.to_string().contains(char::is_control)),
        }
    }

    /// Text of the format's own characters comes closer to legal lines.
    #[test]
    fn no_text_does_harm(text in "([0-9a-f.:/ ,#;\t\r]{0,30}\n){0,8}") {
        match read(text, &crate::common::SKIP) {
            Ok(table) => prop_assert!(table.route_count() > 0 || !table.notes.is_empty()),
            Err(e) => prop_assert!(e.line().is_none(), "{}", e),
        }
    }
}
