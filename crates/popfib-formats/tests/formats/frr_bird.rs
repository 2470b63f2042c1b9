//! One table in every form that BIRD, FRR and Linux print: what comes out is
//! what went in, route by route.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::common::{STRICT, error, input, load, load_from, routes, shared_data};
use popfib_formats::{Format, Input, LoadOptions, RouteValue};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vendor-frr-bird")
}

/// Prefix and next hop of `expected-v4` or `-v6`, read without the library.
fn expected(family: &str) -> BTreeMap<String, String> {
    let file = fs::File::open(folder().join(format!("expected-{family}.txt.bz2"))).unwrap();
    let text = std::io::read_to_string(bzip2::read::BzDecoder::new(file)).unwrap();
    let pair = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        (words.next().unwrap(), words.next().unwrap())
    };
    let table: BTreeMap<_, _> = text.lines().map(pair).collect();
    assert_eq!(table.len(), if family == "v4" { 20_000 } else { 5_000 });
    table
}

fn table(path: &Path) -> BTreeMap<String, String> {
    let table = load(path, &STRICT).unwrap();
    assert_eq!(
        (table.replaced, table.skipped),
        (0, 0),
        "{}",
        path.display()
    );
    // FRR's RIB shows the route that it does not select, too.
    let is_rib = path.to_string_lossy().contains("frr_show_ip_route")
        || path.to_string_lossy().contains("frr_show_ipv6_route");
    let unused = "1 route that the router does not use left out";
    assert!(table.notes.iter().all(|note| is_rib && note == unused));
    let pair = |route: String| {
        let (prefix, next_hop) = route.split_once(' ').unwrap();
        (prefix.to_owned(), next_hop.to_owned())
    };
    routes(&table).into_iter().map(pair).collect()
}

/// The routes of the routers themselves, beside those that they were fed.
const OWN_V4: [(&str, &str); 5] = [
    ("0.0.0.0/0", "10.9.1.9"),
    ("10.9.0.1/32", "lo"),
    ("10.9.0.2/32", "lo"),
    ("10.9.1.0/24", "d1"),
    ("10.9.2.0/24", "d0"),
];
const OWN_V6: [(&str, &str); 4] = [
    ("::/0", "fd00:9:1::9"),
    ("fd00:9:1::/64", "d1"),
    ("fd00:9:2::/64", "d0"),
    ("fe80::/64", "d1"),
];

/// The one route of each family that FRR could not use: its next hop lies inside
/// of it. BGP has it as best, but zebra does not select it, nor does Linux get it.
const INACTIVE: [&str; 2] = ["193.203.0.0/23", "2001:7f8:4::/48"];

/// As the RIB has it: without the routes that can't be used, with the router's own.
fn rib(mut table: BTreeMap<String, String>, own: &[(&str, &str)]) -> BTreeMap<String, String> {
    let before = table.len();
    table.retain(|prefix, _| !INACTIVE.contains(&prefix.as_str()));
    assert_eq!(table.len(), before - 1);
    for &(prefix, next_hop) in own {
        assert!(
            table
                .insert(prefix.to_owned(), next_hop.to_owned())
                .is_none()
        );
    }
    table
}

/// As the kernel has it: FRR resolves every next hop to the one it goes by.
fn resolved(mut table: BTreeMap<String, String>, by: &str) -> BTreeMap<String, String> {
    table
        .values_mut()
        .for_each(|next_hop| by.clone_into(next_hop));
    table
}

#[test]
fn what_went_in_comes_out_of_every_form() {
    let (v4, v6) = (expected("v4"), expected("v6"));
    // Linux has the router's own addresses in another table.
    let kernel_v4: Vec<_> = OWN_V4
        .into_iter()
        .filter(|(_, next_hop)| *next_hop != "lo")
        .collect();
    let forms = [
        ("bird2_show_route_v4.txt", "bird", v4.clone()),
        ("bird2_show_route_v6.txt", "bird", v6.clone()),
        (
            "frr_show_ip_route.txt",
            "show-route",
            rib(v4.clone(), &OWN_V4),
        ),
        (
            "frr_show_ip_route.json",
            "frr-json",
            rib(v4.clone(), &OWN_V4),
        ),
        (
            "frr_show_ipv6_route.txt",
            "show-route",
            rib(v6.clone(), &OWN_V6),
        ),
        ("frr_show_ip_bgp.txt", "show-bgp", v4.clone()),
        ("frr_show_bgp_ipv6.txt", "show-bgp", v6.clone()),
        ("frr_show_bgp_ipv6.json", "frr-json", v6.clone()),
        (
            "linux_ip_route_show_from_frr.txt",
            "ip-route",
            rib(resolved(v4.clone(), "10.9.1.9"), &kernel_v4),
        ),
        (
            "linux_ip_route_show_from_frr.json",
            "ip-route-json",
            rib(resolved(v4.clone(), "10.9.1.9"), &kernel_v4),
        ),
        (
            "linux_ip6_route_show_from_frr.txt",
            "ip-route",
            rib(resolved(v6, "fd00:9:1::9"), &OWN_V6),
        ),
    ];
    for (name, format, wanted) in forms {
        let path = folder().join(format!("{name}.bz2"));
        let seen = table(&path);
        assert!(
            seen == wanted,
            "{name}: {} routes, not {}",
            seen.len(),
            wanted.len()
        );
        let packed = fs::File::open(&path).unwrap();
        let mut head = Vec::new();
        std::io::copy(
            &mut std::io::Read::take(bzip2::read::BzDecoder::new(packed), 65536),
            &mut head,
        )
        .unwrap();
        assert_eq!(Format::detect(&head).name(), format, "{name}");
    }
}

#[test]
fn the_largest_form_too() {
    let Some(data) = shared_data("the_largest_form_too") else {
        return;
    };
    let path = data.join("vendor-frr-bird/frr_show_ip_bgp.json.gz");
    assert!(table(&path) == expected("v4"));
}

/// FRR's and BIRD's listings of the same routes name the same origins; where there is no AS path, nothing is made up.
#[test]
fn origins_come_from_the_paths_of_a_listing() {
    let options = LoadOptions {
        value: RouteValue::OriginAs,
        ..STRICT.clone()
    };
    let of = |name: &str| load(&folder().join(name), &options);
    let pairs = |name: &str| -> BTreeMap<String, String> {
        let table = of(name).unwrap();
        let routes = routes(&table);
        let pair = |route: &String| route.split_once(' ').map(|(a, b)| (a.into(), b.into()));
        routes.iter().filter_map(pair).collect()
    };
    let frr = pairs("frr_show_ip_bgp.txt.bz2");
    assert_eq!(frr.len(), 20_000);
    assert_eq!(frr["1.0.6.0/24"], "56203");
    let bird = pairs("bird2_show_route_all_v4.part.txt.bz2");
    // The last route was cut off before its AS path.
    assert_eq!(bird.len(), 15_000);
    let differ = |(prefix, origin): &(&String, &String)| frr[*prefix] != **origin;
    let others: Vec<_> = bird.iter().filter(differ).collect();
    assert!(matches!(others[..], [(_, origin)] if origin.is_empty()));
    let pathless = of("bird2_show_route_v4.txt.bz2").unwrap();
    assert_eq!(pathless.remarks(), ["20000 routes without a value"]);
    // Empty paths are of the router's own AS, which FRR prints.
    for name in ["frr_show_bgp_ipv6.txt.bz2", "frr_show_bgp_ipv6.json.bz2"] {
        let own = pairs(name);
        assert_eq!(own.len(), 5_000, "{name}");
        assert!(own.values().all(|origin| origin == "65010"), "{name}");
    }
    let message = of("frr_show_ip_route.txt.bz2").unwrap_err().to_string();
    let reason = "show-route has no AS paths, so its routes have no origin-as";
    assert!(message.ends_with(reason), "{message}");
}

#[test]
fn a_part_of_a_listing_is_that_part() {
    let seen = table(&folder().join("bird2_show_route_all_v4.part.txt.bz2"));
    let all = expected("v4");
    assert_eq!(seen.len(), 15_000);
    assert!(
        seen.iter()
            .all(|(prefix, next_hop)| all.get(prefix) == Some(next_hop))
    );
}

#[test]
fn a_document_cut_off_is_an_error_that_can_be_skipped() {
    let packed = fs::File::open(folder().join("frr_show_bgp_ipv6.json.bz2")).unwrap();
    let text = std::io::read_to_string(bzip2::read::BzDecoder::new(packed)).unwrap();
    for cut in [text.len() / 2, text.len() - 4, 2000] {
        let message = error(&text[..cut], &STRICT);
        assert!(message.ends_with("the JSON is cut off"), "{message}");
        let table = load_from(input(&text[..cut]), &crate::common::SKIP).unwrap();
        let all = expected("v6");
        for route in routes(&table) {
            let (prefix, next_hop) = route.split_once(' ').unwrap();
            assert_eq!(all[prefix], next_hop);
        }
    }
    // One bad item among good ones is skipped alone.
    let bad = text.replacen("\"2001:290::/32\": [", "\"2001:290::1/32\": [", 1);
    let message = error(bad.as_bytes(), &STRICT);
    assert!(
        message.starts_with("t:10: \"2001:290::1/32\": host bits"),
        "{message}"
    );
    let table = load_from(
        Input::from_reader("t", std::io::Cursor::new(bad.into_bytes())),
        &crate::common::SKIP,
    )
    .unwrap();
    assert_eq!((routes(&table).len(), table.skipped), (4999, 1));
}

/// What is read anywhere in the text, with the word after `via` as the value, is what the readers of these listings say.
#[test]
fn the_same_as_any_text() {
    for file in [
        "frr_show_ip_route.txt.bz2",
        "frr_show_ipv6_route.txt.bz2",
        "linux_ip_route_show_from_frr.txt.bz2",
        "linux_ip6_route_show_from_frr.txt.bz2",
    ] {
        let path = folder().join(file);
        let options = LoadOptions {
            value_regex: Some(r"via ([^\s,]+)".parse().unwrap()),
            ..STRICT.clone()
        };
        let any = load(&path, &options).unwrap();
        let any: BTreeSet<String> = routes(&any).into_iter().collect();
        // What has an interface only, and Linux's `default`, are no words after `via` and no prefix.
        let listed = table(&path).into_iter().filter(|(prefix, next_hop)| {
            next_hop.parse::<IpAddr>().is_ok() && !prefix.ends_with("/0")
        });
        let listed: Vec<_> = listed
            .map(|(prefix, next_hop)| format!("{prefix} {next_hop}"))
            .collect();
        assert!(listed.len() > 4_900, "{file}: {}", listed.len());
        let missing: Vec<_> = listed
            .iter()
            .filter(|route| !any.contains(*route))
            .collect();
        assert!(
            missing.is_empty(),
            "{file}: {:?}",
            &missing[..missing.len().min(5)]
        );
    }
}
