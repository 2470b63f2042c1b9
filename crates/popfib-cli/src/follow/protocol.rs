//! The lines that clients send, and what they are answered.
//!
//! A line with an address is answered by one line: address, prefix and value between tabs, as `popfib lookup`
//! prints them; `-` stands where there is no match. Other answers of several lines end with an empty one. What is
//! wrong is answered by a line that begins with `error: `.

use std::fmt::Write;
use std::net::IpAddr;
use std::sync::atomic::Ordering;

use popfib::{IpPrefix, TableReader};
use popfib_feed::Target;
use popfib_formats::Escaped;

use super::metrics;
use super::state::State;

/// One client: the table that it asks.
#[derive(Default)]
pub(super) struct Session {
    table: Option<String>,
    reader: Option<TableReader<Target>>,
}

impl Session {
    /// Appends the answer to a line; false if the client wants no more.
    pub(super) fn answer(&mut self, state: &State, line: &[u8], to: &mut String) -> bool {
        let Ok(line) = str::from_utf8(line) else {
            to.push_str("error: not UTF-8\n");
            return true;
        };
        let line = line.trim();
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        // Writing to a String cannot fail.
        let _ = match command {
            "" => Ok(()),
            "quit" => return false,
            "lookup" => self.lookup(state, rest, to),
            "paths" => self.paths(state, rest, to),
            "table" => self.table(state, rest, to),
            "tables" => tables(state, to),
            "stats" => {
                to.push_str(&metrics::text(state));
                to.push('\n');
                Ok(())
            }
            _ if rest.is_empty() => self.lookup(state, command, to),
            _ => writeln!(to, "error: {}: no such command", quoted(command)),
        };
        true
    }

    fn lookup(&mut self, state: &State, text: &str, to: &mut String) -> std::fmt::Result {
        let Ok(address) = text.parse::<IpAddr>() else {
            return writeln!(to, "error: {}: not an IP address", quoted(text));
        };
        state.lookups.fetch_add(1, Ordering::Relaxed);
        if self.reader.is_none() {
            self.open(state);
        }
        // A guard only while the answer is written to memory: the writer waits for it to drop values.
        let guard = self.reader.as_mut().map(TableReader::pin);
        match guard
            .as_ref()
            .and_then(|guard| guard.longest_match(address))
        {
            Some((prefix, target)) => writeln!(to, "{address}\t{prefix}\t{target}"),
            None => writeln!(to, "{address}\t-\t-"),
        }
    }

    /// Opens the table of this session, if it is there.
    fn open(&mut self, state: &State) {
        let tables = state.tables();
        let name = self.table.as_deref().or_else(|| tables.default_table());
        self.reader = name.and_then(|name| tables.reader(name));
    }

    fn table(&mut self, state: &State, name: &str, to: &mut String) -> std::fmt::Result {
        let tables = state.tables();
        let Some(reader) = tables.reader(name) else {
            return writeln!(to, "error: {}: no such table", quoted(name));
        };
        self.reader = Some(reader);
        self.table = Some(name.to_owned());
        writeln!(to, "ok")
    }

    /// All paths of exactly a prefix: peer, value.
    fn paths(&mut self, state: &State, text: &str, to: &mut String) -> std::fmt::Result {
        let Ok(prefix) = text.parse::<IpPrefix>() else {
            return writeln!(to, "error: {}: not a prefix", quoted(text));
        };
        let tables = state.tables();
        let name = self.table.as_deref().or_else(|| tables.default_table());
        let paths = name
            .map(|name| tables.paths(name, prefix))
            .unwrap_or_default();
        drop(tables);
        for path in paths {
            let peer = if path.peer.is_empty() {
                "-"
            } else {
                &path.peer
            };
            let age = if path.is_older { "stale" } else { "fresh" };
            let feed = Escaped(&path.feed);
            writeln!(to, "{feed}\t{peer}\t{}\t{age}\t{}", path.id, path.target)?;
        }
        to.push('\n');
        Ok(())
    }
}

fn tables(state: &State, to: &mut String) -> std::fmt::Result {
    for table in state.tables().tables() {
        let [ipv4, ipv6] = table.prefixes;
        writeln!(to, "{}\t{ipv4}\t{ipv6}", table.name)?;
    }
    to.push('\n');
    Ok(())
}

/// The beginning of what a client sent, with nothing that moves a terminal.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    format!("{short:?}")
}
