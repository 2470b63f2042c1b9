//! Tables in, the routes out that no address shows: the page finds all others in the compiled longest matches, which are a third of the
//! size of the routes.

use std::fmt::Write;

use popfib::family::Family;
use popfib::{NextHop, Prefix};
use popfib_table::{Table, TableError};

/// The routes that are no address's longest match, as longer ones take all of theirs: a line `TABLE PREFIX RECORD` for each, where the
/// first table is 0.
///
/// O(routes) time.
///
/// # Errors
/// [`TableError::NoRoutes`].
pub(crate) fn hidden_routes<'t>(
    tables: impl IntoIterator<Item = &'t Table>,
) -> Result<String, TableError> {
    let mut lines = String::new();
    for (number, table) in tables.into_iter().enumerate() {
        hidden(number, table.ipv4().routes()?, &mut lines);
        hidden(number, table.ipv6().routes()?, &mut lines);
    }
    Ok(lines)
}

fn hidden<A: Family>(
    table: usize,
    routes: impl Iterator<Item = (Prefix<A>, NextHop)>,
    lines: &mut String,
) {
    // The routes that cover the present one.
    let mut open: Vec<OpenRoute<A>> = Vec::new();
    let mut close = |open: &mut Vec<OpenRoute<A>>| {
        let Some(route) = open.pop() else {
            return;
        };
        let size = size(route.prefix);
        if route.has_longer && route.taken == size {
            let (prefix, record) = (A::ip_prefix(route.prefix), route.record.get());
            // Writing to a text cannot fail.
            let _ = writeln!(lines, "{table} {prefix} {record}");
        }
        if let Some(outer) = open.last_mut() {
            outer.has_longer = true;
            outer.taken = outer.taken.wrapping_add(size);
        }
    };
    for (prefix, record) in routes {
        while open
            .last()
            .is_some_and(|route| !route.prefix.covers(&prefix))
        {
            close(&mut open);
        }
        open.push(OpenRoute {
            prefix,
            record,
            has_longer: false,
            taken: 0,
        });
    }
    while !open.is_empty() {
        close(&mut open);
    }
}

/// A route whose longer ones are being counted.
struct OpenRoute<A> {
    prefix: Prefix<A>,
    record: NextHop,
    has_longer: bool,
    /// The addresses that longer ones have taken of it, as [`size`] counts.
    taken: u128,
}

/// The number of addresses of a prefix, modulo 2^128.
fn size<A: Family>(prefix: Prefix<A>) -> u128 {
    let host_bits = u32::from(A::WIDTH - prefix.len());
    1u128.checked_shl(host_bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_routes_are_those_without_addresses_of_their_own() {
        let lines = |routes: &[&str]| {
            let routes = routes.iter().map(|text| text.parse().unwrap());
            let mut lines = String::new();
            hidden::<u128>(7, routes.map(|prefix| (prefix, NextHop::MIN)), &mut lines);
            lines
        };
        assert_eq!(lines(&[]), "");
        assert_eq!(lines(&["::/0"]), "");
        assert_eq!(lines(&["::/0", "::/1"]), "");
        assert_eq!(lines(&["::/0", "::/1", "8000::/1"]), "7 ::/0 1\n");
        assert_eq!(
            lines(&["2000::/3", "2000::/4", "2000::/5", "2800::/5", "3000::/4"]),
            "7 2000::/4 1\n7 2000::/3 1\n"
        );
        assert_eq!(lines(&["::/126", "::/128", "::1/128", "::2/128"]), "");
    }
}
