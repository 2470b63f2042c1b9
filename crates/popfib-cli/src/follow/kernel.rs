//! `--netlink`: messages of this machine's kernel about its routes in, changes of the tables out.
//!
//! A dump gives all routes; messages report the changes after it. If messages are lost, another dump is needed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use popfib_feed::info::MessageCounts;
use popfib_feed::{ConnectionId, KernelReader, KernelStep};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{
    Timeout, set_socket_recv_buffer_size, set_socket_recv_buffer_size_force, set_socket_timeout,
};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, bind, recv, send, socket};

use crate::failure::Failure;
use crate::output::note;

use super::KERNEL as NAME;
use super::feeding::Feeding;
use super::state::FollowState;
use super::threads;

/// Enough for the messages of 588,000 routes; the system's default lost some of 10,000.
const QUEUE: usize = 64 << 20;

/// The buffer size: a part of a dump is 32 KiB at most.
const DATAGRAM: usize = 128 << 10;

/// The interval at which a waiting dump is checked.
const SOON: Duration = Duration::from_millis(50);

/// The interval at which the thread checks whether it should end.
const LOOK: Duration = Duration::from_secs(1);

/// The minimum time between two dumps, if messages are lost repeatedly.
const PAUSE: Duration = Duration::from_millis(500);

/// Opens the socket, and reads it in a thread.
pub(super) fn follow(state: &Arc<FollowState>) -> Result<(), Failure> {
    let failed = |error: Errno| format!("netlink: {error}");
    // Protocol 0 is NETLINK_ROUTE.
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None).map_err(failed)?;
    // Only CAP_NET_ADMIN allows more than the system's limit; without it, lost messages cause another dump.
    if set_socket_recv_buffer_size_force(&socket, QUEUE).is_err() {
        let _ = set_socket_recv_buffer_size(&socket, QUEUE);
    }
    bind(&socket, &SocketAddrNetlink::new(0, KernelReader::GROUPS)).map_err(failed)?;
    note("netlink: following the kernel's routes");
    let (following, state) = (state, state.clone());
    let id = state.tables().connected(NAME, Instant::now());
    let read = move || {
        let reason = serve(&state, &socket, id);
        note(format_args!("netlink: {reason}"));
    };
    if let Err(reason) = threads::start(read) {
        following.tables().disconnected(id, Instant::now());
        return Err(format!("netlink: {reason}").into());
    }
    Ok(())
}

/// Reads the socket until an error; returns the reason.
fn serve(state: &FollowState, socket: &OwnedFd, mut id: ConnectionId) -> String {
    let mut kernel = KernelReader::within(&state.tables().memory_budget().clone());
    let mut buffer = vec![0; DATAGRAM];
    let mut counts = MessageCounts::default();
    let mut left_out = Vec::new();
    let mut wants_dump = true;
    let mut dumped: Option<Instant> = None;
    // After messages were lost, the kernel drops all others until the queue has been empty once, and what is in the queue is older
    // than what was lost. A dump before that would confirm routes that are gone.
    let mut is_drained = true;
    loop {
        if !state.tables().is_current(id) {
            break "no longer followed".to_owned();
        }
        let is_due = dumped.is_none_or(|dumped| dumped.elapsed() >= PAUSE);
        if wants_dump && is_due && is_drained && !kernel.is_dumping() {
            // A dump begins a generation; routes that are not in it are removed at its end.
            if dumped.is_some() {
                id = state.tables().connected(NAME, Instant::now());
            }
            if let Err(error) = send(socket, &kernel.dump(), SendFlags::empty()) {
                break error.to_string();
            }
            wants_dump = false;
            dumped = Some(Instant::now());
        }
        let timeout = if wants_dump { SOON } else { LOOK };
        if let Err(error) = set_socket_timeout(socket, Timeout::Recv, Some(timeout)) {
            break error.to_string();
        }
        let flags = match is_drained {
            true => RecvFlags::empty(),
            false => RecvFlags::DONTWAIT,
        };
        let read = match recv(socket, &mut buffer[..], flags) {
            Ok((read, _)) => read,
            Err(Errno::AGAIN) => {
                is_drained = true;
                continue;
            }
            Err(Errno::INTR) => continue,
            Err(Errno::NOBUFS) => {
                note(
                    "netlink: the kernel's messages did not fit into the buffer; asking again for all routes",
                );
                kernel.lost_messages();
                wants_dump = true;
                is_drained = false;
                continue;
            }
            Err(error) => break error.to_string(),
        };
        let mut feeding = Feeding::new(state, id);
        let next = kernel.push(&buffer[..read], &mut |streams, transaction| {
            feeding.add(streams, transaction);
            feeding.finish(streams);
        });
        state.publish(Instant::now(), kernel.is_dumping());
        state.count(NAME, &mut counts, kernel.counts());
        state.leave_out(NAME, &mut left_out, kernel.left_out());
        match next {
            Ok(KernelStep::Read) => {}
            Ok(KernelStep::Send(request)) => {
                if let Err(error) = send(socket, &request, SendFlags::empty()) {
                    break error.to_string();
                }
            }
            Ok(KernelStep::Dump) => wants_dump = true,
            Err(error) => break error.to_string(),
        }
    }
}
