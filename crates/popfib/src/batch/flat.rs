//! Flat tables, as the vector kernels look up in them: groups of vectors, and the few lanes that lead deeper one by one.

use crate::address::Address;
use crate::fib::arrays::FibView;
use crate::fib::lookup::lookup_each;

/// What is left of a slice, up to this length, is looked up one by one.
const SHORT: usize = 8;

/// Looks up each of `addresses`: as many groups of `N` vectors as there are by `group`, then vectors by `vector`, the last one padded.
/// `next_hops` is as long.
#[inline(always)]
pub(super) fn in_groups<A: Address, const LANES: usize, const N: usize>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
    group: impl Fn(&[[A; LANES]; N], &mut [[u32; LANES]; N]),
    vector: impl Fn(&[[A; LANES]; 1], &mut [[u32; LANES]; 1]),
) {
    let (vectors, rest) = addresses.as_chunks::<LANES>();
    let (to_vectors, to_rest) = next_hops.as_chunks_mut::<LANES>();
    let (groups, vectors) = vectors.as_chunks::<N>();
    let (to_groups, to_vectors) = to_vectors.as_chunks_mut::<N>();
    for (addresses, next_hops) in groups.iter().zip(to_groups) {
        group(addresses, next_hops);
    }
    for (addresses, next_hops) in vectors.iter().zip(to_vectors) {
        vector(
            core::array::from_ref(addresses),
            core::array::from_mut(next_hops),
        );
    }
    if rest.len() <= SHORT {
        lookup_each(view, rest, to_rest);
        return;
    }
    let mut padded = [A::MIN; LANES];
    let mut answers = [[0; LANES]];
    padded[..rest.len()].copy_from_slice(rest);
    vector(&[padded], &mut answers);
    to_rest.copy_from_slice(&answers[0][..rest.len()]);
}

/// The lanes of `on`, a bit each, one by one.
#[cold]
pub(super) fn deeper<A: Address>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
    mut on: u32,
) {
    while on != 0 {
        let lane = on.trailing_zeros() as usize;
        on &= on - 1;
        lookup_each(view, &addresses[lane..=lane], &mut next_hops[lane..=lane]);
    }
}
