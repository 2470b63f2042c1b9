//! A live map in, a pinned map that programs look up in out: the words that changes store, and the numbers of their values.
//!
//! The library keeps the routes and says which words change (`popfib::live::Mirror`). A table that has become too small for its words
//! or values is made again beside the one in use, in which nothing changes meanwhile, and takes its place as a whole: what the
//! kernel has no memory for, programs do not see, and keep the last state.
//!
//! The kernel returns from storing a map into the slot when no program looks up by what the slot held before. So storing the same map
//! again is the grace period. Rejected: `membarrier`, which waits as long, and is not said to wait for programs. Rejected: routes of
//! its own, beside those of the live map: they take twice the memory, and whoever has missed a change compares all.

#[cfg(test)]
mod tests;

use popfib::family::Family;
use popfib::fib::FibWords;
use popfib::live::Mirror;
use popfib::map::Storage;
use popfib::{LiveIpMap, LiveMap, NextHop};

use crate::error::BpfError;
use crate::layout::{FibKind, ValueKind};
use crate::mapped::{ArrayKind, FibSource, MappedTable, TableContents};
use crate::pinned::PinnedMap;

/// Values that a family has room for at least.
const FEW: usize = 1 << 10;

/// A table of both families that follows a live map: programs see its changes when they are [brought](Self::bring).
///
/// It is the only writer of its map. When it is dropped, or the process ends, programs keep what they see.
#[derive(Debug)]
pub struct MirroredTable {
    pin: PinnedMap,
    /// The one that programs look up in, unless it is another process's, and the one that will take its place.
    current: Option<MappedTable>,
    next: Option<MappedTable>,
    /// Of both families, by number, and the numbers whose values the newest table lacks.
    values: [Vec<u32>; 2],
    changed: [Vec<u32>; 2],
    value_kind: ValueKind,
    counts: MirrorCounts,
    /// Why a table for more values could not be made.
    refused: Option<BpfError>,
    /// The control of the tests.
    #[cfg(test)]
    skips_graces: bool,
}

/// What has been done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirrorCounts {
    /// Tables that were made and took the slot.
    pub tables: u64,
    /// Words that were stored one by one.
    pub words: u64,
    /// Grace periods that were waited for.
    pub graces: u64,
}

impl MirroredTable {
    /// A table for the routes of a live map, which programs do not see before they are brought.
    pub fn new(pin: PinnedMap, value_kind: ValueKind) -> Self {
        Self {
            pin,
            current: None,
            next: None,
            values: [vec![0; FEW], vec![0; FEW]],
            changed: Default::default(),
            value_kind,
            counts: MirrorCounts::default(),
            refused: None,
            #[cfg(test)]
            skips_graces: false,
        }
    }

    /// Lets programs see all changes of the map so far; `value` is what they get for a value, asked once for each that is new.
    /// The map has no other mirror. O(words that changes have stored and new values), or, for a table that is made again, O(words).
    ///
    /// # Errors
    /// What the kernel refuses, or [`BpfError::TooLarge`]: programs keep the last state that was brought, or, if only waiting failed,
    /// see this one. The next call tries it again.
    pub fn bring<V, S: Storage>(
        &mut self,
        map: &mut LiveIpMap<V, S>,
        mut value: impl FnMut(&V) -> u32,
    ) -> Result<(), BpfError> {
        let result = self.bring_both(map, &mut value);
        if result.is_err() && self.next.take().is_some() {
            // What these have for loaded is gone.
            map.ipv4_mut().end_mirror();
            map.ipv6_mut().end_mirror();
        }
        result
    }

    fn bring_both<V, S: Storage>(
        &mut self,
        map: &mut LiveIpMap<V, S>,
        value: &mut impl FnMut(&V) -> u32,
    ) -> Result<(), BpfError> {
        self.bring_family(map.ipv4_mut(), FibKind::Ipv4, value)?;
        self.bring_family(map.ipv6_mut(), FibKind::Ipv6, value)?;
        self.publish()
    }

    fn bring_family<A: Family, V, S: Storage>(
        &mut self,
        map: &mut LiveMap<A, V, S>,
        kind: FibKind,
        value: &mut impl FnMut(&V) -> u32,
    ) -> Result<(), BpfError> {
        let routes = map.len();
        let mut mirror = FamilyMirror {
            table: self,
            kind,
            routes,
        };
        let result = map.mirror(&mut mirror, |mirror, number, of| {
            mirror.table.set_value(mirror.kind, number, value(of));
        });
        if result.is_ok() {
            // Values may have come without a word.
            self.store_values(kind);
        }
        let refused = self.refused.take();
        if refused.is_some() {
            // Words were stored nowhere.
            map.end_mirror();
        }
        refused.map_or(result, Err)?;
        if let Some(table) = self.newest() {
            table.set_routes(kind, routes);
        }
        Ok(())
    }

    /// What has been done so far.
    pub fn counts(&self) -> MirrorCounts {
        self.counts
    }

    /// The table that programs look up in; `None` before the first one.
    pub fn table(&self) -> Option<&MappedTable> {
        self.current.as_ref()
    }

    /// The table that is filled: the next, or the current one.
    fn newest(&self) -> Option<&MappedTable> {
        self.next.as_ref().or(self.current.as_ref())
    }

    fn set_value(&mut self, kind: FibKind, number: NextHop, value: u32) {
        let family = kind as usize;
        let (values, at) = (&mut self.values[family], number.get() as usize);
        if at >= values.len() {
            values.resize((at + 1).next_power_of_two(), 0);
        }
        values[at] = value;
        self.changed[family].push(number.get());
    }

    /// Stores the values of a family that the newest table lacks, or begins one with room for them.
    fn store_values(&mut self, kind: FibKind) {
        let family = kind as usize;
        if self.changed[family].is_empty() || self.refused.is_some() {
            return;
        }
        let rooms = [0, 1].map(|family: usize| self.values[family].len() as u32);
        let newest = self.next.as_ref().or(self.current.as_ref());
        let Some(table) = newest.filter(|table| table.value_rooms() == rooms) else {
            self.refused = self.begin(None).err();
            return;
        };
        for number in self.changed[family].drain(..) {
            let value = self.values[family][number as usize];
            table.set_value([0, rooms[0]][family] + number, value);
        }
    }

    /// Begins a table with the words of one family, what the newest has of the others, and all values.
    fn begin(&mut self, fib: Option<(FibKind, FibSource<'_>)>) -> Result<(), BpfError> {
        let values = self.values.concat();
        let mut contents = TableContents::default();
        contents.set_values(&values, self.value_kind);
        contents.set_ipv6_values(self.values[0].len() as u32);
        if let Some(newest) = self.newest() {
            for kind in [FibKind::Ipv4, FibKind::Ipv6] {
                contents.set(kind, FibSource::of_table(newest));
            }
        }
        if let Some((kind, source)) = fib {
            contents.set(kind, source);
        }
        self.next = Some(self.pin.begin(&contents)?);
        self.changed = Default::default();
        Ok(())
    }

    /// Lets programs look up in the next table, if there is one.
    fn publish(&mut self) -> Result<(), BpfError> {
        if let Some(next) = &self.next {
            self.pin.publish(next)?;
            self.current = self.next.take();
            self.counts.tables += 1;
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), BpfError> {
        if self.next.is_some() {
            return self.publish();
        }
        #[cfg(test)]
        if self.skips_graces {
            return Ok(());
        }
        if let Some(current) = &self.current {
            self.pin.wait(current)?;
            self.counts.graces += 1;
        }
        Ok(())
    }
}

/// The mirror of one family.
struct FamilyMirror<'m> {
    table: &'m mut MirroredTable,
    kind: FibKind,
    routes: usize,
}

impl FamilyMirror<'_> {
    fn store(&mut self, array: ArrayKind, index: usize, word: u32) {
        // Before the words that lead to them.
        self.table.store_values(self.kind);
        if self.table.refused.is_some() {
            return;
        }
        self.table.counts.words += 1;
        if let Some(table) = self.table.newest() {
            table.store(self.kind, array, index, word);
        }
    }
}

impl Mirror for FamilyMirror<'_> {
    type Error = BpfError;

    fn load(&mut self, words: FibWords<'_>) -> Result<(), BpfError> {
        let source = FibSource::words(words).routes(self.routes);
        self.table.begin(Some((self.kind, source)))
    }

    fn store_root(&mut self, index: usize, word: u32) {
        self.store(ArrayKind::Root, index, word);
    }

    fn store_arena(&mut self, index: usize, word: u32) {
        self.store(ArrayKind::Arena, index, word);
    }

    fn wait(&mut self) -> Result<(), BpfError> {
        self.table.wait()
    }
}
