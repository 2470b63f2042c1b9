//! The key of `--anonymize`: a file in, the 32 bytes of a key of Crypto-PAn out.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use popfib_formats::Anonymizer;
use popfib_program::failure::Failure;

/// Reads the key from a file, which has it as bytes or as hexadecimal digits.
pub(super) fn read(path: &Path) -> Result<[u8; Anonymizer::KEY_LENGTH], Failure> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    // More than any form of a key has.
    let read = File::open(path).and_then(|file| file.take(1024).read_to_end(&mut bytes));
    read.map_err(|error| format!("{}: {error}", name.escape_debug()))?;
    Anonymizer::parse_key(&bytes).ok_or_else(|| {
        let reason = "a key is 32 bytes, or 64 hexadecimal digits";
        let help = "`head -c 32 /dev/urandom > KEYFILE` makes one";
        format!("{}: {reason}; {help}", name.escape_debug()).into()
    })
}
