//! DIR-24-8-BASIC: one table over the first 24 bits, blocks of 256 below.
//!
//! Gupta, Lin, McKeown, *Routing Lookups in Hardware at Memory Access Speeds*,
//! IEEE INFOCOM 1998, section II. *TBL24* has 2^24 entries of 16 bits. If the
//! first bit is 0 the other 15 are the next hop; if it is 1 they are the number
//! of a block of 256 entries in *TBLlong*, indexed by the last 8 bits. So a
//! lookup takes one memory access, or two where there is a prefix longer than
//! /24. IPv4 only.
//!
//! Limits of the 15 bits: next hops up to 32,767 and 2^15 blocks. The 32 MiB of
//! TBL24 lie on huge pages, and a batch asks for the lines of the addresses to
//! come before it reads the first (both beyond the paper, which is about
//! hardware).

mod lookup;

use std::marker::PhantomData;

use popfib::{Address, Rib};

use crate::buffer::Buffer;
use crate::cannot_build::CannotBuild;
use crate::lpm::Structure;
use crate::routes::sorted;

use lookup::View;

/// The first bit of a TBL24 entry: the others number a block.
const BLOCK: u16 = 1 << 15;

/// The most blocks, and one more than the highest next hop.
const MAX: usize = 1 << 15;

/// A DIR-24-8-BASIC table of IPv4; see the [module](self).
///
/// Building takes O(2^24 + routes) time; a lookup one or two reads.
#[derive(Clone, Debug)]
pub struct Dir24x8<A> {
    tbl24: Buffer<u16>,
    tbl_long: Buffer<u16>,
    key: PhantomData<fn(A)>,
}

impl<A: Address> Structure<A> for Dir24x8<A> {
    type View<'a> = View<'a>;

    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild> {
        if A::WIDTH != 32 {
            return Err(CannotBuild::KeyWidth { width: A::WIDTH });
        }
        let mut tbl24 = Buffer::<u16>::zeroed(1 << 24)?;
        let mut tbl_long = Vec::<u16>::new();
        // A covering prefix comes before what it covers, so each overwrites its part.
        for (prefix, next_hop) in sorted(rib, MAX as u32 - 1)? {
            let index = prefix.address().leading(24) as usize;
            let next_hop = next_hop as u16;
            if prefix.len() <= 24 {
                tbl24[index..][..1 << (24 - prefix.len())].fill(next_hop);
                continue;
            }
            let entry = &mut tbl24[index];
            if *entry & BLOCK == 0 {
                let block = tbl_long.len() / 256;
                if block == MAX {
                    return Err(CannotBuild::TooMany {
                        what: "blocks of routes beyond /24",
                        max: MAX as u64,
                    });
                }
                tbl_long.resize(tbl_long.len() + 256, *entry);
                *entry = BLOCK | block as u16;
            }
            let block = usize::from(*entry & !BLOCK) * 256;
            let first = prefix.address().extract(24, 8) as usize;
            tbl_long[block + first..][..1 << (32 - prefix.len())].fill(next_hop);
        }
        Ok(Self {
            tbl24,
            tbl_long: Buffer::copy_of(&tbl_long)?,
            key: PhantomData,
        })
    }

    fn direct_bits(&self) -> u8 {
        24
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.tbl24[..]) + size_of_val(&self.tbl_long[..])
    }

    fn view(&self) -> View<'_> {
        View {
            tbl24: &self.tbl24,
            tbl_long: &self.tbl_long,
        }
    }

    fn batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        self.view().batch(addresses, next_hops);
    }
}
