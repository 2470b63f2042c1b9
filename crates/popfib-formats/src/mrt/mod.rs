//! MRT, the binary files of route collectors (RFC 6396): bytes of a file in, the routes, paths or updates of its records out.
//!
//! ```text
//! records   the bytes in records: time, type, subtype, body
//! kinds     which types there are, and how a file is recognised
//! table     of each prefix the best path       entries     the paths in a record
//! paths     every path                         attributes  what a path has
//! updates   the changes of BGP messages        message     what a message says
//! fill      attributes as a BgpPath            packed      attributes as bytes, to be kept
//! bytes     the fields of all of these         communities these attributes as bytes and as text
//! ```
//! Tables are TABLE_DUMP_V2 (unicast, also with additional paths, RFC 8050) and
//! TABLE_DUMP; updates are BGP4MP and BGP4MP_ET. Records of other kinds are
//! left out, counted and noted. What a record holds is read as strictly as it
//! takes to be sure of its routes: a length that doesn't fit makes the record
//! invalid, and the next one is read all the same.
//!
//! Rejected: the parser `bgpkit-parser`. It decodes every attribute into values
//! of its own, which takes many times as long (docs/formats.md); it
//! leaves out what is damaged without telling, while a table must not be silent
//! about missing routes; and it brings 40 crates for a dozen attributes.
//! It is the oracle of the tests.

mod attributes;
mod bytes;
mod communities;
mod entries;
mod fill;
mod kinds;
mod message;
mod packed;
mod paths;
mod records;
mod table;
mod updates;

pub use message::{BgpChange, BgpForm, BgpUpdate};
pub use packed::{pack_path, unpack_path};
pub(crate) use paths::MrtPaths;
pub(crate) use table::FORMAT;
pub(crate) use updates::FORMAT as UPDATE_FORMAT;
