//! Colours for matches: a line and its addresses in, the places of those that were searched for out; a line and places in, the line
//! with colours out.

use std::net::IpAddr;
use std::ops::Range;

use popfib_formats::addresses::find_address;

use super::AddressHit;
use crate::screen::MATCH;
use crate::stream::painter::paint;

/// The places in the line where an address is a hit. They are found again here, since batches do not keep them and few lines are
/// coloured.
pub(super) fn hits(line: &[u8], found: &[Option<AddressHit>]) -> Vec<Range<usize>> {
    let is_hit = |address: IpAddr| {
        let is_same = |hit: IpAddr| hit == address || hit == address.to_canonical();
        let mut found = found.iter().flatten();
        found.any(|&(hit, is_hit)| is_hit && is_same(hit))
    };
    let mut hits = Vec::new();
    let mut from = 0;
    while let Some(found) = find_address(line, from) {
        from = found.range.end;
        if is_hit(found.address) {
            hits.push(found.range);
        }
    }
    hits
}

/// The line with colours at these places, which are in order.
pub(super) fn highlighted(line: &[u8], places: &[Range<usize>]) -> Vec<u8> {
    let mut text = Vec::with_capacity(2 * line.len());
    let mut written = 0;
    for place in places {
        text.extend_from_slice(&line[written..place.start]);
        paint(MATCH, &line[place.clone()], &mut text);
        written = place.end;
    }
    text.extend_from_slice(&line[written..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_coloured_however_they_are_written() {
        let shown = |line: &str, searched: &[&str]| {
            let hit = |text: &&str| Some((text.parse().unwrap(), true));
            let mut found: Vec<_> = searched.iter().map(hit).collect();
            found.extend([None, Some(("10.0.0.9".parse().unwrap(), false))]);
            let line = line.as_bytes();
            let text = highlighted(line, &hits(line, &found));
            let text = String::from_utf8(text).unwrap();
            text.replace("\x1b[1m\x1b[31m", "<").replace("\x1b[0m", ">")
        };
        for (line, hits, wanted) in [
            ("", &[][..], ""),
            ("10.0.0.1 10.0.0.9", &["10.0.0.1"], "<10.0.0.1> 10.0.0.9"),
            (
                "a 10.0.0.1:80, b 10.0.0.1",
                &["10.0.0.1"],
                "a <10.0.0.1>:80, b <10.0.0.1>",
            ),
            ("[2001:DB8::1]:443", &["2001:db8::1"], "[<2001:DB8::1>]:443"),
            ("1[.]2[.]3[.]4 x", &["1.2.3.4"], "<1[.]2[.]3[.]4> x"),
            // As --unmap looks it up.
            ("::ffff:10.0.0.1", &["10.0.0.1"], "<::ffff:10.0.0.1>"),
        ] {
            assert_eq!(shown(line, hits), wanted);
        }
    }
}
