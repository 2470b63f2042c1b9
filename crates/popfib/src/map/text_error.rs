//! What is wrong with a list that is text, of prefixes or of routes.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::error::Error;
use core::fmt;

use crate::prefix::PrefixError;

/// A line of a list that is neither a prefix nor an address nor a range; a route whose text is no prefix.
///
/// ```
/// use popfib::{IpSet, PrefixError, PrefixMap};
///
/// let error = "# blocked\n10.0.0.0/8\n10.0.0.1/8\n".parse::<IpSet>().unwrap_err();
/// assert_eq!((error.line(), error.text()), (3, "10.0.0.1/8"));
/// assert_eq!(error.to_string(), "line 3: `10.0.0.1/8`: host bits are set beyond the prefix length");
/// let error = PrefixMap::<u32, u8>::from_text([("10.0.0.0/33", 1)]).unwrap_err();
/// assert_eq!((error.line(), error.error()), (1, Some(&PrefixError::Length { max: 32 })));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTextError {
    line: usize,
    text: String,
    error: Option<PrefixError>,
}

impl ListTextError {
    /// For a text that has no error of a prefix the ends of a range are in no order or of two families.
    pub(super) fn new(line: usize, text: &str, error: Option<PrefixError>) -> Self {
        let text = text.to_owned();
        Self { line, text, error }
    }

    /// The number of the line or route, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is there.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Why it is not a prefix; `None` if it is a range.
    pub fn error(&self) -> Option<&PrefixError> {
        self.error.as_ref()
    }
}

impl fmt::Display for ListTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: `{}`: ", self.line, self.text.escape_debug())?;
        match &self.error {
            Some(error) => error.fmt(f),
            None => f.write_str("not a range, whose first address is not above its last one"),
        }
    }
}

impl Error for ListTextError {}
