//! Records written: in every form that holds them, and in images.

use popfib::image::Keep;
use popfib::{ImageWriter, NextHop, Options};
use popfib_formats::{LookupTable, RouteTable, WriteOptions, write_table};
use popfib_table::Records;

use super::mmdb::{Value, database, v4};
use super::records::options;
use crate::common::{read, write_form};

/// What the values of a database were, whatever they are here, and also in an image of them: so they can be written again.
#[test]
fn the_types_of_a_database_are_kept() {
    let first = [
        ("text", Value::Text("7")),
        ("bytes", Value::Bytes(b"\0\x2a")),
        ("short", Value::Short(1)),
        ("number", Value::Number(70_000)),
        ("signed", Value::Signed(-7)),
        ("long", Value::Long(u64::MAX)),
        ("longest", Value::Longest(1 << 120)),
        ("double", Value::Double(0.1)),
        ("float", Value::Float(1.1)),
        ("truth", Value::Truth(true)),
        ("several", Value::Short(1)),
        ("mixed", Value::Short(1)),
    ];
    let second = [
        ("longest", Value::Longest(7)),
        ("several", Value::Number(2)),
        ("mixed", Value::Text("x")),
    ];
    let records = [Value::Map(&first), Value::Map(&second)];
    let networks = [1, 2].map(|n| (v4(n, 0, 0, 0), 8, n as usize - 1));
    let table = read(database(4, &networks, &records), &options(&["*"])).unwrap();
    let shown = |records: &Records| {
        let columns = records.columns().iter().enumerate();
        let shown = columns.map(|(index, column)| {
            let cell = records.cell(NextHop::MIN, index).unwrap();
            let kept = column.maxmind_type();
            format!(
                "{} {cell} {:?} {kept:?}",
                column.name(),
                column.column_type()
            )
        });
        shown.collect::<Vec<_>>()
    };
    let wanted = [
        "text 7 Text None",
        "bytes 002a Text Some(Bytes)",
        "short 1 Integer Some(Uint16)",
        "number 70000 Integer Some(Uint32)",
        "signed -7 Integer Some(Int32)",
        "long 18446744073709551615 Integer Some(Uint64)",
        "longest 1329227995784915872903807060280344576 Text Some(Uint128)",
        "double 0.1 Float None",
        "float 1.1 Float Some(Float)",
        "truth true Boolean None",
        "several 1 Integer None",
        "mixed 1 Text None",
    ];
    assert_eq!(shown(&table.records), wanted);
    assert_eq!(
        table.notes,
        ["values of several types, read as texts, in \"mixed\""]
    );
    // In a database again; what had several types has one of them there.
    let mut database = Vec::new();
    let options_of = WriteOptions::default();
    write_table(&table, write_form("mmdb"), &options_of, &mut database).unwrap();
    let again = read(database, &options(&["*"])).unwrap();
    let shown_again = shown(&again.records);
    assert_eq!(shown_again[..10], wanted[..10]);
    assert_eq!(shown_again[10], "several 1 Integer Some(Uint32)");
    let mut image = ImageWriter::new(0);
    image.table("", &[]).unwrap();
    let written = LookupTable::from(table).write(&mut image, &Options::default(), Keep::Routes);
    written.unwrap();
    let again = read(image.to_bytes(), &options(&["*"])).unwrap();
    assert_eq!(shown(&again.records), wanted);
}

/// Records of every shape in each form that holds them, and back: the same columns, types and values.
#[test]
fn records_come_back_from_every_form() {
    let text = r#"
{"prefix":"0.0.0.0/0","asn":7,"city.names.en":"a, \"b\"","subdivisions[0].iso_code":"9","subdivisions[1].iso_code":"W"}
{"prefix":"10.0.0.0/8","asn":8,"subdivisions[1].iso_code":"W","odd[x]":"brackets","list":["x","y"]}
{"prefix":"10.1.0.0/16","rate":0.5,"up":true,"list":["z"],"numbers":[1,2]}
{"prefix":"2001:db8::/32","asn":18446744073709551615,"delta":-7,"up":false,"city.names.en":"a, \"b\""}
"#;
    let table = read(text, &options(&["*"])).unwrap();
    let answers = |table: &RouteTable| {
        let records = &table.records;
        let mut answers = Vec::new();
        for (prefix, number) in table.routes() {
            let columns = records.columns().iter().enumerate();
            let cells = columns.filter_map(|(index, column)| {
                let cell = records.cell(number, index)?;
                Some(format!(
                    "{} {:?} {cell}",
                    column.name(),
                    column.column_type()
                ))
            });
            let mut cells: Vec<_> = cells.collect();
            cells.sort();
            answers.push(format!("{prefix} {cells:?}"));
        }
        answers
    };
    for form in [write_form("json-lines"), write_form("mmdb")] {
        let mut bytes = Vec::new();
        write_table(&table, form, &WriteOptions::default(), &mut bytes).unwrap();
        let again = read(bytes, &options(&["*"])).unwrap();
        let (found, wanted) = (answers(&again), answers(&table));
        if form.name() == "json-lines" {
            assert_eq!(found, wanted);
            continue;
        }
        // A database parts the networks that hold others: these are 0.0.0.0/0 and 10.0.0.0/8.
        for (line, part) in wanted.iter().zip(["8.0.0.0/7", "10.0.0.0/16", "", ""]) {
            let (prefix, cells) = line.split_once(' ').unwrap();
            let prefix = if part.is_empty() { prefix } else { part };
            let expected = format!("{prefix} {cells}");
            assert!(found.contains(&expected), "{expected}: {found:#?}");
        }
    }
    // Lists are texts in CSV.
    let mut csv = Vec::new();
    write_table(
        &table,
        write_form("csv"),
        &WriteOptions::default(),
        &mut csv,
    )
    .unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let wanted = "prefix,asn,city.names.en,subdivisions[0].iso_code,subdivisions[1].iso_code,odd[x],list,rate,up,numbers,delta
0.0.0.0/0,7,\"a, \"\"b\"\"\",9,W,,,,,,
10.0.0.0/8,8,,,W,brackets,\"x,y\",,,,
10.1.0.0/16,,,,,,z,0.5,true,\"1,2\",
2001:db8::/32,18446744073709551615,\"a, \"\"b\"\"\",,,,,,false,,-7
";
    assert_eq!(csv, wanted);
    for form in [
        write_form("text"),
        write_form("pfx2as"),
        write_form("geofeed"),
    ] {
        let error = write_table(&table, form, &WriteOptions::default(), Vec::new());
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("csv, json-lines and mmdb have all columns"),
            "{error}"
        );
    }
    // Names that lead deeper than anything does, or to elements that no array has, are keys.
    let deep = format!("a{}", "[255]".repeat(800));
    let text = format!(r#"{{"network":"10.0.0.0/8","{deep}":1,"b[99999]":2,"c[3].d":3}}"#);
    let table = read(text, &options(&["*"])).unwrap();
    let mut bytes = Vec::new();
    write_table(
        &table,
        write_form("mmdb"),
        &WriteOptions::default(),
        &mut bytes,
    )
    .unwrap();
    assert!(bytes.len() < 100_000, "{}", bytes.len());
    let again = read(bytes, &options(&["*"])).unwrap();
    let columns = again.records.columns().iter();
    assert!(
        columns
            .map(popfib_table::Column::name)
            .eq([&deep, "b[99999]", "c[3].d"])
    );
    for (text, reason) in [
        (
            r#"{"network":"10.0.0.0/8","a":1,"a.b":2}"#,
            "a column is a value and has members",
        ),
        (
            r#"{"network":"10.0.0.0/8","a":-3000000000,"b":1}"#,
            "column \"a\": a negative number of more than 32 bits",
        ),
    ] {
        let table = read(text, &options(&["*"])).unwrap();
        let error = write_table(
            &table,
            write_form("mmdb"),
            &WriteOptions::default(),
            Vec::new(),
        );
        let error = error.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}
