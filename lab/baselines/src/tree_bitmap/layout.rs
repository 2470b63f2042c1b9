//! The nodes of a Tree BitMap: two bitmaps and two indices.

use std::fmt::Debug;

use bytemuck::{Pod, Zeroable};

use crate::lpm::Sealed;

/// An entry of the initial array.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Initial {
    /// Of the longest match among prefixes that the array resolves; 0 for none.
    pub(super) next_hop: u32,
    /// The index, counted from 1, of the node to go on with; 0 for none.
    pub(super) node: u32,
}

/// The form of a node: [`Node16`] or [`Node64`].
pub trait Node: Sealed + Pod + Debug + Send + Sync {
    /// The bits that a node resolves.
    const STRIDE: u8;

    /// For each slot, the bits of all prefixes on the way to it, numbered as a heap.
    const PATHS: [u64; 64];

    /// Puts a node together.
    fn new(internal: u64, external: u64, children: u32, results: u32) -> Self;

    /// Prefixes inside the node, numbered as a heap.
    fn internal(&self) -> u64;

    /// Slots with a child.
    fn external(&self) -> u64;

    /// The index of the first child.
    fn children(&self) -> u32;

    /// The index of the first result.
    fn results(&self) -> u32;
}

/// [`Node::PATHS`] of a stride.
const fn paths(stride: u8) -> [u64; 64] {
    let mut paths = [0; 64];
    let mut slot = 0;
    while slot < 1 << stride {
        let mut len = 0;
        while len < stride {
            paths[slot] |= 1 << ((1 << len) + (slot >> (stride - len)));
            len += 1;
        }
        slot += 1;
    }
    paths
}

macro_rules! node {
    ($(#[$doc:meta])* $name:ident, $stride:literal, $bitmap:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Pod, Zeroable)]
        #[repr(C)]
        pub struct $name {
            internal: $bitmap,
            external: $bitmap,
            children: u32,
            results: u32,
        }

        impl Sealed for $name {}

        impl Node for $name {
            const STRIDE: u8 = $stride;
            const PATHS: [u64; 64] = paths($stride);

            #[inline(always)]
            fn new(internal: u64, external: u64, children: u32, results: u32) -> Self {
                Self {
                    internal: internal as $bitmap,
                    external: external as $bitmap,
                    children,
                    results,
                }
            }

            #[inline(always)]
            fn internal(&self) -> u64 {
                u64::from(self.internal)
            }

            #[inline(always)]
            fn external(&self) -> u64 {
                u64::from(self.external)
            }

            #[inline(always)]
            fn children(&self) -> u32 {
                self.children
            }

            #[inline(always)]
            fn results(&self) -> u32 {
                self.results
            }
        }
    };
}

node!(
    /// Four bits and 16 children, as in the original: 12 bytes.
    Node16, 4, u16
);
node!(
    /// Six bits and 64 children, as population count allows: 24 bytes.
    Node64, 6, u64
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_prefix_of_each_length() {
        assert_eq!(size_of::<Node16>(), 12);
        assert_eq!(size_of::<Node64>(), 24);
        assert_eq!(Node16::PATHS[0b1010], 1 << 1 | 1 << 3 | 1 << 6 | 1 << 13);
        for slot in 0..64 {
            let path = Node64::PATHS[slot];
            for len in 0..6 {
                let level = path >> (1 << len) & ((1u64 << (1 << len)) - 1);
                assert_eq!(level, 1 << (slot >> (6 - len)), "{slot} {len}");
            }
        }
    }
}
