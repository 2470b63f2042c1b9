//! Lists in the languages of routers and firewalls: what is written is read back, and what a
//! language forbids is an error before a byte is out.

use std::collections::BTreeSet;

use crate::common::{STRICT, read};
use popfib::{IpPrefix, IpSet, Prefix};
use popfib_formats::{Format, RouteTable, WriteFormat, WriteOptions, write_table};
use proptest::collection::vec;
use proptest::prelude::*;

/// Every form of lists, and the format that reads it.
const FORMS: [(&str, &str); 12] = [
    ("plain", "text"),
    ("cisco-prefix-list", "prefix-lists"),
    ("cisco-acl", "prefix-lists"),
    ("junos-prefix-list", "filters"),
    ("junos-route-filter", "filters"),
    ("bird", "filters"),
    ("frr", "prefix-lists"),
    ("nftables", "nftables"),
    ("ipset", "ipset"),
    ("iptables", "iptables"),
    ("pf", "filters"),
    ("openbgpd", "filters"),
];

fn table<'a>(prefixes: impl IntoIterator<Item = &'a str>) -> RouteTable {
    let lines: String = prefixes.into_iter().map(|p| format!("{p} x\n")).collect();
    read(lines, &STRICT).unwrap()
}

fn prefixes(table: &RouteTable) -> BTreeSet<IpPrefix> {
    table.routes().map(|(p, _)| p).collect()
}

fn written(table: &RouteTable, form: &str, options: &WriteOptions) -> Result<String, String> {
    let mut out = b"before".to_vec();
    let form: WriteFormat = form.parse().unwrap();
    let result = write_table(table, form, options, &mut out);
    match result {
        Ok(()) => Ok(String::from_utf8(out.split_off(6)).unwrap()),
        Err(e) => {
            assert_eq!(out, b"before");
            Err(e.to_string())
        }
    }
}

fn options(name: Option<&str>, ge: Option<u8>, le: Option<u8>) -> WriteOptions {
    WriteOptions {
        name: name.map(str::to_owned),
        ge,
        le,
        ..WriteOptions::default()
    }
}

fn prefix() -> impl Strategy<Value = IpPrefix> {
    prop_oneof![
        (any::<u32>(), 0u8..=32)
            .prop_map(|(bits, len)| Prefix::new_masked(bits, len).unwrap().into()),
        (any::<u128>(), 0u8..=128)
            .prop_map(|(bits, len)| Prefix::new_masked(bits, len).unwrap().into()),
    ]
}

proptest! {
    #[test]
    fn every_list_is_read_back(given in vec(prefix(), 1..40), le in 0u8..=32) {
        let given: BTreeSet<_> = given.into_iter().collect();
        let lines: String = given.iter().map(|p| format!("{p} x\n")).collect();
        let table = read(lines, &STRICT).unwrap();
        for (form, format) in FORMS {
            for options in [options(None, None, None), options(None, Some(0), Some(le))] {
                let text = match written(&table, form, &options) {
                    Ok(text) => text,
                    Err(e) => {
                        let is_known = e.contains("no bounds") || e.contains("of length 0");
                        prop_assert!(is_known, "{}: {}", form, e);
                        continue;
                    }
                };
                prop_assert_eq!(Format::detect(text.as_bytes()).name(), format, "{}", text);
                let back = read(text.clone(), &STRICT).unwrap_or_else(|e| panic!("{form}: {e}\n{text}"));
                prop_assert_eq!(&prefixes(&back), &given, "{}", text);
                prop_assert_eq!(back.skipped + back.replaced, 0);
            }
        }
    }
}

/// Those of narrow space, so that there are not too many addresses.
fn narrow() -> impl Strategy<Value = IpPrefix> {
    prop_oneof![
        (any::<u8>(), 24u8..=32).prop_map(|(bits, len)| {
            Prefix::new_masked(0xc000_0200 | u32::from(bits), len)
                .unwrap()
                .into()
        }),
        (any::<u8>(), 120u8..=128).prop_map(|(bits, len)| {
            Prefix::new_masked(1 << 127 | u128::from(bits), len)
                .unwrap()
                .into()
        }),
    ]
}

proptest! {
    #[test]
    fn ranges_and_addresses_are_those_of_the_prefixes(given in vec(narrow(), 1..20)) {
        let lines: String = given.iter().map(|p| format!("{p} x\n")).collect();
        let table = read(lines, &STRICT).unwrap();
        let all: IpSet = given.iter().copied().collect();
        let fewest: Vec<_> = all.fewest().collect();
        let count = all.address_count();
        for form in ["ranges", "addresses"] {
            let text = written(&table, form, &options(None, None, None)).unwrap();
            let back = read(text.clone(), &STRICT).unwrap();
            let found: IpSet = prefixes(&back).into_iter().collect();
            prop_assert!(found.fewest().eq(fewest.iter().copied()), "{}", text);
            if form == "addresses" {
                prop_assert_eq!(text.lines().count() as u128, count);
            } else {
                prop_assert_eq!(back.skipped + back.replaced, 0);
                prop_assert!(text.lines().count() <= fewest.len());
            }
        }
    }
}

#[test]
fn more_addresses_than_anybody_waits_for_are_refused() {
    let none = options(None, None, None);
    let reason = written(&table(["::/95"]), "addresses", &none).unwrap_err();
    assert!(reason.contains("8589934592; ranges has them"), "{reason}");
    for form in ["ranges", "addresses"] {
        let named = options(Some("x"), None, None);
        let reason = written(&table(["10.0.0.0/8"]), form, &named).unwrap_err();
        assert_eq!(reason, "the form has no name");
    }
}

#[test]
fn every_form_is_tried() {
    let routes = ["text", "json-lines", "csv", "pfx2as", "geofeed", "mmdb"];
    let mut lists: Vec<_> = WriteFormat::all().map(WriteFormat::name).collect();
    // Those without prefixes have a test of their own.
    let others = ["ranges", "addresses"];
    lists.retain(|name| !routes.contains(name) && !others.contains(name));
    assert_eq!(lists, FORMS.map(|(form, _)| form));
}

/// What each form looks like.
#[test]
fn both_families() {
    let table = table(["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"]);
    let named = options(Some("bl"), None, None);
    for (form, wanted) in [
        (
            "cisco-prefix-list",
            "no ip prefix-list bl\nip prefix-list bl permit 10.0.0.0/8\nip prefix-list bl permit 192.0.2.1/32\n\
             no ipv6 prefix-list bl\nipv6 prefix-list bl permit 2001:db8::/32\n",
        ),
        (
            "cisco-acl",
            "no ip access-list standard bl\nip access-list standard bl\n permit 10.0.0.0 0.255.255.255\n \
             permit 192.0.2.1 0.0.0.0\nno ipv6 access-list bl_v6\nipv6 access-list bl_v6\n \
             permit ipv6 2001:db8::/32 any\n",
        ),
        (
            "junos-prefix-list",
            "policy-options {\nreplace:\n    prefix-list bl {\n        10.0.0.0/8;\n        192.0.2.1/32;\n        \
             2001:db8::/32;\n    }\n}\n",
        ),
        (
            "bird",
            "define bl = [\n    10.0.0.0/8,\n    192.0.2.1/32\n];\ndefine bl_v6 = [\n    2001:db8::/32\n];\n",
        ),
        (
            "ipset",
            "create bl hash:net family inet maxelem 65536\nadd bl 10.0.0.0/8\nadd bl 192.0.2.1/32\n\
             create bl_v6 hash:net family inet6 maxelem 65536\nadd bl_v6 2001:db8::/32\n",
        ),
        (
            "iptables",
            "*filter\n:bl - [0:0]\n-A bl -4 -s 10.0.0.0/8 -j DROP\n-A bl -4 -s 192.0.2.1/32 -j DROP\n\
             -A bl -6 -s 2001:db8::/32 -j DROP\nCOMMIT\n",
        ),
        (
            "pf",
            "table <bl> persist {\n    10.0.0.0/8,\n    192.0.2.1/32,\n    2001:db8::/32\n}\n",
        ),
        (
            "openbgpd",
            "prefix-set \"bl\" {\n\t10.0.0.0/8\n\t192.0.2.1/32\n\t2001:db8::/32\n}\n",
        ),
    ] {
        assert_eq!(written(&table, form, &named).unwrap(), wanted);
    }
    let plain = written(&table, "plain", &options(None, None, None)).unwrap();
    assert_eq!(plain, "10.0.0.0/8\n192.0.2.1/32\n2001:db8::/32\n");
}

#[test]
fn bounds_in_every_language() {
    let table = table(["10.0.0.0/8", "192.0.2.0/24", "198.51.100.0/25"]);
    for (ge, le, cisco, junos, bird, openbgpd) in [
        (
            None,
            Some(24),
            [" le 24", "", ""],
            [" upto /24", " exact", " exact"],
            ["{8,24}", "", ""],
            [" prefixlen 8 - 24", "", ""],
        ),
        (
            Some(24),
            Some(24),
            [" ge 24 le 24", "", ""],
            [" prefix-length-range /24-/24", " exact", " exact"],
            ["{24,24}", "", ""],
            [" prefixlen = 24", "", ""],
        ),
        (
            Some(25),
            None,
            [" ge 25", " ge 25", " le 32"],
            [
                " prefix-length-range /25-/32",
                " prefix-length-range /25-/32",
                " orlonger",
            ],
            ["{25,32}", "{25,32}", "{25,32}"],
            [" prefixlen 25 - 32"; 3],
        ),
        (
            Some(16),
            Some(32),
            [" ge 16", " le 32", " le 32"],
            [" prefix-length-range /16-/32", " orlonger", " orlonger"],
            ["{16,32}", "{24,32}", "{25,32}"],
            [
                " prefixlen 16 - 32",
                " prefixlen 24 - 32",
                " prefixlen 25 - 32",
            ],
        ),
    ] {
        let bounds = options(None, ge, le);
        let lines = |form: &str| -> Vec<String> {
            let text = written(&table, form, &bounds).unwrap();
            let lines = text.lines().filter(|line| line.contains('.'));
            lines
                .map(|line| line.trim_end_matches([',', ';']).to_owned())
                .collect()
        };
        let ends = |form: &str, wanted: [&str; 3]| {
            for ((line, prefix), wanted) in lines(form).iter().zip(prefixes(&table)).zip(wanted) {
                assert!(
                    line.ends_with(&format!("{prefix}{wanted}")),
                    "{form} {ge:?} {le:?}: {line}"
                );
            }
        };
        ends("cisco-prefix-list", cisco);
        ends("frr", cisco);
        ends("junos-route-filter", junos);
        ends("bird", bird);
        ends("openbgpd", openbgpd);
    }
}

#[test]
fn what_a_language_forbids() {
    let both = table(["10.0.0.0/8", "2001:db8::/32"]);
    let long = "x".repeat(32);
    for (form, options, reason) in [
        (
            "plain",
            options(Some("a"), None, None),
            "the form has no name, and \"a\" no place",
        ),
        (
            "text",
            options(Some("a"), None, None),
            "the form has no name",
        ),
        (
            "ipset",
            options(None, None, Some(24)),
            "the form has no bounds of length (ge, le)",
        ),
        (
            "ipset",
            options(Some("a b"), None, None),
            "\"a b\": not a name there, which is a letter, then letters, digits, _, -, .",
        ),
        (
            "bird",
            options(Some("a-b"), None, None),
            "\"a-b\": not a name there, which is a letter, then letters, digits, _",
        ),
        (
            "frr",
            options(Some("1\n"), None, None),
            "\"1\\n\": not a name there, which is a letter, then letters, digits, _, -, .",
        ),
        (
            "frr",
            options(Some(""), None, None),
            "\"\": not a name there, which is a letter, then letters, digits, _, -, .",
        ),
        (
            "ipset",
            options(Some(&long[..29]), None, None),
            "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxx\": a name there has 28 characters at most",
        ),
        (
            "frr",
            options(None, Some(25), Some(24)),
            "no length is at least 25 and at most 24",
        ),
        (
            "frr",
            options(None, None, Some(48)),
            "no prefix of IPv4 has the length 48",
        ),
    ] {
        assert_eq!(
            written(&both, form, &options),
            Err(reason.to_owned()),
            "{form}"
        );
    }
    let six = table(["2001:db8::/32"]);
    let text = written(&six, "frr", &options(None, None, Some(48))).unwrap();
    assert_eq!(text, "ipv6 prefix-list popfib permit 2001:db8::/32 le 48\n");
    let four = table(["10.0.0.0/8"]);
    assert!(written(&four, "ipset", &options(Some(&long[..31]), None, None)).is_ok());
    assert!(written(&four, "ipset", &options(Some(&long), None, None)).is_err());
    let all = table(["0.0.0.0/0"]);
    let refused = written(&all, "ipset", &WriteOptions::default());
    assert_eq!(
        refused,
        Err("the form holds no prefix of length 0".to_owned())
    );
    let empty = written(&RouteTable::default(), "nftables", &WriteOptions::default());
    assert_eq!(empty, Err("a list without a prefix".to_owned()));
}

/// A set that is larger than the kernel takes unasked says so.
#[test]
fn large_sets() {
    let (mut table, next_hop) = RouteTable::list();
    for n in 0..70_000u32 {
        table
            .ribs
            .ipv4
            .insert(Prefix::new(n << 8, 24).unwrap(), next_hop);
    }
    let text = written(&table, "ipset", &WriteOptions::default()).unwrap();
    assert!(text.starts_with("create popfib hash:net family inet maxelem 70000\n"));
    assert_eq!(text.lines().count(), 70_001);
}

#[test]
fn geofeeds_of_countries() {
    let countries = read("10.0.0.0/8 DE\n2001:db8::/32 us\n", &STRICT).unwrap();
    let text = written(&countries, "geofeed", &WriteOptions::default()).unwrap();
    assert_eq!(text, "10.0.0.0/8,DE,,,\n2001:db8::/32,us,,,\n");
    let back = read(text, &STRICT).unwrap();
    assert_eq!(
        crate::common::routes(&back),
        ["10.0.0.0/8 DE", "2001:db8::/32 us"]
    );
    let other = read("10.0.0.0/8 64500\n", &STRICT).unwrap();
    let refused = written(&other, "geofeed", &WriteOptions::default());
    assert_eq!(
        refused,
        Err("10.0.0.0/8 \"64500\": not a country of two letters".to_owned())
    );
}
