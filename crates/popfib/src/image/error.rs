//! Why an image can't be opened: one line that names the place and the reason.

use alloc::string::String;
use core::error::Error;
use core::fmt;

/// The major version of images. Readers refuse any other: the meaning of known sections has changed.
pub(super) const MAJOR: u16 = 2;

/// Why bytes are not an image that can be used.
///
/// Displays as one line without the name of the file, as [`std::io::Error`] does.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImageError {
    /// The file can't be read.
    #[cfg(feature = "std")]
    Io(std::io::Error),
    /// It does not begin as an image does.
    NotAnImage,
    /// An image of another major version.
    Version {
        /// Its major version.
        major: u16,
        /// Its minor version.
        minor: u16,
    },
    /// The image is cut off, or something follows it.
    Length {
        /// The bytes that there should be.
        expected: u64,
        /// The bytes that there are.
        given: u64,
    },
    /// Bytes that no writer makes: damaged, or made to do harm.
    Broken {
        /// Where, in bytes from the beginning of the image.
        offset: u64,
        /// The part of the image.
        section: String,
        /// What is wrong there.
        reason: String,
    },
    /// This machine stores numbers with the most significant byte first; images
    /// are used as they are, and have it last.
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
