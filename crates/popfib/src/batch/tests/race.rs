//! Lookups on several threads while another one stores pointers: into an entry of the
//! root, an entry of a page and a value of a wide block.
//!
//! Miri and ThreadSanitizer see here whether the language allows what the scalar and
//! the portable kernel read, and that no read goes beyond its block. They do not see
//! what instructions of our own read; for those, the answers speak.

use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Relaxed, Release};
use std::thread;
use std::time::{Duration, Instant};

use super::{Random, kernels};
use crate::Address;
use crate::batch::Kernel;
use crate::fib::arrays::{FibView, FibWord, IDLE_BLOCK, words};
use crate::fib::layout::{NODE, WIDE};
use crate::fib::lookup::lookup_each;
use crate::rounds::rounds;

const READERS: usize = 2;

/// Addresses of a batch.
const BATCH: usize = if cfg!(miri) { 12 } else { 512 };
/// Pointers that are published one after the other, each once.
const GENERATIONS: u32 = if cfg!(miri) { 4 } else { 250 };

/// What ends beside the cell.
const BESIDE: u32 = 1;

/// Where the cell lies, the word that is stored while lookups load it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Root,
    Page,
    Value,
}

/// Arrays in which addresses that begin with zeros lead to the cell, and others to
/// [`BESIDE`]. Behind them lies room for blocks.
struct Arrays {
    root: Vec<FibWord>,
    arena: Vec<FibWord>,
    place: Place,
    cell: usize,
    value_bits: u8,
}

impl Arrays {
    /// The arrays, and where their room begins.
    fn new(place: Place, value_bits: u8, room: usize) -> (Self, usize) {
        let mut arena = IDLE_BLOCK.to_vec();
        let at = arena.len();
        let (entry, cell) = match place {
            Place::Root => (0, 0),
            Place::Page => {
                arena.extend([0, BESIDE]);
                (NODE | at as u32, at)
            }
            Place::Value => {
                // A run of the first 32 slots, and one of the others.
                arena.extend([1, 1, 0, BESIDE]);
                (NODE | WIDE | at as u32, at + 2)
            }
        };
        let free = arena.len();
        arena.resize(free + room, 0);
        let arrays = Self {
            root: words(vec![entry, BESIDE]),
            arena: words(arena),
            place,
            cell,
            value_bits,
        };
        (arrays, free)
    }

    fn cell(&self) -> &FibWord {
        match self.place {
            Place::Root => &self.root[self.cell],
            Place::Page | Place::Value => &self.arena[self.cell],
        }
    }

    fn view(&self) -> FibView<'_> {
        FibView {
            root: &self.root,
            arena: &self.arena,
            root_bits: 1,
            page_bits: u8::from(self.place == Place::Page),
            value_bits: self.value_bits,
            is_flat: false,
        }
    }

    /// Random addresses, and which of them lead to the cell: all of some stretches,
    /// few of others, since kernels treat these differently.
    fn addresses<A: Address>(&self) -> (Vec<A>, Vec<bool>) {
        let mut random = Random(6);
        let depth = if self.place == Place::Root { 1 } else { 2 };
        (0..BATCH)
            .map(|n| {
                let address = random.address::<A>();
                if n / (BATCH / 2) == 0 || random.below(4) == 0 {
                    (address & !A::mask(depth), true)
                } else {
                    (address | A::mask(depth), false)
                }
            })
            .unzip()
    }

    /// Writes a word without any care for other threads.
    ///
    /// # Safety
    /// No pointer has led to the word yet.
    unsafe fn put(&self, at: usize, word: u32) {
        // SAFETY: as above.
        unsafe { self.arena[at].as_ptr().write(word) };
    }

    /// Writes a block of 64 narrow values; returns a pointer to it and the place after.
    ///
    /// # Safety
    /// No pointer has led to the room from `at` on yet.
    unsafe fn narrow(&self, at: usize, value: impl Fn(u32) -> u32) -> (u32, usize) {
        let (mut bits, mut len, mut end) = (0u64, 0, at + 2);
        // SAFETY: as above.
        unsafe {
            self.put(at, u32::MAX);
            self.put(at + 1, u32::MAX);
            for slot in 0..64 {
                bits |= u64::from(value(slot)) << len;
                len += self.value_bits;
                // 64 values end at the end of a word, whatever their width.
                if len >= 32 {
                    self.put(end, bits as u32);
                    (bits, len, end) = (bits >> 32, len - 32, end + 1);
                }
            }
        }
        assert_eq!(len, 0);
        (NODE | at as u32, end)
    }

    /// Writes a block of 64 pointers, all the same.
    ///
    /// # Safety
    /// No pointer has led to the room from `at` on yet.
    unsafe fn wide(&self, at: usize, pointer: u32) -> (u32, usize) {
        let end = at + 2 + 64;
        // SAFETY: as above.
        unsafe {
            self.put(at, u32::MAX);
            self.put(at + 1, u32::MAX);
            for value in at + 2..end {
                self.put(value, pointer);
            }
        }
        (NODE | WIDE | at as u32, end)
    }
}

/// Readers look up while three pointers are stored in turn: each answer is that of one
/// of the three, and every reader meets all of them.
fn answers_are_of_one_pointer<A: Address>(kernel: Kernel, place: Place, value_bits: u8) {
    let (arrays, free) = Arrays::new(place, value_bits, 4 * 70);
    // SAFETY: nobody looks up yet.
    let pointers = unsafe {
        let (first, end) = arrays.narrow(free, |slot| 100 + slot);
        let (below, end) = arrays.narrow(end, |slot| 200 + slot);
        let (second, _) = arrays.wide(end, below);
        [first, second, 2]
    };
    let (addresses, _) = arrays.addresses::<A>();
    let allowed = pointers.map(|pointer| {
        arrays.cell().store(pointer, Relaxed);
        let mut next_hops = vec![0; BATCH];
        lookup_each(arrays.view(), &addresses, &mut next_hops);
        next_hops
    });
    let read = || {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut met = [false; 3];
        let least = if cfg!(miri) { 2 } else { rounds(100, 500) };
        let mut rounds = 0;
        while rounds < least || met.contains(&false) {
            let mut next_hops = vec![0; BATCH];
            kernel.lookup_batch(arrays.view(), &addresses, &mut next_hops);
            for (n, next_hop) in next_hops.iter().enumerate() {
                let found = [0, 1, 2].map(|which| allowed[which][n] == *next_hop);
                assert!(found.contains(&true), "{kernel} {place:?}: {next_hop:?}");
                // Beside the cell all three are the same.
                if found != [true; 3] {
                    for (met, found) in met.iter_mut().zip(found) {
                        *met |= found;
                    }
                }
            }
            rounds += 1;
            if rounds >= least {
                // With fewer cores than threads, the next pointer would wait for the end of this thread's time.
                thread::yield_now();
            }
            let seconds_left = deadline.saturating_duration_since(Instant::now());
            assert!(!seconds_left.is_zero(), "{kernel} {place:?}: met {met:?}");
        }
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(read)).collect();
        while readers.iter().any(|reader| !reader.is_finished()) {
            for pointer in pointers {
                arrays.cell().store(pointer, Release);
                thread::yield_now();
            }
        }
    });
}

/// Blocks are written plainly, one after the other, and published: readers see each
/// whole, and after one never an older.
fn a_published_block_is_whole<A: Address>(kernel: Kernel, place: Place, value_bits: u8) {
    let (arrays, free) = Arrays::new(place, value_bits, GENERATIONS as usize * 140);
    let (addresses, to_cell) = arrays.addresses::<A>();
    arrays.cell().store(BESIDE, Relaxed);
    // Read and written without order: it must be the pointer that orders.
    let rounds = AtomicUsize::new(0);
    let read = || {
        let (mut oldest, mut newest) = (0, 0);
        while oldest < GENERATIONS {
            let mut next_hops = vec![0; BATCH];
            kernel.lookup_batch(arrays.view(), &addresses, &mut next_hops);
            rounds.fetch_add(1, Relaxed);
            let (mut low, mut high) = (u32::MAX, 0);
            for (next_hop, to_cell) in next_hops.iter().zip(&to_cell) {
                if *to_cell {
                    (low, high) = (low.min(*next_hop), high.max(*next_hop));
                } else {
                    assert_eq!(*next_hop, BESIDE, "{kernel} {place:?}");
                }
            }
            let is_in_order = BESIDE <= low && newest <= low && high <= GENERATIONS;
            assert!(
                is_in_order,
                "{kernel} {place:?}: {low}-{high} after {newest}"
            );
            (oldest, newest) = (low, high);
        }
    };
    thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(read)).collect();
        let mut at = free;
        for generation in BESIDE + 1..=GENERATIONS {
            // So many lookups at least run while blocks are published.
            while rounds.load(Relaxed) < generation as usize / 4
                && readers.iter().any(|reader| !reader.is_finished())
            {
                thread::yield_now();
            }
            // SAFETY: after all blocks that have been published.
            let pointer = unsafe {
                let (mut pointer, end) = arrays.narrow(at, |_| generation);
                at = end;
                if generation % 2 == 0 {
                    (pointer, at) = arrays.wide(at, pointer);
                }
                pointer
            };
            arrays.cell().store(pointer, Release);
        }
    });
}

/// Values that a read of four bytes holds, and wider ones.
const VALUE_BITS: [u8; 2] = [12, 28];

fn for_all(run: [fn(Kernel, Place, u8); 3]) {
    let [short, long, longest] = run;
    for kernel in kernels() {
        for value_bits in VALUE_BITS {
            for place in [Place::Root, Place::Value] {
                short(kernel, place, value_bits);
            }
            for place in [Place::Root, Place::Page, Place::Value] {
                long(kernel, place, value_bits);
                longest(kernel, place, value_bits);
            }
        }
    }
}

#[test]
fn every_answer_is_of_one_pointer() {
    for_all([
        answers_are_of_one_pointer::<u32>,
        answers_are_of_one_pointer::<u64>,
        answers_are_of_one_pointer::<u128>,
    ]);
}

#[test]
fn every_published_block_is_whole() {
    for_all([
        a_published_block_is_whole::<u32>,
        a_published_block_is_whole::<u64>,
        a_published_block_is_whole::<u128>,
    ]);
}
