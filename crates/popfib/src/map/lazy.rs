//! The Fib of a map: compiled by the first lookup after many changes, and patched by others.
//!
//! A patch takes some hundred nanoseconds, a compilation some tens of nanoseconds a route. So if many changes come
//! without a lookup between them, it is less work to drop the Fib and to compile it when somebody looks up. Nobody
//! knows how many changes are to come, so patches are made until they have cost a compilation (ski rental): at worst
//! twice the best is paid. A loop that builds a map by inserts, which has no Fib yet, pays for the routes only.
//!
//! While one thread compiles, and where memory is refused, the Rib answers, right and slower: no lookup waits.
//!
//! Rejected: marks on entries of the table whose changes wait, for which lookups ask the Rib, as lookups could not
//! settle them (experiments 193 and 301); `OnceLock`, which the library has with `std` only, and whose lookups wait.

use core::cell::UnsafeCell;
use core::panic::RefUnwindSafe;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::address::Address;
use crate::fib::Options;
use crate::next_hop::NextHop;
use crate::patch::{FollowingFib, ROUTES_A_PATCH, UnsharedArrays};
use crate::prefix::Prefix;
use crate::rib::Rib;

/// No Fib: the next lookup compiles it.
const NONE: u8 = 0;
/// A lookup compiles it; others ask the Rib.
const COMPILING: u8 = 1;
/// No Fib, as memory was refused: the Rib answers, until some changes later.
const REFUSED: u8 = 2;
/// The Fib follows; no lookup has come since the last change.
const UNASKED: u8 = 3;
/// The Fib follows.
const READY: u8 = 4;

/// Changes without a lookup that are patches, however few routes there are.
const FEW: usize = 16;

type MapFib<A> = FollowingFib<A, UnsharedArrays>;

#[derive(Debug)]
pub(super) struct LazyFib<A: Address> {
    state: AtomicU8,
    /// Written by whoever may change the map, and by the one lookup that took `state` from [`NONE`] to [`COMPILING`].
    fib: UnsafeCell<Option<MapFib<A>>>,
    /// Changes since a lookup came, or since memory was refused.
    changes: usize,
}

// SAFETY: what shared borrows read of `fib` is `Sync`, and nobody writes it while they do: `get` lends it in the states
// UNASKED and READY only, and the one write by a shared borrow is before them, in COMPILING. A Fib that one thread
// made may be dropped by another: it is `Send`, as the next lines ask.
unsafe impl<A: Address> Sync for LazyFib<A> where MapFib<A>: Send + Sync {}

/// A lookup that panics leaves [`COMPILING`], in which the Rib answers.
impl<A: Address> RefUnwindSafe for LazyFib<A> {}

impl<A: Address> LazyFib<A> {
    pub(super) const fn new() -> Self {
        Self {
            state: AtomicU8::new(NONE),
            fib: UnsafeCell::new(None),
            changes: 0,
        }
    }

    /// The Fib of `rib`, compiled if nobody has asked for long; `None` where the Rib has to answer.
    #[inline(always)]
    pub(super) fn get(&self, rib: &Rib<A>, options: &Options) -> Option<&MapFib<A>> {
        if self.state.load(Acquire) != READY && !self.wake(rib, options) {
            return None;
        }
        // SAFETY: the state is UNASKED or READY and stays one of them while the map is borrowed. What wrote the Fib had
        // the map for itself, or stored READY, which the load saw, after it.
        unsafe { &*self.fib.get() }.as_ref()
    }

    /// The Fib, if it is there.
    pub(super) fn peek(&self) -> Option<&MapFib<A>> {
        let is_there = self.state.load(Acquire) >= UNASKED;
        // SAFETY: as in `get`.
        is_there.then(|| unsafe { &*self.fib.get() }.as_ref())?
    }

    /// What a lookup does that is not the first of many. Whether the Fib answers.
    #[cold]
    #[inline(never)]
    fn wake(&self, rib: &Rib<A>, options: &Options) -> bool {
        let exchange = |from, to| self.state.compare_exchange(from, to, Acquire, Acquire);
        match self.state.load(Acquire) {
            NONE if rib.is_empty() => false,
            NONE if exchange(NONE, COMPILING).is_ok() => {
                let fib = FollowingFib::compile(rib, options).ok();
                let state = if fib.is_some() { READY } else { REFUSED };
                // SAFETY: only who took the state from NONE comes here, and nobody reads the Fib before it is READY.
                unsafe { *self.fib.get() = fib };
                self.state.store(state, Release);
                state == READY
            }
            UNASKED => {
                // Others store the same: a change, which would not, has the map for itself.
                self.state.store(READY, Relaxed);
                true
            }
            _ => self.state.load(Acquire) >= UNASKED,
        }
    }

    /// The same Fib in memory of its own; none where that is refused.
    pub(super) fn clone_fib(&self) -> Self {
        let fib = self.peek().and_then(|fib| fib.try_clone().ok());
        Self {
            state: AtomicU8::new(if fib.is_some() { UNASKED } else { NONE }),
            fib: UnsafeCell::new(fib),
            changes: 0,
        }
    }

    /// Makes the Fib follow the Rib, in which the route of `prefix` has changed.
    #[inline]
    pub(super) fn follow(
        &mut self,
        rib: &Rib<A>,
        prefix: Prefix<A>,
        old: Option<NextHop>,
        new: Option<NextHop>,
    ) {
        let state = self.state.get_mut();
        self.changes = if *state == READY { 1 } else { self.changes + 1 };
        let is_many = self.changes > FEW + rib.len() / ROUTES_A_PATCH;
        if is_many || rib.is_empty() {
            *self = Self::new();
        } else if let Some(fib) = self.fib.get_mut() {
            *state = UNASKED;
            if fib.follow(rib, prefix, old, new).is_err() {
                *self = Self::new();
                *self.state.get_mut() = REFUSED;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::map::PrefixMap;

    /// Where the Fib is, if it is there.
    fn arena<V>(map: &PrefixMap<u32, V>) -> Option<*const u32> {
        let fib = map.routes.fib.peek()?;
        Some(crate::patch::Home::view(&fib.home).root.as_ptr().cast())
    }

    #[test]
    fn the_fib_is_compiled_once_and_kept_while_lookups_come() {
        let host = |n: u32| Prefix::host(n << 8);
        let mut map = PrefixMap::<u32, u32>::new();
        assert_eq!((map.lookup(0_u32), arena(&map)), (None, None));
        for n in 0..4000 {
            map.insert(host(n), n);
            assert_eq!(arena(&map), None, "nobody has asked");
        }
        assert_eq!(map.lookup(7_u32 << 8), Some(&7));
        let first = arena(&map);
        assert!(first.is_some());
        // A lookup between changes, however many: patches.
        for n in (0..2000).flat_map(|n| [n, 9999]) {
            map.remove(host(n));
            assert_eq!((map.lookup(n << 8), arena(&map)), (None, first));
        }
        // Few without a lookup: patches. One more: the routes alone.
        let few = FEW + map.len() / ROUTES_A_PATCH;
        let added: Vec<u32> = (5000..).take(few + few / 4).collect();
        for (at, n) in added.iter().enumerate() {
            map.insert(host(*n), *n);
            if at < few {
                assert_eq!(arena(&map), first, "{at} of {few}");
            }
        }
        assert_eq!(arena(&map), None);
        assert!(map.clone().routes.fib.peek().is_none());
        assert_eq!(
            map.longest_match_mut(5001_u32 << 8).map(|(_, n)| *n),
            Some(5001)
        );
        assert!(arena(&map).is_some() && arena(&map.clone()).is_some());
        map.clear();
        assert_eq!(arena(&map), None);
        // Collected, a map is compiled at once; extended, by the next lookup.
        let mut map: PrefixMap<u32, u32> = (0..100).map(|n| (host(n), n)).collect();
        assert!(arena(&map).is_some());
        map.extend((100..300).map(|n| (host(n), n)));
        assert_eq!((arena(&map), map.lookup(299_u32 << 8)), (None, Some(&299)));
        assert!(arena(&map).is_some());
    }
}
