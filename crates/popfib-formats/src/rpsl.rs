//! `route` and `route6` objects of RPSL (RFC 2622), as Internet routing registries have them and whois prints them: lines in, a
//! route for each object out.
//!
//! ```text
//! route:          192.0.2.0/24
//! descr:          Example
//! origin:         AS64500
//! mnt-by:         EXAMPLE-MNT
//! source:         RIPE
//! ```
//! An object ends at an empty line. A line that begins with a blank or a plus goes on with the attribute before it. The value is
//! the origin; the attributes are columns, and of several with one name the first is. Objects of other classes are passed over;
//! routes without what is asked for are left out and counted.

use popfib_table::CellKind;

use crate::error::{not, quote};
use crate::grammar::{Grammar, head_text, lines};
use crate::name_rule::MAX_NEXT_HOP_LENGTH;
use crate::origins::without_as;
use crate::peers::RouteValue;
use crate::registry::Capability::{ManyValues, Origins};
use crate::rows::{RouteRows, RowValue};
use crate::table_format::{LoadOptions, TableEntry};
use crate::values::{ColumnSelection, ValueBook};
use crate::words::{is_one_of, looks_like_prefix};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "rpsl",
    description: "route and route6 objects of RPSL, as routing registries and whois have them; origins",
    can: &[ManyValues, Origins],
    detect,
    open: |input, options| Ok(lines(Rpsl::new(options), input, options)),
};

/// The classes that a registry's file may begin with.
const CLASSES: &str = "route route6 as-block as-set aut-num domain filter-set inet-rtr inet6num inetnum irt key-cert mntner \
    organisation peering-set person poem role route-set rtr-set";

/// Whether the file begins with an object of a known class and a route comes soon: other files have `name: value`, too.
fn detect(head: &[u8]) -> bool {
    let mut attributes = head_text(head).filter_map(attribute).peekable();
    attributes
        .peek()
        .is_some_and(|(class, _)| is_one_of(CLASSES, class))
        && attributes.any(|(name, value)| is_route(name) && looks_like_prefix(value))
}

/// The name and the value of a line that begins an attribute.
fn attribute(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let value = value.split('#').next().unwrap_or_default();
    let is_named = name.starts_with(|c: char| c.is_ascii_lowercase());
    (is_named && name.bytes().all(is_name)).then_some((name, value.trim()))
}

/// Whether an attribute begins an object that is a route.
fn is_route(name: &str) -> bool {
    matches!(name, "route" | "route6")
}

/// The grammar of the lines, with the object at hand.
struct Rpsl {
    wanted: ColumnSelection,
    /// Whether the value is an AS number alone.
    is_origin: bool,
    /// The prefix of the object at hand, if it is a route, and the line that it is in.
    route: Option<(u64, String)>,
    /// The number of the line before.
    last: u64,
    /// Whether an object begins with the next attribute.
    is_between: bool,
    /// The attribute that may go on.
    name: String,
    value: String,
}

impl Rpsl {
    fn new(options: &LoadOptions) -> Self {
        let wanted = match &options.columns {
            ColumnSelection::Value => ColumnSelection::Named(vec!["origin".to_owned()]),
            columns => columns.clone(),
        };
        Self {
            wanted,
            is_origin: options.value == RouteValue::OriginAs,
            route: None,
            last: 0,
            is_between: true,
            name: String::new(),
            value: String::new(),
        }
    }

    /// Puts the attribute that ended into the record.
    fn attribute_ended(&mut self, values: &mut ValueBook) -> Result<(), String> {
        let value = self.value.trim();
        if self.route.is_none() || value.is_empty() || is_route(&self.name) {
            return Ok(());
        }
        if self.name == "origin" && value.contains(char::is_whitespace) {
            return Err(format!("{}: more than an AS", quote(value)));
        }
        let value = match self.is_origin && self.name == "origin" {
            true => without_as(value),
            false => value,
        };
        if let Some(column) = values.column(&self.name) {
            values.put(column, CellKind::Text, value);
        }
        Ok(())
    }

    /// Hands out the route of the object that ended.
    fn object_ended(&mut self, rows: &mut RouteRows) {
        let ended = self.attribute_ended(&mut rows.values);
        self.name.clear();
        self.value.clear();
        self.is_between = true;
        let Some((line, prefix)) = self.route.take() else {
            return;
        };
        rows.absent();
        let found = ended.and_then(|()| rows.prefix(&prefix));
        let found = found.and_then(|prefix| rows.element(prefix, RowValue::Record));
        if let Err(reason) = found {
            rows.complain(line, reason);
        }
        // Nothing of it belongs to the next.
        rows.values.begin();
    }
}

impl Grammar for Rpsl {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        // Empty lines do not come here: that there was one shows in the numbers of those around it.
        let is_next = rows.line() == self.last + 1;
        self.last = rows.line();
        if !is_next || line.trim().is_empty() {
            self.object_ended(rows);
        }
        if line.starts_with(['%', '#']) || line.trim().is_empty() {
            return rows.free_text();
        }
        if let Some(more) = line.strip_prefix([' ', '\t', '+']) {
            // Long ones are cut where a value would be too long.
            if self.name.is_empty() {
                return Err(not(line, "an attribute"));
            }
            let more = more.split('#').next().unwrap_or_default().trim();
            if self.route.is_some()
                && !more.is_empty()
                && self.value.len() < MAX_NEXT_HOP_LENGTH / 2
            {
                self.value.push(' ');
                self.value.push_str(more);
            }
            return rows.free_text();
        }
        let Some((name, value)) = attribute(line) else {
            // What another class has is not looked at, unless it is a prefix.
            return match self.route {
                Some(_) => Err(not(line, "an attribute")),
                None => rows.detail(),
            };
        };
        let ended = self.attribute_ended(&mut rows.values);
        if self.is_between {
            self.is_between = false;
            self.route = is_route(name).then(|| (rows.line(), value.to_owned()));
        }
        name.clone_into(&mut self.name);
        value.clone_into(&mut self.value);
        ended.and_then(|()| rows.free_text())
    }

    fn end(&mut self, rows: &mut RouteRows) {
        self.object_ended(rows);
    }

    fn values(&mut self) -> ValueBook {
        ValueBook::new(&self.wanted).ranked(|name| (name == "origin").then_some(0))
    }
}
