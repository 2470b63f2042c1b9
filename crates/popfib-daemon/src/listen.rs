//! TCP listeners for routers (FPM and BMP): their connections in, changes of the tables out. A thread reads each connection.

use std::fmt::Arguments;
use std::io::{ErrorKind, Read};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use popfib_feed::{BudgetShare, ConnectionId, Decoder};
use popfib_program::failure::Failure;
use rustix::net::sockopt::{
    set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl,
};

use super::accept::{ListenerThread, accept};
use super::feeding::Feeding;
use super::state::FollowState;
use super::threads;

/// The size of the buffer of a connection at first, and of one that fills it.
const SMALL_BUFFER: usize = 8 << 10;
const BUFFER: usize = 64 << 10;

/// The time within which a message that has begun has to end: nobody holds memory and a place by a part of one for longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The name of the FPM feed, and the prefix of the names of BMP feeds.
pub(super) const FPM: &str = "FPM";
const BMP: &str = "BMP";

/// The maximum number of connections of routers, and of those from one address.
const MAX_CONNECTIONS: usize = 1024;
const MAX_OF_ADDRESS: usize = 64;

/// Whether the feed of this name is a router that speaks BMP.
pub(super) fn is_router(feed: &str) -> bool {
    let address = feed
        .strip_prefix(BMP)
        .and_then(|rest| rest.strip_prefix(' '));
    address.is_some()
}

/// A listener and its connections, which end when this is dropped.
pub(super) struct RouterListener {
    listener: Option<ListenerThread>,
    connections: RouterConnections,
}

impl Drop for RouterListener {
    fn drop(&mut self) {
        // From here on, no more connections are accepted.
        self.listener = None;
        let connections = self.connections.lock();
        for (_, stream) in &*connections.unwrap_or_else(PoisonError::into_inner) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// The connections of a listener that have not ended: the feed of each.
type RouterConnections = Arc<Mutex<Vec<(ConnectionId, Arc<TcpStream>)>>>;

/// Listens for FRR. All connections are of the same feed: a new one takes over from one whose loss was not noticed.
pub(super) fn fpm(
    state: &Arc<FollowState>,
    address: SocketAddr,
) -> Result<RouterListener, Failure> {
    let open = |state: &FollowState, connections: &RouterConnections, _| {
        let mut connections = connections.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, old) in connections.drain(..) {
            let _ = old.shutdown(Shutdown::Both);
        }
        let id = state.tables().connected(FPM, Instant::now());
        Ok((FPM.to_owned(), id))
    };
    let budget = state.tables().memory_budget().clone();
    listen(state, FPM, address, open, move || Decoder::fpm(&budget))
}

/// Listens for routers that speak BMP. A feed is a router, identified by its address. It may have several connections, each with
/// other peers; a new connection takes over the streams of one whose loss was not noticed.
pub(super) fn bmp(
    state: &Arc<FollowState>,
    address: SocketAddr,
) -> Result<RouterListener, Failure> {
    let open = |state: &FollowState, connections: &RouterConnections, peer: SocketAddr| {
        let address = peer.ip().to_canonical();
        let name = format!("{BMP} {address}");
        let known = connections.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |stream: &TcpStream| {
            let other = stream.peer_addr();
            other.is_ok_and(|other| other.ip().to_canonical() == address)
        };
        if known.len() >= MAX_CONNECTIONS {
            return Err(format!("more than {MAX_CONNECTIONS} connections"));
        }
        if known.iter().filter(|(_, stream)| is_same(stream)).count() >= MAX_OF_ADDRESS {
            return Err(format!(
                "more than {MAX_OF_ADDRESS} connections of one address"
            ));
        }
        let id = state.tables().joined(&name, Instant::now());
        Ok((name, id))
    };
    let budget = state.tables().memory_budget().clone();
    listen(state, BMP, address, open, move || Decoder::bmp(&budget))
}

/// Opens a listener and reads its connections. `open` decides which feed a connection belongs to, or why it is refused.
fn listen(
    state: &Arc<FollowState>,
    protocol: &'static str,
    address: SocketAddr,
    open: impl Fn(
        &FollowState,
        &RouterConnections,
        SocketAddr,
    ) -> Result<(String, ConnectionId), String>
    + Send
    + 'static,
    make: impl Fn() -> Decoder + Send + 'static,
) -> Result<RouterListener, Failure> {
    let (accepting, state) = (state, state.clone());
    let connections = RouterConnections::default();
    let known = connections.clone();
    state.awaited().insert(protocol);
    let each = move |stream: TcpStream, peer: SocketAddr| {
        // Here and not in the thread of the connection, so that no feed connects after the listener is closed.
        let (name, id) = match open(&state, &known, peer) {
            Ok(feed) => feed,
            Err(reason) => {
                let line = format_args!("{reason}; refused {peer}");
                state.lines.note(protocol, Some(peer.ip()), line);
                return;
            }
        };
        state.awaited().remove(protocol);
        let stream = Arc::new(stream);
        keep_alive(&stream);
        let all = || known.lock().unwrap_or_else(PoisonError::into_inner);
        all().push((id, stream.clone()));
        let note = move |state: &FollowState, line: Arguments<'_>| {
            state.lines.note(protocol, Some(peer.ip()), line);
        };
        note(&state, format_args!("{peer} connected"));
        let (served, decoder, all_known) = (state.clone(), make(), known.clone());
        let read = move || {
            let reason = serve(&served, &name, id, &stream, decoder, PATIENCE);
            let mut all = all_known.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|(other, _)| *other != id);
            drop(all);
            let _ = stream.shutdown(Shutdown::Both);
            note(&served, format_args!("{peer} disconnected: {reason}"));
        };
        if let Err(reason) = threads::start(read) {
            note(&state, format_args!("{peer} disconnected: {reason}"));
            all().retain(|(other, _)| *other != id);
            state.tables().disconnected(id, Instant::now());
        }
    };
    let listener = accept(accepting, protocol, address, each)
        .map_err(|error| format!("{protocol} on {address}: {error}"))?;
    Ok(RouterListener {
        listener: Some(listener),
        connections,
    })
}

/// Has the system ask after two minutes of silence whether the other side is still there.
fn keep_alive(stream: &TcpStream) {
    // Without it, a connection that was lost takes longer to be noticed.
    let _ = set_socket_keepalive(stream, true);
    let _ = set_tcp_keepidle(stream, Duration::from_secs(60));
    let _ = set_tcp_keepintvl(stream, Duration::from_secs(15));
    let _ = set_tcp_keepcnt(stream, 4);
}

/// Reads a connection to its end; returns the reason why it ended.
fn serve(
    state: &FollowState,
    name: &str,
    id: ConnectionId,
    mut stream: &TcpStream,
    mut decoder: Decoder,
    patience: Duration,
) -> String {
    let late = "a message did not end within a minute";
    let mut share = BudgetShare::brief(&state.tables().memory_budget().clone());
    let mut buffer = vec![0; SMALL_BUFFER];
    let mut feeding = Feeding::new(state, name, id);
    let _ = stream.set_read_timeout(Some(patience));
    // Not earlier than that the message at hand began.
    let mut began = Instant::now();
    let reason = loop {
        let read = match stream.read(&mut buffer) {
            Ok(0) => break "closed by the other side".to_owned(),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() != ErrorKind::WouldBlock => break error.to_string(),
            Err(_) if decoder.is_begun() => break late.to_owned(),
            Err(_) => continue,
        };
        if read == buffer.len() && read < BUFFER && share.set(BUFFER) {
            buffer.resize(BUFFER, 0);
        }
        if !decoder.is_begun() {
            began = Instant::now();
        }
        let before = decoder.counts().messages;
        let result = decoder.push(&buffer[..read], &mut |streams, transaction| {
            feeding.add(streams, transaction);
        });
        if decoder.counts().messages > before {
            began = Instant::now();
        }
        let received = (decoder.counts(), decoder.left_out());
        let is_current = feeding.publish(decoder.streams(), Some(stream), received);
        if let Err(error) = result {
            break error.to_string();
        }
        if !is_current {
            break "a new connection took over, or the feed is no longer followed".to_owned();
        }
        if decoder.is_begun() && began.elapsed() > patience {
            break late.to_owned();
        }
    };
    let now = Instant::now();
    state.publish(now, false);
    state.tables().disconnected(id, now);
    reason
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;

    use popfib_feed::Tables;

    use super::*;

    /// One sends a part of a message and stays, the other a byte now and then.
    #[test]
    fn a_message_that_does_not_end_ends_its_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let patience = Duration::from_millis(200);
        for drips in [false, true] {
            let mut router = TcpStream::connect(address).unwrap();
            let (stream, _) = listener.accept().unwrap();
            let reading = thread::spawn(move || {
                let state = FollowState::new(Tables::default());
                let id = state.tables().joined("router", Instant::now());
                let decoder = Decoder::bmp(&Default::default());
                let begin = Instant::now();
                let reason = serve(&state, "router", id, &stream, decoder, patience);
                (reason, begin.elapsed())
            });
            // A whole message; a silence after it is no reason.
            router.write_all(b"\x03\0\0\0\x06\x05").unwrap();
            thread::sleep(2 * patience);
            router.write_all(b"\x03\0\x01\0\0\x05").unwrap();
            while drips && !reading.is_finished() {
                let _ = router.write_all(b"x");
                thread::sleep(patience / 20);
            }
            let (reason, took) = reading.join().unwrap();
            assert_eq!(reason, "a message did not end within a minute");
            assert!(
                (5 * patience / 2..20 * patience).contains(&took),
                "{took:?}"
            );
        }
    }
}
