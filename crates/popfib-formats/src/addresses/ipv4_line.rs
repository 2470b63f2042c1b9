//! A line that is one dotted IPv4 address and nothing else, 16 bytes at a time: bytes in, 32 bits and a length out.
//!
//! All dots and the line's end are found at once as the bytes that are no
//! digits, and each octet is then taken apart whatever its length: a loop over
//! the digits mispredicts a branch for nearly every octet of random addresses.
//! Silent about all other lines, like `ipv4`: they go to the general way.
//!
//! No SIMD instructions: two words of 64 bits do it on any CPU, without `unsafe`.

/// The bytes that have to be there: the longest line, and a word after the last octet.
pub(super) const WINDOW: usize = 20;

/// The longest address.
const LONGEST: usize = "255.255.255.255".len();

/// A one in each byte, which spreads what it is multiplied by over all of them.
const ONES: u64 = 0x0101_0101_0101_0101;

/// One bit for each byte of `word` that is not a digit.
#[inline(always)]
fn non_digits(word: u64) -> u32 {
    // A digit becomes its value, anything else at least 10, and then 0x80 or more.
    let values = word ^ (ONES * 0x30);
    let marks = (((values & (ONES * 0x7f)) + ONES * 0x76) | values) & (ONES * 0x80);
    ((marks >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
}

/// The address at the start of `window` and its length, if a line end (LF or CR) follows it.
#[inline(always)]
pub(super) fn address(window: &[u8; WINDOW]) -> Option<(u32, usize)> {
    // The bit after stands for a line end out of sight: it fails the test of that byte or is one.
    let (bits, len) = octets(window, 16)?;
    matches!(window[len.min(WINDOW - 1)], b'\n' | b'\r').then_some((bits, len))
}

/// The address that the first `len` bytes of `window` are, whatever follows them.
#[inline(always)]
pub(super) fn whole_address(window: &[u8; WINDOW], len: usize) -> Option<u32> {
    if len > LONGEST {
        return None;
    }
    let (bits, read) = octets(window, len)?;
    (read == len).then_some(bits)
}

/// The address that `window` begins with and its length, whatever follows it but a digit.
#[inline(always)]
pub(super) fn leading(window: &[u8; WINDOW]) -> Option<(u32, usize)> {
    octets(window, 16)
}

/// Four octets, and where the fourth ends: at `limit`, which is up to 16, or at a byte before that is no
/// digit.
#[inline(always)]
fn octets(window: &[u8; WINDOW], limit: usize) -> Option<(u32, usize)> {
    let [low, high] = [0, 8]
        .map(|at| u64::from_le_bytes(*window[at..].first_chunk().expect("a window has 16 bytes")));
    let mut ends = non_digits(low) | non_digits(high) << 8 | 1 << limit;
    let mut bits = 0;
    let mut good = true;
    let mut start = 0;
    for octet in 0..4 {
        let end = ends.trailing_zeros() as usize & 31;
        ends &= ends.wrapping_sub(1);
        // Wraps where bytes that are no digits follow each other or there are too few.
        let len = end.wrapping_sub(start);
        let word = u32::from_le_bytes(
            *window[start & 15..]
                .first_chunk()
                .expect("a window has a word after 15 bytes"),
        );
        // The last digit goes to the highest byte; zeros come in for those that are not there.
        let digits =
            (word << (32u32.wrapping_sub((len as u32).wrapping_mul(8)) & 31)) & 0x0f0f_0f0f;
        let value = (digits >> 8 & 15) * 100 + (digits >> 16 & 15) * 10 + (digits >> 24);
        bits = bits << 8 | value;
        let is_separated = octet == 3 || window[end.min(WINDOW - 1)] == b'.';
        // As core::net: no leading zeros, which some take for octal.
        let is_octal = (word & 0xff == u32::from(b'0')) & (len > 1);
        good &= (len.wrapping_sub(1) < 3) & (value < 256) & is_separated & !is_octal;
        start = end + 1;
    }
    good.then_some((bits, start - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::rounds;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    /// `line` as core::net reads what is before its end.
    fn agrees(line: &[u8]) {
        let mut window = [b'7'; WINDOW];
        let len = line.len().min(WINDOW);
        window[..len].copy_from_slice(&line[..len]);
        let end = window[..17.min(WINDOW)]
            .iter()
            .position(|b| matches!(b, b'\n' | b'\r'));
        let expected = end.and_then(|end| {
            let text = std::str::from_utf8(&window[..end]).ok()?;
            Some((u32::from(text.parse::<Ipv4Addr>().ok()?), end))
        });
        assert_eq!(
            address(&window),
            expected,
            "{:?}",
            String::from_utf8_lossy(line)
        );
        // The same without its end, whatever follows it.
        for len in 0..=WINDOW {
            let text = std::str::from_utf8(&window[..len]).ok();
            let expected = text.and_then(|text| text.parse::<Ipv4Addr>().ok());
            assert_eq!(whole_address(&window, len), expected.map(u32::from));
        }
    }

    #[test]
    fn reads_lines_of_one_address() {
        for line in [
            "1.2.3.4\n",
            "255.255.255.255\n",
            "255.255.255.255\r\n",
            "0.0.0.0\r\n",
            "1.2.3.4",
            "1.2.3.4 \n",
            "1.2.3.256\n",
            "1.2.3.04\n",
            "1.2.3.00\n",
            "01.2.3.4\n",
            "1.2.3\n",
            "1..3.4\n",
            ".1.2.3.4\n",
            "1.2.3.4.5\n",
            "\n",
            "\n\n\n\n",
            "....",
            "1234.1.1.1\n",
            "1.2.3.4#\n",
            "1:2.3.4\n",
            "255.255.255.2555\n",
            "1111111111111111",
            "1.1.1.1111111111111",
            "/.0.0.0\n",
            ":.0.0.0\n",
            "\u{b1}.2.3.4\n",
            "1.2.3.4\n5.6.7.8\n",
        ] {
            agrees(line.as_bytes());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(rounds(2_000, 20_000)))]

        #[test]
        fn reads_every_address(bits: u32, end in "\n|\r\n", behind in "[0-9.\n]{0,9}") {
            let text = Ipv4Addr::from(bits).to_string();
            let line = format!("{text}{end}{behind}");
            agrees(line.as_bytes());
            let mut window = [0; WINDOW];
            let len = line.len().min(WINDOW);
            window[..len].copy_from_slice(&line.as_bytes()[..len]);
            prop_assert_eq!(address(&window), Some((bits, text.len())));
        }

        #[test]
        fn agrees_on_nearly_legal_text(line in "[0-9]{1,3}(\\.[0-9]{1,3}){2,4}[\r\n .]{0,2}") {
            agrees(line.as_bytes());
        }

        #[test]
        fn agrees_on_any_text_of_its_characters(line in "[0-9.\r\n]{0,20}") {
            agrees(line.as_bytes());
        }

        #[test]
        fn agrees_on_any_bytes(line in proptest::collection::vec(any::<u8>(), 0..20)) {
            agrees(&line);
        }
    }
}
