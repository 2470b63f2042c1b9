//! Sets of firewalls and filters of routers.
//!
//! What says "printed by" is output of that program of Debian 12, made by the commands that
//! stand there; bgpq4 asked a server with six IPv4 and two IPv6 routes of its own. The rest
//! follows the documented formats.

use crate::common::{SKIP, STRICT, error, read, read_as, routes, table_as};

/// Printed by ipset 7.17 after `create` and `add` of these sets, `nomatch` and the set of
/// ports apart.
const IPSET: &str = "\
create x hash:net family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x34e8c0fb
add x 10.0.0.0/8
create i hash:ip family inet hashsize 1024 maxelem 65536 netmask 24 timeout 60 comment bucketsize 12 initval 0xe6b4a28a
add i 10.2.3.0 timeout 59 comment \"nomatch b\"
create s hash:net family inet6 hashsize 1024 maxelem 65536 bucketsize 12 initval 0xcd916d63
add s ::1
add s 2001:db8::/32
create b bitmap:ip range 10.0.0.0-10.0.0.255
add b 10.0.0.4
";

#[test]
fn ipset() {
    assert_eq!(
        read_as("ipset", IPSET),
        [
            "10.0.0.0/8 x",
            "10.0.0.4/32 b",
            "10.2.3.0/24 i",
            "::1/128 s",
            "2001:db8::/32 s"
        ]
    );
    let ports = format!("create p hash:ip,port family inet\nadd p 10.0.0.1,tcp:80\n{IPSET}");
    let table = table_as("ipset", &ports);
    assert_eq!(
        table.notes,
        ["1 set of something else than addresses left out"]
    );
    // `ipset restore` takes ranges, too.
    let ranges = "add x 10.0.0.4-10.0.0.9\n";
    assert_eq!(read_as("ipset", ranges), ["10.0.0.4/30 x", "10.0.0.8/31 x"]);
    for (line, reason) in [
        (
            "add x 192.0.2.0/25 nomatch",
            "\"192.0.2.0/25\": an exception to the set",
        ),
        (
            "add x 10.0.0.9-10.0.0.4",
            "\"10.0.0.9-10.0.0.4\": the first address of the range is after the last",
        ),
        ("add x 10.0.0.1/8", "\"10.0.0.1/8\": "),
        ("add x", "\"add x\": not a line of ipset"),
        ("remove x y", "\"remove x y\": not a line of ipset"),
    ] {
        let message = error(format!("add x 10.0.0.0/8\n{line}\n"), &STRICT);
        assert!(message.starts_with(&format!("t:2: {reason}")), "{message}");
    }
}

/// Printed by `nft list ruleset` of nftables 1.0.6; the flowtable and the rules with `!=` are added in its form.
const NFT: &str = "\
table inet t {
\tset bl {
\t\ttype ipv4_addr
\t\tflags interval
\t\tauto-merge
\t\telements = { 10.0.0.0/8, 192.0.2.1,
\t\t\t     198.51.100.4-198.51.100.9 }
\t}

\tset six {
\t\ttype ipv6_addr
\t\tflags interval
\t\telements = { 2001:db8::/32,
\t\t\t     fe80::1 }
\t}

\tset tm {
\t\ttype ipv4_addr
\t\ttimeout 1h
\t\telements = { 1.1.1.1 timeout 10m expires 9m59s996ms comment \"x, y\", 2.2.2.2 expires 59m59s996ms }
\t}

\tmap m {
\t\ttype ipv4_addr : verdict
\t\tflags interval
\t\telements = { 10.1.0.0/16 : accept, 10.2.0.0/16 : jump other }
\t}

\tset ports {
\t\ttype inet_service
\t\telements = { 22, 80 }
\t}

\tflowtable f {
\t\thook ingress priority filter
\t\tdevices = { eth0, eth1 }
\t}

\tchain c {
\t\tip saddr { 172.16.0.0/12, 192.168.0.0/16 } drop
\t\tip saddr != { 172.16.0.0/12, 192.168.0.0/16 } accept
\t\ttcp dport != { 22, 80 } drop
\t}
}
";

#[test]
fn nft() {
    let table = table_as("nftables", NFT);
    assert_eq!(
        routes(&table),
        [
            "1.1.1.1/32 tm",
            "2.2.2.2/32 tm",
            "10.0.0.0/8 bl",
            "10.1.0.0/16 accept",
            "10.2.0.0/16 jump other",
            "192.0.2.1/32 bl",
            "198.51.100.4/30 bl",
            "198.51.100.8/31 bl",
            "2001:db8::/32 six",
            "fe80::1/128 six"
        ]
    );
    assert_eq!(
        table.notes,
        [
            "1 set of something else than addresses left out",
            "4 prefixes outside of sets left out"
        ]
    );
    let script = "#!/usr/sbin/nft -f\nflush ruleset\n\ndefine bogons = { 10.0.0.0/8, # private\n 100.64.0.0/10, }\n\
                  add element inet t bl { 192.0.2.0/24 }\n\
                  add set inet t new { type ipv4_addr; elements = { 203.0.113.0/24 }; }\n\
                  table inet u { set a { type ipv4_addr; flags interval; elements = { 198.51.100.0/24 }; }; }\n";
    assert_eq!(
        read_as("nftables", script),
        [
            "10.0.0.0/8 bogons",
            "100.64.0.0/10 bogons",
            "192.0.2.0/24 bl",
            "198.51.100.0/24 a",
            "203.0.113.0/24 new"
        ]
    );
    for (elements, reason) in [
        ("10.0.0.0/8 . 80", "\"10.0.0.0/8\": more than an address"),
        ("$x", "\"$x\": "),
        ("10.0.0.0/8", "the elements are not ended by a bracket"),
    ] {
        let close = if elements == "10.0.0.0/8" { "" } else { " }" };
        let message = error(
            format!("add element inet t bl {{ {elements}{close}\n"),
            &STRICT,
        );
        assert!(message.starts_with(&format!("t:1: {reason}")), "{message}");
    }
}

/// Printed by `nft -j list ruleset` of nftables 1.0.6.
const NFT_JSON: &str = r#"{"nftables": [{"metainfo": {"version": "1.0.6", "release_name": "Lester Gooch #5", "json_schema_version": 1}}, {"table": {"family": "inet", "name": "t", "handle": 1}}, {"set": {"family": "inet", "name": "bl", "table": "t", "type": "ipv4_addr", "handle": 3, "flags": ["interval", "timeout"], "elem": [{"elem": {"val": {"prefix": {"addr": "10.0.0.0", "len": 8}}, "comment": "x, y"}}, {"elem": {"val": "192.0.2.1", "timeout": 3600, "expires": 3599}}, {"range": ["198.51.100.4", "198.51.100.9"]}]}}, {"set": {"family": "inet", "name": "b6", "table": "t", "type": "ipv6_addr", "handle": 4, "flags": ["interval"], "elem": [{"prefix": {"addr": "2001:db8::", "len": 32}}, "2001:db9::1"]}}, {"set": {"family": "inet", "name": "ports", "table": "t", "type": "inet_service", "handle": 5, "elem": [22, 80]}}, {"set": {"family": "inet", "name": "cc", "table": "t", "type": ["ipv4_addr", "inet_service"], "handle": 6, "elem": [{"concat": ["10.0.0.1", 80]}]}}, {"map": {"family": "inet", "name": "m", "table": "t", "type": "ipv4_addr", "handle": 7, "map": "verdict", "flags": ["interval"], "elem": [[{"prefix": {"addr": "10.0.0.0", "len": 9}}, {"drop": null}], [{"prefix": {"addr": "11.0.0.0", "len": 8}}, {"jump": {"target": "c2"}}]]}}, {"map": {"family": "inet", "name": "n", "table": "t", "type": "ipv4_addr", "handle": 8, "map": "mark", "elem": [["10.0.0.1", 5]]}}, {"set": {"family": "inet", "name": "cnt", "table": "t", "type": "ipv4_addr", "handle": 9, "elem": [{"elem": {"val": "10.0.0.7", "counter": {"packets": 0, "bytes": 0}}}], "stmt": [{"counter": null}]}}, {"set": {"family": "inet", "name": "e", "table": "t", "type": "ipv4_addr", "handle": 11}}, {"chain": {"family": "inet", "table": "t", "name": "c2", "handle": 1}}, {"rule": {"family": "inet", "table": "t", "chain": "c", "handle": 13, "expr": [{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": {"set": ["1.1.1.1", {"prefix": {"addr": "2.2.2.0", "len": 24}}]}}}, {"drop": null}]}}]}
"#;

#[test]
fn nft_json() {
    let table = table_as("nftables-json", NFT_JSON);
    assert_eq!(
        routes(&table),
        [
            "10.0.0.0/8 bl",
            "10.0.0.0/9 drop",
            "10.0.0.1/32 5",
            "10.0.0.7/32 cnt",
            "11.0.0.0/8 jump c2",
            "192.0.2.1/32 bl",
            "198.51.100.4/30 bl",
            "198.51.100.8/31 bl",
            "2001:db8::/32 b6",
            "2001:db9::1/128 b6"
        ]
    );
    let left_out = "2 sets of something else than addresses left out";
    assert_eq!(table.notes, [left_out, "1 rule left out"]);
    let script = r#"{"nftables": [{"add": {"element": {"family": "ip", "table": "t", "name": "a", "elem": ["10.0.0.1"]}}}]}"#;
    assert_eq!(read_as("nftables-json", script), ["10.0.0.1/32 a"]);
    let deep = |json: &str, depth: usize| {
        let start = r#"{"elem": {"val": "#.repeat(depth);
        format!("{start}{json}{}", "}}".repeat(depth))
    };
    for (element, reason) in [
        (
            r#"{"concat": ["10.0.0.1", 80]}"#,
            "an element of \"a\" is more than an address",
        ),
        (
            r#"{"prefix": {"addr": "10.0.0.1", "len": 8}}"#,
            "\"10.0.0.1/8\": ",
        ),
        (
            r#"{"prefix": {"addr": "10.0.0.0", "len": 33}}"#,
            "\"10.0.0.0/33\": ",
        ),
        (r#"{"prefix": {"addr": "10.0.0.0"}}"#, "missing field `len`"),
        (
            r#"{"range": ["10.0.0.9", "10.0.0.4"]}"#,
            "\"10.0.0.9-10.0.0.4\": the first address of the range is after the last",
        ),
        (r#""east""#, "\"east\": "),
        ("80", "invalid type: integer `80`, expected a"),
        ("[]", "invalid length 0"),
        (&deep(r#""10.0.0.1""#, 3), "not an element of a set"),
        (&deep(r#""10.0.0.1""#, 100_000), "not an element of a set"),
        (
            &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
            "invalid length 1",
        ),
    ] {
        let set = format!(
            "{{\"nftables\": [\n{{\"set\": {{\"name\": \"a\", \"elem\": [{element}]}}}}]}}"
        );
        let message = error(set, &STRICT);
        assert!(message.starts_with(&format!("t:2: {reason}")), "{message}");
    }
}

const SIX: [&str; 6] = [
    "1.0.0.0/24 NN",
    "1.0.4.0/22 NN",
    "10.0.0.0/16 NN",
    "10.0.0.0/24 NN",
    "10.0.1.0/24 NN",
    "192.0.2.0/25 NN",
];
/// The six with two of them as one entry of lengths from 24 to 24.
const FIVE: [&str; 5] = [
    "1.0.0.0/24 NN",
    "1.0.4.0/22 NN",
    "10.0.0.0/16 NN",
    "10.0.0.0/23 NN",
    "192.0.2.0/25 NN",
];

/// Printed by bgpq4 1.9, `bgpq4 OPTIONS -l NN AS1`, and bgpq3 0.1.36.1, which differs in blanks.
#[test]
fn bgpq4() {
    let list = |start: &str, each: &str, end: &str, last: &str| {
        let mut text = start.to_owned();
        for (n, line) in SIX.iter().enumerate() {
            let prefix = line.trim_end_matches(" NN");
            let line = each.replace("PREFIX", prefix);
            text.push_str(if n == 5 {
                line.trim_end_matches(',')
            } else {
                &line
            });
            text.push('\n');
        }
        text + end + last
    };
    for (format, text) in [
        (
            "prefix-lists",
            list(
                "no ip prefix-list NN\n",
                "ip prefix-list NN permit PREFIX",
                "",
                "",
            ),
        ),
        (
            "filters",
            list(
                "policy-options {\nreplace:\n prefix-list NN {\n",
                "    PREFIX;",
                " }\n}\n",
                "",
            ),
        ),
        (
            "filters",
            list(
                "policy-options {\nreplace:\n  route-filter-list NN {\n",
                "    PREFIX exact;",
                "  }\n}\n",
                "",
            ),
        ),
        (
            "filters",
            list(
                "policy-options {\n policy-statement NN { \nreplace:\n  from {\n",
                "    route-filter PREFIX exact;",
                "  }\n }\n}\n",
                "",
            ),
        ),
        ("filters", list("NN = [\n", "    PREFIX,", "];\n", "")),
        (
            "filters",
            list(
                "no prefix-set NN\nprefix-set NN\n",
                " PREFIX,",
                "end-set\n",
                "",
            ),
        ),
        (
            "prefix-lists",
            list(
                "no ip prefix-list NN\nip prefix-list NN\n",
                "    seq 1 permit PREFIX",
                "",
                "",
            ),
        ),
    ] {
        assert_eq!(read_as(format, &text), SIX, "{text}");
    }
    let bounded = "    { \"prefix\": \"10.0.0.0\\/23\", \"exact\": false,\n      \"greater-equal\": 24, \"less-equal\": 24 }";
    let exact = |p: &str| {
        format!(
            "    {{ \"prefix\": \"{}\", \"exact\": true }},\n",
            p.replace('/', "\\/")
        )
    };
    let json = format!(
        "{{ \"NN\": [\n{}{}{}{}{bounded}\n] }}\n",
        exact("1.0.0.0/24"),
        exact("1.0.4.0/22"),
        exact("10.0.0.0/16"),
        exact("192.0.2.0/25"),
    );
    for (format, text) in [
        (
            "prefix-lists",
            "no ip prefix-list NN\nip prefix-list NN permit 1.0.0.0/24\nip prefix-list NN permit 1.0.4.0/22\n\
             ip prefix-list NN permit 10.0.0.0/16\nip prefix-list NN permit 10.0.0.0/23 ge 24 le 24\n\
             ip prefix-list NN permit 192.0.2.0/25\n",
        ),
        (
            "prefix-lists",
            "no ip access-list extended NN\nip access-list extended NN\n permit ip host 1.0.0.0 host 255.255.255.0\n \
             permit ip host 1.0.4.0 host 255.255.252.0\n permit ip host 10.0.0.0 host 255.255.0.0\n \
             permit ip 10.0.0.0 0.0.1.0 host 255.255.255.0\n permit ip host 192.0.2.0 host 255.255.255.128\n",
        ),
        (
            "filters",
            "policy-options {\nreplace:\n  route-filter-list NN {\n    1.0.0.0/24 exact;\n    1.0.4.0/22 exact;\n    \
             10.0.0.0/16 exact;\n    10.0.0.0/23 prefix-length-range /24-/24;\n    192.0.2.0/25 exact;\n  }\n}\n",
        ),
        (
            "filters",
            "NN = [\n    1.0.0.0/24,\n    1.0.4.0/22,\n    10.0.0.0/16,\n    10.0.0.0/23{24,24},\n    192.0.2.0/25\n];\n",
        ),
        (
            "filters",
            "no prefix-set NN\nprefix-set NN\n 1.0.0.0/24,\n 1.0.4.0/22,\n 10.0.0.0/16,\n 10.0.0.0/23 ge 24 le 24,\n \
             192.0.2.0/25\nend-set\n",
        ),
        ("json-lists", json.as_str()),
    ] {
        let table = table_as(format, text);
        assert_eq!(routes(&table), FIVE, "{text}");
        let note = "1 prefix with bounds of length, which are left out";
        assert_eq!(table.notes, [note], "{text}");
    }
    let nameless = "prefix { \n\t1.0.0.0/24\n\t10.0.0.0/23 prefixlen = 24\n\t}\n";
    assert_eq!(
        read_as("filters", nameless),
        ["1.0.0.0/24 ", "10.0.0.0/23 "]
    );
    let six = "no ipv6 prefix-list NN\nipv6 prefix-list NN permit 2001:db8::/32\nipv6 prefix-list NN permit 2001:db8:1::/48\n";
    assert_eq!(
        read_as("prefix-lists", six),
        ["2001:db8::/32 NN", "2001:db8:1::/48 NN"]
    );
    let huawei = "undo ip ip-prefix NN\nip ip-prefix NN permit 1.0.0.0 24\nip ip-prefix NN permit 1.0.4.0 22\n";
    assert_eq!(
        read_as("prefix-lists", huawei),
        ["1.0.0.0/24 NN", "1.0.4.0/22 NN"]
    );
}

#[test]
fn other_lists_of_routers() {
    // vtysh -c 'show ip prefix-list' has its process before each list.
    let frr = "ZEBRA: ip prefix-list a: 2 entries\n   seq 5 permit 10.0.0.0/8 ge 16 le 24\n   seq 10 deny any\n";
    assert_eq!(read_as("prefix-lists", frr), ["10.0.0.0/8 a"]);
    let acl = "ip access-list standard NN\n permit 10.0.0.0 0.255.255.255\n permit host 192.0.2.1\n 30 permit any\n deny any\n\
               ipv6 access-list six\n permit ipv6 2001:db8::/32 any\naccess-list 10 permit 198.51.100.0 0.0.0.255\n";
    assert_eq!(
        read_as("prefix-lists", acl),
        [
            "0.0.0.0/0 NN",
            "10.0.0.0/8 NN",
            "192.0.2.1/32 NN",
            "198.51.100.0/24 10",
            "2001:db8::/32 six"
        ]
    );
    for (line, reason) in [
        (
            "ip prefix-list a deny 10.1.0.0/16",
            "a deny of 10.1.0.0/16: an exception to the list",
        ),
        (
            "ip prefix-list a permit 10.0.0.0/8 xx 9",
            "\"ip prefix-list a permit 10.0.0.0/8 xx 9\": not an entry of a list",
        ),
        (
            "access-list 10 permit 10.0.0.0 0.255.0.255",
            "10.0.0.0 0.255.0.255: the wildcard has gaps",
        ),
        (
            "access-list 10 permit ip 10.0.0.0 0.255.255.255 192.0.2.0 0.0.0.255",
            "an entry about more than the source 10.0.0.0/8",
        ),
        ("router bgp 1", "\"router bgp 1\": not an entry of a list"),
    ] {
        let message = error(
            format!("ip prefix-list a permit 10.0.0.0/8\n{line}\n"),
            &STRICT,
        );
        assert_eq!(message, format!("t:2: {reason}"));
    }
    for (text, wanted) in [
        (
            "define A = [ 10.0.0.0/8+, 192.0.2.0/24 ];\ndefine B = [ 2001:db8::/32{32,48} ];\n",
            ["10.0.0.0/8 A", "192.0.2.0/24 A", "2001:db8::/32 B"],
        ),
        (
            "prefix-set \"a b\" { 10.0.0.0/8, 192.0.2.0/24 prefixlen 24 - 25\n2001:db8::/32 or-longer }\n",
            ["10.0.0.0/8 a b", "192.0.2.0/24 a b", "2001:db8::/32 a b"],
        ),
        (
            "table <x> persist { 10.0.0.0/8 192.0.2.0/24, 2001:db8::/32 }\n",
            ["10.0.0.0/8 x", "192.0.2.0/24 x", "2001:db8::/32 x"],
        ),
        (
            "set policy-options prefix-list L 10.0.0.0/8\nset policy-options route-filter-list L 192.0.2.0/24 upto /25\nset policy-options policy-statement L term 1 from route-filter 2001:db8::/32 exact\n",
            ["10.0.0.0/8 L", "192.0.2.0/24 L", "2001:db8::/32 L"],
        ),
    ] {
        assert_eq!(read_as("filters", text), wanted, "{text}");
    }
    for (text, reason) in [
        (
            "table <x> { 10.0.0.0/8 !10.1.0.0/16 }",
            "an exception to the list",
        ),
        (
            "prefix-list a {\n    apply-path \"interfaces\";\n}",
            "\"apply-path\": not a prefix",
        ),
        ("define A = [ 10.0.0.0/8", "the list is not ended by \"]\""),
        (
            "define A = [ 10.0.0.0/8- ];",
            "\"10.0.0.0/8-\": not a prefix",
        ),
    ] {
        let message = error(text, &STRICT);
        assert!(message.ends_with(reason), "{text}: {message}");
    }
}

/// Printed by `iptables-save` 1.8.9 but for the comments; a rule with both ends comes from its manual.
#[test]
fn iptables() {
    let text = "# Generated by iptables-save\n*filter\n:INPUT ACCEPT [0:0]\n:bl - [0:0]\n-A INPUT -j bl\n-A bl -s 10.0.0.0/8 -j DROP\n\
                -A bl -d 192.0.2.1/32 -p tcp -j DROP\n-A bl -s 198.51.100.0/24 -d 192.0.2.9/32 -j DROP\nCOMMIT\n";
    let table = table_as("iptables", text);
    assert_eq!(
        routes(&table),
        ["10.0.0.0/8 bl", "192.0.2.1/32 bl", "198.51.100.0/24 bl"]
    );
    assert_eq!(table.notes, ["1 rule about no address left out"]);
    assert_eq!(
        error("*filter\n-A bl ! -s 10.0.0.0/8 -j DROP\n", &STRICT),
        "t:2: \"10.0.0.0/8\": all but these addresses"
    );
}

#[test]
fn skipped_lines_are_counted() {
    let table = read(
        "add x 10.0.0.0/8\nadd x y\nadd x 10.0.0.0/8 nomatch\n",
        &SKIP,
    )
    .unwrap();
    assert_eq!((routes(&table).len(), table.skipped), (1, 2));
}

/// Elements of sets that are left out are nobody's, however many prefixes they have.
#[test]
fn elements_of_other_sets() {
    let elements = [
        "10.0.0.0/24,tcp:80",
        "10.0.0.0/24,eth0",
        "10.0.0.0/24,10.1.0.0/16",
    ];
    for (kind, element) in ["hash:net,port", "hash:net,iface", "hash:net,net"]
        .iter()
        .zip(elements)
    {
        let text = format!(
            "create o {kind} family inet\nadd o {element}\ncreate x hash:net\nadd x 10.2.0.0/16\n"
        );
        assert_eq!(read_as("ipset", &text), ["10.2.0.0/16 x"]);
    }
    let nft = "table ip t {\n set o {\n type ipv4_addr . ipv4_addr\n elements = { 10.0.0.0/24 . 10.1.0.0/16, 10.3.0.0/24 . 10.4.0.0/24 }\n }\n}\n";
    let options = STRICT.clone();
    assert!(error(nft, &options).contains("1 set of something else than addresses left out"));
}

/// What comes after the deny of all has no effect; a deny of the default route alone has one.
#[test]
fn a_deny_of_all_ends_a_list() {
    for deny in [
        "ip prefix-list A seq 5 deny any",
        "ip prefix-list A deny 0.0.0.0/0 le 32",
    ] {
        let text = format!("{deny}\nip prefix-list A seq 10 permit 10.0.0.0/8\n");
        let reason = "t:2: a permit of 10.0.0.0/8 after a deny of all: it is of no effect";
        assert_eq!(error(&*text, &STRICT), reason);
    }
    let others = "ip prefix-list A deny 0.0.0.0/0\nip prefix-list A deny 0.0.0.0/0 ge 25 le 32\nip prefix-list A permit 10.0.0.0/8\n\
                  ip prefix-list A deny any\nip prefix-list B permit 10.1.0.0/16\nipv6 prefix-list A permit 2001:db8::/32\n";
    let wanted = ["10.0.0.0/8 A", "10.1.0.0/16 B", "2001:db8::/32 A"];
    assert_eq!(read_as("prefix-lists", others), wanted);
}
