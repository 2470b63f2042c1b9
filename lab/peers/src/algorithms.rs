//! The algorithms that are measured here, each behind [`Lookup`].
//!
//! [`algorithms`] is the one place that names them: every kernel of popfib that
//! this CPU runs, its large table, and the others. The types say how each is
//! called at its best: popfib by its batch call, the others address by address,
//! since they have no other.

use std::net::{Ipv4Addr, Ipv6Addr};

use ip_network_table_deps_treebitmap::IpLookupTable;
use ip_network_table_deps_treebitmap::address::Address as TreeBitmapAddress;
use popfib::{Address, CompileError, Fib, Kernel, NextHop, Options, Prefix, Rib, Size, longest};
use prefix_trie::PrefixMap;

use crate::exchange::Family;

/// One row of the comparison.
pub(crate) struct Algorithm {
    pub(crate) name: String,
    pub(crate) kernel: &'static str,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    /// popfib compiled with these options.
    Popfib {
        options: Options,
        kernel: Kernel,
    },
    /// popfib's next hops from leaves that hold the length of the prefix too, as an image with one Fib would give them.
    Matches(Options),
    PlanB,
    PrefixTrie,
    TreeBitmap,
}

/// All that can be measured here, the fastest kernel of popfib first.
pub(crate) fn algorithms() -> Vec<Algorithm> {
    let popfib = |name: String, options, kernel: Kernel| Algorithm {
        name,
        kernel: kernel.name(),
        kind: Kind::Popfib { options, kernel },
    };
    let other = |name: &str, kind| Algorithm {
        name: name.to_owned(),
        kernel: "scalar",
        kind,
    };
    let mut all: Vec<_> = Kernel::list()
        .map(|kernel| popfib(format!("popfib-{kernel}"), Options::default(), kernel))
        .collect();
    all.reverse();
    let mut best = |name: &str, options| all.push(popfib(name.into(), options, Kernel::best()));
    let options = Options::default();
    best("popfib-balanced", options.clone().size(Size::Balanced));
    for (name, size) in [
        ("popfib-matches", Size::Smallest),
        ("popfib-matches-balanced", Size::Balanced),
    ] {
        let options = options.clone().size(size);
        all.push(Algorithm {
            kind: Kind::Matches(options.clone()),
            ..popfib(name.into(), options, Kernel::best())
        });
    }
    let has_vectors = Kernel::list().any(|kernel| kernel.name() == "avx512");
    all.push(Algorithm {
        kernel: if has_vectors { "avx512" } else { "scalar" },
        ..other("planb", Kind::PlanB)
    });
    all.push(other("prefix-trie", Kind::PrefixTrie));
    all.push(other("treebitmap", Kind::TreeBitmap));
    all
}

/// The routes of a table, in order.
pub(crate) type Routes<A> = [(Prefix<A>, NextHop)];

/// A table that is ready for lookups.
pub(crate) trait Lookup<A> {
    /// Looks up `addresses` into `next_hops`, which is as long; 0 for none.
    fn lookup(&self, addresses: &[A], next_hops: &mut [u32]);

    /// Bytes that lookups read from: without a RIB beside them.
    fn bytes(&self) -> usize;
}

/// A Fib and the kernel that looks up in it.
pub(crate) struct Popfib<A: Address> {
    fib: Fib<A>,
    kernel: Kernel,
}

impl<A: Address> Lookup<A> for Popfib<A> {
    #[inline]
    fn lookup(&self, addresses: &[A], next_hops: &mut [u32]) {
        self.fib
            .lookup_batch_with(self.kernel, addresses, next_hops);
    }

    fn bytes(&self) -> usize {
        self.fib.bytes()
    }
}

/// A Rib filled and a Fib compiled from it.
pub(crate) fn popfib<A: Address>(
    routes: &Routes<A>,
    options: &Options,
    kernel: Kernel,
) -> Result<Popfib<A>, CompileError> {
    let mut rib = Rib::new();
    for &(prefix, next_hop) in routes {
        rib.insert(prefix, next_hop);
    }
    let fib = Fib::compile(&rib, options)?;
    Ok(Popfib { fib, kernel })
}

/// A Fib of longest matches.
pub(crate) struct Matches<A: Address>(Fib<A>);

impl<A: Address> Lookup<A> for Matches<A> {
    #[inline]
    fn lookup(&self, addresses: &[A], next_hops: &mut [u32]) {
        self.0.lookup_batch(addresses, next_hops);
        for number in next_hops {
            *number = longest::next_hop::<A>(*number);
        }
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

pub(crate) fn matches<A: Address>(
    routes: &Routes<A>,
    options: &Options,
) -> Result<Matches<A>, CompileError> {
    longest::compile(&routes.iter().copied().collect(), options).map(Matches)
}

/// A family as the peers name its addresses.
pub(crate) trait PeerFamily: Family {
    type Key: prefix_trie::Prefix;
    fn key(self, len: u8) -> Self::Key;
    fn bits(key: &Self::Key) -> Self;

    type Ip: TreeBitmapAddress;
    fn peer_ip(self) -> Self::Ip;
    fn of_ip(ip: Self::Ip) -> Self;
}

impl PeerFamily for u32 {
    type Key = (u32, u8);
    fn key(self, len: u8) -> (u32, u8) {
        (self, len)
    }

    fn bits(key: &(u32, u8)) -> u32 {
        key.0
    }

    type Ip = Ipv4Addr;
    fn peer_ip(self) -> Ipv4Addr {
        self.into()
    }

    fn of_ip(ip: Ipv4Addr) -> u32 {
        ip.into()
    }
}

impl PeerFamily for u128 {
    type Key = (u128, u8);
    fn key(self, len: u8) -> (u128, u8) {
        (self, len)
    }

    fn bits(key: &(u128, u8)) -> u128 {
        key.0
    }

    type Ip = Ipv6Addr;
    fn peer_ip(self) -> Ipv6Addr {
        self.into()
    }

    fn of_ip(ip: Ipv6Addr) -> u128 {
        ip.into()
    }
}

pub(crate) fn prefix_trie<A: PeerFamily>(routes: &Routes<A>) -> PrefixMap<A::Key, u32> {
    let mut map = PrefixMap::new();
    for (prefix, next_hop) in routes {
        map.insert(prefix.address().key(prefix.len()), next_hop.get());
    }
    map
}

impl<A: PeerFamily> Lookup<A> for PrefixMap<A::Key, u32> {
    #[inline]
    fn lookup(&self, addresses: &[A], next_hops: &mut [u32]) {
        for (&address, next_hop) in addresses.iter().zip(next_hops) {
            let found = self.get_lpm(&address.key(A::WIDTH));
            *next_hop = found.map_or(0, |(_, &next_hop)| next_hop);
        }
    }

    fn bytes(&self) -> usize {
        self.mem_size()
    }
}

pub(crate) fn tree_bitmap<A: PeerFamily>(routes: &Routes<A>) -> IpLookupTable<A::Ip, u32> {
    let mut table = IpLookupTable::new();
    for (prefix, next_hop) in routes {
        table.insert(
            prefix.address().peer_ip(),
            prefix.len().into(),
            next_hop.get(),
        );
    }
    table
}

impl<A: PeerFamily> Lookup<A> for IpLookupTable<A::Ip, u32> {
    #[inline]
    fn lookup(&self, addresses: &[A], next_hops: &mut [u32]) {
        for (&address, next_hop) in addresses.iter().zip(next_hops) {
            let found = self.longest_match(address.peer_ip());
            *next_hop = found.map_or(0, |(_, _, &next_hop)| next_hop);
        }
    }

    fn bytes(&self) -> usize {
        let (nodes, results) = self.mem_usage();
        nodes + results
    }
}
