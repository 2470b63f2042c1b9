//! The lines that clients send, and what they are answered.
//!
//! A line with an address is answered by one line: address, prefix and value between tabs, as `popfib lookup`
//! prints them, `stale` after them if they are of a snapshot; `-` stands where there is no match. Other answers of several lines end with an empty one. What is
//! wrong is answered by a line that begins with `error: `. Bytes that are no lines, packed addresses, their numbers
//! and images, follow a line that says how many there are.

use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;

use popfib::IpPrefix;
use popfib_feed::Target;
use popfib_formats::Escaped;

use super::bulk::MAX_ADDRESSES;
use super::images::Compiled;
use super::metrics;
use super::session::Session;
use super::state::State;

/// The most values of one answer.
const MAX_VALUES: usize = 4096;

/// What follows a line.
pub(super) enum Next {
    /// Another line.
    Line,
    /// Nothing: the client wants no more.
    Quit,
    /// This image, to the client.
    Image(Arc<Compiled>),
    /// Packed addresses, from the client.
    Packed { count: usize, is_ipv6: bool },
    /// Changes of this table, of prefixes inside of the one that is given.
    Watch(String, Option<IpPrefix>),
    /// The rest of a request by HTTP, of which this was the first line.
    Http,
}

/// Appends the answer to a line.
pub(super) fn answer(state: &State, session: &mut Session, line: &[u8], to: &mut Vec<u8>) -> Next {
    let Ok(line) = str::from_utf8(line) else {
        to.extend_from_slice(b"error: not UTF-8\n");
        return Next::Line;
    };
    let line = line.trim();
    let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = rest.trim();
    // Writing to a Vec cannot fail.
    let _ = match command {
        "" => Ok(()),
        "quit" => return Next::Quit,
        "lookup" => lookup(state, session, rest, to),
        "paths" => paths(state, session, rest, to),
        "table" if session.choose(state, rest) => writeln!(to, "ok"),
        "table" => writeln!(to, "error: {}: no such table", quoted(rest)),
        "tables" => tables(state, to),
        "stats" => writeln!(to, "{}", metrics::text(state)),
        "bulk4" | "bulk6" => match rest.parse() {
            Ok(count) if count <= MAX_ADDRESSES => {
                let is_ipv6 = command == "bulk6";
                return Next::Packed { count, is_ipv6 };
            }
            _ => {
                // Where the addresses that follow would end is not known.
                let _ = writeln!(to, "error: not a number up to {MAX_ADDRESSES}");
                return Next::Quit;
            }
        },
        "watch" => match (rest.parse(), session.table(state)) {
            (Ok(covered), Some(table)) => return Next::Watch(table, Some(covered)),
            (Err(_), Some(table)) if rest.is_empty() => return Next::Watch(table, None),
            (_, None) => writeln!(to, "error: there is no table yet"),
            _ => writeln!(to, "error: {}: not a prefix", quoted(rest)),
        },
        "values" => values(session, rest, to),
        "image" => match session.image(state) {
            Ok(image) if rest.parse() == Ok(image.version) => writeln!(to, "same"),
            Ok(image) => {
                let _ = writeln!(to, "image {} {}", image.version, image.bytes.len());
                return Next::Image(image);
            }
            Err(reason) => writeln!(to, "error: {}", quoted(&reason)),
        },
        _ if rest.contains(" HTTP/1.") => return Next::Http,
        _ if rest.is_empty() => lookup(state, session, command, to),
        _ => writeln!(to, "error: {}: no such command", quoted(command)),
    };
    Next::Line
}

/// Appends how many values the client may know, then the number of each address.
pub(super) fn answer_packed(
    state: &State,
    session: &mut Session,
    is_ipv6: bool,
    packed: &[u8],
    to: &mut Vec<u8>,
) {
    // How many there are is known afterwards; a head of one length is put in its place then.
    let head = to.len();
    to.extend_from_slice(b"ok 0000000\n");
    let is_done = match is_ipv6 {
        false => session.look_up_packed::<u32>(state, packed, to),
        true => session.look_up_packed::<u128>(state, packed, to),
    };
    if is_done {
        let text = format!("ok {:07}\n", session.numbers.count());
        to[head..head + text.len()].copy_from_slice(text.as_bytes());
    } else {
        to.truncate(head);
        to.extend_from_slice(b"error: more values than numbers; connect again\n");
    }
}

fn lookup(
    state: &State,
    session: &mut Session,
    text: &str,
    to: &mut Vec<u8>,
) -> std::io::Result<()> {
    let Ok(address) = text.parse::<IpAddr>() else {
        return writeln!(to, "error: {}: not an IP address", quoted(text));
    };
    session.look_up(state, address, |found| match found {
        Some((prefix, target)) => writeln!(to, "{address}\t{prefix}\t{target}{}", mark(target)),
        None => writeln!(to, "{address}\t-\t-"),
    })
}

/// What is behind a value that a snapshot says and no source has confirmed.
fn mark(value: &Target) -> &'static str {
    match value.is_restored() {
        true => "\tstale",
        false => "",
    }
}

/// All paths of exactly a prefix: peer, value.
fn paths(state: &State, session: &Session, text: &str, to: &mut Vec<u8>) -> std::io::Result<()> {
    let Ok(prefix) = text.parse::<IpPrefix>() else {
        return writeln!(to, "error: {}: not a prefix", quoted(text));
    };
    for path in session.paths(state, prefix) {
        let peer = if path.peer.is_empty() {
            "-"
        } else {
            &path.peer
        };
        let age = if path.is_older { "stale" } else { "fresh" };
        let feed = Escaped(&path.feed);
        writeln!(to, "{feed}\t{peer}\t{}\t{age}\t{}", path.id, path.target)?;
    }
    writeln!(to)
}

fn tables(state: &State, to: &mut Vec<u8>) -> std::io::Result<()> {
    let tables: Vec<_> = state.tables().tables().collect();
    for table in tables {
        let [ipv4, ipv6] = table.prefixes;
        writeln!(to, "{}\t{ipv4}\t{ipv6}", table.name)?;
    }
    writeln!(to)
}

/// Numbers and values, from a number on.
fn values(session: &Session, text: &str, to: &mut Vec<u8>) -> std::io::Result<()> {
    let Ok(first) = text.parse() else {
        return writeln!(to, "error: {}: not a number", quoted(text));
    };
    for (number, value) in session.numbers.from(first).take(MAX_VALUES) {
        writeln!(to, "{number}\t{value}{}", mark(value))?;
    }
    writeln!(to)
}

/// The beginning of what a client sent, with nothing that moves a terminal.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    format!("{short:?}")
}
