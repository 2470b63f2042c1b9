//! Why an image cannot be opened: one line with the place and the reason.

use alloc::string::String;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

/// The major version of images. Readers refuse any other, since it changes the meaning of known sections.
pub(super) const MAJOR: u16 = 3;

/// Why bytes cannot be used as an image.
///
/// Displays as one line without the name of the file, as [`std::io::Error`] does.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImageError {
    /// The file cannot be read.
    #[cfg(feature = "std")]
    Io(std::io::Error),
    /// The bytes do not begin like an image.
    NotAnImage,
    /// The image has another major version.
    Version {
        /// Its major version.
        major: u16,
        /// Its minor version.
        minor: u16,
    },
    /// The image is truncated, or bytes follow it.
    Length {
        /// The length of the image in bytes, according to its header.
        expected: u64,
        /// The number of bytes given.
        given: u64,
    },
    /// The image contains bytes that no writer makes: it is damaged or malicious.
    Broken {
        /// The offset of the error in bytes, from the beginning of the image.
        offset: u64,
        /// The part of the image that contains the error.
        section: String,
        /// What is wrong there.
        reason: String,
    },
    /// The image has several tables and none was asked for, or none of the name that was.
    Tables {
        /// The name.
        wanted: Option<String>,
        /// Those of the tables that there are.
        there: Vec<String>,
    },
    /// This machine is big-endian. Images are used as they are stored, which is
    /// little-endian.
    BigEndianHost,
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "std")]
            Self::Io(error) => error.fmt(f),
            Self::NotAnImage => f.write_str("not a popfib image"),
            Self::Version { major, minor } => write!(
                f,
                "an image of version {major}.{minor}; this program reads version {MAJOR}: make it again with `popfib compile`"
            ),
            Self::Length { expected, given } if given < expected => {
                write!(f, "cut off at byte {given} of {expected}")
            }
            Self::Length { expected, given } => write!(
                f,
                "{} bytes follow the image's {expected}",
                given - expected
            ),
            Self::Broken {
                offset,
                section,
                reason,
            } => write!(f, "byte {offset} ({section}): {reason}"),
            Self::Tables { wanted, there } => {
                match wanted {
                    Some(wanted) => write!(f, "no table \"{wanted}\"")?,
                    None if there.is_empty() => f.write_str("an image without tables")?,
                    None => write!(
                        f,
                        "an image of {} tables, of which one is used",
                        there.len()
                    )?,
                }
                // Names have no control characters. Of a file with thousands of tables the first.
                let mut before = ": ";
                for name in there.iter().take(20) {
                    write!(f, "{before}\"{name}\"")?;
                    before = ", ";
                }
                Ok(())
            }
            Self::BigEndianHost => f.write_str("images need a little-endian machine"),
        }
    }
}

impl Error for ImageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            #[cfg(feature = "std")]
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for ImageError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
