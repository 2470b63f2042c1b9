//! Records: files with several columns, read as such.

use popfib::NextHop;
use popfib_formats::{ColumnSelection, LoadOptions, LookupTable};
use popfib_table::{Cell, ColumnType, Scalar};

use super::mmdb::{Value, database, v4};
use crate::common::{STRICT, error, read};

pub(super) fn options(columns: &[&str]) -> LoadOptions {
    let names = columns.iter().map(|&name| name.to_owned()).collect();
    LoadOptions {
        columns: match columns {
            ["*"] => ColumnSelection::All,
            _ => ColumnSelection::Named(names),
        },
        ..STRICT.clone()
    }
}

/// The columns with their types, then the routes with the values they have, then the notes.
pub(super) fn lines(data: impl Into<Vec<u8>>, columns: &[&str]) -> Vec<String> {
    let table = read(data, &options(columns)).unwrap();
    let records = &table.records;
    let mut lines = Vec::new();
    for column in records.columns() {
        lines.push(format!(
            "{}: {}",
            column.name(),
            column.column_type().name()
        ));
    }
    for (prefix, number) in table.routes() {
        let cells = (0..records.columns().len()).map(|at| records.cell(number, at));
        let cells = cells.map(|cell| match cell {
            None => "-".to_owned(),
            Some(Cell::Scalar(Scalar::Text(text))) => format!("{text:?}"),
            Some(cell) => cell.to_string(),
        });
        let cells: Vec<_> = cells.collect();
        lines.push(format!("{prefix} {}", cells.join(" ")));
    }
    lines.extend(table.absent.into_iter().chain(table.notes));
    lines
}

/// The value of a record with all columns is what it is without them.
#[test]
fn the_value_of_all_columns_is_that_of_one() {
    let city = [("name", Value::Text("Wien"))];
    let country = [("iso_code", Value::Text("AT"))];
    let members = [
        ("city", Value::Map(&city)),
        ("country", Value::Map(&country)),
    ];
    let records = [Value::Map(&members)];
    let files = [
        database(4, &[(v4(10, 0, 0, 0), 8, 0)], &records),
        b"network,city,country\n10.0.0.0/8,Wien,AT\n".to_vec(),
        b"city,network,label\nWien,10.0.0.0/8,AT\n".to_vec(),
        br#"{"city":"Wien","prefix":"10.0.0.0/8","country":"AT"}"#.to_vec(),
        br#"{"AT":["10.0.0.0/8"]}"#.to_vec(),
    ];
    for file in files {
        let value = |columns: &LoadOptions| {
            let table = LookupTable::from(read(file.clone(), columns).unwrap());
            let value = table.value(NextHop::MIN);
            value.map(std::borrow::Cow::into_owned)
        };
        let text = String::from_utf8_lossy(&file);
        assert_eq!(value(&STRICT).as_deref(), Some("AT"), "{text}");
        assert_eq!(value(&options(&["*"])).as_deref(), Some("AT"), "{text}");
    }
}

#[test]
fn every_leaf_of_a_database_is_a_column() {
    let names = [("de", Value::Text("Wien")), ("en", Value::Text("Vienna"))];
    let city = [("names", Value::Map(&names)), ("id", Value::Number(7))];
    let regions = |code| [("iso_code", Value::Text(code))];
    let (first, second) = (regions("9"), regions("W"));
    let regions = [Value::Map(&first), Value::Map(&second)];
    let tags = [Value::Text("a,b"), Value::Text("c")];
    let numbers = [Value::Short(1), Value::Number(70_000)];
    let records = [
        Value::Map(&[
            ("city", Value::Map(&city)),
            ("subdivisions", Value::Array(&regions)),
            ("tags", Value::Array(&tags)),
            ("asns", Value::Array(&numbers)),
        ]),
        Value::Map(&[
            ("asns", Value::Array(&numbers)),
            ("long", Value::Long(u64::MAX)),
        ]),
        // None of the columns, whichever are read.
        Value::Map(&[]),
    ];
    let networks = [1, 2, 3].map(|n| (v4(n, 0, 0, 0), 8, n as usize - 1));
    let file = database(4, &networks, &records);
    assert_eq!(
        lines(file.clone(), &["*"]),
        [
            "city.names.en: text",
            "city.id: integer",
            "subdivisions[0].iso_code: text",
            "subdivisions[1].iso_code: text",
            "tags: list of texts",
            "asns: list of integers",
            "long: integer",
            r#"1.0.0.0/8 "Vienna" 7 "9" "W" a\,b,c 1,70000 -"#,
            "2.0.0.0/8 - - - - - 1,70000 18446744073709551615",
            "1 network without a value left out",
        ]
    );
    // In the order that they are asked for, in any language, and one element of a list.
    assert_eq!(
        lines(file.clone(), &["tags[1]", "city.names.de", "city.id"]),
        [
            "tags[1]: text",
            "city.names.de: text",
            "city.id: integer",
            r#"1.0.0.0/8 "c" "Wien" 7"#,
            "2 networks without a value left out",
        ]
    );
    assert_eq!(
        error(file, &options(&["city.id", "city.name"])),
        "t: no column \"city.name\" in \"city.id\", \"city.names.de\", \"city.names.en\", \
         \"subdivisions[0].iso_code\", \"subdivisions[1].iso_code\", \"tags\", \"asns\", \"long\""
    );
}

#[test]
fn long_lists_of_maps_are_cut_and_told() {
    let member = [("n", Value::Short(7))];
    let many: Vec<_> = (0..20).map(|_| Value::Map(&member)).collect();
    let records = [Value::Map(&[("list", Value::Array(&many))])];
    let file = database(4, &[(v4(1, 0, 0, 0), 8, 0)], &records);
    let all = lines(file.clone(), &["*"]);
    assert_eq!(all[15], "list[15].n: integer");
    assert_eq!(
        all[17],
        "1 record with more than 16 elements in list, of which the others are left out"
    );
    assert_eq!(all.len(), 18);
    // Who asks for one by name gets it.
    let named = lines(file, &["list[19].n", "list[0].n"]);
    assert_eq!(named[2], "1.0.0.0/8 7 7");
}

#[test]
fn a_database_of_scalars_has_one_column() {
    let records = [Value::Text("x"), Value::Text("y")];
    let networks = [1, 2].map(|n| (v4(n, 0, 0, 0), 8, n as usize - 1));
    let wanted = ["value: text", r#"1.0.0.0/8 "x""#, r#"2.0.0.0/8 "y""#];
    assert_eq!(lines(database(4, &networks, &records), &["*"]), wanted);
}

#[test]
fn headings_of_csv_are_columns() {
    let text = "network,asn,zip,rate,is_anycast,name,\n\
        10.0.0.0/8,64500,01234,1.5,true,\"a, b\",x\n\
        10.1.0.0/16,64501,5678,2,false,,\n\
        10.2.0.0/16,,,,,,\n\
        2001:db8::/32,64500,01234,1.5,true,\"a, b\",x\n";
    assert_eq!(
        lines(text, &["*"]),
        [
            "asn: integer",
            "zip: text",
            "rate: float",
            "is_anycast: boolean",
            "name: text",
            "7: text",
            r#"10.0.0.0/8 64500 "01234" 1.5 true "a, b" "x""#,
            r#"10.1.0.0/16 64501 "5678" 2 false - -"#,
            "10.2.0.0/16 - - - - - -",
            r#"2001:db8::/32 64500 "01234" 1.5 true "a, b" "x""#,
            "1 route without a value",
        ]
    );
    let read_alone = read(text, &STRICT).unwrap().unread.unwrap();
    let unread = r#""zip", "rate", "is_anycast", "name", "7""#;
    assert_eq!(
        read_alone,
        format!("column \"asn\" is read, not {unread}; `columns='*'` reads all")
    );
    for text in [
        "network,asn\n10.0.0.0/8,1\n",
        "network\n10.0.0.0/8\n",
        "10.0.0.0/8,1\n",
    ] {
        assert_eq!(read(text, &STRICT).unwrap().unread, None, "{text}");
    }
    let table = read(text, &options(&["*"])).unwrap();
    assert_eq!(table.records.len(), 3, "equal records have one number");
    assert_eq!(
        lines(text, &["name", "2"]),
        [
            "name: text",
            "2: integer",
            r#"10.0.0.0/8 "a, b" 64500"#,
            "10.1.0.0/16 - 64501",
            "10.2.0.0/16 - -",
            r#"2001:db8::/32 "a, b" 64500"#,
            "1 route without a value",
        ]
    );
    assert_eq!(
        error(text, &options(&["asn", "city"])),
        "t:1: no column \"city\" in \"network\", \"asn\", \"zip\", \"rate\", \"is_anycast\", \"name\", \"\""
    );
    assert_eq!(
        error("network,asn,asn\n10.0.0.0/8,1,2\n", &options(&["*"])),
        "t:1: two columns are called \"asn\""
    );
    // Ranges, and no heading.
    assert_eq!(
        lines(
            "10.0.0.0\t10.0.1.255\t64500\tAA\n10.0.0.0\t10.0.0.255\t64501\tBB\n",
            &["*"]
        ),
        [
            "3: integer",
            "4: text",
            r#"10.0.0.0/23 64500 "AA""#,
            r#"10.0.0.0/24 64501 "BB""#,
        ]
    );
}

#[test]
fn members_of_json_are_columns() {
    let objects = [
        r#"{"prefix":"10.0.0.0/8","asn":1,"zip":"01234","geo":{"city":"A\tB","at":[1.5,2]},"tags":["x","y"]}"#,
        r#"{"prefix":"11.0.0.0/8","asn":2.50,"zip":7,"geo":null,"tags":[],"up":true}"#,
        r#"{"prefix":"12.0.0.0/8","geo":null}"#,
    ];
    for document in [objects.join("\n"), format!("[{}]", objects.join(","))] {
        assert_eq!(
            lines(document.as_str(), &["*"]),
            [
                "asn: text",
                "zip: text",
                "geo.city: text",
                "geo.at: list of texts",
                "tags: list of texts",
                "up: boolean",
                r#"10.0.0.0/8 "1" "01234" "A\tB" 1.5,2 x,y -"#,
                r#"11.0.0.0/8 "2.50" "7" - - - true"#,
                "12.0.0.0/8 - - - - - -",
                "1 route without a value",
                r#"values of several types, read as texts, in "zip", "geo.at""#,
            ]
        );
        assert_eq!(
            error(document.as_str(), &options(&["asn", "city"])),
            "t: no column \"city\" in \"asn\", \"zip\", \"geo.city\", \"geo.at\", \"tags\", \"up\""
        );
    }
}

#[test]
fn clouds_lists_have_regions_and_services() {
    let aws = r#"{"syncToken":"1","prefixes":[
        {"ip_prefix":"3.5.140.0/22","region":"ap-northeast-2","service":"AMAZON"},
        {"ip_prefix":"3.5.140.0/24","region":"ap-northeast-2","service":"S3"}]}"#;
    assert_eq!(
        lines(aws, &["service", "region"]),
        [
            "service: text",
            "region: text",
            r#"3.5.140.0/22 "AMAZON" "ap-northeast-2""#,
            r#"3.5.140.0/24 "S3" "ap-northeast-2""#,
        ]
    );
    let azure = r#"{"values":[{"name":"Storage","id":"S","properties":{"regionId":3,"region":"","addressPrefixes":["20.38.0.0/22","2603::/32"]}}]}"#;
    assert_eq!(
        lines(azure, &["*"]),
        [
            "name: text",
            "id: text",
            "properties.regionId: integer",
            "properties.region: text",
            "list: text",
            r#"20.38.0.0/22 "Storage" "S" 3 "" "values""#,
            r#"2603::/32 "Storage" "S" 3 "" "values""#,
        ]
    );
    let github = r#"{"hooks":["192.30.252.0/22"],"web":["140.82.112.0/20"]}"#;
    assert_eq!(
        lines(github, &["*"])[1..],
        [r#"140.82.112.0/20 "web""#, r#"192.30.252.0/22 "hooks""#]
    );
}

#[test]
fn geofeeds_have_four_columns() {
    let text =
        "192.0.2.0/24,US,US-AL,Alabaster,\n198.51.100.0/24,PL,,,02-001\n203.0.113.0/24,,,,\n";
    assert_eq!(
        lines(text, &["*"]),
        [
            "country: text",
            "region: text",
            "city: text",
            "postal: text",
            r#"192.0.2.0/24 "US" "US-AL" "Alabaster" -"#,
            r#"198.51.100.0/24 "PL" - - "02-001""#,
            "203.0.113.0/24 - - - -",
            "1 route without a value",
        ]
    );
}

/// That no row has a city is no error, as geofeeds have the column.
#[test]
fn columns_of_geofeeds_may_be_empty() {
    assert_eq!(
        lines("192.0.2.0/24,US,US-AL,,\n", &["city", "country"]),
        ["city: text", "country: text", r#"192.0.2.0/24 - "US""#]
    );
}

/// What a text may be is what records give back, whatever stands in it.
#[test]
fn texts_come_back_as_they_were() {
    let texts = [
        "",
        " ",
        "\\",
        "\\u{5c}",
        "a\tb\nc\u{2028}d\u{0}",
        "3t5:",
        "l2:",
        "\u{1f600}",
    ];
    for text in texts {
        let json = serde_json::to_string(text).unwrap();
        let object = format!(
            r#"{{"prefix":"10.0.0.0/8","a":{json},"b":[{json},"x"],"c":{{{json}:{json}}}}}"#
        );
        let table = read(object, &options(&["*"])).unwrap();
        let (_, number) = table.routes().next().unwrap();
        let records = table.content.records;
        assert_eq!(
            records.cell(number, 0),
            Some(Cell::Scalar(Scalar::Text(text))),
            "{text:?}"
        );
        let Some(Cell::List(list)) = records.cell(number, 1) else {
            panic!("a list");
        };
        assert!(list.iter().eq([Scalar::Text(text), Scalar::Text("x")]));
        let column = &records.columns()[2];
        assert_eq!(column.name(), format!("c.{text}"));
        assert_eq!(column.column_type(), ColumnType::Text);
    }
}

/// Below one long key a short file may have any number of columns.
#[test]
fn names_of_columns_are_bounded() {
    let key = "k".repeat(3_000);
    let members: Vec<_> = (0..400).map(|n| format!(r#""m{n}":{n}"#)).collect();
    let below = members.join(",");
    let longest = "K".repeat(5_000);
    let object =
        format!(r#"{{"prefix":"10.0.0.0/8","{key}":{{{below}}},"{longest}":{{{below}}},"z":1}}"#);
    let table = read(&*object, &options(&["*"])).unwrap();
    let records = table.content.records;
    let names: usize = records
        .columns()
        .iter()
        .map(|column| column.name().len())
        .sum();
    assert!(names <= 1 << 20);
    assert_eq!(records.columns().len(), 348 + 1);
    assert_eq!(
        table.notes,
        [
            "53 values in columns with names longer than 4096 bytes, or than 1048576 in all, left out"
        ]
    );
    let message = read(object, &options(&["x"])).unwrap_err().to_string();
    assert!(message.starts_with("t: no column \"x\" in \""), "{message}");
    // The same of a database; and a prefix is found below a long key.
    let part: &str = "K".repeat(250).leak();
    let mut below: &[_] = vec![("a", Value::Short(1)), ("b", Value::Short(2))].leak();
    for _ in 0..17 {
        below = vec![(part, Value::Map(below)), ("z", Value::Short(3))].leak();
    }
    let record = [Value::Map(below)];
    let file = database(4, &[(v4(1, 0, 0, 0), 8, 0)], &record);
    let found = lines(file, &["*"]);
    assert_eq!(
        found
            .iter()
            .filter(|line| line.ends_with(": integer"))
            .count(),
        17
    );
    let note =
        "1 value in columns with names longer than 4096 bytes, or than 1048576 in all, left out";
    assert_eq!(found.last().map(String::as_str), Some(note));
    let nested = format!(r#"{{"{longest}":{{"at":"10.0.0.0/8"}},"v":"w"}}"#);
    assert_eq!(read(nested, &options(&["v"])).unwrap().routes().count(), 1);
}

#[test]
fn bad_records_end_in_one_line() {
    let long = "x".repeat(70_000);
    let object = format!(r#"{{"prefix":"10.0.0.0/8","a":"{long}"}}"#);
    let message = error(object, &options(&["*"]));
    assert!(
        message.ends_with("70000 bytes: a next hop of more than 60000 bytes"),
        "{message}"
    );
    let members: Vec<_> = (0..5_000).map(|n| format!(r#""m{n}":1"#)).collect();
    let object = format!(r#"{{"prefix":"10.0.0.0/8",{}}}"#, members.join(","));
    assert_eq!(
        error(object, &options(&["*"])),
        "t: records of more than 4096 columns"
    );
    let none = error("10.0.0.0/8 a\n", &options(&["a", "b"]));
    assert_eq!(none, "t: text has no columns to choose from");
}

/// All columns of what has none are its values, or those of a list.
#[test]
fn all_columns_of_what_has_none() {
    for (text, value) in [
        ("10.0.0.0/8 a\n", "a"),
        ("10.0.0.0/8\n", ""),
        ("network\n10.0.0.0/8\n", ""),
        (r#"{"prefix":"10.0.0.0/8"}"#, ""),
        (r#"["10.0.0.0/8"]"#, ""),
    ] {
        let table = read(text, &options(&["*"])).unwrap();
        assert!(!table.columns.are_records(), "{text}");
        assert_eq!(
            crate::common::routes(&table),
            [format!("10.0.0.0/8 {value}")]
        );
    }
}
