//! A sample of each format, of at least two routes, and which of its tokens may be changed in which way without a word.

/// A file.
pub(super) struct Sample {
    pub(super) format: &'static str,
    pub(super) text: &'static str,
}

const fn sample(format: &'static str, text: &'static str) -> Sample {
    Sample { format, text }
}

pub(super) const SAMPLES: &[Sample] = &[
    sample("text", "10.0.0.0/8 192.0.2.1\n2001:db8::/32 eth0\n"),
    sample("text", "10.0.0.0/8,east\n10.1.0.0/16,west\n"),
    sample("hosts", "127.0.0.1 localhost\n10.0.0.1 a\n"),
    sample(
        "bgpdump",
        "TABLE_DUMP2|1|B|192.0.2.1|64500|10.0.0.0/8|64500 64501|IGP|192.0.2.1|0|0||NAG||\n\
         TABLE_DUMP2|1|B|192.0.2.1|64500|10.1.0.0/16|64500 64502|IGP|192.0.2.2|0|0||NAG||\n",
    ),
    sample(
        "bgpscanner",
        "=|10.0.0.0/8|1 2|192.0.2.1|i||||192.0.2.9 1|1779000000|1\n\
         =|10.1.0.0/16|1 3|192.0.2.2|i||||192.0.2.9 1|1779000000|1\n",
    ),
    sample("pfx2as", "10.0.0.0\t8\t64500\n10.1.0.0\t16\t64501\n"),
    sample(
        "riswhois",
        "64500\t10.0.0.0/8\t300\n64501\t10.1.0.0/16\t301\n",
    ),
    sample(
        "rir",
        "2|ripencc|20240101|2|19830101|20231231|+0000\n\
         ripencc|DE|ipv4|10.0.0.0|256|19920922|assigned\n\
         ripencc|FR|ipv6|2001:db8::|32|19920923|allocated\n",
    ),
    sample(
        "rpsl",
        "route: 10.0.0.0/8\norigin: AS64500\nsource: TEST\n\nroute6: 2001:db8::/32\norigin: AS64501\nsource: TEST\n",
    ),
    sample(
        "geofeed",
        "10.0.0.0/8,DE,DE-BE,Berlin,\n10.1.0.0/16,FR,FR-IDF,Paris,\n",
    ),
    sample(
        "csv",
        "network,asn,name\n10.0.0.0/8,64500,a\n10.1.0.0/16,64501,b\n",
    ),
    sample(
        "csv",
        "10.0.0.0,10.0.0.255,64500\n10.1.0.0,10.1.0.255,64501\n",
    ),
    sample(
        "json-lines",
        "{\"prefix\":\"10.0.0.0/8\",\"next_hop\":\"a\"}\n{\"prefix\":\"10.1.0.0/16\",\"next_hop\":\"b\"}\n",
    ),
    sample(
        "json",
        "[{\"prefix\":\"10.0.0.0/8\",\"next_hop\":\"a\"},{\"prefix\":\"10.1.0.0/16\",\"next_hop\":\"b\"}]\n",
    ),
    sample(
        "json-lists",
        "{\"a\":[\"10.0.0.0/8\"],\"b\":[\"10.1.0.0/16\",\"10.2.0.1\"]}\n",
    ),
    sample(
        "json-lists",
        "{\"syncToken\":\"1\",\"prefixes\":[{\"ip_prefix\":\"10.0.0.0/8\",\"region\":\"a\"},{\"ip_prefix\":\"10.1.0.0/16\",\"region\":\"b\"}]}\n",
    ),
    sample(
        "nftables-json",
        "{\"nftables\": [{\"metainfo\": {\"version\": \"1.0\"}}, {\"set\": {\"family\": \"ip\", \"name\": \"a\", \"type\": \"ipv4_addr\", \"elem\": [{\"prefix\": {\"addr\": \"10.0.0.0\", \"len\": 8}}, \"11.0.0.1\"]}}]}\n",
    ),
    sample(
        "ip-route",
        "10.0.0.0/8 via 192.0.2.1 dev eth0 proto static metric 100\n10.1.0.0/16 dev eth1 scope link src 10.1.0.1\n",
    ),
    sample(
        "ip-route-json",
        "[{\"dst\":\"10.0.0.0/8\",\"gateway\":\"192.0.2.1\",\"dev\":\"eth0\",\"protocol\":\"static\",\"flags\":[]},\
         {\"dst\":\"10.1.0.0/16\",\"dev\":\"eth1\",\"scope\":\"link\",\"prefsrc\":\"10.1.0.1\",\"flags\":[]}]\n",
    ),
    sample(
        "frr-json",
        "{\"10.0.0.0/8\":[{\"prefix\":\"10.0.0.0/8\",\"protocol\":\"bgp\",\"selected\":true,\"nexthops\":[{\"ip\":\"192.0.2.1\",\"interfaceName\":\"eth0\",\"active\":true}]}],\
         \"10.1.0.0/16\":[{\"prefix\":\"10.1.0.0/16\",\"protocol\":\"bgp\",\"selected\":true,\"nexthops\":[{\"ip\":\"192.0.2.2\",\"interfaceName\":\"eth0\",\"active\":true}]}]}\n",
    ),
    sample(
        "router-json",
        "{\"vrfs\":{\"default\":{\"routes\":{\"10.0.0.0/8\":{\"kernelProgrammed\":true,\"vias\":[{\"nexthopAddr\":\"192.0.2.1\",\"interface\":\"Ethernet1\"}]},\"10.1.0.0/16\":{\"kernelProgrammed\":true,\"vias\":[{\"nexthopAddr\":\"192.0.2.2\",\"interface\":\"Ethernet1\"}]}}}}}\n",
    ),
    sample(
        "show-route",
        "Codes: S - static, C - connected\n\nS    10.0.0.0/8 [1/0] via 192.0.2.1\nC    10.1.0.0/16 is directly connected, Ethernet1\n",
    ),
    sample(
        "show-bgp",
        "   Network          Next Hop            Metric LocPrf Weight Path\n\
         *> 10.0.0.0/8       192.0.2.1                0             0 64500 i\n\
         *> 10.1.0.0/16      192.0.2.2                0             0 64501 i\n",
    ),
    sample(
        "bgpctl",
        "flags  vs destination          gateway          lpref   med aspath origin\n\
         *>      N 10.0.0.0/8           192.0.2.1         100     0 64500 i\n\
         *>      N 10.1.0.0/16          192.0.2.2         100     0 64501 i\n",
    ),
    sample(
        "bird",
        "Table master4:\n10.0.0.0/8 unicast [a 2026-01-01] * (100) [AS64500i]\n\tvia 192.0.2.1 on eth0\n10.1.0.0/16 unicast [a 2026-01-01] * (100) [AS64501i]\n\tvia 192.0.2.2 on eth0\n",
    ),
    sample(
        "nxos",
        "IP Route Table for VRF \"default\"\n10.0.0.0/8, ubest/mbest: 1/0\n    *via 192.0.2.1, Eth1/1, [1/0], 1d, static\n10.1.0.0/16, ubest/mbest: 1/0\n    *via 192.0.2.2, Eth1/1, [1/0], 1d, static\n",
    ),
    sample(
        "junos",
        "inet.0: 2 destinations, 2 routes (2 active, 0 holddown, 0 hidden)\n\
         10.0.0.0/8         *[Static/5] 1d 00:00:00\n                    >  to 192.0.2.1 via ge-0/0/0.0\n\
         10.1.0.0/16        *[Static/5] 1d 00:00:00\n                    >  to 192.0.2.2 via ge-0/0/0.0\n",
    ),
    sample(
        "vrp",
        "Destination/Mask    Proto   Pre  Cost      Flags NextHop         Interface\n\
         10.0.0.0/8          Static  60   0          RD   192.0.2.1       Vlanif1\n\
         10.1.0.0/16         Static  60   0          RD   192.0.2.2       Vlanif1\n",
    ),
    sample(
        "panos",
        "destination                                 nexthop                                 metric flags      age   interface          next-AS\n\
         10.0.0.0/8                                  192.0.2.1                               10     A S              ethernet1/1\n\
         10.1.0.0/16                                 192.0.2.2                               10     A S              ethernet1/1\n",
    ),
    sample(
        "routeros",
        " 0 A S dst-address=10.0.0.0/8 gateway=192.0.2.1 distance=1\n 1 A S dst-address=10.1.0.0/16 gateway=192.0.2.2 distance=1\n",
    ),
    sample(
        "route-n",
        "Kernel IP routing table\nDestination     Gateway         Genmask         Flags Metric Ref    Use Iface\n\
         10.0.0.0        192.0.2.1       255.0.0.0       UG    0      0        0 eth0\n\
         10.1.0.0        192.0.2.2       255.255.0.0     UG    0      0        0 eth0\n",
    ),
    sample(
        "netstat",
        "Routing tables\n\nInternet:\nDestination        Gateway            Flags     Netif Expire\n\
         10                 192.0.2.1          UGS         em0\n10.1/16            192.0.2.2          UGS         em0\n",
    ),
    sample(
        "route-print",
        "IPv4 Route Table\n====\nActive Routes:\nNetwork Destination        Netmask          Gateway       Interface  Metric\n\
         10.0.0.0        255.0.0.0        192.0.2.1        192.0.2.7     25\n\
         10.1.0.0      255.255.0.0        192.0.2.2        192.0.2.7     25\n====\nPersistent Routes:\n  None\n",
    ),
    sample(
        "ipset",
        "create a hash:net family inet hashsize 1024\nadd a 10.0.0.0/8\nadd a 10.1.0.0/16 timeout 5\n",
    ),
    sample(
        "nftables",
        "table ip t {\n\tset a {\n\t\ttype ipv4_addr\n\t\tflags interval\n\t\telements = { 10.0.0.0/8, 10.1.0.0/16 }\n\t}\n}\n",
    ),
    sample("filters", "define a = [ 10.0.0.0/8, 10.1.0.0/16 ];\n"),
    sample(
        "filters",
        "prefix-list a {\n    10.0.0.0/8;\n    10.1.0.0/16;\n}\n",
    ),
    sample(
        "prefix-lists",
        "ip prefix-list a seq 5 permit 10.0.0.0/8\nip prefix-list a seq 10 permit 10.1.0.0/16 le 24\n",
    ),
    sample(
        "iptables",
        "*filter\n:a - [0:0]\n-A a -s 10.0.0.0/8 -j DROP\n-A a -s 10.1.0.0/16 -p tcp -j DROP\nCOMMIT\n",
    ),
    sample("any", "x 10.0.0.0/8 y\nz 10.1.0.0/16\n"),
];

/// What may be changed in silence, by format: tokens, changes, and why the answer is right.
pub(super) const EXCEPTIONS: &[(&str, &str, &str, &str)] = &[
    (
        "text",
        "*",
        "swapped with the next",
        "what stands first is the prefix",
    ),
    (
        "text",
        "10.0.0.0/8 east",
        "replaced, emptied, followed by junk, doubled, swapped with the next",
        "a first line without a prefix is a heading of CSV, and three fields are a table of more columns",
    ),
    ("hosts", "*", "followed by junk", "more names"),
    (
        "bgpdump",
        "64501 64502",
        "followed by a prefix",
        "the AS path is read where it is asked for",
    ),
    (
        "bgpscanner",
        "2 3",
        "followed by a prefix",
        "the AS path is read where it is asked for",
    ),
    (
        "riswhois",
        "300",
        "swapped with the next",
        "both are numbers",
    ),
    ("rir", "256", "swapped with the next", "both are numbers"),
    (
        "rpsl",
        "source: TEST",
        "followed by a prefix",
        "an attribute may be any text",
    ),
    (
        "csv",
        "asn 64500 64501",
        "emptied, replaced, swapped with the next",
        "by the heading, another column is the value",
    ),
    (
        "csv",
        "10.0.0.0 10.1.0.0",
        "doubled",
        "an address and a range begin alike",
    ),
    (
        "csv",
        "10.0.0.255 10.1.0.255",
        "doubled, followed by junk",
        "without a heading, one more column",
    ),
    (
        "csv",
        "64500 64501",
        "followed by a prefix",
        "without a heading, a column after the value",
    ),
    (
        "json-lists",
        "10.0.0.0/8 10.1.0.0/16 10.2.0.1",
        "replaced, replaced by a number, put into a list",
        "a list of something else, and a list in a list, whose name is its number",
    ),
    (
        "json-lists",
        "region a b",
        "renamed, null, dropped, set to null, put into a list",
        "the name of the list is the value",
    ),
    (
        "ip-route-json",
        "gateway",
        "dropped",
        "a route by way of its interface",
    ),
    (
        "frr-json",
        "ip 192.0.2.1 192.0.2.2",
        "renamed, null, dropped, set to null",
        "a next hop by way of its interface",
    ),
    (
        "router-json",
        "nexthopAddr",
        "renamed, dropped",
        "a next hop by way of its interface",
    ),
    (
        "nxos",
        "192.0.2.1 192.0.2.2",
        "swapped with the next",
        "a next hop by way of its interface",
    ),
    (
        "panos",
        "192.0.2.1 192.0.2.2",
        "swapped with the next",
        "a next hop may be a name",
    ),
    (
        "routeros",
        "192.0.2.1 192.0.2.2",
        "swapped with the next",
        "a next hop may be a name",
    ),
    (
        "netstat",
        "10",
        "swapped with the next",
        "a destination may be a host",
    ),
    (
        "netstat",
        "192.0.2.1 192.0.2.2",
        "replaced",
        "a gateway may be a name; the interface is the value",
    ),
    (
        "route-print",
        "IPv4 Route Table Routes: None",
        "followed by a prefix",
        "what is above the routes in use is any text",
    ),
    (
        "route-print",
        "192.0.2.1 192.0.2.2",
        "swapped with the next",
        "both are addresses",
    ),
    (
        "nftables",
        "a",
        "swapped with the next",
        "a set may have this name",
    ),
    (
        "filters",
        "define",
        "swapped with the next",
        "a list may have this name",
    ),
    (
        "any",
        "10.0.0.0/8 10.1.0.0/16",
        "replaced",
        "a text without it",
    ),
    (
        "geofeed",
        "10.0.0.0/8",
        "replaced, followed by junk",
        "a first line without a prefix is a heading of CSV, and one more field one more column",
    ),
    (
        "geofeed",
        "DE",
        "dropped, swapped with the next, followed by a prefix",
        "without a country it is CSV",
    ),
    (
        "text",
        "east",
        "followed by a prefix",
        "without a heading, a column after the value",
    ),
    (
        "csv",
        "10.0.0.255 10.1.0.255",
        "followed by a prefix",
        "asked for by name, the column after the range",
    ),
];
