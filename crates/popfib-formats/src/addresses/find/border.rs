//! What may stand on either side of an address: the rules that keep versions and parts of words out.
//!
//! The byte before an address is seldom a letter, so all of this is off the usual way.

/// The longest escape, and the longest parameters of a colour code.
const LONGEST_ESCAPE: usize = b"\\u000a".len();
const LONGEST_PARAMETERS: usize = 16;

/// How far back a name is read.
const LONGEST_NAME: usize = 80;

/// Whether a byte belongs to a word, so that an address beside it is a part of that.
#[inline(always)]
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a byte may stand in an escape right before a run of digits, so that [`after_escape`] is to be asked. The `T` of
/// times is none of them.
#[inline(always)]
pub(super) fn may_be_of_escape(byte: u8) -> bool {
    matches!(byte, b'%' | b'\\' | b'#' | b'n' | b'r' | b't' | b'u' | b'x' | b'm' | b'K' | b'a'..=b'f' | b'A'..=b'F')
}

/// Whether a byte that is no part of a word may begin an escape.
#[inline(always)]
pub(super) fn may_begin_escape(byte: u8) -> bool {
    matches!(byte, b'%' | b'\\' | b'#')
}

/// Where an escape ends that begins before `start`, if it leaves something of what is before `end`.
///
/// Escapes stand for bytes that are no part of an address: `%20` of URLs, `\t`, `\x22` and `\u003c` of JSON and of web
/// servers, `#011` of rsyslog, and colour codes of terminals (`ESC[31m`), also where their ESC is escaped.
#[cold]
pub(super) fn after_escape(line: &[u8], start: usize, end: usize) -> Option<usize> {
    let first = start.saturating_sub(LONGEST_ESCAPE);
    let mut places = (first..start).rev();
    let escape = places.find_map(|at| Some(at + escape_len(line, at, start)?));
    let found = escape.or_else(|| is_after_colour(line, start).then_some(start));
    found.filter(|found| (start..end).contains(found))
}

/// The length of the escape at `at`, if it reaches to `start`.
fn escape_len(line: &[u8], at: usize, start: usize) -> Option<usize> {
    let are_hex = |from: usize, count: usize| {
        let digits = line.get(from..from + count);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let len = match (line[at], *line.get(at + 1)?) {
        (b'%', _) if are_hex(at + 1, 2) => 3,
        (b'\\', b'u') if are_hex(at + 2, 4) => 6,
        (b'\\', b'x') if are_hex(at + 2, 2) => 4,
        (b'\\', b'n' | b'r' | b't') => 2,
        // Of `\\fe80::1`, a name of Windows, the second backslash does not escape.
        (b'\\', b'b' | b'f') if at + 2 == start || !is_escaped(line, at) => 2,
        (b'#', b'0') => match *line.get(at + 2..at + 4)? {
            [b'0'..=b'3', b'0'..=b'7'] => 4,
            _ => return None,
        },
        _ => return None,
    };
    (at + len >= start).then_some(len)
}

/// Whether a backslash that escapes it is before the byte at `at`.
fn is_escaped(line: &[u8], at: usize) -> bool {
    let before = line[..at].iter().rev();
    before.take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// Whether a colour code ends before `start`.
fn is_after_colour(line: &[u8], start: usize) -> bool {
    let Some((final_byte, before)) = line[..start].split_last() else {
        return false;
    };
    let is_parameter = |byte: &&u8| matches!(byte, b'0'..=b'9' | b';' | b':' | b'?');
    let parameters = before.iter().rev().take(LONGEST_PARAMETERS);
    let before = &before[..before.len() - parameters.take_while(is_parameter).count()];
    let Some(before) = before.strip_suffix(b"[") else {
        return false;
    };
    let escapes: [&[u8]; 7] = [
        b"\x1b", b"\\u001b", b"\\u001B", b"\\x1b", b"\\x1B", b"\\033", b"#033",
    ];
    // Colours, and the rest of the line deleted.
    matches!(final_byte, b'm' | b'K') && escapes.iter().any(|escape| before.ends_with(escape))
}

/// Whether the four numbers from `start` to `end`, after a `-` or `/`, are an address and no version (`Chrome/120.0.0.0`,
/// `lib-1.2.3.4`).
///
/// They are a version after a name, which ends in a letter, but not if a port follows, as no version has, nor after `/`
/// and a word in capitals, as Squid writes (`HIER_DIRECT/10.1.1.1`), or the name of a host, as Java does
/// (`a.example/10.1.1.1`).
#[cold]
pub(super) fn is_no_version(line: &[u8], start: usize, end: usize) -> bool {
    let (mark, before) = (line[start - 1], &line[..start - 1]);
    // JSON may escape `/`.
    let before = before.strip_suffix(b"\\").unwrap_or(before);
    let is_name = |byte: &&u8| is_word(**byte) || matches!(byte, b'.' | b'-');
    let len = before.iter().rev().take(LONGEST_NAME);
    let (before, name) = before.split_at(before.len() - len.take_while(is_name).count());
    if !name.last().is_some_and(u8::is_ascii_alphabetic) || has_port(line, end) {
        return true;
    }
    let is_state = || {
        let is_capital = |&byte: &u8| byte.is_ascii_uppercase() || byte == b'_';
        name.len() >= 4 && name.iter().all(is_capital)
    };
    let is_host = || name.contains(&b'.') && !before.ends_with(b"/") || name == b"localhost";
    mark == b'/' && (is_state() || is_host())
}

/// Whether a port follows at `end`: `:443` or `(443)`.
fn has_port(line: &[u8], end: usize) -> bool {
    let Some((mark @ (b':' | b'('), rest)) = line[end..].split_first() else {
        return false;
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let next = rest.get(digits).copied().unwrap_or(b' ');
    let is_end = match mark {
        b'(' => next == b')',
        _ => !is_word(next),
    };
    (1..=5).contains(&digits) && is_end
}

/// Whether a port is at `at`: a number up to 65535, without leading zeros, and no other number or name after it.
#[cold]
pub(super) fn is_port(line: &[u8], at: usize) -> bool {
    let rest = &line[at.min(line.len())..];
    let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (port, rest) = rest.split_at(len);
    let is_number = match port {
        [b'0', _, ..] | [] => false,
        _ => len < 5 || len == 5 && port <= b"65535",
    };
    is_number && is_end(rest)
}

/// Whether a word with `rest` after it is the last, with no dot and another after it.
fn is_end(rest: &[u8]) -> bool {
    match rest {
        [b'.', next, ..] => !is_word(*next),
        [next, ..] => !is_word(*next),
        [] => true,
    }
}

/// Whether a port is at `at`, or the name of a service (`domain`).
pub(super) fn is_port_or_service(line: &[u8], at: usize) -> bool {
    let rest = &line[at..];
    let is_of_name = |byte: &&u8| is_word(**byte) || **byte == b'-';
    let len = rest
        .iter()
        .take(LONGEST_NAME)
        .take_while(is_of_name)
        .count();
    // More than what a group has.
    let is_name = rest[..len]
        .iter()
        .any(|byte| matches!(byte, b'g'..=b'z' | b'G'..=b'Z'));
    let is_name = is_name && rest[0].is_ascii_alphabetic() && is_end(&rest[len..]);
    is_port(line, at) || is_name
}

/// Whether the word after the dot at `end` is a port or service of an address from `start` on, as tools write it that show
/// flows with an arrow: `10.1.1.1.443 > 10.2.2.2.domain: ` (tcpdump), `10.1.1.1.https  <-> 10.2.2.2.51000` (argus).
#[cold]
pub(super) fn is_port_of_flow(line: &[u8], start: usize, end: usize) -> bool {
    let rest = &line[end + 1..];
    let word = rest.iter().take(LONGEST_NAME);
    let len = word
        .take_while(|&&byte| is_word(byte) || byte == b'-')
        .count();
    let (before, rest) = (line[..start].trim_ascii_end(), &rest[len..]);
    let is_after = |arrow: &[u8]| before.ends_with(arrow) && before.len() < start;
    let next = rest.trim_ascii_start();
    let is_before = |arrow: &&[u8]| next.starts_with(arrow) && next.len() < rest.len();
    let arrows: [&[u8]; 5] = [b"> ", b"< ", b"-> ", b"<- ", b"<-> "];
    len > 0
        && (arrows.iter().any(is_before)
            || rest.starts_with(b":") && is_after(b" >")
            || rest.starts_with(b" ") && (is_after(b"->") || is_after(b"<-")))
}

/// Whether `word`, before a colon, names what comes after it and is no group of an address: `src`, `IPv6`, `eth0`.
#[cold]
pub(super) fn is_label(word: &[u8]) -> bool {
    if !word.iter().any(u8::is_ascii_digit) {
        return !word.is_empty();
    }
    // A group with a letter before it (`g2001:db8::1`) is part of something else.
    let letters = word.iter().filter(|byte| byte.is_ascii_alphabetic());
    let is_more = |byte: &u8| byte.is_ascii_alphabetic() && !byte.is_ascii_hexdigit();
    word.iter().any(is_more) && (letters.count() > 1 || word.len() <= 3)
}
