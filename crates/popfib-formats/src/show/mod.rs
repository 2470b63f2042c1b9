//! Listings: what routers print when asked for their routes.
//!
//! A [`Grammar`] knows one family of such texts and is fed line by line; the
//! [`Listing`] around it is the [`RouteSource`]. Common to all of them:
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

use std::fmt;
use std::str;

use crate::lines::Lines;
use crate::rows::Rows;
use crate::{Input, ReadError, Route, RouteSource};

/// One family of listings.
pub(crate) trait Grammar: Send {
    /// Reads the next line, without its end; hands at most one route to `rows`.
    ///
    /// An error concerns this line alone.
    fn line(&mut self, line: &str, rows: &mut Rows) -> Result<(), String>;

    /// The listing is over: hands out what was waiting for more lines, at most
    /// one route. Called until there is nothing left.
    fn end(&mut self, rows: &mut Rows);
}

/// The [`RouteSource`] of a grammar.
pub(crate) struct Listing<G> {
    lines: Lines,
    grammar: G,
    rows: Rows,
    at_end: bool,
}

impl<G: Grammar + Default> Listing<G> {
    /// Reads routes from `input`. With `mask`, host bits are cleared and no error.
    pub(crate) fn new(input: Input, mask: bool) -> Self {
        Self {
            lines: Lines::new(input),
            grammar: G::default(),
            rows: Rows::new(mask),
            at_end: false,
        }
    }
}

impl<G: Grammar> RouteSource for Listing<G> {
    fn next_route(&mut self) -> Result<Option<Route<'_>>, ReadError> {
        loop {
            if let Some((line, reason)) = self.rows.take_flaw() {
                return Err(self.lines.invalid_at(line, reason));
            }
            if self.rows.has_found() {
                return Ok(self.rows.take_found());
            }
            if self.at_end {
                self.grammar.end(&mut self.rows);
                if self.rows.is_idle() {
                    return Ok(None);
                }
                continue;
            }
            self.rows.at_line(self.lines.number() + 1);
            if !self.lines.advance()? {
                self.at_end = true;
                continue;
            }
            let line = text(self.lines.line());
            if let Err(reason) = line.and_then(|line| self.grammar.line(line, &mut self.rows)) {
                self.rows.complain(self.rows.line(), reason);
            }
        }
    }
}

impl<G> fmt::Debug for Listing<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing")
            .field("lines", &self.lines)
            .finish_non_exhaustive()
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
