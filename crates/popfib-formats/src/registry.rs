//! What lists of formats have in common.

/// Defines a format as one of a list of entries, each with a `name`, a
/// `description` and a `detect` function. The list is in the order of detection,
/// its first also the last resort.
///
/// A macro, not a generic type: in the documents each kind of format stands with
/// all its methods, and no marker types beside it.
macro_rules! registry {
    ($(#[$documentation:meta])* $Format:ident of $FORMATS:ident: $Entry:ty, no_such: $no_such:literal) => {
        $(#[$documentation])*
        #[derive(Clone, Copy)]
        pub struct $Format(&'static $Entry);

        impl $Format {
            /// All formats.
            pub fn all() -> impl Iterator<Item = Self> {
                $FORMATS.iter().copied().map(Self)
            }

            /// The format called `name`.
            pub fn by_name(name: &str) -> Option<Self> {
                Self::all().find(|format| format.name() == name)
            }

            /// The format of a file that begins with `head`, decompressed. 64 KiB
            /// of it are enough to tell.
            pub fn detect(head: &[u8]) -> Self {
                let found = $FORMATS.iter().find(|entry| (entry.detect)(head));
                Self(found.unwrap_or(&$FORMATS[0]))
            }

            /// What `--format` calls it.
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

pub(crate) use registry;
