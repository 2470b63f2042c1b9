//! Routes in, their bytes out in blocks of 64 KiB, however each is written.
//!
//! Each route is appended to a `Vec`, so that the destination, a `dyn Write`, is called once a block and not several times a
//! route.

use std::io::Write;

use super::error::WriteError;

/// Bytes that are written at a time.
pub(super) const BLOCK: usize = 64 << 10;

/// Writes the header and each route, which `append` turns into bytes, a block at a time.
pub(super) fn write_blocks<R>(
    header: &[u8],
    routes: impl Iterator<Item = R>,
    out: &mut dyn Write,
    mut append: impl FnMut(&mut Vec<u8>, R) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let mut block = Vec::with_capacity(BLOCK + 1024);
    block.extend_from_slice(header);
    for route in routes {
        append(&mut block, route)?;
        if block.len() >= BLOCK {
            out.write_all(&block)?;
            block.clear();
        }
    }
    out.write_all(&block)?;
    Ok(())
}
