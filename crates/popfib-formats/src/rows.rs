//! What grammars hand out: routes and faults.
//!
//! Here is what they have in common: [`Rows`] knows of host bits and of names,
//! takes the first of several routes for one prefix, and sees to it that a file
//! is one table.

use std::mem;

use popfib::IpPrefix;

use crate::Route;
use crate::error::quote;
use crate::name_rule::checked;

/// What a grammar has found, and what all grammars have to know.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    mask: bool,
    line: u64,
    found: Option<IpPrefix>,
    value: String,
    flaw: Option<(u64, String)>,
    /// The prefix of the last route of the current table.
    last: Option<IpPrefix>,
    /// The current table, and those whose IPv4 and IPv6 routes are taken.
    table: String,
    taken: [Option<String>; 2],
    /// The families in which the current table was refused.
    refused: [bool; 2],
}

impl Rows {
    /// Nothing found yet. With `mask`, host bits are cleared and no error.
    pub(crate) fn new(mask: bool) -> Self {
        Self {
            mask,
            ..Self::default()
        }
    }

    /// Whether a route waits to be taken.
    pub(crate) fn has_found(&self) -> bool {
        self.found.is_some()
    }

    /// Whether there is nothing to be taken, neither route nor fault.
    pub(crate) fn is_idle(&self) -> bool {
        self.found.is_none() && self.flaw.is_none()
    }

    /// The route found.
    pub(crate) fn take_found(&mut self) -> Option<Route<'_>> {
        let prefix = self.found.take()?;
        Some(Route {
            prefix,
            next_hop: &self.value,
        })
    }

    /// The line and the reason of a fault found.
    pub(crate) fn take_flaw(&mut self) -> Option<(u64, String)> {
        self.flaw.take()
    }

    /// What is found from here on stands in the line with this number.
    pub(crate) fn at_line(&mut self, line: u64) {
        self.line = line;
    }

    /// The number of the current line.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// A prefix as written, with its length.
    pub(crate) fn prefix(&self, text: &str) -> Result<IpPrefix, String> {
        let prefix = if self.mask {
            IpPrefix::parse_masked(text)
        } else {
            text.parse()
        };
        prefix.map_err(|e| format!("{}: {e}", quote(text.as_bytes())))
    }

    /// The routes from here on belong to the table called `name`; a listing
    /// begins in the table without a name.
    pub(crate) fn table(&mut self, name: &str) {
        if self.table != name {
            name.clone_into(&mut self.table);
            self.refused = [false; 2];
        }
        self.last = None;
    }

    /// Whether there were any routes so far.
    pub(crate) fn has_routes(&self) -> bool {
        self.taken.iter().any(Option::is_some)
    }

    /// Finds a route in the current line, unless it is one more for the same prefix.
    pub(crate) fn route(&mut self, prefix: IpPrefix, value: &str) {
        self.route_of(self.line, prefix, value);
    }

    /// As [`Rows::route`], for one that began in this line.
    pub(crate) fn route_of(&mut self, line: u64, prefix: IpPrefix, value: &str) {
        debug_assert!(self.found.is_none(), "more than one route of a line");
        if self.last.replace(prefix) == Some(prefix) {
            return;
        }
        let family = usize::from(matches!(prefix, IpPrefix::V6(_)));
        let taken = self.taken[family].get_or_insert_with(|| self.table.clone());
        if *taken == self.table {
            match checked(value) {
                Ok(value) => {
                    self.found = Some(prefix);
                    value.clone_into(&mut self.value);
                }
                Err(reason) => self.complain(line, reason),
            }
        } else if !mem::replace(&mut self.refused[family], true) {
            let name = |table: &str| match table {
                "" => "the main table".to_owned(),
                name => format!("table {}", quote(name.as_bytes())),
            };
            let reason = format!(
                "routes of {} begin here, behind those of {}; a file is one table",
                name(&self.table),
                name(taken),
            );
            self.complain(line, reason);
        }
    }

    /// Finds fault with a line, which may lie behind; the first flaw is told.
    pub(crate) fn complain(&mut self, line: u64, reason: String) {
        self.flaw.get_or_insert((line, reason));
    }

    /// Finds fault with an earlier line that lacks what should have followed it.
    pub(crate) fn no_next_hop(&mut self, line: u64, prefix: IpPrefix) {
        self.complain(line, format!("no next hop behind \"{prefix}\""));
    }
}
