//! The arrays of a Fib for those who copy them: to where programs of another kind look up.

use core::sync::atomic::Ordering;

use super::arrays::FibView;

/// The two arrays of a compiled table, word for word, and what a lookup has to know of them. docs/image-format.md of the project
/// says what the words mean: these are sections 16 to 18, or 48 to 50, of an image.
#[derive(Clone, Copy, Debug)]
pub struct FibWords<'a>(pub(crate) FibView<'a>);

impl<'a> FibWords<'a> {
    /// The root table: `2^root_bits` words.
    pub fn root(&self) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + use<'a> {
        // Relaxed: nobody stores while the table is borrowed.
        self.0.root.iter().map(|word| word.load(Ordering::Relaxed))
    }

    /// The arena: pages and blocks.
    pub fn arena(&self) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + use<'a> {
        self.0.arena.iter().map(|word| word.load(Ordering::Relaxed))
    }

    /// How many leading bits of an address number the words of the root.
    pub fn root_bits(&self) -> u8 {
        self.0.root_bits
    }

    /// How many bits a page resolves; 0 if there are no pages.
    pub fn page_bits(&self) -> u8 {
        self.0.page_bits
    }

    /// Bits of a value in a narrow block.
    pub fn value_bits(&self) -> u8 {
        self.0.value_bits
    }

    /// Whether there are flat blocks.
    pub fn is_flat(&self) -> bool {
        self.0.is_flat
    }
}
