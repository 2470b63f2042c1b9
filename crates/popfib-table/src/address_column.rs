//! A column of addresses of either family in, an array of addresses for each family out, with the row of each: lookups of many
//! addresses take arrays of one family, and their answers have to find their rows again.
//!
//! Rejected: an array of `IpAddr`. Lookups would have to part and copy it first.

use std::iter;
use std::net::IpAddr;
use std::ops::Deref;

use popfib::family::Family;

/// How many answers are found before they go to their rows.
const BLOCK: usize = 256;

/// Rows with an address of either family, or none, as lookups take them. There are fewer than 2^32.
#[derive(Clone, Debug, Default)]
pub struct AddressColumn {
    ipv4: FamilyAddresses<u32>,
    ipv6: FamilyAddresses<u128>,
    len: u32,
}

/// The addresses of one family in a column: an array of them, and the row of each.
#[derive(Clone, Debug, Default)]
pub struct FamilyAddresses<A> {
    /// The addresses.
    pub addresses: Vec<A>,
    /// The row of each, in order.
    pub rows: Vec<u32>,
}

/// So many neighbours of one kind: of one family, or without an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressRun {
    /// The next of [`AddressColumn::ipv4`].
    Ipv4(usize),
    /// The next of [`AddressColumn::ipv6`].
    Ipv6(usize),
    /// Rows without an address.
    Missing(usize),
}

impl AddressColumn {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all rows; the memory stays.
    pub fn clear(&mut self) {
        self.ipv4.clear();
        self.ipv6.clear();
        self.len = 0;
    }

    /// The IPv4 addresses.
    #[inline]
    pub fn ipv4(&self) -> &FamilyAddresses<u32> {
        &self.ipv4
    }

    /// The IPv6 addresses.
    #[inline]
    pub fn ipv6(&self) -> &FamilyAddresses<u128> {
        &self.ipv6
    }

    /// The number of rows, with those that have no address.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a row, with an address or without one.
    #[inline(always)]
    pub fn push(&mut self, address: impl Into<Option<IpAddr>>) {
        match address.into() {
            Some(IpAddr::V4(address)) => self.ipv4.push(self.len, address.into()),
            Some(IpAddr::V6(address)) => self.ipv6.push(self.len, address.into()),
            None => {}
        }
        self.len += 1;
    }

    /// Adds rows of IPv4 addresses.
    #[inline]
    pub fn extend_ipv4(&mut self, addresses: impl IntoIterator<Item = u32>) {
        let before = self.ipv4.len();
        self.ipv4.addresses.extend(addresses);
        let end = self.len + (self.ipv4.len() - before) as u32;
        self.ipv4.rows.extend(self.len..end);
        self.len = end;
    }

    /// Puts the IPv4 addresses in place of IPv4-mapped ones.
    pub fn unmap(&mut self) {
        if self.ipv6.is_empty() {
            return;
        }
        let mapped = std::mem::take(self);
        let addresses = mapped.iter().map(|found| Some(found?.0.to_canonical()));
        addresses.for_each(|address| self.push(address));
    }

    /// The address of each row, and its place among those of its family; `None` for a row without one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<(IpAddr, usize)>> {
        let (mut at_4, mut at_6) = (0, 0);
        (0..self.len).map(move |row| {
            let ipv6 = || self.ipv6.take(&mut at_6, row);
            self.ipv4.take(&mut at_4, row).or_else(ipv6)
        })
    }

    /// The order of the families.
    pub fn runs(&self) -> impl Iterator<Item = AddressRun> {
        let [mut ipv4, mut ipv6] = [&self.ipv4.rows, &self.ipv6.rows]
            .map(|rows| rows.chunk_by(|row, next| row + 1 == *next).peekable());
        let mut row = 0;
        iter::from_fn(move || {
            let is_next = |rows: &&[u32]| rows[0] as usize == row;
            let (run, count) = if let Some(rows) = ipv4.next_if(is_next) {
                (AddressRun::Ipv4(rows.len()), rows.len())
            } else if let Some(rows) = ipv6.next_if(is_next) {
                (AddressRun::Ipv6(rows.len()), rows.len())
            } else {
                let next = ipv4.peek().into_iter().chain(ipv6.peek());
                let next = next.map(|rows| rows[0] as usize).min();
                let count = next.unwrap_or(self.len()) - row;
                (AddressRun::Missing(count), count)
            };
            row += count;
            (count > 0).then_some(run)
        })
    }
}

impl<A> Deref for FamilyAddresses<A> {
    type Target = [A];

    #[inline]
    fn deref(&self) -> &[A] {
        &self.addresses
    }
}

impl<A> FamilyAddresses<A> {
    /// Removes all; the memory stays.
    pub fn clear(&mut self) {
        self.addresses.clear();
        self.rows.clear();
    }

    /// Adds an address of this row, which comes after those that are there.
    #[inline(always)]
    pub fn push(&mut self, row: u32, address: A) {
        self.addresses.push(address);
        self.rows.push(row);
    }

    /// Replaces what is there by the addresses of `all` whose rows are chosen.
    pub fn choose(&mut self, all: &Self, is_chosen: impl Fn(u32) -> bool)
    where
        A: Copy,
    {
        self.clear();
        for (&row, &address) in all.rows.iter().zip(&all.addresses) {
            if is_chosen(row) {
                self.push(row, address);
            }
        }
    }

    /// Puts what was `found` for each into its row's place in `answers`.
    #[inline]
    pub fn scatter<T: Copy>(&self, found: &[T], answers: &mut [T]) {
        scatter(&self.rows, found, answers);
    }

    /// Puts what `look_up` finds for each into its row's place in `answers`, which has one for each row of the column. Nothing is
    /// allocated, and without addresses nothing is looked up.
    ///
    /// # Errors
    /// Those of `look_up`.
    #[inline]
    pub fn answer<T: Copy + Default, E>(
        &self,
        answers: &mut [T],
        mut look_up: impl FnMut(&[A], &mut [T]) -> Result<(), E>,
    ) -> Result<(), E> {
        // The usual case: all rows are of this family.
        if self.len() == answers.len() && !self.is_empty() {
            return look_up(self, answers);
        }
        let mut found = [T::default(); BLOCK];
        for (addresses, rows) in self.chunks(BLOCK).zip(self.rows.chunks(BLOCK)) {
            let found = &mut found[..rows.len()];
            look_up(addresses, found)?;
            scatter(rows, found, answers);
        }
        Ok(())
    }
}

impl<A: Family> FamilyAddresses<A> {
    /// The address at this place if it is that of `row`, and the place, which goes on to the next.
    #[inline]
    fn take(&self, at: &mut usize, row: u32) -> Option<(IpAddr, usize)> {
        (self.rows.get(*at) == Some(&row)).then(|| {
            *at += 1;
            (self[*at - 1].ip(), *at - 1)
        })
    }
}

#[inline(always)]
fn scatter<T: Copy>(rows: &[u32], found: &[T], answers: &mut [T]) {
    for (&row, &found) in rows.iter().zip(found) {
        answers[row as usize] = found;
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn column(rows: &[Option<IpAddr>]) -> AddressColumn {
        let mut column = AddressColumn::new();
        rows.iter().for_each(|address| column.push(*address));
        column
    }

    fn rows(column: &AddressColumn) -> Vec<Option<IpAddr>> {
        column.iter().map(|found| Some(found?.0)).collect()
    }

    #[test]
    fn neighbours_of_a_kind_are_one_run() {
        let mut column = AddressColumn::new();
        column.extend_ipv4([]);
        assert!(column.is_empty() && column.runs().next().is_none());
        column.extend_ipv4([1, 2]);
        column.push(IpAddr::from([0, 0, 0, 3]));
        column.push(None);
        column.push(None);
        column.push(4u128.ip());
        column.push(5u128.ip());
        column.push(IpAddr::from([0, 0, 0, 6]));
        assert_eq!(**column.ipv4(), [1, 2, 3, 6]);
        assert_eq!(**column.ipv6(), [4, 5]);
        let runs = [
            AddressRun::Ipv4(3),
            AddressRun::Missing(2),
            AddressRun::Ipv6(2),
            AddressRun::Ipv4(1),
        ];
        assert!(column.runs().eq(runs));
        column.push(None);
        assert_eq!(column.runs().last(), Some(AddressRun::Missing(1)));
        assert_eq!(column.len(), 9);
        column.clear();
        assert!(column.is_empty() && column.ipv4().is_empty());
        assert_eq!((column.len(), column.runs().count()), (0, 0));
    }

    /// Rows of all three kinds, of one alone, and more than are answered at a time.
    #[test]
    fn answers_come_to_their_rows() {
        let cases: [(u32, &[u32]); 6] = [
            (0, &[4]),
            (300, &[4]),
            (300, &[6]),
            (300, &[0]),
            (5, &[4, 6, 0]),
            (2000, &[4, 6, 0]),
        ];
        for (count, kinds) in cases {
            let row = |at: u32| match kinds
                [(at.wrapping_mul(0x9e37_79b9) >> 16) as usize % kinds.len()]
            {
                4 => Some(at.ip()),
                6 => Some(u128::from(at).ip()),
                _ => None,
            };
            let all: Vec<_> = (0..count).map(row).collect();
            let known = column(&all);
            assert_eq!(rows(&known), all);
            let number = |address: IpAddr| match address {
                IpAddr::V4(address) => u64::from(address.to_bits()),
                IpAddr::V6(address) => 1 << 32 | address.to_bits() as u64,
            };
            let mut answers = vec![u64::MAX; all.len()];
            fn look_up<A: Family>(
                addresses: &FamilyAddresses<A>,
                number: impl Fn(IpAddr) -> u64,
                answers: &mut [u64],
            ) {
                let Ok(()) = addresses.answer(answers, |addresses, found| {
                    assert!(!addresses.is_empty());
                    for (address, found) in addresses.iter().zip(found) {
                        *found = number(address.ip());
                    }
                    Ok::<_, Infallible>(())
                });
            }
            look_up(known.ipv4(), number, &mut answers);
            look_up(known.ipv6(), number, &mut answers);
            let wanted = all.iter().map(|address| address.map_or(u64::MAX, number));
            assert!(wanted.eq(answers), "{count} {kinds:?}");
            let mut chosen = FamilyAddresses::default();
            chosen.choose(known.ipv4(), |row| row % 3 == 0);
            let is_kept = |(_, row): &(&u32, &u32)| *row % 3 == 0;
            let kept = known.ipv4().iter().zip(&known.ipv4().rows);
            let chosen = chosen.addresses.iter().zip(&chosen.rows);
            assert!(chosen.eq(kept.filter(is_kept)));
        }
    }

    #[test]
    fn mapped_addresses_become_ipv4_in_their_rows() {
        let of =
            |texts: &[&str]| -> Vec<_> { texts.iter().map(|text| text.parse().ok()).collect() };
        let mut column = column(&of(&[
            "::ffff:1.2.3.4",
            "-",
            "::1",
            "5.6.7.8",
            "::ffff:9.9.9.9",
        ]));
        column.unmap();
        assert_eq!(
            rows(&column),
            of(&["1.2.3.4", "-", "::1", "5.6.7.8", "9.9.9.9"])
        );
    }
}
