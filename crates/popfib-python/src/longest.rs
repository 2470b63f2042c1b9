//! What knows the longest matches of one family, prefix and number of the value.
//!
//! `LongestFib` stands beside the Fib of values, and only where somebody asks for prefixes: columns of values are most of
//! what is asked, and must not pay for prefixes. An image has a Fib of route numbers, which serves as well.

use popfib::{Address, ImageTable, Kernel, LongestFib, NextHop, Prefix, Rib};

/// What knows the longest matches of a family.
#[derive(Clone, Copy)]
pub(crate) enum Longest<'a, A: Address> {
    Fib(&'a LongestFib<A>),
    Image(&'a ImageTable<A>),
    Rib(&'a Rib<A>),
}

impl<A: Address> Longest<'_, A> {
    #[inline]
    pub(crate) fn find(self, address: A) -> Option<(Prefix<A>, NextHop)> {
        match self {
            Self::Fib(fib) => fib.longest_match(address),
            Self::Image(table) => table.longest_match(address),
            Self::Rib(rib) => rib.longest_match(address),
        }
    }

    /// Hands out the match of each address, with its place.
    pub(crate) fn each(
        self,
        addresses: &[A],
        mut found: impl FnMut(usize, Option<(Prefix<A>, NextHop)>),
    ) {
        let kernel = Kernel::best();
        match self {
            Self::Fib(fib) => fib.longest_matches_with(kernel, addresses, found),
            Self::Image(table) => {
                if let Some(fib) = table.route_fib() {
                    fib.lookup_each_with(kernel, addresses, |row, route| {
                        found(row, table.route(route));
                    });
                }
            }
            Self::Rib(rib) => {
                let matches = addresses.iter().map(|address| rib.longest_match(*address));
                matches
                    .enumerate()
                    .for_each(|(row, route)| found(row, route));
            }
        }
    }
}
