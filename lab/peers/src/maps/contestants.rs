//! What popfib's maps and those of others have in common: what the passes call.

use ip_network_table_deps_treebitmap::IpLookupTable;
use popfib::map::Stores;
use popfib::{Address, Prefix, PrefixMap};
use prefix_trie::Prefix as _;

use super::Routes;
use crate::algorithms::{Lookup, PeerFamily};

pub(super) type Trie<A> = prefix_trie::PrefixMap<<A as PeerFamily>::Key, u32>;
/// What ip_network_table is two of.
pub(super) type Bitmap<A> = IpLookupTable<<A as PeerFamily>::Ip, u32>;

/// A map to which routes are added one by one.
pub(super) trait Map<A: Address> {
    fn empty() -> Self;
    fn insert(&mut self, prefix: Prefix<A>, value: u32);
    fn remove(&mut self, prefix: Prefix<A>);
    fn heap_bytes(&self) -> usize;

    /// The value of one lookup; 0 for none.
    fn value(&self, address: A) -> u64;

    /// A number that all of a longest match goes into; 0 for none.
    fn matched(&self, address: A) -> u64;
}

pub(super) fn filled<A: PeerFamily, M: Map<A>>(routes: &Routes<A>) -> M {
    let mut map = M::empty();
    for (prefix, value) in routes {
        map.insert(*prefix, *value);
    }
    map
}

/// A map that was filled and has answered once.
pub(super) fn answering<A: PeerFamily, M: Map<A>>(routes: &Routes<A>) -> M {
    let map = filled::<A, M>(routes);
    std::hint::black_box(map.value(A::MIN));
    map
}

/// What makes an answer count: nothing of it can be left out.
#[inline(always)]
pub(super) fn used<A: Address>(address: A, len: u8, value: u32) -> u64 {
    let address = address.to_u128();
    (address as u64).rotate_left(len.into()) ^ (address >> 64) as u64 ^ u64::from(value)
}

impl<A: PeerFamily, S: Stores<u32>> Map<A> for PrefixMap<A, u32, S> {
    fn empty() -> Self {
        Self::default()
    }

    fn insert(&mut self, prefix: Prefix<A>, value: u32) {
        PrefixMap::insert(self, prefix, value);
    }

    fn remove(&mut self, prefix: Prefix<A>) {
        PrefixMap::remove(self, prefix);
    }

    fn heap_bytes(&self) -> usize {
        self.bytes()
    }

    #[inline(always)]
    fn value(&self, address: A) -> u64 {
        self.lookup(address).map_or(0, |value| (*value).into())
    }

    #[inline(always)]
    fn matched(&self, address: A) -> u64 {
        let found = self.longest_match(address);
        found.map_or(0, |(prefix, value)| {
            used(prefix.address(), prefix.len(), *value)
        })
    }
}

impl<A: PeerFamily> Map<A> for Trie<A> {
    fn empty() -> Self {
        Self::new()
    }

    fn insert(&mut self, prefix: Prefix<A>, value: u32) {
        self.insert(prefix.address().key(prefix.len()), value);
    }

    fn remove(&mut self, prefix: Prefix<A>) {
        self.remove(&prefix.address().key(prefix.len()));
    }

    fn heap_bytes(&self) -> usize {
        Lookup::<A>::bytes(self)
    }

    #[inline(always)]
    fn value(&self, address: A) -> u64 {
        let found = self.get_lpm(&address.key(A::WIDTH));
        found.map_or(0, |(_, value)| (*value).into())
    }

    #[inline(always)]
    fn matched(&self, address: A) -> u64 {
        let found = self.get_lpm(&address.key(A::WIDTH));
        found.map_or(0, |(prefix, value)| {
            used(A::bits(&prefix), prefix.prefix_len(), *value)
        })
    }
}

impl<A: PeerFamily> Map<A> for Bitmap<A> {
    fn empty() -> Self {
        Self::new()
    }

    fn insert(&mut self, prefix: Prefix<A>, value: u32) {
        self.insert(prefix.address().peer_ip(), prefix.len().into(), value);
    }

    fn remove(&mut self, prefix: Prefix<A>) {
        self.remove(prefix.address().peer_ip(), prefix.len().into());
    }

    fn heap_bytes(&self) -> usize {
        Lookup::<A>::bytes(self)
    }

    #[inline(always)]
    fn value(&self, address: A) -> u64 {
        let found = self.longest_match(address.peer_ip());
        found.map_or(0, |(_, _, value)| (*value).into())
    }

    #[inline(always)]
    fn matched(&self, address: A) -> u64 {
        let found = self.longest_match(address.peer_ip());
        found.map_or(0, |(network, len, value)| {
            used(A::of_ip(network), len as u8, *value)
        })
    }
}
