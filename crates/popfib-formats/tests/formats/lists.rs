//! Lists of prefixes as clouds, collectors and the kernel have them.
//!
//! What says "printed by" is output of that program of Debian 12; the rest follows the
//! documented formats.

use crate::common::{MASK, STRICT, error, named, read, read_as, routes, table_as};
use popfib_formats::{ColumnSelection, Format, LoadOptions};

/// The same with a value chosen; the notes last.
fn with_path(text: &str, path: &str) -> Vec<String> {
    let options = LoadOptions {
        columns: named(path),
        ..STRICT.clone()
    };
    let table = read(text, &options).unwrap();
    let mut lines = routes(&table);
    lines.extend(table.absent.into_iter().chain(table.notes));
    lines
}

#[test]
fn spamhaus() {
    let text = "; Spamhaus DROP List 2026/01/01 - (c) 2026 The Spamhaus Project SLU\n\
                ; https://www.spamhaus.org/drop/drop.txt\n\
                1.10.16.0/20 ; SBL256894\n2a06:e480::/29 ; SBL301771\n";
    assert_eq!(read_as("text", text), ["1.10.16.0/20 ", "2a06:e480::/29 "]);
    let json = "{\"cidr\":\"1.10.16.0/20\",\"sblid\":\"SBL256894\",\"rir\":\"apnic\"}\n\
                {\"cidr\":\"2a06:e480::/29\",\"sblid\":\"SBL301771\",\"rir\":\"ripencc\"}\n\
                {\"type\":\"metadata\",\"timestamp\":1767225600,\"size\":99,\"records\":2,\"copyright\":\"(c)\",\"terms\":\"x\"}\n";
    assert_eq!(
        read_as("json-lines", json),
        ["1.10.16.0/20 SBL256894", "2a06:e480::/29 SBL301771"]
    );
    assert_eq!(
        with_path(json, "rir"),
        ["1.10.16.0/20 apnic", "2a06:e480::/29 ripencc"]
    );
}

#[test]
fn json_lines_without_values() {
    let text = "{\"prefix\":\"10.0.0.0/8\"}\n{\"prefix\":\"192.0.2.0/24\"}\n";
    assert_eq!(
        read_as("json-lines", text),
        ["10.0.0.0/8 ", "192.0.2.0/24 "]
    );
    let mixed = "{\"prefix\":\"10.0.0.0/8\"}\n{\"prefix\":\"192.0.2.0/24\",\"asn\":1}\n";
    assert_eq!(
        error(mixed, &STRICT),
        "t:2: a value in a list, the first element of which has none: \"1\""
    );
    let mixed = "{\"prefix\":\"10.0.0.0/8\",\"asn\":1}\n{\"prefix\":\"192.0.2.0/24\"}\n";
    assert_eq!(
        error(mixed, &STRICT),
        "t:2: no value after \"192.0.2.0/24\""
    );
}

#[test]
fn ranges_in_json() {
    assert_eq!(
        read_as(
            "json-lines",
            "{\"prefix\":\"10.0.0.0-10.0.0.5\",\"asn\":1}\n{\"cidr\":\"10.1.0.0/16\",\"asn\":2}\n"
        ),
        ["10.0.0.0/30 1", "10.0.0.4/31 1", "10.1.0.0/16 2"]
    );
    let text = "{\"a\":[\"10.0.0.0-10.0.0.3\",\"10.1.0.0/16\"],\"versions\":[\"1.2-3\"],\"nets\":[{\"prefix\":\"10.2.0.0-10.2.0.1\"}]}";
    assert_eq!(
        read_as("json-lists", text),
        ["10.0.0.0/30 a", "10.1.0.0/16 a", "10.2.0.0/31 nets"]
    );
    assert_eq!(
        error("[{\"prefix\":\"10.0.0.9-10.0.0.1\",\"asn\":1}]", &STRICT),
        "t:1: \"10.0.0.9-10.0.0.1\": the first address of the range is after the last"
    );
}

#[test]
fn columns_and_objects_that_hold_a_prefix_or_an_address_alone() {
    for (text, wanted) in [
        (
            "prefix\n10.0.0.0/8\n2001:db8::/32\n",
            ["10.0.0.0/8 ", "2001:db8::/32 "],
        ),
        (
            "\u{feff}\"Network\"\r\n\"10.0.0.0/8\"\r\n\"192.0.2.1\"\r\n",
            ["10.0.0.0/8 ", "192.0.2.1/32 "],
        ),
        (
            "# bad\nip\n192.0.2.1\n\n198.51.100.7\n",
            ["192.0.2.1/32 ", "198.51.100.7/32 "],
        ),
        (
            "IP Address\n192.0.2.1\n10.0.0.0/8\n",
            ["10.0.0.0/8 ", "192.0.2.1/32 "],
        ),
        (
            "start_ip,end_ip\n10.0.0.0,10.0.1.255\n2001:db8::,2001:db8::1\n",
            ["10.0.0.0/23 ", "2001:db8::/127 "],
        ),
        // A prefix says more than the address that it is for.
        (
            "ip,prefix,asn\n10.1.1.1,10.0.0.0/8,1\n192.0.2.1,192.0.2.0/24,2\n",
            ["10.0.0.0/8 1", "192.0.2.0/24 2"],
        ),
    ] {
        assert_eq!(read_as("csv", text), wanted, "{text}");
    }
    for (line, reason) in [
        ("10.0.0.0/8,1", "more fields than the heading has names"),
        ("east", "\"east\": "),
        ("10.0.0.1/8", "\"10.0.0.1/8\": "),
    ] {
        let message = error(format!("prefix\n10.0.0.0/8\n{line}\n"), &STRICT);
        assert!(message.starts_with(&format!("t:3: {reason}")), "{message}");
    }
    let lines = "{\"ip\":\"192.0.2.1\"}\n{\"ip\":\"198.51.100.7\"}\n";
    let wanted = ["192.0.2.1/32 ", "198.51.100.7/32 "];
    assert_eq!(read_as("json-lines", lines), wanted);
    let array = format!("[{}]", lines.trim().replace('\n', ","));
    assert_eq!(read_as("json", &array), wanted);
    let answers = "{\"address\":\"10.1.1.1\",\"prefix\":\"10.0.0.0/8\",\"next_hop\":\"a\"}\n\
                   {\"address\":\"192.0.2.1\",\"prefix\":null,\"next_hop\":null}\n";
    assert_eq!(read_as("json-lines", answers), ["10.0.0.0/8 a"]);
    let log = format!("{answers}{{\"address\":\"10.1.1.1\",\"asn\":1}}\n");
    assert_eq!(
        error(log, &STRICT),
        "t:3: no prefix in this object; `prefix_column` names the member that has it"
    );
}

const AWS: &str = r#"{
  "syncToken": "1767225600",
  "createDate": "2026-01-01-00-00-00",
  "prefixes": [
    {
      "ip_prefix": "3.5.140.0/22",
      "region": "ap-northeast-2",
      "service": "AMAZON",
      "network_border_group": "ap-northeast-2"
    },
    {
      "ip_prefix": "3.5.140.0/22",
      "region": "ap-northeast-2",
      "service": "S3",
      "network_border_group": "ap-northeast-2"
    }
  ],
  "ipv6_prefixes": [
    {
      "ipv6_prefix": "2600:1f00:c000::/40",
      "region": "us-west-1",
      "service": "EC2",
      "network_border_group": "us-west-1"
    }
  ]
}
"#;

/// Documented formats: the files themselves are the clouds'.
#[test]
fn address_files_of_clouds() {
    let table = table_as("json-lists", AWS);
    assert_eq!(
        routes(&table),
        [
            "3.5.140.0/22 ap-northeast-2",
            "2600:1f00:c000::/40 us-west-1"
        ]
    );
    assert_eq!(table.replaced, 1);
    assert_eq!(
        with_path(AWS, "service"),
        ["3.5.140.0/22 S3", "2600:1f00:c000::/40 EC2"]
    );
    let on_one_line = AWS.replace(['\n', ' '], "");
    assert_eq!(read_as("json-lists", &on_one_line), routes(&table));

    let google = r#"{"syncToken":"1","creationTime":"2026-01-01T00:00:00","prefixes":[
        {"ipv4Prefix":"34.1.208.0/20","service":"Google Cloud","scope":"africa-south1"},
        {"ipv6Prefix":"2600:1900:8000::/44","service":"Google Cloud","scope":"africa-south1"}]}"#;
    assert_eq!(
        read_as("json-lists", google),
        [
            "34.1.208.0/20 africa-south1",
            "2600:1900:8000::/44 africa-south1"
        ]
    );
    let goog = r#"{"prefixes":[{"ipv4Prefix":"8.8.4.0/24"},{"ipv6Prefix":"2001:4860::/32"}]}"#;
    assert_eq!(
        read_as("json-lists", goog),
        ["8.8.4.0/24 prefixes", "2001:4860::/32 prefixes"]
    );

    let azure = r#"{"changeNumber":1,"cloud":"Public","values":[
        {"name":"ActionGroup","id":"ActionGroup","properties":{"changeNumber":9,"region":"","regionId":0,
         "platform":"Azure","systemService":"ActionGroup","addressPrefixes":["4.145.74.52/30","2603:1000:4::10c/126"],
         "networkFeatures":["API","NSG"]}},
        {"name":"Storage.WestEurope","id":"x","properties":{"region":"westeurope","systemService":"AzureStorage",
         "addressPrefixes":["20.38.0.0/22"]}}]}"#;
    assert_eq!(
        read_as("json-lists", azure),
        [
            "4.145.74.52/30 ActionGroup",
            "20.38.0.0/22 Storage.WestEurope",
            "2603:1000:4::10c/126 ActionGroup"
        ]
    );
    assert_eq!(
        with_path(azure, "properties.region"),
        [
            "4.145.74.52/30 ",
            "20.38.0.0/22 westeurope",
            "2603:1000:4::10c/126 ",
            "2 routes without properties.region"
        ]
    );

    let github = r#"{"verifiable_password_authentication":false,
        "ssh_key_fingerprints":{"SHA256_RSA":"uNiVztksCsDhcc0u9e8BgrJXVGLdzz"},
        "ssh_keys":["ssh-ed25519 AAAA","ecdsa-sha2-nistp256 AAAA"],
        "hooks":["192.30.252.0/22","2a0a:a440::/29"],"git":["4.208.26.197/32"],
        "domains":{"website":["*.github.com"],"artifact":{"trust_domain":"x","services":["*.a.com"]}}}"#;
    assert_eq!(
        read_as("json-lists", github),
        [
            "4.208.26.197/32 git",
            "192.30.252.0/22 hooks",
            "2a0a:a440::/29 hooks"
        ]
    );

    let cloudflare = "173.245.48.0/20\n103.21.244.0/22\n2400:cb00::/32";
    assert_eq!(
        read_as("text", cloudflare),
        ["103.21.244.0/22 ", "173.245.48.0/20 ", "2400:cb00::/32 "]
    );
    let api = r#"{"result":{"ipv4_cidrs":["173.245.48.0/20"],"ipv6_cidrs":["2400:cb00::/32"],"etag":"38"},"success":true,"errors":[],"messages":[]}"#;
    assert_eq!(
        read_as("json-lists", api),
        ["173.245.48.0/20 ipv4_cidrs", "2400:cb00::/32 ipv6_cidrs"]
    );
    let oracle = r#"{"last_updated_timestamp":"2026","regions":[{"region":"us-phoenix-1",
        "cidrs":[{"cidr":"129.146.0.0/21","tags":["OCI"]},{"cidr":"130.35.0.0/22","tags":["OSN","1.2.3"]}]}]}"#;
    assert_eq!(
        with_path(oracle, "region"),
        ["129.146.0.0/21 us-phoenix-1", "130.35.0.0/22 us-phoenix-1"]
    );
    assert_eq!(
        read_as("json-lists", r#"["10.0.0.0/8", "10.1.0.0/16"]"#).len(),
        2
    );
}

#[test]
fn what_is_wrong_in_lists_of_json() {
    for (text, reason) in [
        ("{\"a\":[\"10.0.0.0/8\",\n\"10.0.0.0/33\"]}", "t:2: "),
        ("{\"a\":[\"10.0.0.0/8\",\n\"10.0.0.1/8\"]}", "t:2: "),
        ("{\"a\":[{\"ip_prefix\":\"x\"}]}", "t:1: \"x\""),
        ("{\"a\":[\"10.0.0.0/8\"", "t:1: the JSON is cut off"),
        (
            "{\"a\":[\"ssh\",\"x\"],\"b\":[{\"prefix\":null}]}",
            "t: there is no route in it",
        ),
    ] {
        let message = error(text, &STRICT);
        assert!(message.starts_with(reason), "{text}: {message}");
    }
    let masked = "{\"a\":[\"10.0.0.1/8\"]}";
    assert_eq!(routes(&read(masked, &MASK).unwrap()), ["10.0.0.0/8 a"]);
    // Deeper than any list of prefixes, and no more than an error.
    let deep = format!(
        "{{\"a\":[{}\"10.0.0.0/8\"{}]}}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert!(
        error(
            deep,
            &LoadOptions {
                format: Format::by_name("json-lists"),
                ..STRICT.clone()
            }
        )
        .len()
            < 200
    );
}

#[test]
fn geofeeds() {
    let text = "# RFC 8805\n192.0.2.0/24,US,US-AL,Alabaster,\n192.0.2.5,US,US-AL,Alabaster,\n2001:db8::/32,PL,PL-MZ,\"a, b\",02-784\n203.0.113.0/24,,,,\n";
    let table = table_as("geofeed", text);
    assert_eq!(
        routes(&table),
        [
            "192.0.2.0/24 US",
            "192.0.2.5/32 US",
            "203.0.113.0/24 ",
            "2001:db8::/32 PL"
        ]
    );
    assert_eq!(table.remarks(), ["1 route without country"]);
    // A column that nobody asked for by name is the value, as in other files of one.
    assert_eq!(table.columns, ColumnSelection::Value);
    assert_eq!(with_path(text, "region")[3], "2001:db8::/32 PL-MZ");
    assert_eq!(with_path(text, "4")[3], "2001:db8::/32 a, b");
    let options = LoadOptions {
        columns: named("asn"),
        ..STRICT.clone()
    };
    assert_eq!(
        error(text, &options),
        "t:2: no column \"asn\" in \"country\", \"region\", \"city\", \"postal\""
    );
}

#[test]
fn riswhois() {
    let text = "% This is RIS RAW data\n%\n\n13335\t1.0.0.0/24\t394\n64500\t1.0.0.0/24\t3\n{64500,64501}\t2001:db8::/32\t12\n";
    assert_eq!(
        read_as("riswhois", text),
        ["1.0.0.0/24 13335", "2001:db8::/32 {64500,64501}"]
    );
    let message = error("1\t1.0.0.0/24\t5\nx\t1.0.0.0/24\t5\n", &STRICT);
    assert!(message.starts_with("t:2: "), "{message}");
}

/// Printed by `ip route show table all` of iproute2 6.1.
const TABLES: &str = "\
blackhole 198.51.100.0/24 table 10 
192.0.2.0/24 via 10.0.0.3 dev t0 table 100 linkdown 
default via 10.0.0.9 dev t0 linkdown 
10.0.0.0/24 dev t0 proto kernel scope link src 10.0.0.1 linkdown 
192.0.2.0/24 via 10.0.0.2 dev t0 linkdown 
local 10.0.0.1 dev t0 table local proto kernel scope host src 10.0.0.1 
broadcast 10.0.0.255 dev t0 table local proto kernel scope link src 10.0.0.1 linkdown 
2001:db8:1::/48 via 2001:db8::2 dev t0 table 100 metric 1024 linkdown pref medium
2001:db8::/64 dev t0 proto kernel metric 256 linkdown pref medium
local ::1 dev lo table local proto kernel metric 0 pref medium
";

#[test]
fn one_table_of_all() {
    let of = |name: &str| {
        let options = LoadOptions {
            table: Some(name.into()),
            ..STRICT.clone()
        };
        read(TABLES, &options).map(|table| (routes(&table), table.notes))
    };
    let main = [
        "0.0.0.0/0 10.0.0.9",
        "10.0.0.0/24 t0",
        "192.0.2.0/24 10.0.0.2",
        "2001:db8::/64 t0",
    ];
    for name in ["main", "254"] {
        let (routes, notes) = of(name).unwrap();
        assert_eq!(routes, main);
        let name = format!("6 routes of other tables than \"{name}\" left out");
        assert_eq!(notes, [name]);
    }
    assert_eq!(
        of("100").unwrap().0,
        ["192.0.2.0/24 10.0.0.3", "2001:db8:1::/48 2001:db8::2"]
    );
    assert_eq!(
        of("blue").unwrap_err().to_string(),
        "t: there is no route in it from table \"blue\"; 10 routes of other tables than \"blue\" left out"
    );
    assert!(error(TABLES, &STRICT).contains("a file is one table"));
    let options = LoadOptions {
        table: Some("main".into()),
        ..STRICT.clone()
    };
    assert_eq!(
        error("10.0.0.0/8 a\n", &options),
        "t: text has no tables to choose from"
    );
}

/// Printed by `route -n` and `route -n -6` of net-tools 2.10.
#[test]
fn route_n() {
    let ipv4 = "Kernel IP routing table\n\
                Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n\
                0.0.0.0         10.0.0.9        0.0.0.0         UG    0      0        0 t0\n\
                10.0.0.0        0.0.0.0         255.255.255.0   U     0      0        0 t0\n\
                192.0.2.0       10.0.0.2        255.255.255.0   UG    0      0        0 t0\n";
    assert_eq!(
        read_as("route-n", ipv4),
        [
            "0.0.0.0/0 10.0.0.9",
            "10.0.0.0/24 t0",
            "192.0.2.0/24 10.0.0.2"
        ]
    );
    let ipv6 = "Kernel IPv6 routing table\n\
                Destination                    Next Hop                   Flag Met Ref  Use If\n\
                2001:db8:1::/48                2001:db8::2                UG   1024 1      0 t0\n\
                ::/0                           ::                         !n   -1  1      0 lo\n\
                2001:db8::/64                  ::                         U    256 1      0 t0\n";
    assert_eq!(
        read_as("route-n", ipv6),
        ["2001:db8::/64 t0", "2001:db8:1::/48 2001:db8::2"]
    );
}

#[test]
fn hosts() {
    let text = "# own\n127.0.0.1 localhost localhost.localdomain\n::1 localhost ip6-localhost # x\n\
                fe80::1%lo0 localhost\n0.0.0.0 ads.example\n0.0.0.0\ttrack.example t\n";
    let table = table_as("hosts", text);
    assert_eq!(
        routes(&table),
        [
            "0.0.0.0/32 track.example",
            "127.0.0.1/32 localhost",
            "::1/128 localhost",
            "fe80::1/128 localhost"
        ]
    );
    assert_eq!(table.replaced, 1);
    for (line, reason) in [
        ("10.0.0.1", "no name after \"10.0.0.1\""),
        ("10.0.0.0/8 a", "\"10.0.0.0/8\": not an address"),
    ] {
        let message = error(format!("127.0.0.1 localhost\n{line}\n"), &STRICT);
        assert_eq!(message, format!("t:2: {reason}"));
    }
}

#[test]
fn objects_of_rpsl() {
    let text = "% This is an example of a registry.\n\n\
        route:          192.0.2.0/24\ndescr:          Example\n                Vienna # not this\norigin:         AS64500 # nor this\n\
        mnt-by:         A-MNT\nmnt-by:         B-MNT\nsource:         RIPE\n\n\
        mntner:         A-MNT\nroute:          10.0.0.0/8\nauth: what?\nno attribute\n\n\
        route:          198.51.100.0/24\ndescr:          without\n+\n+ origin\n\n\
        route6:         2001:db8::/32\norigin:         AS64501\n";
    let table = table_as("rpsl", text);
    assert_eq!(
        routes(&table),
        [
            "192.0.2.0/24 AS64500",
            "198.51.100.0/24 ",
            "2001:db8::/32 AS64501"
        ]
    );
    assert_eq!(table.remarks(), ["1 route without origin"]);
    assert_eq!(
        with_path(text, "descr"),
        [
            "192.0.2.0/24 Example Vienna",
            "198.51.100.0/24 without origin",
            "2001:db8::/32 ",
            "1 route without descr"
        ]
    );
    assert_eq!(with_path(text, "mnt-by")[0], "192.0.2.0/24 A-MNT");
    let origins = LoadOptions {
        value: popfib_formats::RouteValue::OriginAs,
        ..STRICT.clone()
    };
    assert_eq!(
        routes(&read(text, &origins).unwrap())[0],
        "192.0.2.0/24 64500"
    );
    let all = LoadOptions {
        columns: ColumnSelection::All,
        ..STRICT.clone()
    };
    let records = read(text, &all).unwrap().content.records;
    let names: Vec<_> = records
        .columns()
        .iter()
        .map(|column| column.name())
        .collect();
    assert_eq!(names, ["descr", "origin", "mnt-by", "source"]);
    for (from, to, reason) in [
        (
            "192.0.2.0/24",
            "192.0.2.1/24",
            "t:3: \"192.0.2.1/24\": host bits are set beyond the prefix length; `mask` clears them",
        ),
        (
            "source:  ",
            "Source   ",
            "t:9: \"Source          RIPE\": not an attribute",
        ),
    ] {
        assert_eq!(error(text.replace(from, to), &STRICT), reason);
    }
    let message = error(
        text,
        &LoadOptions {
            columns: named("city"),
            ..STRICT.clone()
        },
    );
    assert_eq!(
        message,
        "t: no column \"city\" in \"descr\", \"origin\", \"mnt-by\", \"source\""
    );
}
