//! Text from outside in, text for messages out: quoted, escaped and not too long.

use std::fmt::{self, Display};

/// Text in quotes, shortened and escaped. Where it is not UTF-8, U+FFFD is shown.
pub(crate) struct Quoted<'a>(pub(crate) &'a [u8]);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 60;
        // One character more than is shown, and none takes more than four bytes.
        let head = &self.0[..self.0.len().min(4 * (SHOWN + 1))];
        let head = String::from_utf8_lossy(head);
        let end = head.char_indices().nth(SHOWN).map(|(end, _)| end);
        let dots = if end.is_some() { "..." } else { "" };
        let shown = head[..end.unwrap_or(head.len())].escape_debug();
        write!(f, "'{shown}{dots}'")
    }
}
