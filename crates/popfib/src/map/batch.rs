//! Many lookups at once: by the kernels, a few hundred at a time, without allocation.
//!
//! The numbers of a few hundred answers are found by the kernel into an array on the
//! stack, which stays in the first cache; then each is turned into what was asked for.
//! Mixed addresses of both families are separated first and answered side by side.

use core::net::IpAddr;

use super::PrefixMap;
use super::both::ip;
use super::pairs::Pair;
use super::set::{IpSet, PrefixSet};
use super::storage::Storage;
use super::table::Table;
use crate::address::Address;
use crate::prefix::{IpPrefix, Prefix};

/// Addresses that are looked up at a time.
pub(super) const BURST: usize = 256;

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
    /// # Ok::<(), popfib::RouteTextError>(())
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
    /// # Ok::<(), popfib::RouteTextError>(())
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
            Some(matched(address, pair?).0)
        });
    }
}

/// A map's answers as pairs, of a few addresses at a time: of one that is owned, or that others change.
pub(super) trait Answering<A: Address, V> {
    /// Hands out the pair that answers for each of at most [`BURST`] addresses, and its place.
    fn answer_each<'a>(&'a self, addresses: &[A], each: impl FnMut(usize, Option<&'a Pair<V>>))
    where
        V: 'a;
}

impl<A: Address, V, S: Storage> Answering<A, V> for PrefixMap<A, V, S> {
    #[inline(always)]
    fn answer_each<'a>(&'a self, addresses: &[A], mut each: impl FnMut(usize, Option<&'a Pair<V>>))
    where
        V: 'a,
    {
        let mut numbers = [0; BURST];
        let numbers = &mut numbers[..addresses.len()];
        self.routes.answer_batch(addresses, numbers);
        for (at, (address, number)) in addresses.iter().zip(numbers).enumerate() {
            each(at, self.answered(*number, *address));
        }
    }
}

/// The value of each address into its place.
pub(super) fn values<'a, A: Address, V, K: Copy + Into<A>>(
    map: &'a impl Answering<A, V>,
    addresses: &[K],
    values: &mut [Option<&'a V>],
) {
    batch(map, addresses, values, |_, pair| Some(&pair?.value));
}

/// The prefix and the value of each address into its place.
pub(super) fn matches<'a, A: Address, V, K: Copy + Into<A>>(
    map: &'a impl Answering<A, V>,
    addresses: &[K],
    matches: &mut [Option<(Prefix<A>, &'a V)>],
) {
    batch(map, addresses, matches, |address, pair| {
        Some(matched(address, pair?))
    });
}

impl<A: Address> PrefixSet<A> {
    /// Whether a prefix of the set contains each of `addresses`, into the same place of `contained`. The answers are those of
    /// [`contains_address`](Self::contains_address), at the rate of [`PrefixMap::lookup_batch`]; nothing is allocated.
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
    /// # Ok::<(), popfib::ListTextError>(())
    /// ```
    pub fn contains_batch<K: Copy + Into<A>>(&self, addresses: &[K], contained: &mut [bool]) {
        batch(self.as_map(), addresses, contained, |_, pair| {
            pair.is_some()
        });
    }
}

impl IpSet {
    /// Whether a prefix of the set contains each of `addresses`, of both families in any order, into the same place of
    /// `contained`. The answers are those of [`contains_address`](Self::contains_address), at the rate of
    /// [`Table::lookup_batch`]; nothing is allocated.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`](crate::Kernel::best) panics.
    pub fn contains_batch<K: Copy + Into<IpAddr>>(&self, addresses: &[K], contained: &mut [bool]) {
        let map = self.as_map();
        Mixed(map.ipv4(), map.ipv6()).batch(
            addresses,
            contained,
            |_, pair| pair.is_some(),
            |_, pair| pair.is_some(),
        );
    }
}

#[inline]
fn batch<'a, A: Address, V: 'a, K: Copy + Into<A>, T>(
    map: &'a impl Answering<A, V>,
    addresses: &[K],
    answers: &mut [T],
    answer: impl Fn(A, Option<&'a Pair<V>>) -> T,
) {
    check_lengths(addresses, answers);
    let mut burst = Burst::new();
    for (addresses, answers) in addresses.chunks(BURST).zip(answers.chunks_mut(BURST)) {
        for address in addresses {
            burst.push((*address).into());
        }
        burst.answer(map, |at, address, pair| answers[at] = answer(address, pair));
    }
}

fn check_lengths<K, T>(addresses: &[K], answers: &[T]) {
    assert_eq!(
        addresses.len(),
        answers.len(),
        "one answer for each address"
    );
}

/// The prefix that matches, which is the address cut to the pair's length, and the value.
#[inline(always)]
pub(super) fn matched<A: Address, V>(address: A, pair: &Pair<V>) -> (Prefix<A>, &V) {
    (Prefix::clamped(address, pair.len()), &pair.value)
}

/// Addresses that wait for their answers.
struct Burst<A> {
    addresses: [A; BURST],
    len: usize,
}

impl<A: Address> Burst<A> {
    fn new() -> Self {
        Self {
            addresses: [A::MIN; BURST],
            len: 0,
        }
    }

    #[inline(always)]
    fn push(&mut self, address: A) {
        self.addresses[self.len] = address;
        self.len += 1;
    }

    /// Hands each answer out, and is empty again.
    #[inline(always)]
    fn answer<'a, V: 'a>(
        &mut self,
        map: &'a impl Answering<A, V>,
        mut answer: impl FnMut(usize, A, Option<&'a Pair<V>>),
    ) {
        let addresses = &self.addresses[..self.len];
        map.answer_each(addresses, |at, pair| answer(at, addresses[at], pair));
        self.len = 0;
    }
}

/// Where the addresses of a mixed burst go.
pub(super) struct Mixed<'a, M4, M6>(pub(super) &'a M4, pub(super) &'a M6);

impl<'a, M4, M6> Mixed<'a, M4, M6> {
    /// The value of each address into its place.
    pub(super) fn values<V: 'a, K: Copy + Into<IpAddr>>(
        self,
        addresses: &[K],
        values: &mut [Option<&'a V>],
    ) where
        M4: Answering<u32, V>,
        M6: Answering<u128, V>,
    {
        self.batch(
            addresses,
            values,
            |_, pair| Some(&pair?.value),
            |_, pair| Some(&pair?.value),
        );
    }

    /// The prefix and the value of each address into its place.
    pub(super) fn matches<V: 'a, K: Copy + Into<IpAddr>>(
        self,
        addresses: &[K],
        matches: &mut [Option<(IpPrefix, &'a V)>],
    ) where
        M4: Answering<u32, V>,
        M6: Answering<u128, V>,
    {
        self.batch(
            addresses,
            matches,
            |address, pair| Some(ip(matched(address, pair?))),
            |address, pair| Some(ip(matched(address, pair?))),
        );
    }

    #[inline]
    fn batch<V: 'a, K: Copy + Into<IpAddr>, T>(
        self,
        addresses: &[K],
        answers: &mut [T],
        ipv4: impl Fn(u32, Option<&'a Pair<V>>) -> T,
        ipv6: impl Fn(u128, Option<&'a Pair<V>>) -> T,
    ) where
        M4: Answering<u32, V>,
        M6: Answering<u128, V>,
    {
        check_lengths(addresses, answers);
        let (mut burst4, mut burst6) = (Burst::new(), Burst::new());
        // Where the addresses of each family stood.
        let (mut at4, mut at6) = ([0u8; BURST], [0u8; BURST]);
        const { assert!(BURST - 1 <= u8::MAX as usize) };
        for (addresses, answers) in addresses.chunks(BURST).zip(answers.chunks_mut(BURST)) {
            for (at, address) in addresses.iter().enumerate() {
                match (*address).into() {
                    IpAddr::V4(address) => {
                        at4[burst4.len] = at as u8;
                        burst4.push(address.into());
                    }
                    IpAddr::V6(address) => {
                        at6[burst6.len] = at as u8;
                        burst6.push(address.into());
                    }
                }
            }
            burst4.answer(self.0, |at, address, pair| {
                answers[usize::from(at4[at])] = ipv4(address, pair);
            });
            burst6.answer(self.1, |at, address, pair| {
                answers[usize::from(at6[at])] = ipv6(address, pair);
            });
        }
    }
}

impl<V, S: Storage> Table<V, S> {
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
    /// use popfib::Table;
    /// use std::net::IpAddr;
    ///
    /// let table: Table<u32> = Table::from_text([("192.0.2.0/24", 4), ("2001:db8::/32", 6)])?;
    /// let addresses: [IpAddr; 3] = ["2001:db8::1", "192.0.2.1", "::1"].map(|a| a.parse().unwrap());
    /// let mut values = [None; 3];
    /// table.lookup_batch(&addresses, &mut values);
    /// assert_eq!(values, [Some(&6), Some(&4), None]);
    /// # Ok::<(), popfib::RouteTextError>(())
    /// ```
    pub fn lookup_batch<'a, K: Copy + Into<IpAddr>>(
        &'a self,
        addresses: &[K],
        values: &mut [Option<&'a V>],
    ) {
        Mixed(self.ipv4(), self.ipv6()).values(addresses, values);
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
        Mixed(self.ipv4(), self.ipv6()).matches(addresses, matches);
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
        Mixed(self.ipv4(), self.ipv6()).batch(
            addresses,
            prefixes,
            |address, pair| Some(matched(address, pair?).0.into()),
            |address, pair| Some(matched(address, pair?).0.into()),
        );
    }
}
