//! What is measured, one question of the paper a file. Each gives plain numbers;
//! what they look like is [`crate::page`]'s business.

mod contender;
pub(crate) mod contest;
pub(crate) mod counters;
pub(crate) mod cycles;
pub(crate) mod depth;
mod figures;
pub(crate) mod forms;
mod pace;
pub(crate) mod series;
pub(crate) mod threads;
pub(crate) mod updates;

pub(crate) use contender::{Contender, Entry, Group};
pub(crate) use figures::Figures;
pub(crate) use pace::Pattern;
