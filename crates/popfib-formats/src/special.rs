//! The embedded table of special-purpose addresses: IANA's registries (RFC 6890), multicast and reserved space.
//!
//! JSON lines, read as any file of the user's is: so all options of tables work on it, too, and no code of its own. Where it comes
//! from is documented in `data/README.md`.

use popfib::image::Source;

use crate::input::{Input, InputKind};

/// The name of [`Input::special`].
pub const SPECIAL_TABLE_NAME: &str = "special";

static ROUTES: &[u8] = include_bytes!("../data/special.jsonl");

impl Input {
    /// The embedded table of special-purpose addresses, called [`SPECIAL_TABLE_NAME`]: 27 IPv4 and 42
    /// IPv6 prefixes.
    ///
    /// Its columns are `name`, which is its value, the registries' flags `source`, `destination`, `forwardable`, `global` and
    /// `reserved_by_protocol`, booleans that are missing where the registries have none, and `rfc`.
    ///
    /// ```
    /// use popfib_formats::{Input, LoadOptions, RouteTable, load};
    ///
    /// let table: RouteTable = load(Input::special(), &LoadOptions::new())?;
    /// assert_eq!(table.route_count(), 69);
    /// # Ok::<(), popfib_formats::ReadError>(())
    /// ```
    pub fn special() -> Self {
        let source = Source {
            name: SPECIAL_TABLE_NAME.to_owned(),
            description: "special-purpose address registries of IANA, multicast and reserved space"
                .to_owned(),
            licence: "CC0 1.0".to_owned(),
            date: "2026-07-18".to_owned(),
        };
        Self::embedded(source, ROUTES, InputKind::Bytes)
    }
}
