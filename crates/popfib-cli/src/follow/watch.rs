//! Sends changes to a client that watches a table. Its thread polls for changes, so that the writer of the table only has to
//! keep the last ones.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use popfib::IpPrefix;
use popfib_feed::TableView;

use super::state::State;

/// The interval of polling, and the number of changes that are taken at a time.
const EVERY: Duration = Duration::from_millis(20);
const MOST: usize = 4096;

/// A client that watches. Dropping this ends it.
struct Watch(Arc<TableView>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.unwatch();
    }
}

/// Writes changes until the client sends anything or disconnects.
pub(super) fn serve(
    state: &State,
    table: &str,
    covered: Option<IpPrefix>,
    client: &mut UnixStream,
) -> io::Result<()> {
    let Some(view) = state.view(Some(table)) else {
        return Ok(());
    };
    let mut next = view.watch();
    let Watch(view) = &Watch(view);
    let is_wanted = |prefix: &IpPrefix| {
        covered.is_none_or(|c| c.len() <= prefix.len() && c.contains(prefix.address()))
    };
    // All changes from here on are sent.
    client.write_all(b"ok\n")?;
    client.set_read_timeout(Some(EVERY))?;
    let mut changes = Vec::new();
    let mut lines = Vec::new();
    loop {
        let lost;
        changes.clear();
        (next, lost) = view.changes(next, MOST, &mut changes);
        lines.clear();
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
            Err(error) if is_silence(&error) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

fn is_silence(error: &io::Error) -> bool {
    let kinds = [
        io::ErrorKind::WouldBlock,
        io::ErrorKind::TimedOut,
        io::ErrorKind::Interrupted,
    ];
    kinds.contains(&error.kind())
}
