//! What writer and readers of a live table share, as it is, in the orders that loom tries (see `epochs/model.rs`):
//! readers' seats, generations that are replaced and freed, handles of which the last one frees, and words that
//! are used again. In place of arrays there is content whose reads and writes loom watches. A mirror is one of a whole
//! live table, and gets the words of its journal.

use core::alloc::Layout;
use core::ptr::NonNull;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use loom::sync::{Arc, RwLock};
use loom::thread;

use super::limbo::Limbo;
use super::mirror::Mirror;
use super::seat::ReaderSeat;
use super::shared::GenerationsHandle;

use crate::fib::FibWords;
use crate::fib::arrays::IDLE_BLOCK;
use crate::fib::layout::{NODE, PLACE, WIDE};
use crate::memory::{AllocError, Allocator, Global};
use crate::patch::{FreeLink, Space};
use crate::{LiveFib, NextHop, Options, Prefix};

/// Memory that is never given back, so that loom can say what a wrong run uses.
#[derive(Clone)]
struct Kept;

// SAFETY: memory of the global heap, which stays.
unsafe impl Allocator for Kept {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        Global.allocate(layout)
    }

    // SAFETY: as the trait asks; nothing is done.
    unsafe fn deallocate(&self, _: NonNull<u8>, _: Layout) {}
}

/// A number that says so when it is used while another thread changes or frees it.
struct Watched(UnsafeCell<u32>);

// SAFETY: what is tested keeps reads and writes apart; that it does is what loom verifies.
unsafe impl Sync for Watched {}

impl Watched {
    fn new(value: u32) -> Self {
        Self(UnsafeCell::new(value))
    }
}

impl FreeLink for Watched {
    fn get(&self) -> u32 {
        // SAFETY: loom checks that nobody writes meanwhile.
        self.0.with(|value| unsafe { *value })
    }

    fn set(&self, value: u32) {
        // SAFETY: loom checks that nobody reads meanwhile.
        self.0.with_mut(|value_at| unsafe { *value_at = value });
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.set(u32::MAX);
    }
}

/// What a reader that is inside finds.
fn look(seat: &ReaderSeat<Watched, Kept>) -> u32 {
    // SAFETY: the reader is inside.
    unsafe { seat.current() }.get()
}

#[test]
fn model_of_generations() {
    loom::model(|| {
        let shared = GenerationsHandle::new(Watched::new(1), Kept).expect("memory");
        let mut seat = ReaderSeat::new(shared.clone()).expect("memory");
        let reader = thread::spawn(move || {
            seat.enter();
            let first = look(&seat);
            seat.go_on();
            let second = look(&seat);
            seat.leave();
            assert!((1..=2).contains(&first) && (first..=2).contains(&second));
        });
        shared.publish(Watched::new(2)).expect("memory");
        shared.free_older();
        shared.free_older();
        // The reader may be the last who has it.
        drop(shared);
        reader.join().expect("no panic");
    });
}

#[test]
fn model_of_the_last_handle() {
    loom::model(|| {
        let shared = GenerationsHandle::new(Watched::new(1), Kept).expect("memory");
        let seat = ReaderSeat::new(shared.clone()).expect("memory");
        let readers: Vec<_> = [seat.try_clone().expect("memory"), seat]
            .into_iter()
            .map(|mut seat| {
                thread::spawn(move || {
                    seat.enter();
                    assert_eq!(look(&seat), 1);
                    seat.leave();
                })
            })
            .collect();
        drop(shared);
        for reader in readers {
            reader.join().expect("no panic");
        }
    });
}

/// The model finds what is wrong: a reader that is not inside.
#[test]
#[should_panic(expected = "Causality violation")]
fn model_of_a_reader_outside() {
    loom::model(|| {
        let shared = GenerationsHandle::new(Watched::new(1), Kept).expect("memory");
        let seat = ReaderSeat::new(shared.clone()).expect("memory");
        let reader = thread::spawn(move || {
            look(&seat);
        });
        shared.publish(Watched::new(2)).expect("memory");
        shared.free_older();
        reader.join().expect("no panic");
    });
}

/// Words of a block: those of the idle block and of two more fit in.
const LEN: usize = 2;

/// An arena, and the pointer to its block.
struct Arena {
    pointer: AtomicUsize,
    words: Vec<Watched>,
}

impl Arena {
    /// Builds a block of equal words and switches the pointer to it; the place of the one before.
    fn put(&self, space: &mut Space, value: u32) -> Option<u32> {
        let place = space.alloc(&self.words, LEN)?;
        for word in &self.words[place as usize..][..LEN] {
            word.set(value);
        }
        let old = self.pointer.load(Ordering::Relaxed);
        self.pointer.store(place as usize, Ordering::Release);
        Some(old as u32)
    }
}

#[test]
fn model_of_words_that_are_used_again() {
    loom::model(|| {
        let words = IDLE_BLOCK.len() + 2 * LEN;
        let arena = Arena {
            pointer: AtomicUsize::new(0),
            words: (0..words).map(|_| Watched::new(0)).collect(),
        };
        let mut space: Space = Space::new(words, IDLE_BLOCK.len());
        space.reserve(&Global).unwrap();
        arena.put(&mut space, 1);
        let shared = GenerationsHandle::new(arena, Kept).expect("memory");
        let mut seat = ReaderSeat::new(shared.clone()).expect("memory");
        let reader = thread::spawn(move || {
            for _ in 0..2 {
                seat.enter();
                // SAFETY: the reader is inside.
                let arena = unsafe { seat.current() };
                let at = arena.pointer.load(Ordering::Acquire);
                let found = [arena.words[at].get(), arena.words[at + 1].get()];
                assert!([[1, 1], [2, 2], [3, 3]].contains(&found), "{found:?}");
                seat.leave();
            }
        });
        // SAFETY: this is the writer.
        let arena = unsafe { shared.current() };
        let old = arena.put(&mut space, 2).expect("there is room");
        assert_eq!(arena.put(&mut space, 3), None, "the arena is full");
        if shared.epochs.all_passed(shared.epochs.end_epoch()) {
            space.free(&arena.words, old, LEN as u32);
            arena.put(&mut space, 3).expect("what was freed");
        }
        reader.join().expect("no panic");
    });
}

/// Two tables whose blocks are in one arena, and the places of these.
struct Tables {
    entries: [AtomicUsize; 2],
    words: Vec<Watched>,
}

/// A block of two tables goes with the last of them, and its place becomes another's.
#[test]
fn model_of_tables_that_share_a_block() {
    loom::model(|| {
        let words = IDLE_BLOCK.len() + 2 * LEN;
        let tables = Tables {
            entries: [AtomicUsize::new(0), AtomicUsize::new(0)],
            words: (0..words).map(|_| Watched::new(0)).collect(),
        };
        let mut space: Space = Space::new(words, IDLE_BLOCK.len());
        space.reserve(&Global).unwrap();
        // The place of a new block of equal words.
        let build = |tables: &Tables, space: &mut Space, value| {
            let place = space.alloc(&tables.words, LEN)? as usize;
            for word in &tables.words[place..][..LEN] {
                word.set(value);
            }
            Some(place)
        };
        let both = build(&tables, &mut space, 1).expect("there is room");
        for entry in &tables.entries {
            entry.store(both, Ordering::Release);
        }
        let shared = GenerationsHandle::new(tables, Kept).expect("memory");
        let mut seat = ReaderSeat::new(shared.clone()).expect("memory");
        let reader = thread::spawn(move || {
            seat.enter();
            for (table, allowed) in [(1, [1, 2]), (0, [1, 3])] {
                // SAFETY: the reader is inside.
                let tables = unsafe { seat.current() };
                let at = tables.entries[table].load(Ordering::Acquire);
                let found = [tables.words[at].get(), tables.words[at + 1].get()];
                let is_known = |value| found == [value; 2];
                assert!(at == 0 || allowed.into_iter().any(is_known), "{found:?}");
                seat.go_on();
            }
            seat.leave();
        });
        // SAFETY: this is the writer.
        let tables = unsafe { shared.current() };
        // The first table goes, and the second has the block alone; then that gets another.
        tables.entries[0].store(0, Ordering::Release);
        let second = build(tables, &mut space, 2).expect("there is room");
        tables.entries[1].store(second, Ordering::Release);
        let mut limbo = Limbo::new_in(Global);
        limbo.reserve(1).expect("memory");
        let mut retired = allocator_api2::vec::Vec::new();
        retired.push(both);
        limbo.append(&mut retired);
        for _ in 0..2 {
            limbo.collect(&shared.epochs, |at| {
                space.free(&tables.words, at as u32, LEN as u32);
            });
        }
        if let Some(third) = build(tables, &mut space, 3) {
            tables.entries[0].store(third, Ordering::Release);
        }
        reader.join().expect("no panic");
    });
}

/// The pairs of a live map, and the number that the Fib answers.
struct Numbered {
    number: AtomicUsize,
    pairs: [Watched; 2],
}

#[test]
fn model_of_pairs_that_wait() {
    loom::model(|| {
        let content = Numbered {
            number: AtomicUsize::new(0),
            pairs: [Watched::new(10), Watched::new(0)],
        };
        let shared = GenerationsHandle::new(content, Kept).expect("memory");
        let mut seat = ReaderSeat::new(shared.clone()).expect("memory");
        let reader = thread::spawn(move || {
            for _ in 0..2 {
                seat.enter();
                // SAFETY: the reader is inside.
                let map = unsafe { seat.current() };
                let number = map.number.load(Ordering::Acquire);
                assert_eq!(map.pairs[number].get(), 10 + number as u32);
                seat.leave();
            }
        });
        // SAFETY: this is the writer.
        let map = unsafe { shared.current() };
        // Written before anything leads to it.
        map.pairs[1].set(11);
        map.number.store(1, Ordering::Release);
        let mut limbo = Limbo::new_in(Global);
        limbo.reserve(1).expect("memory");
        let mut retired = allocator_api2::vec::Vec::new();
        retired.push(0);
        limbo.append(&mut retired);
        for _ in 0..2 {
            limbo.collect(&shared.epochs, |number: usize| {
                map.pairs[number].set(u32::MAX)
            });
        }
        reader.join().expect("no panic");
    });
}

/// A copy of a table of 8 bits, in which another thread looks up. Only the words of its root lead to blocks.
struct TableCopy {
    root: Vec<AtomicU32>,
    arena: Vec<Watched>,
    value_bits: usize,
    /// Lookups hold it. Who gets it alone has waited for all that had begun, as a grace period does.
    lookups: RwLock<()>,
}

impl TableCopy {
    fn of(words: FibWords<'_>) -> Self {
        assert_eq!((words.root_bits(), words.page_bits()), (2, 0));
        Self {
            root: words.root().map(AtomicU32::new).collect(),
            arena: words.arena().map(Watched::new).collect(),
            value_bits: words.value_bits().into(),
            lookups: RwLock::new(()),
        }
    }

    /// What a reader finds.
    fn lookup(&self, address: u8) -> u32 {
        let _inside = self.lookups.read().expect("no panic");
        let pointer = self.root[usize::from(address >> 6)].load(Ordering::Acquire);
        assert_eq!(pointer & (NODE | WIDE), NODE, "a narrow block");
        let word = |at: usize| u64::from(self.arena[(pointer & PLACE) as usize + at].get());
        let runs = word(0) | word(1) << 32;
        let run = (runs << (63 - address % 64)).count_ones() as usize - 1;
        let bit = run * self.value_bits;
        let value = (word(2 + bit / 32) | word(3 + bit / 32) << 32) >> (bit % 32);
        value as u32 & ((1 << self.value_bits) - 1)
    }
}

/// A mirror, and what it was asked for.
#[derive(Default)]
struct ModelMirror {
    copy: Option<Arc<TableCopy>>,
    loads: usize,
    waits: usize,
    /// How often each word of the arena was stored, the first time by a load.
    stores: Vec<u8>,
}

impl Mirror for ModelMirror {
    type Error = core::convert::Infallible;

    fn load(&mut self, words: FibWords<'_>) -> Result<(), Self::Error> {
        self.loads += 1;
        self.stores = words.arena().map(|word| u8::from(word != 0)).collect();
        self.copy = Some(Arc::new(TableCopy::of(words)));
        Ok(())
    }

    fn store_root(&mut self, index: usize, word: u32) {
        self.copy.as_ref().expect("loaded").root[index].store(word, Ordering::Release);
    }

    fn store_arena(&mut self, index: usize, word: u32) {
        self.copy.as_ref().expect("loaded").arena[index].set(word);
        self.stores[index] += 1;
    }

    fn wait(&mut self) -> Result<(), Self::Error> {
        drop(self.copy.as_ref().expect("loaded").lookups.write());
        self.waits += 1;
        Ok(())
    }
}

/// A route of 6 bits.
fn route(number: u8, next_hop: u32) -> (Prefix<u8>, Option<NextHop>) {
    let prefix = Prefix::new(number * 4, 6).expect("no host bits");
    (prefix, NextHop::new(next_hop))
}

#[test]
fn model_of_a_mirror() {
    let mut model = loom::model::Builder::new();
    model.max_branches = 10_000;
    model.check(|| {
        let options = Options::default().direct_bits(Some(2));
        let mut table: LiveFib<u8> = LiveFib::new(options).expect("2 bits");
        let mut mirror = ModelMirror::default();
        let Ok(()) = table.mirror(&mut mirror);
        // One block whose values are long, so that a few of it fill the arena.
        let routes = (0..16).map(|number| route(number, 1000 + u32::from(number)));
        table.apply(routes).expect("memory");
        let Ok(()) = table.mirror(&mut mirror);
        let copy = mirror.copy.clone().expect("loaded");
        let reader = thread::spawn(move || {
            let found = [copy.lookup(5), copy.lookup(5)];
            let is_right = found[0] <= found[1] && (1001..=1004).contains(&found[0]);
            assert!(is_right, "{found:?}");
        });
        for next_hop in 1002..=1004 {
            table.apply([route(1, next_hop)]).expect("memory");
            let Ok(()) = table.mirror(&mut mirror);
            table.reclaim();
        }
        reader.join().expect("no panic");
        assert_eq!((mirror.loads, mirror.waits), (2, 1));
        assert!(
            mirror.stores.iter().any(|times| *times > 1),
            "words are used again"
        );
        assert_eq!(mirror.copy.expect("loaded").lookup(5), 1004);
    });
}
