//! Every one of the 2^32 IPv4 addresses, on a full table.
//!
//! The judge's segments say where answers change; in between all addresses have
//! the answer of the segment. Every address is looked up, none is inferred. Both
//! halves of the address space are swept at the same time.

use crate::judge::rib;
use crate::real_files;
use crate::segments::Segments;
use crate::sweeps;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

/// Addresses that are looked up at a time.
const BLOCK: u32 = 4_096;

/// Counts the addresses of the range; panics at a wrong answer. `look_up` appends the answers.
fn sweep(
    name: &str,
    segments: &Segments,
    range: RangeInclusive<u32>,
    look_up: impl Fn(&[u32], &mut Vec<u32>),
) -> u64 {
    let (mut addresses, mut answers) = (Vec::new(), Vec::new());
    let mut swept = 0;
    let mut first = *range.start();
    loop {
        let last = first.saturating_add(BLOCK - 1).min(*range.end());
        addresses.clear();
        addresses.extend(first..=last);
        answers.clear();
        look_up(&addresses, &mut answers);
        assert_eq!(answers.len(), addresses.len());
        let mut at = 0;
        // The segments of the block, each with its end inside of it.
        while at < answers.len() {
            let address = first + at as u32;
            let (expected, end) = segments.stretch(u128::from(address) << 96);
            let end = ((end >> 96) as u32).min(last);
            let next = (end - first) as usize + 1;
            if let Some(wrong) = answers[at..next].iter().position(|&a| a != expected) {
                let address = Ipv4Addr::from(address + wrong as u32);
                let answer = answers[at + wrong];
                panic!("{name} says {answer} for {address}, not {expected}");
            }
            at = next;
        }
        swept += addresses.len() as u64;
        if last == *range.end() {
            return swept;
        }
        first = last + 1;
    }
}

/// Looks up every address.
pub(crate) fn every_address(
    name: &str,
    segments: &Segments,
    look_up: impl Fn(&[u32], &mut Vec<u32>) + Sync,
) {
    let half = 1 << 31;
    let look_up = &look_up;
    let swept: u64 = std::thread::scope(|scope| {
        let halves = [0..=half - 1, half..=u32::MAX];
        let sweeps = halves.map(|range| scope.spawn(|| sweep(name, segments, range, look_up)));
        sweeps.map(|sweep| sweep.join().unwrap()).iter().sum()
    });
    assert_eq!(swept, 1 << 32, "{name}");
}

/// Asks at both ends and in the middle of every segment.
#[allow(dead_code, reason = "the library sweeps every address")]
pub(crate) fn every_segment(name: &str, segments: &Segments, look_up: impl Fn(u32) -> u32) {
    let mut first = 0u32;
    loop {
        let (expected, end) = segments.stretch(u128::from(first) << 96);
        let last = (end >> 96) as u32;
        for address in [first, first + (last - first) / 2, last] {
            let shown = Ipv4Addr::from(address);
            assert_eq!(look_up(address), expected, "{name} for {shown}");
        }
        let Some(next) = last.checked_add(1) else {
            return;
        };
        first = next;
    }
}

#[test]
#[ignore = "2^32 lookups"]
fn heavy_every_address_of_a_full_table() {
    let Some(table) = real_files::load("ris-as3333-20260511-v4.fib64.txt.gz") else {
        return;
    };
    sweeps::sweep(&rib::<u32>(&table.v4), &Segments::new(&table.v4));
}
