//! The formats of updates, and how one is opened: an [`Input`] in, an [`UpdateSource`] out.
//!
//! Updates may come live, over a pipe from a collector, so a format is found by the first line and never waits for a second.

use memchr::memrchr;

use crate::error::ReadError;
use crate::input::Input;
use crate::lines::KIND_BYTES;
use crate::registry::formats;
use crate::update::UpdateEntry;
use crate::{bgpdump, mrt, update_messages, update_text};

pub use crate::update::{
    Change, Message, Session, Update, UpdateFormat, UpdateOptions, UpdateSource,
};

/// Every format, in the order of detection. The first is also the last resort.
static FORMATS: &[&UpdateEntry] = &[
    &update_text::FORMAT,
    &update_text::GOBGPDUMP,
    &bgpdump::UPDATE_FORMAT,
    &update_messages::FORMAT,
    &update_messages::COMMANDS,
    &mrt::UPDATE_FORMAT,
];

formats! { UpdateFormat of FORMATS, no_such: "no such format of updates" }

/// Opens the updates of `input`, in the format of the options or as detected.
///
/// Waits for the first line that isn't a comment, or the first 12 bytes of a
/// binary file, and for nothing more: updates may come live.
///
/// # Errors
/// Those of the format; so far all formats report errors only when updates are read.
pub fn open_updates(
    mut input: Input,
    options: &UpdateOptions,
) -> Result<Box<dyn UpdateSource>, ReadError> {
    let format = options
        .format
        .unwrap_or_else(|| UpdateFormat::detect(input.peek(is_enough)));
    (format.0.open)(input, options)
}

/// Whether any format claims the head of a file, by whole lines or as many bytes as tell that it is no text: the same however the
/// input comes in pieces.
fn is_enough(head: &[u8]) -> bool {
    let whole = match head.len() {
        KIND_BYTES.. => head.len(),
        _ => memrchr(b'\n', head).map_or(0, |end| end + 1),
    };
    let head = &head[..whole];
    FORMATS.iter().any(|entry| (entry.detect)(head))
}
