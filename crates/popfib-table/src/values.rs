//! The texts that numbers stand for: in a dictionary, or in an image.

use std::sync::Arc;

use popfib::{Image, NextHop};

use crate::dictionary::Dictionary;

/// The values of a table, by their numbers from 1 on.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    Own(Dictionary),
    Image(Arc<Image>),
}

impl Values {
    /// How many there are, which is also the highest number; `None` in an image without them.
    pub(crate) fn count(&self) -> Option<u32> {
        match self {
            Self::Own(dictionary) => Some(dictionary.len() as u32),
            Self::Image(image) => image.name_count(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, number: NextHop) -> Option<&str> {
        match self {
            Self::Own(dictionary) => dictionary.get(number),
            Self::Image(image) => image.name(number),
        }
    }
}
