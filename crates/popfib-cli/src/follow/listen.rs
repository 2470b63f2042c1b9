//! TCP listeners for routers.

use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use popfib_feed::{Counts, Decoder};

use crate::failure::Failure;
use crate::output::note;

use super::state::State;

const BUFFER: usize = 64 << 10;

/// The connection of each feed.
type Connections = Arc<Mutex<HashMap<String, TcpStream>>>;

/// Opens a listener, says where, and takes connections in a thread: one for each feed, of at most `most`.
///
/// A feed is a router by its address; where there is but one, whoever connects. A new connection takes over from one that
/// broke and was not noticed.
pub(super) fn listen(
    state: &Arc<State>,
    protocol: &'static str,
    address: SocketAddr,
    most: usize,
    make: impl Fn() -> Box<dyn Decoder + Send> + Send + 'static,
) -> Result<(), Failure> {
    let failed = |error| format!("{protocol} on {address}: {error}");
    let listener = TcpListener::bind(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    note(format_args!("{protocol} on {address}"));
    let state = state.clone();
    let connections = Connections::default();
    thread::spawn(move || {
        loop {
            let (stream, peer) = match listener.accept() {
                Ok(accepted) => accepted,
                Err(error) => {
                    // No more files, or a connection that is gone already.
                    note(format_args!("{protocol} on {address}: {error}"));
                    thread::sleep(Duration::from_secs(1));
                    continue;
                }
            };
            let name = match most {
                1 => protocol.to_owned(),
                _ => format!("{protocol} {}", peer.ip().to_canonical()),
            };
            if !take_over(&connections, &name, &stream, most) {
                note(format_args!(
                    "{protocol}: more than {most} routers; refused {peer}"
                ));
                continue;
            }
            note(format_args!("{protocol}: {peer} connected"));
            let (state, decoder) = (state.clone(), make());
            thread::spawn(move || {
                let reason = serve(&state, &name, stream, decoder);
                note(format_args!("{protocol}: {peer} disconnected: {reason}"));
            });
        }
    });
    Ok(())
}

/// Remembers the connection of a feed and closes the one before; false if there are too many feeds.
fn take_over(connections: &Connections, name: &str, stream: &TcpStream, most: usize) -> bool {
    let mut connections = connections.lock().unwrap_or_else(PoisonError::into_inner);
    if !connections.contains_key(name) && connections.len() >= most {
        return false;
    }
    let Ok(stream) = stream.try_clone() else {
        return false;
    };
    if let Some(old) = connections.insert(name.to_owned(), stream) {
        let _ = old.shutdown(Shutdown::Both);
    }
    true
}

/// Reads a connection to its end; returns why it ended.
fn serve(
    state: &State,
    name: &str,
    mut stream: TcpStream,
    mut decoder: Box<dyn Decoder + Send>,
) -> String {
    let id = state.tables().connected(name, Instant::now());
    let mut buffer = vec![0; BUFFER];
    let mut counts = Counts::default();
    let reason = loop {
        let read = match stream.read(&mut buffer) {
            Ok(0) => break "closed by the other side".to_owned(),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => break error.to_string(),
        };
        let mut tables = state.tables();
        let now = Instant::now();
        let result = decoder.push(&buffer[..read], &mut |streams, transaction| {
            tables.apply(id, streams, transaction, now);
        });
        let is_current = tables.is_current(id);
        drop(tables);
        state.count(name, &mut counts, decoder.counts());
        if let Err(flaw) = result {
            break flaw.to_string();
        }
        if !is_current {
            break "a new connection took over".to_owned();
        }
    };
    state.tables().disconnected(id);
    let _ = stream.shutdown(Shutdown::Both);
    reason
}
