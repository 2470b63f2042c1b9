//! IPv6 addresses from bytes: the forms without a dotted part (`2001:db8::1`) by a loop over
//! the digits, several times as fast as core::net. That decides on the rest, such as `::ffff:192.0.2.1`, so that no text
//! is an address here and none there.

use std::net::Ipv6Addr;
use std::str;

/// The address that the whole of `text` is.
#[inline]
pub(super) fn address(text: &[u8]) -> Option<u128> {
    match groups(text) {
        Some(address) => Some(address),
        None => general(text),
    }
}

/// Whatever the loop does not read, as core::net sees it.
#[cold]
fn general(text: &[u8]) -> Option<u128> {
    let address: Ipv6Addr = str::from_utf8(text).ok()?.parse().ok()?;
    Some(address.into())
}

/// Groups of hexadecimal digits, at most one run of zeros left out.
#[inline]
fn groups(text: &[u8]) -> Option<u128> {
    let mut bits = 0u128;
    let mut count = 0;
    // How many groups stand before the `::`.
    let mut gap = None;
    let mut at = 0;
    // A text may begin with two colons, and not with one.
    if let [b':', rest @ ..] = text {
        if rest.first() != Some(&b':') {
            return None;
        }
        gap = Some(0);
        at = 2;
    }
    while at < text.len() {
        let mut value = 0;
        let mut digits = 0;
        while let Some(&byte) = text.get(at)
            && let Some(digit) = HEX[usize::from(byte)]
        {
            value = value << 4 | u32::from(digit);
            digits += 1;
            at += 1;
            if digits > 4 {
                return None;
            }
        }
        if digits == 0 || count == 8 {
            return None;
        }
        bits = bits << 16 | u128::from(value);
        count += 1;
        match text.get(at) {
            None => break,
            Some(b':') => at += 1,
            Some(_) => return None,
        }
        if text.get(at) == Some(&b':') {
            if gap.replace(count).is_some() {
                return None;
            }
            at += 1;
        } else if at == text.len() {
            return None;
        }
    }
    match gap {
        None => (count == 8).then_some(bits),
        // The groups after the `::` stay at the low end, those before it move to the high one. At least one group is left out.
        Some(before) if count < 8 => {
            let behind = 16 * (count - before) as u32;
            let low = bits & !u128::MAX.checked_shl(behind)?;
            let high = bits >> behind;
            Some(high.checked_shl(128 - 16 * before as u32).unwrap_or(0) | low)
        }
        Some(_) => None,
    }
}

/// The values of hexadecimal digits. A table, as comparisons of ranges take a branch for each of the three.
const HEX: [Option<u8>; 256] = {
    let mut values = [None; 256];
    let mut byte = 0;
    while byte < 256 {
        values[byte] = match byte as u8 {
            digit @ b'0'..=b'9' => Some(digit - b'0'),
            digit @ b'a'..=b'f' => Some(digit - b'a' + 10),
            digit @ b'A'..=b'F' => Some(digit - b'A' + 10),
            _ => None,
        };
        byte += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::rounds;
    use proptest::prelude::*;

    /// What the loop reads, core::net reads likewise; and it reads all that has no dot.
    fn agrees(text: &[u8]) {
        let expected = str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse::<Ipv6Addr>().ok());
        let shown = String::from_utf8_lossy(text);
        let read = groups(text);
        if read.is_some() || !text.contains(&b'.') {
            assert_eq!(read.map(Ipv6Addr::from), expected, "{shown}");
        }
        assert_eq!(address(text).map(Ipv6Addr::from), expected, "{shown}");
    }

    #[test]
    fn reads_what_core_reads() {
        for text in [
            "",
            ":",
            "::",
            ":::",
            "::1",
            "1::",
            "1::1",
            "1",
            "1:",
            ":1",
            "1:2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7::",
            "::2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7:8::",
            "::1:2:3:4:5:6:7:8",
            "1::2:3:4:5:6:7:8",
            "1:2:3:4::5:6:7:8",
            "1:2:3:4:5:6:7:8:9",
            "1:2:3:4:5:6:7:8:",
            "1::2::3",
            "::1::",
            "12345::",
            "0001::",
            "00001::",
            "fe80::1%eth0",
            "FFFF::ffff",
            "::1.2.3.4",
            "::ffff:1.2.3.4",
            "1:2:3:4:5:6:1.2.3.4",
            "1:2:3:4:5:6:7:1.2.3.4",
            "1.2.3.4",
            "g::",
            "::g",
            " ::",
            ":: ",
            "1:2:3:4:5:6:7",
            "\u{e9}::",
        ] {
            agrees(text.as_bytes());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(rounds(5_000, 50_000)))]

        #[test]
        fn reads_every_address(bits: u128, mask: u128, more: u128) {
            // Masked twice, so that runs of zeros are frequent.
            let address = Ipv6Addr::from(bits & mask & more);
            agrees(address.to_string().as_bytes());
            let groups = address.segments().map(|s| format!("{s:04X}")).join(":");
            agrees(groups.as_bytes());
        }

        #[test]
        fn agrees_on_mutated_text(
            segments: [u16; 8], zeros: u8, at: usize, cut in 0..4, byte in proptest::sample::select(b"0123456789abcdefF:.:%g\x00\xff".to_vec()),
        ) {
            let mut segments = segments;
            for (index, segment) in segments.iter_mut().enumerate() {
                *segment *= u16::from(zeros >> index & 1);
            }
            let mut text = Ipv6Addr::from(segments).to_string().into_bytes();
            let place = at % text.len();
            match cut {
                0 => text[place] = byte,
                1 => text.insert(place, byte),
                2 => { text.remove(place); }
                _ => text.truncate(place),
            }
            agrees(&text);
        }

        #[test]
        fn agrees_on_any_text_of_its_characters(text in "[0-9a-f:.]{0,20}(::)?[0-9a-fA-F:]{0,20}") {
            agrees(text.as_bytes());
        }
    }
}
