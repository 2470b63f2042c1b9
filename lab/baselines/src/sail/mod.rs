//! SAIL_L: three levels of arrays, at prefix lengths 16, 24 and 32.
//!
//! Yang, Xie, Li, Fu, Liu, Li, Mathy, *Guarantee IP Lookup Performance with FIB
//! Explosion*, ACM SIGCOMM 2014: splitting by prefix length (section 3), prefixes
//! pushed to three levels and bitmaps merged into the arrays (SAIL_L, section
//! 5). *BCN16* has an entry for each of the first 16 bits: either the next hop
//! N16 or, told by a bit, the number C16 of a *chunk* of 256 entries of level 24.
//! There *BN24* holds the next hop, or says that routes go on, and *C24* then the
//! number of a chunk of level 32, where *N32* has the next hops. A lookup takes
//! one read, two, or four. IPv4 only: the paper's way to IPv6 ends at /64.
//!
//! Next hops are 16 bits wide here as in the Poptrie paper's comparison (the
//! original's 8 bits would not hold a router's), of which one says that routes
//! go on, in BCN16 and in BN24 alike. Limits of the 15 bits that are left: next
//! hops up to 32,767, and 2^15 chunks of level 24, for which the Poptrie paper
//! (section 4.8) reports that tables cannot be built.

mod lookup;

use std::marker::PhantomData;

use popfib::{Address, Rib};

use crate::buffer::Buffer;
use crate::cannot_build::CannotBuild;
use crate::lpm::Structure;
use crate::routes::{Route, sorted};

use lookup::View;

/// In BCN16: the other bits number a chunk of level 24. In BN24: C24 numbers a
/// chunk of level 32.
const DEEPER: u16 = 1 << 15;

/// The most chunks of level 24, and one more than the highest next hop.
const MAX: usize = 1 << 15;

/// A SAIL_L structure of IPv4; see the [module](self).
///
/// Building takes O(routes * 256) time at worst.
#[derive(Clone, Debug)]
pub struct Sail<A> {
    bcn16: Buffer<u16>,
    bn24: Buffer<u16>,
    c24: Buffer<u32>,
    n32: Buffer<u16>,
    key: PhantomData<fn(A)>,
}

impl<A: Address> Structure<A> for Sail<A> {
    type View<'a> = View<'a>;

    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild> {
        if A::WIDTH != 32 {
            return Err(CannotBuild::KeyWidth { width: A::WIDTH });
        }
        let routes = sorted(rib, MAX as u32 - 1)?;
        // Counted before anything is filled: what lies below 2^15 chunks can take gigabytes.
        if chunks(&routes) > MAX {
            return Err(CannotBuild::TooMany {
                what: "chunks of routes beyond /16",
                max: MAX as u64,
            });
        }
        let mut levels = Levels {
            bcn16: vec![0; 1 << 16],
            bn24: Vec::new(),
            c24: Vec::new(),
            n32: Vec::new(),
        };
        // A covering prefix comes before what it covers, so each overwrites its part.
        for (prefix, next_hop) in routes {
            let address = prefix.address().leading(32);
            levels.part(address, prefix.len()).fill(next_hop as u16);
        }
        Ok(Self {
            bcn16: Buffer::copy_of(&levels.bcn16)?,
            bn24: Buffer::copy_of(&levels.bn24)?,
            c24: Buffer::copy_of(&levels.c24)?,
            n32: Buffer::copy_of(&levels.n32)?,
            key: PhantomData,
        })
    }

    fn direct_bits(&self) -> u8 {
        16
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.bcn16[..])
            + size_of_val(&self.bn24[..])
            + size_of_val(&self.c24[..])
            + size_of_val(&self.n32[..])
    }

    fn view(&self) -> View<'_> {
        View {
            bcn16: &self.bcn16,
            bn24: &self.bn24,
            c24: &self.c24,
            n32: &self.n32,
        }
    }

    fn batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        self.view().batch(addresses, next_hops);
    }
}

/// Chunks of level 24 that the routes need: one for each /16 with a longer route inside.
fn chunks<A: Address>(routes: &[Route<A>]) -> usize {
    let longer = routes.iter().filter(|(prefix, _)| prefix.len() > 16);
    let mut count = 0;
    let mut last = None;
    for (prefix, _) in longer {
        let first = Some(prefix.address().leading(16));
        count += usize::from(first != last);
        last = first;
    }
    count
}

/// The arrays while they grow.
struct Levels {
    bcn16: Vec<u16>,
    bn24: Vec<u16>,
    c24: Vec<u32>,
    n32: Vec<u16>,
}

impl Levels {
    /// The entries that a prefix covers in the level of its length.
    fn part(&mut self, address: u32, len: u8) -> &mut [u16] {
        let first = address as usize >> 16;
        if len <= 16 {
            return &mut self.bcn16[first..][..1 << (16 - len)];
        }
        let entry = &mut self.bcn16[first];
        if *entry & DEEPER == 0 {
            let chunk = self.bn24.len() / 256;
            self.bn24.resize(self.bn24.len() + 256, *entry);
            self.c24.resize(self.c24.len() + 256, 0);
            *entry = DEEPER | chunk as u16;
        }
        let second = usize::from(*entry & !DEEPER) << 8 | address as usize >> 8 & 0xff;
        if len <= 24 {
            return &mut self.bn24[second..][..1 << (24 - len)];
        }
        let entry = &mut self.bn24[second];
        if *entry & DEEPER == 0 {
            // At most 2^23: one for each entry of level 24.
            self.c24[second] = (self.n32.len() / 256) as u32;
            self.n32.resize(self.n32.len() + 256, *entry);
            *entry = DEEPER;
        }
        let third = (self.c24[second] as usize) << 8 | address as usize & 0xff;
        &mut self.n32[third..][..1 << (32 - len)]
    }
}
