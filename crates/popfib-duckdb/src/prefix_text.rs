//! Prefixes as text, without a heap.

use std::net::IpAddr;

use popfib::IpPrefix;
use popfib_table::{IPV4_TEXT, IPV6_TEXT, write_ipv4, write_ipv6};

/// Room for the longest: `/128`.
const LENGTH: usize = 4;

/// A prefix as text.
#[derive(Clone, Copy)]
pub(crate) struct PrefixText {
    text: [u8; IPV6_TEXT + LENGTH],
    len: u8,
}

impl PrefixText {
    #[inline]
    pub(crate) fn new(prefix: IpPrefix) -> Self {
        let mut text = [0; IPV6_TEXT + LENGTH];
        let mut end = match prefix.address() {
            IpAddr::V4(address) => {
                let start = text.first_chunk_mut::<IPV4_TEXT>();
                start.map_or(0, |start| write_ipv4(address.into(), start))
            }
            IpAddr::V6(address) => {
                let start = text.first_chunk_mut::<IPV6_TEXT>();
                start.map_or(0, |start| write_ipv6(address.into(), start))
            }
        };
        text[end] = b'/';
        let len = prefix.len();
        for (power, digit) in [(100, len / 100), (10, len / 10 % 10), (1, len % 10)] {
            if len >= power || power == 1 {
                end += 1;
                text[end] = b'0' + digit;
            }
        }
        Self {
            text,
            len: end as u8 + 1,
        }
    }

    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.text[..usize::from(self.len)]
    }
}
