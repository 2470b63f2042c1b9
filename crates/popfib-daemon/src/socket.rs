//! The Unix socket: lines and packed addresses of clients in, answers out. Its owner, root, and users that the settings name may
//! use it. What the lines mean is in `protocol.rs`; this is what reads and writes them.

use std::fmt::Display;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use popfib_program::failure::Failure;
use popfib_program::note;

use super::http;
use super::images::ClientImage;
use super::protocol::{self, SocketStep};
use super::session::ClientSession;
use super::state::{CountedClient, FollowState};
use super::{threads, watch};

/// The maximum number of clients at a time, and the maximum length of a line.
const MAX_CLIENTS: usize = 256;
const MAX_LINE: usize = 4096;
const BUFFER: usize = 64 << 10;

/// A client loses an image that is old if it reads nothing for the first of these times, or not all of it within the second.
const STALLED: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);

/// The file of the socket. Dropping this removes the file; clients that are connected stay.
pub(super) struct SocketFile {
    path: PathBuf,
    /// Device and inode of the file.
    file: (u64, u64),
    is_closed: Arc<AtomicBool>,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Release);
        // Another process may have replaced the file with its own.
        let there = fs::symlink_metadata(&self.path);
        if there.is_ok_and(|there| (there.dev(), there.ino()) == self.file) {
            // Nothing else wakes a thread that waits for clients.
            let _ = UnixStream::connect(&self.path);
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The users that may send queries.
struct SocketUsers {
    own: u32,
    allowed: Vec<u32>,
}

impl SocketUsers {
    /// Whether this client's process belongs to one of these users. The mode of the file has kept out others already.
    fn admit(&self, client: &UnixStream) -> bool {
        user(client)
            .is_none_or(|user| user == 0 || user == self.own || self.allowed.contains(&user))
    }
}

/// Whether a user is one of those of the user namespace, of which the lines of `map` have the first and the number: all others appear as
/// one. Without lines there is none.
fn is_mapped(map: &str, user: u32) -> bool {
    let has = |line: &str| {
        let mut numbers = line.split_ascii_whitespace().map(str::parse::<u32>);
        let (Some(Ok(first)), Some(Ok(count))) = (numbers.next(), numbers.nth(1)) else {
            return false;
        };
        user.checked_sub(first).is_some_and(|after| after < count)
    };
    map.is_empty() || map.lines().any(has)
}

/// The user of the client's process when it connected; `None` if the system does not provide it.
#[cfg(target_os = "linux")]
fn user(client: &UnixStream) -> Option<u32> {
    let user = rustix::net::sockopt::socket_peercred(client).ok()?.uid;
    Some(user.as_raw())
}
#[cfg(not(target_os = "linux"))]
fn user(_: &UnixStream) -> Option<u32> {
    None
}

/// Opens the socket and answers its clients, each in a thread.
pub(super) fn listen(
    state: &Arc<FollowState>,
    path: &Path,
    allowed: &[u32],
) -> Result<SocketFile, Failure> {
    let users = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if let Some(user) = allowed.iter().find(|user| !is_mapped(&users, **user)) {
        return Err(format!(
            "--allow-uid {user}: this process cannot tell this user from others: run it without a user namespace (PrivateUsers= of its unit)"
        ).into());
    }
    let failed = |error: io::Error| format!("--socket {}: {error}", path.display());
    let mode = if allowed.is_empty() { 0o600 } else { 0o666 };
    let listener = bind(path, mode).map_err(failed)?;
    let made = fs::symlink_metadata(path).map_err(failed)?;
    let file = SocketFile {
        path: path.to_owned(),
        file: (made.dev(), made.ino()),
        is_closed: Arc::default(),
    };
    let closed = file.is_closed.clone();
    let users = SocketUsers {
        own: made.uid(),
        allowed: allowed.to_vec(),
    };
    note!("answering on {}", path.display());
    let state = state.clone();
    let answer = move || {
        for client in listener.incoming() {
            if closed.load(Ordering::Acquire) {
                return;
            }
            let mut client = match client {
                Ok(client) => client,
                Err(error) => {
                    // Too many open files.
                    wait(&state, &error);
                    continue;
                }
            };
            if !users.admit(&client) {
                let _ = client.write_all(b"error: this user may not ask\n");
                continue;
            }
            let served = state.clone();
            let serve = move || {
                // A client that has gone is no error.
                let _ = serve(&served, client);
            };
            if let Err(reason) = threads::start(serve) {
                wait(&state, &reason);
            }
        }
    };
    threads::start(answer).map_err(|reason| format!("--socket {}: {reason}", path.display()))?;
    Ok(file)
}

/// Reports why a client cannot be answered, and waits for others to leave.
fn wait(state: &FollowState, reason: &dyn Display) {
    let line = format_args!("a client was refused: {reason}");
    state.lines.note("socket", None, line);
    thread::sleep(Duration::from_millis(100));
}

/// Makes a socket that is never open to other users, not even before its mode is set: it is made in a private directory, then
/// moved to its path. It replaces an old socket if no process answers there.
fn bind(path: &Path, mode: u32) -> io::Result<UnixListener> {
    match fs::symlink_metadata(path) {
        Ok(there) if !there.file_type().is_socket() => {
            let reason = "this path exists and is not a socket";
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
    let private = private_directory(parent)?;
    let made = private.join("s");
    let bound = UnixListener::bind(&made).and_then(|listener| {
        fs::set_permissions(&made, Permissions::from_mode(mode))?;
        fs::rename(&made, path)?;
        Ok(listener)
    });
    let _ = fs::remove_file(&made);
    let _ = fs::remove_dir(&private);
    bound
}

/// Makes a directory that only this user may open. An earlier process of the same number may have left one: the first process of
/// each container has the same number.
fn private_directory(parent: &Path) -> io::Result<PathBuf> {
    let mut number = 0;
    loop {
        let name = match number {
            0 => format!(".popfib-{}", std::process::id()),
            _ => format!(".popfib-{}-{number}", std::process::id()),
        };
        let path = parent.join(name);
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            // Only an empty one is removed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => {
                number += u32::from(fs::remove_dir(&path).is_err());
            }
            Err(error) => return Err(error),
        }
    }
}

/// Writes an image to a client. One that does not read must not keep it in memory while later ones are made.
fn send(client: &mut UnixStream, image: &ClientImage) -> io::Result<()> {
    client.set_write_timeout(Some(STALLED))?;
    let mut rest = &image.bytes[..];
    while !rest.is_empty() {
        let part = &rest[..rest.len().min(BUFFER)];
        match client.write(part) {
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && !image.is_old() => {}
            Err(error) => return Err(error),
        }
        if image.is_old_for(PATIENCE) {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    client.set_write_timeout(None)
}

/// Answers a client until it disconnects.
fn serve(state: &Arc<FollowState>, mut client: UnixStream) -> io::Result<()> {
    let Some(_counted) = CountedClient::enter(&state.clients, MAX_CLIENTS) else {
        return client.write_all(b"error: too many clients\n");
    };
    let mut reader = BufReader::with_capacity(BUFFER, client.try_clone()?);
    let mut session = ClientSession::new(state);
    let mut line = Vec::new();
    let (mut packed, mut numbers) = (Vec::new(), Vec::new());
    // No more of an answer is made than the client reads.
    let mut answers = BufWriter::with_capacity(BUFFER, client.try_clone()?);
    loop {
        // A client gets all answers before more queries are read.
        if !reader.buffer().contains(&b'\n') {
            answers.flush()?;
        }
        line.clear();
        let most = MAX_LINE as u64 + 1;
        let read = (&mut reader).take(most).read_until(b'\n', &mut line)?;
        let is_whole = line.pop_if(|last| *last == b'\n').is_some();
        if line.len() > MAX_LINE {
            answers.write_all(b"error: a line of more than 4096 bytes\n")?;
            return answers.flush();
        }
        match protocol::answer(state, &mut session, &line, &mut answers)? {
            SocketStep::Line => {}
            SocketStep::Quit => return answers.flush(),
            SocketStep::Image(image) => {
                answers.flush()?;
                send(&mut client, &image)?;
            }
            SocketStep::Packed { count, is_ipv6 } => {
                packed.resize(count * if is_ipv6 { 16 } else { 4 }, 0);
                if reader.buffer().len() < packed.len() {
                    answers.flush()?;
                }
                reader.read_exact(&mut packed)?;
                numbers.clear();
                protocol::answer_packed(state, &mut session, is_ipv6, &packed, &mut numbers);
                answers.write_all(&numbers)?;
            }
            SocketStep::Watch(table, covered) => {
                answers.flush()?;
                return watch::serve(state, &table, covered, &mut client);
            }
            SocketStep::Http => {
                answers.flush()?;
                line.push(b'\n');
                line.extend_from_slice(reader.buffer());
                return http::serve_socket(state, line, client);
            }
        }
        if read == 0 || !is_whole {
            // The last line, without a newline.
            return answers.flush();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_outside_of_the_user_namespace_are_refused() {
        let of = |map: &str| [0, 1000, 1001, 65_534].map(|user| is_mapped(map, user));
        assert_eq!(of("         0          0 4294967295\n"), [true; 4]);
        assert_eq!(of(""), [true; 4]);
        let private = "         0          0          1\n      1000       1000          1\n";
        assert_eq!(of(private), [true, true, false, false]);
        if !fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| is_mapped(&map, 7)) {
            return;
        }
        let state = Arc::new(FollowState::new(popfib_feed::Tables::default()));
        let refused = listen(&state, Path::new("/nonexistent/s"), &[u32::MAX]);
        assert_eq!(
            refused.err().map(|failure| failure.to_string()).as_deref(),
            Some(
                "--allow-uid 4294967295: this process cannot tell this user from others: run it without a user namespace (PrivateUsers= of its unit)"
            )
        );
    }

    #[test]
    fn what_a_process_of_the_same_number_left_is_in_nobodys_way() {
        let name = format!("popfib-private-{}", std::process::id());
        let parent = std::env::temp_dir().join(name);
        let left = parent.join(format!(".popfib-{}", std::process::id()));
        fs::create_dir_all(&left).unwrap();
        // An empty one is replaced; what is in another one may be somebody's.
        assert_eq!(private_directory(&parent).unwrap(), left);
        fs::write(left.join("s"), "").unwrap();
        let other = private_directory(&parent).unwrap();
        assert!(other != left && left.join("s").exists());
        assert_eq!(
            fs::metadata(&other).unwrap().permissions().mode() & 0o777,
            0o700
        );
        fs::remove_dir_all(&parent).unwrap();
    }
}
