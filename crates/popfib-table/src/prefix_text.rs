//! [`PrefixText`]: a prefix in, its text out, without a heap. Every door writes millions of them a second.

use popfib::IpPrefix;

use crate::address_text::{IPV6_TEXT, write_ip};

/// The text of a prefix, as `Display` writes it but several times as fast.
#[derive(Clone, Copy, Debug)]
pub struct PrefixText {
    text: [u8; PrefixText::ROOM],
    len: u8,
}

impl PrefixText {
    /// Room for the longest, an IPv6 address and `/128`.
    pub const ROOM: usize = IPV6_TEXT + 4;

    /// The text of `prefix`.
    #[inline]
    pub fn new(prefix: impl Into<IpPrefix>) -> Self {
        let mut text = [0; Self::ROOM];
        let len = Self::write(prefix, &mut text) as u8;
        Self { text, len }
    }

    /// Writes the text of `prefix` to the start of `text`; says how many bytes it takes.
    #[inline]
    pub fn write(prefix: impl Into<IpPrefix>, text: &mut [u8; Self::ROOM]) -> usize {
        let prefix = prefix.into();
        let (address, _) = text
            .split_first_chunk_mut::<IPV6_TEXT>()
            .expect("there are as many");
        let mut end = write_ip(prefix.address(), address);
        text[end] = b'/';
        end += 1;
        let len = prefix.len();
        for unit in [100, 10, 1] {
            if len >= unit || unit == 1 {
                text[end] = b'0' + len / unit % 10;
                end += 1;
            }
        }
        end
    }

    /// The text as bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..usize::from(self.len)]
    }

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).expect("digits and marks are ASCII")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::Prefix;

    #[test]
    fn prefixes_are_written_as_they_display() {
        for len in 0..=128 {
            for bits in [
                0,
                u128::MAX,
                0x2001_0db8 << 96 | 0xc0a8_0a01,
                0xffff_0102_0304,
            ] {
                let prefix = Prefix::new_masked(bits, len).unwrap();
                assert_eq!(PrefixText::new(prefix).as_str(), prefix.to_string());
                if let Ok(prefix) = Prefix::new_masked(bits as u32, len) {
                    assert_eq!(PrefixText::new(prefix).as_str(), prefix.to_string());
                }
            }
        }
    }
}
