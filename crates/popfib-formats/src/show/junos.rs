//! `show route` of Juniper Junos: prefixes, their routes and next hops on lines below each other in, the active route of
//! each prefix out.
//!
//! ```text
//! inet.0: 2 destinations, 3 routes (2 active, 0 holddown, 0 hidden)
//! 0.0.0.0/0          *[Static/5] 1w2d 03:04:05
//!                     >  to 10.0.0.1 via ge-0/0/0.0
//!                     [BGP/170] 1d 02:03:04, localpref 100
//! ```
//! `*` (or `+`, `#`) marks the active route of a prefix, `>` the next hop that it
//! uses. Read are the tables `inet.0` and `inet6.0`, also of an instance; the
//! others hold no routes that packets follow. `show route summary` only counts.
//! The routes of one neighbour (`receive-protocol`, `advertising-protocol`) stand in columns; `*` marks the active ones.
//! `show route terse` has a route a line, and its further next hops on lines of their own:
//!
//! ```text
//! A V Destination        P Prf   Metric 1   Metric 2  Next hop        AS path
//! * ? 10.0.0.0/8         S   5                       >192.0.2.1
//! * ? 10.1.0.0/16        B 170        100                             65001 I
//!   unverified                                       >192.0.2.1
//! ```

use popfib::IpPrefix;

use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, listing};
use crate::registry::Capability::Tables;
use crate::words::{begins, is_address, is_long_prefix, is_preamble, not_a_route};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "junos",
    description: "`show route` and `show route terse` of Juniper Junos",
    can: &[Tables],
    detect,
    open: |input, options| Ok(listing(Junos::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    head_text(head)
        .take(64)
        .any(|line| table_name(line).is_some())
}

/// What marks an active route: `#` one of forwarding alone, which packets follow, while `@` is of routing alone.
const ACTIVE: [char; 3] = ['*', '+', '#'];

#[derive(Default)]
struct Junos {
    /// In a table of another kind of routes.
    skipping: bool,
    /// Below the heading of terse rows.
    is_terse: bool,
    /// Below the heading of the routes of one neighbour.
    is_neighbour: bool,
    /// The prefix whose routes are read.
    prefix: Option<IpPrefix>,
    active: Option<JunosActiveRoute>,
}

/// An active route whose next hop in use is still to come.
struct JunosActiveRoute {
    prefix: IpPrefix,
    line: u64,
    /// The first next hop, in case that none is marked.
    hop: Option<String>,
}

/// The table whose heading this is: `inet.0: 2 destinations, 3 routes (...`.
fn table_name(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(": ")?;
    let is_heading = rest.contains(" destinations, ") && rest.contains(" routes (");
    (is_heading && !name.contains(' ')).then_some(name)
}

impl Grammar for Junos {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let text = line.trim();
        if let Some(name) = table_name(line) {
            self.end(rows);
            // With the instance before it, if there is one: `blue.inet.0`.
            let is_inet = |n: &str| n == "inet.0" || n == "inet6.0";
            self.skipping = !is_inet(name.rsplit_once('.').map_or(name, |(head, _)| {
                let start = head.rfind('.').map_or(0, |dot| dot + 1);
                &name[start..]
            }));
            self.prefix = None;
            (self.is_terse, self.is_neighbour) = (false, false);
            rows.table(name);
            return rows.detail();
        }
        if self.skipping {
            if !line.starts_with([' ', '\t']) {
                rows.leave_out_route(" of other tables than inet.0 and inet6.0");
            }
            return rows.free_text();
        }
        if text.starts_with("Prefix") && text.contains("Nexthop") {
            self.is_neighbour = true;
            return rows.detail();
        }
        if text.is_empty() || begins!(text, "+ = " "@ = " "Limit/Threshold" "Restart" "{" "__") {
            return rows.detail();
        }
        if text.starts_with("A ") && text.contains(" Destination ") {
            self.is_terse = true;
            return rows.detail();
        }
        if self.is_neighbour && !text.starts_with("show ") {
            return self.of_neighbour(text, rows);
        }
        if self.is_terse {
            return self.terse(line, rows);
        }
        let counts = text.ends_with(" active") && text.contains(" routes, ");
        if counts || text.starts_with("Autonomous system number: ") {
            return Err("this is a summary: it counts routes and lists none".to_owned());
        }
        let (first, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        let is_prefix = is_long_prefix(first);
        let entry = if is_prefix { rest.trim_start() } else { text };
        if !line.starts_with([' ', '\t']) && !is_prefix {
            if is_preamble(text) {
                return rows.detail();
            }
            // A route below belongs to no prefix that is known.
            self.end(rows);
            self.prefix = None;
            return Err(not_a_route(line));
        }
        if is_prefix {
            self.end(rows);
            self.prefix = None;
            self.prefix = Some(rows.prefix(first)?);
        }
        // A route (`*[BGP/170] ...`), else a next hop of one (`>  to 10.0.0.1 via ge-0/0/0.0`) or more about it.
        if entry
            .trim_start_matches(['*', '+', '-', '@', '#'])
            .starts_with('[')
        {
            self.end(rows);
            let prefix = self.prefix.ok_or("a route without a prefix before it")?;
            if entry.starts_with(ACTIVE) {
                self.active = Some(JunosActiveRoute {
                    prefix,
                    line: rows.line(),
                    hop: None,
                });
            } else {
                rows.unused(prefix);
            }
        } else if is_prefix && !entry.is_empty()
            || entry.starts_with(ACTIVE)
            || entry.starts_with('>') && hop(entry).is_none()
        {
            return Err(not_a_route(line));
        } else if let Some(active) = &mut self.active
            && let Some(hop) = hop(entry)
        {
            if entry.starts_with('>') {
                rows.route(active.prefix, hop);
                self.active = None;
            } else {
                active.hop.get_or_insert_with(|| hop.to_owned());
            }
        }
        rows.detail()
    }

    fn end(&mut self, rows: &mut RouteRows) {
        if let Some(JunosActiveRoute { prefix, line, hop }) = self.active.take() {
            rows.route_of(line, prefix, hop.as_deref());
        }
    }
}

impl Junos {
    /// A row of `show route receive-protocol bgp` or `advertising-protocol`: `*` where the route is active, prefix, next
    /// hop, which stands on the next line after a long prefix, and attributes, which are passed over.
    fn of_neighbour(&mut self, text: &str, rows: &mut RouteRows) -> Result<(), String> {
        let mut words = text.split_ascii_whitespace().peekable();
        let mut is_active = words.next_if_eq(&"*").is_some();
        let (prefix, line) = match words.next_if(|word| is_long_prefix(word)) {
            Some(prefix) => {
                self.end(rows);
                (rows.prefix(prefix)?, rows.line())
            }
            None => {
                let begun = self.prefix.take().ok_or_else(|| not_a_route(text))?;
                is_active |= self.active.take().is_some();
                (begun, rows.line())
            }
        };
        match words.next() {
            None => {
                self.prefix = Some(prefix);
                self.active = is_active.then_some(JunosActiveRoute {
                    prefix,
                    line,
                    hop: None,
                });
            }
            Some(hop) if hop != "Self" && !is_address(hop) => return Err(not_a_route(text)),
            Some(hop) if is_active => rows.route(prefix, hop),
            Some(_) => rows.unused(prefix),
        }
        rows.detail()
    }

    /// A row of `show route terse`: flags, prefix, protocol, preference and metrics, next hop.
    fn terse(&mut self, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let at = words.iter().position(|word| is_long_prefix(word));
        let Some(at) = at.filter(|at| *at < 3) else {
            // One more next hop of the route above, or a path of its prefix that is not active.
            let goes_on = line.starts_with([' ', '\t']);
            // After the state of validation, where there is one.
            let hop = words
                .last()
                .filter(|hop| words.len() < 3 && hop.starts_with('>'));
            if let (Some(active), Some(hop)) = (self.active.take_if(|_| hop.is_some()), hop) {
                rows.route_of(active.line, active.prefix, &hop[1..]);
            }
            return rows.detail_if(goes_on, line);
        };
        self.end(rows);
        let prefix = rows.prefix(words[at])?;
        if !words[..at].iter().any(|flags| flags.contains(ACTIVE)) {
            rows.unused(prefix);
            return Ok(());
        }
        // After protocol and preference. Metrics may be missing, and an AS path may follow, which ends in a sign (`65001 I`): a next
        // hop is an address or a word.
        let rest = words.get(at + 3..).unwrap_or_default();
        let is_word = |word: &str| word.len() > 1 && word.starts_with(char::is_alphabetic);
        match rest.iter().find(|word| word.starts_with('>')) {
            Some(hop) => rows.route(prefix, &hop[1..]),
            None => {
                let mut words = rest.iter();
                let hop = words.find(|word| is_word(word) || is_address(word));
                self.active = Some(JunosActiveRoute {
                    prefix,
                    line: rows.line(),
                    hop: hop.map(|&hop| hop.to_owned()),
                });
            }
        }
        Ok(())
    }
}

/// The value of `>  to 10.0.0.1 via ge-0/0/0.0`, `Local via ge-0/0/0.0`, `Discard`.
fn hop(text: &str) -> Option<&str> {
    let mut words = text.trim_start_matches('>').split_ascii_whitespace();
    let value = match words.next()? {
        "to" => match words.next()? {
            "table" => words.next()?,
            address => Some(address).filter(|address| is_address(address))?,
        },
        "via" => words.next()?,
        "Local" => words.nth(1)?,
        word @ ("Discard" | "Reject" | "Receive" | "MultiRecv" | "Indirect") => word,
        _ => return None,
    };
    Some(value.trim_end_matches(','))
}
