//! Memory stays bounded beside the table, however much data comes in. A program
//! of its own with one test, because it measures the whole process.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::io::{self, Read};

use common::{SKIP, STRICT, gzip};
use popfib_formats::{Input, load_from};

/// The most memory that this process ever had, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// `piece`, `times` over.
struct Repeated {
    piece: Vec<u8>,
    times: usize,
    at: usize,
}

impl Repeated {
    fn input(piece: Vec<u8>, times: usize) -> Input {
        Input::from_reader(
            "t",
            Self {
                piece,
                times,
                at: 0,
            },
        )
    }
}

impl Read for Repeated {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            self.at = 0;
            self.times -= 1;
        }
        if self.times == 0 {
            return Ok(0);
        }
        let n = buf.len().min(self.piece.len() - self.at);
        buf[..n].copy_from_slice(&self.piece[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[test]
fn memory_is_bounded() {
    const MIB: usize = 1 << 20;
    const BOUND: u64 = 16 << 10;
    let megabyte = gzip(&vec![b'x'; MIB]);
    let lines = b"10.0.0.0/8 some-next-hop\n".repeat(10_000);
    let before = peak();

    // One line of 200 MiB out of a few hundred kilobytes of gzip.
    let error = load_from(Repeated::input(megabyte, 200), &SKIP).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t: there is no valid route in it (1 invalid line skipped)"
    );

    // A line of 2 GB without compression.
    let error = load_from(Repeated::input(vec![b'x'; MIB], 2000), &STRICT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t:1: the line is longer than 65536 bytes"
    );

    // 10 million lines (250 MB) for one prefix: the table stays small, and so must the rest.
    let table = load_from(Repeated::input(lines, 1000), &STRICT).unwrap();
    assert_eq!((table.ipv4.len(), table.replaced), (1, 9_999_999));

    let grown = peak() - before;
    assert!(grown < BOUND, "{grown} KiB");
}
