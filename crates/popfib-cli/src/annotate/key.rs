//! The key of `--anonymize`: a file in, the 32 bytes of a key of Crypto-PAn out.

use std::fs::File;
use std::io::Read;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use popfib_formats::Anonymizer;
use popfib_program::failure::Failure;
use popfib_program::files::shown;

use crate::output::note;

/// Reads the key from a file, which has it as bytes or as hexadecimal digits.
pub(super) fn read(path: &Path) -> Result<[u8; Anonymizer::KEY_LENGTH], Failure> {
    let (mut bytes, mut is_others) = (Vec::new(), false);
    // More than any form of a key has.
    let read = File::open(path).and_then(|file| {
        #[cfg(unix)]
        {
            let of = file.metadata()?;
            is_others = of.is_file() && of.mode() & 0o77 != 0;
        }
        file.take(1024).read_to_end(&mut bytes)
    });
    read.map_err(|error| Failure::of_file(path, error))?;
    let key = Anonymizer::parse_key(&bytes).ok_or_else(|| {
        let reason = "a key is 32 bytes, or 64 hexadecimal digits";
        let help = "`(umask 077; head -c 32 /dev/urandom > KEYFILE)` makes one";
        Failure::of_file(path, format_args!("{reason}; {help}"))
    })?;
    if is_others {
        let name = shown(path);
        note!("{name}: others may read this key: `chmod 600` keeps it for its owner");
    }
    Ok(key)
}
