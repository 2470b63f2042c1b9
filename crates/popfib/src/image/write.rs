//! Compiles tables and writes them as an image.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use super::error::ImageError;
use super::format::{
    self, DICTIONARIES, FIB, FibDescription, FibKinds, LONGEST_FIB, METADATA, RECORDS,
    ROUTE_ADDRESSES, ROUTE_LENGTHS, ROUTE_NEXT_HOPS, ROWS, SectionId, TEXT_ENDS,
};
use super::metadata::{self, Source};
use super::shared::share_arenas;
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::arrays::FibWord;
use crate::fib::{Fib, Options};
use crate::longest;
use crate::memory::Allocator;
use crate::rib::Rib;

/// What an image has of a table, from the shortest image to the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// What lookups of next hops alone need, which are the fastest.
    Values,
    /// What longest matches need: the prefix that matches and its next hop.
    Prefixes,
    /// Both, and all routes: the table can be read back from the image.
    Routes,
}

/// Makes an image: begin a [table](Self::table), add its names or records and its families, and so on for each table; then write
/// the image as bytes or to a file.
///
/// The same input makes the same bytes on every machine.
#[derive(Clone, Debug)]
pub struct ImageWriter {
    sections: BTreeMap<SectionId, Vec<u8>>,
    /// The names of all tables. The last is the one that is written.
    tables: Vec<String>,
    /// How many names or records it has, and how many all tables have in common.
    names: Option<u32>,
    common_names: Option<u32>,
    highest_next_hop: u32,
}

impl ImageWriter {
    /// Makes an image without tables. `created` is the time in seconds since 1970 (UTC), or 0 if it does not matter.
    pub fn new(created: u64) -> Self {
        let mut this = Self {
            sections: BTreeMap::new(),
            tables: Vec::new(),
            names: None,
            common_names: None,
            highest_next_hop: 0,
        };
        this.add(0, METADATA, metadata::of_image(created).into_bytes());
        this
    }

    /// Begins a table, which comes from `sources`. What is added after this call is of this table.
    ///
    /// # Errors
    /// [`ImageError::Broken`] if there is a table of this name.
    pub fn table(&mut self, name: &str, sources: &[Source]) -> Result<(), ImageError> {
        if self.tables.iter().any(|table| table == name) {
            return Err(ImageError::Broken {
                offset: 0,
                section: "metadata".into(),
                reason: "two tables have one name".into(),
            });
        }
        self.tables.push(name.into());
        self.names = self.common_names;
        self.highest_next_hop = 0;
        let lines = metadata::of_table(name, sources);
        self.add(0, METADATA, lines.into_bytes());
        Ok(())
    }

    /// Names the next hops of the table, from 1 on. After this call, every next hop of the table needs a
    /// name; without it, none has one.
    ///
    /// # Panics
    /// If the table has names or records already.
    ///
    /// # Errors
    /// [`ImageError::Broken`] if there are fewer names than the table has next
    /// hops, or if they are longer than 4 GiB in total.
    pub fn names<'a>(
        &mut self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), ImageError> {
        let mut text = String::new();
        let mut ends = Vec::new();
        let mut count = 0u32;
        for name in names {
            text.push_str(name);
            let end = u32::try_from(text.len()).map_err(|_| broken("longer than 4 GiB"))?;
            ends.extend(end.to_le_bytes());
            count = count.checked_add(1).ok_or_else(|| broken("too many"))?;
        }
        // One column of texts, called `value`, and no rows.
        let mut head = Vec::new();
        for number in [count, 1, 0, 0, 1, 5, count, 0] {
            head.extend(number.to_le_bytes());
        }
        head.extend(b"value");
        let sections = [
            (RECORDS, head),
            (DICTIONARIES, text.into_bytes()),
            (TEXT_ENDS, ends),
        ];
        self.records(count, sections)
    }

    /// Adds what next hops are numbers of, from 1 on, where that is more than a name: `count` records, as the contents of
    /// sections by their kinds (docs/image-format.md). After this call every next hop of the
    /// table needs a record.
    ///
    /// # Errors
    /// [`ImageError::Broken`] if there are fewer records than the table has next hops.
    ///
    /// Before the first table they are those of all tables that have none of their own, of which equal blocks are then stored once.
    ///
    /// # Panics
    /// If the table has names or records already, or a section is of a kind that is not about records.
    pub fn records(
        &mut self,
        count: u32,
        sections: impl IntoIterator<Item = (u16, Vec<u8>)>,
    ) -> Result<(), ImageError> {
        self.expect_new(0, &[RECORDS]);
        if self.highest_next_hop > count {
            return Err(broken("fewer than there are next hops"));
        }
        self.names = Some(count);
        if self.tables.is_empty() {
            self.common_names = self.names;
        }
        for (kind, content) in sections {
            assert!(matches!(kind, RECORDS | ROWS | DICTIONARIES..), "{kind}");
            self.add(0, kind, content);
        }
        Ok(())
    }

    /// Compiles the routes of `rib` and adds them to the table, of which the image has what `keep` says.
    ///
    /// # Errors
    /// Those of [`Fib::compile`], and [`CompileError::NextHop`] for a next hop without a name or, but for [`Keep::Values`],
    /// above [`max_next_hop`](crate::longest::max_next_hop).
    ///
    /// # Panics
    /// If no table was begun, or it has routes for keys of this type already.
    pub fn family<A: Address>(
        &mut self,
        rib: &Rib<A, impl Allocator + Clone>,
        options: &Options,
        keep: Keep,
    ) -> Result<(), CompileError> {
        let bits = u16::from(A::WIDTH);
        assert!(!self.tables.is_empty(), "no table was begun");
        self.expect_new(bits, &[FIB.description, LONGEST_FIB.description]);
        let mut next_hops: Vec<_> = rib.iter().map(|(_, next_hop)| next_hop.get()).collect();
        next_hops.sort_unstable();
        next_hops.dedup();
        let highest = next_hops.last().copied().unwrap_or(0);
        if let Some(max) = self.names
            && highest > max
        {
            let next_hop = highest;
            return Err(CompileError::NextHop { next_hop, max });
        }
        let fib = (keep != Keep::Prefixes).then(|| Fib::<A>::compile(rib, options));
        let matches = (keep != Keep::Values).then(|| longest::compile(rib, options));
        let (fib, matches) = (fib.transpose()?, matches.transpose()?);
        let describe = |highest: u32| FibDescription {
            answer_bits: if highest <= u16::MAX.into() { 16 } else { 32 },
            asked_direct_bits: options.asked_direct_bits(),
            aggregation: options.is_aggregating(),
            routes: rib.len() as u64,
            next_hops: next_hops.len() as u64,
            ..FibDescription::default()
        };
        self.highest_next_hop = self.highest_next_hop.max(highest);
        if let Some(fib) = fib {
            self.fib(FIB, &fib, describe(highest));
        }
        if let Some(matches) = matches {
            let highest = longest::combined::<A>(highest, A::WIDTH);
            self.fib(LONGEST_FIB, &matches, describe(highest));
        }
        if keep != Keep::Routes {
            return Ok(());
        }
        let count = rib.len();
        let mut addresses = Vec::with_capacity(count * size_of::<A>());
        let mut lengths = Vec::with_capacity(count);
        let mut next_hops = Vec::with_capacity(count * size_of::<u32>());
        for (prefix, next_hop) in rib.iter() {
            // Little-endian is network order reversed.
            addresses.extend(prefix.address().to_be_bytes().as_ref().iter().rev());
            lengths.push(prefix.len());
            next_hops.extend(next_hop.get().to_le_bytes());
        }
        self.add(bits, ROUTE_ADDRESSES, addresses);
        self.add(bits, ROUTE_LENGTHS, lengths);
        self.add(bits, ROUTE_NEXT_HOPS, next_hops);
        Ok(())
    }

    /// # Panics
    /// If it has sections of these kinds already.
    fn expect_new(&self, key_bits: u16, kinds: &[u16]) {
        let table = self.tables.len() as u32;
        let is_new = |&kind: &u16| {
            let id = SectionId {
                table,
                key_bits,
                kind,
            };
            !self.sections.contains_key(&id)
        };
        assert!(kinds.iter().all(is_new), "the table has it already");
    }

    fn fib<A: Address>(&mut self, kinds: FibKinds, fib: &Fib<A>, rest: FibDescription) {
        let view = fib.arrays();
        let bits = A::WIDTH.into();
        let description = FibDescription {
            root_bits: view.root_bits,
            page_bits: view.page_bits,
            value_bits: view.value_bits,
            is_flat: view.is_flat,
            nodes: fib.node_count() as u64,
            leaves: fib.leaf_count() as u64,
            ..rest
        };
        self.add(bits, kinds.description, description.to_bytes());
        self.add(bits, kinds.root, words(view.root));
        self.add(bits, kinds.arena, words(view.arena));
    }

    /// Adds a section to the table, or to the image where there is none yet.
    fn add(&mut self, key_bits: u16, kind: u16, content: Vec<u8>) {
        let id = SectionId {
            table: self.tables.len() as u32,
            key_bits,
            kind,
        };
        self.sections.insert(id, content);
    }

    /// The image. O(length) time.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let infallible: Result<(), core::convert::Infallible> = self.pieces(|piece| {
            bytes.extend(piece);
            Ok(())
        });
        let Ok(()) = infallible;
        bytes
    }

    /// Writes the image to `out`. To replace a file that others may have mapped, write a new one and rename it, as
    /// `save_image` of the crate `popfib-table` does.
    ///
    /// # Errors
    /// Those of `out`.
    #[cfg(feature = "std")]
    pub fn write(&self, mut out: impl std::io::Write) -> std::io::Result<()> {
        self.pieces(|piece| out.write_all(piece))
    }

    /// Passes the image to `take`, piece by piece.
    fn pieces<E>(&self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let whole = self.sections.iter();
        let mut sections: Vec<(SectionId, &[u8])> =
            whole.map(|(id, content)| (*id, &**content)).collect();
        let shared;
        // Not in the npm package, which writes one table and has to be small.
        if self.tables.len() > 1 && cfg!(not(target_family = "wasm")) {
            shared = share_arenas(&self.sections);
            sections.retain(|(id, _)| !shared.contains_key(id));
            let contents = shared.iter();
            sections.extend(contents.filter_map(|(id, content)| Some((*id, content.as_deref()?))));
            sections.sort_unstable_by_key(|(id, _)| *id);
        }
        let (head, ranges) = format::head(&sections);
        take(&head)?;
        let mut end = head.len();
        for ((_, content), range) in sections.iter().zip(ranges) {
            take(&[0; format::ALIGNMENT][..range.start - end])?;
            take(content)?;
            end = range.end;
        }
        Ok(())
    }
}

/// The error that names or records cannot be written.
fn broken(reason: &str) -> ImageError {
    ImageError::Broken {
        offset: 0,
        section: "records".into(),
        reason: reason.into(),
    }
}

/// Words as bytes, the least significant first.
fn words(words: &[FibWord]) -> Vec<u8> {
    let bytes = words.iter().map(|word| word.load(Relaxed).to_le_bytes());
    bytes.flatten().collect()
}
