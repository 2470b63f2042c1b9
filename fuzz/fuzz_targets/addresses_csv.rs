//! Columns of addresses: any bytes. The same in pieces as in one read, and each
//! row that is handed out stands in the file.
#![no_main]

use std::io::{Cursor, Read, Result};

use libfuzzer_sys::fuzz_target;
use popfib_formats::{AddressBatch, AddressSource, Column, CsvAddresses, Input};

struct Pieces(Cursor<Vec<u8>>, usize);

impl Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        let n = buf.len().min(self.1);
        self.0.read(&mut buf[..n])
    }
}

/// Rows and errors, in order.
fn read(data: &[u8], piece: usize, column: &Column) -> Vec<Vec<u8>> {
    let input = Input::from_reader("t", Pieces(Cursor::new(data.to_vec()), piece));
    let mut source = match CsvAddresses::new(input, b',', column) {
        Ok(source) => source,
        Err(error) => return vec![error.to_string().into_bytes()],
    };
    let mut seen: Vec<Vec<u8>> = source.header().map(<[u8]>::to_vec).into_iter().collect();
    let mut batch = AddressBatch::new();
    loop {
        match source.next_batch(&mut batch) {
            Ok(false) => return seen,
            Ok(true) => {
                assert_eq!(batch.rows().count(), batch.len());
                for row in batch.rows() {
                    assert!(memchr::memmem::find(data, row).is_some());
                    seen.push(row.to_vec());
                }
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
    for column in [Column::Number(2), Column::Name("ip".to_owned())] {
        let whole = read(data, usize::MAX, &column);
        assert_eq!(read(data, 1, &column), whole);
    }
});
