//! Traffic patterns: the addresses that a measured pass looks up, made beforehand.
//!
//! Everything follows from the seed, so two tables or two machines are asked
//! the same. What the names mean:
//! `random` is uniform over all of IPv4, for IPv6 inside 2000::/8;
//! `sequential` is consecutive addresses from the first of a random route on;
//! `repeated` is `random` with each address 16 times in a row;
//! `routes` is a random host of a uniformly chosen route;
//! `zipf` draws from 650,000 (IPv6: 200,000) such hosts by Zipf's law, exponent 1;
//! `good-cache` is a random host of each route in the order of the routes, and
//! `bad-cache` the same hosts shuffled, from the start again as often as needed;
//! `file:PATH` is the addresses of that family in a file, from the start again as often as needed.

use std::path::PathBuf;
use std::str::FromStr;

use bytemuck::Pod;
use popfib::family::Family;
use popfib::{Prefix, Rib};
use popfib_formats::ReadError;

use crate::random::Random;
use crate::trace::Trace;
use crate::zipf::Zipf;

/// Times in a row that `repeated` asks for an address.
pub(crate) const REPEATS: usize = 16;

/// A pattern by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Uniform addresses.
    Random,
    /// One after the other.
    Sequential,
    /// Uniform, each 16 times in a row.
    Repeated,
    /// A random host of a uniformly chosen route.
    Routes,
    /// Such hosts by Zipf's law.
    Zipf,
    /// One address a route, in the order of the routes.
    GoodCache,
    /// The same addresses, shuffled.
    BadCache,
    /// Those of a file.
    File(PathBuf),
}

/// The patterns that need no file, by name.
const NAMED: [(&str, Traffic); 7] = [
    ("random", Traffic::Random),
    ("sequential", Traffic::Sequential),
    ("repeated", Traffic::Repeated),
    ("routes", Traffic::Routes),
    ("zipf", Traffic::Zipf),
    ("good-cache", Traffic::GoodCache),
    ("bad-cache", Traffic::BadCache),
];

impl FromStr for Traffic {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if let Some((_, traffic)) = NAMED.iter().find(|(known, _)| *known == name) {
            return Ok(traffic.clone());
        }
        match name.strip_prefix("file:") {
            // Every family reads the file by itself, which a pipe does not allow.
            Some("-") => Err("traffic cannot come from standard input".into()),
            Some(path) if !path.is_empty() => Ok(Self::File(path.into())),
            _ => {
                let names = NAMED.map(|(name, _)| name).join(", ");
                Err(format!("traffic is {names} or file:PATH"))
            }
        }
    }
}

impl Traffic {
    /// The name as rows show it.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => format!("file:{}", path.display()),
            _ => NAMED
                .iter()
                .find(|(_, traffic)| traffic == self)
                .map_or("", |(name, _)| name)
                .to_owned(),
        }
    }
}

/// A family with what its traffic depends on.
pub trait TrafficAddress: Family + Pod {
    /// Hosts that `zipf` draws from.
    const ZIPF_HOSTS: usize;

    /// Where uniform addresses are drawn from.
    fn uniform() -> Prefix<Self>;
}

impl TrafficAddress for u32 {
    const ZIPF_HOSTS: usize = 650_000;

    fn uniform() -> Prefix<u32> {
        Prefix::DEFAULT_ROUTE
    }
}

impl TrafficAddress for u128 {
    const ZIPF_HOSTS: usize = 200_000;

    fn uniform() -> Prefix<u128> {
        // Uniform over all of IPv6 would hardly ever meet what is routed.
        Prefix::new(0x20 << 120, 8).expect("2000::/8 is a prefix")
    }
}

/// `count` addresses of `traffic` for the table `rib`; `None` where there is nothing to draw
/// from: no route, or no address of the family in the file.
///
/// # Errors
/// If the file of addresses cannot be read.
pub fn generate<A: TrafficAddress>(
    traffic: &Traffic,
    rib: &Rib<A>,
    count: usize,
    seed: u64,
) -> Result<Option<Vec<A>>, ReadError> {
    let mut random = Random::new(seed);
    let prefixes: Vec<Prefix<A>> = rib.iter().map(|(prefix, _)| prefix).collect();
    let hosts = |random: &mut Random, count: usize| -> Vec<A> {
        (0..count)
            .map(|_| {
                let prefix = random.pick(&prefixes);
                random.host(prefix)
            })
            .collect()
    };
    let addresses = match traffic {
        Traffic::Random => (0..count).map(|_| random.host(A::uniform())).collect(),
        Traffic::Repeated => (0..count.div_ceil(REPEATS))
            .flat_map(|_| [random.host(A::uniform()); REPEATS])
            .take(count)
            .collect(),
        Traffic::File(path) => {
            let trace = Trace::read(path, &[], Some(count))?;
            let pool = A::of(&trace.addresses);
            if pool.is_empty() {
                return Ok(None);
            }
            pool.iter().copied().cycle().take(count).collect()
        }
        _ if prefixes.is_empty() => return Ok(None),
        Traffic::Sequential => {
            let start = random.pick(&prefixes).first().to_u128();
            (0..count as u128)
                .map(|i| A::truncate(start.wrapping_add(i)))
                .collect()
        }
        Traffic::Routes => hosts(&mut random, count),
        Traffic::Zipf => {
            let pool = hosts(&mut random, A::ZIPF_HOSTS);
            let zipf = Zipf::new(pool.len(), 1.0);
            (0..count).map(|_| pool[zipf.rank(&mut random)]).collect()
        }
        Traffic::GoodCache | Traffic::BadCache => {
            let mut pool: Vec<A> = prefixes.iter().map(|prefix| random.host(*prefix)).collect();
            if *traffic == Traffic::BadCache {
                random.shuffle(&mut pool);
            }
            pool.into_iter().cycle().take(count).collect()
        }
    };
    Ok(Some(addresses))
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::NextHop;
    use std::collections::HashMap;

    const COUNT: usize = 100_000;

    fn rib<A: Family>(prefixes: &[&str]) -> Rib<A> {
        let mut rib = Rib::new();
        for text in prefixes {
            rib.insert(text.parse().unwrap(), NextHop::MIN);
        }
        rib
    }

    fn made<A: TrafficAddress>(traffic: &Traffic, rib: &Rib<A>) -> Vec<A> {
        let addresses = generate(traffic, rib, COUNT, 1).unwrap().unwrap();
        assert_eq!(addresses.len(), COUNT);
        assert_eq!(
            addresses,
            generate(traffic, rib, COUNT, 1).unwrap().unwrap(),
            "the same seed gives the same traffic"
        );
        addresses
    }

    #[test]
    fn random_is_uniform() {
        let addresses: Vec<u32> = made(&Traffic::Random, &Rib::new());
        let mut quarters = [0; 4];
        for address in addresses {
            quarters[(address >> 30) as usize] += 1;
        }
        assert!(
            quarters.iter().all(|n| (24_000..26_000).contains(n)),
            "{quarters:?}"
        );
        let addresses: Vec<u128> = made(&Traffic::Random, &Rib::new());
        assert!(addresses.iter().all(|a| a >> 120 == 0x20));
        let low_bits = addresses.iter().filter(|&a| a & 1 == 1).count();
        assert!((49_000..51_000).contains(&low_bits));
    }

    #[test]
    fn sequential_is_consecutive_from_a_route_and_wraps() {
        let addresses: Vec<u32> = made(&Traffic::Sequential, &rib(&["255.255.255.0/24"]));
        assert_eq!(addresses[0], 0xffff_ff00);
        assert!(addresses.windows(2).all(|w| w[1] == w[0].wrapping_add(1)));
    }

    #[test]
    fn repeated_asks_sixteen_times() {
        let addresses: Vec<u32> = made(&Traffic::Repeated, &Rib::new());
        assert!(addresses.chunks(16).all(|c| c.iter().all(|a| a == &c[0])));
        assert!(
            addresses
                .chunks(16)
                .zip(addresses.chunks(16).skip(1))
                .all(|(a, b)| a[0] != b[0])
        );
    }

    #[test]
    fn routes_chooses_every_route_as_often() {
        let table = rib::<u128>(&["2001:db8::/32", "fd00::/8", "2001:db9::1/128"]);
        let addresses = made(&Traffic::Routes, &table);
        for (prefix, _) in table.iter() {
            let hits = addresses.iter().filter(|&&a| prefix.contains(a)).count();
            assert!((32_000..35_000).contains(&hits), "{prefix}: {hits}");
        }
    }

    #[test]
    fn zipf_prefers_few_hosts() {
        let table = rib::<u32>(&["10.0.0.0/8", "11.0.0.0/8"]);
        let addresses = made(&Traffic::Zipf, &table);
        assert!(addresses.iter().all(|a| matches!(a >> 24, 10 | 11)));
        let mut times = HashMap::new();
        for address in addresses {
            *times.entry(address).or_insert(0) += 1;
        }
        let mut times: Vec<i32> = times.into_values().collect();
        times.sort_unstable_by(|a, b| b.cmp(a));
        // 1/H(650,000) = 7.15 % of all to the first, half of that to the second.
        assert!((6_800..7_500).contains(&times[0]), "{}", times[0]);
        assert!((3_300..3_850).contains(&times[1]), "{}", times[1]);
    }

    #[test]
    fn caches_are_asked_for_each_route_once() {
        let table = rib::<u32>(&["10.0.0.0/8", "10.1.0.0/16", "11.0.0.0/8", "12.0.0.0/8"]);
        let made = |traffic| generate(&traffic, &table, 8, 1).unwrap().unwrap();
        let good = made(Traffic::GoodCache);
        for (address, (prefix, _)) in good.iter().zip(table.iter().chain(table.iter())) {
            assert!(prefix.contains(*address));
        }
        assert_eq!(good[..4], good[4..]);
        let (mut bad, mut sorted) = (made(Traffic::BadCache), good.clone());
        assert_ne!(bad, good);
        bad.sort_unstable();
        sorted.sort_unstable();
        assert_eq!(bad, sorted);
    }

    #[test]
    fn a_file_is_read_by_family_and_repeated() {
        let name = format!("popfib-traffic-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, "10.0.0.1\n2001:db8::1\n\n10.0.0.2 # two\n").unwrap();
        let traffic = Traffic::File(path.clone());
        let ipv4 = generate(&traffic, &Rib::<u32>::new(), 5, 1)
            .unwrap()
            .unwrap();
        let ipv6 = generate(&traffic, &Rib::<u128>::new(), 2, 1)
            .unwrap()
            .unwrap();
        let first = generate(&traffic, &Rib::<u32>::new(), 1, 1)
            .unwrap()
            .unwrap();
        std::fs::write(&path, "10.0.0.1\n").unwrap();
        let none = generate(&traffic, &Rib::<u128>::new(), 2, 1).unwrap();
        std::fs::remove_file(&path).unwrap();
        let [a, b] = [0x0a00_0001, 0x0a00_0002];
        assert_eq!(ipv4, [a, b, a, b, a]);
        assert_eq!(ipv6, [0x2001_0db8 << 96 | 1; 2]);
        assert_eq!(first, [a]);
        assert_eq!(none, None);
        assert!(generate(&traffic, &Rib::<u32>::new(), 1, 1).is_err());
    }

    #[test]
    fn nothing_to_draw_from_is_no_traffic() {
        for traffic in [Traffic::Sequential, Traffic::Routes, Traffic::Zipf] {
            assert_eq!(generate(&traffic, &Rib::<u32>::new(), 10, 1).unwrap(), None);
        }
    }

    #[test]
    fn names_are_read_back() {
        for name in [
            "random",
            "sequential",
            "repeated",
            "routes",
            "zipf",
            "good-cache",
            "bad-cache",
            "file:a/b",
        ] {
            assert_eq!(name.parse::<Traffic>().unwrap().name(), name);
        }
        for name in ["", "Random", "file:", "file:-", "caida"] {
            assert!(name.parse::<Traffic>().is_err());
        }
    }
}
