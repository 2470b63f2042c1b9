//! The algorithms by name.

use popfib::{CompileError, Rib};

use crate::binary::{Patricia, Radix};
use crate::cannot_build::CannotBuild;
use crate::dir_24_8::Dir24x8;
use crate::dxr::Dxr;
use crate::lpm::{Key, Lpm};
use crate::sail::Sail;
use crate::tree_bitmap::{Node, Node16, Node64, TreeBitmap};

/// An algorithm that is compared with Poptrie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Baseline {
    /// Binary radix tree.
    Radix,
    /// Path-compressed binary trie.
    Patricia,
    /// Tree BitMap with nodes of 16 children, below an array over 16 bits.
    TreeBitmap16,
    /// Tree BitMap with nodes of 64 children, below an array over 18 bits.
    TreeBitmap64,
    /// Tree BitMap with nodes of 16 children, without initial array.
    TreeBitmap16Basic,
    /// Tree BitMap with nodes of 64 children, without initial array.
    TreeBitmap64Basic,
    /// DIR-24-8-BASIC.
    Dir24x8,
    /// SAIL_L.
    Sail,
    /// D16R.
    Dxr16,
    /// D18R.
    Dxr18,
    /// D18R as modified for twice as many ranges.
    Dxr18Modified,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Radix,
        Self::Patricia,
        Self::TreeBitmap16Basic,
        Self::TreeBitmap64Basic,
        Self::TreeBitmap16,
        Self::TreeBitmap64,
        Self::Dir24x8,
        Self::Sail,
        Self::Dxr16,
        Self::Dxr18,
        Self::Dxr18Modified,
    ];

    /// The name by which it is asked for.
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    /// The name by which it is asked for, that of the Poptrie paper, and what it is in a few words:
    /// the one list of them.
    #[rustfmt::skip]
    pub const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Radix => ("radix", "Radix", "Binary radix tree"),
            Self::Patricia => ("patricia", "Patricia", "Patricia, a path-compressed binary trie"),
            Self::TreeBitmap16 =>
                ("treebitmap-16", "Tree BitMap16", "Tree BitMap, 16-ary, with an array over the first 16 bits"),
            Self::TreeBitmap64 =>
                ("treebitmap-64", "Tree BitMap18 (64-ary)", "Tree BitMap, 64-ary, with an array over the first 18 bits"),
            Self::TreeBitmap16Basic =>
                ("treebitmap-16-basic", "Tree BitMap", "Tree BitMap, 16-ary, without initial array"),
            Self::TreeBitmap64Basic =>
                ("treebitmap-64-basic", "Tree BitMap (64-ary)", "Tree BitMap, 64-ary, without initial array"),
            Self::Dir24x8 => ("dir-24-8", "DIR-24-8", "DIR-24-8-BASIC (IPv4)"),
            Self::Sail => ("sail", "SAIL", "SAIL_L (IPv4)"),
            Self::Dxr16 => ("dxr-16", "D16R", "DXR with chunks of 16 bits (D16R)"),
            Self::Dxr18 => ("dxr-18", "D18R", "DXR with chunks of 18 bits (D18R)"),
            Self::Dxr18Modified =>
                ("dxr-18-modified", "D18R (modified)", "D18R modified for 2^20 ranges (IPv4)"),
        }
    }

    /// Builds it from all routes of `rib`.
    ///
    /// # Errors
    /// [`CannotBuild`]: the table goes beyond a limit of the structure.
    pub fn build<A: Key>(self, rib: &Rib<A>) -> Result<Box<dyn Lpm<A>>, CannotBuild> {
        match self {
            Self::Radix => boxed::<A, Radix>(rib),
            Self::Patricia => boxed::<A, Patricia>(rib),
            Self::TreeBitmap16 => tree_bitmap::<A, Node16, 16>(rib),
            Self::TreeBitmap64 => tree_bitmap::<A, Node64, 18>(rib),
            Self::TreeBitmap16Basic => tree_bitmap::<A, Node16, 0>(rib),
            Self::TreeBitmap64Basic => tree_bitmap::<A, Node64, 0>(rib),
            Self::Dir24x8 => boxed::<A, Dir24x8<A>>(rib),
            Self::Sail => boxed::<A, Sail<A>>(rib),
            Self::Dxr16 => boxed::<A, Dxr<A, 16>>(rib),
            Self::Dxr18 => boxed::<A, Dxr<A, 18>>(rib),
            Self::Dxr18Modified => boxed::<A, Dxr<A, 18, true>>(rib),
        }
    }
}

fn boxed<A, S: Lpm<A> + 'static>(rib: &Rib<A>) -> Result<Box<dyn Lpm<A>>, CannotBuild> {
    Ok(Box::new(S::build(rib)?))
}

fn tree_bitmap<A: Key, N: Node, const INITIAL: u8>(
    rib: &Rib<A>,
) -> Result<Box<dyn Lpm<A>>, CannotBuild> {
    either_width(
        || boxed::<A, TreeBitmap<A, N, u16, INITIAL>>(rib),
        || boxed::<A, TreeBitmap<A, N, u32, INITIAL>>(rib),
    )
}

/// Builds with next hops of 16 bits, or of 32 bits where the routes need them.
///
/// # Errors
/// That of the last build.
pub fn either_width<T>(
    build_16: impl FnOnce() -> Result<T, CannotBuild>,
    build_32: impl FnOnce() -> Result<T, CannotBuild>,
) -> Result<T, CannotBuild> {
    match build_16() {
        Err(CannotBuild::NextHop { .. } | CannotBuild::Compile(CompileError::NextHop { .. })) => {
            build_32()
        }
        other => other,
    }
}
