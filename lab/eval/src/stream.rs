//! Addresses made while they are looked up, a burst at a time, as the Poptrie
//! paper makes them (section 4.2).
//!
//! An array of as many addresses as a long pass needs would push the table out
//! of the cache; four words of state do not. Making them takes time, too: it
//! is measured by a pass that looks up nothing and shown, not subtracted.

use popfib::Prefix;

use crate::any_fib::BURST;
use crate::traffic::{REPEATS, TrafficAddress};

/// Where the addresses of a pass come from.
pub trait Stream<A> {
    /// Writes the next addresses.
    fn fill(&mut self, burst: &mut [A]);
}

/// Looks up `count` addresses of `stream` by calls of `lookup` with a burst each.
#[inline]
pub fn stream_pass<A: TrafficAddress>(
    stream: &mut impl Stream<A>,
    count: usize,
    mut lookup: impl FnMut(&[A]),
) {
    let mut burst = [A::MIN; BURST];
    let mut left = count;
    while left > 0 {
        let burst = &mut burst[..left.min(BURST)];
        stream.fill(burst);
        lookup(burst);
        left -= burst.len();
    }
}

/// Random addresses by Marsaglia's xorshift with four words of 32 bits, as in
/// the paper: one word for an IPv4 address, four for one of IPv6 in 2000::/8.
#[derive(Clone, Debug)]
pub struct Xorshift {
    words: [u32; 4],
}

impl Xorshift {
    /// The generator's published state, with `seed` mixed into it.
    pub fn new(seed: u32) -> Self {
        Self {
            words: [123_456_789 ^ seed, 362_436_069, 521_288_629, 88_675_123],
        }
    }

    /// 32 random bits.
    #[inline]
    pub fn word(&mut self) -> u32 {
        let [x, y, z, w] = self.words;
        let t = x ^ (x << 11);
        let next = w ^ (w >> 19) ^ t ^ (t >> 8);
        self.words = [y, z, w, next];
        next
    }

    #[inline]
    fn address<A: TrafficAddress>(&mut self, inside: Prefix<A>) -> A {
        let mut bits = 0u128;
        for _ in 0..A::WIDTH.div_ceil(32) {
            bits = bits << 32 | u128::from(self.word());
        }
        inside.address() | (A::truncate(bits) & !A::mask(inside.len()))
    }
}

impl<A: TrafficAddress> Stream<A> for Xorshift {
    #[inline]
    fn fill(&mut self, burst: &mut [A]) {
        let inside = A::uniform();
        for address in burst {
            *address = self.address(inside);
        }
    }
}

/// Random addresses, each sixteen times in a row.
#[derive(Clone, Debug)]
pub struct Repeated(Xorshift);

impl Repeated {
    /// The addresses of [`Xorshift::new`].
    pub fn new(seed: u32) -> Self {
        Self(Xorshift::new(seed))
    }
}

impl<A: TrafficAddress> Stream<A> for Repeated {
    #[inline]
    fn fill(&mut self, burst: &mut [A]) {
        let inside = A::uniform();
        // Bursts are whole groups but for the last one of a pass.
        for group in burst.chunks_mut(REPEATS) {
            group.fill(self.0.address(inside));
        }
    }
}

/// One address after the other; after the last comes the first.
#[derive(Clone, Debug)]
pub struct Sequential<A> {
    next: A,
}

impl<A> Sequential<A> {
    /// The addresses from `first` on.
    pub fn new(first: A) -> Self {
        Self { next: first }
    }
}

impl<A: TrafficAddress> Stream<A> for Sequential<A> {
    #[inline]
    fn fill(&mut self, burst: &mut [A]) {
        for address in burst {
            *address = self.next;
            self.next = self.next.checked_next().unwrap_or(A::MIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made<A: TrafficAddress>(mut stream: impl Stream<A>, count: usize) -> Vec<A> {
        let mut all = Vec::new();
        stream_pass(&mut stream, count, |burst| all.extend_from_slice(burst));
        all
    }

    #[test]
    fn xorshift_is_the_published_one() {
        // First outputs in Marsaglia's paper's order for its own state.
        let words: Vec<u32> = made(Xorshift::new(0), 3);
        assert_eq!(words, [3_701_687_786, 458_299_110, 2_500_872_618]);
        let mut words = Xorshift::new(0);
        let four = (0..4).fold(0u128, |bits, _| bits << 32 | u128::from(words.word()));
        let address: Vec<u128> = made(Xorshift::new(0), 1);
        assert_eq!(address[0], 0x20 << 120 | (four << 8 >> 8));
    }

    #[test]
    fn a_pass_has_as_many_addresses_as_it_is_to_have() {
        for count in [0, 1, BURST - 1, BURST, 3 * BURST + 17] {
            let addresses: Vec<u32> = made(Xorshift::new(1), count);
            assert_eq!(addresses.len(), count);
        }
        let random: Vec<u32> = made(Xorshift::new(2), 10);
        let repeated: Vec<u32> = made(Repeated::new(2), 160);
        for (group, address) in repeated.chunks(16).zip(random) {
            assert!(group.iter().all(|other| *other == address));
        }
    }

    #[test]
    fn sequential_goes_round() {
        let addresses: Vec<u32> = made(Sequential::new(u32::MAX - 1), 300);
        assert_eq!(addresses[..4], [u32::MAX - 1, u32::MAX, 0, 1]);
        assert_eq!(addresses[299], 297);
    }
}
