//! IPv4-mapped addresses (`::ffff:192.0.2.1`) that have no answer as the IPv6 addresses that they are, and one as IPv4: batches and
//! their answers in, a note with the option that helps out. The families are never mixed unasked.

use std::sync::atomic::{AtomicU64, Ordering};

use popfib::Kernel;
use popfib_formats::AddressBatch;
use popfib_program::failure::Failure;

use super::answers::Ask;
use super::table::NamedTable;
use super::table_column::Asked;
use crate::output::note;

/// How many there were so far. Threads add to the same count.
#[derive(Default)]
pub(crate) struct MappedMisses(AtomicU64);

impl MappedMisses {
    /// Adds those of `batch`; `is_hit` says whether the IPv6 address at a place of it has an answer, `count` how many of these
    /// IPv4 addresses, of these places, have one.
    pub(crate) fn add(
        &self,
        batch: &AddressBatch,
        is_hit: impl Fn(usize) -> bool,
        count: impl FnOnce(&[u32], &[usize]) -> Result<u64, Failure>,
    ) -> Result<(), Failure> {
        let is_mapped = |address: u128| address >> 32 == 0xffff;
        if !batch.ipv6().iter().any(|&address| is_mapped(address)) {
            return Ok(());
        }
        let all = batch.ipv6().iter().enumerate();
        let misses = all.filter(|&(at, &address)| is_mapped(address) && !is_hit(at));
        let misses = misses.map(|(at, &address)| (address as u32, at));
        let (misses, places): (Vec<_>, Vec<_>) = misses.unzip();
        self.0
            .fetch_add(count(&misses, &places)?, Ordering::Relaxed);
        Ok(())
    }

    /// The same of these tables, whose answers have the numbers `of_6`; `set` has the number of each address's table if there are several.
    pub(crate) fn add_of_tables(
        &self,
        batch: &AddressBatch,
        set: &[u32],
        of_6: &[Vec<u32>],
        tables: &[NamedTable],
        kernel: Kernel,
    ) -> Result<(), Failure> {
        let is_hit = |at: usize| of_6.iter().any(|numbers| numbers[at] != 0);
        self.add(batch, is_hit, |addresses, places| {
            let set = places.iter().filter_map(|&at| set.get(at).copied());
            let set: Vec<u32> = set.collect();
            let asked = Asked {
                addresses,
                tables: &set,
            };
            let mut hits = vec![false; addresses.len()];
            let mut numbers = Vec::new();
            for table in tables {
                table.look_up(Ask::Value, kernel, asked, &mut numbers)?;
                let numbers = hits.iter_mut().zip(&numbers);
                numbers.for_each(|(hit, &number)| *hit |= number != 0);
            }
            Ok(hits.iter().filter(|hit| **hit).count() as u64)
        })
    }

    /// Adds one.
    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Says how many there were.
    pub(crate) fn note(&self) {
        let count = self.0.load(Ordering::Relaxed);
        if count > 0 {
            let s = if count == 1 { " has" } else { "es have" };
            let reason = "no answer as IPv6 and one as IPv4, which --unmap takes";
            note!("{count} IPv4-mapped address{s} {reason}");
        }
    }
}
