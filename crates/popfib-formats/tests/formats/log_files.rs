//! Where the addresses of CSV and JSON files are: the column by its content, elements of arrays, and what is said of lines in which
//! nothing could be looked for.

use std::io::Cursor;

use popfib_formats::addresses::{ColumnId, LinePart};
use popfib_formats::{AddressBatch, AddressFile, AddressOptions, AddressSource, Input};

use crate::addresses::{column, named, read};
use proptest::prelude::*;

/// The answers of the source at its end: what each part was not found in, and its notes.
fn said(data: &str, options: AddressOptions) -> (Vec<Option<String>>, Vec<String>) {
    let input = Input::from_reader("t", Cursor::new(data.as_bytes().to_vec()));
    let mut source = AddressFile::open(input, None, &options).unwrap();
    let mut batch = AddressBatch::new();
    while source.next_batch(&mut batch).unwrap_or(true) {}
    (source.missing(), source.notes())
}

#[test]
fn the_column_is_found_by_its_content() {
    let table = |data: &str| {
        let options = AddressOptions {
            is_table: true,
            ..Default::default()
        };
        let seen = read(data.as_bytes(), None, &options);
        (seen, said(data, options).1.join("|"))
    };
    for (data, addresses, note) in [
        (
            "ts,te,sa,da,n\nx,y,10.0.0.1,10.0.0.2,7\nx,y,,10.0.0.4,7\n",
            &["10.0.0.1", "-"][..],
            "addresses are taken from column \"sa\"; there are more in \"da\"",
        ),
        // The rows before have none.
        (
            "a,ip\n1,\n\n2,-\n3,10.0.0.3\n10.9.9.9,10.0.0.4\n",
            &["-", "-", "-", "10.0.0.3", "10.0.0.4"],
            "addresses are taken from column \"ip\"",
        ),
        // An address is more than a text in which there is one.
        (
            "from 10.0.0.9 x;10.0.0.1:80;y\n10.0.0.9;10.0.0.2;y\n",
            &["10.0.0.1", "10.0.0.2"],
            "addresses are taken from column 2",
        ),
        (
            "m,n\nfrom 10.0.0.9 x,1\n",
            &["10.0.0.9"],
            "addresses are taken from column \"m\"",
        ),
        ("a,b\n1,2\n", &["-"], ""),
    ] {
        let (seen, said) = table(data);
        assert_eq!(seen, addresses, "{data}");
        assert_eq!(said, note, "{data}");
    }
}

#[test]
fn what_no_line_has_is_said() {
    let field = |number| AddressOptions {
        parts: vec![LinePart::Field(number, None)],
        ..Default::default()
    };
    let path = |path: &str| AddressOptions {
        parts: vec![LinePart::Path(path.to_owned())],
        ..Default::default()
    };
    let number = |number| AddressOptions {
        columns: vec![ColumnId::Number(number)],
        ..Default::default()
    };
    let text = "10.0.0.1 a\n\nb\n10.0.0.1 a b\n";
    let json = "{\"src\":{\"ip\":\"10.0.0.1\"},\"n\":[{\"x\":1}]}\n\n{\"cut\nno\n";
    for (data, options, missing, notes) in [
        (text, field(3), None, "2 lines end before field 3"),
        (text, field(1), None, ""),
        (
            text,
            field(9),
            Some("no line has a field 9; the longest has 3"),
            "3 lines end before field 9",
        ),
        ("\n", field(9), None, ""),
        (
            json,
            path("src.ip"),
            None,
            "2 lines are no JSON, in which nothing was looked for",
        ),
        (
            json,
            path("src.addr"),
            Some("no line has a value at \"src.addr\"; there are n.x, src.ip"),
            "2 lines are no JSON, in which nothing was looked for",
        ),
        (
            "no\n",
            path("ip"),
            Some("no line is JSON, so none has a value at \"ip\""),
            "1 line is no JSON, in which nothing was looked for",
        ),
        ("", path("ip"), None, ""),
        (
            "10.0.0.1,a\n10.0.0.2,b,c\n",
            number(9),
            Some("no row has a column 9; the longest has 3"),
            "2 rows end before the column of addresses",
        ),
        (
            "10.0.0.1,a\n10.0.0.2,b,c\n",
            number(3),
            None,
            "1 row ends before the column of addresses",
        ),
    ] {
        let said = said(data, options);
        assert_eq!(said.0, [missing.map(str::to_owned)], "{data}");
        assert_eq!(said.1.join("|"), notes, "{data}");
    }
}

#[test]
fn elements_of_a_json_array_are_records() {
    let options = AddressOptions::default();
    for (data, expected) in [
        (
            r#"[{"a":"10.0.0.1"},{"a":"}{]["},{"a":"x\"}","b":[{"c":"10.0.0.3"}]}]"#,
            &["10.0.0.1", "-", "10.0.0.3"][..],
        ),
        (
            "\u{feff}[\n  {\n    \"a\": \"10.0.0.1\"\r\n  },\n  {\n    \"a\": \"10.0.0.2\"\n  }\n]\n",
            &["10.0.0.1", "10.0.0.2"],
        ),
        (
            "[{\"a\":\"10.0.0.1\"},\n{\"a\":\"10.0.0.2\"}\n]",
            &["10.0.0.1", "10.0.0.2"],
        ),
        (
            "[{},\"10.0.0.1\", 2 , [\"10.0.0.3\"] ,null]\n[{\"a\":\"10.0.0.4\"}]",
            &["-", "10.0.0.1", "-", "10.0.0.3", "-", "10.0.0.4"],
        ),
        (
            "{\n \"a\": \"10.0.0.1\"\n}\n{\n \"a\": \"10.0.0.2\"\n}\n",
            &["10.0.0.1", "10.0.0.2"],
        ),
        (
            "[{\"a\":\"10.0.0.1\"},\n{\"a\":",
            &["10.0.0.1", "t:2: the JSON is cut off"],
        ),
        (
            "[{\"a\":\"10.0.0.1\"},\n\n",
            &["10.0.0.1", "t:3: the JSON is cut off"],
        ),
        (
            "[{\"a\":\"10.0.0.1\"}\n{\"a\":1}]",
            &[
                "10.0.0.1",
                "t:2: \"{\"a\":1}]\": not what should stand here in JSON",
            ],
        ),
        (
            "[{\"a\":\"10.0.0.1\"}] x",
            &["10.0.0.1", "t:1: \"x\": not what should stand here in JSON"],
        ),
    ] {
        assert_eq!(read(data.as_bytes(), None, &options), expected, "{data}");
    }
    let input = Input::from_reader("t", Cursor::new(b"[\n{\n \"a\": 1 },\r\n 2]".to_vec()));
    let mut source = AddressFile::open(input, None, &options).unwrap();
    let mut batch = AddressBatch::new();
    assert!(source.next_batch(&mut batch).unwrap());
    let rows: Vec<_> = batch.rows().map(String::from_utf8_lossy).collect();
    assert_eq!(rows, ["{\"a\": 1 }", "2"]);
}

#[test]
fn a_quote_that_is_open_at_the_end_is_an_error() {
    let table = |data: &str| column(data, named("ip"));
    let error =
        |line: u32| format!("t:{line}: a quote is never closed, so that all after it is one cell");
    assert_eq!(
        table("ip,n\n10.0.0.1,\"a\n10.0.0.2,b\n10.0.0.3,c\n"),
        ["10.0.0.1".to_owned(), error(2)]
    );
    assert_eq!(
        table("ip,n\n10.0.0.1,\"a"),
        ["10.0.0.1".to_owned(), error(2)]
    );
    assert_eq!(table("ip,\"n\n10.0.0.1,a\n"), [error(1)]);
    for closed in ["\"a\nb\"", "5\" x", "\"a\"\"b\"", "\"\"", "\"a\"b\""] {
        assert_eq!(
            table(&format!("ip,n\n10.0.0.1,{closed}")),
            ["10.0.0.1"],
            "{closed}"
        );
        assert_eq!(
            table(&format!("n,ip\n{closed},10.0.0.1\n")),
            ["10.0.0.1"],
            "{closed}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// What comes of a file does not depend on the pieces in which it comes, and nothing makes it stop but its end.
    #[test]
    fn pieces_make_no_difference(
        json in r#"\[\{"a"(:|[{}\[\]," \n\\]|10\.0\.0\.1|"b":\{\}){0,40}"#,
        table in "(a,b\n)?([;\",\n\r x]|10\\.0\\.0\\.1|::1){0,40}",
    ) {
        let options = AddressOptions { is_table: true, ..Default::default() };
        read(json.as_bytes(), None, &options);
        read(table.as_bytes(), None, &options);
    }
}
