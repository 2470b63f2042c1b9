//! Headings and lines that go on, as the routers of each vendor print them around their routes.

use crate::common::{STRICT, error, load_from, read_as, routes};
use popfib_formats::{Input, LoadOptions};

/// The routes of `text` in the table `vrf`, and the notes.
fn read(text: &str, vrf: Option<&str>) -> (Vec<String>, Vec<String>) {
    let options = LoadOptions {
        table: vrf.map(str::to_owned),
        ..STRICT.clone()
    };
    let input = Input::from_reader("t", std::io::Cursor::new(text.as_bytes().to_vec()));
    let table = load_from(input, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
    (routes(&table), table.notes)
}

const IOS: &str = "\
r1#show bgp all
Load for five secs: 1%/0%; one minute: 1%; five minutes: 1%
Time source is NTP, 12:00:00.000 UTC Fri Nov 27 2026

For address family: IPv4 Unicast

BGP table version is 5, local router ID is 192.0.2.33
Status codes: s suppressed, d damped, h history, * valid, > best, i - internal,
              t secondary path,
Origin codes: i - IGP, e - EGP, ? - incomplete
RPKI validation codes: V valid, I invalid, N Not found

     Network          Next Hop            Metric LocPrf Weight Path
 *>   10.0.0.0/8       192.0.2.1                0             0 64500 i
 *    10.9.0.0/16      192.0.2.9                0             0 64500 i

For address family: IPv6 Unicast


For address family: VPNv4 Unicast

BGP table version is 5, local router ID is 192.0.2.33
     Network          Next Hop            Metric LocPrf Weight Path
Route Distinguisher: 65535:1 (default for vrf red)
AF-Private Import to Address-Family: L2VPN E-VPN, Pfx Count/Limit: 2/1000
 *    10.1.0.0/16      192.0.2.2                0             0 64501 ?
 *>                    0.0.0.0                  0         32768 ?
Route Distinguisher: 65535:2
 *>   10.2.0.0/16      192.0.2.3                0         32768 ?

For address family: IPv4 Multicast
     Network          Next Hop            Metric LocPrf Weight Path
 *>   10.0.0.0/8       192.0.2.4                0             0 64500 i

For address family: L2VPN E-VPN
     Network          Next Hop            Metric LocPrf Weight Path
Route Distinguisher: 65535:1 (default for vrf red)
 *>   [5][65535:1][0][24][10.1.0.0]/17
                      0.0.0.0                  0         32768 ?
 *                     192.0.2.2                0             0 64501 ?

For address family: VPNv4 Flowspec
";

#[test]
fn bgp_of_several_families() {
    for (vrf, wanted) in [
        ("main", "10.0.0.0/8 192.0.2.1"),
        ("red", "10.1.0.0/16 0.0.0.0"),
        ("65535:2", "10.2.0.0/16 192.0.2.3"),
        ("IPv4 Multicast", "10.0.0.0/8 192.0.2.4"),
    ] {
        assert_eq!(read(IOS, Some(vrf)).0, [wanted], "{vrf}");
    }
    let unused = "1 route that the router does not use left out";
    assert!(read(IOS, Some("main")).1.iter().any(|note| note == unused));
    let refused = error(IOS, &STRICT);
    assert!(
        refused.contains("routes of table \"red\" begin here"),
        "{refused}"
    );
}

const NXOS: &str = "\
Can't find neighbor 192.0.2.10

Peer 192.0.2.10 routes for address family IPv4 Unicast:
BGP table version is 25, Local Router ID is 192.0.2.1
Status: s-suppressed, x-deleted, S-stale, d-dampened, h-history, *-valid, >-best
Path type: i-internal, e-external, c-confed, l-local, a-aggregate, r-redist, I-injected
Origin codes: i - IGP, e - EGP, ? - incomplete, | - multipath, & - backup

   Network            Next Hop            Metric     LocPrf     Weight Path
*>l10.0.0.0/8          0.0.0.0                           100      32768 i
*>r10.16.1.0/24        192.0.2.7             4444        100      32768 ?


Peer 192.0.2.10 routes for address family VPNv4 Unicast:
   Network            Next Hop            Metric     LocPrf     Weight Path
Route Distinguisher: 1:100    (VRF red)
*>r10.4.1.0/24         192.0.2.8             3333        100      32768 ?

Peer 192.0.2.10 routes for address family Link-State:
   Network            Next Hop            Metric     LocPrf     Weight Path
";

const XR: &str = "\
Fri Nov 27 12:00:00.000 UTC
BGP instance 0: 'default'
=========================

Address Family: IPv4 Unicast
----------------------------

BGP router identifier 192.0.2.1, local AS number 64500
Status codes: s suppressed, d damped, h history, * valid, > best
            i - internal, r RIB-failure, S stale, N Nexthop-discard
Origin codes: i - IGP, e - EGP, ? - incomplete
Network            Next Hop            Metric LocPrf Weight Path
*> 10.0.0.0/8         192.0.2.7                0             0 64501 ?
*                     192.0.2.8                0             0 64501 ?

Processed 1 prefixes, 2 paths

VRF: red
--------
   Network            Next Hop            Metric LocPrf Weight Path
*> 10.1.0.0/16        192.0.2.9                0             0 64501 ?
";

#[test]
fn bgp_of_nxos_and_xr() {
    assert_eq!(
        read(NXOS, Some("main")).0,
        ["10.0.0.0/8 0.0.0.0", "10.16.1.0/24 192.0.2.7"]
    );
    assert_eq!(read(NXOS, Some("red")).0, ["10.4.1.0/24 192.0.2.8"]);
    assert_eq!(read(XR, Some("main")).0, ["10.0.0.0/8 192.0.2.7"]);
    assert_eq!(read(XR, Some("red")).0, ["10.1.0.0/16 192.0.2.9"]);
    let advertised = "Network            Next Hop        From            AS Path\n\
        10.0.0.0/8         192.0.2.1       192.0.2.3       64501i\n\
        10.1.0.0/16        192.0.2.2       Local           i\n";
    assert_eq!(
        read(advertised, None).0,
        ["10.0.0.0/8 192.0.2.1", "10.1.0.0/16 192.0.2.2"]
    );
    let cut = "   Network          Next Hop            Metric LocPrf Weight Path\n*> 10.0.0.0/8       192.0.2.";
    assert!(error(cut, &STRICT).contains("\"192.0.2.\": not an address"));
}

#[test]
fn routes_with_headings() {
    let legend =
        "Codes: C - connected, S - static, B - BGP\n       L - local, (!) - FRR Backup path\n\n";
    for (text, wanted) in [
        // IOS.
        (format!("r1#show ip route\nLoad for five secs: 1%/0%\nNo time source, 12:00:00.000 UTC Fri Nov 27 2026\n\nRouting Table: red\n{legend}\
            Gateway of last resort is not set\n\n      10.0.0.0/16 is subnetted, 2 subnets\n\
            i L2     10.1.0.0\n           [115/10] via 192.0.2.1, 5w6d, Gi1\n           [115/10] via 192.0.2.2, 5w6d, Gi2\n\
            O E2+    10.2.0.0 [110/20] via 192.0.2.3 (blue), 00:04:20, Gi3\nICMP redirect cache is empty\n"),
         &["10.1.0.0/16 192.0.2.1", "10.2.0.0/16 192.0.2.3"][..]),
        // ASA.
        (format!("fw/admin(config)# show route\n\n{legend}\
            S* 0.0.0.0 0.0.0.0 [10] via 192.0.2.1, outside\n                    via 192.0.2.2, other\n\
            V        10.1.0.4 255.255.255.255\n                        connected by VPN (advertised), admin\n\
            C        10.2.0.0 255.255.0.0\n                        is directly connected, inside\n\
            SI   10.3.0.0 255.255.0.0 [1/0] is directly connected, gig3\n"),
         &["0.0.0.0/0 192.0.2.1", "10.1.0.4/32 admin", "10.2.0.0/16 inside", "10.3.0.0/16 gig3"]),
        // EOS.
        (format!("\nVRF: default\n{legend}WARNING: Some of the routes are not programmed in\nhardware, all of them are in software\n\n\
            Gateway of last resort is not set\n\n B E      10.1.0.0/16 [200/0]\n           via 192.0.2.8, Ethernet1\n\n! IP routing not enabled\n"),
         &["10.1.0.0/16 192.0.2.8"]),
        // XR.
        (format!("Fri Nov 27 12:00:00.000 UTC\n{legend}\
            L    2001:db8:1::/48, SRv6 Endpoint uN (shift) \n      [0/0] via ::, 1d21h\n\
            L    2001:db8:2::/64, SRv6 Endpoint uA (PSP/USD) \n      [0/0] via fe80::1, 1d20h, GigabitEthernet0/0/0/0\n\
            i L2 2001:db8:3::/48 \n      [115/20] via fe80::2, 00:56:34, GigabitEthernet0/0/0/1 (!)\n      [115/10] via fe80::3, 00:56:34, Gi2\n"),
         &["2001:db8:1::/48 ::", "2001:db8:2::/64 fe80::1", "2001:db8:3::/48 fe80::3"]),
        // Junos.
        ("u@r1> show route receive-protocol bgp 192.0.2.1\n\ninet.0: 21 destinations, 34 routes (21 active, 0 holddown, 0 hidden)\n\
          \x20 Prefix\t\t  Nexthop\t       MED     Lclpref    AS path\n* 10.0.0.0/8              192.0.2.1            2       100        64500 I\n\n\
          inet6.0: 24 destinations, 36 routes (24 active, 0 holddown, 0 hidden)\n\
          \x20 Prefix\t\t  Nexthop\t       MED     Lclpref    AS path\n* 2001:db8:1234:5678::/64\n                          2001:db8::4             100        I\n\
          \x20 2001:db8:2::/48\n*                         2001:db8::5             100        I\n".into(),
         &["10.0.0.0/8 192.0.2.1", "2001:db8:2::/48 2001:db8::5", "2001:db8:1234:5678::/64 2001:db8::4"]),
        ("inet.0: 2 destinations, 2 routes (2 active, 0 holddown, 0 hidden)\n  Prefix  Nexthop  MED  Lclpref  AS path\n\
          * 10.0.0.0/8              Self                         100        I\n".into(), &["10.0.0.0/8 Self"]),
        // NX-OS.
        ("Load for five secs: 1%/0%\nIP Route Table for VRF \"default\"\n'*' denotes best ucast next-hop\n\n\
          10.0.0.0/8, ubest/mbest: 1/0\n    *via 192.0.2.1%default, Eth1/1, [1/0], 1d, static\n".into(), &["10.0.0.0/8 192.0.2.1"]),
    ] {
        assert_eq!(read(&text, None), (wanted.iter().map(|&w| w.to_owned()).collect(), vec![]), "{text}");
    }
}

#[test]
fn what_is_left_out_of_listings_is_counted() {
    let codes = "Codes: C - connected, > - selected route\n";
    for (text, note) in [
        (format!("{codes}C>* 10.0.0.0/8 is directly connected, a\nC   10.1.0.0/16 is directly connected, b\n"), "1 route that the router does not use left out"),
        (format!("{codes}C>* 10.0.0.0/8 is directly connected, a\nB>  10.1.0.0/16 [20/0] via 192.0.2.1 inactive, weight 1\n"), "1 route whose next hops are all inactive left out"),
                ("Table master4:\n10.0.0.0/8  unicast [a 1] (200)\n\tvia 192.0.2.1 on a\n10.1.0.0/16  unicast [a 1] * (200)\n\tvia 192.0.2.1 on a\n".into(),
         "1 route that the router does not use left out"),
        ("flags vs destination gateway lpref med aspath origin\n* N 10.0.0.0/8 192.0.2.1 100 0 64500 i\n*> N 10.1.0.0/16 192.0.2.1 100 0 64500 i\n".into(),
         "1 route that the router does not use left out"),
        (" 0 A S dst-address=10.0.0.0/8 gateway=192.0.2.1\n 1 S dst-address=10.1.0.0/16 gateway=192.0.2.1\n".into(),
         "1 route that the router does not use left out"),
        ("Destination: 10.0.0.0/8\n NextHop: 192.0.2.1\n State: Active\nDestination: 10.1.0.0/16\n NextHop: 192.0.2.1\n State: Inactive\n".into(),
         "1 route that the router does not use left out"),
("inet.0: 1 destinations, 1 routes (1 active, 0 holddown, 0 hidden)\n10.0.0.0/8  *[Static/5] 1d\n            >  to 192.0.2.1 via a\n\
          inet.2: 1 destinations, 1 routes (1 active, 0 holddown, 0 hidden)\n10.0.0.0/8  *[Static/5] 1d\n            >  to 192.0.2.2 via a\n".into(),
         "1 route of other tables than inet.0 and inet6.0 left out"),
        ("   Network          Next Hop            Metric LocPrf Weight Path\n*> [2]:[0]:[48]\n                    192.0.2.1    0     0 i\n*> 10.0.0.0/8       192.0.2.1    0     0 i\n".into(),
         "1 route of another family than IP left out"),
    ] {
        assert_eq!(read(&text, None).1, [note], "{text}");
    }
}

#[test]
fn a_second_prefix_in_a_line_is_an_error() {
    for text in [
        "Codes: C - connected\nC  10.0.0.0/8 is directly connected, a, 10.9.0.0/16\n",
        "   Network          Next Hop            Metric LocPrf Weight Path\n*> 10.0.0.0/8       192.0.2.1      0     0 64500 i 10.9.0.0/16\n",
        "10.0.0.0/8, ubest/mbest: 1/0 10.9.0.0/16\n    *via 192.0.2.1, Eth1/1, [1/0], 1d, static\n",
        "inet.0: 1 destinations, 1 routes (1 active, 0 holddown, 0 hidden)\n10.0.0.0/8  10.9.0.0/16 *[Static/5] 1d\n            >  to 192.0.2.1 via a\n",
        "Destination/Mask Proto Pre Cost NextHop Interface\n10.0.0.0/8 10.9.0.0/16 Static 60 0 192.0.2.1 a\n",
    ] {
        let error = error(text, &STRICT);
        assert!(error.contains("10.9.0.0/16"), "{error}");
    }
}

/// The next hop is what stands there as one, and not what stands beside it.
#[test]
fn next_hops_beside_other_words() {
    let junos = "inet.0: 5 destinations, 5 routes (5 active, 0 holddown, 0 hidden)\n";
    let terse = "A V Destination        P Prf   Metric 1   Metric 2  Next hop        AS path\n\
        * ? 192.168.10.1/32    B 170        100                             65001 I\n\
        \x20 unverified                                       >10.1.0.0\n\
        * ? 192.168.20.0/24    B 170        100                             65001 65002 ?\n\
        \x20                                                  >10.1.0.1\n\
        * ? 192.168.30.1/32    L   0                        Local\n\
        # ? 192.168.40.0/24    L   9                       >10.1.0.2\n";
    assert_eq!(
        read_as("junos", &format!("{junos}{terse}")),
        [
            "192.168.10.1/32 10.1.0.0",
            "192.168.20.0/24 10.1.0.1",
            "192.168.30.1/32 Local",
            "192.168.40.0/24 10.1.0.2"
        ]
    );
    let ribs = "10.255.0.1/32      @[OSPF/10] 1d 00:00:00, metric 1\n                    >  to 10.1.0.1 via ge-0/0/0.0\n\
        \x20                  #[LDP/9] 1d 00:00:00, metric 1\n                    >  to 10.1.0.2 via ge-0/0/1.0\n";
    assert_eq!(
        read_as("junos", &format!("{junos}{ribs}")),
        ["10.255.0.1/32 10.1.0.2"]
    );
    let panos = "destination      nexthop          metric flags      age   interface          next-AS\n\
        10.0.0.0/8       vr Backup-VR     10     A S\n";
    assert_eq!(read_as("panos", panos), ["10.0.0.0/8 Backup-VR"]);
    let frr = "   Network          Next Hop            Metric LocPrf Weight Path\n\
        *> 10.0.0.0/8       0.0.0.0(leaf01)          0         32768 i\n";
    assert_eq!(read_as("show-bgp", frr), ["10.0.0.0/8 0.0.0.0"]);
}

#[test]
fn lines_around_routes() {
    let eos = "Codes: C - connected, S - static\n\n C        10.1.1.1/32\n           directly connected, Loopback1\n";
    assert_eq!(read_as("show-route", eos), ["10.1.1.1/32 Loopback1"]);
    let fortios = "FGT # get router info routing-table all\nCodes: S - static\n\nS       10.0.0.0/8 [10/0] via 192.0.2.1, port1\nFGT #\n";
    assert_eq!(read_as("show-route", fortios), ["10.0.0.0/8 192.0.2.1"]);
    let huawei = "<CE>display ip routing-table\nProto: Protocol        Pre: Preference\nRoute Flags: R - relay, D - download to fib\n\
        ------------------------------\nRouting Table: _public_\n         Destinations : 1        Routes : 1\n\n\
        Destination/Mask    Proto   Pre  Cost        Flags NextHop         Interface\n\n\
        10.0.0.0/8          Static  60   0             RD  192.0.2.1       GE1/0/0\n";
    assert_eq!(read_as("vrp", huawei), ["10.0.0.0/8 192.0.2.1"]);
}

/// After the form that GoBGP's source has.
#[test]
fn gobgp_as_json() {
    let text = r#"{"10.0.0.0/8":[
        {"nlri":{"prefix":"10.0.0.0/8"},"age":1,"best":false,"attrs":[{"type":3,"nexthop":"192.0.2.9"}],"stale":false},
        {"nlri":{"prefix":"10.0.0.0/8"},"age":1,"best":true,"attrs":[{"type":1,"value":0},
            {"type":2,"as_paths":[{"segment_type":2,"num":2,"asns":[65001,65002]},{"segment_type":1,"num":2,"asns":[3,2]}]},
            {"type":3,"nexthop":"192.0.2.1"}],"stale":false}]}"#;
    assert_eq!(read_as("frr-json", text), ["10.0.0.0/8 192.0.2.1"]);
    let options = LoadOptions {
        value: popfib_formats::RouteValue::OriginAs,
        ..STRICT.clone()
    };
    let input = Input::from_reader("t", std::io::Cursor::new(text.as_bytes().to_vec()));
    assert_eq!(
        routes(&load_from(input, &options).unwrap()),
        ["10.0.0.0/8 {2,3}"]
    );
}
