//! Changes of a table in, lines to a client that watches it out. The client's thread polls for changes, so that the writer of the
//! table only keeps the last ones and never waits for a client.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use popfib::IpPrefix;

use super::state::FollowState;

/// The interval of polling, and the number of changes that are taken at a time.
const EVERY: Duration = Duration::from_millis(20);
const MOST: usize = 4096;

/// Writes changes until the client sends anything or disconnects.
pub(super) fn serve(
    state: &FollowState,
    table: &str,
    covered: Option<IpPrefix>,
    client: &mut UnixStream,
) -> io::Result<()> {
    let Some(view) = state.view(Some(table)) else {
        return client.write_all(b"error: no such table\n");
    };
    let mut watched = view.watch();
    let is_wanted = |prefix: &IpPrefix| {
        covered.is_none_or(|c| c.len() <= prefix.len() && c.contains(prefix.address()))
    };
    // All changes from here on are sent.
    client.write_all(b"ok\n")?;
    client.set_read_timeout(Some(EVERY))?;
    let mut changes = Vec::new();
    let mut lines = Vec::new();
    loop {
        changes.clear();
        lines.clear();
        let lost = watched.changes(MOST, &mut changes);
        if lost > 0 {
            writeln!(lines, "# lost {lost} changes")?;
        }
        for (prefix, target) in changes.iter().filter(|(prefix, _)| is_wanted(prefix)) {
            match target {
                Some(target) => writeln!(lines, "announce\t{prefix}\t{target}")?,
                None => writeln!(lines, "withdraw\t{prefix}")?,
            }
        }
        client.write_all(&lines)?;
        if changes.len() == MOST {
            continue;
        }
        // While there are no changes, this waits for data from the client, or for its end.
        match client.read(&mut [0]) {
            // Silence.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
