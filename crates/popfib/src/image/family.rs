//! One family of a table in an image: its Fibs, and its routes if they were kept.
//!
//! The Fib of [`longest`] matches finds one with one lookup. It contains the next hops, too; they have their own Fib
//! where it is wanted, because that is smaller, and lookups in it are faster (docs/experiments/images.md). The routes are three arrays in
//! prefix order, for callers that need all of them.

use alloc::format;
use alloc::sync::Arc;
use core::any::Any;

use super::error::ImageError;
use super::format::{
    FIB, FibDescription, FibKinds, LONGEST_FIB, ROUTE_ADDRESSES, ROUTE_LENGTHS, ROUTE_NEXT_HOPS,
};
use super::memory::ImageArray;
use super::sections::{CommonChecks, Integer, Sections};
use crate::address::Address;
use crate::fib::arrays::{FibArrays, FibView, FibWord};
use crate::fib::check::{check_answers, check_shape};
use crate::fib::{Fib, Options};
use crate::longest;
use crate::memory::Global;
use crate::next_hop::{MAX_NEXT_HOP, NextHop};
use crate::prefix::Prefix;
use crate::rib::Rib;

// `Address` is sealed: all its types are integers.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct ImageKey<A>(A);
impl<A: Address> Integer for ImageKey<A> {}

/// One family of an [`ImageTable`](super::ImageTable): one Fib or both, and perhaps its routes, as [`Keep`](super::Keep) says.
#[derive(Debug)]
pub struct ImageFamily<A: Address> {
    fib: Option<Fib<A>>,
    longest: Option<Fib<A>>,
    description: FibDescription,
    routes: Option<RouteArrays<A>>,
}

#[derive(Debug)]
struct RouteArrays<A: Address> {
    addresses: ImageArray<ImageKey<A>>,
    lengths: ImageArray<u8>,
    next_hops: ImageArray<u32>,
}

impl<A: Address> ImageFamily<A> {
    /// Those of this family; `None` if the table has none.
    ///
    /// # Safety
    /// Unless `sections.validate` is true, they are what an `ImageWriter` has written.
    pub(super) unsafe fn read(
        sections: &Sections,
        checks: &mut CommonChecks,
    ) -> Result<Option<Self>, ImageError> {
        let id = |kind| (u16::from(A::WIDTH), kind);
        let max = (sections
            .max_next_hop
            .saturating_mul(longest::lengths::<A>()))
        .saturating_add(A::WIDTH.into());
        // SAFETY: the caller's.
        let fib = unsafe { read_fib(sections, checks, FIB, sections.max_next_hop)? };
        // SAFETY: as above.
        let longest = unsafe { read_fib(sections, checks, LONGEST_FIB, max)? };
        const ROUTES: [u16; 3] = [ROUTE_ADDRESSES, ROUTE_LENGTHS, ROUTE_NEXT_HOPS];
        let has_routes = sections.any(A::WIDTH.into(), ROUTES);
        if has_routes && longest.is_none() {
            return Err(sections.missing(id(LONGEST_FIB.description)));
        }
        if let (Some((_, values)), Some((_, matches))) = (&fib, &longest)
            && values.routes != matches.routes
        {
            let entry = sections.expect(id(LONGEST_FIB.description))?;
            return Err(entry.broken(24, "it has another number of routes than the other FIB"));
        }
        let Some((_, description)) = fib.as_ref().or(longest.as_ref()) else {
            return Ok(None);
        };
        let description = description.clone();
        let routes = match has_routes {
            true => Some(RouteArrays::read(sections, description.routes)?),
            false => None,
        };
        Ok(Some(Self {
            fib: fib.map(|(fib, _)| fib),
            longest: longest.map(|(fib, _)| fib),
            description,
            routes,
        }))
    }

    /// The Fib of next hops, unless the image keeps what longest matches need alone.
    pub fn fib(&self) -> Option<&Fib<A>> {
        self.fib.as_ref()
    }

    /// The next hop of the longest prefix that contains `address`, by whichever Fib there is; 0 if there is none.
    #[inline]
    pub fn lookup(&self, address: A) -> u32 {
        match (&self.fib, &self.longest) {
            (Some(fib), _) => fib.lookup(address),
            (None, Some(longest)) => longest::next_hop::<A>(longest.lookup(address)),
            // One is there.
            (None, None) => 0,
        }
    }

    /// The options that the Fibs were compiled with.
    pub fn options(&self) -> Options {
        let fib = (self.fib.as_ref()).or(self.longest.as_ref());
        Options::default()
            .direct_bits(self.description.asked_direct_bits)
            .aggregation(self.description.aggregation)
            .size(fib.map(|fib| fib.arrays().size()).unwrap_or_default())
    }

    /// The number of routes that the Fibs were compiled from.
    pub fn route_count(&self) -> usize {
        self.description.routes as usize
    }

    /// The number of different next hops of these routes.
    pub fn next_hop_count(&self) -> usize {
        self.description.next_hops as usize
    }

    /// Whether the image contains the routes. Without them, [`route`](Self::route) returns `None`, and
    /// [`rib`](Self::rib) is empty.
    pub fn has_routes(&self) -> bool {
        self.routes.is_some()
    }

    /// The longest prefix that contains `address`, and its next hop, by one lookup.
    /// `None` also if the image has values alone.
    #[inline]
    pub fn longest_match(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        longest::matched(address, self.longest_fib()?.lookup(address))
    }

    /// The Fib of [longest matches](crate::longest); `None` if the image has values alone.
    #[inline]
    pub fn longest_fib(&self) -> Option<&Fib<A>> {
        self.longest.as_ref()
    }

    /// The route with this number, counted from 1 in prefix order. Constant time.
    #[inline]
    pub fn route(&self, number: u32) -> Option<(Prefix<A>, NextHop)> {
        self.routes.as_ref()?.get((number as usize).checked_sub(1)?)
    }

    /// All routes in prefix order; none if the image has no routes.
    pub fn routes(&self) -> impl Iterator<Item = (Prefix<A>, NextHop)> + '_ {
        self.routes
            .iter()
            .flat_map(|routes| (0..routes.addresses.len()).filter_map(|index| routes.get(index)))
    }

    /// The next hop of exactly `prefix`. O(log routes).
    pub fn get(&self, prefix: Prefix<A>) -> Option<NextHop> {
        let (found, next_hop) = self.route(self.first_from(prefix))?;
        (found == prefix).then_some(next_hop)
    }

    /// The routes that cover `prefix`, including `prefix` itself, the shortest first. O(width * log routes).
    pub fn supernets(
        &self,
        prefix: Prefix<A>,
    ) -> impl Iterator<Item = (Prefix<A>, NextHop)> + Clone + '_ {
        (0..=prefix.len()).filter_map(move |len| {
            let prefix = Prefix::clamped(prefix.address(), len);
            Some((prefix, self.get(prefix)?))
        })
    }

    /// The routes inside `prefix`, including `prefix` itself, in prefix order. O(log routes) to the first.
    pub fn subnets(
        &self,
        prefix: Prefix<A>,
    ) -> impl Iterator<Item = (Prefix<A>, NextHop)> + Clone + '_ {
        (self.first_from(prefix)..)
            .map_while(move |number| self.route(number))
            .take_while(move |(route, _)| prefix.covers(route))
    }

    /// The number of the first route at or after `prefix`; one more than there are if there is none.
    fn first_from(&self, prefix: Prefix<A>) -> u32 {
        let is_before = |number| self.route(number).is_some_and(|route| route.0 < prefix);
        // `before` is the number of a route before the prefix, or 0.
        let (mut before, mut behind) = (0, self.route_count() as u32 + 1);
        while behind - before > 1 {
            let middle = before + (behind - before) / 2;
            if is_before(middle) {
                before = middle;
            } else {
                behind = middle;
            }
        }
        behind
    }

    /// A Rib of the [`routes`](Self::routes).
    pub fn rib(&self) -> Rib<A> {
        self.routes().collect()
    }
}

impl<A: Address> RouteArrays<A> {
    fn read(sections: &Sections, count: u64) -> Result<Self, ImageError> {
        let id = |kind| (u16::from(A::WIDTH), kind);
        let routes = Self {
            addresses: sections.array(id(ROUTE_ADDRESSES))?,
            lengths: sections.array(id(ROUTE_LENGTHS))?,
            next_hops: sections.array(id(ROUTE_NEXT_HOPS))?,
        };
        for (kind, len) in [
            (ROUTE_ADDRESSES, routes.addresses.len()),
            (ROUTE_LENGTHS, routes.lengths.len()),
            (ROUTE_NEXT_HOPS, routes.next_hops.len()),
        ] {
            if len as u64 != count {
                let reason = format!("it has {len} elements for {count} routes");
                return Err(sections.expect(id(kind))?.broken(0, reason));
            }
        }
        if sections.validate
            && let Some(index) = routes.first_broken(sections.max_next_hop)
        {
            let reason = format!("route {} is malformed or out of order", index + 1);
            let entry = sections.expect(id(ROUTE_ADDRESSES))?;
            return Err(entry.broken(index * size_of::<A>(), reason));
        }
        Ok(routes)
    }

    /// The first route that is not a prefix, is not after the previous route in prefix order, or
    /// has no next hop.
    fn first_broken(&self, max_next_hop: u32) -> Option<usize> {
        // One pass for each check, without branches: the compiler makes vector code of most of them.
        // All slices have the same length, so that accesses need no bounds checks.
        let count = self.lengths.len();
        let (addresses, lengths) = (&self.addresses[..count], &self.lengths[..count]);
        let next_hops = &*self.next_hops;
        let is_next_hop = |next_hop: u32| next_hop.wrapping_sub(1) < max_next_hop;
        let longest = lengths.iter().fold(0, |all, &length| all.max(length));
        let bare = next_hops.iter().filter(|next_hop| !is_next_hop(**next_hop));
        if longest > A::WIDTH || bare.count() > 0 {
            let routes = lengths.iter().zip(next_hops);
            let is_broken = |(&length, &next_hop)| length > A::WIDTH || !is_next_hop(next_hop);
            return routes.map(is_broken).position(|is_broken| is_broken);
        }
        let hosts: [A; 256] = core::array::from_fn(|length| !A::mask(length as u8));
        let has_host_bits = |at: usize| addresses[at].0 & hosts[usize::from(lengths[at])] != A::MIN;
        let is_behind = |at: usize| {
            let (before, address) = (addresses[at - 1].0, addresses[at].0);
            (before < address) | (before == address) & (lengths[at - 1] < lengths[at])
        };
        let with_host_bits = (0..count).fold(false, |any, at| any | has_host_bits(at));
        let disordered = (1..count).fold(false, |any, at| any | !is_behind(at));
        if with_host_bits | disordered {
            (0..count).find(|&at| has_host_bits(at) || at > 0 && !is_behind(at))
        } else {
            None
        }
    }

    #[inline]
    fn get(&self, index: usize) -> Option<(Prefix<A>, NextHop)> {
        let ImageKey(address) = *self.addresses.get(index)?;
        let prefix = Prefix::new_masked(address, *self.lengths.get(index)?).ok()?;
        Some((prefix, NextHop::new(*self.next_hops.get(index)?)?))
    }
}

/// A Fib and its description.
type DescribedFib<A> = (Fib<A>, FibDescription);

/// A Fib whose arrays are in the image, and its description; `None` if the image has none of these kinds.
///
/// # Safety
/// Unless `sections.validate` is true, they are what an `ImageWriter` has written.
unsafe fn read_fib<A: Address>(
    sections: &Sections,
    checks: &mut CommonChecks,
    kinds: FibKinds,
    max_answer: u32,
) -> Result<Option<DescribedFib<A>>, ImageError> {
    let id = |kind| (u16::from(A::WIDTH), kind);
    let all = [kinds.description, kinds.root, kinds.arena];
    if !sections.any(A::WIDTH.into(), all) {
        return Ok(None);
    }
    let (entry, bytes) = sections.get(id(kinds.description))?;
    let description =
        FibDescription::parse(bytes).ok_or_else(|| entry.broken(0, "it is malformed"))?;
    if description.is_flat && description.root_bits == 0 && A::WIDTH <= 32 {
        let reason = "size fastest is no longer read; compile the table again";
        return Err(entry.broken(0, reason));
    }
    let root = sections.array::<FibWord>(id(kinds.root))?;
    let arena = sections.array::<FibWord>(id(kinds.arena))?;
    let view = FibView {
        root: &root,
        arena: &arena,
        root_bits: description.root_bits,
        page_bits: description.page_bits,
        value_bits: description.value_bits,
        is_flat: description.is_flat,
    };
    // Later computations with this number should not overflow.
    if description.routes > u64::from(MAX_NEXT_HOP) {
        return Err(entry.broken(24, "there are too many routes"));
    }
    let max_answer = match description {
        // Whoever takes the number for it and whoever asks the Fib find the same.
        FibDescription { routes: 0, .. } => 0,
        FibDescription {
            answer_bits: 16, ..
        } => max_answer.min(u16::MAX.into()),
        _ => max_answer.min(MAX_NEXT_HOP),
    };
    let checked = if sections.validate {
        let of_arena = sections.expect(id(kinds.arena))?;
        let shared = (of_arena.id.table == 0).then(|| checks.arena(id(kinds.arena)));
        check_answers::<A>(view, max_answer, shared)
    } else {
        check_shape::<A>(view)
    };
    if let Err(error) = checked {
        let entry = sections.expect(id(kinds.arena))?;
        return Err(entry.broken(0, format!("{error}")));
    }
    let owner: Arc<dyn Any + Send + Sync> = sections.memory.clone();
    // SAFETY: the arrays are in the memory, which is not written to.
    let arrays = unsafe { FibArrays::shared(view, owner, Global) };
    // The counts are only for display; nothing relies on them.
    let (nodes, leaves) = (description.nodes as usize, description.leaves as usize);
    Ok(Some((Fib::from_arrays(arrays, nodes, leaves), description)))
}
