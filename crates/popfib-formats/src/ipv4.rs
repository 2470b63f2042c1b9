//! Dotted IPv4 addresses and prefixes from bytes: `192.0.2.0/24` in, bits and a length out.
//!
//! A shortcut for the form that nearly all lines of a table have: several times
//! as fast as the general parsers, and silent about everything else. What it
//! doesn't read goes to those parsers, so they alone decide what is an error.

/// Reads `A.B.C.D` at the start of `text`: the address and the number of bytes read.
///
/// Up to the caller: whether what follows may follow. `None` for any other text, addresses of other
/// forms among it. Constant time.
#[inline]
pub fn address(text: &[u8]) -> Option<(u32, usize)> {
    let mut bits = 0;
    let mut at = 0;
    for octet in 0..4 {
        if octet > 0 {
            if text.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
        let (value, digits) = number(&text[at..], 3)?;
        // As core::net: no leading zeros, which some take for octal.
        if value > 255 || digits > 1 && text[at] == b'0' {
            return None;
        }
        bits = bits << 8 | value;
        at += digits;
    }
    Some((bits, at))
}

/// Reads `A.B.C.D` or `A.B.C.D/LENGTH` at the start of `text`: address, length
/// (possibly too long), and the number of bytes read.
#[inline]
pub(crate) fn prefix(text: &[u8]) -> Option<(u32, u8, usize)> {
    let (bits, at) = address(text)?;
    if text.get(at) != Some(&b'/') {
        return Some((bits, 32, at));
    }
    let (len, digits) = number(&text[at + 1..], 2)?;
    Some((bits, len as u8, at + 1 + digits))
}

/// The number of at least one and at most `limit` digits, and how many there were.
#[inline(always)]
fn number(text: &[u8], limit: usize) -> Option<(u32, usize)> {
    let mut value = 0;
    let mut digits = 0;
    while digits < limit
        && let Some(digit) = text.get(digits).map(|b| b.wrapping_sub(b'0'))
        && digit < 10
    {
        value = value * 10 + u32::from(digit);
        digits += 1;
    }
    (digits > 0).then_some((value, digits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::{Prefix, PrefixError};
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    /// What the shortcut reads, the general parsers read likewise; and it
    /// reads every whole text that they read, apart from lengths of three digits.
    fn agrees(text: &str) {
        let whole = address(text.as_bytes()).filter(|&(_, read)| read == text.len());
        let general = text.parse::<Ipv4Addr>().ok().map(u32::from);
        assert_eq!(whole.map(|(bits, _)| bits), general, "{text}");

        let whole = prefix(text.as_bytes()).filter(|&(.., read)| read == text.len());
        let general = text.parse::<Prefix<u32>>();
        match whole {
            Some((bits, len, _)) => assert_eq!(Prefix::new(bits, len), general, "{text}"),
            None => assert!(
                match general {
                    Ok(_) => text.split('/').nth(1).is_some_and(|len| len.len() > 2),
                    Err(PrefixError::HostBits | PrefixError::Length { .. }) =>
                        text.split('/').nth(1).is_some_and(|len| len.len() > 2),
                    Err(_) => true,
                },
                "{text}"
            ),
        }
    }

    #[test]
    fn reads_what_the_general_parsers_read() {
        for text in [
            "",
            "0",
            "1.2.3",
            "1.2.3.",
            "1.2.3.4",
            "1.2.3.4.5",
            "0.0.0.0/0",
            "255.255.255.255/32",
            "256.0.0.0",
            "1.2.3.256",
            "01.2.3.4",
            "1.2.3.00",
            "1.2.3.04",
            "0001.2.3.4",
            "1.2.3.4/",
            "10.0.0.0/8",
            "10.0.0.0/08",
            "10.0.0.0/008",
            "10.0.0.0/33",
            "10.0.0.0/99",
            "10.0.0.0/264",
            "10.0.0.0/+8",
            "10.0.0.0/-8",
            "10.0.0.0/8/8",
            "10.0.0.1/8",
            "1..2.3",
            ".1.2.3.4",
            "+1.2.3.4",
            " 1.2.3.4",
            "1.2.3.4 ",
            "::",
            "1.2.3.4:5",
            "999.1.1.1",
        ] {
            agrees(text);
        }
    }

    #[test]
    fn stops_behind_the_prefix() {
        assert_eq!(prefix(b"10.0.0.0/8 x"), Some((10 << 24, 8, 10)));
        assert_eq!(prefix(b"10.0.0.0,x"), Some((10 << 24, 32, 8)));
        assert_eq!(prefix(b"10.0.0.0/123"), Some((10 << 24, 12, 11)));
        assert_eq!(address(b"10.0.0.1234"), Some((0x0a00_007b, 10)));
    }

    proptest! {
        #[test]
        fn agrees_on_nearly_legal_text(text in "[0-9]{1,3}(\\.[0-9]{1,3}){2,4}(/[0-9]{0,3})?") {
            agrees(&text);
        }

        #[test]
        fn agrees_on_any_text_of_its_characters(text in "[0-9./]{0,22}") {
            agrees(&text);
        }

        #[test]
        fn reads_every_prefix(bits: u32, len in 0u8..=32) {
            let prefix = Prefix::new_masked(bits, len).unwrap();
            agrees(&prefix.to_string());
            agrees(&Ipv4Addr::from(bits).to_string());
        }
    }
}
