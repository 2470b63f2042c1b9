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
                let mut buffer = [b'0'; SHORT];
                if let Some(text) = short(number, decimals, &mut buffer) {
                    return f.write_str(text);
                }
                let shortest = number.to_string();
                let (point, has) = match shortest.split_once('.') {
                    Some((_, fraction)) => ("", fraction.len()),
                    None => (".", 0),
                };
                let zeros = usize::from(decimals).saturating_sub(has);
                write!(f, "{shortest}{point}{:0<zeros$}", "")
            }
            Self::Boolean(truth) => write!(f, "{truth}"),
        }
    }
}

/// Makes a value of its type of a scalar. The error is a scalar of another type, or an integer that the type does not hold.
macro_rules! of_scalar {
    ($($type:ty: $scalar:pat => $value:expr;)*) => {
        $(impl<'a> TryFrom<Scalar<'a>> for $type {
            type Error = Scalar<'a>;

            fn try_from(scalar: Scalar<'a>) -> Result<Self, Scalar<'a>> {
                match scalar {
                    $scalar => $value,
                    _ => None,
                }
                .ok_or(scalar)
            }
        })*
    };
}
of_scalar! {
    &'a str: Scalar::Text(text) => Some(text);
    i64: Scalar::Integer(number) => number.try_into().ok();
    u64: Scalar::Integer(number) => number.try_into().ok();
    f64: Scalar::Float(number, _) => Some(number);
    bool: Scalar::Boolean(truth) => Some(truth);
}

/// Room for a sign, 15 digits, a point and a zero before it.
pub(super) const SHORT: usize = 18;

/// A number with its decimals, if they and what is before them are 15 digits at most: so many tell it from all others, and so they are
/// the shortest ones and zeros.
pub(super) fn short(number: f64, decimals: u8, buffer: &mut [u8; SHORT]) -> Option<&str> {
    let scale = 10f64.powi(decimals.into());
    let scaled = (number * scale).round();
    if !(1..=15).contains(&decimals) || scaled.abs() >= 1e15 || scaled / scale != number {
        return None;
    }
    let point = SHORT - usize::from(decimals);
    let mut digits = scaled.abs() as u64;
    let mut at = SHORT;
    while digits > 0 || at > point - 2 {
        if at == point {
            at -= 1;
            buffer[at] = b'.';
        }
        at -= 1;
        buffer[at] = b'0' + (digits % 10) as u8;
        digits /= 10;
    }
    if number.is_sign_negative() {
        at -= 1;
        buffer[at] = b'-';
    }
    core::str::from_utf8(&buffer[at..]).ok()
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
