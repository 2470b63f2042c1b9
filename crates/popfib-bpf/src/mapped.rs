//! One table in the memory of a map: filled from Fibs, read, and its words stored one by one while programs look up.

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use popfib::fib::FibWords;
use popfib::{IpPrefix, NextHop, longest};

use crate::error::BpfError;
use crate::layout::{
    FibHeader, FibKind, GENERATION, IPV6_VALUES, MAGIC, ROW, ROWS, STORED, TAIL, TEXT_BYTES,
    TEXT_ENDS, VALUE_COUNT, VALUE_KIND, VALUES, VERSION, ValueKind, Words,
};
use crate::lookup::answer;
use crate::sys::MapMemory;

/// One of the two arrays of a Fib.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrayKind {
    /// The root table.
    Root,
    /// The arena of pages and blocks.
    Arena,
}

/// Where the words of a Fib come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FibSource<'a> {
    from: WordSource<'a>,
    routes: usize,
}

#[derive(Clone, Copy, Debug)]
enum WordSource<'a> {
    /// With the pointers of several tables by their ids, which are in place of the root.
    Fib(FibWords<'a>, Option<&'a [u32]>),
    Table(&'a MappedTable),
}

impl<'a> FibSource<'a> {
    /// Those of a compiled table.
    pub(crate) fn words(words: FibWords<'a>) -> Self {
        Self {
            from: WordSource::Fib(words, None),
            routes: 0,
        }
    }

    /// Those that another table in a map has now, with as much room.
    pub(crate) fn of_table(table: &'a MappedTable) -> Self {
        Self {
            from: WordSource::Table(table),
            routes: 0,
        }
    }

    /// Those of several tables, whose pointers are these by their ids.
    pub(crate) fn of_tables(words: FibWords<'a>, roots: &'a [u32]) -> Self {
        Self {
            from: WordSource::Fib(words, Some(roots)),
            routes: 0,
        }
    }

    /// The number of routes, for display alone.
    #[must_use]
    pub(crate) fn routes(self, routes: usize) -> Self {
        Self { routes, ..self }
    }

    /// Its header, but for the places.
    fn header(&self, kind: FibKind) -> FibHeader {
        let (words, root_bits, tables) = match self.from {
            WordSource::Table(table) => return table.fib(kind),
            WordSource::Fib(words, None) => (words, words.root_bits().into(), 1),
            WordSource::Fib(words, Some(roots)) => (words, 0, roots.len() as u32),
        };
        let value_bits = words.value_bits();
        let arena_len = words.arena().len();
        FibHeader {
            root_bits,
            page_bits: words.page_bits().into(),
            value_bits: value_bits.into(),
            value_mask: u32::MAX >> (32 - value_bits),
            tables,
            arena_len: arena_len as u32,
            arena_room: arena_len as u32,
            routes: self.routes as u32,
            ..FibHeader::default()
        }
    }
}

/// What a table for programs is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TableContents<'a> {
    fibs: [Option<FibSource<'a>>; 4],
    values: &'a [u32],
    ipv6_values: u32,
    value_kind: ValueKind,
    text: &'a str,
    text_ends: &'a [u32],
}

impl<'a> TableContents<'a> {
    /// Adds a Fib.
    pub(crate) fn set(&mut self, kind: FibKind, source: FibSource<'a>) {
        self.fibs[kind as usize] = Some(source);
    }

    /// What programs get for each number that a lookup answers; the first is that of 0, no match.
    pub(crate) fn set_values(&mut self, values: &'a [u32], kind: ValueKind) {
        self.values = values;
        self.value_kind = kind;
    }

    /// Which of the values is that of IPv6's number 0, and so on, if the families do not share them.
    pub(crate) fn set_ipv6_values(&mut self, first: u32) {
        self.ipv6_values = first;
    }

    /// The texts of the same numbers, one after the other, and where each ends, that of 0 first.
    pub(crate) fn set_texts(&mut self, text: &'a str, ends: &'a [u32]) {
        self.text = text;
        self.text_ends = ends;
    }
}

/// Where the parts of a table are, and the rows of all.
pub(crate) struct Plan {
    headers: [FibHeader; 4],
    values: u32,
    text_ends: u32,
    pub(crate) rows: u32,
}

impl Plan {
    pub(crate) fn of(contents: &TableContents<'_>) -> Result<Self, BpfError> {
        let mut rows = 1;
        let mut place = |words: usize| {
            let start = rows;
            rows += words.div_ceil(ROW);
            // Places are numbers of 32 bits.
            let is_small = rows <= u32::MAX as usize / ROW;
            is_small
                .then_some((start * ROW) as u32)
                .ok_or(BpfError::TooLarge)
        };
        let mut headers = [FibHeader::none(); 4];
        for (kind, source) in FibKind::ALL.into_iter().zip(contents.fibs) {
            let Some(source) = source else { continue };
            let mut header = source.header(kind);
            if header.tables == 0 {
                continue;
            }
            header.root = place((header.tables as usize) << header.root_bits)?;
            header.arena = place(header.arena_room as usize)?;
            headers[kind as usize] = header;
        }
        Ok(Self {
            headers,
            values: place(contents.values.len())?,
            text_ends: place(contents.text_ends.len())?,
            rows: match place(contents.text.len().div_ceil(4)) {
                Ok(_) => rows as u32,
                Err(error) => return Err(error),
            },
        })
    }
}

/// A table of both families in a map. Its lookups are those that programs make.
#[derive(Debug)]
pub struct MappedTable {
    pub(crate) map: OwnedFd,
    memory: MapMemory,
}

impl Words for MappedTable {
    fn stored(&self, index: usize) -> u32 {
        let word = self.memory.words().get(index);
        // Acquire: what was stored before a pointer is seen by who follows it.
        word.map_or(0, |word| word.load(Ordering::Acquire))
    }
}

impl MappedTable {
    /// The table in the map, whose memory has so many rows.
    pub(crate) fn new(map: OwnedFd, rows: usize) -> std::io::Result<Self> {
        let memory = MapMemory::new(&map, rows * STORED)?;
        Ok(Self { map, memory })
    }

    /// Why this is not a table of the layout.
    pub(crate) fn fault(&self) -> Option<String> {
        match (self.stored(0), self.stored(1)) {
            (MAGIC, VERSION) => None,
            (MAGIC, other) => Some(format!(
                "tables there have layout {other}, and this popfib has {VERSION}"
            )),
            _ => Some("what is loaded there is not of popfib".to_owned()),
        }
    }

    /// Fills the table, which is all zeros.
    pub(crate) fn fill(&self, contents: &TableContents<'_>, plan: &Plan, generation: u32) {
        for (kind, header) in FibKind::ALL.into_iter().zip(plan.headers) {
            match contents.fibs[kind as usize].map(|source| source.from) {
                None => {}
                Some(WordSource::Fib(words, roots)) => {
                    match roots {
                        None => self.fill_from(header.root, words.root()),
                        Some(roots) => self.fill_from(header.root, roots.iter().copied()),
                    }
                    self.fill_from(header.arena, words.arena());
                }
                Some(WordSource::Table(table)) => {
                    let old = table.fib(kind);
                    let root = header.tables << header.root_bits;
                    let words = |start: u32, len: u32| (start..start + len).map(|at| table.at(at));
                    self.fill_from(header.root, words(old.root, root));
                    self.fill_from(header.arena, words(old.arena, header.arena_room));
                }
            }
            for (at, word) in header.to_words().into_iter().enumerate() {
                self.store_at((kind.words() + at) as u32, word);
            }
        }
        self.fill_from(plan.values, contents.values.iter().copied());
        self.fill_from(plan.text_ends, contents.text_ends.iter().copied());
        let texts = plan.text_ends + (contents.text_ends.len().next_multiple_of(ROW)) as u32;
        let text = contents.text.as_bytes().chunks(4).map(|bytes| {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            u32::from_le_bytes(word)
        });
        self.fill_from(texts, text);
        for (at, word) in [
            (ROWS, plan.rows),
            (GENERATION, generation),
            (VALUES, plan.values),
            (VALUE_COUNT, contents.values.len() as u32),
            (VALUE_KIND, contents.value_kind as u32),
            (TEXT_ENDS, plan.text_ends),
            (TEXT_BYTES, contents.text.len() as u32),
            (IPV6_VALUES, contents.ipv6_values),
            (0, MAGIC),
            (1, VERSION),
        ] {
            self.store_at(at as u32, word);
        }
    }

    fn fill_from(&self, start: u32, words: impl Iterator<Item = u32>) {
        for (place, word) in (start..).zip(words) {
            self.store_at(place, word);
        }
    }

    /// Stores a word at a place, twice if a row repeats it.
    pub(crate) fn store_at(&self, place: u32, word: u32) {
        let (row, at) = (place as usize / ROW, place as usize % ROW);
        let words = self.memory.words();
        let store = |word: u32, to: &AtomicU32| to.store(word, Ordering::Release);
        store(word, &words[row * STORED + at]);
        if at < TAIL && row > 0 {
            store(word, &words[(row - 1) * STORED + ROW + at]);
        }
    }

    /// Stores a word of a Fib that programs may be looking up in. They see it after the words that were stored before.
    ///
    /// # Panics
    /// If the array has no such word.
    pub(crate) fn store(&self, kind: FibKind, array: ArrayKind, index: usize, word: u32) {
        let (start, len) = self.array(kind, array);
        assert!(index < len, "word {index} of {len}");
        self.store_at(start + index as u32, word);
    }

    /// The place and the words of an array. O(1).
    fn array(&self, kind: FibKind, array: ArrayKind) -> (u32, usize) {
        let fib = self.fib(kind);
        match array {
            ArrayKind::Root => (fib.root, (fib.tables as usize) << (fib.root_bits & 31)),
            ArrayKind::Arena => (fib.arena, fib.arena_room as usize),
        }
    }

    /// Bytes that the map takes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.memory.words())
    }

    /// How many tables have been loaded, this one included; 0 if who loaded it could not know.
    pub fn generation(&self) -> u32 {
        self.stored(GENERATION)
    }

    /// The number of routes that a Fib was made of.
    pub fn routes(&self, kind: FibKind) -> usize {
        self.fib(kind).routes as usize
    }

    /// Whether there are prefixes to be found, not values alone.
    pub fn has_matches(&self) -> bool {
        [FibKind::Ipv4Matches, FibKind::Ipv6Matches]
            .iter()
            .any(|kind| self.fib(*kind).tables != 0)
    }

    /// How many tables are loaded: all ids are lower.
    pub fn tables(&self) -> u32 {
        let tables = FibKind::ALL.map(|kind| self.fib(kind).tables);
        tables.into_iter().max().unwrap_or(0)
    }

    /// The number of the longest match in the table of this id, 0 where one is loaded; 0 if there is none.
    pub fn lookup(&self, id: u32, address: IpAddr) -> u32 {
        match address {
            IpAddr::V4(address) => answer(self, FibKind::Ipv4, id, left(address.to_bits())),
            IpAddr::V6(address) => match answer(self, FibKind::Ipv6, id, address.to_bits()) {
                0 => 0,
                number => number.wrapping_add(self.stored(IPV6_VALUES)),
            },
        }
    }

    /// The longest prefix that contains the address, and its number, if the table [has prefixes](Self::has_matches).
    pub fn longest_match(&self, id: u32, address: IpAddr) -> Option<(IpPrefix, NextHop)> {
        match address {
            IpAddr::V4(address) => {
                let number = answer(self, FibKind::Ipv4Matches, id, left(address.to_bits()));
                longest::matched(address.to_bits(), number)
                    .map(|(prefix, number)| (IpPrefix::V4(prefix), number))
            }
            IpAddr::V6(address) => {
                let number = answer(self, FibKind::Ipv6Matches, id, address.to_bits());
                longest::matched(address.to_bits(), number)
                    .map(|(prefix, number)| (IpPrefix::V6(prefix), number))
            }
        }
    }

    /// How many values there are, that of 0 included.
    pub fn value_count(&self) -> u32 {
        self.stored(VALUE_COUNT)
    }

    /// How many values each family has, if they do not share them.
    pub(crate) fn value_rooms(&self) -> [u32; 2] {
        let ipv4 = self.stored(IPV6_VALUES);
        [ipv4, self.value_count().saturating_sub(ipv4)]
    }

    /// What programs get as the value of a number: the number itself if the table has no values, otherwise 0 beyond the last.
    pub fn value(&self, number: u32) -> u32 {
        match self.value_count() {
            0 => return number,
            count if number >= count => return 0,
            _ => {}
        }
        self.at(self.stored(VALUES).wrapping_add(number))
    }

    /// Stores what programs get as the value of a number below [`value_count`](Self::value_count). They see it before the words that
    /// are stored later.
    ///
    /// # Panics
    /// If there is no such number.
    pub(crate) fn set_value(&self, number: u32, value: u32) {
        assert!(number < self.value_count(), "no number {number}");
        self.store_at(self.stored(VALUES) + number, value);
    }

    /// Stores the number of routes of a Fib, for display alone.
    pub(crate) fn set_routes(&self, kind: FibKind, routes: usize) {
        self.store_at((kind.words() + 9) as u32, routes as u32);
    }

    /// What the values are.
    pub fn value_kind(&self) -> ValueKind {
        match self.stored(VALUE_KIND) {
            1 => ValueKind::Integers,
            2 => ValueKind::Ids,
            _ => ValueKind::Numbers,
        }
    }

    /// The text of a number, if the table has texts.
    pub fn text(&self, number: u32) -> Option<String> {
        let (ends, count) = (self.stored(TEXT_ENDS), self.value_count());
        let bytes = self.stored(TEXT_BYTES).min(self.bytes() as u32);
        if number == 0 || number >= count || bytes == 0 {
            return None;
        }
        let texts = ends.wrapping_add((count as usize).next_multiple_of(ROW) as u32);
        let start = self.at(ends.wrapping_add(number - 1));
        let end = self.at(ends.wrapping_add(number)).min(bytes);
        let byte = |at: u32| self.at(texts.wrapping_add(at / 4)).to_le_bytes()[at as usize % 4];
        String::from_utf8((start..end).map(byte).collect()).ok()
    }
}

fn left(address: u32) -> u128 {
    u128::from(address) << 96
}
