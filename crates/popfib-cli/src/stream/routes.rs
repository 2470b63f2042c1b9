//! What answers: routes of a table that is compiled here, or an image as it is.
//!
//! An image has all that annotating needs compiled already: the FIB of next
//! hops, and that of longest matches.

use popfib::{Address, Fib, ImageTable, LongestFib, NextHop, Options, Prefix, Rib};
use popfib_formats::RouteTable;
use popfib_table::{IPV4_TEXT, IPV6_TEXT, write_ipv4, write_ipv6};

use crate::failure::Failure;
use crate::image::Opened;

pub(crate) enum Routes {
    Table(Box<RouteTable>),
    Image(Box<Opened>),
}

/// Keys that are IP addresses.
pub(crate) trait Family: Address {
    /// The routes of the family.
    fn rib(table: &RouteTable) -> &Rib<Self>;

    /// Writes the address; says how many bytes that takes.
    fn write(self, text: &mut [u8; IPV6_TEXT]) -> usize;
}

impl Family for u32 {
    fn rib(table: &RouteTable) -> &Rib<Self> {
        &table.ipv4
    }

    #[inline]
    fn write(self, text: &mut [u8; IPV6_TEXT]) -> usize {
        let text: &mut [u8; IPV4_TEXT] = text.first_chunk_mut().expect("IPv6 is longer");
        write_ipv4(self, text)
    }
}

impl Family for u128 {
    fn rib(table: &RouteTable) -> &Rib<Self> {
        &table.ipv6
    }

    #[inline]
    fn write(self, text: &mut [u8; IPV6_TEXT]) -> usize {
        write_ipv6(self, text)
    }
}

/// What stands for a next hop without a name.
const NAMELESS: &str = "-";

impl Routes {
    /// The routes of the image, of which prefixes are asked for too if `with_prefixes`.
    pub(crate) fn of_image(opened: Opened, with_prefixes: bool) -> Result<Self, Failure> {
        let lacks_routes = opened.lacks_routes::<u32>() || opened.lacks_routes::<u128>();
        if lacks_routes && with_prefixes {
            let what = "name the matched prefix; --value-only does without";
            return Err(opened.without_routes(what));
        }
        if opened.image.name_count().is_none() {
            return Ok(Self::Table(Box::new(opened.into_table()?)));
        }
        Ok(Self::Image(Box::new(opened)))
    }

    /// Whether they say which prefix matched.
    pub(crate) fn have_prefixes(&self) -> bool {
        match self {
            Self::Table(_) => true,
            Self::Image(opened) => !(opened.lacks_routes::<u32>() || opened.lacks_routes::<u128>()),
        }
    }

    /// How many next hops have names.
    pub(crate) fn name_count(&self) -> u32 {
        match self {
            Self::Table(table) => table.next_hops.len() as u32,
            Self::Image(opened) => opened.image.name_count().unwrap_or(0),
        }
    }

    /// The names of all next hops, in the order of their numbers from 1 on.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        (1..=self.name_count())
            .filter_map(NextHop::new)
            .map(|n| self.name(n))
    }

    pub(crate) fn name(&self, next_hop: NextHop) -> &str {
        let name = match self {
            Self::Table(table) => table.next_hops.get(next_hop),
            Self::Image(opened) => opened.image.name(next_hop),
        };
        name.unwrap_or(NAMELESS)
    }

    /// A FIB that answers next hops.
    pub(crate) fn fib<A: Family>(&self) -> Result<Fib<A, u32>, Failure> {
        match self {
            Self::Table(table) => Ok(Fib::compile(A::rib(table), &Options::default())?),
            Self::Image(opened) => opened.fib(),
        }
    }

    /// A FIB that answers longest matches.
    pub(crate) fn longest<A: Family>(&self) -> Result<LongestFib<A>, Failure> {
        match self {
            Self::Table(table) => Ok(LongestFib::compile(A::rib(table), &Options::default())?),
            Self::Image(opened) => {
                let table = opened.image.table::<A>();
                match table.and_then(|table| table.longest_fib()) {
                    Some(longest) => Ok(longest.clone()),
                    // It has no routes of this family.
                    None => Ok(LongestFib::compile(&Rib::new(), &Options::default())?),
                }
            }
        }
    }

    /// A FIB that answers the numbers of the routes, from 1 on as they are handed to `each`: for what has a place for
    /// each route that matched.
    pub(crate) fn numbered<A: Family>(
        &self,
        mut each: impl FnMut(Prefix<A>, NextHop),
    ) -> Result<Fib<A, u32>, Failure> {
        let mut numbered = Rib::new();
        let mut number = NextHop::MIN;
        let mut take = |(prefix, next_hop)| {
            each(prefix, next_hop);
            numbered.insert(prefix, number);
            // A Rib holds fewer routes than there are numbers.
            number = number.saturating_add(1);
        };
        match self {
            Self::Table(table) => A::rib(table).iter().for_each(&mut take),
            Self::Image(opened) => {
                let table = opened.image.table::<A>().into_iter();
                table.flat_map(ImageTable::routes).for_each(&mut take);
            }
        }
        Ok(Fib::compile(&numbered, &Options::default())?)
    }
}

/// The text of a prefix, which lies in `text`.
pub(crate) fn spell<A: Family>(prefix: Prefix<A>, text: &mut [u8; IPV6_TEXT + 4]) -> &str {
    let (address, _) = text.split_first_chunk_mut().expect("there are as many");
    let mut len = prefix.address().write(address);
    text[len] = b'/';
    len += 1;
    let digits = prefix.len();
    for unit in [100, 10, 1] {
        if digits >= unit || unit == 1 {
            text[len] = b'0' + digits / unit % 10;
            len += 1;
        }
    }
    std::str::from_utf8(&text[..len]).expect("digits and marks are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_spelled_as_they_display() {
        let mut text = [0; IPV6_TEXT + 4];
        for len in 0..=128 {
            for bits in [
                0,
                u128::MAX,
                0x2001_0db8 << 96 | 0xc0a8_0a01,
                0xffff_0102_0304,
            ] {
                let prefix = Prefix::new_masked(bits, len).unwrap();
                assert_eq!(spell(prefix, &mut text), prefix.to_string());
                if let Ok(prefix) = Prefix::new_masked(bits as u32, len) {
                    assert_eq!(spell(prefix, &mut text), prefix.to_string());
                }
            }
        }
    }
}
