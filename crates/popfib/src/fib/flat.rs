//! Flat tables. A Rib is compiled into a root whose entries all lead to flat blocks, or, for long keys, into a root
//! and pages with flat blocks below.
//!
//! Poptrie's direct pointing and route aggregation taken further: redundancy is removed between
//! blocks as well as inside them. A block of 64 entries is looked for among those that are there,
//! by a hash and a few probes; if there is none, it is added. Of the 262,144 blocks below 18
//! bits of an IPv4 table of 2026, some 48,000 are different.
//!
//! A table is flat where that pays, else it has blocks with `runs` throughout: see [`is_asked`] and [`MAX_BYTES`].

use super::Options;
use super::arrays::{MAX_DIRECT_BITS, MAX_WORDS};
use super::compile::{self, CompiledArrays, form};
use super::index::BlockIndex;
use crate::address::{Address, STRIDE};
use crate::compile_error::CompileError;
use crate::memory::Allocator;
use crate::rib::Rib;

/// The most bytes of flat blocks and what lies deeper, with which a table is flat. Many routes of single hosts, or very many
/// different next hops, would make tens of MiB, which no cache near a core holds.
pub(crate) const MAX_BYTES: usize = 12 << 20;

/// Whether a table of `rib` is to be flat, unless it is too large. With fewer direct bits, as small tables have, IPv4 routes
/// would go on below the flat blocks, which end at /24, where most do.
fn is_asked<A: Address>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
) -> Result<bool, CompileError> {
    let direct_bits = compile::direct_bits::<A>(options, rib.len())?;
    let end = MAX_DIRECT_BITS.min(A::WIDTH);
    let suits = if A::WIDTH > 32 {
        direct_bits == end
    } else {
        direct_bits + STRIDE == end
    };
    Ok(suits && options.is_balanced())
}

/// Compiles `rib` as `options` ask, with room for next hops up to `highest`: flat where that is asked for and pays.
pub(crate) fn compile<A: Address, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    highest: u32,
    alloc: Al,
) -> Result<CompiledArrays<Al>, CompileError> {
    if is_asked(rib, options)?
        && let Some(flat) = flat::<A, Al>(rib, options, highest, MAX_BYTES, alloc.clone())?
    {
        return Ok(flat);
    }
    compile::compile::<A, Al>(rib, options, highest, MAX_WORDS, alloc)
}

/// Compiles `rib` flat, with room for next hops up to `highest`; `None` if blocks and what lies deeper take more than `max_bytes`.
///
/// A key of up to 32 bits has at least [`STRIDE`] bits below those of the root, which has some.
pub(crate) fn flat<A: Address, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    highest: u32,
    max_bytes: usize,
    alloc: Al,
) -> Result<Option<CompiledArrays<Al>>, CompileError> {
    let form @ (root_bits, ..) = form::<A>(rib, options, highest)?;
    debug_assert!(A::WIDTH > 32 || root_bits > 0 && root_bits + STRIDE <= A::WIDTH);
    let max_words = (max_bytes / size_of::<u32>()).saturating_sub(1 << root_bits);
    let max_words = max_words.min(MAX_WORDS);
    // As many as there may be, but for tests of long keys without a limit.
    let blocks = if A::WIDTH > 32 {
        (max_words >> STRIDE).clamp(1, 1 << 19)
    } else {
        1 << root_bits
    };
    let index = BlockIndex::new_in(blocks, alloc.clone())?;
    match compile::of_form::<A, Al>(rib, options, form, max_words, Some(index), alloc) {
        Ok(compiled) => Ok(Some(compiled)),
        Err(CompileError::Words { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
