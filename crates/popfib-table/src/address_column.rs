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
    /// The addresses and the row of each, in order, and after them room for more, which has been used before: so a block of rows
    /// is filled in without asking for memory at each.
    addresses: Vec<A>,
    rows: Vec<u32>,
    len: usize,
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
        (self.ipv4.len, self.ipv6.len, self.len) = (0, 0, 0);
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
        let ipv4 = &mut self.ipv4;
        let before = ipv4.len;
        ipv4.addresses.truncate(before);
        ipv4.rows.truncate(before);
        ipv4.addresses.extend(addresses);
        ipv4.len = ipv4.addresses.len();
        let end = self.len + (ipv4.len - before) as u32;
        ipv4.rows.extend(self.len..end);
        self.len = end;
    }

    /// Replaces what is there by `count` rows, with what `read` finds for each.
    ///
    /// # Errors
    /// The first row for which `read` fails, and its error. The column has no rows then.
    #[inline(always)]
    pub fn fill<E>(
        &mut self,
        count: usize,
        mut read: impl FnMut(usize) -> Result<Option<IpAddr>, E>,
    ) -> Result<(), (usize, E)> {
        self.clear();
        let (addresses_4, rows_4) = self.ipv4.room(count);
        let (addresses_6, rows_6) = self.ipv6.room(count);
        let (mut len_4, mut len_6) = (0, 0);
        for row in 0..count {
            match read(row).map_err(|error| (row, error))? {
                Some(IpAddr::V4(address)) => {
                    (addresses_4[len_4], rows_4[len_4]) = (address.into(), row as u32);
                    len_4 += 1;
                }
                Some(IpAddr::V6(address)) => {
                    (addresses_6[len_6], rows_6[len_6]) = (address.into(), row as u32);
                    len_6 += 1;
                }
                None => {}
            }
        }
        (self.ipv4.len, self.ipv6.len, self.len) = (len_4, len_6, count as u32);
        Ok(())
    }

    /// Replaces what is there by the rows of `all`; those that are not chosen have no address.
    pub fn choose(&mut self, all: &Self, is_chosen: impl Fn(u32) -> bool) {
        self.clear();
        self.ipv4.choose(&all.ipv4, &is_chosen);
        self.ipv6.choose(&all.ipv6, is_chosen);
        self.len = all.len;
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
        let [mut ipv4, mut ipv6] = [self.ipv4.rows(), self.ipv6.rows()]
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
        &self.addresses[..self.len]
    }
}

impl<A: Copy + Default> FamilyAddresses<A> {
    /// The row of each, in order.
    #[inline]
    pub fn rows(&self) -> &[u32] {
        &self.rows[..self.len]
    }

    /// Places for `count` addresses and their rows from the first on.
    fn room(&mut self, count: usize) -> (&mut [A], &mut [u32]) {
        if self.addresses.len() < count || self.rows.len() < count {
            self.addresses.resize(count, A::default());
            self.rows.resize(count, 0);
        }
        (&mut self.addresses[..count], &mut self.rows[..count])
    }

    /// Adds an address of this row, which comes after those that are there.
    #[inline(always)]
    fn push(&mut self, row: u32, address: A) {
        let at = self.len;
        if at == self.addresses.len() || at == self.rows.len() {
            self.grow();
        }
        (self.addresses[at], self.rows[at]) = (address, row);
        self.len += 1;
    }

    #[cold]
    fn grow(&mut self) {
        self.room((2 * self.len).max(64));
    }

    /// Adds the addresses of `all` whose rows are chosen.
    fn choose(&mut self, all: &Self, is_chosen: impl Fn(u32) -> bool) {
        for (&row, &address) in all.rows().iter().zip(&**all) {
            if is_chosen(row) {
                self.push(row, address);
            }
        }
    }

    /// Puts what was `found` for each into its row's place in `answers`.
    #[inline]
    pub fn scatter<T: Copy>(&self, found: &[T], answers: &mut [T]) {
        scatter(self.rows(), found, answers);
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
        for (addresses, rows) in self.chunks(BLOCK).zip(self.rows().chunks(BLOCK)) {
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
        (self.rows().get(*at) == Some(&row)).then(|| {
            *at += 1;
            (self[*at - 1].ip(), *at - 1)
        })
    }
}

/// The address of 4 or 16 bytes in network order; `None` of any other number of bytes.
#[inline(always)]
pub fn packed_ip(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => Some(IpAddr::from(*bytes.first_chunk::<4>()?)),
        16 => Some(IpAddr::from(*bytes.first_chunk::<16>()?)),
        _ => None,
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
            // Over what was there before.
            let mut other = column(&[Some(9u128.ip()), None, Some(9u32.ip())]);
            let is_kept = |row: usize| row.is_multiple_of(3);
            other.choose(&known, |row| is_kept(row as usize));
            let kept = (0..)
                .zip(&all)
                .map(|(row, address)| address.filter(|_| is_kept(row)));
            assert!(kept.eq(rows(&other)));
            let Ok(()) = other.fill(all.len(), |row| Ok::<_, Infallible>(all[row]));
            assert_eq!(rows(&other), all);
            other.extend_ipv4([7]);
            other.push(7u128.ip());
            assert_eq!(
                rows(&other)[all.len()..],
                [Some(7u32.ip()), Some(7u128.ip())]
            );
            if let Some(last) = all.len().checked_sub(1) {
                let read = |row| if row == last { Err("it") } else { Ok(None) };
                assert_eq!(other.fill(all.len(), read), Err((last, "it")));
                assert!(other.is_empty() && other.ipv4().is_empty());
            }
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
