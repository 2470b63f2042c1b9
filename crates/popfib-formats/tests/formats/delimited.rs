//! CSV, TSV, ranges, pfx2as, pyasn and JSON records, as the public data sets have them.

use crate::common::{MASK, SKIP, STRICT, error, named, read, read_as, routes, table_as};
use popfib_formats::{Format, LoadOptions};

#[test]
fn ranges_become_prefixes() {
    let iptoasn = "1.0.0.0\t1.0.0.255\t13335\tUS\tCLOUDFLARENET\n\
        1.0.1.0\t1.0.3.255\t0\tNone\tNot routed\n\
        1.0.4.0\t1.0.6.255\t38803\tAU\tWPL-AS-AP \"Wirefreebroadband\" Pty Ltd\n\
        2001:200::\t2001:200:1:ffff:ffff:ffff:ffff:ffff\t2500\tJP\tWIDE-BB\n";
    assert_eq!(
        read_as("csv", iptoasn),
        [
            "1.0.0.0/24 13335",
            "1.0.4.0/23 38803",
            "1.0.6.0/24 38803",
            "2001:200::/47 2500"
        ]
    );
    let location = "1.0.0.0,1.0.0.255,13335,\"Cloudflare, Inc.\"\r\n1.0.0.9,1.0.0.9,US,\"\"\r\n";
    assert_eq!(
        read_as("csv", location),
        ["1.0.0.0/24 13335", "1.0.0.9/32 US"]
    );
    let numbers = "\"16777216\",\"16777471\",\"US\",\"United States\"\n\"16777472\",\"16778239\",\"CN\",\"China\"\n";
    assert_eq!(
        read_as("csv", numbers),
        ["1.0.0.0/24 US", "1.0.1.0/24 CN", "1.0.2.0/23 CN"]
    );
    // A file of IPv6 begins with a number beyond IPv4, also after one of IPv4. What could be either is
    // not guessed.
    let ipv6 = "\"0\",\"4294967296\",\"-\"\n\"5\",\"4294967297\",\"X\"\n";
    let both = "\"5\",\"5\",\"Y\"\n".to_owned() + &ipv6.replace("5", "0");
    assert_eq!(read_as("csv", &both)[0], "0.0.0.5/32 Y");
    assert_eq!(
        error(
            format!("{}\"5\",\"5\",\"Y\"\n", ipv6.replace("5", "0")),
            &STRICT
        ),
        "t:3: 5 to 5: numbers of IPv4 after those of IPv6, which may be either"
    );
    let heading = "Start IP;End IP;Country Code\n10.0.0.0;10.0.0.1;DE\n";
    assert_eq!(read_as("csv", heading), ["10.0.0.0/31 DE"]);
}

#[test]
fn ranges_in_one_cell() {
    assert_eq!(
        read_as(
            "csv",
            "network,asn\n10.0.0.0-10.0.0.9,1\n10.0.0.0/29,2\n10.1.0.4 - 10.1.0.7,3\n8.8.8.*,4\n"
        ),
        [
            "8.8.8.0/24 4",
            "10.0.0.0/29 2",
            "10.0.0.8/31 1",
            "10.1.0.4/30 3"
        ]
    );
    assert_eq!(
        read_as("csv", "\"1.0.0.0-1.0.0.255\",\"AU\",\"Australia\"\n"),
        ["1.0.0.0/24 AU"]
    );
    assert_eq!(read_as("text", "1.0.0.0-1.0.0.255,AU\n"), ["1.0.0.0/24 AU"]);
    assert_eq!(
        error("network,asn\n10.0.0.9-10.0.0.0,1\n", &STRICT),
        "t:2: \"10.0.0.9-10.0.0.0\": the first address of the range is after the last"
    );
}

#[test]
fn headings_name_the_columns() {
    let geolite = "network,autonomous_system_number,autonomous_system_organization\n\
        1.0.0.0/24,13335,CLOUDFLARENET\n2001:200::/32,2500,\"WIDE, Project\"\n";
    assert_eq!(
        read_as("csv", geolite),
        ["1.0.0.0/24 13335", "2001:200::/32 2500"]
    );
    let blocks = "network,geoname_id,registered_country_geoname_id,is_anonymous_proxy\n\
        1.0.0.0/24,2077456,1861060,0\n1.0.1.0/24,,1814991,0\n";
    assert_eq!(
        read_as("csv", blocks),
        ["1.0.0.0/24 2077456", "1.0.1.0/24 1814991"]
    );
    let other = "# tenants\nTenant\tCIDR\na b\t10.0.0.0/8\n";
    assert_eq!(read_as("csv", other), ["10.0.0.0/8 a b"]);
    assert_eq!(read_as("csv", "10.0.0.0/8,1,x\n"), ["10.0.0.0/8 1"]);
    // Braces of a name are not those of a set that was cut at its commas.
    let braces = "prefix,name\n10.0.0.0/8,\"{1,2} x\"\n11.0.0.0/8,{ 7\n12.0.0.0/8,{\n";
    assert_eq!(
        read_as("csv", braces),
        ["10.0.0.0/8 {1,2} x", "11.0.0.0/8 { 7", "12.0.0.0/8 {"]
    );
    let masked = read("network,asn\n10.0.0.1/8,1\n", &MASK).unwrap();
    assert_eq!(routes(&masked), ["10.0.0.0/8 1"]);
}

#[test]
fn as_files_of_caida_and_pyasn() {
    let pfx2as = "1.0.0.0\t24\t13335\n1.0.4.0\t22\t38803_56203\n2001:200::\t32\t2500,7660\n";
    assert_eq!(
        read_as("pfx2as", pfx2as),
        [
            "1.0.0.0/24 13335",
            "1.0.4.0/22 38803_56203",
            "2001:200::/32 2500,7660"
        ]
    );
    let pyasn = "; IP-ASN32-DAT file\n; Original file : <MRT>\n1.0.0.0/24\t13335\n";
    assert_eq!(read_as("text", pyasn), ["1.0.0.0/24 13335"]);
}

#[test]
fn json_records() {
    let lines = "{\"prefix\":\"10.0.0.0/8\",\"next_hop\":\"192.0.2.1\"}\n\n\
        {\"address\":\"9.9.9.9\",\"prefix\":null,\"next_hop\":null}\n\
        {\"asn\":64496,\"country\":\"DE\",\"network\":\"2001:db8::/32\"}\n\
        {\"cidr\":\"10.1.0.0/16\",\"name\":{\"x\":1},\"Origin-AS\":\"AS7\"}\r\n";
    assert_eq!(
        read_as("json-lines", lines),
        [
            "10.0.0.0/8 192.0.2.1",
            "10.1.0.0/16 AS7",
            "2001:db8::/32 64496"
        ]
    );
    let array = "[ {\"prefix\":\"10.0.0.0/8\",\n\"value\":true},{\"prefix\":\"11.0.0.0/8\",\"value\":-1.5}\n]";
    assert_eq!(
        read_as("json", array),
        ["10.0.0.0/8 true", "11.0.0.0/8 -1.5"]
    );
}

#[test]
fn faults_name_the_line() {
    for (text, wanted) in [
        (
            "1.0.0.0,1.0.0.255,x\n1.0.1.9,1.0.1.0,x\n",
            "t:2: \"1.0.1.9\" to \"1.0.1.0\": the first address of the range is after the last",
        ),
        (
            "1.0.0.0,1.0.0.255,x\n1.0.1.9,::1,x\n",
            "t:2: \"1.0.1.9\" to \"::1\": the ends of the range are of two families",
        ),
        (
            "1.0.0.0,1.0.0.255,x\n1.0.1.9,hello,x\n",
            "t:2: \"hello\": not an address",
        ),
        (
            "1.0.0.0,1.0.0.255,x\n1.0.1.0,1.0.1.9\n",
            "t:2: field 3 is missing",
        ),
        ("1.0.0.0,1.0.0.255,x\n1.0.1.0\n", "t:2: field 2 is missing"),
        (
            "1.0.0.0,1.0.0.255,x\n\"1.0.1.0,1.0.1.9,x\n",
            "t:2: a quote is not closed on this line",
        ),
        (
            "1.0.0.0,1.0.0.255,x\n1.0.1.0,1.0.1.9,\u{1}\n",
            "t:2: this is not text: control character U+0001",
        ),
        (
            "network,asn\n1.0.0.1/24,5\n",
            "t:2: \"1.0.0.1/24\": host bits",
        ),
        (
            "network,asn\n1.0.0.0/24,5,6\n",
            "t:2: more fields than the heading has names",
        ),
        (
            "network,asn\n1.0.0.0/24,\"a\"b\n",
            "t:2: text after the closing quote of a field: \"b\"",
        ),
        (
            "10.0.0.0/8,{64500,64501},x\n",
            "t:1: more than a prefix and a next hop",
        ),
        (
            "1.0.0.0/24,1,x\n10.0.0.0/8,{64500,64501},x\n",
            "t:2: \"{64500\": a set with commas needs quotes around it",
        ),
        (
            "1.0.0.0;1.0.0.255\n",
            "t:1: \"1.0.0.0 1.0.0.255\": a range, or a host and its next hop?",
        ),
        (
            "\"1.0.0.0\",\"0.0.0.255\"\n",
            "t:1: \"1.0.0.0 0.0.0.255\": a wildcard mask",
        ),
        (
            "network,nm,asn\n1.0.0.0,255.0.0.0,5\n",
            "t:2: an address and its mask, in column 2, which the heading does not call netmask: \"1.0.0.0/255.0.0.0\"",
        ),
        (
            "network,netmask,asn\n1.0.0.0,,5\n",
            "t:2: no mask or length for \"1.0.0.0\"",
        ),
        (
            "network,mask,asn\n1.0.0.0,0.0.0.255,5\n",
            "t:2: \"1.0.0.0/0.0.0.255\": the ones of the network mask",
        ),
        (
            "network,wildcard,asn\n1.0.0.0,255.255.255.0,5\n",
            "t:2: \"1.0.0.0/0.0.0.255\": the ones of the network mask",
        ),
        (
            "{\"subnet\":\"10.0.0.1\",\"mask\":\"255.0.0.0\",\"asn\":1}\n",
            "t:1: \"10.0.0.1/255.0.0.0\": host bits",
        ),
        ("network,asn\n,5\n", "t:2: field 1 is missing"),
        (
            "{\"prefix\":\"10.0.0.0/8\",\"value\":1}\n{\"prefix\":\"10.0.0.1/8\",\"value\":1}\n",
            "t:2: \"10.0.0.1/8\": host bits",
        ),
        (
            "{\"prefix\":\"10.0.0.0/8\",\"value\":1}\n{\"value\":1}\n",
            "t:2: no prefix in this object",
        ),
        (
            "{\"prefix\":\"10.0.0.0/8\",\"value\":1}\n{\"prefix\":\"11.0.0.0/8\"}\n",
            "t:2: no value after \"11.0.0.0/8\"",
        ),
        (
            "{\"prefix\":\"10.0.0.0/8\",\"value\":1}\n{\"prefix\":\"11.0.0.0/8\"",
            "t:2: EOF while parsing an object",
        ),
        (
            "{\"prefix\":\"10.0.0.0/8\",\"value\":\"a\\nb\"}\n",
            "t:1: \"a\\nb\": a next hop with a control character",
        ),
        (
            "{\"prefix\":\"10.0.0.0/8\",\"value\":1} x\n",
            "t:1: trailing characters",
        ),
        (
            "[{\"prefix\":\"10.0.0.0/8\",\"value\":1}\n,7]",
            "t:2: invalid type: integer `7`, expected an object",
        ),
        (
            "[{\"prefix\":\"10.0.0.0/8\",\"value\":1}\n",
            "t:2: the JSON is cut off",
        ),
    ] {
        let seen = error(text, &STRICT);
        assert!(
            seen.starts_with(wanted),
            "{text:?}\n gives {seen}\nwanted {wanted}"
        );
    }
}

#[test]
fn without_the_column_there_is_nothing_to_read() {
    let csv = Format::by_name("csv");
    let options = popfib_formats::LoadOptions {
        format: csv,
        ..STRICT.clone()
    };
    let wanted = "t:1: no column for a prefix (such as prefix, network, cidr) or a range (start_ip, end_ip), and a value, in \"a\", \"b\", \"c\"; `prefix_column` names it, also by its number, and `length_column` that of its length";
    assert_eq!(error("a,b,c\n10,1,2\n", &options), wanted);
    let skip = popfib_formats::LoadOptions {
        format: csv,
        ..SKIP.clone()
    };
    assert_eq!(error("a,b,c\n10,1,2\n", &skip), wanted);
    // Two columns of addresses are those of a log, mostly.
    let two = error("src,dst,bytes\n10.0.0.1,10.0.0.2,1\n", &options);
    assert!(
        two.contains("prefixes in the columns \"src\" and \"dst\"; `prefix_column` chooses one")
    );
}

#[test]
fn the_column_of_values_can_be_chosen() {
    let with = |column: &str| popfib_formats::LoadOptions {
        columns: named(column),
        ..STRICT.clone()
    };
    let named = "network,asn,country,as name\n10.0.0.0/8,64500,AA,\"a, b\"\n";
    for (column, value) in [("country", "AA"), ("as name", "a, b"), ("2", "64500")] {
        let table = read(named, &with(column)).unwrap();
        assert_eq!(routes(&table), [format!("10.0.0.0/8 {value}")], "{column}");
    }
    let ranges = "10.0.0.0\t10.0.0.255\t64500\tAA\tname\n";
    let table = read(ranges, &with("4")).unwrap();
    assert_eq!(routes(&table), ["10.0.0.0/24 AA"]);
    let column = |text, column| error(text, &with(column));
    assert!(
        column(named, "city").contains("no column \"city\" in \"network\", \"asn\""),
        "{}",
        column(named, "city")
    );
    for name in ["0", "9", "country"] {
        let error = column(ranges, name);
        assert!(
            error.starts_with("t:1: no heading, and no column"),
            "{error}"
        );
    }
    let all_absent = "network,asn,country\n10.0.0.0/8,64500,\n";
    let table = read(all_absent, &with("country")).unwrap();
    assert_eq!(routes(&table), ["10.0.0.0/8 "]);
    assert_eq!(table.remarks(), ["1 route without country"]);
    let number = table.routes().next().unwrap().1;
    assert_eq!(popfib_formats::LookupTable::from(table).value(number), None);
}

#[test]
fn the_value_of_json_objects_can_be_chosen() {
    let objects = [
        r#"{"prefix":"10.0.0.0/8","asn":1,"geo":{"city":"A","tags":["x","y"]}}"#,
        r#"{"prefix":"11.0.0.0/8","asn":2,"geo":{"city":null,"tags":["x",7]}}"#,
        r#"{"prefix":"12.0.0.0/8","geo":"nowhere","a/b~c":true}"#,
    ];
    let with = |path: &str| popfib_formats::LoadOptions {
        columns: named(path),
        ..STRICT.clone()
    };
    let documents = [objects.join("\n"), format!("[{}]", objects.join(","))];
    for document in &documents {
        let chosen = |path, wanted: &[&str], note: &str| {
            let table = read(document.as_str(), &with(path)).unwrap();
            assert_eq!(routes(&table), wanted, "{path}");
            assert_eq!(table.remarks(), [note], "{path}");
        };
        let cities = ["10.0.0.0/8 A", "11.0.0.0/8 ", "12.0.0.0/8 "];
        chosen("geo.city", &cities, "2 routes without geo.city");
        let tags = ["10.0.0.0/8 y", "11.0.0.0/8 7", "12.0.0.0/8 "];
        chosen("geo.tags[1]", &tags, "1 route without geo.tags[1]");
        let others = ["10.0.0.0/8 ", "11.0.0.0/8 ", "12.0.0.0/8 true"];
        chosen("a/b~c", &others, "2 routes without a/b~c");
        let none = error(document.as_str(), &with("city"));
        let there = r#""asn", "geo.city", "geo.tags", "geo", "a/b~c""#;
        assert_eq!(none, format!("t: no column \"city\" in {there}"));
    }
}

#[test]
fn a_value_with_a_tab_is_refused() {
    let tab = r#"{"prefix":"10.0.0.0/8","next_hop":"a\tb"}"#;
    let message = error(tab, &STRICT);
    assert_eq!(
        message,
        r#"t:1: "a\tb": a next hop with a control character"#
    );
    let message = error("prefix,name\n10.0.0.0/8,\"a\tb\"\n", &STRICT);
    assert_eq!(
        message,
        r#"t:2: "a\tb": a next hop with a control character"#
    );
}

#[test]
fn statistics_of_registries() {
    let text = "# NRO\n2.3|nro|20240101|7|19830101|20231231|+0000\nnro|*|ipv4|*|5|summary\n\
                ripencc|DE|ipv4|193.18.0.0|73728|19920922|assigned|x\nripencc|CH|ipv4|91.216.83.0|768|20100512|assigned|y\n\
                arin|US|asn|1|1|20010920|assigned|z|e-stats\napnic||ipv4|10.0.0.0|256||available|\n\
                ripencc|FR|ipv6|2001:678::|29|19990101|allocated|z\n";
    let wanted = [
        "10.0.0.0/24 ",
        "91.216.83.0/24 CH",
        "91.216.84.0/23 CH",
        "193.18.0.0/16 DE",
        "193.19.0.0/19 DE",
        "2001:678::/29 FR",
    ];
    assert_eq!(read_as("rir", text), wanted);
    assert_eq!(table_as("rir", text).remarks(), ["1 route without country"]);
    // Without the line of the version, too.
    let from = text.find("ripencc|DE").unwrap();
    assert_eq!(read_as("rir", &text[from..]), wanted);
    let status = LoadOptions {
        columns: named("status"),
        ..STRICT.clone()
    };
    let table = read(text, &status).unwrap();
    assert_eq!(routes(&table)[0], "10.0.0.0/24 available");
    for (line, reason) in [
        (
            "ripencc|DE|ipv4|193.18.0.0|0|19920922|assigned",
            "\"193.18.0.0|0\": not a number of addresses",
        ),
        (
            "ripencc|DE|ipv4|255.255.255.0|512|19920922|assigned",
            "\"255.255.255.0|512\": not a number of addresses",
        ),
        (
            "ripencc|DE|ipv4|193.18|256|19920922|assigned",
            "\"193.18\": not an address",
        ),
        (
            "ripencc|DE|ipv6|2001:678::|16|19990101|allocated",
            "\"2001:678::/16\": host bits are set beyond the prefix length; `mask` clears them",
        ),
        (
            "ripencc|DE",
            "\"ripencc|DE\": not a line of delegated statistics",
        ),
    ] {
        let text = format!("2|ripencc|20240101|1|19830101|20231231|+0000\n{line}\n");
        assert_eq!(error(text, &STRICT), format!("t:2: {reason}"));
    }
    let options = LoadOptions {
        columns: named("city"),
        ..STRICT.clone()
    };
    assert!(error(text, &options).ends_with(
        "no column \"city\" in \"country\", \"registry\", \"date\", \"status\", \"opaque_id\""
    ));
}
