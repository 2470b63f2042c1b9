//! The prefixes of a table in, their addresses out: as ranges, or one by one.
//!
//! ```text
//! 10.0.0.0/24, 10.0.1.0/25        10.0.0.0-10.0.1.127
//! ```
//! Prefixes that touch, or lie in each other, are one range, and no address comes twice. Next hops are no part of it.

use std::io::Write;

use popfib::algebra;
use popfib::family::Family;

use super::blocks::write_blocks;
use super::bytes::push_address;
use super::error::WriteError;
use super::form::{WriteEntry, WriteMethod};
use crate::load::RouteTable;

pub(super) static RANGES: WriteEntry = WriteEntry {
    name: "ranges",
    aliases: &[],
    description: "the ranges of addresses that the prefixes cover, FIRST-LAST, one a line; no range touches the next",
    method: WriteMethod::Addresses(|table, out| {
        ranges::<u32>(table, out)?;
        ranges::<u128>(table, out)
    }),
};

pub(super) static ADDRESSES: WriteEntry = WriteEntry {
    name: "addresses",
    aliases: &[],
    description: "every address that the prefixes cover, one a line; at most 2^32 of a family",
    method: WriteMethod::Addresses(|table, out| {
        refuse_too_many::<u32>(table)?;
        refuse_too_many::<u128>(table)?;
        addresses::<u32>(table, out)?;
        addresses::<u128>(table, out)
    }),
};

fn ranges<A: Family>(table: &RouteTable, out: &mut dyn Write) -> Result<(), WriteError> {
    let ranges = algebra::ranges(A::of(&table.ribs).iter().map(|(prefix, _)| prefix));
    write_blocks(b"", ranges, out, |block, (first, last)| {
        push_address(block, first.ip());
        block.push(b'-');
        push_address(block, last.ip());
        block.push(b'\n');
        Ok(())
    })
}

/// Refuses more addresses than anyone waits for, before anything is written: a single /64 has 2^64.
fn refuse_too_many<A: Family>(table: &RouteTable) -> Result<(), WriteError> {
    let count = algebra::address_count(A::of(&table.ribs).iter().map(|(prefix, _)| prefix));
    if count > 1 << 32 {
        let family = A::NAME;
        let reason =
            format!("2^32 addresses at most, and of {family} there are {count}; ranges has them");
        return Err(WriteError::Form(reason));
    }
    Ok(())
}

fn addresses<A: Family>(table: &RouteTable, out: &mut dyn Write) -> Result<(), WriteError> {
    let ranges = algebra::ranges(A::of(&table.ribs).iter().map(|(prefix, _)| prefix));
    let addresses = ranges.flat_map(|(first, last)| {
        let next = move |address: &A| address.checked_next().filter(|next| *next <= last);
        std::iter::successors(Some(first), next)
    });
    write_blocks(b"", addresses, out, |block, address| {
        push_address(block, address.ip());
        block.push(b'\n');
        Ok(())
    })
}
