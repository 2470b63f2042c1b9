//! Addresses in lines and in columns: any bytes. The same in pieces as in one read; each line comes
//! once, in order, byte for byte; each record of a table stands in the file.
#![no_main]

use std::io::{Cursor, Read, Result};

use libfuzzer_sys::fuzz_target;
use popfib_formats::addresses::{AddressPick, ColumnId, LinePart, find_address};
use popfib_formats::{
    AddressBatch, AddressFile, AddressFormat, AddressOptions, AddressSource, Input,
};

struct Pieces(Cursor<Vec<u8>>, usize);

impl Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        let n = buf.len().min(self.1);
        self.0.read(&mut buf[..n])
    }
}

/// Rows and errors, in order; and the addresses, as text.
fn read(
    data: &[u8],
    piece: usize,
    format: &str,
    options: &AddressOptions,
) -> (Vec<Vec<u8>>, String) {
    let input = Input::from_reader("t", Pieces(Cursor::new(data.to_vec()), piece));
    let format: AddressFormat = format.parse().expect("there is such a format");
    let mut source = match AddressFile::open(input, Some(format), options) {
        Ok(source) => source,
        Err(error) => return (vec![error.to_string().into_bytes()], String::new()),
    };
    let header = source.table().and_then(|table| table.header);
    let mut seen: Vec<Vec<u8>> = header.map(<[u8]>::to_vec).into_iter().collect();
    let mut addresses = (Vec::new(), Vec::new(), 0);
    let mut batch = AddressBatch::new();
    loop {
        match source.next_batch(&mut batch) {
            Ok(false) => return (seen, format!("{addresses:?}")),
            Ok(true) => {
                let cells = options.parts.len().max(1);
                match batch.cells() {
                    [] => assert_eq!(batch.rows().len(), batch.len()),
                    counts => assert_eq!(counts.len(), batch.rows().len() * cells),
                }
                addresses.0.extend_from_slice(batch.ipv4());
                addresses.1.extend_from_slice(batch.ipv6());
                addresses.2 += batch.len();
                seen.extend(batch.rows().map(<[u8]>::to_vec));
            }
            Err(error) => seen.push(error.to_string().into_bytes()),
        }
        assert!(seen.len() <= data.len() + 2);
    }
}

fuzz_target!(|data: &[u8]| {
    // Compressed data is another target's.
    if data.starts_with(&[0x1f, 0x8b]) || data.starts_with(b"BZh") || data.starts_with(b"\x28\xb5")
    {
        return;
    }
    for columns in [
        vec![],
        vec![ColumnId::Number(2)],
        vec![ColumnId::Name("ip".to_owned())],
    ] {
        let options = AddressOptions {
            columns,
            ..Default::default()
        };
        let (rows, addresses) = read(data, usize::MAX, "csv", &options);
        assert_eq!(read(data, 1, "csv", &options), (rows, addresses));
    }
    let path = LinePart::Path("a".to_owned());
    for (format, parts, pick) in [
        ("text", vec![], AddressPick::Nth(1)),
        ("text", vec![], AddressPick::All),
        (
            "text",
            vec![LinePart::Field(2, None), LinePart::Field(1, Some(b','))],
            AddressPick::Last,
        ),
        ("json-lines", vec![path], AddressPick::All),
    ] {
        let options = AddressOptions {
            parts,
            pick,
            ..Default::default()
        };
        let (rows, addresses) = read(data, usize::MAX, format, &options);
        let lines: Vec<&[u8]> = data.split_inclusive(|&byte| byte == b'\n').collect();
        let is_packed = rows.len() == 1 && rows[0].starts_with(b"t: this is ");
        // Objects in arrays or spread over lines are made lines.
        if !is_packed && format == "text" {
            assert!(
                rows.iter().eq(lines
                    .iter()
                    .map(|line| line.strip_suffix(b"\n").unwrap_or(line)))
            );
        }
        assert_eq!(read(data, 1, format, &options), (rows, addresses));
    }
    // The lines up to where the names of the fields change.
    for column in [ColumnId::Number(2), ColumnId::Name("ip".to_owned())] {
        let options = AddressOptions {
            columns: vec![column],
            ..Default::default()
        };
        let (rows, addresses) = read(data, usize::MAX, "fields", &options);
        assert_eq!(read(data, 1, "fields", &options), (rows, addresses));
    }
    let mut at = 0;
    while let Some(found) = find_address(data, at) {
        assert!(at <= found.range.start && found.range.start < found.range.end);
        at = found.range.end;
    }
});
