//! The snapshot file: a file in, tables out at the start, whose routes are stale until routers confirm them; tables in, a file out
//! at the end. The tables are copied in parts and each is written without the lock, so that changes do not wait for the disk.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::time::Instant;

use popfib_feed::Tables;
use popfib_feed::snapshot::{Snapshot, SnapshotError};
use popfib_program::failure::Failure;
use popfib_program::note;
use popfib_table::NewFile;

use super::settings::Settings;
use super::state::FollowState;

/// The number of paths that are copied at a time; changes wait meanwhile.
const PART: usize = 512;

/// Reads the tables of the file, without feeds that are no longer followed. If the file does not exist or is damaged, the tables
/// are empty. Damage is reported, but the process starts, since routers send their routes again.
pub(super) fn read(path: &Path, settings: &Settings) -> Result<Tables, Failure> {
    let begin = Instant::now();
    let name = path.display();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Tables::new(settings.limits()));
        }
        Err(error) => return Err(format!("{name}: {error}").into()),
    };
    let mut file = BufReader::with_capacity(1 << 18, file);
    let keeps = |feed: &str| settings.follows(feed);
    match Tables::restore(settings.limits(), &mut file, &keeps, begin) {
        Ok(tables) => {
            let paths = tables.totals().paths;
            let took = begin.elapsed().as_millis();
            note!("{name}: {paths} paths, stale until their sources confirm them, in {took} ms");
            Ok(tables)
        }
        Err(error @ SnapshotError::Damaged { .. }) => {
            note!("{name}: {error}; beginning without routes");
            Ok(Tables::new(settings.limits()))
        }
        Err(error) => Err(format!("{name}: {error}").into()),
    }
}

/// Whether the file may be written: it does not exist, or is a snapshot.
pub(super) fn check(path: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    match Snapshot::is_one(&mut BufReader::new(file)).map_err(failed)? {
        true => Ok(()),
        false => Err(format!("{}: {}", path.display(), SnapshotError::Other)),
    }
}

/// Writes the file, which replaces the old one as a whole.
pub(super) fn write(path: &Path, state: &FollowState) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    let mut file = NewFile::create(path).map_err(failed)?;
    let mut snapshot = Snapshot::new();
    loop {
        let has_more = snapshot.take(&mut state.tables(), PART);
        if !has_more {
            break;
        }
        snapshot.write(&mut file).map_err(failed)?;
    }
    snapshot.finish(&mut file).map_err(failed)?;
    file.flush().map_err(failed)?;
    file.finish().map_err(failed)
}
