//! Every prefix anywhere in a text: what configurations look like, and what is found in them.

use crate::common::{STRICT, error, read};
use popfib_formats::{Format, LoadOptions, RouteTable};

fn table(text: &str, mask: bool) -> RouteTable {
    let options = LoadOptions {
        format: Format::by_name("any"),
        mask,
        ..STRICT.clone()
    };
    read(text, &options).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn found(text: &str) -> Vec<String> {
    let table = table(text, false);
    table
        .routes()
        .map(|(prefix, _)| prefix.to_string())
        .collect()
}

#[test]
fn firewalls_and_routers() {
    for (text, wanted) in [
        // FortiOS
        (
            "config firewall address\n    edit \"lan\"\n        set subnet 10.0.0.0 255.0.0.0\n    next\n    edit \"pool\"\n        \
             set type iprange\n        set start-ip 192.0.2.4\n        set end-ip 192.0.2.7\n    next\nend\n",
            &["10.0.0.0/8", "192.0.2.4/30"][..],
        ),
        // Cisco ASA
        (
            "object-group network inside\n network-object 10.0.0.0 255.0.0.0\n network-object host 192.0.2.1\nobject network r\n \
             range 198.51.100.0 198.51.100.3\nroute outside 0.0.0.0 0.0.0.0 203.0.113.1 1\n",
            &[
                "0.0.0.0/0",
                "10.0.0.0/8",
                "192.0.2.1/32",
                "198.51.100.0/30",
                "203.0.113.1/32",
            ],
        ),
        // Cisco IOS
        (
            "! access-list 9 permit 172.16.0.0\nip access-list extended a\n permit tcp 10.0.0.0 0.0.0.255 any eq 443\n permit ip host 192.0.2.1 10.1.0.0 0.0.3.255\n\
             ip route 198.51.100.0 255.255.255.0 Null0\nip address 192.0.2.0 255.255.255.254\n",
            &[
                "10.0.0.0/24",
                "10.1.0.0/22",
                "192.0.2.0/31",
                "192.0.2.1/32",
                "198.51.100.0/24",
            ],
        ),
        // Wildcard masks of one host; masks, and numbers of areas, by themselves.
        (
            "network 10.1.2.3 0.0.0.0 area 0.0.0.1\nmask 0.0.0.255 255.255.0.0\npermit 0.1.0.0/16 255.255.255.255/32\n",
            &["0.1.0.0/16", "10.1.2.3/32", "255.255.255.255/32"],
        ),
        // PAN-OS
        (
            "set address a ip-netmask 10.0.0.0/8\nset address b ip-range 192.0.2.0-192.0.2.3\nset address c ip-netmask 2001:db8::/32\n\
             set address d ip-wildcard 10.1.0.0/0.0.255.255\n",
            &["10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/30", "2001:db8::/32"],
        ),
        // Junos of SRX
        (
            "address-book {\n  global {\n    address a 10.0.0.0/8;\n    address b { range-address 192.0.2.0 { to { 192.0.2.3; } } }\n  }\n}\n\
             set security address-book global address c range-address 198.51.100.0 to 198.51.100.1\n",
            &["10.0.0.0/8", "192.0.2.0/30", "198.51.100.0/31"],
        ),
        // RouterOS
        (
            "/ip firewall address-list\nadd address=10.0.0.0/8 list=a\nadd address=192.0.2.0-192.0.2.3 list=b comment=\"x\"\n",
            &["10.0.0.0/8", "192.0.2.0/30"],
        ),
        // OPNsense
        (
            "<alias><name>a</name><content>10.0.0.0/8\n192.0.2.1</content></alias>\n<network>2001:db8::/32</network>\n",
            &["10.0.0.0/8", "192.0.2.1/32", "2001:db8::/32"],
        ),
        // ufw, firewalld
        (
            "-A ufw-user-input -s 10.0.0.0/8 -j ACCEPT\n  <source address=\"192.0.2.0/24\"/>\n",
            &["10.0.0.0/8", "192.0.2.0/24"],
        ),
        // Windows, ISC dhcpd
        (
            "route add 10.0.0.0 mask 255.0.0.0 192.0.2.1\nsubnet 198.51.100.0 netmask 255.255.255.0 {\n  option subnet-mask 255.255.255.0;\n}\n",
            &["10.0.0.0/8", "192.0.2.1/32", "198.51.100.0/24"],
        ),
    ] {
        assert_eq!(found(text), wanted, "{text}");
    }
}

#[test]
fn servers_and_pages() {
    for (text, wanted) in [
        (
            "allow 10.0.0.0/8;\ndeny 2001:db8::/32;\ndeny all;\n",
            &["10.0.0.0/8", "2001:db8::/32"][..],
        ),
        (
            "Require ip 10.0.0.0/255.0.0.0 11 12.1. 13.256\n  require NOT ip 14.1.2\nAllow from 192.0.2.1 198.51.100.0/24\nDeny from all\nfrom 15.1\n",
            &[
                "10.0.0.0/8",
                "11.0.0.0/8",
                "12.1.0.0/16",
                "14.1.2.0/24",
                "192.0.2.1/32",
                "198.51.100.0/24",
            ],
        ),
        (
            "mynetworks = 127.0.0.0/8 [::ffff:127.0.0.0]/104 [::1]/128\n",
            &["127.0.0.0/8", "::1/128", "::ffff:127.0.0.0/104"],
        ),
        (
            "v=spf1 ip4:192.0.2.0/24 ip4:198.51.100.7 ip6:2001:db8::/32 -all\n",
            &["192.0.2.0/24", "198.51.100.7/32", "2001:db8::/32"],
        ),
        (
            "cidr_blocks = [\"10.0.0.0/8\", \"0.0.0.0/0\"]\nipv6_cidr_blocks = [\"::/0\"]\n",
            &["0.0.0.0/0", "10.0.0.0/8", "::/0"],
        ),
        (
            "spec:\n  - cidr: 10.0.0.0/8\n    except:\n    - '10.1.0.0/16'\n",
            &["10.0.0.0/8", "10.1.0.0/16"],
        ),
        (
            "see http://192.0.2.1/24 and (10.0.0.0/8), 10.1.0.0/16.\n",
            &["10.0.0.0/8", "10.1.0.0/16", "192.0.2.1/32"],
        ),
        (
            "a 10.0.0.4-7 b 10.0.1.0 - 10.0.1.255 c 10.0.2.1:53 d 10.0.3.1/99\n",
            &["10.0.0.4/30", "10.0.1.0/24", "10.0.2.1/32", "10.0.3.1/32"],
        ),
        (
            "from ::/0 to x::/0 or ::/01\n10.0.0.0/8",
            &["10.0.0.0/8", "::/0"],
        ),
        (
            "set start-ip 10.0.0.1\nset other 10.0.0.9\nset start-ip 10.0.0.3",
            &["10.0.0.1/32", "10.0.0.3/32", "10.0.0.9/32"],
        ),
    ] {
        assert_eq!(found(text), wanted, "{text}");
    }
}

#[test]
fn comments_are_counted_and_host_bits_are_an_error() {
    let text = "# allow 10.0.0.0/8 and 10.1.0.0/16\nallow 192.0.2.0/24;\n";
    assert_eq!(
        table(text, false).notes,
        ["2 prefixes in comments left out"]
    );
    assert_eq!(found(text), ["192.0.2.0/24"]);
    let text = "edit 1\nset ip 192.168.1.99 255.255.255.0\n";
    let options = LoadOptions {
        format: Format::by_name("any"),
        ..STRICT.clone()
    };
    assert_eq!(
        error(text, &options),
        "t:2: \"192.168.1.99/255.255.255.0\": host bits are set beyond the prefix length; `mask` clears them"
    );
    for (pair, reason) in [
        (
            "10.0.0.5 0.0.0.255",
            "\"10.0.0.5/255.255.255.0\": host bits",
        ),
        (
            "10.0.0.1 0.0.255.0",
            "\"10.0.0.1/255.255.0.255\": the ones of the network mask are not contiguous",
        ),
        (
            "10.0.0.1/255.0.255.0",
            "\"10.0.0.1/255.0.255.0\": the ones of the network mask are not contiguous",
        ),
    ] {
        let error = error(format!("permit {pair}\n"), &options);
        assert!(error.starts_with(&format!("t:1: {reason}")), "{error}");
    }
    let masked = table(text, true);
    let prefixes: Vec<_> = masked
        .routes()
        .map(|(prefix, _)| prefix.to_string())
        .collect();
    assert_eq!(prefixes, ["192.168.1.0/24"]);
    assert_eq!(error("hello\n", &options), "t: there is no route in it");
}

/// The value of what has none is not that of another, and is counted.
#[test]
fn values() {
    let read = |text: &str, regex: &str| {
        let options = LoadOptions {
            value_regex: Some(regex.parse().unwrap()),
            ..STRICT.clone()
        };
        let table = read(text, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let name = |next_hop| table.value(next_hop);
        let routes = table.routes();
        let routes = routes.map(|(prefix, next_hop)| format!("{prefix} {}", name(next_hop)));
        (routes.collect::<Vec<_>>().join(", "), table.notes.clone())
    };
    let text = "10.0.0.0/8\n# edit \"lan\"\nset subnet 10.1.0.0 255.255.0.0\nedit \"\"\nset subnet 10.2.0.0 255.255.0.0\n\
                edit \"pool\"\nset start-ip 192.0.2.4\nedit \"other\"\nset end-ip 192.0.2.7\n";
    assert_eq!(
        read(text, "edit \"(.*)\""),
        (
            "10.1.0.0/16 lan, 192.0.2.4/30 pool".to_owned(),
            vec!["2 prefixes without a value by `value_regex` left out".to_owned()]
        )
    );
    let text =
        "list=a 10.0.0.0/8 list=b, 10.1.0.0/16\n10.2.0.0/16 list=c list=d\n10.3.0.0/16 ::/0\n";
    assert_eq!(
        read(text, r"list=(\w)").0,
        "10.0.0.0/8 a, 10.1.0.0/16 b, 10.2.0.0/16 c, 10.3.0.0/16 d, ::/0 d"
    );
    let options = LoadOptions {
        value_regex: Some("x".parse().unwrap()),
        format: Format::by_name("csv"),
        ..STRICT.clone()
    };
    assert_eq!(
        error("prefix,a\n10.0.0.0/8,1\n", &options),
        "t: csv has values of its own; `value_regex` is for `format` any"
    );
}

/// A line of many addresses takes time in proportion: in debug builds this would be minutes otherwise.
#[test]
fn long_lines() {
    let line: String = (0..6000)
        .map(|n| format!("10.{}.{}.0/24,", n / 256, n % 256))
        .collect();
    assert_eq!(found(&line).len(), 6000);
    let line: String = (0..6000)
        .map(|n| format!("range 10.{}.{}.1 ", n / 256, n % 256))
        .collect();
    assert_eq!(found(&line).len(), 6000);
}
