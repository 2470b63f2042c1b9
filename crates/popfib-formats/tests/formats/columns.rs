//! Columns and members as everyday files have them: masks apart, values missing, quoted or repeated, rows that end early.

use crate::common::{STRICT, read, read_as, routes, table_as};
use popfib_formats::LoadOptions;

#[test]
fn what_has_no_value_stays_and_is_counted() {
    for (format, text) in [
        ("csv", "prefix,country\n10.0.0.0/24,\n10.0.0.0/25,DE\n"),
        ("csv", "prefix,country\n10.0.0.0/24,\" \"\n10.0.0.0/25,DE\n"),
        (
            "csv",
            "start_ip,end_ip,country\n10.0.0.0,10.0.0.255,\n10.0.0.0,10.0.0.127,DE\n",
        ),
        ("csv", "10.0.0.0/24,\n10.0.0.0/25,DE\n"),
        ("csv", "10.0.0.0/24\t\n10.0.0.0/25\tDE\n"),
        ("csv", "10.0.0.0/24,,x\n10.0.0.0/25,DE,y\n"),
        ("text", "10.0.0.0/25,DE\n10.0.0.0/24,\n"),
        ("text", "10.0.0.0/25\tDE\n10.0.0.0/24\t # x\n"),
        (
            "json-lines",
            "{\"prefix\":\"10.0.0.0/24\",\"asn\":null}\n{\"prefix\":\"10.0.0.0/25\",\"asn\":\"DE\"}\n",
        ),
        (
            "json",
            "[{\"prefix\":\"10.0.0.0/25\",\"asn\":\"DE\"},{\"prefix\":\"10.0.0.0/24\",\"asn\":\"\"}]",
        ),
    ] {
        let table = table_as(format, text);
        assert_eq!(routes(&table), ["10.0.0.0/24 ", "10.0.0.0/25 DE"], "{text}");
        assert_eq!(
            table.absent.as_deref(),
            Some("1 route without a value"),
            "{text}"
        );
    }
    // A list whose lines end in commas is one.
    assert_eq!(
        read_as("text", "10.0.0.0/8,\n11.0.0.0/8,\n"),
        ["10.0.0.0/8 ", "11.0.0.0/8 "]
    );
}

#[test]
fn lengths_and_masks_in_columns_of_their_own() {
    for text in [
        "network,netmask,site\n10.0.0.0,255.0.0.0,head\n10.1.0.0,255.255.0.0,lab\n",
        "site;Subnet Mask;ip\nhead;255.0.0.0;10.0.0.0\nlab;255.255.0.0;10.1.0.0\n",
        "subnet,prefixlen,site\n10.0.0.0,8,head\n10.1.0.0,/16,lab\n",
        "prefix\tlength\tsite\n10.0.0.0\t8\thead\n10.1.0.0/16\t8\tlab\n",
        "subnet,wildcard,label\n10.0.0.0,0.255.255.255,head\n10.1.0.0,0.0.255.255,lab\n",
        "10.0.0.0,255.0.0.0,head\n10.1.0.0,255.255.0.0,lab\n",
    ] {
        let wanted = ["10.0.0.0/8 head", "10.1.0.0/16 lab"];
        assert_eq!(read_as("csv", text), wanted, "{text}");
    }
    assert_eq!(
        read_as("csv", "network,netmask\n10.0.0.0,255.0.0.0\n"),
        ["10.0.0.0/8 "]
    );
    assert_eq!(
        read_as("csv", "2001:db8::,ffff:ffff::,six\n"),
        ["2001:db8::/32 six"]
    );
    // A heading says what is a next hop.
    assert_eq!(
        read_as("csv", "prefix,next_hop\n10.0.0.1,10.0.0.254\n"),
        ["10.0.0.1/32 10.0.0.254"]
    );
    // What ends all ranges is no mask.
    assert_eq!(
        read_as("csv", "224.0.0.0,255.255.255.255,x\n"),
        ["224.0.0.0/3 x"]
    );
    let object = |members: &str| format!("{{{members},\"site\":\"head\"}}");
    for members in [
        r#""network":"10.0.0.0","netmask":"255.0.0.0""#,
        r#""mask":"255.0.0.0","subnet":"10.0.0.0""#,
        r#""subnet":"10.0.0.0","prefixLength":8"#,
        r#""prefix":"10.0.0.0/8","length":24"#,
        r#""ip":"10.0.0.0","netmask":"255.0.0.0""#,
        r#""network":"10.0.0.0","wildcard_mask":"0.255.255.255""#,
    ] {
        let object = object(members);
        let wanted = ["10.0.0.0/8 head"];
        assert_eq!(
            read_as("json-lines", &format!("{object}\n")),
            wanted,
            "{object}"
        );
        assert_eq!(
            read_as("json", &format!("[{object}]\n")),
            wanted,
            "{object}"
        );
        if !members.contains("\"ip\"") {
            let lists = format!("{{\"nets\":[{}]}}\n", object.replace("site", "name"));
            assert_eq!(read_as("json-lists", &lists), wanted, "{lists}");
        }
    }
}

#[test]
fn columns_that_say_where_are_no_values() {
    let both = "start_ip,end_ip,cidr,label\n10.0.0.0,10.255.255.255,10.0.0.0/8,office\n";
    assert_eq!(read_as("csv", both), ["10.0.0.0/8 office"]);
    let other = "start_ip,end_ip,cidr,comment\n10.0.0.0,10.255.255.255,10.0.0.0/8,office\n";
    assert_eq!(read_as("csv", other), ["10.0.0.0/8 office"]);
    let maxmind = "network_start_ip,network_last_ip,geoname_id\n1.0.0.0,1.0.0.255,2077456\n";
    assert_eq!(read_as("csv", maxmind), ["1.0.0.0/24 2077456"]);
    let numbers =
        "network_start_integer,network_last_integer,geoname_id\n16777216,16777471,2077456\n";
    assert_eq!(read_as("csv", numbers), ["1.0.0.0/24 2077456"]);
}

#[test]
fn two_columns_that_text_would_read_otherwise() {
    for (text, values) in [
        (
            "10.0.0.0/8,\"east\"\n10.1.0.0/16,\"west\"\n",
            ["east", "west"],
        ),
        (
            "\"10.0.0.0/8\",\"east\"\n\"10.1.0.0/16\",\"west, wing\"\n",
            ["east", "west, wing"],
        ),
        ("10.0.0.0/8, \"east\"\n10.1.0.0/16,west\n", ["east", "west"]),
        (
            "10.0.0.0/8,\" east\"\n10.1.0.0/16,\"\"\"\"\n",
            [" east", "\""],
        ),
        (
            "10.0.0.0/8;east\n10.1.0.0/16;west wing\n",
            ["east", "west wing"],
        ),
        (
            "10.0.0.0/8\tNew York\n10.1.0.0/16\twest\n",
            ["New York", "west"],
        ),
    ] {
        let [east, west] = values;
        let wanted = [format!("10.0.0.0/8 {east}"), format!("10.1.0.0/16 {west}")];
        assert_eq!(read_as("csv", text), wanted, "{text}");
    }
    for (text, value) in [
        ("10.0.0.0/8;\"x;y\"\n", "x;y"),
        ("10.0.0.0/8;1,5\n", "1,5"),
        ("\"10.0.0.0/8\";1,5,2\n", "1,5,2"),
        ("10.0.0.0/8,\"a, b # c\"\n", "a, b # c"),
    ] {
        assert_eq!(
            read_as("csv", text),
            [format!("10.0.0.0/8 {value}")],
            "{text}"
        );
    }
    // A comment has a blank before it.
    for list in [
        "10.0.0.0/8 ; SBL1\n",
        "10.0.0.0/8 ; a; b\n",
        "10.0.0.0/8;\n",
        "10.0.0.0/8 ;a\n",
    ] {
        assert_eq!(read_as("text", list), ["10.0.0.0/8 "], "{list}");
    }
    let set = "10.0.0.0/8, {64500,64501}\n10.1.0.0/16,{1,2}\n";
    let wanted = ["10.0.0.0/8 {64500,64501}", "10.1.0.0/16 {1,2}"];
    assert_eq!(read_as("text", set), wanted);
}

#[test]
fn geofeeds_whose_rows_end_early_or_late() {
    for text in [
        "# comment\n10.0.0.0/8,AT,AT-9,Vienna,1060,/22\n10.1.0.0/16,DE,DE-BY,Munich,,\n10.2.0.0/16,,,,\n",
        "10.0.0.0/8,AT\n10.1.0.0/16,DE,DE-BY,Munich,\n10.2.0.0/16\n",
        "10.2.0.0/16,\n10.0.0.0/8,AT\n10.1.0.0/16,DE,,\n",
        "10.2.0.0/16\n10.0.0.0/8,AT,\n10.1.0.0/16,DE,,\n",
    ] {
        let table = table_as("geofeed", text);
        let wanted = ["10.0.0.0/8 AT", "10.1.0.0/16 DE", "10.2.0.0/16 "];
        assert_eq!(routes(&table), wanted, "{text}");
        assert_eq!(table.remarks(), ["1 route without country"], "{text}");
    }
    // Prefixes and countries alone are text, as ever.
    let text = "10.0.0.0/8,AT\n10.1.0.0/16 DE ; x\n";
    assert_eq!(read_as("text", text), ["10.0.0.0/8 AT", "10.1.0.0/16 DE"]);
}

/// Files in which a prefix has the values a, b, a, c, in a row or not.
const REPEATED: [(&str, &str); 6] = [
    (
        "text",
        "10.0.0.0/8 a\n10.0.0.0/8 b\n10.0.0.0/8 a\n11.0.0.0/8 b\n10.0.0.0/8 c\n",
    ),
    (
        "csv",
        "prefix,service\n10.0.0.0/8,a\n10.0.0.0/8,b\n10.0.0.0/8,a\n11.0.0.0/8,b\n10.0.0.0/8,c\n",
    ),
    (
        "csv",
        "first,last,service\n10.0.0.0,10.255.255.255,a\n10.0.0.0,10.255.255.255,b\n\
         10.0.0.0,10.255.255.255,a\n11.0.0.0,11.255.255.255,b\n10.0.0.0,10.255.255.255,c\n",
    ),
    (
        "json-lines",
        "{\"prefix\":\"10.0.0.0/8\",\"value\":\"a\"}\n{\"prefix\":\"10.0.0.0/8\",\"value\":\"b\"}\n\
         {\"prefix\":\"10.0.0.0/8\",\"value\":\"a\"}\n{\"prefix\":\"11.0.0.0/8\",\"value\":\"b\"}\n\
         {\"prefix\":\"10.0.0.0/8\",\"value\":\"c\"}\n",
    ),
    (
        "json-lists",
        "{\"a\":[\"10.0.0.0/8\"],\"b\":[\"10.0.0.0/8\",\"11.0.0.0/8\"],\"c\":[\"10.0.0.0/8\"]}\n",
    ),
    (
        "ipset",
        "create a hash:net family inet\nadd a 10.0.0.0/8\ncreate b hash:net family inet\nadd b 10.0.0.0/8\n\
         add b 11.0.0.0/8\ncreate c hash:net family inet\nadd c 10.0.0.0/8\n",
    ),
];

#[test]
fn of_several_values_the_last_wins_or_all_are_kept() {
    for (format, text) in REPEATED {
        let table = table_as(format, text);
        assert_eq!(routes(&table), ["10.0.0.0/8 c", "11.0.0.0/8 b"], "{text}");
        let told = table.replaced > 0 || table.notes.iter().any(|note| note.contains("replaced"));
        assert!(told, "{text}");
        let options = LoadOptions {
            all: true,
            ..STRICT.clone()
        };
        let table = read(text, &options).unwrap();
        let name = |n| table.value(n);
        let mut others: Vec<_> = table
            .others
            .iter()
            .map(|&(p, n)| format!("{p} {}", name(n)))
            .collect();
        others.sort();
        others.dedup();
        assert_eq!(others, ["10.0.0.0/8 a", "10.0.0.0/8 b"], "{text}");
        assert_eq!((table.replaced, &table.notes[..]), (0, &[][..]), "{text}");
    }
    let pfx2as = "10.0.0.0\t8\t1\n10.0.0.0\t8\t2\n";
    let table = table_as("pfx2as", pfx2as);
    assert_eq!(
        (routes(&table).concat(), table.replaced),
        ("10.0.0.0/8 2".to_owned(), 1)
    );
}

/// The routes of `text` with the prefix in a column that the user names, and its length.
fn with_columns(
    text: &str,
    prefix: Option<&str>,
    length: Option<&str>,
) -> Result<Vec<String>, String> {
    let options = LoadOptions {
        prefix_column: prefix.map(str::to_owned),
        length_column: length.map(str::to_owned),
        ..STRICT.clone()
    };
    let table = read(text, &options).map_err(|e| e.to_string())?;
    Ok(routes(&table))
}

#[test]
fn headings_in_use() {
    for text in [
        "CidrBlock,name\n10.0.0.0/8,a\n",
        "name;ip_range\na;10.0.0.0-10.255.255.255\n",
        "name,ipCidrRange,region\na,10.0.0.0/8,x\n",
        // By the content of the first row.
        "key,value\n10.0.0.0/8,a\n",
        "id\tDestination CIDR\tname\n7\t10.0.0.0/8\ta\n",
        "Range,Description\n\"10.0.0.0 - 10.255.255.255\",a\n",
    ] {
        assert_eq!(read_as("csv", text), ["10.0.0.0/8 a"], "{text}");
    }
    assert_eq!(read_as("csv", "ip,name\n10.0.0.1,a\n"), ["10.0.0.1/32 a"]);
    assert_eq!(
        read_as("json", "[{\"name\":\"a\",\"ipCidrRange\":\"10.0.0.0/8\"}]"),
        ["10.0.0.0/8 a"]
    );
    let groups = "{\"SecurityGroups\":[{\"GroupName\":\"a\",\"IpPermissions\":[{\"IpRanges\":[{\"CidrIp\":\"10.0.0.0/8\"}]}]}]}";
    assert_eq!(read_as("json-lists", groups), ["10.0.0.0/8 a"]);
    let subnets = "{\"Vpcs\":[{\"VpcId\":\"vpc-1\",\"CidrBlock\":\"10.0.0.0/8\"}]}";
    assert_eq!(read_as("json-lists", subnets), ["10.0.0.0/8 Vpcs"]);
}

#[test]
fn the_column_of_the_prefix_can_be_chosen() {
    for (text, prefix, length) in [
        (
            "from,to net,name\n10.1.0.0/16,10.0.0.0/8,a\n",
            "to net",
            None,
        ),
        ("x,10.0.0.0/8\n", "2", None),
        ("host,bits,name\n10.0.0.0,8,a\n", "host", Some("bits")),
        ("host,bits,name\n10.0.0.0,255.0.0.0,a\n", "1", Some("2")),
        ("10.0.0.0,8,a\n", "1", Some("2")),
        ("a b,c\n10.0.0.0-10.255.255.255,a\n", "a b", None),
        (
            "{\"net\":{\"v4\":[\"x\",\"10.0.0.0/8\"]},\"name\":\"a\"}\n",
            "net.v4[1]",
            None,
        ),
        (
            "{\"net.v4\":\"10.0.0.0\",\"len\":8,\"name\":\"a\"}\n",
            "net.v4",
            Some("len"),
        ),
        (
            "[{\"dst\":\"10.0.0.0/8\",\"prefix\":\"10.1.0.0/16\",\"name\":\"a\"}]",
            "dst",
            None,
        ),
        (
            "{\"nets\":[{\"dst\":\"10.0.0.0/8\",\"name\":\"a\"}]}",
            "dst",
            None,
        ),
        (
            "{\"nets\":[{\"dst\":\"10.0.0.0\",\"bits\":8,\"name\":\"a\"}]}",
            "dst",
            Some("bits"),
        ),
    ] {
        let wanted = if prefix == "2" {
            "10.0.0.0/8 x"
        } else {
            "10.0.0.0/8 a"
        };
        assert_eq!(
            with_columns(text, Some(prefix), length),
            Ok(vec![wanted.to_owned()]),
            "{text}"
        );
    }
    let wanted = Ok(vec!["10.0.0.0/8 a".to_owned()]);
    assert_eq!(
        with_columns("network,bits,name\n10.0.0.0,8,a\n", None, Some("bits")),
        wanted
    );
    for (text, prefix, length, reason) in [
        (
            "a,b\n10.0.0.0/8,x\n",
            Some("c"),
            None,
            "t:1: no column \"c\" in \"a\", \"b\"",
        ),
        (
            "a,b\n10.0.0.0/8,x\n",
            Some("a"),
            Some("c"),
            "t:1: no column \"c\" in \"a\", \"b\"",
        ),
        ("a,b\nx,y\n", Some("a"), None, "t:2: \"x\": not an address"),
        ("{\"a\":1}\n", Some("b"), None, "t: there is no route in it"),
        (
            "[{\"a\":1}]",
            Some("b.c"),
            None,
            "t:1: no \"b.c\" in this object",
        ),
    ] {
        assert_eq!(
            with_columns(text, prefix, length),
            Err(reason.to_owned()),
            "{text}"
        );
    }
    let options = LoadOptions {
        format: popfib_formats::Format::by_name("bird"),
        prefix_column: Some("a".to_owned()),
        ..STRICT.clone()
    };
    let reason = read("x", &options).unwrap_err().to_string();
    assert_eq!(reason, "t: bird has no columns to choose the prefix from");
    let csv = LoadOptions {
        format: popfib_formats::Format::by_name("csv"),
        ..STRICT.clone()
    };
    let two = "from,to,name\n10.0.0.0/8,10.1.0.0/16,a\n".replace("from,to", "source,target");
    let reason = read(two, &csv).unwrap_err().to_string();
    assert_eq!(
        reason,
        "t:1: prefixes in the columns \"source\" and \"target\"; `prefix_column` chooses one"
    );
    let reason = read("a,b\nx,y\n", &csv).unwrap_err().to_string();
    assert!(reason.contains("`prefix_column` names it"), "{reason}");
}

/// A record has no column of what the user says is the prefix.
#[test]
fn chosen_prefixes_are_no_part_of_records() {
    let options = LoadOptions {
        prefix_column: Some("dst".to_owned()),
        columns: popfib_formats::ColumnSelection::All,
        ..STRICT.clone()
    };
    for text in [
        "dst,a,b\n10.0.0.0/8,1,2\n",
        "{\"dst\":\"10.0.0.0/8\",\"a\":1,\"b\":2}\n",
    ] {
        let table = read(text, &options).unwrap();
        let records = table.content.records;
        let names: Vec<_> = records
            .columns()
            .iter()
            .map(|column| column.name())
            .collect();
        assert_eq!(names, ["a", "b"], "{text}");
    }
}
