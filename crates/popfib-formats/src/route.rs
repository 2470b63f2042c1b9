//! What every format yields: routes, one at a time ([`RouteSource`]).
//!
//! To the rest of popfib a format is nothing else: a prefix, the number of its value, and at the end the values and what was left out.

use popfib::image::Source;
use popfib::{IpPrefix, NextHop};

use crate::error::ReadError;
use crate::peers::Peer;
use crate::values::ValueBook;

/// One route of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The prefix; no host bits set.
    pub prefix: IpPrefix,
    /// The number of its value among those of the [source](RouteSource::values): of a text that stands for the next hop, an
    /// address, an AS number, any name; or of a record. `None` if it is absent, or in a value-less list.
    pub value: Option<NextHop>,
}

/// A stream of routes, in the order of its file.
pub trait RouteSource: Send {
    /// The next route; `None` at the end.
    ///
    /// # Errors
    /// A [`ReadError`] that names the place. After one that
    /// [concerns a single line](ReadError::is_invalid_line), the next call goes
    /// on after that line; any other ends the source.
    fn next_route(&mut self) -> Result<Option<Route>, ReadError>;

    /// Whether the last route is the first one of ranges, which [`begin_ranges`](Self::begin_ranges) may begin again; says so once.
    fn is_at_ranges(&mut self) -> bool {
        false
    }

    /// The last route, the first one of ranges, counts for nothing: the routes `before` all ranges are handed out again among them,
    /// the narrowest last.
    fn begin_ranges(&mut self, _before: Vec<Route>) {}

    /// The values of the routes so far.
    fn values(&mut self) -> &mut ValueBook;

    /// The table of the last route, among the tables of a file with several: its number in the order of their first routes, from 0,
    /// and its name.
    fn table(&self) -> Option<(usize, &str)> {
        None
    }

    /// Which updates were applied, for the user; `None` where there are none to apply.
    fn applied(&self) -> Option<String> {
        None
    }

    /// What was left out so far without being an error, for the user: a line
    /// for each kind, such as `3 records of unknown types left out`.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether a file without an error, in which there is no route and nothing was left out, is a list of none: not where damage
    /// would look the same.
    fn says_none(&self) -> bool {
        true
    }

    /// Whether routes have values, one that is absent included: false for a value-less list, and where one value is read by formats
    /// in which each route has one.
    fn has_values(&self) -> bool {
        false
    }

    /// What the file says of where its routes come from; empty where it says nothing.
    fn sources(&self) -> Vec<Source> {
        Vec::new()
    }

    /// The peers met so far, each with how many routes it has, wanted or not;
    /// none in formats that know of no peers.
    fn peers(&self) -> &[Peer] {
        &[]
    }
}
