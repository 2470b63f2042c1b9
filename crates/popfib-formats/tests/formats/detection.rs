//! Every format is recognised by its content, and none takes another's.

use crate::common::{COMPRESSIONS, STRICT, read};
use popfib_formats::Format;

/// The formats of text that the captures in `tests/data` have, and columns and JSON.
const OTHERS: [(&str, &str); 38] = [
    ("pfx2as", "10.0.0.0\t8\t64500\n"),
    ("csv", "network,asn\n10.0.0.0/8,64500\n"),
    ("csv", "10.0.0.0,10.255.255.255,64500\n"),
    (
        "json-lines",
        "{\"prefix\":\"10.0.0.0/8\",\"next_hop\":\"a\"}\n",
    ),
    ("json", "[{\"prefix\":\"10.0.0.0/8\",\"next_hop\":\"a\"}]\n"),
    ("ip-route", "10.0.0.0/8 via 192.0.2.1 dev eth0\n"),
    (
        "ip-route-json",
        "[{\"dst\":\"10.0.0.0/8\",\"gateway\":\"192.0.2.1\"}]\n",
    ),
    (
        "frr-json",
        "{\"10.0.0.0/8\":[{\"selected\":true,\"nexthops\":[{\"ip\":\"192.0.2.1\",\"active\":true}]}]}\n",
    ),
    (
        "router-json",
        "{\"rib\":[{\"prefix\":\"10.0.0.0/8\",\"exit_nexthop\":\"192.0.2.1\",\"best\":true}]}\n",
    ),
    (
        "router-json",
        "{\"vrfs\":{\"default\":{\"routes\":{\"10.0.0.0/8\":{\"vias\":[{\"nexthopAddr\":\"192.0.2.1\"}]}}}}}\n",
    ),
    (
        "show-route",
        "Codes: S - static\n\nS  10.0.0.0/8 [1/0] via 192.0.2.1\n",
    ),
    (
        "show-bgp",
        "   Network       Next Hop    Path\n*> 10.0.0.0      192.0.2.1   i\n",
    ),
    (
        "bird",
        "Table master4:\n10.0.0.0/8 unicast [a 1] * (200)\n\tvia 192.0.2.1 on eth0\n",
    ),
    (
        "nxos",
        "10.0.0.0/8, ubest/mbest: 1/0\n    *via 192.0.2.1, [1/0], 1d, static\n",
    ),
    (
        "junos",
        "inet.0: 1 destinations, 1 routes (1 active, 0 holddown, 0 hidden)\n\
         10.0.0.0/8  *[Static/5] 1d\n            >  to 192.0.2.1 via a\n",
    ),
    (
        "vrp",
        "Destination/Mask Proto Pre Cost NextHop Interface\n10.0.0.0/8 Static 60 0 192.0.2.1 a\n",
    ),
    (
        "vrp",
        "Destination: 10.0.0.0/8\n NextHop: 192.0.2.1\n State: Active\n",
    ),
    (
        "panos",
        "destination nexthop   metric flags age interface next-AS\n10.0.0.0/8  192.0.2.1 10     A S\n",
    ),
    (
        "routeros",
        " 0 A S dst-address=10.0.0.0/8 gateway=192.0.2.1\n",
    ),
    (
        "route-n",
        "Kernel IP routing table\nDestination Gateway Genmask Flags Metric Ref Use Iface\n\
         10.0.0.0 192.0.2.1 255.0.0.0 UG 0 0 0 eth0\n",
    ),
    ("rpsl", "route: 10.0.0.0/8\norigin: a\n"),
    (
        "netstat",
        "Routing tables\n\nInternet:\nDestination Gateway Flags Netif Expire\n10 192.0.2.1 UGS em0\n",
    ),
    (
        "route-print",
        "IPv4 Route Table\n====\nActive Routes:\nNetwork Destination Netmask Gateway Interface Metric\n\
         10.0.0.0 255.0.0.0 192.0.2.1 192.0.2.7 25\n",
    ),
    (
        "bgpctl",
        "flags  vs destination gateway lpref med aspath origin\n*> N 10.0.0.0/8 192.0.2.1 100 0 1 i\n",
    ),
    ("hosts", "10.0.0.1 localhost\n10.0.0.0 a b\n"),
    ("riswhois", "64500\t10.0.0.0/8\t300\n"),
    ("geofeed", "10.0.0.0/8,DE,DE-BE,Berlin,\n"),
    (
        "rir",
        "2|ripencc|20240101|1|19830101|20231231|+0000\nripencc|DE|ipv4|10.0.0.0|16777216|19920922|assigned\n",
    ),
    ("json-lists", "{\"a\":[\"10.0.0.0/8\"]}\n"),
    (
        "json-lists",
        "{\"prefixes\":[{\"ip_prefix\":\"10.0.0.0/8\",\"region\":\"a\"}]}\n",
    ),
    ("ipset", "create a hash:net family inet\nadd a 10.0.0.0/8\n"),
    (
        "nftables",
        "table ip t {\n\tset a {\n\t\ttype ipv4_addr\n\t\telements = { 10.0.0.0/8 }\n\t}\n}\n",
    ),
    (
        "nftables-json",
        "{\"nftables\": [{\"set\": {\"name\": \"a\", \"elem\": [{\"prefix\": {\"addr\": \"10.0.0.0\", \"len\": 8}}]}}]}\n",
    ),
    (
        "bgpscanner",
        "=|10.0.0.0/8|1 2|192.0.2.1|i||||192.0.2.9 1|1779000000|1\n",
    ),
    ("filters", "define a = [ 10.0.0.0/8 ];\n"),
    ("filters", "prefix-list a {\n    10.0.0.0/8;\n}\n"),
    ("prefix-lists", "ip prefix-list a permit 10.0.0.0/8\n"),
    (
        "iptables",
        "*filter\n:a - [0:0]\n-A a -s 10.0.0.0/8 -j DROP\nCOMMIT\n",
    ),
];

#[test]
fn one_route_of_each() {
    for (name, text) in OTHERS {
        let table = read(text, &STRICT).unwrap_or_else(|e| panic!("{name}: {e}"));
        let value = crate::common::routes(&table).concat();
        let wanted = [
            "10.0.0.0/8 192.0.2.1",
            "10.0.0.0/8 64500",
            "10.0.0.0/8 a",
            "10.0.0.0/8 DE",
            "10.0.0.0/32 a10.0.0.1/32 localhost",
        ];
        assert!(wanted.contains(&value.as_str()), "{name}: {value}");
    }
}

/// The beginnings of files, each with the format that it is in.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let route = [
        crate::mrt_file::as_path(&[]),
        crate::mrt_file::next_hop([1; 4]),
    ]
    .concat();
    let rib = crate::mrt_file::rib(2, &[8, 10], &[(0, route)]);
    let samples: [(&str, &[u8]); 6] = [
        ("text", b"10.0.0.0/8 192.0.2.1\n"),
        ("text", b"\xef\xbb\xbf; first\r\n\r\n2001:db8::/32,east\r\n"),
        (
            "text",
            b"10.1.2.3/8 host bits, seen by --mask or not\n10.0.0.0/8 a\n",
        ),
        (
            "bgpdump",
            b"TABLE_DUMP2|1|B|192.0.2.1|1|10.0.0.0/8|1|IGP|192.0.2.1|\n",
        ),
        (
            "bgpdump",
            b"TABLE_DUMP|1|B|192.0.2.1|1|10.0.0.0/8|1|IGP|192.0.2.1|\n",
        ),
        (
            "bgpdump",
            b"BGP4MP|1|A|192.0.2.1|1|10.0.0.0/8|1|IGP|192.0.2.1|\n",
        ),
    ];
    let mut samples: Vec<_> = samples.map(|(name, data)| (name, data.to_vec())).to_vec();
    samples.push(("image", popfib::Image::MAGIC.to_vec()));
    let left = |n: u8| [0, 0, n + 1, 0, 0, 20];
    samples.push(("mmdb", (0..8).flat_map(left).collect()));
    samples.extend(OTHERS.map(|(name, text)| (name, text.into())));
    samples.push((
        "mrt",
        [crate::mrt_file::peer_table(&[([1; 4], 1)]), rib].concat(),
    ));
    samples.push((
        "mrt",
        crate::mrt_file::table_dump([10, 0, 0, 0, 8], [1; 4], &[1]),
    ));
    samples.push(("image", [&popfib::Image::MAGIC[..], &[0; 100]].concat()));
    samples.push(("mrt", crate::mrt_file::update([1; 4], &[8, 10], &[], &[])));
    samples
}

#[test]
fn every_format_is_recognised() {
    for (name, data) in samples() {
        assert_eq!(Format::detect(&data).name(), name, "{data:?}");
    }
    // What is never recognised by its content.
    for format in Format::all().filter(|format| format.name() != "any") {
        let is_sampled = samples().iter().any(|(name, _)| *name == format.name());
        assert!(is_sampled, "no sample of {}", format.name());
    }
}

#[test]
fn whatever_the_compression() {
    for (name, data) in samples() {
        let plain = read(data.clone(), &STRICT).map_err(|e| e.to_string());
        for (compression, compress) in COMPRESSIONS {
            let unpacked = read(compress(&data), &STRICT).map_err(|e| e.to_string());
            match (&plain, unpacked) {
                (Ok(plain), Ok(unpacked)) => {
                    let routes = crate::common::routes(plain);
                    assert_eq!(
                        routes,
                        crate::common::routes(&unpacked),
                        "{name} {compression}"
                    );
                }
                (Err(plain), Err(unpacked)) => assert_eq!(*plain, unpacked),
                (plain, unpacked) => panic!("{name}: {plain:?} but {compression} {unpacked:?}"),
            }
        }
    }
}

#[test]
fn what_is_nobodys_is_text() {
    let others: [&[u8]; 9] = [
        b"",
        b"\n\n# only comments\n",
        b"\0\0\0\0\0\0\0\0\0\0\0\0",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
        b"PK\x03\x04\x14\0\0\0\x08\0table.txt",
        b"TABLE_DUMP3|1|B|192.0.2.1\n",
        b"hello, world\n",
        b"8.8.8.8\n1.1.1.1\n",
        &[0xff; 100],
    ];
    for data in others {
        assert_eq!(Format::detect(data).name(), "text", "{data:?}");
    }
}
