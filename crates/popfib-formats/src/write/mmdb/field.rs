//! Values in, the fields of a MaxMind database out: control bytes, then the value.
//!
//! ```text
//! 0x42 'D' 'E'            the text "DE": type 2 in the upper three bits, length 2 in the lower five
//! 0x04 0x04 ...           an array of 4: type 11, which is 7 more than the second byte
//! ```
//! Lengths above 28 go on in the bytes after these.

use popfib_table::{MaxMindType, Scalar};

// The types of fields, by their numbers in MaxMind's published format.
const POINTER: u8 = 1;
const STRING: u8 = 2;
const DOUBLE: u8 = 3;
const BYTES: u8 = MaxMindType::Bytes as u8;
pub(super) const UINT16: u8 = MaxMindType::Uint16 as u8;
pub(super) const UINT32: u8 = MaxMindType::Uint32 as u8;
pub(super) const MAP: u8 = 7;
const INT32: u8 = MaxMindType::Int32 as u8;
pub(super) const UINT64: u8 = MaxMindType::Uint64 as u8;
const UINT128: u8 = MaxMindType::Uint128 as u8;
pub(super) const ARRAY: u8 = 11;
pub(super) const BOOLEAN: u8 = 14;
const FLOAT: u8 = MaxMindType::Float as u8;

/// The control bytes of a field: its type and its length.
pub(super) fn head(to: &mut Vec<u8>, kind: u8, len: usize) {
    let (low, more): (usize, usize) = match len {
        0..29 => (len, 0),
        29..285 => (29, 1),
        285..65_821 => (30, 2),
        _ => (31, 3),
    };
    // Types above 7 stand in a byte of their own.
    to.push((if kind > 7 { 0 } else { kind << 5 }) | low as u8);
    if kind > 7 {
        to.push(kind - 7);
    }
    let rest = len - [0, 29, 285, 65_821][more];
    to.extend(&(rest as u32).to_be_bytes()[4 - more..]);
}

/// A text: UTF-8 without an end sign.
pub(super) fn text(to: &mut Vec<u8>, text: &str) {
    head(to, STRING, text.len());
    to.extend(text.as_bytes());
}

/// A number, without the zeros before it.
pub(super) fn unsigned(to: &mut Vec<u8>, kind: u8, number: u128) {
    let bytes = number.to_be_bytes();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    head(to, kind, bytes.len() - zeros);
    to.extend(&bytes[zeros..]);
}

/// The place of a field that stands elsewhere, counted from the start of the records. The sizes of pointers don't
/// overlap: each begins where the one below ends, so `less` is taken off.
pub(super) fn pointer(to: &mut Vec<u8>, place: u32) {
    let control = |size: u8, high: u32| POINTER << 5 | size << 3 | high as u8;
    let (size, less, more) = match place {
        0..0x800 => (0, 0, 1),
        0x800..0x8_0800 => (1, 0x800, 2),
        0x8_0800..0x808_0800 => (2, 0x8_0800, 3),
        _ => (3, 0, 4),
    };
    let rest = place - less;
    let high = if size < 3 { rest >> (8 * more) } else { 0 };
    to.push(control(size, high));
    to.extend(&rest.to_be_bytes()[4 - more..]);
}

/// A value: of the type in the database where it came from, otherwise of the smallest type with room for all values of the column.
///
/// # Errors
/// A whole number that no type holds.
pub(super) fn scalar(
    to: &mut Vec<u8>,
    value: Scalar<'_>,
    of: Option<MaxMindType>,
) -> Result<(), String> {
    match (value, of) {
        (Scalar::Text(digits), Some(MaxMindType::Bytes)) => {
            let bytes = hexadecimal(digits).ok_or_else(|| format!("{digits}: not bytes"))?;
            head(to, BYTES, bytes.len());
            to.extend(bytes);
        }
        (Scalar::Text(digits), Some(MaxMindType::Uint128)) => {
            let number = digits.parse().map_err(|_| format!("{digits}: no number"))?;
            unsigned(to, UINT128, number);
        }
        (Scalar::Text(value), _) => text(to, value),
        (Scalar::Boolean(truth), _) => head(to, BOOLEAN, usize::from(truth)),
        (Scalar::Float(number, _), Some(MaxMindType::Float)) => {
            head(to, FLOAT, 4);
            to.extend((number as f32).to_be_bytes());
        }
        (Scalar::Float(number, _), _) => {
            head(to, DOUBLE, 8);
            to.extend(number.to_be_bytes());
        }
        (Scalar::Integer(number), of) => integer(to, number, of)?,
    }
    Ok(())
}

/// A whole number of any type: that of the database that it came from, else one by its size and sign.
fn integer(to: &mut Vec<u8>, number: i128, of: Option<MaxMindType>) -> Result<(), String> {
    let kind = match (of, number) {
        (Some(MaxMindType::Int32), _) | (_, ..0) => INT32,
        (Some(of @ (MaxMindType::Uint16 | MaxMindType::Uint32 | MaxMindType::Uint64)), _) => {
            of as u8
        }
        (_, ..=0xffff_ffff) => UINT32,
        _ => UINT64,
    };
    if kind != INT32 {
        unsigned(to, kind, number as u128);
        return Ok(());
    }
    let number = i32::try_from(number);
    let number = number.map_err(|_| "a negative number of more than 32 bits".to_owned())?;
    head(to, INT32, 4);
    to.extend(number.to_be_bytes());
    Ok(())
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.iter().map(byte).collect()
}
