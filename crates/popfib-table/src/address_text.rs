//! An address in, its text out, as `core::net` displays it but several times as fast: the formatting of `core::net` goes through
//! `fmt`, digit by digit, and here octets come out of a table.

use std::io::Write;
use std::net::{IpAddr, Ipv6Addr};

/// The length of a buffer for any IPv4 address; the longest is one byte shorter.
const IPV4_TEXT: usize = 16;
/// The length of a buffer for any IPv6 address; the longest is one byte shorter.
pub const IPV6_TEXT: usize = 40;

/// Each octet as text with a dot after it.
const OCTETS: [[u8; 4]; 256] = {
    let mut texts = [[0; 4]; 256];
    let mut octet = 0;
    while octet < 256 {
        let digits = [octet / 100, octet / 10 % 10, octet % 10];
        let skipped = 3 - octet_digits(octet as u8);
        let mut at = skipped;
        while at < 3 {
            texts[octet][at - skipped] = b'0' + digits[at] as u8;
            at += 1;
        }
        texts[octet][3 - skipped] = b'.';
        octet += 1;
    }
    texts
};

#[inline(always)]
const fn octet_digits(octet: u8) -> usize {
    1 + (octet > 9) as usize + (octet > 99) as usize
}

/// Writes an address of either family to the start of `text`; says how many bytes it takes.
#[inline]
pub fn write_ip(address: IpAddr, text: &mut [u8; IPV6_TEXT]) -> usize {
    match address {
        IpAddr::V4(address) => {
            let text = text.first_chunk_mut().expect("IPv6 is longer");
            write_ipv4(address.into(), text)
        }
        IpAddr::V6(address) => write_ipv6(address.into(), text),
    }
}

/// Writes an IPv4 address to the start of `text`; says how many bytes it takes.
#[inline]
fn write_ipv4(address: u32, text: &mut [u8; IPV4_TEXT]) -> usize {
    let mut at = 0;
    for octet in address.to_be_bytes() {
        // At most 12 before the last, so the mask changes nothing but saves a check.
        text[at & 15..][..4].copy_from_slice(&OCTETS[usize::from(octet)]);
        at += octet_digits(octet) + 1;
    }
    at - 1
}

/// Writes an IPv6 address to the start of `text` in its canonical form (RFC 5952); says how many bytes it takes.
#[inline]
fn write_ipv6(address: u128, text: &mut [u8; IPV6_TEXT]) -> usize {
    if address >> 32 == 0xffff {
        return write_mapped(address, text);
    }
    let segments = Ipv6Addr::from(address).segments();
    let (gap, gap_end) = longest_zeros(&segments);
    let mut at = 0;
    let mut index = 0;
    while index < 8 {
        if index == gap {
            text[at] = b':';
            // The colon after the group before is there already, but for the first.
            if index == 0 {
                text[1] = b':';
                at += 1;
            }
            at += 1;
            index = gap_end;
            continue;
        }
        let segment = segments[index];
        let digits = (4 - segment.leading_zeros() as usize / 4).max(1);
        for digit in (0..digits).rev() {
            text[at] = b"0123456789abcdef"[usize::from(segment >> (4 * digit) & 15)];
            at += 1;
        }
        index += 1;
        if index < 8 {
            text[at] = b':';
            at += 1;
        }
    }
    at
}

/// The first of the longest runs of at least two zeros, from and to; (8, 8) if there is none.
#[inline]
fn longest_zeros(segments: &[u16; 8]) -> (usize, usize) {
    let (mut longest, mut at) = ((8, 8), 0);
    let mut len = 1;
    while at < 8 {
        let start = at;
        while at < 8 && segments[at] == 0 {
            at += 1;
        }
        if at - start > len {
            len = at - start;
            longest = (start, at);
        }
        at += 1;
    }
    longest
}

/// A v4-mapped address, shown with a dotted part.
#[cold]
fn write_mapped(address: u128, text: &mut [u8; IPV6_TEXT]) -> usize {
    let mut rest = &mut text[..];
    write!(rest, "{}", Ipv6Addr::from(address)).expect("there is room for the longest");
    let free = rest.len();
    IPV6_TEXT - free
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::rounds;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    #[track_caller]
    fn agrees(address: u128) {
        let mut text = [0; IPV6_TEXT];
        let len = write_ipv6(address, &mut text);
        assert_eq!(text[..len], *Ipv6Addr::from(address).to_string().as_bytes());

        let address = address as u32;
        let mut text = [0; IPV4_TEXT];
        let len = write_ipv4(address, &mut text);
        assert_eq!(text[..len], *Ipv4Addr::from(address).to_string().as_bytes());
    }

    #[test]
    fn is_what_core_shows() {
        for octet in 0..=255 {
            agrees(u128::from(u32::from_be_bytes([
                octet,
                255 - octet,
                octet,
                7,
            ])));
        }
        // Every pattern of zero segments, with segments of every length.
        for zeros in 0..=255 {
            for value in [1, 0x10, 0x100, 0x1000, 0xffff] {
                let segments =
                    std::array::from_fn(|i| if zeros >> i & 1 == 1 { 0u16 } else { value });
                agrees(Ipv6Addr::from(segments).into());
            }
        }
        for address in [
            "::ffff:1.2.3.4",
            "::ffff:0.0.0.0",
            "::1.2.3.4",
            "::ffff:0:1.2.3.4",
        ] {
            agrees(address.parse::<Ipv6Addr>().unwrap().into());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(rounds(20_000, 200_000)))]

        #[test]
        fn is_what_core_shows_for_any_bits(bits: u128, mask: u128, more: u128) {
            agrees(bits);
            agrees(bits & mask & more);
        }
    }
}
