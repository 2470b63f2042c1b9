//! Batches of addresses in, selected lines out: each address is looked up in the tables.

use std::fmt::Write;
use std::net::IpAddr;

use popfib::family::Family;
use popfib_formats::AddressBatch;
use popfib_program::failure::Failure;

use super::{Grep, LineMatches};
use crate::stream::answers::Ask;
use crate::stream::table_column::Asked;

impl Grep<'_> {
    /// Selects and prints lines by their addresses; false if no more are wanted.
    pub(super) fn take_addresses(&mut self, batch: &AddressBatch) -> Result<bool, Failure> {
        let hits_4 = self.hits(batch.ipv4())?;
        let hits_6 = self.hits(batch.ipv6())?;
        let mapped = std::mem::take(&mut self.mapped);
        let is_hit = |hits: Vec<bool>| hits.into_iter().filter(|hit| *hit).count() as u64;
        let added = mapped.add(
            batch,
            |at| hits_6[at],
            |ipv4, _| self.hits(ipv4).map(is_hit),
        );
        self.mapped = mapped;
        added?;
        let mut addresses = batch.iter().map(|found| {
            let (address, at) = found?;
            let hits = if address.is_ipv4() { &hits_4 } else { &hits_6 };
            Some((address, hits[at]))
        });
        let mut rows = batch.rows();
        let is_text = rows.len() > 0;
        let mut cells = batch.cells().chunks(self.cells);
        let mut found = Vec::new();
        let mut text = String::new();
        loop {
            let count = match cells.next() {
                Some(cells) => cells.iter().map(|&count| count.max(1) as usize).sum(),
                None => 1,
            };
            found.clear();
            found.extend(addresses.by_ref().take(count));
            if found.is_empty() {
                return Ok(true);
            }
            let is_hit = found.iter().flatten().any(|&(_, is_hit)| is_hit);
            let Some(is_selected) = self.select(is_hit) else {
                return Ok(false);
            };
            if self.shows_lines() {
                let row = rows.next().unwrap_or_else(|| {
                    if !is_text {
                        spell(&found, &mut text);
                    }
                    text.as_bytes()
                });
                self.show(row, is_selected, LineMatches::Addresses(&found))?;
            }
            if self.is_over() {
                return Ok(false);
            }
        }
    }

    /// Whether each address has a match that counts in one of the tables.
    fn hits<A: Family>(&mut self, addresses: &[A]) -> Result<Vec<bool>, Failure> {
        let mut hits = vec![false; addresses.len()];
        let searched = &self.searched;
        let asked = Asked {
            addresses,
            tables: &[],
        };
        for (table, counts) in searched.tables.iter().zip(&searched.selected) {
            let numbers = &mut self.numbers;
            table.look_up(Ask::Value, self.kernel, asked, numbers)?;
            for (hit, &number) in hits.iter_mut().zip(&*numbers) {
                *hit |= counts[number as usize];
            }
        }
        Ok(hits)
    }
}

/// An address, and whether it is one that is searched for.
pub(super) type AddressHit = (IpAddr, bool);

/// The addresses of a packet or record, in place of the line that it does not have.
fn spell(found: &[Option<AddressHit>], text: &mut String) {
    text.clear();
    for (index, address) in found.iter().enumerate() {
        let tab = if index > 0 { "\t" } else { "" };
        // Writing to a String cannot fail.
        let _ = match address {
            Some((address, _)) => write!(text, "{tab}{address}"),
            None => write!(text, "{tab}-"),
        };
    }
}
