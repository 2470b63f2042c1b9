//! JSON formats: items of a document in, routes out, a module for each kind of document.
//!
//! A whole document may be larger than memory, and serde_json would build all of it or stream only into
//! types that are known beforehand. So [`Items`](crate::items::Items) cuts the document, each
//! [`Grammar`](crate::grammar::Grammar) here says which objects and lists are to be cut open, and each item
//! goes to serde_json alone.
//!
//! All these formats begin with the same few bytes. The keys in the head tell which one it is
//! ([`strings`]), and each `detect` leaves alone what a more special format takes ([`is_others`]).

mod finder;
pub(crate) mod frr;
pub(crate) mod ip_route;
pub(crate) mod lists;
pub(crate) mod members;
pub(crate) mod nft;
mod node;
pub(crate) mod records;
pub(crate) mod routers;
mod shape;
mod strings;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Error;
use serde_json::value::RawValue;

use crate::leaves::{RecordLeaves, RecordNode};
use crate::rows::RouteRows;

/// The value that `json` is, or what is wrong with it.
pub(crate) fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|e| reason(&e))
}

/// What is wrong with an item, without the line and column that serde_json adds: they count from
/// the item's start and would be taken for a place in the file.
pub(crate) fn reason(error: &Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    // A type of Rust says nothing to a user.
    match text[..end].strip_suffix("expected u64") {
        Some(start) => format!("{start}expected a number"),
        None => text[..end].to_owned(),
    }
}

/// Makes the columns of `node` the record at hand; one without any value is absent, unless it is that of a list without values.
fn record(leaves: &mut RecordLeaves, node: &RecordNode<'_>, is_bare: bool, rows: &mut RouteRows) {
    leaves.fill(node, &mut rows.values);
    if rows.values.is_blank() && !is_bare {
        rows.absent();
    }
}

/// The first byte of a document's head that is no blank.
pub(crate) fn first_byte(head: &[u8]) -> Option<u8> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.trim_ascii_start().first().copied()
}

/// The first value of a head, if it ends there.
fn first_value(head: &[u8]) -> Option<&str> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut values = serde_json::Deserializer::from_slice(head).into_iter::<&RawValue>();
    values.next()?.ok().map(RawValue::get)
}

/// Whether the keys in a head are those of a format that is more special than prefixes with values: VRPs, rule
/// sets of nftables, routes of Linux. `dst` tells only in an array, as elsewhere it may be anything.
fn is_others(head: &[u8]) -> bool {
    let is_array = first_byte(head) == Some(b'[');
    keys(head).any(|key| match &*key {
        "maxLength" | "slurmVersion" | "nftables" => true,
        key => is_array && key == "dst",
    })
}

/// The keys of the objects in a head.
fn keys(head: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    strings::strings(head).filter_map(|string| match string.role {
        strings::StringRole::Key(key) => Some(key),
        strings::StringRole::Element(_) | strings::StringRole::Value(_) => None,
    })
}
