//! Address sources: every format, cut in pieces of any length, and everything that can be wrong.

use std::io::{self, Cursor, Read};
use std::net::IpAddr;
use std::sync::Arc;

use popfib::family::ByFamily;
use popfib::{NextHop, Rib};
use popfib_formats::addresses::{AddressPick, ColumnId, LinePart};
use popfib_formats::{
    AddressBatch, AddressFile, AddressFormat, AddressOptions, AddressSource, Input,
};
use popfib_table::Ribs;

/// Hands out its data in pieces of the given length, however much is asked for.
struct Pieces(Cursor<Vec<u8>>, usize);

impl Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = buf.len().min(self.1);
        self.0.read(&mut buf[..n])
    }
}

/// Addresses as text, `-` for a row without, and errors, in the order of the file.
pub(crate) fn read(
    data: &[u8],
    format: Option<AddressFormat>,
    options: &AddressOptions,
) -> Vec<String> {
    let all = |piece| {
        let input = Input::from_reader("t", Pieces(Cursor::new(data.to_vec()), piece));
        let mut source = match AddressFile::open(input, format, options) {
            Ok(source) => source,
            Err(error) => return vec![error.to_string()],
        };
        let mut batch = AddressBatch::new();
        let mut seen = Vec::new();
        loop {
            match source.next_batch(&mut batch) {
                Ok(false) => return seen,
                Ok(true) => seen.extend(shown(&batch)),
                Err(error) => {
                    seen.push(error.to_string());
                    assert!(seen.len() < 1000, "errors without end");
                }
            }
        }
    };
    let whole = all(usize::MAX);
    for piece in [1, 3, 1000] {
        assert_eq!(all(piece), whole, "in pieces of {piece}");
    }
    whole
}

fn shown(batch: &AddressBatch) -> Vec<String> {
    let shown = |found: Option<(IpAddr, usize)>| match found {
        Some((address, _)) => address.to_string(),
        None => "-".to_string(),
    };
    let seen: Vec<_> = batch.iter().map(shown).collect();
    assert_eq!(seen.len(), batch.len());
    seen
}

pub(crate) fn detected(data: &[u8]) -> Vec<String> {
    read(data, None, &AddressOptions::default())
}

pub(crate) fn column(data: &str, column: ColumnId) -> Vec<String> {
    read(
        data.as_bytes(),
        None,
        &AddressOptions {
            columns: vec![column],
            ..Default::default()
        },
    )
}

pub(crate) fn named(name: &str) -> ColumnId {
    ColumnId::Name(name.to_owned())
}

#[test]
fn each_line_has_its_address_or_none() {
    assert_eq!(
        detected(b"\xef\xbb\xbf# list\r\n10.0.0.1\r\n\n10.0.0.2 ; one\n 2001:DB8::1\t\n::ffff:1.2.3.4\n255.255.255.255\n\x00\xff10.0.0.4\nsrc=10.0.0.3:80"),
        ["-", "10.0.0.1", "-", "10.0.0.2", "2001:db8::1", "::ffff:1.2.3.4", "255.255.255.255", "10.0.0.4", "10.0.0.3"]
    );
    assert!(detected(b"").is_empty());
    assert_eq!(detected(b"\n\n"), ["-", "-"]);
    let long = format!("10.0.0.1\n{} 10.0.0.2\n10.0.0.3\n", "1".repeat(700_000));
    assert_eq!(
        detected(long.as_bytes()),
        ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
    );
}

/// The addresses of lines in which they are looked for by `options`, a row in brackets where it
/// has several cells.
fn picked(data: &str, options: AddressOptions) -> Vec<String> {
    let input = Input::from_reader("t", Cursor::new(data.as_bytes().to_vec()));
    let mut source = AddressFile::open(input, None, &options).unwrap();
    let mut batch = AddressBatch::new();
    let mut seen = Vec::new();
    while source.next_batch(&mut batch).unwrap() {
        let mut all = shown(&batch).into_iter();
        assert_eq!(
            batch
                .rows()
                .map(<[u8]>::to_vec)
                .collect::<Vec<_>>()
                .join(&b'\n'),
            data.trim_end().as_bytes()
        );
        if batch.cells().is_empty() {
            seen.extend(all);
            continue;
        }
        for &count in batch.cells() {
            let cell: Vec<String> = all.by_ref().take(count.max(1) as usize).collect();
            seen.push(cell.join(","));
        }
        assert_eq!(all.next(), None);
    }
    seen
}

#[test]
fn parts_of_lines_and_several_addresses() {
    let lines = "a 10.0.0.1 10.0.0.2,10.0.0.3\n\tx  ::ffff:10.0.0.4\n";
    let with = |parts: &[LinePart], pick| AddressOptions {
        parts: parts.to_vec(),
        pick,
        unmap: true,
        ..Default::default()
    };
    let first = AddressPick::Nth(1);
    assert_eq!(picked(lines, with(&[], first)), ["10.0.0.1", "10.0.0.4"]);
    assert_eq!(
        picked(lines, with(&[], AddressPick::Nth(3))),
        ["10.0.0.3", "-"]
    );
    assert_eq!(
        picked(lines, with(&[], AddressPick::Last)),
        ["10.0.0.3", "10.0.0.4"]
    );
    assert_eq!(
        picked(lines, with(&[], AddressPick::All)),
        ["10.0.0.1,10.0.0.2,10.0.0.3", "10.0.0.4"]
    );
    let fields = [LinePart::Field(2, None), LinePart::Field(3, None)];
    assert_eq!(
        picked(lines, with(&fields, first)),
        ["10.0.0.1", "10.0.0.2", "10.0.0.4", "-"]
    );
    assert_eq!(
        picked(lines, with(&fields, AddressPick::All)),
        ["10.0.0.1", "10.0.0.2,10.0.0.3", "10.0.0.4", "-"]
    );
    let comma = [LinePart::Field(2, Some(b','))];
    assert_eq!(picked(lines, with(&comma, first)), ["10.0.0.3", "-"]);
    // What is passed over counts for nothing, and an IPv4-mapped address is the one that it stands for.
    let not_in = ["10.0.0.2/31", "10.0.0.4/32"].map(|p| (p.parse().unwrap(), NextHop::MIN));
    let not_in = Some(Arc::new(ByFamily::<Ribs> {
        ipv4: Rib::from_iter(not_in),
        ipv6: Rib::new(),
    }));
    for (pick, expected) in [
        (first, "10.0.0.1"),
        (AddressPick::Nth(2), "-"),
        (AddressPick::Last, "10.0.0.1"),
        (AddressPick::All, "10.0.0.1"),
    ] {
        let options = AddressOptions {
            not_in: not_in.clone(),
            ..with(&[], pick)
        };
        assert_eq!(picked(lines, options), [expected, "-"]);
    }
    let json = "{\"a\":{\"b\":[\"10.0.0.1\",\"10.0.0.2:80\"]}}\n{\"a\":1}\n";
    let path = [LinePart::Path("a.b".to_owned())];
    assert_eq!(picked(json, with(&path, first)), ["10.0.0.1", "-"]);
    assert_eq!(
        picked(json, with(&path, AddressPick::All)),
        ["10.0.0.1,10.0.0.2", "-"]
    );
}

#[test]
fn many_lines_are_all_read() {
    let lines: Vec<String> = (0..50_000u32)
        .map(|n| IpAddr::V4((n * 85_899).into()).to_string())
        .collect();
    assert!(detected(lines.join("\n").as_bytes()) == lines);
    assert!(detected((lines.join("\r\n") + "\r\n").as_bytes()) == lines);
}

#[test]
fn a_column_by_number_and_by_name() {
    let table = "time,src,\"dst, really\"\r\n1,10.0.0.1,\"2001:db8::1\"\r\n\r\n2,,::\r\n3,\" 10.0.0.3 \",::3";
    // The second line of data is blank.
    assert_eq!(
        column(table, named("src")),
        ["10.0.0.1", "-", "-", "10.0.0.3"]
    );
    assert_eq!(
        column(table, named("dst, really")),
        ["2001:db8::1", "-", "::", "::3"]
    );
    assert_eq!(
        column(table, ColumnId::Number(2)),
        ["10.0.0.1", "-", "-", "10.0.0.3"]
    );
    let blank = "ip,n\n10.0.0.1,1\n\n\n10.0.0.2,2\n\n";
    assert_eq!(
        column(blank, named("ip")),
        ["10.0.0.1", "-", "-", "10.0.0.2", "-"]
    );
    // The first column if none is given, and no header where the first row is data.
    let table = |data: &str| {
        let options = AddressOptions {
            is_table: true,
            ..Default::default()
        };
        read(data.as_bytes(), None, &options)
    };
    assert_eq!(table("10.0.0.1:53,a\n-,b\n"), ["10.0.0.1", "-"]);
    assert_eq!(table("-,b\n10.0.0.2,b\n"), ["-", "10.0.0.2"]);
    assert_eq!(table("ip\tname\n10.0.0.1\ta, b\n"), ["10.0.0.1"]);
    assert_eq!(table("ip;name\n10.0.0.1;1,5\n"), ["10.0.0.1"]);
    assert_eq!(table("10.0.0.1\n10.0.0.2\n"), ["10.0.0.1", "10.0.0.2"]);
    assert_eq!(column("ip\n10.0.0.1\n", named("ip")), ["10.0.0.1"]);
}

#[test]
fn quotes_and_line_ends_inside_of_cells() {
    let table = "note,ip\n\"one \"\"two\"\"\nthree\",10.0.0.1\n\"a,b\",\"10.0.0.2\"\nx,bad\n";
    assert_eq!(column(table, named("ip")), ["10.0.0.1", "10.0.0.2", "-"]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_name() {
    let named = column(
        "\u{feff}ip,name\n192.0.2.1,a\n",
        ColumnId::Name("ip".into()),
    );
    assert_eq!(named, ["192.0.2.1"]);
}

#[test]
fn rows_without_the_column() {
    assert_eq!(
        column("a,b\n1,2\n", named("ip")),
        ["t: no column \"ip\"; there are \"a\", \"b\""]
    );
    assert_eq!(
        column("", named("ip")),
        ["t: no column \"ip\": the file is empty"]
    );
    assert_eq!(
        column("a,b\n1,2\n", ColumnId::Number(3)),
        ["t:1: no column 3: the row has 2 columns"]
    );
    assert_eq!(
        column("n,ip\n1,10.0.0.1\n2\n3,10.0.0.3\n", named("ip")),
        ["10.0.0.1", "-", "10.0.0.3"]
    );
}

#[test]
fn a_quote_that_is_never_closed_ends_in_an_error() {
    let mut table = String::from("ip,note\n10.0.0.1,\"");
    table.push_str(&"10.0.0.2,x\n".repeat(200_000));
    let input = Input::from_reader("t", Cursor::new(table.into_bytes()));
    let options = AddressOptions {
        is_table: true,
        ..Default::default()
    };
    let mut source = AddressFile::open(input, None, &options).unwrap();
    let mut batch = AddressBatch::new();
    let error = source.next_batch(&mut batch).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t: line 2: the row is longer than 1048576 bytes"
    );
    assert!(!error.is_invalid_line());
    assert!(!source.next_batch(&mut batch).unwrap());
}

#[test]
fn raw_records() {
    let options = AddressOptions::default();
    let data: Vec<u8> = (1..=8).collect();
    assert_eq!(
        read(&data, Some(format("raw-ipv4")), &options),
        ["1.2.3.4", "5.6.7.8"]
    );
    let data: Vec<u8> = (0..18).collect();
    assert_eq!(
        read(&data, Some(format("raw-ipv6")), &options),
        [
            "1:203:405:607:809:a0b:c0d:e0f",
            "t: byte 16: cut off: 2 bytes left of a record of 16"
        ]
    );
    assert!(read(&[], Some(format("raw-ipv4")), &options).is_empty());
}

#[test]
fn formats_are_told_apart_by_name_and_content() {
    for (name, named) in [
        ("a.csv", "csv"),
        ("a/b.CSV.gz", "csv"),
        ("x.tsv.zst", "tsv"),
        ("x.json", "text"),
        ("csv", "text"),
        ("a.csv.old", "text"),
    ] {
        let mut input = Input::from_reader(name, Cursor::new(b"10.0.0.1,x\n".to_vec()));
        assert_eq!(AddressFormat::of(&mut input), format(named), "{name}");
    }
    for (data, format) in [
        (&b"10.0.0.1\n"[..], format("text")),
        (b"# a,b\n10.0.0.1\n", format("text")),
        (b"10.0.0.1 # a,b\n", format("text")),
        (b"10.0.0.1,x\n", format("text")),
        (b"a\tb\n", format("text")),
        (b" {\"a\":1}\n", format("json-lines")),
        (b"\xef\xbb\xbf{ \"a\":1}\n", format("json-lines")),
        (b"{}\n", format("json-lines")),
        (b"{\n  \"a\":1}\n", format("json-lines")),
        (b"[\n  {\"a\":1}]\n", format("json-lines")),
        (b"{start} 10.1.1.1\n", format("text")),
        (b"{\n", format("text")),
        (b"[2026-11-25] 10.0.0.1\n", format("text")),
        (b"[{x}] 10.0.0.1\n", format("text")),
        (b"[\"10.0.0.1\"]\n", format("text")),
        (b"ts,src\n1,10.0.0.1\n", format("csv")),
        (b"ts;src\n1;\"10.0.0.1:80\"\n", format("csv")),
        (b"\n\"ts, x\",src\r\n1,10.0.0.0/8\r\n", format("csv")),
        (b"ts\tsrc\n1\t::1\n", format("tsv")),
        (b"ts,src\n1,from 10.0.0.1\n", format("text")),
        (b"ts,src\n1,2,10.0.0.1\n", format("text")),
        (b"ts,src\n10.0.0.1\n", format("text")),
        (b"ts,src\n", format("text")),
        (b"ts,10.0.0.2\n1,10.0.0.1\n", format("text")),
        (b"ts,1\n1,10.0.0.1\n", format("text")),
        (b"# ts,src\n1,10.0.0.1\n", format("text")),
        (b"PAR1", format("parquet")),
        (b"PAR", format("text")),
        (b"\xd4\xc3\xb2\xa1", format("pcap")),
        (b"\n\r\r\n", format("pcap")),
        (b"\n\r\n10.0.0.1\n", format("text")),
        (b"", format("text")),
    ] {
        let mut input = Input::from_reader("t", Cursor::new(data.to_vec()));
        assert_eq!(
            AddressFormat::of(&mut input),
            format,
            "{:?}",
            String::from_utf8_lossy(data)
        );
    }
}

#[test]
fn detection_waits_for_the_first_line_only() {
    struct FirstLine(&'static [u8]);
    impl Read for FirstLine {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "more was asked for");
            self.0.read(buf)
        }
    }
    let input = Input::from_reader("t", FirstLine(b"10.0.0.1\n"));
    let mut source = AddressFile::open(input, None, &AddressOptions::default()).unwrap();
    let mut batch = AddressBatch::new();
    assert!(source.next_batch(&mut batch).unwrap());
    assert_eq!(shown(&batch), ["10.0.0.1"]);
}

fn format(name: &str) -> AddressFormat {
    AddressFormat::by_name(name).expect("a format of that name")
}
