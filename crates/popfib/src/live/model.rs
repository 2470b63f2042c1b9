//! What writer and readers of a live table share, as it is, in the orders that loom tries (see `epochs/model.rs`):
//! readers' seats, generations that are replaced and freed, handles of which the last one frees, and words that
//! are used again. In place of arrays there is content whose reads and writes loom watches.

use core::alloc::Layout;
use core::ptr::NonNull;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::limbo::Limbo;
use super::seat::ReaderSeat;
use super::shared::GenerationsHandle;

use crate::fib::layout::IDLE_BLOCK;
use crate::memory::{AllocError, Allocator, Global};
use crate::patch::{FreeLink, Space};

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
