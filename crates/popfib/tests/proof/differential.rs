//! Other people's libraries as judges: prefix-trie and treebitmap must find the same prefixes.

use crate::cases;
use crate::forms::Form;
use crate::judge::rib;
use crate::oracle::Route;
use crate::probes::{self, bits, key};
use crate::real_files;
use crate::tables::{self, Random};
use ip_network_table_deps_treebitmap::IpLookupTable;
use popfib::Address;
use prefix_trie::PrefixMap;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A longest match in plain numbers: left-aligned bits, length, next hop.
type Match = Option<(u128, u8, u32)>;

/// Another library's table.
trait Judge<A> {
    fn new(routes: &[Route]) -> Self;
    fn longest_match(&self, address: A) -> Match;
}

macro_rules! judges {
    ($key:ty, $ip:ty) => {
        impl Judge<$key> for PrefixMap<($key, u8), u32> {
            fn new(routes: &[Route]) -> Self {
                let mut map = Self::new();
                for r in routes {
                    map.insert((key(r.bits), r.len), r.next_hop);
                }
                map
            }

            fn longest_match(&self, address: $key) -> Match {
                let (prefix, next_hop) = self.get_lpm(&(address, <$key>::BITS as u8))?;
                Some((bits(prefix.0), prefix.1, *next_hop))
            }
        }

        impl Judge<$key> for IpLookupTable<$ip, u32> {
            fn new(routes: &[Route]) -> Self {
                let mut table = Self::new();
                for r in routes {
                    let address = <$ip>::from(key::<$key>(r.bits));
                    table.insert(address, r.len.into(), r.next_hop);
                }
                table
            }

            fn longest_match(&self, address: $key) -> Match {
                let (network, len, next_hop) = IpLookupTable::longest_match(self, address.into())?;
                Some((bits(<$key>::from(network)), len as u8, *next_hop))
            }
        }
    };
}
judges!(u32, Ipv4Addr);
judges!(u128, Ipv6Addr);

/// Rib and Fib against a judge that holds the same routes.
fn compare<A: Address, J: Judge<A>>(routes: &[Route], form: Form, s: Option<u8>, probes: &[A]) {
    let judge = J::new(routes);
    let rib = rib::<A>(routes);
    let fib = form.compile(&rib, s).unwrap();
    for &probe in probes {
        let expected = judge.longest_match(probe);
        let found = rib.longest_match(probe);
        let found = found.map(|(p, n)| (bits(p.address()), p.len(), n.get()));
        assert_eq!(found, expected, "{probe:?}");
        let next_hop = expected.map_or(0, |(_, _, next_hop)| next_hop);
        assert_eq!(fib.lookup(probe), next_hop, "{probe:?} {form:?} s={s:?}");
    }
}

fn random_tables<A: Address, J: Judge<A>>(seed: u64) {
    let mut random = Random::new(seed);
    for _ in 0..cases(300) {
        let count = random.between(0, 1_000);
        let routes = tables::mixed(&mut random, A::WIDTH, count as usize);
        let probes = probes::mixed(&mut random, &routes, 1_000);
        let form = Form::new(random.between(0, Form::COUNT as u32 - 1) as usize);
        let s = Some(random.len(0, 18));
        compare::<A, J>(&routes, form, s, &probes);
    }
}

#[test]
fn prefix_trie_v4() {
    random_tables::<u32, PrefixMap<(u32, u8), u32>>(12);
}

#[test]
fn prefix_trie_v6() {
    random_tables::<u128, PrefixMap<(u128, u8), u32>>(13);
}

#[test]
fn treebitmap_v4() {
    random_tables::<u32, IpLookupTable<Ipv4Addr, u32>>(14);
}

#[test]
fn treebitmap_v6() {
    random_tables::<u128, IpLookupTable<Ipv6Addr, u32>>(15);
}

/// Both judges on a real table of one family.
fn real<A: Address, P: Judge<A>, T: Judge<A>>(routes: &[Route]) {
    let mut random = Random::new(16);
    let mut probes = probes::random(&mut random, routes, 200_000);
    // Every route of a long table would take the judges too long.
    let some: Vec<Route> = routes
        .iter()
        .copied()
        .step_by(routes.len() / 50_000 + 1)
        .collect();
    probes.extend(probes::boundaries::<A>(&some));
    let form = Form::new(3);
    compare::<A, P>(routes, form, None, &probes);
    compare::<A, T>(routes, form, None, &probes);
}

#[test]
#[ignore = "a large table"]
fn heavy_real_files() {
    let name = "bart-tier1-v46.origin.txt.gz";
    let Some(table) = real_files::load(name) else {
        return;
    };
    real::<u32, PrefixMap<(u32, u8), u32>, IpLookupTable<Ipv4Addr, u32>>(&table.v4);
    real::<u128, PrefixMap<(u128, u8), u32>, IpLookupTable<Ipv6Addr, u32>>(&table.v6);
}
