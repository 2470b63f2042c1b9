//! Numbers, prefixes and addresses in, their text out into memory.

use std::fmt;
use std::io::Write;
use std::net::IpAddr;

use popfib::IpPrefix;
use popfib_table::{IPV6_TEXT, PrefixText, write_ip};

/// Appends formatted text.
pub(super) fn push(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    // Writing to a Vec cannot fail.
    let _ = out.write_fmt(text);
}

/// Appends a prefix. Formatted as other texts are, prefixes would take most of the time of a list.
pub(super) fn push_prefix(out: &mut Vec<u8>, prefix: IpPrefix) {
    out.extend_from_slice(PrefixText::new(prefix).as_bytes());
}

/// Appends an address.
pub(super) fn push_address(out: &mut Vec<u8>, address: IpAddr) {
    let mut text = [0; IPV6_TEXT];
    let len = write_ip(address, &mut text);
    out.extend_from_slice(&text[..len]);
}
