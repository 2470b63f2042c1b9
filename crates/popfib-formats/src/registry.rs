//! What the formats of tables, of updates and of addresses have in common: a [`FormatEntry`], which says how a format is called,
//! recognised and opened, and what it can do.
//!
//! The entry of a format is in the file that reads it. Which formats there are stands in one
//! list for each kind (`format.rs`, `updates.rs`, `addresses/format.rs`): to add one is a
//! file, its line as a module, and its line in a list.

use crate::error::ReadError;
use crate::input::Input;

/// One format: how it is called, recognised and opened.
pub(crate) struct FormatEntry<Options, Source: ?Sized> {
    /// What `--format` calls it: lower case, words joined by `-`.
    pub(crate) name: &'static str,
    /// One line: what writes it, what the values are.
    pub(crate) description: &'static str,
    /// What it can do beside the least.
    pub(crate) can: FormatCapabilities,
    /// Whether this is the beginning of such a file: decompressed, 64 KiB or
    /// all of it. Must not claim what is another format's.
    pub(crate) detect: fn(&[u8]) -> bool,
    /// Opens a file.
    pub(crate) open: fn(Input, &Options) -> Result<Box<Source>, ReadError>,
}

/// What not every format can do. Options that ask for it are an error elsewhere.
#[derive(Clone, Copy)]
pub(crate) struct FormatCapabilities {
    /// A record has several values, of which one can be chosen.
    pub(crate) many_values: bool,
    /// The user can say which of its columns or members has the prefix.
    pub(crate) prefix_column: bool,
    /// A regular expression of the user may say where values are.
    pub(crate) value_regex: bool,
    /// Routes or updates are those of several peers.
    pub(crate) peers: bool,
    /// Routes have AS paths, or their values are origin ASes.
    pub(crate) origins: bool,
    /// A file may hold several tables, of which one can be chosen.
    pub(crate) tables: bool,
    /// Addresses are those of packets, with a source and a destination.
    pub(crate) packets: bool,
    /// What one route or address stands in, as messages call it.
    pub(crate) unit: &'static str,
}

impl FormatCapabilities {
    /// The least: one value a route, in lines.
    pub(crate) const NONE: Self = Self {
        many_values: false,
        prefix_column: false,
        value_regex: false,
        peers: false,
        origins: false,
        tables: false,
        packets: false,
        unit: "line",
    };
    /// Records of several columns.
    pub(crate) const MANY_VALUES: Self = Self {
        many_values: true,
        ..Self::NONE
    };
    /// The same, where the user may say which column has the prefix.
    pub(crate) const FIELDS: Self = Self {
        prefix_column: true,
        ..Self::MANY_VALUES
    };
    /// Prefixes anywhere in a text.
    pub(crate) const PLACED_VALUES: Self = Self {
        value_regex: true,
        ..Self::NONE
    };
    /// Updates of several peers.
    pub(crate) const PEERS: Self = Self {
        peers: true,
        ..Self::NONE
    };
    /// The paths of several peers.
    pub(crate) const DUMP: Self = Self {
        peers: true,
        origins: true,
        ..Self::NONE
    };
    /// The same with their attributes as columns.
    pub(crate) const DUMP_OF_COLUMNS: Self = Self {
        many_values: true,
        ..Self::DUMP
    };
    /// Values that are origins.
    pub(crate) const ORIGINS: Self = Self {
        origins: true,
        ..Self::NONE
    };
    /// The tables of one router.
    pub(crate) const TABLES: Self = Self {
        tables: true,
        ..Self::NONE
    };
    /// Tables with records: images.
    pub(crate) const TABLES_OF_MANY_VALUES: Self = Self {
        many_values: true,
        ..Self::TABLES
    };
    /// The tables of a router with the AS paths of its routes.
    pub(crate) const TABLES_OF_ORIGINS: Self = Self {
        origins: true,
        ..Self::TABLES
    };
    /// Addresses in rows.
    pub(crate) const COLUMNS: Self = Self {
        unit: "row",
        ..Self::NONE
    };
    /// Addresses of packets.
    pub(crate) const PACKETS: Self = Self {
        packets: true,
        unit: "packet",
        ..Self::NONE
    };
    /// Addresses of fixed length, one after the other.
    pub(crate) const RECORDS: Self = Self {
        unit: "record",
        ..Self::NONE
    };
}

/// Defines the type of a format by its [`FormatEntry`].
///
/// A macro, not a generic type: in the documentation each kind of format stands with
/// all its methods, and no marker types beside it.
macro_rules! format_type {
    ($(#[$documentation:meta])* $Format:ident: $FormatEntry:ty) => {
        $(#[$documentation])*
        #[derive(Clone, Copy)]
        pub struct $Format(pub(crate) &'static $FormatEntry);

        impl $Format {
            /// Its name for `--format`.
            pub fn name(self) -> &'static str {
                self.0.name
            }

            /// What it is, in one line.
            pub fn description(self) -> &'static str {
                self.0.description
            }
        }

        impl PartialEq for $Format {
            fn eq(&self, other: &Self) -> bool {
                self.name() == other.name()
            }
        }

        impl Eq for $Format {}

        impl std::fmt::Debug for $Format {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($Format), self.name())
            }
        }
    };
}

/// Makes a list of entries the formats that there are: defines `all`, `by_name`, `detect` and `from_str`. The list is in the
/// order of detection, and its first entry is also the last resort.
macro_rules! formats {
    ($Format:ident of $FORMATS:ident, no_such: $no_such:literal) => {
        impl $Format {
            /// All formats.
            pub fn all() -> impl Iterator<Item = Self> {
                $FORMATS.iter().copied().map(Self)
            }

            /// The format called `name`.
            pub fn by_name(name: &str) -> Option<Self> {
                Self::all().find(|format| format.name() == name)
            }

            /// The format of a file that begins with `head`, decompressed. 64 KiB of it are enough.
            pub fn detect(head: &[u8]) -> Self {
                let found = $FORMATS.iter().find(|entry| (entry.detect)(head));
                Self(found.unwrap_or(&$FORMATS[0]))
            }
        }

        impl std::str::FromStr for $Format {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                Self::by_name(name).ok_or_else(|| {
                    let names: Vec<_> = Self::all().map(Self::name).collect();
                    format!("{}; there are: {}", $no_such, names.join(", "))
                })
            }
        }
    };
}

pub(crate) use {format_type, formats};
