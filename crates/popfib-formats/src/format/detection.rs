//! Every sample is claimed by its own format and by no other.

use std::fs;
use std::path::Path;

use super::*;
use crate::input::HEAD;

/// The names of the formats that claim a file beginning with `head`.
fn claims(head: &[u8]) -> Vec<&'static str> {
    let all = FORMATS.iter().filter(|entry| (entry.detect)(head));
    all.map(|entry| entry.name).collect()
}

/// Which format a file of the test data has, by its name.
fn format_of(file: &str) -> &'static str {
    let known = [
        ("expected-", "none"),
        ("bird2_", "bird"),
        ("frr_show_ip_bgp.txt", "show-bgp"),
        ("frr_show_bgp_ipv6.txt", "show-bgp"),
        ("frr_show_ip_route.txt", "show-route"),
        ("frr_show_ipv6_route.txt", "show-route"),
        ("frr_", "frr-json"),
        ("linux_ip_route_show_from_frr.json", "ip-route-json"),
        ("linux_", "ip-route"),
        ("cisco_nxos_show_ip_bgp", "show-bgp"),
        ("cisco_xr_show_bgp", "show-bgp"),
        ("cisco_ios_show_ip_bgp", "show-bgp"),
        ("arista_eos_show_ip_bgp", "show-bgp"),
        ("cisco_nxos_", "nxos"),
        ("cisco_", "show-route"),
        ("arista_", "show-route"),
        ("fortinet_", "show-route"),
        ("ubiquiti_", "show-route"),
        ("hp_", "vrp"),
        ("huawei_", "vrp"),
        ("juniper_", "junos"),
        ("mikrotik_", "routeros"),
        ("paloalto_", "panos"),
    ];
    let found = known.iter().find(|(start, _)| file.starts_with(start));
    found.unwrap_or_else(|| panic!("{file}: which format?")).1
}

#[test]
fn every_capture_is_claimed_once() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut files = 0;
    for folder in ["vendor-ntc", "vendor-frr-bird"] {
        for entry in fs::read_dir(data.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if !name.ends_with(".raw") && !name.ends_with(".bz2") {
                continue;
            }
            let format = format_of(name);
            if format == "none" {
                continue;
            }
            let mut input = Input::open(&path).unwrap();
            let head = input.peek(|_| false);
            assert_eq!(claims(head), [format], "{name}");
            // A head that ends anywhere later than its first lines is as good.
            for len in [head.len() / 2, head.len() * 3 / 4] {
                if len > 2048 {
                    assert_eq!(claims(&head[..len]), [format], "{name}, {len} bytes of it");
                }
            }
            assert!(head.len() <= HEAD);
            files += 1;
        }
    }
    assert_eq!(files, 31 + 12);
}

#[test]
fn every_sample_is_claimed_once() {
    for (text, format) in [
        ("10.0.0.0/8 a\n", "text"),
        ("10.0.0.0/8,a\n", "text"),
        ("10.0.0.0/8 via\n", "text"),
        ("; IP-ASN32-DAT file\n1.0.0.0/24\t13335\n", "text"),
        ("1.0.0.0\t24\t13335\n", "pfx2as"),
        ("2001:200::\t32\t2500_1\n", "pfx2as"),
        ("1.0.0.0\t1.0.0.255\t13335\tUS\tX\n", "csv"),
        ("\"16777216\",\"16777471\",\"US\"\n", "csv"),
        ("network,asn,name\n1.0.0.0/24,13335,x\n", "csv"),
        ("1.0.0.0/24,13335,x\n", "csv"),
        ("start_ip,end_ip,country\n", "csv"),
        (
            "{\"prefix\":\"10.0.0.0/8\",\"next_hop\":\"a\"}\n",
            "json-lines",
        ),
        ("[{\"prefix\":\"10.0.0.0/8\",\"next_hop\":\"a\"}]\n", "json"),
        (
            "[{\"dst\":\"default\",\"gateway\":\"10.0.0.1\"}]\n",
            "ip-route-json",
        ),
        (
            "{\"10.0.0.0/8\":[{\"prefix\":\"10.0.0.0/8\"}]}\n",
            "frr-json",
        ),
        (
            "{\n  \"10.0.0.0/8\":[\n    {\n      \"prefix\":\"10.0.0.0/8\"",
            "frr-json",
        ),
        ("{\"vrfId\": 0, \"routes\": {} }\n", "frr-json"),
        (
            "{\"10.0.0.0\\/8\":[{\"prefix\":\"10.0.0.0\\/8\"}]}\n",
            "frr-json",
        ),
        (
            "{\"prefix\":\"10.0.0.0/8\",\"paths\":[{\"nexthops\":[",
            "frr-json",
        ),
        (
            "{\"prefix\":\"10.0.0.0/8\",\"paths\":[\"a\"]}\n",
            "json-lines",
        ),
        ("{\"vrfs\":{\"a\":{\"routes\":{}}}}\n", "router-json"),
        ("{\"TABLE_vrf\":{}}\n", "router-json"),
        ("{\"rib\":[{\"prefix\":\"10.0.0.0/8\"", "router-json"),
        ("default via 10.0.0.1 dev eth0\n", "ip-route"),
        ("blackhole 10.0.0.0/8\n", "ip-route"),
        ("10.0.0.0/8 dev eth0 proto kernel\n", "ip-route"),
        (
            "inet.0: 1 destinations, 1 routes (1 active, 0 holddown, 0 hidden)\n",
            "junos",
        ),
        ("[\"10.0.0.0/8\"]\n", "json-lists"),
        ("{\"a\":[{\"cidr\":\"10.0.0.0/8\"}]}\n", "json-lists"),
        (
            "{\"cidr\":\"10.0.0.0/8\",\"tags\":[\"10.0.0.0/8\"]}\n",
            "json-lines",
        ),
        ("{\"x\":\"10.0.0.0/8\",\"n\":1}\n", "json-lines"),
        (
            "{\"x\":{\"dst\":\"10.0.0.0-10.0.0.9\"}}\n{}\n",
            "json-lines",
        ),
        ("[{\"x\":{\"y\":\"10.0.0.0/8\"}},\n{\"x\"", "json"),
        ("[{\"a\":[{\"b\":\"10.0.0.0/8\"}]}]", "json-lists"),
        (
            "{\"a\":[{\"b\":\"10.0.0.0/8\",\"c\":\"10.1.0.0/16\"}]}",
            "json-lists",
        ),
        (
            "{\"a\":\"10.0.0.0/8\",\"b\":\"10.1.0.0/16\"}\n",
            "json-lists",
        ),
        ("{\"a\":{\"x\":\"10.0.0.0/8\"},\"b\":{}}\n", "json-lists"),
        (
            "{\"a\":{\"subnet\":\"10.0.0.0\",\"mask\":8},\n\"b\":{}",
            "json-lists",
        ),
        (
            "{\"10.0.0.0/8\":\"a\",\"10.0.0.1\":{\"asn\":1}}",
            "json-lists",
        ),
        ("[[\"10.0.0.0/8\",\"a\"]]", "json-lists"),
        ("prefix\n10.0.0.0/8\n", "csv"),
        ("ip\n10.0.0.1\n", "csv"),
        ("ip,asn\n10.0.0.1,1\n", "csv"),
        ("key,a\n10.0.0.0/8,1\n", "csv"),
        ("% x\n\naut-num: AS1\n\nroute6: 2001:db8::/32\n", "rpsl"),
        ("2|arin|20240101|1|1|1|+0000\n", "rir"),
        ("apnic|JP|ipv4|10.0.0.0|256|20240101|assigned\n", "rir"),
        ("start_ip;end_ip\n", "csv"),
        ("{\"ip\":\"10.0.0.1\"}\n", "json-lines"),
        ("[{\"address\":\"10.0.0.1\"}]\n", "json"),
        (
            "{\"ip\":\"10.0.0.1\",\"nets\":[\"10.0.0.0/8\"]}\n",
            "json-lists",
        ),
        (
            "{\"nftables\": [{\"metainfo\": {\"version\": \"1.0.6\"}}, {\"set\": {\"elem\": [\"10.0.0.1\"]}}]}\n",
            "nftables-json",
        ),
        (
            "=|10.0.0.0/8|1 2|192.0.2.1|i||||192.0.2.1 1|1|1\n",
            "bgpscanner",
        ),
        ("create a hash:net family inet\n", "ipset"),
        ("add a 10.0.0.0/8\n", "ipset"),
        ("table inet t {\n", "nftables"),
        ("table <t> { 10.0.0.0/8 }\n", "filters"),
        ("NN = [\n", "filters"),
        ("define a = { 10.0.0.0/8 }\n", "nftables"),
        ("define a = [ 10.0.0.0/8 ];\n", "filters"),
        ("no ip prefix-list NN\n", "prefix-lists"),
        ("ip access-list standard NN\n", "prefix-lists"),
        ("*filter\n", "iptables"),
        ("Kernel IP routing table\n", "route-n"),
        ("Internet6:\nDestination Gateway Flags\n", "netstat"),
        (
            "==\nInterface List\n==\n\nIPv4 Route Table\n",
            "route-print",
        ),
        ("64500\t10.0.0.0/8\t300\n", "riswhois"),
        ("127.0.0.1 localhost\n", "hosts"),
        ("# x\n\n127.0.0.1\tlocalhost.a localhost # y\n", "hosts"),
        ("0.0.0.0 ads.example\n", "text"),
        ("10.0.0.0/8,US,US-AL,Alabaster,\n", "geofeed"),
        ("10.0.0.0/8,,,,\n", "geofeed"),
        ("[]\n", "json-lists"),
        ("{\"prefixes\":[ ],\"n\":1}\n", "json-lists"),
        ("10.0.0.0/8,US,x\n", "csv"),
        ("ip,bytes\n10.0.0.1,1\n", "csv"),
        ("a,b\n10.0.0.0,1\n", "csv"),
    ] {
        assert_eq!(claims(text.as_bytes()), [format], "{text}");
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(claims(crlf.as_bytes()), [format], "{crlf}");
        let marked = format!("\u{feff}{text}");
        assert_eq!(claims(marked.as_bytes()), [format], "{marked}");
    }
    for nothing in [
        "10.0.0.0/8\t,\ta",
        "10.0.0.0/8,a # b, c, d",
        "",
        "\n",
        "hello\n",
        "{}",
        "{\"errors\":[]}",
        "a,b\n",
        "10.0.0.1\n",
        "a,b\n10.0.0.0/8,10.0.0.0/8\n",
        "a\n10.0.0.0/8\n",
        "{\"ip\":\"10.0.0.1\",\"seen\":1}\n",
        "{\"a\":\"10.0.0.0/8\",\"b\":\"10.1.0.0/16\"}\n{\"a\":\"10.0.0.0/8\",\"b\":\"10.1.0.0/16\"}\n",
        "{\"a\":\"10.0.0.0/8\",\"b\":\"10.1.0.0/16\",\"n\":1}\n",
        "{\"a\":{\"x\":\"10.0.0.1\"},\"b\":{}}\n",
        "\0\0\0\0\0\0\u{1}",
    ] {
        assert!(claims(nothing.as_bytes()).is_empty(), "{nothing:?}");
    }
}
