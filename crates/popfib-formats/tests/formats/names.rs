//! The rule for names of next hops, in every reader; and values that keep what they are.

use popfib::image::Keep;
use popfib::{ImageWriter, IpPrefix, NextHop, Options, Rib};

use crate::common::{SKIP, STRICT, bzip2, error, gzip, named, read, routes};
use popfib_formats::{UpdateOptions, open_updates};

#[test]
fn names_that_are_none_are_refused_at_their_line() {
    let long = "x".repeat(60_001);
    let empty = "an empty next hop";
    let control = "a next hop with a control character";
    let too_long = "a next hop of more than 60000 bytes";
    let json = |value: &str| {
        format!(
            "{{\"prefix\":\"10.0.0.0/8\",\"value\":\"a\"}}\n{{\"prefix\":\"11.0.0.0/8\",\"value\":{value}}}\n"
        )
    };
    let frr = |ip: &str| {
        format!(
            "{{\"10.0.0.0/8\":[{{\"selected\":true,\"nexthops\":[{{\"ip\":{ip},\"active\":true}}]}}]}}"
        )
    };
    for (data, line, reason) in [
        (format!("10.0.0.0/8 a\n11.0.0.0/8 {long}\n"), 2, too_long),
        ("10.0.0.0/8 a\n11.0.0.0/8 \u{a0}\n".to_owned(), 2, empty),
        (
            "10.0.0.0/8 a\n11.0.0.0/8 x\u{2028}\n".to_owned(),
            2,
            control,
        ),
        (format!("prefix,asn\n10.0.0.0/8,{long}\n"), 2, too_long),
        ("prefix,asn\n10.0.0.0/8,x\ty\n".to_owned(), 2, control),
        (json("\"\\u001b[31m\""), 2, control),
        (json(&format!("\"{long}\"")), 2, too_long),
        (frr("\" \""), 1, "no next hop after \"10.0.0.0/8\""),
        (frr("\"\\u0007\""), 1, control),
        (
            format!("default via 10.0.0.1 dev e\n10.0.0.0/8 dev {long}\n"),
            2,
            too_long,
        ),
    ] {
        let message = error(data, &STRICT);
        assert!(
            message.starts_with(&format!("t:{line}: ")) && message.ends_with(reason),
            "{message}"
        );
    }
}

#[test]
fn an_image_with_such_a_name_is_refused() {
    for (name, reason) in [
        ("a\x1b[2J", "a next hop with a control character"),
        (" ", "an empty next hop"),
    ] {
        let message = error(image(name), &STRICT);
        assert!(message.starts_with("t: route 10.0.0.0/8: "), "{message}");
        assert!(message.ends_with(reason), "{message}");
    }
}

/// A program may give a table any values, and what it saved is not lost for one that is long.
#[test]
fn an_image_with_a_long_name_is_read() {
    let long = "x".repeat(200_000);
    let table = read(image(&long), &STRICT).unwrap();
    assert_eq!(routes(&table), [format!("10.0.0.0/8 {long}")]);
}

fn image(name: &str) -> Vec<u8> {
    let mut rib = Rib::<u32>::new();
    rib.insert("10.0.0.0/8".parse().unwrap(), NextHop::MIN);
    let mut writer = ImageWriter::new(0);
    writer.table("test", &[]).unwrap();
    writer.names([name]).unwrap();
    writer
        .family(&rib, &Options::default(), Keep::Routes)
        .unwrap();
    writer.to_bytes()
}

#[test]
fn an_update_is_refused_at_its_line() {
    let long = "x".repeat(60_001);
    let bgpdump =
        |hop: &str| format!("BGP4MP|1|A|10.0.0.2|64502|12.0.0.0/8|64502|IGP|{hop}|0|0||NAG||\n");
    for (data, reason) in [
        (
            "A 10.0.0.0 255.0.0.0\n".to_owned(),
            "a network mask belongs after a slash: \"10.0.0.0/255.0.0.0\"",
        ),
        (
            "A 10.0.0.0/8 a,b\n".to_owned(),
            "more than a next hop: \"a,b\"",
        ),
        (
            format!("A 10.0.0.0/8 {long}\n"),
            "a next hop of more than 60000 bytes",
        ),
        (
            "A 10.0.0.0/8 \u{2028}\n".to_owned(),
            "a next hop with a control character",
        ),
        (
            "A 10.0.0.0/8 x\u{2029}y\n".to_owned(),
            "a next hop with a control character",
        ),
        (bgpdump("x y"), "\"x y\": not an address"),
        (bgpdump("a,b"), "\"a,b\": not an address"),
        (bgpdump(""), "a route without a next hop"),
    ] {
        let mut updates =
            open_updates(crate::common::input(data), &UpdateOptions::default()).unwrap();
        let message = updates.next_update().unwrap_err().to_string();
        assert!(
            message.starts_with("t:1: ") && message.ends_with(reason),
            "{message}"
        );
    }
    let set = "A 10.0.0.0/8 {64500,64501}\n";
    let mut updates = open_updates(crate::common::input(set), &UpdateOptions::default()).unwrap();
    assert!(updates.next_update().unwrap().is_some());
}

#[test]
fn numbers_keep_their_digits() {
    for number in [
        "340282366920938463463374607431768211456",
        "18446744073709551616",
        "1.50",
        "-0",
        "1e3",
    ] {
        for text in [
            format!("{{\"prefix\":\"10.0.0.0/8\",\"asn\":{number}}}\n"),
            format!("[{{\"prefix\":\"10.0.0.0/8\",\"asn\":{number}}}]"),
        ] {
            let wanted = [format!("10.0.0.0/8 {number}")];
            assert_eq!(routes(&read(text.clone(), &STRICT).unwrap()), wanted);
            let mut options = STRICT.clone();
            options.columns = named("asn");
            assert_eq!(routes(&read(text, &options).unwrap()), wanted);
        }
    }
}

#[test]
fn lines_of_additional_paths() {
    let text = "TABLE_DUMP2_AP|1|B|192.0.2.1|64500|10.0.0.0/8|7|64500 64501|IGP|192.0.2.1|0|0||NAG||\n\
        TABLE_DUMP2_AP|1|B|192.0.2.1|64500|10.0.0.0/8|8|64502|IGP|192.0.2.2|0|0||NAG||\n\
        TABLE_DUMP2|1|B|192.0.2.1|64500|11.0.0.0/8|64502|IGP|192.0.2.3|0|0||NAG||\n";
    let table = read(text, &STRICT).unwrap();
    assert_eq!(
        routes(&table),
        ["10.0.0.0/8 192.0.2.2", "11.0.0.0/8 192.0.2.3"]
    );
    let text = "BGP4MP_AP|1|A|192.0.2.1|64500|10.0.0.0/8|7|64500|IGP|192.0.2.9|0|0||NAG||\n\
        BGP4MP_AP|1|W|192.0.2.1|64500|10.0.0.0/8|7\n";
    let mut updates = open_updates(crate::common::input(text), &UpdateOptions::default()).unwrap();
    let update = updates.next_update().unwrap().unwrap();
    assert_eq!(update.change, popfib_formats::Change::Announce("192.0.2.9"));
    assert_eq!(
        updates.next_update().unwrap().unwrap().change,
        popfib_formats::Change::Withdraw
    );
}

#[test]
fn the_narrowest_range_answers() {
    let rows = [
        "10.0.0.0,10.0.0.255,wide",
        "10.0.0.0,10.0.0.127,half",
        "10.0.0.64,10.0.0.127,narrow",
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        let text = order.map(|n| rows[n]).join("\n");
        let table = read(format!("first,last,value\n{text}\n"), &STRICT).unwrap();
        let name = |address: [u8; 4]| {
            let next_hop = table
                .ribs
                .ipv4
                .longest_match(u32::from_be_bytes(address))
                .unwrap()
                .1;
            table.value(next_hop)
        };
        let found = [1, 100, 200].map(|last| name([10, 0, 0, last]));
        assert_eq!(found, ["half", "narrow", "wide"], "{text}");
    }
    let text = "first,last,value\n10.0.0.0,10.0.0.9,a\n10.0.0.5,10.0.0.19,b\n10.0.1.0,10.0.1.255,c\n10.0.1.0,10.0.1.255,d\n";
    assert_eq!(
        error(text, &STRICT),
        "t:3: the range 10.0.0.5 to 10.0.0.19 overlaps 10.0.0.0 to 10.0.0.9 of line 2, and neither lies in the other"
    );
    let table = read(text, &SKIP).unwrap();
    assert_eq!((table.skipped, table.ribs.ipv4.len()), (1, 3));
    assert_eq!(
        table.notes,
        ["1 range replaced by another with the same ends"]
    );
    let prefix: IpPrefix = "10.0.1.0/24".parse().unwrap();
    assert!(routes(&table).contains(&format!("{prefix} d")));
}

/// Tapes and disk images fill their blocks with zeros.
#[test]
fn zeros_after_compressed_data() {
    for compress in [gzip, bzip2] {
        let parts = [compress(b"10.0.0.0/8 a\n"), vec![0; 100_000]];
        assert_eq!(
            routes(&read(parts.concat(), &STRICT).unwrap()),
            ["10.0.0.0/8 a"]
        );
        let more = [parts.concat(), compress(b"11.0.0.0/8 b\n")].concat();
        assert_eq!(read(more, &STRICT).unwrap().ribs.ipv4.len(), 2);
        let garbage = [parts.concat(), b"x".to_vec()].concat();
        assert!(read(garbage, &STRICT).is_err());
    }
}

/// Errors of JSON are in the words of the format, not of this program.
#[test]
fn errors_of_json_name_no_types() {
    for (text, reason) in [
        (
            r#"{"10.0.0.0/8":[{"selected":true,"nexthops":["x"]}]}"#,
            "expected a next hop",
        ),
        (r#"{"10.0.0.0/8":["x"]}"#, "expected a route"),
        (
            r#"[{"dst":"10.0.0.0/8","nexthops":[7]}]"#,
            "expected a next hop",
        ),
        (r#"[{"dst":"10.0.0.0/8","metric":"x"}]"#, "not a metric"),
    ] {
        let message = error(text, &STRICT);
        assert!(
            message.ends_with(reason) && !message.contains("struct"),
            "{message}"
        );
    }
}
