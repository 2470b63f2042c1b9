//! What all structures are to those who compare them: built from routes, asked
//! for next hops.
//!
//! An algorithm implements [`Structure`]: how it is built and how one address
//! is found. The loops around that, one for each way of measuring, are the same
//! for all and come from [`loops`](crate::loops), so that no algorithm is
//! faster or slower for the loop that it was put into.

use bytemuck::Pod;
use popfib::{Address, Rib};

use crate::cannot_build::CannotBuild;
use crate::loops::{self, Find};

/// A key whose arrays are plain memory: every [`Address`].
pub trait Key: Address + Pod {}

impl<A: Address + Pod> Key for A {}

/// A width of next hops whose arrays are plain memory: `u16` or `u32`; 0 is "no route".
pub trait Width: Pod + Default + Send + Sync {
    /// The highest next hop that this width holds. For `u32` one bit less than
    /// the type: a direct entry marks its kind in the most significant bit.
    const MAX: u32;

    /// A next hop (0 for none) known to be at most [`Width::MAX`].
    fn from_u32(next_hop: u32) -> Self;

    /// The next hop as a number, 0 for none.
    fn to_u32(self) -> u32;
}

impl Width for u16 {
    const MAX: u32 = u16::MAX as u32;

    #[inline(always)]
    fn from_u32(next_hop: u32) -> Self {
        next_hop as Self
    }

    #[inline(always)]
    fn to_u32(self) -> u32 {
        u32::from(self)
    }
}

impl Width for u32 {
    const MAX: u32 = u32::MAX >> 1;

    #[inline(always)]
    fn from_u32(next_hop: u32) -> Self {
        next_hop
    }

    #[inline(always)]
    fn to_u32(self) -> u32 {
        self
    }
}

/// A form of nodes of this crate: lookups without checks could not trust the answers of others.
pub trait Sealed {}

/// A longest-prefix-match structure for keys `A`.
///
/// ```
/// use popfib::{NextHop, Rib};
/// use popfib_baselines::{Lpm, Radix};
///
/// let mut rib = Rib::<u32>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHop::new(7).unwrap());
/// let radix = Radix::build(&rib)?;
/// let mut next_hops = [9; 2];
/// radix.lookup_batch(&[0x0a01_0203u32, 0x0b00_0000], &mut next_hops);
/// assert_eq!(next_hops, [7, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Lpm<A>: Send + Sync {
    /// Builds the structure from all routes of `rib`.
    ///
    /// # Errors
    /// [`CannotBuild`]: the table goes beyond a limit of the structure.
    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild>
    where
        Self: Sized;

    /// Leading bits that its first array resolves at once; 0 if it has none.
    fn direct_bits(&self) -> u8;

    /// Bytes of the arrays that lookups read.
    fn bytes(&self) -> usize;

    /// Nodes and leaves of a Poptrie; none of another structure.
    fn nodes_and_leaves(&self) -> (usize, usize);

    /// The next hop of the longest prefix that holds `address`; 0 if there is none.
    fn lookup(&self, address: A) -> u32;

    /// Looks up each of `addresses` into the same place of `next_hops`, in the
    /// way that suits the structure best.
    ///
    /// # Panics
    /// If the slices have different lengths.
    fn lookup_batch(&self, addresses: &[A], next_hops: &mut [u32]);

    /// Looks up one address after the other, each only once the answer before
    /// it is known, as [`dependent`](loops::dependent) says. Returns the last answer.
    fn lookup_chain(&self, addresses: &[A]) -> u32;
}

/// An algorithm: what [`Lpm`] needs to know of it.
pub trait Structure<A: Address>: Sized + Send + Sync {
    /// The arrays, borrowed for lookups.
    type View<'a>: Find<A>
    where
        Self: 'a;

    /// [`Lpm::build`].
    ///
    /// # Errors
    /// [`CannotBuild`]: the table goes beyond a limit of the structure.
    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild>;

    /// [`Lpm::direct_bits`].
    fn direct_bits(&self) -> u8;

    /// [`Lpm::bytes`].
    fn bytes(&self) -> usize;

    /// [`Lpm::nodes_and_leaves`].
    fn nodes_and_leaves(&self) -> (usize, usize) {
        (0, 0)
    }

    /// The arrays, borrowed for lookups.
    fn view(&self) -> Self::View<'_>;

    /// [`Lpm::lookup_batch`]; the slices are equally long.
    fn batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        loops::each(self.view(), addresses, next_hops);
    }
}

impl<A: Address, S: Structure<A>> Lpm<A> for S {
    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild> {
        Structure::build(rib)
    }

    fn direct_bits(&self) -> u8 {
        Structure::direct_bits(self)
    }

    fn bytes(&self) -> usize {
        Structure::bytes(self)
    }

    fn nodes_and_leaves(&self) -> (usize, usize) {
        Structure::nodes_and_leaves(self)
    }

    fn lookup(&self, address: A) -> u32 {
        loops::one(self.view(), address)
    }

    fn lookup_batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        assert_eq!(
            addresses.len(),
            next_hops.len(),
            "one next hop for each address"
        );
        self.batch(addresses, next_hops);
    }

    fn lookup_chain(&self, addresses: &[A]) -> u32 {
        loops::chain(self.view(), addresses)
    }
}
