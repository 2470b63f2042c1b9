//! What tables of an image have in common: an arena in which equal blocks of all are stored once.
//!
//! Next hops have to be numbers of the same records for that, so tables with records of their own keep their arenas. So do empty
//! ones, and flat ones, whose blocks are stored once already. A root table is its own: looking up takes no step more.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::format::{FIB, FibDescription, FibKinds, LONGEST_FIB, RECORDS, SectionId, u32_at};
use crate::compile_error::CompileError;
use crate::fib::encode::BlockEncoding;
use crate::fib::layout::NODE;
use crate::fib_set::block::SetBlock;
use crate::fib_set::compile::{TableBlocks, TableStore};
use crate::memory::Global;

/// Sections that change, in the order of an image; `None` for those that are no longer needed.
pub(super) type ChangedSections = BTreeMap<SectionId, Option<Vec<u8>>>;

/// The sections that change if the tables of each key width that can have an arena in common have one, where that is shorter.
pub(super) fn share_arenas(sections: &BTreeMap<SectionId, Vec<u8>>) -> ChangedSections {
    let mut tables = BTreeMap::<(u16, u16), Vec<u32>>::new();
    for id in sections.keys().filter(|id| id.table > 0) {
        if [FIB.arena, LONGEST_FIB.arena].contains(&id.kind) {
            let of_width = tables.entry((id.key_bits, id.kind)).or_default();
            of_width.push(id.table);
        }
    }
    let mut changed = ChangedSections::new();
    for ((key_bits, arena), tables) in tables {
        let kinds = if arena == FIB.arena { FIB } else { LONGEST_FIB };
        // Without memory for more blocks, tables keep what they have.
        if let Ok(Some(shared)) = shared(sections, key_bits, kinds, &tables) {
            changed.extend(shared);
        }
    }
    changed
}

/// What [`share_arenas`] says of these tables.
fn shared(
    sections: &BTreeMap<SectionId, Vec<u8>>,
    key_bits: u16,
    kinds: FibKinds,
    tables: &[u32],
) -> Result<Option<ChangedSections>, CompileError> {
    let id = |table, kind| SectionId {
        table,
        key_bits,
        kind,
    };
    let own_records = |table| SectionId {
        table,
        key_bits: 0,
        kind: RECORDS,
    };
    let described = tables.iter().filter_map(|&table| {
        let description = FibDescription::parse(sections.get(&id(table, kinds.description))?)?;
        let is_shared = description.routes > 0 && !description.is_flat;
        (is_shared && !sections.contains_key(&own_records(table))).then_some((table, description))
    });
    let described: Vec<(u32, FibDescription)> = described.collect();
    let bits = |of: fn(&FibDescription) -> u8| described.iter().map(|one| of(&one.1)).max();
    let (Some(value_bits), Some(answer_bits)) =
        (bits(|of| of.value_bits), bits(|of| of.answer_bits))
    else {
        return Ok(None);
    };
    let mut common = CommonArena {
        blocks: TableBlocks::new_in(value_bits, false, Global)?,
        pages: BTreeMap::new(),
    };
    let (mut changed, mut own_len) = (ChangedSections::new(), 0);
    for (table, description) in described {
        let arena = &sections[&id(table, kinds.arena)];
        let mut root = Vec::new();
        for entry in sections[&id(table, kinds.root)].as_chunks::<4>().0 {
            let pointer = common.entry(arena, &description, u32::from_le_bytes(*entry))?;
            root.extend(pointer.to_le_bytes());
        }
        let description = FibDescription {
            value_bits,
            answer_bits,
            ..description
        };
        changed.extend([
            (id(table, kinds.description), Some(description.to_bytes())),
            (id(table, kinds.root), Some(root)),
            (id(table, kinds.arena), None),
        ]);
        own_len += arena.len();
    }
    let words = common.blocks.finish();
    if 4 * words.len() >= own_len {
        return Ok(None);
    }
    let arena = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    changed.insert(id(0, kinds.arena), Some(arena));
    Ok(Some(changed))
}

/// The blocks and pages of several tables, equal ones once.
struct CommonArena {
    blocks: TableBlocks<Global>,
    pages: BTreeMap<Vec<u32>, u32>,
}

impl CommonArena {
    /// An entry of a root table that led into this arena.
    fn entry(&mut self, from: &[u8], of: &FibDescription, entry: u32) -> Result<u32, CompileError> {
        if entry & NODE == 0 || of.page_bits == 0 {
            return self.block(from, of, entry);
        }
        let first = (entry & !NODE) as usize;
        let page = (first..first + (1 << of.page_bits))
            .map(|at| self.block(from, of, u32_at(from, 4 * at)));
        let page = page.collect::<Result<Vec<_>, _>>()?;
        if let Some(known) = self.pages.get(&page) {
            return Ok(*known);
        }
        let new = NODE | self.blocks.place(&page)? as u32;
        self.pages.insert(page, new);
        Ok(new)
    }

    /// A pointer to a block in this arena, which is stored here with all below it. The recursion is as deep as a lookup.
    fn block(
        &mut self,
        from: &[u8],
        of: &FibDescription,
        pointer: u32,
    ) -> Result<u32, CompileError> {
        if pointer & NODE == 0 {
            return Ok(pointer);
        }
        let word = |at: u32| u32_at(from, 4 * at as usize);
        let mut slots = BlockEncoding::read(pointer, of.value_bits, word).slots();
        for slot in &mut slots {
            *slot = self.block(from, of, *slot)?;
        }
        let block = BlockEncoding::of(&slots, self.blocks.value_bits());
        (&mut self.blocks).share(&SetBlock::with_runs(&block))
    }
}
