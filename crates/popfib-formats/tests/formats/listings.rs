//! What routers print: every capture is read as its `.routes` says.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::common::{STRICT, error, load, read_as, routes};
use popfib_formats::LoadOptions;

static LENIENT: LazyLock<LoadOptions> = LazyLock::new(|| LoadOptions {
    skip_invalid: true,
    mask: true,
    ..LoadOptions::new()
});

fn captures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vendor-ntc");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut captures: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|e| e == "raw"))
        .collect();
    captures.sort();
    assert_eq!(captures.len(), 31);
    captures
}

/// The error of a strict reading and the routes of a lenient one.
fn outcome(path: &Path) -> String {
    let mut text = String::new();
    if let Err(e) = load(path, &STRICT) {
        let message = e.to_string();
        let file = format!("{}:", path.display());
        let place = message.strip_prefix(&file).expect("the file's name first");
        writeln!(text, "! {place}").unwrap();
    }
    match load(path, &LENIENT) {
        Ok(table) => {
            for route in routes(&table) {
                writeln!(text, "{route}").unwrap();
            }
        }
        Err(e) => assert!(e.to_string().contains("no valid route"), "{e}"),
    }
    text
}

#[test]
fn every_capture_is_read_or_refused_as_recorded() {
    for path in captures() {
        let seen = outcome(&path);
        let recorded = path.with_extension("routes");
        let wanted = fs::read_to_string(&recorded).unwrap();
        assert!(seen == wanted, "{}:\n{seen}", path.display());
    }
}

const LEGEND: &str = "Codes: C - connected, B - BGP\n       > - selected route, * - FIB route\n\n";

#[test]
fn rows_with_codes() {
    let text = format!(
        "r1#show ip route\n{LEGEND}\
         S>* 10.0.0.0/8 [1/0] unreachable (blackhole), weight 1, 00:00:05\n\
         B>  10.1.0.0/16 [20/0] via 192.0.2.9 inactive, weight 1, 1d02h\n\
         \x20 *                   via 192.0.2.1, eth0, weight 1, 1d02h\n\
         B   10.2.0.0/16 [200/0] via 192.0.2.2, eth0, 1d02h\n\
         B>r 10.3.0.0/16 [200/0] via 192.0.2.3 inactive, weight 1, 1d02h\n\
         O>* 2001:db8::/32 [110/20] via fe80::1, eth1, weight 1, 00:00:05\n\
         r1# \n"
    );
    assert_eq!(
        read_as("show-route", &text),
        [
            "10.0.0.0/8 blackhole",
            "10.1.0.0/16 192.0.2.1",
            "2001:db8::/32 fe80::1"
        ]
    );
}

#[test]
fn faults_of_listings_name_the_line() {
    let codes = |rows: &str| format!("{LEGEND}{rows}");
    let bgp = |rows: &str| {
        format!("   Network          Next Hop            Metric LocPrf Weight Path\n{rows}")
    };
    for (text, wanted) in [
        (codes("C>* 10.0.0.1/8 is directly connected, eth0\n"), "t:4: \"10.0.0.1/8\": host bits are set beyond the prefix length; `mask` clears them"),
        (codes("C>* 10.0.0.0/33 is directly connected, eth0\n"), "t:4: \"10.0.0.0/33\": "),
        (codes("B>* 10.0.0.0/8 [20/0]\nC>* 10.1.0.0/16 is directly connected, eth0\n"), "t:4: no next hop after \"10.0.0.0/8\""),
        (codes("C>* 10.1.0.0/16 is directly connected, eth0\nB>* 10.0.0.0/8 [20"), "t:5: no next hop after \"10.0.0.0/8\""),
        (codes("via 10.0.0.1, eth0\n"), "t:4: a next hop without a prefix before it"),
        (codes("hello, world\n"), "t:4: \"hello, world\": not a route"),
        (codes("C>* 10.0.0.0/8 is \u{7} connected\n"), "t:4: this is not text: control character U+0007"),
        (codes("VRF a:\nC>* 10.0.0.0/8 is directly connected, eth0\nVRF b:\nC>* 10.1.0.0/16 is directly connected, eth0\n"), "t:7: routes of table \"b\" begin here, after those of table \"a\"; a file is one table; `vrf` chooses"),
        (bgp("*> 10.0.0.1/8       0.0.0.0                  0         32768 i\n"), "t:2: \"10.0.0.1/8\": host bits"),
        (bgp("*> 10.1.0.0         0.0.0.0                  0         32768 i\n"), "t:2: \"10.1.0.0/8\": host bits"),
        (bgp("*> 10.0.0.0/8\n*> 11.0.0.0/8       0.0.0.0   0  32768 i\n"), "t:2: no next hop after \"10.0.0.0/8\""),
        (bgp("*>                  0.0.0.0                  0         32768 i\n"), "t:2: a path without a network before it"),
        (bgp("*> hello            0.0.0.0                  0         32768 i\n"), "t:2: \"hello\": "),
        (bgp("hello, world\n"), "t:2: \"hello, world\": not a route"),
        ("Table master4:\n10.0.0.0/8  unicast [a 1] * (200)\n10.1.0.0/16  unicast [a 1] * (200)\n\tvia 10.0.0.1 on e\n".into(), "t:2: no next hop after \"10.0.0.0/8\""),
        ("Table master4:\n10.0.0.1/8  unicast [a 1] * (200)\n".into(), "t:2: \"10.0.0.1/8\": host bits"),
        ("Table master4:\n  unicast [a 1] * (200)\n".into(), "t:2: a route without a network before it"),
        ("Table master4:\nhello, world\n".into(), "t:2: \"hello, world\": not a route"),
        ("10.0.0.0/8, ubest/mbest: 1/0\n10.1.0.0/16, ubest/mbest: 1/0\n    *via 10.0.0.1, [1/0], static\n".into(), "t:1: no next hop after"),
        ("10.0.0.1/8, ubest/mbest: 1/0\n".into(), "t:1: \"10.0.0.1/8\": host bits"),
        ("10.0.0.0/8, ubest/mbest: 1/0\n  *via 10.0.0.1, [1/0], static\nhello\n".into(), "t:3: \"hello\": not a route"),
        ("Destination: 10.0.0.0/8\n  Protocol: Static\n".into(), "t:1: no next hop after \"10.0.0.0/8\""),
        ("Destination/Mask  Proto  Pre Cost  NextHop  Interface\n10.0.0.0/8 Static 60\n".into(), "t:2: no next hop after \"10.0.0.0/8\""),
        ("Destination/Mask  Proto  Pre Cost  NextHop  Interface\nhello\n".into(), "t:2: \"hello\": not a route"),
        ("destination  nexthop  metric flags  age interface  next-AS\n10.0.0.0/8   192.0.2.1\n".into(), "t:2: no flags after \"10.0.0.0/8\""),
        ("destination  nexthop  metric flags  age interface  next-AS\n10.0.0.0/8\n".into(), "t:2: no next hop after \"10.0.0.0/8\""),
        ("0 A S dst-address=10.0.0.0/8 distance=1\n".into(), "t:1: no gateway after \"10.0.0.0/8\""),
        ("0 A S dst-address=10.0.0.0/8 gateway=a\nhello\n".into(), "t:2: \"hello\": not a route"),
        ("10.0.0.0/8 via hello dev eth0\n".into(), "t:1: \"hello\": not an address"),
        ("10.0.0.0/8 dev eth0 metric x\n".into(), "t:1: \"x\": not a metric"),
        ("10.0.0.0/8 dev eth0 scope link\n10.1.0.0/16 vai 192.0.2.1 dev eth0\n".into(), "t:2: \"vai\": not a word of a route"),
        ("10.0.0.0/8 dev eth0 scope link\n10.1.0.0/16 10.2.0.0/16 dev eth0\n".into(), "t:2: \"10.2.0.0/16\": not a word of a route"),
        ("10.0.0.0/8 encap ip id 1 src ::1 dst ::2 tos 0 vai 192.0.2.1 dev eth0\n".into(), "t:1: \"vai\": not a word of a route"),
        (r#"[{"dst":"10.0.0.0/8","gatway":"192.0.2.1","dev":"eth0"}]"#.into(), "t:1: \"gatway\": not a word of a route"),
        (r#"[{"dst":"10.0.0.0/8","gateway":null}]"#.into(), "t:1: a route with a list, an object or null where a word should be"),
        (r#"[{"dst":"10.0.0.0/8"},{"type":"unicast","dst1":"10.0.0.0/8"}]"#.into(), "t:1: missing field `dst`"),
        (r#"[{"dst":"10.0.0.0/8","via":{"familie":"inet6","host":"::1"}}]"#.into(), "t:1: no family in via"),
        (r#"{"vrfId":0,"routes":{"10.0.0.0/8":{"pathes":[]}}}"#.into(), "t:1: expected paths or a next hop"),
        (r#"[{"dst":"10.0.0.0/8","dev":"a b"}]"#.into(), "t:1: \"a b\": not one word"),
        (r#"{"10.0.0.0/8":[{"selected":true,"nexthops":[{"ipx":"192.0.2.1","afi":"ipv4","interfaceName":"a","active":true}]}]}"#.into(), "t:1: no next hop after"),
        (r#"{"vrfs":{"a":{"routes":{"10.0.0.0/33":{"vias":[]}}}}}"#.into(), "t:1: \"10.0.0.0/33\": "),
        (r#"{"vrfs":{"a":{"routes":{"10.0.0.0/8":{"vais":[{"nexthopAddr":"192.0.2.1"}]}}}}}"#.into(), "t:1: no next hop after"),
        (r#"{"vrfs":{"a":{"evpnRoutes":{"10.0.0.0/8":{}},"routes":{}}}}"#.into(), "t:1: \"evpnRoutes\": no routes of a router"),
        (r#"{"TABLE_vrf":{"ROW_vrf":{"TABLE_prefix":{"ROW_prefix":[{"iprefix":"10.0.0.0/8"}]}}}}"#.into(), "t:1: a row without ipprefix"),
        (r#"{"rib":[{"prefix":"10.0.0.0/8","exit_hop":"192.0.2.1","best":true}]}"#.into(), "t:1: no next hop after"),
        ("10.0.0.0/8 dev eth0 scope link\n10.0.0.1/8 dev eth0\n".into(), "t:2: \"10.0.0.1/8\": host bits"),
        ("10.0.0.0/8 dev eth0 scope link\n10.1.0.0/16 proto bgp\n".into(), "t:2: no next hop after \"10.1.0.0/16\""),
        ("10.0.0.0/8 dev eth0 scope link\n10.1.0.0/16 via".into(), "t:2: nothing after \"via\""),
        ("1.0.0.0\t24\t13335\n1.0.1.0\t24\n".into(), "t:2: \"1.0.1.0\\t24\": not a network, a length and an AS"),
        ("1.0.0.0\t24\t13335\n1.0.1.1\t24\t5\n".into(), "t:2: \"1.0.1.1/24\": host bits"),
    ] {
        let seen = error(text.clone(), &STRICT);
        assert!(seen.starts_with(wanted), "{text:?}\n gives {seen}\nwanted {wanted}");
    }
}

#[test]
fn kernel_routes() {
    let text = "default proto static metric 10 \n\
        \tnexthop via 10.0.0.9 dev eth0 weight 1 dead linkdown \n\
        \tnexthop via 10.0.0.1 dev eth0 weight 1 \n\
        default via 10.0.0.2 dev eth1 metric 5 \n\
        blackhole 10.9.0.0/16 \n\
        10.1.0.0/16 via inet6 fe80::1 dev eth0 \n\
        10.2.0.0/16 tos 0x10 via 10.0.0.1 dev eth0 \n\
        10.3.0.0/16 dev eth2 scope link dead linkdown \n\
        10.4.0.1 dev wg0 scope link \n";
    assert_eq!(
        read_as("ip-route", text),
        [
            "0.0.0.0/0 10.0.0.2",
            "10.1.0.0/16 fe80::1",
            "10.4.0.1/32 wg0",
            "10.9.0.0/16 blackhole",
        ]
    );
    let text = "2001:db8::/32 via fe80::1 dev eth0 metric 1024 pref medium\n\
        unreachable default dev lo metric 4294967295 error -101 pref medium\n\
        default from 2001:db8::/48 via fe80::3 dev eth0 metric 1 pref medium\n\
        default via fe80::2 dev eth0 metric 1024 pref medium\n\
        default nhid 7 metric 2048 pref medium \\\tnexthop via fe80::4 dev a weight 1 \\\tnexthop via fe80::5 dev b\n";
    assert_eq!(
        read_as("ip-route", text),
        ["::/0 fe80::2", "2001:db8::/32 fe80::1"]
    );
    let json = r#"[{"dst":"default","gateway":"10.0.0.1","dev":"eth0","metric":9,"flags":[]},
        {"dst":"default","gateway":"10.0.0.2","dev":"eth0","metric":5,"flags":[]},
        {"dst":"10.0.0.0/8","flags":[],"nexthops":[{"gateway":"10.0.0.9","dev":"a","flags":["dead"]},{"gateway":"10.0.0.3","dev":"b","flags":[]}]},
        {"type":"blackhole","dst":"10.9.0.0/16","flags":[]},
        {"dst":"10.1.0.0/16","via":{"family":"inet6","host":"fe80::1"},"dev":"eth0","flags":[]},
        {"dst":"10.2.0.0/16","dev":"eth0","flags":["dead"]},
        {"dst":"10.3.0.0/16","tos":"0x10","dev":"eth0","flags":[]},
        {"dst":"10.4.0.1","dev":"wg0","scope":"link","flags":[]},
        {"dst":"default","gateway":"fe80::1","dev":"eth0","flags":[],"pref":"medium"}]"#;
    assert_eq!(
        read_as("ip-route-json", json),
        [
            "0.0.0.0/0 10.0.0.2",
            "10.0.0.0/8 10.0.0.3",
            "10.1.0.0/16 fe80::1",
            "10.4.0.1/32 wg0",
            "10.9.0.0/16 blackhole",
            "::/0 fe80::1",
        ]
    );
}

#[test]
fn kernel_routes_with_encapsulations() {
    let text = "10.1.0.0/16 encap seg6local action End.DT4 table 7 dev a metric 5\n\
        10.2.0.0/16 encap seg6 mode encap segs 1 [ 2001:db8::1 ] via inet6 fe80::1 dev a mtu lock 1400\n\
        default proto ra metric 4\n\tnexthop via fe80::2 dev a weight 1\n\
        10.3.0.0/16 encap mpls 16/17 via 192.0.2.1 dev a table main\n\tnh_info id 1 via 192.0.2.1\n";
    let wanted = [
        "10.1.0.0/16 a",
        "10.2.0.0/16 fe80::1",
        "10.3.0.0/16 192.0.2.1",
        "::/0 fe80::2",
    ];
    assert_eq!(read_as("ip-route", text), wanted);
    let json = r#"[{"dst":"10.1.0.0/16","encap":"seg6local","action":"End.DT4","table":"7","dev":"a","metric":5},
        {"dst":"10.2.0.0/16","encap":"seg6","mode":"encap","segs":["2001:db8::1"],"via":{"family":"inet6","host":"fe80::1"},
         "dev":"a","metrics":[{"mtu":1400}]},
        {"dst":"default","protocol":"ra","metric":4,"nexthops":[{"gateway":"fe80::2","dev":"a","weight":1,"flags":[]}]},
        {"dst":"10.3.0.0/16","encap":"mpls","dst":"16/17","gateway":"192.0.2.1","dev":"a","table":"main"}]"#;
    assert_eq!(read_as("ip-route-json", json), wanted);
}

#[test]
fn json_of_routers() {
    let eos = r#"{"vrfs":{"default":{"routes":{
        "10.0.0.0\/8":{"routeType":"static","routeAction":"forward","vias":[{"nexthopAddr":"192.0.2.1","interface":"Ethernet1"}]},
        "10.1.0.0/16":{"routeAction":"forward","directlyConnected":true,"vias":[{"interface":"Ethernet2"}]},
        "10.2.0.0/16":{"routeAction":"forward","vias":[{"vtepAddr":"192.0.2.7","vni":5}]},
        "10.3.0.0/16":{"routeAction":"drop","vias":[]}},"defaultRouteState":"notSet"},"mgmt":{"routes":{}}}}"#;
    assert_eq!(
        read_as("router-json", eos),
        [
            "10.0.0.0/8 192.0.2.1",
            "10.1.0.0/16 Ethernet2",
            "10.2.0.0/16 192.0.2.7",
            "10.3.0.0/16 drop"
        ]
    );
    let path = |hop: &str, active| {
        format!(
            r#"{{"nextHop":"{hop}","asPathEntry":{{"asPath":"64500 i"}},"routeType":{{"active":{active}}}}}"#
        )
    };
    let bgp = format!(
        r#"{{"vrfs":{{"red":{{"vrf":"red","asn":"64501","bgpRouteEntries":{{"10.0.0.0/8":{{"bgpRoutePaths":[{},{}]}},
        "10.1.0.0/16":{{"bgpRoutePaths":[{}]}},"10.2.0.0/16":{{"bgpRoutePaths":[{}]}}}}}}}}}}"#,
        path("192.0.2.1", false),
        path("192.0.2.2", true),
        path("", true),
        path("192.0.2.3", false),
    );
    assert_eq!(
        read_as("router-json", &bgp),
        ["10.0.0.0/8 192.0.2.2", "10.1.0.0/16 -"]
    );
    // An object where there is one row, a list else.
    let row = |prefix: &str, hop: &str, more: &str| {
        format!(
            r#"{{"ipprefix":"{prefix}","TABLE_path":{{"ROW_path":{{"ipnexthop":"{hop}","ifname":"Eth1/1"{more}}}}}}}"#
        )
    };
    let vrf = |name: &str, rows: &str| {
        format!(
            r#"{{"vrf-name-out":"{name}","TABLE_addrf":{{"ROW_addrf":{{"addrf":"ipv4","TABLE_prefix":{{"ROW_prefix":{rows}}}}}}}}}"#
        )
    };
    let list = format!(
        "[{},{}]",
        row("10.0.0.0/8", "192.0.2.1", ""),
        row("10.1.0.0/16", "10.1.0.1", r#","clientname":"direct""#)
    );
    let wanted = ["10.0.0.0/8 192.0.2.1", "10.1.0.0/16 Eth1/1"];
    for rows in [
        &vrf("default", &list),
        &format!("[{},{}]", vrf("default", &list), vrf("b", "[]")),
    ] {
        assert_eq!(
            read_as(
                "router-json",
                &format!(r#"{{"TABLE_vrf":{{"ROW_vrf":{rows}}}}}"#)
            ),
            wanted
        );
    }
    let one = vrf("default", &row("10.0.0.0/8", "192.0.2.1", ""));
    assert_eq!(
        read_as(
            "router-json",
            &format!(r#"{{"TABLE_vrf":{{"ROW_vrf":{one}}}}}"#)
        ),
        wanted[..1]
    );
    let bgp = r#"{"TABLE_vrf":{"ROW_vrf":{"vrf-name-out":"default","TABLE_afi":{"ROW_afi":{"TABLE_safi":{"ROW_safi":{
        "af-name":"IPv4 Unicast","TABLE_rd":{"ROW_rd":{"TABLE_prefix":{"ROW_prefix":[{"ipprefix":"10.0.0.0/8","TABLE_path":{"ROW_path":[
        {"bestcode":" ","ipnexthop":"192.0.2.1","aspath":"64500"},{"bestcode":">","ipnexthop":"192.0.2.2","aspath":"64501"}]}}]}}}}}}}}}}"#;
    assert_eq!(read_as("router-json", bgp), ["10.0.0.0/8 192.0.2.2"]);
    let received = r#"{"bgpTableVersion":1,"receivedRoutes":{"10.0.0.0/8":{"network":"10.0.0.0/8","nextHop":"192.0.2.1","path":"64500","valid":true}}}"#;
    assert_eq!(read_as("frr-json", received), ["10.0.0.0/8 192.0.2.1"]);
}

#[test]
fn bird_kinds_and_second_best() {
    let text = "bird> show route\nBIRD 2.0.12 ready.\nTable master4:\n\
        10.0.0.0/8           unicast [bgp1 2026-01-01 from 192.0.2.9] (100) [AS64500i]\n\
        \tvia 192.0.2.9 on eth0\n\
        \x20                    unicast [bgp2 2026-01-01] * (100) [AS64501i]\n\
        \tvia 192.0.2.1 on eth0 weight 1\n\
        \tvia 192.0.2.2 on eth1 weight 1\n\
        \tBGP.as_path: 64501\n\
        10.1.0.0/16          blackhole [s1 2026-01-01] * (200)\n\
        10.2.0.0/16          unicast [direct1 2026-01-01] * (240)\n\
        \tdev eth2\n\n\
        Table master6:\n\
        2001:db8::/32        unreachable [s2 2026-01-01] * (200)\nbird> \n";
    assert_eq!(
        read_as("bird", text),
        [
            "10.0.0.0/8 192.0.2.1",
            "10.1.0.0/16 blackhole",
            "10.2.0.0/16 eth2",
            "2001:db8::/32 unreachable"
        ]
    );
}

#[test]
fn junos_active_routes() {
    let text = "a@r1> show route\n\ninet.0: 4 destinations, 5 routes (4 active, 0 holddown, 0 hidden)\n\
        + = Active Route, - = Last Active, * = Both\n\n\
        0.0.0.0/0          *[Static/5] 1w2d 03:04:05\n\
        \x20                   >  to 192.0.2.1 via ge-0/0/0.0\n\
        \x20                   [BGP/170] 1d 02:03:04, localpref 100\n\
        \x20                     AS path: 64500 I, validation-state: unverified\n\
        \x20                   >  to 192.0.2.2 via ge-0/0/1.0\n\
        10.0.0.0/8         *[OSPF/10] 1d 02:03:04, metric 2\n\
        \x20                      to 192.0.2.3 via ge-0/0/0.0\n\
        \x20                   >  to 192.0.2.4 via ge-0/0/1.0\n\
        10.1.0.0/16        *[Static/5] 1w2d 03:04:05\n\
        \x20                      Discard\n\
        10.2.0.0/24        *[Direct/0] 1w2d 03:04:05\n\
        \x20                   >  via ge-0/0/2.0\n\
        10.2.0.1/32        *[Local/0] 1w2d 03:04:05\n\
        \x20                      Local via ge-0/0/2.0\n\n\
        mpls.0: 1 destinations, 1 routes (1 active, 0 holddown, 0 hidden)\n\
        299776             *[LDP/9] 1w2d 03:04:05, metric 1\n\
        \x20                   >  to 192.0.2.1 via ge-0/0/0.0, Pop\n\n\
        inet6.0: 1 destinations, 1 routes (1 active, 0 holddown, 0 hidden)\n\
        2001:db8:1111:2222::/64\n\
        \x20                  *[BGP/170] 1w2d 03:04:05, localpref 100\n\
        \x20                   >  to 2001:db8::1 via ge-0/0/0.0\n\n\
        a@r1> \n";
    assert_eq!(
        read_as("junos", text),
        [
            "0.0.0.0/0 192.0.2.1",
            "10.0.0.0/8 192.0.2.4",
            "10.1.0.0/16 Discard",
            "10.2.0.0/24 ge-0/0/2.0",
            "10.2.0.1/32 ge-0/0/2.0",
            "2001:db8:1111:2222::/64 2001:db8::1",
        ]
    );
}

/// Printed by `gobgp global rib` of GoBGP 3.10.
#[test]
fn gobgp() {
    let text = "   Network              Next Hop             AS_PATH              Age        Attrs\n\
                *> 10.0.0.0/8           192.0.2.1                                 00:00:01   [{Origin: ?}]\n\
                *  10.0.0.0/8           192.0.2.9            64501 64502          00:00:01   [{Origin: ?}]\n\
                *> 192.0.2.0/24         192.0.2.2            64501 {64502,64503}  00:00:01   [{Origin: e} {Med: 5}]\n\
                *> 2001:db8::/32        2001:db8::9                               00:00:00   [{Origin: ?}]\n";
    assert_eq!(
        read_as("show-bgp", text),
        [
            "10.0.0.0/8 192.0.2.1",
            "192.0.2.0/24 192.0.2.2",
            "2001:db8::/32 2001:db8::9"
        ]
    );
}

/// After the form that bgpctl's manual and source of version 7.7 have.
#[test]
fn bgpctl() {
    let text = "flags: * = Valid, > = Selected, I = via IBGP, A = Announced,\n       S = Stale, E = Error\n\
                origin validation state: N = not-found, V = valid, ! = invalid\norigin: i = IGP, e = EGP, ? = Incomplete\n\n\
                flags  vs destination          gateway          lpref   med aspath origin\n\
                AI*>    N 10.0.0.0/8           0.0.0.0           100     0 i\n\
                *>      V 192.0.2.0/24         198.51.100.1      100     0 64501 i\n\
                *       V 192.0.2.0/24         198.51.100.2      100     0 64502 i\n\
                *>    N-? 2001:db8::/32        2001:db8:9::1     100     0 64501 i\n";
    assert_eq!(
        read_as("bgpctl", text),
        [
            "10.0.0.0/8 0.0.0.0",
            "192.0.2.0/24 198.51.100.1",
            "2001:db8::/32 2001:db8:9::1"
        ]
    );
    let flawed = format!("{text}*> N 198.51.100.0/24 x\n");
    assert!(error(flawed, &STRICT).starts_with("t:11: "));
}

/// After the form that Junos's manual shows.
#[test]
fn junos_terse() {
    let text = "inet.0: 4 destinations, 5 routes (4 active, 0 holddown, 0 hidden)\n\
                + = Active Route, - = Last Active, * = Both\n\n\
                A V Destination        P Prf   Metric 1   Metric 2  Next hop        AS path\n\
                * ? 0.0.0.0/0          S   5                       >10.0.0.1\n\
                * ? 10.0.0.1/32        L   0                        Local\n\
                * ? 10.1.0.0/16        B 170        100            10.0.0.7         64500 I\n\
                \u{20}                                                  >10.0.0.8\n\
                \u{20} ?                    B 170        100            >10.0.0.9        64501 I\n\
                * ? 10.2.0.0/16        S   5                        Discard\n";
    assert_eq!(
        read_as("junos", text),
        [
            "0.0.0.0/0 10.0.0.1",
            "10.0.0.1/32 Local",
            "10.1.0.0/16 10.0.0.8",
            "10.2.0.0/16 Discard"
        ]
    );
}

/// As macOS 14 and OpenBSD 7 print it.
#[test]
fn netstat_of_bsds() {
    let macos = "Routing tables\n\nInternet:\n\
        Destination        Gateway            Flags               Netif Expire\n\
        default            192.168.1.1        UGScg                 en0       \n\
        127                127.0.0.1          UCS                   lo0       \n\
        169.254            link#6             UCS                   en0      !\n\
        192.168.1          link#6             UCS                   en0      !\n\
        192.168.1.1        0:1b:21:aa:bb:cc   UHLWIir               en0   1199\n\
        224.0.0/4          link#6             UmCS                  en0      !\n\n\
        Internet6:\n\
        Destination                             Gateway                         Flags         Netif Expire\n\
        default                                 fe80::%utun0                    UGcIg         utun0       \n\
        ::1                                     ::1                             UHL             lo0       \n\
        fe80::%lo0/64                           fe80::1%lo0                     UcI             lo0       \n";
    assert_eq!(
        read_as("netstat", macos),
        [
            "0.0.0.0/0 192.168.1.1",
            "127.0.0.0/8 127.0.0.1",
            "169.254.0.0/16 en0",
            "192.168.1.0/24 en0",
            "192.168.1.1/32 en0",
            "224.0.0.0/4 en0",
            "::/0 fe80::%utun0",
            "::1/128 ::1",
            "fe80::/64 fe80::1%lo0",
        ]
    );
    let openbsd = "Routing tables\n\nInternet:\n\
        Destination        Gateway            Flags   Refs      Use   Mtu  Prio Iface\n\
        default            192.0.2.1          UGS        4       10     -     8 em0  \n\
        224/4              127.0.0.1          URS        0        0 32768     8 lo0  \n\
        10.1/16            127.0.0.1          UGBS       0        0 32768     8 lo0  \n\
        192.0.2/24         192.0.2.7          UCn        1        0     -     4 em0  \n\n\
        Encap:\nSource x y\n";
    assert_eq!(
        read_as("netstat", openbsd),
        [
            "0.0.0.0/0 192.0.2.1",
            "10.1.0.0/16 blackhole",
            "192.0.2.0/24 192.0.2.7",
            "224.0.0.0/4 reject",
        ]
    );
    let wrong = macos.replace("224.0.0/4 ", "224.0.0/33");
    assert_eq!(
        error(wrong, &STRICT),
        "t:10: \"224.0.0/33\": not an address"
    );
    let short = format!("{macos}10 x\n");
    assert_eq!(error(short, &STRICT), "t:17: \"10 x\": not a route");
}

#[test]
fn route_print_of_windows() {
    let rule = "=".repeat(75);
    let text = format!(
        "{rule}\nInterface List\n  6...aa bb cc dd ee ff ......Intel\n{rule}\n\nIPv4 Route Table\n{rule}\nActive Routes:\n\
         Network Destination        Netmask          Gateway       Interface  Metric\n\
         \x20         0.0.0.0          0.0.0.0      192.168.1.1    192.168.1.50     25\n\
         \x20         0.0.0.0          0.0.0.0      192.168.1.2    192.168.1.50     20\n\
         \x20       127.0.0.0        255.0.0.0         On-link         127.0.0.1    331\n{rule}\n\
         Persistent Routes:\n  Network Address          Netmask  Gateway Address  Metric\n\
         \x20         0.0.0.0          0.0.0.0      192.168.9.1  Default \n{rule}\n\n\
         IPv6 Route Table\n{rule}\nActive Routes:\n If Metric Network Destination      Gateway\n\
         \x20 6    281 ::/0                     fe80::1\n\
         \x20 1    331 ::1/128                  On-link\n\
         \x20 6    281 fe80::1111:2222:3333:4444/128\n                                    On-link\n{rule}\n\
         Persistent Routes:\n  None\n"
    );
    assert_eq!(
        read_as("route-print", &text),
        [
            "0.0.0.0/0 192.168.1.2",
            "127.0.0.0/8 127.0.0.1",
            "::/0 fe80::1",
            "::1/128 1",
            "fe80::1111:2222:3333:4444/128 6",
        ]
    );
    let crlf = text.replace('\n', "\r\n");
    assert_eq!(read_as("route-print", &crlf).len(), 5);
    let wrong = text.replace(" 255.0.0.0 ", " 255.0.9.0 ");
    assert!(error(wrong, &STRICT).starts_with("t:12: \"127.0.0.0/255.0.9.0\": the ones"));
}
