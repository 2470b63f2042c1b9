//! popfib where there is no standard library and no heap, as in a kernel: routes,
//! lookups, and what happens when memory runs out.
//!
//! All memory is one array on the stack, handed out by `bump.rs`. A global
//! allocator has to be named, because popfib can also use one; the one here
//! ends the program if anything asks it. The program is linked for bare metal;
//! Linux on x86-64 can run it, as it needs nothing but the call to exit:
//!
//! ```text
//! cd examples/no-std && cargo run --release && echo right
//! ```
//!
//! Exit status 0: all answers are right; 1: one is wrong; 2: a panic; 3: the
//! global allocator was asked.

#![no_std]
#![no_main]

mod bump;
mod system;

use core::mem::MaybeUninit;

use bump::Bump;
use popfib::{CompileError, Fib, NextHop, Options, Prefix, Rib};

/// Everything this program does; whether all was right.
fn run() -> bool {
    let mut memory = [MaybeUninit::uninit(); 2 << 20];
    let mut little = [MaybeUninit::uninit(); 16 << 10];
    forwarding(&Bump::new(&mut memory)) == Some(true)
        && out_of_memory(&Bump::new(&mut little)) == Some(true)
}

/// The route `n` of some thousand.
fn route(n: u32) -> Option<(Prefix<u32>, NextHop)> {
    let prefix = Prefix::new_masked(n.wrapping_mul(0x9e37_79b9), 8 + (n % 25) as u8);
    Some((prefix.ok()?, NextHop::new(1 + n % 200)?))
}

/// Inserts, compiles, looks up, removes, and again.
fn forwarding(memory: &Bump<'_>) -> Option<bool> {
    let mut rib = Rib::<u32, _>::new_in(memory);
    for n in 0..1500 {
        let (prefix, next_hop) = route(n)?;
        rib.try_insert(prefix, next_hop).ok()?;
    }
    for round in 0..3 {
        let fib: Fib<u32, _> = Fib::compile_in(&rib, &Options::default(), memory).ok()?;
        let mut answers = [0; 64];
        for burst in 0..100u32 {
            // Inside of routes and beside them.
            let addresses: [u32; 64] = core::array::from_fn(|at| {
                let n = burst * 64 + at as u32;
                n.wrapping_mul(0x9e37_79b9) ^ (n % 7)
            });
            fib.lookup_batch(&addresses, &mut answers);
            for (address, answer) in addresses.iter().zip(answers) {
                let expected = rib.lookup(*address).map_or(0, NextHop::get);
                if answer != expected || fib.lookup(*address) != answer {
                    return Some(false);
                }
            }
        }
        for n in (round..1500).step_by(3) {
            rib.remove(route(n)?.0);
        }
    }
    Some(rib.is_empty())
}

/// More routes than there is memory for.
fn out_of_memory(memory: &Bump<'_>) -> Option<bool> {
    let mut rib = Rib::<u32, _>::new_in(memory);
    let mut inserted = 0;
    while let (prefix, next_hop) = route(inserted)?
        && rib.try_insert(prefix, next_hop).is_ok()
    {
        inserted += 1;
    }
    // As it was before, and as good.
    let (refused, next_hop) = route(inserted)?;
    let is_whole = rib
        .iter()
        .all(|(prefix, next_hop)| rib.get(prefix) == Some(next_hop));
    let compiled = Fib::<u32, _>::compile_in(&rib, &Options::default(), memory);
    let is_refused = matches!(compiled, Err(CompileError::OutOfMemory(_)));
    // Without a few routes there is room for another.
    for n in 0..inserted / 2 {
        rib.remove(route(n)?.0);
    }
    let fits_now = rib.try_insert(refused, next_hop).is_ok();
    Some(inserted > 20 && is_whole && is_refused && fits_now && rib.get(refused) == Some(next_hop))
}
