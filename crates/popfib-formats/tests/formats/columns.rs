//! Columns and members as everyday files have them: masks apart, values missing, quoted or repeated, rows that end early.

use crate::common::{STRICT, read, read_as, routes, table_as};
use popfib_formats::LoadOptions;

/// The routes and the notes of `text`, which must be recognised as the named format.
fn read_with_notes(format: &str, text: &str) -> (Vec<String>, Vec<String>) {
    let table = table_as(format, text);
    (routes(&table), table.notes)
}

#[test]
fn what_has_no_value_is_left_out_and_counted() {
    for (format, text, note) in [
        (
            "csv",
            "prefix,country\n10.0.0.0/24,\n10.0.0.0/25,DE\n",
            "row",
        ),
        (
            "csv",
            "prefix,country\n10.0.0.0/24,\" \"\n10.0.0.0/25,DE\n",
            "row",
        ),
        (
            "csv",
            "start_ip,end_ip,country\n10.0.0.0,10.0.0.255,\n10.0.0.0,10.0.0.127,DE\n",
            "row",
        ),
        ("csv", "10.0.0.0/24,\n10.0.0.0/25,DE\n", "row"),
        ("csv", "10.0.0.0/24\t\n10.0.0.0/25\tDE\n", "row"),
        ("csv", "10.0.0.0/24,,x\n10.0.0.0/25,DE,y\n", "row"),
        ("text", "10.0.0.0/25,DE\n10.0.0.0/24,\n", "line"),
        ("text", "10.0.0.0/25\tDE\n10.0.0.0/24\t # x\n", "line"),
        (
            "json-lines",
            "{\"prefix\":\"10.0.0.0/24\",\"asn\":null}\n{\"prefix\":\"10.0.0.0/25\",\"asn\":\"DE\"}\n",
            "object",
        ),
        (
            "json",
            "[{\"prefix\":\"10.0.0.0/25\",\"asn\":\"DE\"},{\"prefix\":\"10.0.0.0/24\",\"asn\":\"\"}]",
            "object",
        ),
    ] {
        let note = format!("1 {note} without a value left out");
        let wanted = (vec!["10.0.0.0/25 DE".to_owned()], vec![note]);
        assert_eq!(read_with_notes(format, text), wanted, "{text}");
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
        let note = "1 prefix without country left out".to_owned();
        let wanted = ["10.0.0.0/8 AT", "10.1.0.0/16 DE"].map(str::to_owned);
        assert_eq!(
            read_with_notes("geofeed", text),
            (wanted.to_vec(), vec![note]),
            "{text}"
        );
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
            ..STRICT
        };
        let table = read(text, &options).unwrap();
        let name = |n| table.next_hops.get(n).unwrap();
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
