//! Listeners of TCP that can be closed again.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::output::note;

/// A listener with its thread; dropped, it is closed, and what it has accepted is not.
pub(super) struct Accepting {
    address: SocketAddr,
    is_closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Opens a listener, says where, and hands what it accepts to `each`, in a thread.
pub(super) fn accept(
    what: &'static str,
    address: SocketAddr,
    mut each: impl FnMut(TcpStream, SocketAddr) + Send + 'static,
) -> io::Result<Accepting> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    note(format_args!("{what} on {address}"));
    let is_closed = Arc::new(AtomicBool::new(false));
    let closed = is_closed.clone();
    let thread = thread::spawn(move || {
        loop {
            let accepted = listener.accept();
            if closed.load(Ordering::Acquire) {
                return;
            }
            match accepted {
                Ok((stream, peer)) => each(stream, peer),
                Err(error) => {
                    // No more files, or a connection that is gone already.
                    note(format_args!("{what} on {address}: {error}"));
                    thread::sleep(Duration::from_secs(1));
                }
            }
        }
    });
    Ok(Accepting {
        address,
        is_closed,
        thread: Some(thread),
    })
}

impl Drop for Accepting {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Release);
        // Nothing else wakes a thread that waits for connections.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}
