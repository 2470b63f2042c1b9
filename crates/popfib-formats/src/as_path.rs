//! AS paths: what follows from their segments, however a path is written, and their text.
//!
//! As text a path is numbers between blanks, a set in braces, and the sequences and sets of a confederation in
//! parentheses and brackets: `(65001 65002) 64500 {64510,64511}`. That is how bgpdump and most routers write it; MRT and BMP have
//! the segments in binary. What decides among paths is here once for both: the length and the origin.

/// The kind of a segment (RFC 4271, section 4.3; RFC 5065, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    Set = 1,
    Sequence = 2,
    ConfedSequence = 3,
    ConfedSet = 4,
}

impl SegmentKind {
    /// The kind with this number in a message.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Set,
            2 => Self::Sequence,
            3 => Self::ConfedSequence,
            4 => Self::ConfedSet,
            _ => return None,
        })
    }

    /// How much a segment of `count` numbers adds to the length of its path: a set counts as one (RFC 4271,
    /// section 9.1.2.2), a confederation not at all (RFC 5065, section 5.3).
    pub(crate) fn length(self, count: u32) -> u32 {
        match self {
            Self::Sequence => count,
            Self::Set => count.min(1),
            Self::ConfedSequence | Self::ConfedSet => 0,
        }
    }

    /// A segment of these numbers as text.
    pub(crate) fn text(self, numbers: impl Iterator<Item = u32>) -> String {
        let joined = |sign| {
            let numbers: Vec<_> = numbers.map(|number| number.to_string()).collect();
            numbers.join(sign)
        };
        match self {
            Self::Sequence => joined(" "),
            Self::Set => format!("{{{}}}", joined(",")),
            Self::ConfedSequence => format!("({})", joined(" ")),
            Self::ConfedSet => format!("[{}]", joined(",")),
        }
    }

    /// Whether a segment decides about the origin of a path that it ends, or begins: confederations do not.
    pub(crate) fn is_outside(self) -> bool {
        matches!(self, Self::Set | Self::Sequence)
    }
}

/// Writes the origin of a path whose last segment outside of confederations is `last`: the last AS of a sequence;
/// a set as `{64500,64501}`, in order and without repetitions, since nobody knows which of its ASes it was; the AS
/// of the peer if there is none (RFC 6811, section 2).
pub(crate) fn write_origin<N>(last: Option<(SegmentKind, N)>, peer_as: u32, to: &mut String)
where
    N: DoubleEndedIterator<Item = u32>,
{
    let number = match last {
        Some((SegmentKind::Set, members)) => {
            let mut members: Vec<u32> = members.collect();
            members.sort_unstable();
            members.dedup();
            let texts: Vec<_> = members.iter().map(u32::to_string).collect();
            to.push('{');
            to.push_str(&texts.join(","));
            to.push('}');
            return;
        }
        Some((_, mut numbers)) => numbers.next_back().unwrap_or(peer_as),
        None => peer_as,
    };
    to.push_str(&number.to_string());
}

/// An AS number: a number of 32 bits, or two of 16 joined by a dot.
pub(crate) fn as_number(text: &str) -> Option<u32> {
    // Digits alone: `from_str` would take a sign.
    if let Ok(number) = text.parse() {
        return (!text.starts_with('+')).then_some(number);
    }
    let (high, low) = text.split_once('.').filter(|_| !text.contains('+'))?;
    let (high, low) = (high.parse::<u16>().ok()?, low.parse::<u16>().ok()?);
    Some(u32::from(high) << 16 | u32::from(low))
}

/// The error of a text that is no AS path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotAPath;

/// The segments of a path as text: their kinds, and their numbers between blanks and commas. None is empty.
pub(crate) struct PathSegments<'a>(&'a str);

/// The segments of `path`.
pub(crate) fn segments(path: &str) -> PathSegments<'_> {
    PathSegments(path)
}

impl<'a> Iterator for PathSegments<'a> {
    type Item = Result<(SegmentKind, &'a str), NotAPath>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self.0.trim_ascii_start();
            let (kind, close) = match text.bytes().next()? {
                b'{' => (SegmentKind::Set, '}'),
                b'(' => (SegmentKind::ConfedSequence, ')'),
                b'[' => (SegmentKind::ConfedSet, ']'),
                _ => {
                    let end = text.find(['{', '(', '[']).unwrap_or(text.len());
                    let (numbers, rest) = text.split_at(end);
                    self.0 = rest;
                    return Some(Ok((SegmentKind::Sequence, numbers.trim_ascii_end())));
                }
            };
            let Some((numbers, rest)) = text[1..].split_once(close) else {
                self.0 = "";
                return Some(Err(NotAPath));
            };
            self.0 = rest;
            if words(numbers).next().is_some() {
                return Some(Ok((kind, numbers)));
            }
        }
    }
}

/// The words of a segment: its numbers, if it is right.
fn words(numbers: &str) -> impl DoubleEndedIterator<Item = &str> {
    // Two separators in a row are one, as in `{64510, 64511}`.
    let is_word = |word: &&str| !word.is_empty();
    numbers.split([' ', ',', '\t']).filter(is_word)
}

/// The numbers of a segment.
pub(crate) fn numbers(segment: &str) -> Result<Vec<u32>, NotAPath> {
    let numbers = words(segment).map(|word| as_number(word).ok_or(NotAPath));
    numbers.collect()
}

/// The length of a path as routers compare it.
pub(crate) fn length(path: &str) -> Result<u32, NotAPath> {
    let mut length = 0;
    for segment in segments(path) {
        let (kind, numbers) = segment?;
        length += kind.length(words(numbers).count() as u32);
    }
    Ok(length)
}

/// Writes the origin of a path that a peer of this AS sent.
pub(crate) fn write_origin_of(path: &str, peer_as: u32, to: &mut String) -> Result<(), NotAPath> {
    let mut last = None;
    for segment in segments(path) {
        let (kind, numbers) = segment?;
        if kind.is_outside() {
            last = Some((kind, numbers));
        }
    }
    match last {
        // Without a list of its numbers: most paths end in one.
        Some((SegmentKind::Sequence, segment)) => {
            let mut end = None;
            for word in words(segment) {
                end = Some(as_number(word).ok_or(NotAPath)?);
            }
            write_origin(Some((SegmentKind::Sequence, end.into_iter())), peer_as, to);
        }
        Some((kind, segment)) => {
            write_origin(Some((kind, numbers(segment)?.into_iter())), peer_as, to);
        }
        None => write_origin(None::<(_, std::option::IntoIter<u32>)>, peer_as, to),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(path: &str) -> Option<String> {
        let mut text = String::new();
        let written = write_origin_of(path, 64999, &mut text);
        written.is_ok().then_some(text)
    }

    #[test]
    fn lengths_and_origins() {
        for (path, of_length, from) in [
            ("", 0, "64999"),
            ("64500", 1, "64500"),
            ("64500 64510", 2, "64510"),
            ("1.10", 1, "65546"),
            ("64500 {64511,64510}", 2, "{64510,64511}"),
            ("64500 {64511 64510,64511}", 2, "{64510,64511}"),
            ("64500 {64511}", 2, "{64511}"),
            ("64500 {}", 1, "64500"),
            ("{64510,64511} 64500", 2, "64500"),
            ("(65001 65002) 64500 64510", 2, "64510"),
            ("64500 64510 [65001,65002]", 2, "64510"),
            ("64500 64510 (65001 65002)", 2, "64510"),
            ("64500 {7} (65001 65002)[65003]", 2, "{7}"),
            ("(65001 65002 65003)", 0, "64999"),
            ("[65001]", 0, "64999"),
        ] {
            assert_eq!(length(path), Ok(of_length), "{path}");
            assert_eq!(origin(path).as_deref(), Some(from), "{path}");
        }
        for path in ["{1", "1 (2", "1 x", "[1,2", "1 {x}", "-1", "1 4294967296"] {
            assert_eq!(origin(path), None, "{path}");
        }
    }
}
