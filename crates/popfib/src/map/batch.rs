//! Many lookups at once: by the kernels, a few hundred at a time, without allocation.
//!
//! The numbers of a few hundred answers are found by the kernel into an array on the
//! stack, which stays in the first cache; then each is turned into what was asked for.
//! Mixed addresses of both families are separated first and answered side by side.

use core::net::IpAddr;

use super::PrefixMap;
use super::both::ip;
use super::ip_map::IpMap;
use super::pairs::{Pair, PairSlots};
use super::set::{IpSet, PrefixSet};
use super::storage::{Shared, Storage};
use crate::address::Address;
use crate::prefix::{IpPrefix, Prefix};

/// Addresses that are looked up at a time.
const BURST: usize = 256;

impl<A: Address, V, S: Storage> PrefixMap<A, V, S> {
    /// Looks up each of `addresses` into the same place of `values`; `None` where there is no
    /// route. The answers are those of [`lookup`](Self::lookup), several times as fast.
    ///
    /// Addresses are `A` or what turns into it. Nothing is allocated.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`](crate::Kernel::best) panics.
    ///
    /// ```
    /// use popfib::PrefixMap;
    /// use std::net::Ipv4Addr;
    ///
    /// let map: PrefixMap<u32, &str> = PrefixMap::from_text([("192.0.2.0/24", "test")])?;
    /// let mut values = [None; 2];
    /// map.lookup_batch(&[Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::LOCALHOST], &mut values);
    /// assert_eq!(values, [Some(&"test"), None]);
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn lookup_batch<'a, K: Copy + Into<A>>(
        &'a self,
        addresses: &[K],
        values: &mut [Option<&'a V>],
    ) {
        self::values(self, addresses, values);
    }

    /// As [`lookup_batch`](Self::lookup_batch), with the prefixes that match.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`](crate::Kernel::best) panics.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u32, u8> = PrefixMap::from_text([("192.0.2.0/24", 1)])?;
    /// let addresses = [0xc000_0201_u32, 0x7f00_0001];
    /// let (mut matches, mut prefixes) = ([None; 2], [None; 2]);
    /// map.longest_match_batch(&addresses, &mut matches);
    /// map.prefix_batch(&addresses, &mut prefixes);
    /// let test = "192.0.2.0/24".parse().unwrap();
    /// assert_eq!(matches, [Some((test, &1)), None]);
    /// assert_eq!(prefixes, [Some(test), None]);
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn longest_match_batch<'a, K: Copy + Into<A>>(
        &'a self,
        addresses: &[K],
        matches: &mut [Option<(Prefix<A>, &'a V)>],
    ) {
        self::matches(self, addresses, matches);
    }

    /// As [`lookup_batch`](Self::lookup_batch), the prefixes that match without their values.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`](crate::Kernel::best) panics.
    pub fn prefix_batch<K: Copy + Into<A>>(
        &self,
        addresses: &[K],
        prefixes: &mut [Option<Prefix<A>>],
    ) {
        batch(self, addresses, prefixes, |address, pair| {
            Some(pair?.matched(address).0)
        });
    }
}

/// What answers a few addresses at a time: a map, or a reader of a live one.
pub(crate) trait Answering<A: Address>: Copy {
    type Answer;

    /// The answers for at most [`BURST`] addresses, in their order; `numbers` is as long.
    fn answers(self, addresses: &[A], numbers: &mut [u32]) -> impl Iterator<Item = Self::Answer>;
}

impl<'a, A: Address, V, S: Storage> Answering<A> for &'a PrefixMap<A, V, S> {
    type Answer = Option<&'a Pair<V>>;

    #[inline(always)]
    fn answers(self, addresses: &[A], numbers: &mut [u32]) -> impl Iterator<Item = Self::Answer> {
        self.routes.answer_batch(addresses, numbers);
        let slots = self.pairs.memory();
        if is_fetched::<A, V>(numbers) {
            numbers.iter().for_each(|number| slots.fetch(*number));
        }
        numbers.iter().map(|number| slots.get(*number))
    }
}

/// Whether the pairs of a burst are fetched before the first is read. Long keys gain: the work on each answer would otherwise leave
/// fewer reads waiting for memory at the same time. Short keys lose, as do tables of few pairs, which the cache has anyway.
#[inline(always)]
pub(crate) fn is_fetched<A: Address, V>(numbers: &[u32]) -> bool {
    const CACHED: usize = 1 << 18;
    let highest = |numbers: &[u32]| {
        numbers
            .iter()
            .fold(0, |highest, number| highest.max(*number))
    };
    A::WIDTH > 32 && highest(numbers) as usize > CACHED / size_of::<Pair<V>>()
}

/// Whether there is an answer: the number says it, without the pair.
#[derive(Clone, Copy)]
struct Membership<'a, A: Address>(&'a PrefixMap<A, (), Shared>);

impl<A: Address> Answering<A> for Membership<'_, A> {
    type Answer = bool;

    #[inline(always)]
    fn answers(self, addresses: &[A], numbers: &mut [u32]) -> impl Iterator<Item = bool> {
        self.0.routes.answer_batch(addresses, numbers);
        numbers.iter().map(|number| *number != 0)
    }
}

/// The value of each address into its place.
pub(crate) fn values<'a, A: Address, V, K: Copy + Into<A>>(
    map: impl Answering<A, Answer = Option<&'a Pair<V>>>,
    addresses: &[K],
    values: &mut [Option<&'a V>],
) {
    batch(map, addresses, values, |_, pair| Some(&pair?.value));
}

/// The prefix and the value of each address into its place.
pub(crate) fn matches<'a, A: Address, V, K: Copy + Into<A>>(
    map: impl Answering<A, Answer = Option<&'a Pair<V>>>,
    addresses: &[K],
    matches: &mut [Option<(Prefix<A>, &'a V)>],
) {
    batch(map, addresses, matches, |address, pair| {
        Some(pair?.matched(address))
    });
}

impl<A: Address> PrefixSet<A> {
    /// Whether a prefix of the set contains each of `addresses`, into the same place of `contained`. The answers are those of
    /// [`contains_address`](Self::contains_address), faster than [`PrefixMap::lookup_batch`]; nothing is allocated.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`](crate::Kernel::best) panics.
    ///
    /// ```
    /// use popfib::PrefixSet;
    ///
    /// let set: PrefixSet<u32> = "192.0.2.0/24".parse()?;
    /// let mut contained = [false; 2];
    /// set.contains_batch(&[0xc000_0201_u32, 0x7f00_0001], &mut contained);
    /// assert_eq!(contained, [true, false]);
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn contains_batch<K: Copy + Into<A>>(&self, addresses: &[K], contained: &mut [bool]) {
        batch(
            Membership(self.as_map()),
            addresses,
            contained,
            |_, is_in| is_in,
        );
    }
}

impl IpSet {
    /// Whether a prefix of the set contains each of `addresses`, of both families in any order, into the same place of
    /// `contained`. The answers are those of [`contains_address`](Self::contains_address), faster than
    /// [`IpMap::lookup_batch`]; nothing is allocated.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`](crate::Kernel::best) panics.
    pub fn contains_batch<K: Copy + Into<IpAddr>>(&self, addresses: &[K], contained: &mut [bool]) {
        let map = self.as_map();
        MixedFamilies(Membership(map.ipv4()), Membership(map.ipv6())).batch(
            addresses,
            contained,
            |_, is_in| is_in,
            |_, is_in| is_in,
        );
    }
}

#[inline]
fn batch<A: Address, K: Copy + Into<A>, T, M: Answering<A>>(
    map: M,
    addresses: &[K],
    answers: &mut [T],
    answer: impl Fn(A, M::Answer) -> T,
) {
    check_lengths(addresses, answers);
    let (mut burst, mut numbers) = (Burst::new(), [0; BURST]);
    for (addresses, answers) in addresses.chunks(BURST).zip(answers.chunks_mut(BURST)) {
        for (to, address) in burst.addresses.iter_mut().zip(addresses) {
            *to = (*address).into();
        }
        burst.answer(map, &mut numbers, answers, |to, address, found| {
            *to = answer(address, found)
        });
    }
}

fn check_lengths<K, T>(addresses: &[K], answers: &[T]) {
    assert_eq!(
        addresses.len(),
        answers.len(),
        "one answer for each address"
    );
}

/// Addresses that wait for their answers.
struct Burst<A> {
    addresses: [A; BURST],
}

impl<A: Address> Burst<A> {
    fn new() -> Self {
        Self {
            addresses: [A::MIN; BURST],
        }
    }

    /// Hands out the answers of the first addresses, one to each of `places`. `numbers` is for their numbers: one array for both
    /// families.
    #[inline(always)]
    fn answer<T, M: Answering<A>>(
        &self,
        map: M,
        numbers: &mut [u32; BURST],
        places: &mut [T],
        mut answer: impl FnMut(&mut T, A, M::Answer),
    ) {
        let addresses = &self.addresses[..places.len()];
        let found = map.answers(addresses, &mut numbers[..places.len()]);
        for ((place, address), found) in places.iter_mut().zip(addresses).zip(found) {
            answer(place, *address, found);
        }
    }
}

/// Where the addresses of a mixed burst go.
pub(crate) struct MixedFamilies<M4, M6>(pub(crate) M4, pub(crate) M6);

impl<M4, M6> MixedFamilies<M4, M6> {
    /// The value of each address into its place.
    pub(crate) fn values<'a, V: 'a, K: Copy + Into<IpAddr>>(
        self,
        addresses: &[K],
        values: &mut [Option<&'a V>],
    ) where
        M4: Answering<u32, Answer = Option<&'a Pair<V>>>,
        M6: Answering<u128, Answer = Option<&'a Pair<V>>>,
    {
        self.batch(
            addresses,
            values,
            |_, pair| Some(&pair?.value),
            |_, pair| Some(&pair?.value),
        );
    }

    /// The prefix and the value of each address into its place.
    pub(crate) fn matches<'a, V: 'a, K: Copy + Into<IpAddr>>(
        self,
        addresses: &[K],
        matches: &mut [Option<(IpPrefix, &'a V)>],
    ) where
        M4: Answering<u32, Answer = Option<&'a Pair<V>>>,
        M6: Answering<u128, Answer = Option<&'a Pair<V>>>,
    {
        self.batch(
            addresses,
            matches,
            |address, pair| Some(ip(pair?.matched(address))),
            |address, pair| Some(ip(pair?.matched(address))),
        );
    }

    #[inline]
    fn batch<K: Copy + Into<IpAddr>, T>(
        self,
        addresses: &[K],
        answers: &mut [T],
        ipv4: impl Fn(u32, M4::Answer) -> T,
        ipv6: impl Fn(u128, M6::Answer) -> T,
    ) where
        M4: Answering<u32>,
        M6: Answering<u128>,
    {
        check_lengths(addresses, answers);
        let (mut burst4, mut burst6) = (Burst::new(), Burst::new());
        let mut numbers = [0; BURST];
        // Where the addresses of each family stood.
        let (mut at4, mut at6) = ([0u8; BURST], [0u8; BURST]);
        const { assert!(BURST - 1 <= u8::MAX as usize) };
        for (addresses, answers) in addresses.chunks(BURST).zip(answers.chunks_mut(BURST)) {
            let (mut len4, mut len6) = (0, 0);
            for (at, address) in addresses.iter().enumerate() {
                match (*address).into() {
                    IpAddr::V4(address) => {
                        at4[len4] = at as u8;
                        burst4.addresses[len4] = address.into();
                        len4 += 1;
                    }
                    IpAddr::V6(address) => {
                        at6[len6] = at as u8;
                        burst6.addresses[len6] = address.into();
                        len6 += 1;
                    }
                }
            }
            burst4.answer(
                self.0,
                &mut numbers,
                &mut at4[..len4],
                |at, address, found| {
                    answers[usize::from(*at)] = ipv4(address, found);
                },
            );
            burst6.answer(
                self.1,
                &mut numbers,
                &mut at6[..len6],
                |at, address, found| {
                    answers[usize::from(*at)] = ipv6(address, found);
                },
            );
        }
    }
}

impl<V, S: Storage> IpMap<V, S> {
    /// Looks up each of `addresses`, of both families in any order, into the same place of
    /// `values`; `None` where there is no route.
    ///
    /// The answers are those of [`lookup`](Self::lookup), several times as fast; nothing is
    /// allocated. Where all are of one family, [`ipv4`](Self::ipv4) and [`ipv6`](Self::ipv6)
    /// do without telling them apart.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`](crate::Kernel::best) panics.
    ///
    /// ```
    /// use popfib::IpMap;
    /// use std::net::IpAddr;
    ///
    /// let table: IpMap<u32> = IpMap::from_text([("192.0.2.0/24", 4), ("2001:db8::/32", 6)])?;
    /// let addresses: [IpAddr; 3] = ["2001:db8::1", "192.0.2.1", "::1"].map(|a| a.parse().unwrap());
    /// let mut values = [None; 3];
    /// table.lookup_batch(&addresses, &mut values);
    /// assert_eq!(values, [Some(&6), Some(&4), None]);
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn lookup_batch<'a, K: Copy + Into<IpAddr>>(
        &'a self,
        addresses: &[K],
        values: &mut [Option<&'a V>],
    ) {
        MixedFamilies(self.ipv4(), self.ipv6()).values(addresses, values);
    }

    /// As [`lookup_batch`](Self::lookup_batch), with the prefixes that match.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`](crate::Kernel::best) panics.
    pub fn longest_match_batch<'a, K: Copy + Into<IpAddr>>(
        &'a self,
        addresses: &[K],
        matches: &mut [Option<(IpPrefix, &'a V)>],
    ) {
        MixedFamilies(self.ipv4(), self.ipv6()).matches(addresses, matches);
    }

    /// As [`lookup_batch`](Self::lookup_batch), the prefixes that match without their values.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`](crate::Kernel::best) panics.
    pub fn prefix_batch<K: Copy + Into<IpAddr>>(
        &self,
        addresses: &[K],
        prefixes: &mut [Option<IpPrefix>],
    ) {
        MixedFamilies(self.ipv4(), self.ipv6()).batch(
            addresses,
            prefixes,
            |address, pair| Some(pair?.matched(address).0.into()),
            |address, pair| Some(pair?.matched(address).0.into()),
        );
    }
}
