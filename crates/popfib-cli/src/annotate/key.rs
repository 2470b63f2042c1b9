//! The key of `--anonymize`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use popfib_formats::ANONYMIZER_KEY;

use crate::failure::Failure;

/// The key in a file: its bytes, or hexadecimal digits, after `0x` if that is there.
pub(super) fn read(path: &Path) -> Result<[u8; ANONYMIZER_KEY], Failure> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    // More than any form of a key has.
    let read = File::open(path).and_then(|file| file.take(1024).read_to_end(&mut bytes));
    read.map_err(|error| format!("{}: {error}", name.escape_debug()))?;
    of_bytes(&bytes).ok_or_else(|| {
        let reason = "a key is 32 bytes, or 64 hexadecimal digits";
        let help = "`head -c 32 /dev/urandom > KEYFILE` makes one";
        format!("{}: {reason}; {help}", name.escape_debug()).into()
    })
}

fn of_bytes(bytes: &[u8]) -> Option<[u8; ANONYMIZER_KEY]> {
    if let Ok(key) = bytes.try_into() {
        return Some(key);
    }
    let text = bytes.trim_ascii();
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    if digits.len() != 2 * ANONYMIZER_KEY {
        return None;
    }
    let mut key = [0; ANONYMIZER_KEY];
    let digit = |byte: u8| char::from(byte).to_digit(16);
    for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
        *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_bytes_or_digits() {
        let key: [u8; 32] = std::array::from_fn(|index| index as u8 * 7);
        let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        let upper = digits.to_uppercase();
        let texts = [format!("{digits}\n"), format!("0x{digits}\r\n"), upper];
        assert_eq!(of_bytes(&key), Some(key));
        for text in &texts {
            assert_eq!(of_bytes(text.as_bytes()), Some(key), "{text}");
        }
        let wrong = [
            "",
            &digits[1..],
            &digits[..32 + 1],
            &format!("{digits}00"),
            &format!("g{}", &digits[1..]),
            &format!("{}\u{e9}", &digits[2..]),
        ];
        for text in wrong {
            assert_eq!(of_bytes(text.as_bytes()), None, "{text}");
        }
    }
}
