//! What grammars hand out: routes and faults. Prefixes and values in, checked [`Route`]s out.
//!
//! Here is what they have in common: [`RouteRows`] knows of host bits and of names,
//! takes the first of several routes for one prefix, and sees to it that a file
//! is one table, or which of its tables is read. Lists of prefixes go by rules of their
//! own: each element counts, and there may be no values.
//!
//! Each piece is accounted for ([`Account`]): a prefix in it is read, or the grammar says what else it is.
//!
//! A line may give many routes or none, and be at fault for an earlier one; so routes and the first fault wait here until they are
//! taken. Values are numbered at once, by the [`ValueBook`] of the file.

use std::mem;

use popfib::{IpPrefix, NextHop};
use popfib_table::{Dictionary, TableSet};

use crate::account::Account;
use crate::as_path;
use crate::error::{not, quote};
use crate::name_rule::checked;
use crate::names::note_left_out;
use crate::peers::RouteValue;
use crate::ranges::{AddressSpan, IpRangePrefixes, Notation, no_prefix, prefix};
use crate::route::Route;
use crate::table_format::LoadOptions;
use crate::values::ValueBook;
use crate::words::not_a_route;

/// Why a route that the router does not use is left out.
const UNUSED: &str = " that the router does not use";

/// The value of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowValue<'a> {
    /// A text; the empty one is absent, or that of a list without values.
    Text(&'a str),
    /// The record at hand of [`RouteRows::values`].
    Record,
}

impl<'a> From<&'a str> for RowValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

/// One of several routes for a prefix, of which the router uses the one with the lowest metric.
#[derive(Debug)]
pub(crate) struct MetricRoute {
    pub(crate) line: u64,
    pub(crate) prefix: IpPrefix,
    pub(crate) metric: u64,
    pub(crate) table: String,
    /// Empty if its next hop is missing.
    pub(crate) value: String,
}

/// What a grammar has found and nobody has taken, and what all grammars have to know.
#[derive(Debug, Default)]
pub(crate) struct RouteRows {
    /// The values of all routes, into which a grammar puts records.
    pub(crate) values: ValueBook,
    notation: Notation,
    line: u64,
    account: Account,
    /// What was found, and how many of them are taken.
    found: Vec<(Route, Option<NextHop>)>,
    handed_out: usize,
    flaw: Option<(u64, String)>,
    /// The prefix of the last route of the current table.
    last: Option<IpPrefix>,
    /// The current table, and those whose IPv4 and IPv6 routes are taken.
    table: String,
    taken: [Option<String>; 2],
    /// The families in which the current table was refused.
    refused: [bool; 2],
    /// If every table is read, the names of those with routes, the number of the current one, and that of the last route taken.
    tables: Option<Dictionary>,
    current: Option<NextHop>,
    table_of_last: Option<NextHop>,
    /// The table to read, if one was chosen, and how many routes of others there were.
    chosen: Option<String>,
    others: u64,
    /// Whether the elements of a list have no values, as its first has none.
    is_bare: Option<bool>,
    /// Whether an element of a list with values may have none.
    may_lack: bool,
    /// How many elements were for some lengths only.
    bounded: u64,
    /// Whether the value of a route is its origin AS.
    wants_origin: bool,
    /// The best so far of the routes with metrics for one prefix that follow each other.
    best: Option<MetricRoute>,
    /// The prefix of the last route that the router does not use, unless one that it uses came beside it.
    unused: Option<IpPrefix>,
    /// The router's own AS, if the listing names it.
    local_as: Option<u32>,
}

impl RouteRows {
    /// Nothing found yet.
    pub(crate) fn new(mut values: ValueBook, options: &LoadOptions) -> Self {
        values.is_ignored = options.prefixes_only;
        Self {
            values,
            notation: options.notation(),
            chosen: options.table.clone(),
            tables: options.every_table.then(Dictionary::new),
            wants_origin: options.value == RouteValue::OriginAs,
            ..Self::default()
        }
    }

    /// Whether a route waits to be taken.
    pub(crate) fn has_found(&self) -> bool {
        self.handed_out < self.found.len()
    }

    /// Whether there is nothing to be taken, neither route nor fault.
    pub(crate) fn is_idle(&self) -> bool {
        !self.has_found() && self.flaw.is_none()
    }

    /// The next of the routes found.
    pub(crate) fn take_found(&mut self) -> Option<Route> {
        let (route, table) = *self.found.get(self.handed_out)?;
        self.handed_out += 1;
        self.table_of_last = table;
        Some(route)
    }

    /// As [`RouteSource::table`](crate::RouteSource::table).
    pub(crate) fn table_of_last(&self) -> Option<(usize, &str)> {
        let (tables, number) = self.tables.as_ref().zip(self.table_of_last)?;
        Some((number.get() as usize - 1, tables.get(number)?))
    }

    /// Keeps a route until it is taken.
    fn push(&mut self, prefix: IpPrefix, value: Option<NextHop>) {
        self.account.known();
        if !self.has_found() {
            self.found.clear();
            self.handed_out = 0;
        }
        if let (Some(tables), None) = (&mut self.tables, self.current) {
            self.current = Some(tables.intern(&self.table));
        }
        self.found.push((Route { prefix, value }, self.current));
    }

    /// The line and the reason of a fault found.
    pub(crate) fn take_flaw(&mut self) -> Option<(u64, String)> {
        self.flaw.take()
    }

    /// What is found from here on stands in the line with this number.
    pub(crate) fn at_line(&mut self, line: u64) {
        self.line = line;
        self.account.begin();
    }

    /// What is known of the current piece.
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// The piece is more about the route at hand, about the rows after it, or about the file: a heading, a legend.
    pub(crate) fn detail(&self) -> Result<(), String> {
        self.account.known();
        Ok(())
    }

    /// As [`RouteRows::detail`] if the grammar knows the piece; else it is an error.
    pub(crate) fn detail_if(&self, is_known: bool, line: &str) -> Result<(), String> {
        match is_known {
            true => self.detail(),
            false => Err(not_a_route(line)),
        }
    }

    /// The piece is text that may be anything: a comment, a description, what belongs to another table.
    pub(crate) fn free_text(&self) -> Result<(), String> {
        self.account.free_text();
        Ok(())
    }

    /// The prefix `text` is known, and no route.
    pub(crate) fn ignore(&self, text: &str) {
        self.account.prefix(text);
    }

    /// The piece is well formed and left out on purpose; `noun` and `which` say what it is: `rule`, ` about no address`.
    pub(crate) fn leave_out(
        &mut self,
        noun: &'static str,
        which: &'static str,
    ) -> Result<(), String> {
        self.account.leave_out(noun, which);
        Ok(())
    }

    /// The number of the current line.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// A prefix as written, with its length.
    pub(crate) fn prefix(&self, text: &str) -> Result<IpPrefix, String> {
        self.account.prefix(text);
        let prefix = prefix(text, self.notation.mask);
        prefix.map_err(|e| no_prefix(text.as_bytes(), e))
    }

    /// The routes from here on belong to the table called `name`; a listing
    /// begins in the table without a name.
    pub(crate) fn table(&mut self, name: &str) {
        if self.table != name {
            name.clone_into(&mut self.table);
            self.refused = [false; 2];
            self.current = None;
        }
        self.last = None;
        self.settle_unused(None);
    }

    /// Whether the current table is read.
    fn is_chosen(&self) -> bool {
        let is_main = self.table.is_empty();
        self.chosen.as_ref().is_none_or(|chosen| match is_main {
            true => TableSet::MAIN.contains(&chosen.as_str()),
            false => *chosen == self.table,
        })
    }

    /// As [`leave_out`](Self::leave_out), for a route of the current table.
    pub(crate) fn leave_out_route(&mut self, which: &'static str) {
        if self.is_chosen() {
            _ = self.leave_out("route", which);
        } else {
            self.others += 1;
        }
    }

    /// A route that the router does not use. Its prefix is left out, unless another route for it stands beside it.
    pub(crate) fn unused(&mut self, prefix: IpPrefix) {
        if self.last != Some(prefix) {
            self.settle_unused(Some(prefix));
            self.unused = self.is_chosen().then_some(prefix);
        }
    }

    /// The next route is for this prefix; `None` if there is none in this table.
    pub(crate) fn settle_unused(&mut self, next: Option<IpPrefix>) {
        if self
            .unused
            .take()
            .is_some_and(|unused| next != Some(unused))
        {
            _ = self.leave_out("route", UNUSED);
        }
    }

    /// Whether there were any routes so far.
    pub(crate) fn has_routes(&self) -> bool {
        self.taken.iter().any(Option::is_some)
    }

    /// Finds a route in the current line, unless it is one more for the same prefix.
    pub(crate) fn route(&mut self, prefix: IpPrefix, value: &str) {
        self.route_of(self.line, prefix, value);
    }

    /// As [`RouteRows::route`], for one that began in this line; without a value its next hop is missing.
    pub(crate) fn route_of<'v>(
        &mut self,
        line: u64,
        prefix: IpPrefix,
        value: impl Into<Option<&'v str>>,
    ) {
        let Some(value) = value.into() else {
            return self.no_next_hop(line, prefix);
        };
        if !self.is_chosen() {
            self.others += 1;
            return;
        }
        if self.unused.is_some() {
            self.settle_unused(Some(prefix));
        }
        if self.last.replace(prefix) == Some(prefix) {
            return;
        }
        let family = usize::from(matches!(prefix, IpPrefix::V6(_)));
        let taken = self.taken[family].get_or_insert_with(|| self.table.clone());
        if *taken == self.table || self.tables.is_some() {
            match checked(value) {
                // Only one that was said to be.
                Err(_) if value.is_empty() && self.may_lack => self.push(prefix, None),
                Ok(value) => {
                    let value = self.values.text(value);
                    self.push(prefix, value);
                }
                Err(reason) => self.complain(line, reason),
            }
        } else if !mem::replace(&mut self.refused[family], true) {
            let name = |table: &str| match table {
                "" => "the main table".to_owned(),
                name => format!("table {}", quote(name)),
            };
            let reason = format!(
                "routes of {} begin here, after those of {}; a file is one table; `vrf` chooses",
                name(&self.table),
                name(taken),
            );
            self.complain(line, reason);
        }
    }

    /// Finds a route in the current line, unless it is beside one for the same prefix with a metric that is as low.
    pub(crate) fn by_metric(&mut self, prefix: IpPrefix, metric: u64, value: &str) {
        self.best_of(MetricRoute {
            line: self.line,
            prefix,
            metric,
            table: String::new(),
            value: value.to_owned(),
        });
    }

    /// As [`RouteRows::by_metric`], for a route of any line and table.
    pub(crate) fn best_of(&mut self, route: MetricRoute) {
        match &mut self.best {
            Some(best) if best.prefix == route.prefix && best.table == route.table => {
                if route.metric < best.metric {
                    *best = route;
                }
            }
            _ => {
                self.settle_best();
                self.best = Some(route);
            }
        }
    }

    /// No more routes come for the prefix of the last one with a metric.
    pub(crate) fn settle_best(&mut self) {
        if let Some(best) = self.best.take() {
            self.table(&best.table);
            self.route_of(best.line, best.prefix, &*best.value);
        }
    }

    /// Whether AS paths are needed, since the value of a route is its origin.
    pub(crate) fn wants_origin(&self) -> bool {
        self.wants_origin
    }

    /// The AS of the router, the origin of the routes with an empty AS path.
    pub(crate) fn local_as(&mut self, asn: u32) {
        self.local_as = Some(asn);
    }

    /// As [`RouteRows::route_of`], for a route of BGP: its value is this next hop, or the origin of its AS path, absent without
    /// one.
    pub(crate) fn bgp_route<'h>(
        &mut self,
        line: u64,
        prefix: IpPrefix,
        next_hop: impl Into<Option<&'h str>>,
        as_path: Option<&str>,
    ) {
        let next_hop = next_hop.into();
        if !self.wants_origin || next_hop.is_none() {
            return self.route_of(line, prefix, next_hop);
        }
        let is_empty = |path: &str| as_path::length(path) == Ok(0);
        let (path, local_as) = match (as_path, self.local_as) {
            (Some(path), Some(asn)) => (path, asn),
            // The path names an AS, so that of the router does not matter.
            (Some(path), None) if !is_empty(path) => (path, 0),
            _ => {
                let absent = self.absent();
                return self.route_of(line, prefix, absent);
            }
        };
        let mut origin = String::new();
        match as_path::write_origin_of(path, local_as, &mut origin) {
            Ok(()) => self.route_of(line, prefix, &*origin),
            Err(_) => self.complain(line, not(path, "an AS path")),
        }
    }

    /// The value of an element that should have one: the empty text, which from here on is no fault.
    pub(crate) fn absent(&mut self) -> &'static str {
        self.is_bare.get_or_insert(false);
        self.may_lack = true;
        ""
    }

    /// Elements have records, of which any may have none of the columns: that is no list without values.
    pub(crate) fn may_lack(&mut self) {
        self.may_lack = true;
    }

    /// Whether elements have values, if only ones that are absent.
    pub(crate) fn has_values(&self) -> bool {
        self.is_bare == Some(false)
    }

    /// Finds an element of a list: one of `value`, or where the list has no values, of none.
    pub(crate) fn element<'v>(
        &mut self,
        prefix: IpPrefix,
        value: impl Into<RowValue<'v>>,
    ) -> Result<(), String> {
        let value = value.into();
        let is_empty = match value {
            RowValue::Text(text) => text.is_empty(),
            RowValue::Record => self.values.is_blank(),
        };
        let number = match (is_empty, *self.is_bare.get_or_insert(is_empty)) {
            (true, is_bare) if is_bare || self.may_lack => None,
            (true, _) => return Err(format!("no value after \"{prefix}\"")),
            (false, true) if !self.may_lack => {
                let reason = "a value in a list, the first element of which has none";
                return Err(match value {
                    RowValue::Text(text) => format!("{reason}: {}", quote(text)),
                    RowValue::Record => reason.to_owned(),
                });
            }
            (false, _) => {
                self.is_bare = Some(false);
                match value {
                    RowValue::Text(text) => self.values.text(checked(text)?),
                    RowValue::Record => self.values.finish()?,
                }
            }
        };
        self.push(prefix, number);
        Ok(())
    }

    /// A prefix, an address, or a range of addresses.
    pub(crate) fn span(&self, text: &str) -> Result<AddressSpan, String> {
        self.account.prefix(text);
        AddressSpan::parse(text, self.notation).map_err(|e| e.to_string())
    }

    /// Finds the elements that a [`span`](Self::span) is.
    pub(crate) fn elements_of<'v>(
        &mut self,
        span: AddressSpan,
        value: impl Into<RowValue<'v>>,
    ) -> Result<(), String> {
        let value = value.into();
        match span {
            AddressSpan::Prefix(prefix) => self.element(prefix, value),
            AddressSpan::Range(first, last) => {
                let mut prefixes = IpRangePrefixes::new(first, last).map_err(|e| e.to_string())?;
                prefixes.try_for_each(|prefix| self.element(prefix, value))
            }
        }
    }

    /// Finds the elements that `text` stands for: a prefix, an address, or a range of
    /// addresses (`10.0.0.1-10.0.0.9`).
    pub(crate) fn elements<'v>(
        &mut self,
        text: &str,
        value: impl Into<RowValue<'v>>,
    ) -> Result<(), String> {
        self.elements_of(self.span(text)?, value)
    }

    /// The last element was for routes of some lengths (`le 24`), which a table does
    /// not know.
    pub(crate) fn bounded(&mut self) {
        self.bounded += 1;
    }

    /// What was left out, for the user.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = self.account.notes();
        let mut left_out = |count, which: &str| notes.extend(note_left_out(count, "route", which));
        if let Some(chosen) = &self.chosen {
            let chosen = quote(chosen);
            left_out(self.others, &format!(" of other tables than {chosen}"));
        }
        if self.bounded > 0 {
            let n = self.bounded;
            let prefixes = if n == 1 { "prefix" } else { "prefixes" };
            notes.push(format!(
                "{n} {prefixes} with bounds of length, which are left out"
            ));
        }
        notes
    }

    /// Finds fault with a line, which may be an earlier one; the first flaw is reported.
    pub(crate) fn complain(&mut self, line: u64, reason: String) {
        self.flaw.get_or_insert((line, reason));
    }

    /// Finds fault with an earlier line that lacks what should have followed it.
    pub(crate) fn no_next_hop(&mut self, line: u64, prefix: IpPrefix) {
        self.complain(line, format!("no next hop after \"{prefix}\""));
    }
}
