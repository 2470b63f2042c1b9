//! Copies of a live table's arrays where other programs read them: the maps of BPF programs, memory that processes share.
//!
//! Changes keep a [journal](WordJournal) of the words that they store, in an order in which each may be stored elsewhere: those
//! of new blocks, then the pointers that lead there. What a change replaces is still there in a copy until the copy has the
//! change and its readers have passed a grace period, which the copy knows how to wait for. So such words wait here, before they
//! wait for the readers of this process.
//!
//! Neither the journal nor what waits is more than the table itself: a journal that becomes too long is given up, and the copy is
//! made again as a whole, as it is when the table moves to other arrays.
//!
//! Rejected: a mirror that the table keeps and calls during each change. It would be a type parameter of the table, and where
//! changes come fast a grace period would keep each of them waiting.

use allocator_api2::vec::Vec;
use core::sync::atomic::Ordering;

use crate::fib::FibWords;
use crate::fib::arrays::FibView;
use crate::memory::{self, Allocator, OutOfMemory};
use crate::patch::{BlockPlace, SwitchedWord};

/// A copy of the arrays of a [`LiveFib`](crate::LiveFib), kept up to date by [`LiveFib::mirror`](crate::LiveFib::mirror).
///
/// Its readers look up in the copy as in the table: an answer is the one before or the one after a change that the
/// copy gets meanwhile. They see nothing else if words are stored in the order in which they come, and
/// [`wait`](Self::wait) does wait.
pub trait Mirror {
    /// Why the copy could not be made, or why it is not known whether readers have passed.
    type Error;

    /// Copies whole arrays beside those in use, and lets lookups that begin from now on use the new ones.
    ///
    /// # Errors
    /// If they do not fit, say. The copy in use stays as it is then, and the next [`LiveFib::mirror`](crate::LiveFib::mirror)
    /// calls this again.
    fn load(&mut self, words: FibWords<'_>) -> Result<(), Self::Error>;

    /// Stores a word into the copy of the root table, at an index below its length. Whoever reads it has to see the words that
    /// were stored before: this is an atomic store with release order.
    fn store_root(&mut self, index: usize, word: u32);

    /// The same in the copy of the arena.
    fn store_arena(&mut self, index: usize, word: u32);

    /// Waits for a grace period: until each lookup in the copy has ended that had begun when this was called.
    ///
    /// # Errors
    /// If that is not known. Replaced words are not used again then.
    fn wait(&mut self) -> Result<(), Self::Error>;
}

/// The bit of a journal's index that says that the word is one of the root: arenas and roots are shorter.
const ROOT: u32 = 1 << 31;

/// Words that a journal may have however small the table is.
const FEW: usize = 1 << 10;

/// Words that an arena with a mirror has to spare at least, so that a grace period serves many changes of a small table: few changes
/// in the model (`model.rs`).
pub(super) const SPARE: usize = if cfg!(loom) { 32 } else { 1 << 14 };

/// The words that changes have stored since the mirror has seen all of them, and what they have replaced.
#[derive(Debug)]
pub(super) struct WordJournal<Al: Allocator> {
    /// Index and word, in the order of the stores.
    words: Vec<(u32, u32), Al>,
    /// Whether the mirror needs the arrays as a whole.
    is_whole: bool,
    /// Places that readers of the mirror may still see, and their words.
    held: Vec<BlockPlace, Al>,
    held_words: usize,
}

impl<Al: Allocator + Clone> WordJournal<Al> {
    pub(super) fn new_in(alloc: Al) -> Self {
        Self {
            words: Vec::new_in(alloc.clone()),
            is_whole: true,
            held: Vec::new_in(alloc),
            held_words: 0,
        }
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        (self.words.capacity() + self.held.capacity()) * size_of::<(u32, u32)>()
    }

    /// Words that are held.
    pub(super) fn held_words(&self) -> usize {
        self.held_words
    }

    /// Whether what changes replace is held until the mirror's readers have passed. A mirror that is made again as a whole is
    /// made beside the one in use, so it never has what was replaced before.
    pub(super) fn holds(&self) -> bool {
        !self.is_whole
    }

    /// Makes sure of the memory to hold `count` places more.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory> {
        memory::grow(&mut self.held, count)
    }

    /// Holds places that nothing leads to any more; reserved.
    pub(super) fn hold(&mut self, places: &mut Vec<BlockPlace, Al>) {
        self.held_words += places.iter().map(|(_, len)| *len as usize).sum::<usize>();
        self.held.append(places);
    }

    /// How many places are held.
    pub(super) fn held_places(&self) -> usize {
        self.held.len()
    }

    /// The places that were held, to be taken out.
    pub(super) fn release(&mut self) -> &mut Vec<BlockPlace, Al> {
        self.held_words = 0;
        &mut self.held
    }

    /// Notes the words of new blocks, and those that were switched to lead there.
    pub(super) fn note(
        &mut self,
        view: FibView<'_>,
        built: &[BlockPlace],
        root: &[SwitchedWord],
        arena: &[SwitchedWord],
    ) {
        if self.is_whole {
            return;
        }
        let new: usize = built.iter().map(|(_, len)| *len as usize).sum();
        let count = new + root.len() + arena.len();
        // Half as many as the arrays have, as each takes twice the memory.
        let most = (view.root.len() + view.arena.len()) / 2;
        let is_too_long = self.words.len() + count > most.max(FEW);
        if is_too_long || memory::grow(&mut self.words, count).is_err() {
            self.restart();
            return;
        }
        for (place, len) in built {
            let words = view.arena[*place as usize..][..*len as usize].iter();
            let words = words.map(|word| word.load(Ordering::Relaxed));
            self.words.extend((*place..).zip(words));
        }
        let root = root.iter().map(|(at, word)| (at | ROOT, *word));
        self.words.extend(root);
        self.words.extend_from_slice(arena);
    }

    /// From now on the mirror needs the arrays as a whole.
    pub(super) fn restart(&mut self) {
        self.is_whole = true;
        self.words = Vec::new_in(self.words.allocator().clone());
    }

    /// The arrays are others. What is held lies in those before, which go as a whole.
    pub(super) fn move_on(&mut self) {
        self.restart();
        self.held.clear();
        self.held_words = 0;
    }

    /// Brings the mirror up to date with the arrays, of which so many words are free; returns whether its readers have passed
    /// what is held.
    pub(super) fn bring<M: Mirror>(
        &mut self,
        view: FibView<'_>,
        free_words: usize,
        mirror: &mut M,
    ) -> Result<bool, M::Error> {
        if self.is_whole {
            mirror.load(FibWords(view))?;
            self.is_whole = false;
            return Ok(true);
        }
        for (at, word) in &self.words {
            let index = (at & !ROOT) as usize;
            match at & ROOT {
                0 => mirror.store_arena(index, *word),
                _ => mirror.store_root(index, *word),
            }
        }
        self.words.clear();
        // One grace period for many changes, but before the arena is full.
        let is_due = 2 * self.held_words > free_words;
        if is_due {
            mirror.wait()?;
        }
        Ok(is_due)
    }
}
