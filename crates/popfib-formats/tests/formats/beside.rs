//! What stands beside the prefix or the value of a row: it is read, or told, and never mistaken in silence.

use crate::common::{STRICT, error, read, read_as, table_as};
use popfib_formats::{Format, LoadOptions};

/// An object's prefixes are all read, in whichever form of JSON it is; the networks around them are none.
#[test]
fn all_prefixes_of_an_object() {
    let subnet = r#"{"name":"s1","ipCidrRange":"10.0.0.0/20","secondaryIpRanges":[{"ipCidrRange":"10.4.0.0/14"}]}"#;
    let vpc = r#"{"Name":"v","CidrBlock":"10.9.0.0/16","Ipv6CidrBlockAssociationSet":[{"Ipv6CidrBlock":"2001:db8::/56"}]}"#;
    let listed = r#"{"name":"l","prefix":"10.1.0.0/16","others":["10.2.0.0/16"]}"#;
    let within = r#"{"name":"w","prefix":"10.8.0.0/22","parent":{"prefix":"10.8.0.0/16"},"less_specific":["10.0.0.0/8"],"container":{"cidr":"10.8.0.0/17"}}"#;
    let wanted = [
        "10.0.0.0/20 s1",
        "10.1.0.0/16 l",
        "10.2.0.0/16 l",
        "10.4.0.0/14 s1",
        "10.8.0.0/22 w",
        "10.9.0.0/16 v",
        "2001:db8::/56 v",
    ];
    let objects = [subnet, vpc, listed, within];
    assert_eq!(read_as("json-lines", &objects.join("\n")), wanted);
    let list = format!("[{}]", objects.join(","));
    assert_eq!(read_as("json", &list), wanted);
    let items = format!("{{\"items\":{list}}}");
    assert_eq!(read_as("json-lists", &items), wanted);
    // What the user says is what counts.
    let options = LoadOptions {
        prefix_column: Some("ipCidrRange".to_owned()),
        ..STRICT.clone()
    };
    assert_eq!(read(subnet, &options).unwrap().route_count(), 1);
    assert_eq!(
        error(r#"{"prefix":"10.0.0.0/8","cidr":"10.1.0.0/16"}"#, &STRICT),
        "t:1: two prefixes in one object, \"10.0.0.0/8\" and \"10.1.0.0/16\"; `prefix_column` chooses one"
    );
}

#[test]
fn a_second_column_of_prefixes_is_told() {
    let csv = "prefix,prefix6,name\n10.0.0.0/8,2001:db8::/32,a\n10.1.0.0/16,,b\n10.2.0.0/16,10.2.0.0/16,c\n10.3.0.0/16,none,d\n";
    let table = table_as("csv", csv);
    assert_eq!(table.route_count(), 4);
    assert_eq!(
        table.notes,
        ["1 prefix in another column (`prefix_column` takes it) left out"]
    );
}

/// A network and its length in two fields would make a host with a number as its value.
#[test]
fn lengths_apart_from_their_networks() {
    for (text, of) in [
        ("10.1.2.0 24\n", "10.1.2.0 24"),
        ("10.0.0.0,8\n", "10.0.0.0 8"),
        ("2001:db8::\t32\n", "2001:db8:: 32"),
        ("10.1.2.3 7\n10.1.2.0 24\n", "10.1.2.0 24"),
    ] {
        let reason = format!("\"{of}\": a network and its length, or a host and its value?");
        assert!(error(text, &STRICT).contains(&reason), "{text}");
    }
    for text in ["10.1.2.3 24\n", "10.1.2.0/32 24\n", "10.1.2.0 64500\n"] {
        assert_eq!(read(text, &STRICT).unwrap().route_count(), 1, "{text}");
    }
}

/// A slash as JSON and URLs write it, and a length that no prefix has.
#[test]
fn slashes_anywhere() {
    let any = LoadOptions {
        format: Format::by_name("any"),
        ..STRICT.clone()
    };
    for text in [
        "{\"net\":\"10.1.0.0\\/16\"}",
        "?net=10.1.0.0%2F16&x",
        "10.1.0.0%2f16",
    ] {
        let table = read(text, &any).unwrap();
        let prefixes: Vec<_> = table
            .routes()
            .map(|(prefix, _)| prefix.to_string())
            .collect();
        assert_eq!(prefixes, ["10.1.0.0/16"], "{text}");
    }
    assert!(error("x 10.0.0.0/33", &any).contains("\"10.0.0.0/33\": "));
    for text in [
        "10.0.0.1/443",
        "http://10.0.0.1/33",
        "http:\\/\\/10.0.0.1\\/33",
    ] {
        assert_eq!(read(text, &any).unwrap().route_count(), 1, "{text}");
    }
}

/// The narrowest answers in any order, prefixes and ranges alike.
#[test]
fn prefixes_before_ranges() {
    let rows = [
        "10.0.0.0/24{}a",
        "10.0.0.0-10.0.1.127{}b",
        "10.0.0.0/25{}c",
        "10.0.9.0/24{}d",
    ];
    let wanted = [
        "10.0.0.0/24 a",
        "10.0.0.0/25 c",
        "10.0.1.0/25 b",
        "10.0.9.0/24 d",
    ];
    for separator in [" ", ","] {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [0, 3, 2, 1]] {
            let mut text = order.map(|n| rows[n].replace("{}", separator)).join("\n");
            assert_eq!(read_as("text", &format!("{text}\n")), wanted, "{text}");
            if separator == "," {
                text.insert_str(0, "cidr,name\n");
                assert_eq!(read_as("csv", &text), wanted, "{text}");
            }
        }
    }
    for (first, second, error_of) in [
        (
            "10.0.0.0/24 a",
            "10.0.0.128-10.0.1.127 b",
            "before all ranges",
        ),
        ("10.0.0.128-10.0.1.127 b", "10.0.0.0/24 a", "of line 2"),
        (
            "10.0.1.0/24 a",
            "10.0.0.128-10.0.1.127 b",
            "before all ranges",
        ),
    ] {
        let reason = error(format!("{first}\n{second}\n"), &STRICT);
        assert!(
            reason.contains(": the range ") && reason.contains(error_of),
            "{reason}"
        );
    }
    // Of equals the last, and a prefix twice before a range.
    let last = "10.0.0.0/24 a\n10.0.0.0/24 b\n10.1.0.0/24 c\n10.1.0.0-10.1.0.255 d\n";
    let table = read(last, &STRICT).unwrap();
    assert_eq!((table.route_count(), table.replaced), (2, 2));
    assert_eq!(read_as("text", last), ["10.0.0.0/24 b", "10.1.0.0/24 d"]);
}
