//! Every one of the 2^32 IPv4 addresses, on a full table.
//!
//! The judge's segments say where answers change; in between all addresses have
//! the answer of the segment. Every address is looked up, none is inferred. Both
//! halves of the address space are swept at the same time. popfib and DIR-24-8
//! take some seconds each and are swept on every heavy run; the pointer-chasing
//! structures take minutes and are asked at both ends and in the middle of every
//! segment, unless `POPFIB_SWEEP=all` has them swept as well.

use crate::forms::rib;
use crate::real_tables;
use crate::segments::Segments;
use popfib_baselines::{Baseline, CannotBuild, Lpm, Popfib};
use std::ops::RangeInclusive;

/// Addresses that are looked up at a time.
const BLOCK: u32 = 4_096;

/// Counts the addresses of the range; panics at a wrong answer.
fn sweep(lpm: &dyn Lpm<u32>, segments: &Segments, range: RangeInclusive<u32>) -> u64 {
    let (mut addresses, mut answers) = (Vec::new(), vec![0; BLOCK as usize]);
    let mut swept = 0;
    let mut first = *range.start();
    loop {
        let last = first.saturating_add(BLOCK - 1).min(*range.end());
        addresses.clear();
        addresses.extend(first..=last);
        let answers = &mut answers[..addresses.len()];
        lpm.lookup_batch(&addresses, answers);
        let mut at = 0;
        // The segments of the block, each with its end inside of it.
        while at < answers.len() {
            let address = first + at as u32;
            let (expected, end) = segments.stretch(u128::from(address) << 96);
            let end = ((end >> 96) as u32).min(last);
            let next = (end - first) as usize + 1;
            if let Some(wrong) = answers[at..next].iter().position(|&a| a != expected) {
                let address = std::net::Ipv4Addr::from(address + wrong as u32);
                let answer = answers[at + wrong];
                panic!("{} says {answer} for {address}, not {expected}", lpm.name());
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

fn sweep_all(lpm: &dyn Lpm<u32>, segments: &Segments) {
    let half = 1 << 31;
    let swept: u64 = std::thread::scope(|scope| {
        let halves = [0..=half - 1, half..=u32::MAX];
        let sweeps = halves.map(|range| scope.spawn(|| sweep(lpm, segments, range)));
        sweeps.map(|sweep| sweep.join().unwrap()).iter().sum()
    });
    assert_eq!(swept, 1 << 32, "{}", lpm.name());
}

/// Asks at both ends and in the middle of every segment.
fn segment_by_segment(lpm: &dyn Lpm<u32>, segments: &Segments) {
    let mut first = 0u32;
    loop {
        let (expected, end) = segments.stretch(u128::from(first) << 96);
        let last = (end >> 96) as u32;
        for address in [first, first + (last - first) / 2, last] {
            let answer = lpm.lookup(address);
            let shown = std::net::Ipv4Addr::from(address);
            assert_eq!(answer, expected, "{} for {shown}", lpm.name());
        }
        let Some(next) = last.checked_add(1) else {
            return;
        };
        first = next;
    }
}

#[test]
#[ignore = "2^32 lookups of each algorithm"]
fn heavy_every_address_of_a_full_table() {
    let Some(table) = real_tables::load("ris-as3333-20260511-v4.fib64.txt.gz") else {
        return;
    };
    let segments = Segments::new(&table.v4);
    let rib = rib::<u32>(&table.v4);
    sweep_all(&Popfib::<u32>::build(&rib).unwrap(), &segments);
    let all = std::env::var_os("POPFIB_SWEEP").is_some_and(|what| what == "all");
    for baseline in Baseline::ALL {
        match baseline.build(&rib) {
            Ok(lpm) if all || matches!(baseline, Baseline::Dir24x8) => sweep_all(&*lpm, &segments),
            Ok(lpm) => segment_by_segment(&*lpm, &segments),
            // A table of a million routes may have more ranges than 2^19.
            Err(CannotBuild::TooMany { what: "ranges", .. })
                if matches!(baseline, Baseline::Dxr16 | Baseline::Dxr18) =>
            {
                println!("{}: more ranges than it can number", baseline.name());
            }
            Err(error) => panic!("{}: {error}", baseline.name()),
        }
    }
}
