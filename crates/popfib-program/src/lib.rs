//! What the programs `popfib` and `popfibd` share: words of the command line in, an exit status out ([`program`]), with the help
//! ([`help`]), notes and errors ([`message`], [`failure`]) and the bar ([`progress`]) that a terminal can show ([`screen`]).

#![forbid(unsafe_code)]

pub mod failure;
pub mod files;
pub mod help;
pub mod message;
pub mod program;
pub mod progress;
pub mod screen;
pub mod terminal_text;

pub use message::note;
