//! A RIB in, addresses worth checking out, since all addresses would be too many.

use clap::Args;
use fastrand::Rng;
use popfib::{Address, Prefix, Rib};

/// How many addresses are drawn.
#[derive(Args, Clone, Copy)]
pub(crate) struct ProbeArgs {
    /// Number of random addresses per family
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    random: u64,

    /// Seed of the random addresses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

impl ProbeArgs {
    /// The addresses to check in a table of these routes.
    pub(crate) fn of<A: Address>(self, rib: &Rib<A>) -> impl Iterator<Item = A> + '_ {
        probes(rib, self.random, self.seed)
    }

    /// How many these are at most.
    pub(crate) fn most<A: Address>(self, rib: &Rib<A>) -> u64 {
        self.random.saturating_add(4 * rib.len() as u64)
    }
}

/// The first and last address of every route, the neighbours outside of them, and `random` more: half of them anywhere, half
/// inside a random route, since IPv6 has few routes among many addresses.
pub(super) fn probes<A: Address>(
    rib: &Rib<A>,
    random: u64,
    seed: u64,
) -> impl Iterator<Item = A> + '_ {
    let prefixes: Vec<Prefix<A>> = rib.iter().map(|(prefix, _)| prefix).collect();
    let mut numbers = Rng::with_seed(seed);
    let random = (0..random).map(move |i| {
        if i % 2 == 0 || prefixes.is_empty() {
            address(&mut numbers)
        } else {
            let prefix = prefixes[numbers.usize(..prefixes.len())];
            prefix.address() | (address::<A>(&mut numbers) & !A::mask(prefix.len()))
        }
    });
    rib.iter()
        .flat_map(|(prefix, _)| borders(prefix))
        .chain(random)
}

fn address<A: Address>(numbers: &mut Rng) -> A {
    A::truncate(numbers.u128(..))
}

/// The first and last address of `prefix`, and the addresses just outside, if there are any.
fn borders<A: Address>(prefix: Prefix<A>) -> impl Iterator<Item = A> {
    let (first, last) = (prefix.first(), prefix.last());
    [
        first.checked_previous(),
        Some(first),
        Some(last),
        last.checked_next(),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::NextHop;

    #[test]
    fn borders_end_at_the_ends_of_the_address_space() {
        let of = |text: &str| borders(text.parse::<Prefix<u32>>().unwrap()).collect::<Vec<_>>();
        assert_eq!(of("0.0.0.0/0"), [0, u32::MAX]);
        assert_eq!(of("0.0.0.0/32"), [0, 0, 1]);
        assert_eq!(of("255.255.255.255/32"), [u32::MAX - 1, u32::MAX, u32::MAX]);
        assert_eq!(
            of("10.0.0.0/8"),
            [0x09ff_ffff, 0x0a00_0000, 0x0aff_ffff, 0x0b00_0000]
        );
    }

    #[test]
    fn half_of_the_random_probes_hit_a_route() {
        let mut rib = Rib::<u128>::new();
        let prefix: Prefix<u128> = "2001:db8::/48".parse().unwrap();
        rib.insert(prefix, NextHop::MIN);
        let all: Vec<u128> = probes(&rib, 100, 1).collect();
        assert_eq!(all.len(), 104);
        let hits = all[4..].iter().filter(|&&a| prefix.contains(a)).count();
        assert_eq!(hits, 50);
        assert_eq!(probes(&Rib::<u128>::new(), 100, 1).count(), 100);
    }
}
