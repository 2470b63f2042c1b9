//! One address out of text: bytes in, the bits of an address out.
//!
//! As strict as `core::net` and faster: dotted IPv4 is read by words, IPv6 without a dotted part by one loop.

use std::net::IpAddr;

use super::{ipv4_line, ipv6};

/// The address of either family that the whole of `text` is, as `IpAddr` would
/// parse it.
#[inline]
pub fn parse_address(text: &[u8]) -> Option<IpAddr> {
    // The reader takes a window of fixed size; copying the text into one costs less than a branch for each digit.
    let mut window = [0; ipv4_line::WINDOW];
    if let Some(start) = window.get_mut(..text.len()) {
        start.copy_from_slice(text);
        if let Some(bits) = ipv4_line::whole_address(&window, text.len()) {
            return Some(IpAddr::V4(bits.into()));
        }
    }
    parse_ipv6(text).map(|bits| IpAddr::V6(bits.into()))
}

/// The IPv6 address that the whole of `text` is, as `Ipv6Addr` would parse it.
#[inline]
pub fn parse_ipv6(text: &[u8]) -> Option<u128> {
    ipv6::address(text)
}

/// The dotted IPv4 address that the `len` bytes from `start` on are, read where they lie, without the
/// copy that [`parse_address`] makes; what lies after them does not matter.
///
/// `None` for anything else, and where fewer than 20 bytes are left, so that this says nothing about them.
#[inline]
pub fn parse_ipv4_at(bytes: &[u8], start: usize, len: usize) -> Option<u32> {
    ipv4_line::whole_address(bytes.get(start..)?.first_chunk()?, len)
}
