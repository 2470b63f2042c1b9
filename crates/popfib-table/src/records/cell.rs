//! [`Cell`]: the value of a record in a column, borrowed from the column's dictionary. It is a scalar or a list of scalars.

use std::borrow::Cow;
use std::fmt::{self, Write};

use super::scalars::{Scalar, ScalarDictionary};

/// What follows a backslash in an element of a list.
const SPECIAL: [char; 2] = [',', '\\'];

/// A value of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// One value.
    Scalar(Scalar<'a>),
    /// Several of one type.
    List(ListCell<'a>),
}

impl<'a> Cell<'a> {
    /// It as text, borrowed if it is one.
    pub fn to_text(self) -> Cow<'a, str> {
        match self {
            Self::Scalar(Scalar::Text(text)) => Cow::Borrowed(text),
            cell => Cow::Owned(cell.to_string()),
        }
    }

    /// The value, if it is no list.
    pub fn scalar(self) -> Option<Scalar<'a>> {
        match self {
            Self::Scalar(scalar) => Some(scalar),
            Self::List(_) => None,
        }
    }
}

impl fmt::Display for Cell<'_> {
    /// As text. Commas separate the elements of a list; a comma or backslash in an element follows a backslash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = match self {
            Self::Scalar(scalar) => return scalar.fmt(f),
            Self::List(list) => list,
        };
        for (index, element) in list.iter().enumerate() {
            if index > 0 {
                f.write_char(',')?;
            }
            match element {
                Scalar::Text(text) if text.contains(SPECIAL) => {
                    for c in text.chars() {
                        if SPECIAL.contains(&c) {
                            f.write_char('\\')?;
                        }
                        f.write_char(c)?;
                    }
                }
                element => element.fmt(f)?,
            }
        }
        Ok(())
    }
}

/// A value that is a list of scalars.
#[derive(Clone, Copy)]
pub struct ListCell<'a> {
    pub(super) codes: &'a [u32],
    pub(super) values: &'a ScalarDictionary,
}

impl<'a> ListCell<'a> {
    /// The elements in their order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Scalar<'a>> {
        let value = move |&code: &u32| self.values.get(code).expect("a value for each code");
        self.codes.iter().map(value)
    }

    /// The element of this index.
    pub fn get(self, index: usize) -> Option<Scalar<'a>> {
        self.values.get(*self.codes.get(index)?)
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.codes.len()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.codes.is_empty()
    }
}

impl PartialEq for ListCell<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for ListCell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
