//! Captured packets: any bytes after each of the headers. Whatever comes, the
//! source ends, and says the same in pieces as in one read.
#![no_main]

use std::io::{Cursor, Read, Result};

use libfuzzer_sys::fuzz_target;
use popfib_formats::addresses::PacketSide;
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

/// Addresses and errors, in order.
fn read(data: &[u8], piece: usize, side: PacketSide) -> Vec<String> {
    let input = Input::from_reader("t", Pieces(Cursor::new(data.to_vec()), piece));
    let mut seen = Vec::new();
    let options = AddressOptions {
        side,
        ..AddressOptions::default()
    };
    let format = AddressFormat::by_name("pcap");
    let mut source = match AddressFile::open(input, format, &options) {
        Ok(source) => source,
        Err(error) => return vec![error.to_string()],
    };
    let mut batch = AddressBatch::new();
    loop {
        match source.next_batch(&mut batch) {
            Ok(false) => return seen,
            Ok(true) => {
                assert!(!batch.is_empty());
                seen.extend(batch.ipv4().iter().map(u32::to_string));
                seen.extend(batch.ipv6().iter().map(u128::to_string));
            }
            Err(error) => seen.push(error.to_string()),
        }
        // Each takes at least the smallest block.
        assert!(seen.len() <= data.len() / 12 + 2);
    }
}

fuzz_target!(|data: &[u8]| {
    // Compressed data is another target's.
    if data.starts_with(&[0x1f, 0x8b]) || data.starts_with(b"BZh") || data.starts_with(b"\x28\xb5")
    {
        return;
    }
    let mut whole = read(data, usize::MAX, PacketSide::Destination);
    let mut pieces = read(data, 7, PacketSide::Destination);
    // Batches keep the families apart, and end elsewhere.
    whole.sort();
    pieces.sort();
    assert_eq!(whole, pieces);
    assert_eq!(
        read(data, usize::MAX, PacketSide::Source).len(),
        whole.len()
    );
});
