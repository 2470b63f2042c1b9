//! The Unix socket, which its owner alone may open.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::failure::Failure;
use crate::output::note;

use super::protocol::Session;
use super::state::State;

/// The most clients at a time, and the longest line.
const MAX_CLIENTS: usize = 256;
const MAX_LINE: usize = 4096;
const BUFFER: usize = 64 << 10;

/// The socket's place in the file system, which is given back when this is dropped.
pub(super) struct Place {
    path: PathBuf,
    /// Device and number of the file that was made.
    file: (u64, u64),
}

impl Drop for Place {
    fn drop(&mut self) {
        // Another process may have put its own there.
        let there = fs::symlink_metadata(&self.path);
        if there.is_ok_and(|there| (there.dev(), there.ino()) == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens the socket and answers its clients, each in a thread.
pub(super) fn listen(state: &Arc<State>, path: &Path) -> Result<Place, Failure> {
    let failed = |error: io::Error| format!("--socket {}: {error}", path.display());
    let listener = bind(path).map_err(failed)?;
    let made = fs::symlink_metadata(path).map_err(failed)?;
    let place = Place {
        path: path.to_owned(),
        file: (made.dev(), made.ino()),
    };
    note(format_args!("answering on {}", path.display()));
    let state = state.clone();
    thread::spawn(move || {
        for client in listener.incoming() {
            let Ok(client) = client else {
                // No more files.
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            let state = state.clone();
            thread::spawn(move || {
                // A client that has gone is no error.
                let _ = serve(&state, client);
            });
        }
    });
    Ok(place)
}

/// A socket that was never open to others: made in a directory of this user's, then put in its place, also of one that
/// nobody answers on any more.
fn bind(path: &Path) -> io::Result<UnixListener> {
    match fs::symlink_metadata(path) {
        Ok(there) if !there.file_type().is_socket() => {
            let reason = "there is something that is not a socket";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
        }
        Ok(_) if UnixStream::connect(path).is_ok() => {
            let reason = "another process answers there";
            return Err(io::Error::new(io::ErrorKind::AddrInUse, reason));
        }
        _ => {}
    }
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let private = parent.join(format!(".popfib-{}", std::process::id()));
    DirBuilder::new().mode(0o700).create(&private)?;
    let made = private.join("s");
    let bound = UnixListener::bind(&made).and_then(|listener| {
        fs::set_permissions(&made, Permissions::from_mode(0o600))?;
        fs::rename(&made, path)?;
        Ok(listener)
    });
    let _ = fs::remove_file(&made);
    let _ = fs::remove_dir(&private);
    bound
}

fn serve(state: &State, mut client: UnixStream) -> io::Result<()> {
    let Some(_counted) = state.client(MAX_CLIENTS) else {
        return client.write_all(b"error: too many clients\n");
    };
    let mut session = Session::default();
    let mut buffer = vec![0; BUFFER];
    let mut held = 0;
    let mut answers = String::new();
    loop {
        let read = match client.read(&mut buffer[held..]) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = held + read;
        let mut start = 0;
        while let Some(length) = buffer[start..end].iter().position(|&byte| byte == b'\n') {
            let line = &buffer[start..start + length];
            start += length + 1;
            if length > MAX_LINE {
                return client.write_all(b"error: a line of more than 4096 bytes\n");
            }
            if !session.answer(state, line, &mut answers) {
                return client.write_all(answers.as_bytes());
            }
            // Answers may be longer than questions.
            if answers.len() > BUFFER {
                client.write_all(answers.as_bytes())?;
                answers.clear();
            }
        }
        if read == 0 {
            // A last line without an end.
            session.answer(state, &buffer[start..end], &mut answers);
            return client.write_all(answers.as_bytes());
        }
        if end - start > MAX_LINE {
            return client.write_all(b"error: a line of more than 4096 bytes\n");
        }
        buffer.copy_within(start..end, 0);
        held = end - start;
        client.write_all(answers.as_bytes())?;
        answers.clear();
    }
}
