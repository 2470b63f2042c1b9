//! TCP listeners for routers.

use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use popfib_feed::{Bmp, Counts, Decoder, FeedId, Fpm};

use crate::failure::Failure;
use crate::output::note;

use super::accept::{Accepting, accept};
use super::catch_up;
use super::state::State;

const BUFFER: usize = 64 << 10;

/// The name of the FPM feed, and the prefix of the names of BMP feeds.
pub(super) const FPM: &str = "FPM";
const BMP: &str = "BMP";

/// The maximum number of routers.
const MAX_ROUTERS: usize = 1024;

/// Whether the feed of this name is a router that speaks BMP.
pub(super) fn is_router(feed: &str) -> bool {
    let address = feed
        .strip_prefix(BMP)
        .and_then(|rest| rest.strip_prefix(' '));
    address.is_some()
}

/// A listener and its connections, which end when this is dropped.
pub(super) struct Routers {
    listener: Option<Accepting>,
    connections: Connections,
}

impl Drop for Routers {
    fn drop(&mut self) {
        // From here on, no more connections are accepted.
        self.listener = None;
        let connections = self.connections.lock();
        for stream in connections.unwrap_or_else(PoisonError::into_inner).values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Listens for FRR.
pub(super) fn fpm(state: &Arc<State>, address: SocketAddr) -> Result<Routers, Failure> {
    listen(state, FPM, address, 1, || Box::new(Fpm::new()))
}

/// Listens for routers that speak BMP.
pub(super) fn bmp(state: &Arc<State>, address: SocketAddr) -> Result<Routers, Failure> {
    listen(state, BMP, address, MAX_ROUTERS, || Box::new(Bmp::new()))
}

/// The connection of each feed.
type Connections = Arc<Mutex<HashMap<String, TcpStream>>>;

/// Opens a listener and reads its connections: one for each of at most `most` feeds.
///
/// A feed is a router, identified by its address; if `most` is 1, all connections are of the same feed. A new connection takes
/// over from one that was lost without being noticed.
fn listen(
    state: &Arc<State>,
    protocol: &'static str,
    address: SocketAddr,
    most: usize,
    make: impl Fn() -> Box<dyn Decoder + Send> + Send + 'static,
) -> Result<Routers, Failure> {
    let state = state.clone();
    let connections = Connections::default();
    let known = connections.clone();
    let each = move |stream: TcpStream, peer: SocketAddr| {
        let name = match most {
            1 => protocol.to_owned(),
            _ => format!("{protocol} {}", peer.ip().to_canonical()),
        };
        if !take_over(&known, &name, &stream, most) {
            note(format_args!(
                "{protocol}: more than {most} routers; refused {peer}"
            ));
            return;
        }
        note(format_args!("{protocol}: {peer} connected"));
        // Here and not in the thread, so that no feed connects after the listener is closed.
        let id = state.tables().connected(&name, Instant::now());
        let (state, decoder) = (state.clone(), make());
        thread::spawn(move || {
            let reason = serve(&state, &name, id, stream, decoder);
            note(format_args!("{protocol}: {peer} disconnected: {reason}"));
        });
    };
    let listener = accept(protocol, address, each)
        .map_err(|error| format!("{protocol} on {address}: {error}"))?;
    Ok(Routers {
        listener: Some(listener),
        connections,
    })
}

/// Stores the connection of a feed and closes the previous one. Returns false if there are too many feeds.
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

/// Reads a connection to its end; returns the reason why it ended.
fn serve(
    state: &State,
    name: &str,
    id: FeedId,
    mut stream: TcpStream,
    mut decoder: Box<dyn Decoder + Send>,
) -> String {
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
            tables.take(id, streams, transaction, now);
        });
        let is_current = tables.is_current(id);
        drop(tables);
        catch_up::publish(state, &stream);
        state.count(name, &mut counts, decoder.counts());
        if let Err(flaw) = result {
            break flaw.to_string();
        }
        if !is_current {
            break "a new connection took over, or the feed is no longer followed".to_owned();
        }
    };
    let mut tables = state.tables();
    tables.publish(Instant::now(), false);
    tables.disconnected(id);
    drop(tables);
    let _ = stream.shutdown(Shutdown::Both);
    reason
}
