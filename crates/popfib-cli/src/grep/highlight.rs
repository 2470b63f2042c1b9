//! Colours for the addresses of a line that were searched for.

use std::net::IpAddr;

use popfib_formats::find_address;

use super::Hit;
use crate::screen::MATCH;
use crate::stream::painter::paint;

/// The line with colours wherever it has an address that is a hit.
pub(super) fn highlighted(line: &[u8], found: &[Option<Hit>]) -> Vec<u8> {
    let is_hit = |address: IpAddr| {
        let is_same = |hit: IpAddr| hit == address || hit == address.to_canonical();
        let mut found = found.iter().flatten();
        found.any(|&(hit, is_hit)| is_hit && is_same(hit))
    };
    let mut text = Vec::with_capacity(2 * line.len());
    let (mut written, mut from) = (0, 0);
    while let Some(found) = find_address(line, from) {
        from = found.range.end;
        if is_hit(found.address) {
            text.extend_from_slice(&line[written..found.range.start]);
            written = found.range.end;
            paint(MATCH, &line[found.range], &mut text);
        }
    }
    text.extend_from_slice(&line[written..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_coloured_however_they_are_written() {
        let shown = |line: &str, hits: &[&str]| {
            let hit = |text: &&str| Some((text.parse().unwrap(), true));
            let mut found: Vec<_> = hits.iter().map(hit).collect();
            found.extend([None, Some(("10.0.0.9".parse().unwrap(), false))]);
            let text = highlighted(line.as_bytes(), &found);
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
