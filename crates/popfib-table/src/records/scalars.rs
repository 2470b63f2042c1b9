//! [`Scalar`]: a value that is no list; and the dictionary of a column of them, in which a code leads to its value.

use std::fmt;

use popfib::NextHop;
use popfib::image::ImageTable;

use crate::numbered_texts::NumberedTexts;

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// Any text, the empty one too.
    Text(&'a str),
    /// A number of 64 bits, signed or not.
    Integer(i128),
    /// A number of 64 bits that may have a fraction, and with how many decimals it is written at least.
    Float(f64, u8),
    /// True or false.
    Boolean(bool),
}

impl fmt::Display for Scalar<'_> {
    /// As text, without quotes; a float has the fewest digits that tell it from all others, and zeros up to its decimals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Float(number, 0) => write!(f, "{number}"),
            &Self::Float(number, decimals) => {
                let shortest = number.to_string();
                let fraction = shortest
                    .split_once('.')
                    .map_or("", |(_, fraction)| fraction);
                match fraction.len() < decimals.into() {
                    true => write!(f, "{number:.*}", decimals.into()),
                    false => f.write_str(&shortest),
                }
            }
            Self::Boolean(truth) => write!(f, "{truth}"),
        }
    }
}

/// The different values of a column, all of one type, by codes from 1 on.
#[derive(Clone, Debug)]
pub(super) enum ScalarDictionary {
    Texts(NumberedTexts),
    /// The names of next hops in an image, which stay there.
    Names(ImageTable),
    Signed(Vec<i64>),
    Unsigned(Vec<u64>),
    /// With the decimals that each is written with at least.
    Floats(Vec<f64>, u8),
    Booleans(Vec<bool>),
}

impl ScalarDictionary {
    #[inline]
    pub(super) fn get(&self, code: u32) -> Option<Scalar<'_>> {
        let number = NextHop::new(code)?;
        let at = code as usize - 1;
        Some(match self {
            Self::Texts(texts) => Scalar::Text(texts.get(number)?),
            Self::Names(image) => Scalar::Text(image.next_hop_name(number)?),
            Self::Signed(numbers) => Scalar::Integer((*numbers.get(at)?).into()),
            Self::Unsigned(numbers) => Scalar::Integer((*numbers.get(at)?).into()),
            Self::Floats(numbers, decimals) => Scalar::Float(*numbers.get(at)?, *decimals),
            Self::Booleans(truths) => Scalar::Boolean(*truths.get(at)?),
        })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Names(image) => image.name_count().unwrap_or(0) as usize,
            Self::Signed(numbers) => numbers.len(),
            Self::Unsigned(numbers) => numbers.len(),
            Self::Floats(numbers, _) => numbers.len(),
            Self::Booleans(truths) => truths.len(),
        }
    }

    /// All values, if they are texts.
    pub(super) fn texts(&self) -> Option<impl Iterator<Item = &str>> {
        let are_texts = matches!(self, Self::Texts(_) | Self::Names(_));
        are_texts.then(|| {
            (1..=self.len() as u32).map_while(|code| match self.get(code)? {
                Scalar::Text(text) => Some(text),
                _ => None,
            })
        })
    }

    /// Whether all floats are finite numbers.
    pub(super) fn are_finite(&self) -> bool {
        match self {
            Self::Floats(numbers, _) => numbers.iter().all(|number| number.is_finite()),
            _ => true,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.bytes(),
            // The image's own.
            Self::Names(_) => 0,
            Self::Signed(_) | Self::Unsigned(_) | Self::Floats(..) => 8 * self.len(),
            Self::Booleans(_) => self.len(),
        }
    }
}
