//! No kernel reads outside the arrays: each array ends, or begins, at a page
//! that can't be read. Sanitizers don't see what vector instructions gather.

use core::ptr;
use core::slice;

use super::{Random, kernels, probes, rib};
use crate::address::STRIDE;
use crate::fib::arrays::FibView;
use crate::memory::Global;
use crate::rounds::rounds;
use crate::{Address, Fib, Options, Rib};
use alloc::vec::Vec;

const PAGE: usize = 4096;

/// Memory between two pages that can't be touched.
struct Guarded {
    start: *mut u8,
    /// Bytes between the guards.
    room: usize,
}

impl Guarded {
    fn new(size: usize) -> Self {
        let room = size.next_multiple_of(PAGE);
        // SAFETY: new anonymous memory, of which all but the first and the last
        // page is opened.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let all = room + 2 * PAGE;
            let start = libc::mmap(ptr::null_mut(), all, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            let start = start.cast::<u8>().add(PAGE);
            if room > 0 {
                let open = libc::PROT_READ | libc::PROT_WRITE;
                assert_eq!(libc::mprotect(start.cast(), room, open), 0);
            }
            Self { start, room }
        }
    }

    /// A copy of `items`, up to the guard at the end or from that at the begin on.
    fn place<T>(&mut self, items: &[T], at_end: bool) -> &mut [T] {
        assert!(size_of_val(items) <= self.room && align_of::<T>() <= PAGE);
        assert!(!core::mem::needs_drop::<T>());
        let offset = if at_end {
            self.room - size_of_val(items)
        } else {
            0
        };
        // SAFETY: inside the room, which this alone owns; aligned, since a page
        // is and the size of items is a multiple of their alignment.
        unsafe {
            let to = self.start.add(offset).cast::<T>();
            to.copy_from_nonoverlapping(items.as_ptr(), items.len());
            slice::from_raw_parts_mut(to, items.len())
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length.
        unsafe { libc::munmap(self.start.sub(PAGE).cast(), self.room + 2 * PAGE) };
    }
}

fn all_reads_are_inside<A: Address>() {
    let mut random = Random(5);
    // One and few bits, those that just fit a read of 32 bits, and longer ones.
    for bits in rounds(
        &[1, 9, 25, 26, 31][..],
        &[1, 2, 7, 9, 16, 17, 24, 25, 26, 27, 31],
    ) {
        let bits = *bits;
        // So few routes that the last block, which the end of the arena follows, is met.
        for (routes, direct_bits) in [(0, 0), (1, 0), (3, 8), (200, 0), (200, 7), (900, 17)] {
            let direct_bits = A::WIDTH.min(direct_bits);
            let rib = rib::<A>(&mut random, routes, u32::MAX >> (32 - bits));
            let options = Options::default().direct_bits(Some(direct_bits));
            let fib = Fib::<A>::compile(&rib, &options).expect("fits");
            reads_are_inside(&mut random, &rib, &fib);
            // The roots of flat tables of short keys have some bits, and leave those of a block.
            let options = match A::WIDTH {
                ..=32 => options.direct_bits(Some(direct_bits.clamp(1, A::WIDTH - STRIDE))),
                33.. => options,
            };
            let flat = Fib::<A>::flat(&rib, &options, usize::MAX, Global);
            let flat = flat.expect("fits").expect("there is no limit");
            reads_are_inside(&mut random, &rib, &flat);
        }
    }
}

fn reads_are_inside<A: Address>(random: &mut Random, rib: &Rib<A>, fib: &Fib<A>) {
    let view = fib.arrays();
    for len in [1, 15, 16, 17, 31, 33, 64, 65, 300] {
        let probes = probes(random, rib, len);
        let expected: Vec<u32> = probes.iter().map(|probe| fib.lookup(*probe)).collect();
        for at_end in [false, true] {
            let mut root = Guarded::new(size_of_val(view.root));
            let mut arena = Guarded::new(size_of_val(view.arena));
            let mut from = Guarded::new(size_of_val(&*probes));
            let mut to = Guarded::new(size_of_val(&*expected));
            let view = FibView {
                root: root.place(view.root, at_end),
                arena: arena.place(view.arena, at_end),
                ..view
            };
            let from = from.place(&probes, at_end);
            for kernel in kernels() {
                let to = to.place(&probes.iter().map(|_| 0).collect::<Vec<_>>(), at_end);
                kernel.lookup_batch(view, from, to);
                assert_eq!(to, &*expected, "{kernel}");
            }
        }
    }
}

#[test]
fn no_kernel_reads_outside_the_arrays() {
    all_reads_are_inside::<u8>();
    all_reads_are_inside::<u16>();
    all_reads_are_inside::<u32>();
    all_reads_are_inside::<u64>();
    all_reads_are_inside::<u128>();
}
