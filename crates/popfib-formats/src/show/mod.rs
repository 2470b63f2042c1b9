//! Listings: what routers print when asked for their routes.
//!
//! A [`Grammar`] knows one family of such texts and is fed line by line; the
//! routes it finds come out of the [`RouteSource`] that [`open`] makes. Common to all of them:
//!
//! - A route's value is its next hop's address; for connected networks the
//!   interface; for routes that drop or reject the router's word for that.
//!   Of several next hops it is the first that can be used.
//! - Where a listing marks which routes are selected, the others are left out;
//!   of routes of one prefix that follow each other, the first is taken.
//! - A listing may hold several tables (of VRFs, of both families), but what is
//!   loaded is one: routes of a second table in the same family are an error,
//!   once for each table. Skipping it leaves the first.
//! - Headings, legends, totals and prompts are known by their words. What is
//!   neither these nor a route is an error.

pub(crate) mod bgp;
pub(crate) mod bird;
pub(crate) mod coded;
pub(crate) mod junos;
pub(crate) mod nxos;
pub(crate) mod panos;
pub(crate) mod routeros;
pub(crate) mod vrp;
mod words;

use std::str;

use crate::lines::Lines;
use crate::rows::{Pieces, RowSource, Rows};
use crate::{Input, LoadOptions, ReadError, RouteSource};

/// One family of listings.
pub(crate) trait Grammar: Send {
    /// Reads the next line, without its end; hands at most one route to `rows`.
    ///
    /// An error concerns this line alone.
    fn line(&mut self, line: &str, rows: &mut Rows) -> Result<(), String>;

    /// As [`Pieces::end`].
    fn end(&mut self, _: &mut Rows) {}

    /// As [`RouteSource::notes`].
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Opens a listing in this grammar.
pub(crate) fn open<G: Grammar + Default + 'static>(
    input: Input,
    options: &LoadOptions,
) -> Result<Box<dyn RouteSource>, ReadError> {
    Ok(listing(G::default(), input, options.mask))
}

/// The listing that `grammar` makes of `input`.
pub(crate) fn listing(
    grammar: impl Grammar + 'static,
    input: Input,
    mask: bool,
) -> Box<dyn RouteSource> {
    let lines = Lines::new(input);
    Box::new(RowSource::new(Listing { lines, grammar }, mask))
}

struct Listing<G> {
    lines: Lines,
    grammar: G,
}

impl<G: Grammar> Pieces for Listing<G> {
    fn advance(&mut self, rows: &mut Rows) -> Result<bool, ReadError> {
        rows.at_line(self.lines.number() + 1);
        if !self.lines.advance()? {
            return Ok(false);
        }
        let line = text(self.lines.line());
        if let Err(reason) = line.and_then(|line| self.grammar.line(line, rows)) {
            rows.complain(rows.line(), reason);
        }
        Ok(true)
    }

    fn end(&mut self, rows: &mut Rows) {
        self.grammar.end(rows);
    }

    fn invalid(&self, line: u64, reason: String) -> ReadError {
        self.lines.invalid_at(line, reason)
    }

    fn notes(&self) -> Vec<String> {
        self.grammar.notes()
    }
}

/// A line as text without control characters but tabs.
pub(crate) fn text(line: &[u8]) -> Result<&str, String> {
    let line = str::from_utf8(line).map_err(|_| "this is not text: invalid UTF-8".to_owned())?;
    match line.chars().find(|&c| c.is_control() && c != '\t') {
        None => Ok(line),
        Some(c) => Err(format!(
            "this is not text: control character U+{:04X}",
            u32::from(c)
        )),
    }
}
