//! A table whose routes change, in a pinned map: changes in, the words that they store out, into the table that programs look up in.
//!
//! The library keeps the routes and says which words change (`popfib::live::Mirror`). A table that has become too small for its words
//! or values is made again beside the one in use, in which nothing changes meanwhile, and takes its place as a whole: what the
//! kernel has no memory for, programs do not see, and keep the last state.
//!
//! The kernel returns from storing a map into the slot when no program looks up by what the slot held before. So storing the same map
//! again is the grace period. Rejected: `membarrier`, which waits as long, and is not said to wait for programs.

#[cfg(test)]
mod tests;

use popfib::family::{ByFamily, Family, PerFamily};
use popfib::fib::FibWords;
use popfib::live::Mirror;
use popfib::{CompileError, LiveFib, NextHop, Options, Prefix, Rib};

use crate::error::BpfError;
use crate::layout::{FibKind, ValueKind};
use crate::mapped::{ArrayKind, FibSource, MappedTable, TableContents};
use crate::pinned::PinnedMap;

/// Values that a table has room for at least.
const FEW: usize = 1 << 10;

/// A table of both families that follows its routes: changes are made in memory of this process, and programs see them
/// when they are [flushed](Self::flush).
///
/// It is the only writer of its map. When it is dropped, or the process ends, programs keep what they see.
#[derive(Debug)]
pub struct MirroredTable {
    fibs: ByFamily<LiveFibs>,
    maps: MirrorMaps,
}

/// Makes [`ByFamily`] the routes of both families.
#[derive(Debug)]
enum LiveFibs {}

impl PerFamily for LiveFibs {
    type Of<A: Family> = LiveFib<A>;
}

/// The tables in the kernel.
#[derive(Debug)]
struct MirrorMaps {
    pin: PinnedMap,
    /// The one that programs look up in, unless it is another process's, and the one that will take its place.
    current: Option<MappedTable>,
    next: Option<MappedTable>,
    /// By number.
    values: Vec<u32>,
    value_kind: ValueKind,
    counts: MirrorCounts,
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
    /// A table without routes, which programs do not see before it is flushed.
    ///
    /// # Errors
    /// [`CompileError::OutOfMemory`].
    pub fn new(pin: PinnedMap, value_kind: ValueKind) -> Result<Self, CompileError> {
        // The smallest size: the pages of a map are small, and a table that has more of them costs more misses of the TLB.
        Ok(Self {
            fibs: ByFamily {
                ipv4: LiveFib::new(Options::default())?,
                ipv6: LiveFib::new(Options::default())?,
            },
            maps: MirrorMaps {
                pin,
                current: None,
                next: None,
                values: vec![0; FEW],
                value_kind,
                counts: MirrorCounts::default(),
                #[cfg(test)]
                skips_graces: false,
            },
        })
    }

    /// The routes of a family: prefixes and numbers.
    pub fn rib<A: Family>(&self) -> &Rib<A> {
        A::of(&self.fibs).rib()
    }

    /// The changes that make the routes of a family these, which are in prefix order. O(routes).
    #[must_use]
    pub fn differences<A: Family>(
        &self,
        routes: impl IntoIterator<Item = (Prefix<A>, NextHop)>,
    ) -> Vec<(Prefix<A>, Option<NextHop>)> {
        let mut changes = Vec::new();
        let mut old = self.rib().iter().peekable();
        for (prefix, number) in routes {
            while let Some((gone, _)) = old.next_if(|(before, _)| *before < prefix) {
                changes.push((gone, None));
            }
            let before = old.next_if(|(before, _)| *before == prefix);
            if before.map(|(_, number)| number) != Some(number) {
                changes.push((prefix, Some(number)));
            }
        }
        changes.extend(old.map(|(gone, _)| (gone, None)));
        changes
    }

    /// Makes changes of a family as one batch, as [`LiveFib::apply`].
    ///
    /// # Errors
    /// Those of [`LiveFib::apply`].
    pub fn apply<A: Family>(
        &mut self,
        changes: impl IntoIterator<Item = (Prefix<A>, Option<NextHop>)>,
    ) -> Result<(), CompileError> {
        A::of_mut(&mut self.fibs).apply(changes)
    }

    /// Sets what programs get as the value of a number. It is a number that no route has had since the last
    /// [`wait`](Self::wait) but one flush before that: programs see it at once.
    pub fn set_value(&mut self, number: NextHop, value: u32) {
        let at = number.get() as usize;
        if at >= self.maps.values.len() {
            self.maps.values.resize((at + 1).next_power_of_two(), 0);
        }
        self.maps.values[at] = value;
        if let Some(current) = &self.maps.current
            && number.get() < current.value_count()
        {
            current.set_value(number.get(), value);
        }
    }

    /// Lets programs see all changes so far. O(words that they have stored), or, for a table that is made again, O(words).
    ///
    /// # Errors
    /// What the kernel refuses, or [`BpfError::TooLarge`]: programs keep the last state that was flushed, or, if only waiting failed,
    /// see this one. The next flush tries it again.
    pub fn flush(&mut self) -> Result<(), BpfError> {
        let result = self.bring();
        if result.is_err() && self.maps.next.take().is_some() {
            // What these have for loaded is gone.
            self.fibs.ipv4.end_mirror();
            self.fibs.ipv6.end_mirror();
        }
        result
    }

    fn bring(&mut self) -> Result<(), BpfError> {
        self.maps.make_room()?;
        let Self { fibs, maps } = self;
        mirror(&mut fibs.ipv4, maps, FibKind::Ipv4)?;
        mirror(&mut fibs.ipv6, maps, FibKind::Ipv6)?;
        maps.publish()
    }

    /// Waits until no program looks up in an earlier state than the last that was flushed: then the numbers that were
    /// withdrawn before may stand for other values.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn wait(&mut self) -> Result<(), BpfError> {
        self.maps.wait()
    }

    /// What has been done so far.
    pub fn counts(&self) -> MirrorCounts {
        self.maps.counts
    }

    /// The table that programs look up in; `None` before the first flush.
    pub fn table(&self) -> Option<&MappedTable> {
        self.maps.current.as_ref()
    }
}

/// Brings one family up to date.
fn mirror<A: Family>(
    fib: &mut LiveFib<A>,
    maps: &mut MirrorMaps,
    kind: FibKind,
) -> Result<(), BpfError> {
    let routes = fib.rib().len();
    let mut mirror = FamilyMirror { maps, kind, routes };
    fib.mirror(&mut mirror)?;
    if let Some(table) = mirror.maps.newest() {
        table.set_routes(kind, routes);
    }
    Ok(())
}

impl MirrorMaps {
    /// The table that is filled: the next, or the current one.
    fn newest(&self) -> Option<&MappedTable> {
        self.next.as_ref().or(self.current.as_ref())
    }

    /// Begins a table with more room, if the current one has too little for the values.
    fn make_room(&mut self) -> Result<(), BpfError> {
        let current = self.current.as_ref();
        if current.is_some_and(|table| (table.value_count() as usize) < self.values.len()) {
            self.begin(None)?;
        }
        Ok(())
    }

    /// Begins a table with the words of one family, and what the newest has of the others.
    fn begin(&mut self, fib: Option<(FibKind, FibSource<'_>)>) -> Result<(), BpfError> {
        let mut contents = TableContents::default();
        contents.set_values(&self.values, self.value_kind);
        if let Some(newest) = self.newest() {
            for kind in [FibKind::Ipv4, FibKind::Ipv6] {
                contents.set(kind, FibSource::of_table(newest));
            }
        }
        if let Some((kind, source)) = fib {
            contents.set(kind, source);
        }
        self.next = Some(self.pin.begin(&contents)?);
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
    maps: &'m mut MirrorMaps,
    kind: FibKind,
    routes: usize,
}

impl FamilyMirror<'_> {
    fn store(&mut self, array: ArrayKind, index: usize, word: u32) {
        self.maps.counts.words += 1;
        if let Some(table) = self.maps.newest() {
            table.store(self.kind, array, index, word);
        }
    }
}

impl Mirror for FamilyMirror<'_> {
    type Error = BpfError;

    fn load(&mut self, words: FibWords<'_>) -> Result<(), BpfError> {
        let source = FibSource::words(words).routes(self.routes);
        self.maps.begin(Some((self.kind, source)))
    }

    fn store_root(&mut self, index: usize, word: u32) {
        self.store(ArrayKind::Root, index, word);
    }

    fn store_arena(&mut self, index: usize, word: u32) {
        self.store(ArrayKind::Arena, index, word);
    }

    fn wait(&mut self) -> Result<(), BpfError> {
        self.maps.wait()
    }
}
