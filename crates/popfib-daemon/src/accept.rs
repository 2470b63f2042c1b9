//! TCP listeners that can be closed again: an address in, connections to a closure out.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use popfib_program::note;

use super::state::FollowState;
use super::threads;

/// A listener with its thread. Dropping it closes the listener, but not the connections that it has accepted.
pub(super) struct ListenerThread {
    address: SocketAddr,
    is_closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Opens a listener, reports its address, and passes each connection to `each`, in a thread.
pub(super) fn accept(
    state: &Arc<FollowState>,
    what: &'static str,
    address: SocketAddr,
    mut each: impl FnMut(TcpStream, SocketAddr) + Send + 'static,
) -> io::Result<ListenerThread> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    note!("{what} on {address}");
    let state = state.clone();
    let is_closed = Arc::new(AtomicBool::new(false));
    let closed = is_closed.clone();
    let accept = move || {
        loop {
            let accepted = listener.accept();
            if closed.load(Ordering::Acquire) {
                return;
            }
            match accepted {
                Ok((stream, peer)) => each(stream, peer),
                Err(error) => {
                    // Too many open files, or a connection that is closed already.
                    let line = format_args!("on {address}: {error}");
                    state.lines.note(what, None, line);
                    thread::sleep(Duration::from_secs(1));
                }
            }
        }
    };
    let thread = threads::start(accept).map_err(io::Error::other)?;
    Ok(ListenerThread {
        address,
        is_closed,
        thread: Some(thread),
    })
}

impl Drop for ListenerThread {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Release);
        // Nothing else wakes a thread that waits for connections.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}
