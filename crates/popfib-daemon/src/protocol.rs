//! The protocol of the socket: a line of a client in, the bytes of the answer out, and what comes after them.
//!
//! The answer to an address is one line: address, prefix and value, separated by tabs, as `popfib lookup` prints them, then
//! `stale` if the route is from a snapshot. Without a match, prefix and value are `-`. Answers of several lines end with an empty
//! line. The answer to an invalid query is a line that begins with `error: `. Binary data (packed addresses, their numbers,
//! images) follows a line that says how long it is.
//!
//! It is text, so that a shell and `nc` can ask; packed addresses are for programs that ask for millions.

use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::Arc;

use popfib::IpPrefix;
use popfib_formats::Escaped;

use super::bulk::MAX_ADDRESSES;
use super::images::ClientImage;
use super::metrics;
use super::questions::BodyForm;
use super::session::ClientSession;
use super::state::FollowState;

/// The maximum number of values in one answer.
const MAX_VALUES: usize = 4096;

/// What comes after a line and its answer.
pub(super) enum SocketStep {
    /// Another line.
    Line,
    /// Nothing: the client wants to disconnect.
    Quit,
    /// This image, to the client.
    Image(Arc<ClientImage>),
    /// Packed addresses, from the client.
    Packed { count: usize, is_ipv6: bool },
    /// Changes of this table, of prefixes inside of the one that is given.
    Watch(String, Option<IpPrefix>),
    /// The rest of an HTTP request, of which this was the first line.
    Http,
}

/// Writes the answer to a line, as far as the client reads it: what is long is made in parts.
pub(super) fn answer(
    state: &FollowState,
    session: &mut ClientSession,
    line: &[u8],
    to: &mut impl Write,
) -> io::Result<SocketStep> {
    let Ok(line) = str::from_utf8(line) else {
        to.write_all(b"error: not UTF-8\n")?;
        return Ok(SocketStep::Line);
    };
    session.renew(state);
    let line = line.trim();
    let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = rest.trim();
    match command {
        "" => Ok(()),
        "quit" => return Ok(SocketStep::Quit),
        "lookup" => lookup(state, session, rest, to),
        "paths" => paths(state, session, rest, to),
        "table" if session.choose(state, rest) => writeln!(to, "ok"),
        "table" => writeln!(to, "error: {}: no such table", quoted(rest)),
        "tables" => tables(state, to),
        "stats" => metrics::write(state, to).and_then(|()| writeln!(to)),
        "bulk4" | "bulk6" => match rest.parse() {
            Ok(count) if count <= MAX_ADDRESSES => {
                let is_ipv6 = command == "bulk6";
                return Ok(SocketStep::Packed { count, is_ipv6 });
            }
            _ => {
                // The connection is closed, since the number of bytes that follow is not known.
                writeln!(to, "error: not a number up to {MAX_ADDRESSES}")?;
                return Ok(SocketStep::Quit);
            }
        },
        "watch" => match (rest.parse(), session.live_table(state)) {
            (_, Err(reason)) => writeln!(to, "error: {reason}"),
            (Ok(covered), Ok(table)) => return Ok(SocketStep::Watch(table, Some(covered))),
            (Err(_), Ok(table)) if rest.is_empty() => {
                return Ok(SocketStep::Watch(table, None));
            }
            _ => writeln!(to, "error: {}: not a prefix", quoted(rest)),
        },
        "values" => values(session, rest, to),
        "image" => match session.image(state) {
            Ok(image) if rest.parse() == Ok(image.version) => writeln!(to, "same"),
            Ok(image) => {
                writeln!(to, "image {} {}", image.version, image.bytes.len())?;
                return Ok(SocketStep::Image(image));
            }
            Err(reason) => writeln!(to, "error: {}", quoted(&reason)),
        },
        _ if rest.contains(" HTTP/1.") => return Ok(SocketStep::Http),
        _ if rest.is_empty() => lookup(state, session, command, to),
        _ => writeln!(to, "error: {}: no such command", quoted(command)),
    }?;
    Ok(SocketStep::Line)
}

/// Appends how many values have numbers, then the number of each address.
pub(super) fn answer_packed(
    state: &FollowState,
    session: &mut ClientSession,
    is_ipv6: bool,
    packed: &[u8],
    to: &mut Vec<u8>,
) {
    // The count is only known afterwards; it then replaces this line, which has the same length.
    let head = to.len();
    to.extend_from_slice(b"ok 0000000\n");
    let done = match is_ipv6 {
        false => session.look_up_packed::<u32, 4>(state, packed, to),
        true => session.look_up_packed::<u128, 16>(state, packed, to),
    };
    if done.is_some() {
        let text = format!("ok {:07}\n", session.numbers.count());
        to[head..head + text.len()].copy_from_slice(text.as_bytes());
    } else {
        to.truncate(head);
        to.extend_from_slice(b"error: more values than numbers or memory; connect again\n");
    }
}

fn lookup(
    state: &FollowState,
    session: &mut ClientSession,
    text: &str,
    to: &mut impl Write,
) -> io::Result<()> {
    let Ok(address) = text.parse::<IpAddr>() else {
        return writeln!(to, "error: {}: not an IP address", quoted(text));
    };
    let mut answer = Vec::new();
    session.answer(state, BodyForm::Lines, address, &mut answer);
    answer.push(b'\n');
    to.write_all(&answer)
}

/// Writes all paths of exactly this prefix.
fn paths(
    state: &FollowState,
    session: &mut ClientSession,
    text: &str,
    to: &mut impl Write,
) -> io::Result<()> {
    let Ok(prefix) = text.parse::<IpPrefix>() else {
        return writeln!(to, "error: {}: not a prefix", quoted(text));
    };
    let table = match session.live_table(state) {
        Ok(table) => table,
        Err(reason) => return writeln!(to, "error: {reason}"),
    };
    state.each_path(&table, prefix, |path| {
        let peer = if path.peer.is_empty() {
            "-"
        } else {
            &path.peer[..]
        };
        let age = if path.is_older { "stale" } else { "fresh" };
        let feed = Escaped(&path.feed);
        writeln!(to, "{feed}\t{peer}\t{}\t{age}\t{}", path.id, path.target)
    })?;
    writeln!(to)
}

fn tables(state: &FollowState, to: &mut impl Write) -> io::Result<()> {
    state.each_table(|table| {
        let [ipv4, ipv6] = table.prefixes;
        writeln!(to, "{}\t{ipv4}\t{ipv6}", table.name)
    })?;
    writeln!(to)
}

/// Writes numbers and values, from a number on.
fn values(session: &ClientSession, text: &str, to: &mut impl Write) -> io::Result<()> {
    let Ok(first) = text.parse() else {
        return writeln!(to, "error: {}: not a number", quoted(text));
    };
    for (number, value) in session.numbers.from(first).take(MAX_VALUES) {
        writeln!(to, "{number}\t{value}")?;
    }
    writeln!(to)
}

/// The beginning of a client's text, with control characters escaped.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    format!("{short:?}")
}
