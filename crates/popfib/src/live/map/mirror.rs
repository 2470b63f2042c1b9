//! The numbers of pairs that a mirror of a live map has yet to be told, and those that its readers may still find.
//!
//! The words of the Fib are mirrored as they are (`live/mirror.rs`), so the mirror's readers find numbers of pairs. A number that no
//! reader of this process can see any more is held until those of the mirror have passed as well: one grace period serves as many
//! numbers as are in use.

use allocator_api2::vec::Vec;

use super::LiveMap;
use crate::address::Address;
use crate::live::{Epochs, Limbo, Mirror};
use crate::map::Storage;
use crate::memory;
use crate::next_hop::NextHop;

/// Numbers that are held before readers are waited for, however few are in use: few in the model.
const FEW: usize = if cfg!(loom) { 1 } else { 1 << 10 };

/// What is known of a mirror's numbers.
#[derive(Debug, Default)]
pub(super) struct MirroredPairs {
    /// Numbers that pairs have had since the mirror was told of all.
    fresh: Vec<NextHop>,
    /// Numbers that no reader of this process sees.
    pub(super) held: Vec<NextHop>,
}

impl MirroredPairs {
    /// Whether one number more can be noted. A mirror that was not brought up to date for so long that it may as well be made
    /// again, or for which there is no memory, is given up.
    pub(super) fn has_room(&mut self, pairs: usize) -> bool {
        let most = self.most(pairs) * 2;
        self.fresh.len() < most
            && self.held.len() < most
            && memory::grow(&mut self.fresh, 1).is_ok()
    }

    /// Notes a number, for which there is room.
    pub(super) fn note(&mut self, number: NextHop) {
        self.fresh.push(number);
    }

    /// Takes what the readers of this process have passed, unless memory is short: then it stays where it is.
    pub(super) fn hold(&mut self, retired: &mut Limbo<NextHop>, epochs: &Epochs) {
        if memory::grow(&mut self.held, retired.iter().count()).is_ok() {
            retired.collect(epochs, |number| self.held.push(number));
        }
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        (self.fresh.capacity() + self.held.capacity()) * size_of::<NextHop>()
    }

    /// Half of the numbers in use, of so many pairs.
    fn most(&self, pairs: usize) -> usize {
        FEW.max(pairs.saturating_sub(self.held.len()) / 2)
    }
}

impl<A: Address, V, S: Storage> LiveMap<A, V, S> {
    /// Brings a copy of the table that other programs read up to date with the changes so far, as [`LiveFib::mirror`] does.
    /// What lookups there answer are numbers of values: `set` is told the value of each number before words lead to it. A number
    /// stands for other values only after the mirror's [wait](Mirror::wait).
    ///
    /// The first call tells all values, and so does the first after [`end_mirror`](Self::end_mirror).
    /// O(new values and stored words), and a grace period now and then.
    ///
    /// # Errors
    /// Those of the mirror; the next call tries it again.
    ///
    /// [`LiveFib::mirror`]: crate::LiveFib::mirror
    pub fn mirror<M: Mirror>(
        &mut self,
        mirror: &mut M,
        mut set: impl FnMut(&mut M, NextHop, &V),
    ) -> Result<(), M::Error> {
        let pairs = &self.pairs;
        let mut tell = |number: NextHop| {
            if let Some(pair) = pairs.get(number.get()) {
                set(mirror, number, &pair.value);
            }
        };
        match &mut self.mirrored {
            Some(mirrored) => mirrored.fresh.drain(..).for_each(tell),
            none => {
                let end = u32::try_from(pairs.end()).unwrap_or(u32::MAX);
                (1..end).filter_map(NextHop::new).for_each(&mut tell);
                *none = Some(MirroredPairs::default());
            }
        }
        self.fib.mirror(mirror)?;
        let Some(mirrored) = &mut self.mirrored else {
            return Ok(());
        };
        // Their routes were gone before the words of this call.
        if mirrored.held.len() >= mirrored.most(self.pairs.len()) {
            mirror.wait()?;
            for number in mirrored.held.drain(..) {
                drop(self.pairs.take(number));
            }
        }
        Ok(())
    }

    /// Ends the [mirror](Self::mirror), which keeps the state that it has. The next one begins with whole arrays and all values.
    pub fn end_mirror(&mut self) {
        self.fib.end_mirror();
        if let Some(mirrored) = self.mirrored.take() {
            for number in mirrored.held {
                drop(self.pairs.take(number));
            }
        }
    }
}
