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
    /// What it can do beside the least: one value a route, in lines.
    pub(crate) can: &'static [Capability],
    /// Whether this is the beginning of such a file: decompressed, 64 KiB or
    /// all of it. Must not claim what is another format's.
    pub(crate) detect: fn(&[u8]) -> bool,
    /// Opens a file.
    pub(crate) open: fn(Input, &Options) -> Result<Box<Source>, ReadError>,
}

impl<Options, Source: ?Sized> FormatEntry<Options, Source> {
    pub(crate) fn can(&self, what: Capability) -> bool {
        self.can.contains(&what)
    }
}

/// What not every format can do. Options that ask for it are an error elsewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capability {
    /// A record has several values, of which one can be chosen.
    ManyValues,
    /// The user can say which of its columns or members has the prefix.
    PrefixColumn,
    /// A regular expression of the user may say where values are.
    ValueRegex,
    /// Routes or updates are those of several peers.
    Peers,
    /// Routes have AS paths, or their values are origin ASes.
    Origins,
    /// A file may hold several tables, of which one can be chosen.
    Tables,
    /// Addresses are those of packets, with a source and a destination.
    Packets,
    /// Addresses stand in rows.
    Rows,
    /// Addresses are of fixed length, one after the other.
    FixedRecords,
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
            /// Its name for the option that chooses it.
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
