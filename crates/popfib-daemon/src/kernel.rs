//! `--netlink`: messages of this machine's kernel about its routes in, changes of the tables out.
//!
//! A dump gives all routes; messages report the changes after it. If messages are lost, a new socket and another dump are needed. As the
//! kernel drops some routes without a message, they are also compared by a dump now and then.

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use popfib_feed::{KernelReader, KernelStep};
use popfib_program::failure::Failure;
use popfib_program::note;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{
    Timeout, set_socket_recv_buffer_size, set_socket_recv_buffer_size_force, set_socket_timeout,
};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketType, bind, recv, recvfrom, send, socket,
};

use super::feeding::Feeding;
use super::lock::cpu_time;
use super::state::{FollowState, KERNEL as NAME};
use super::threads;

/// Enough for the messages of 588,000 routes; the system's default lost some of 10,000.
const QUEUE: usize = 64 << 20;

/// The buffer size: a part of a dump is 32 KiB at most.
const DATAGRAM: usize = 128 << 10;

/// The intervals at which the thread looks whether a dump is due that is wanted, and whether one is due otherwise or it should end.
const SOON: Duration = Duration::from_millis(50);
const LOOK: Duration = Duration::from_secs(1);

/// The mean time between dumps in a row, and how much earlier the first ones may be.
const PAUSE: Duration = Duration::from_secs(2);
const EARLY: Duration = Duration::from_secs(4);

/// The time between a message that routes may have vanished and the dump: the kernel sends it before it drops them.
const SETTLED: Duration = Duration::from_millis(50);

/// When the kernel's routes are compared although no message says that they differ: this long after a dump that one has caused, then
/// at intervals of this time and of this many times the CPU time of the last dump.
const SURE: Duration = Duration::from_secs(1);
const REST: Duration = Duration::from_secs(60);
const REST_PER_COST: u32 = 100;

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
        let mut feed = KernelFeed {
            state: &state,
            socket,
            feeding: Feeding::new(&state, NAME, id),
            next: Instant::now(),
            said: String::new(),
        };
        while let Err(reason) = feed.serve() {
            if feed.said != reason {
                note!("netlink: {reason}; asking again for all routes");
            }
            feed.said = reason;
            // Until the next dump is through, the known routes are stale.
            feed.begin(false);
            feed.throw_away();
            sleep(feed.due() - Instant::now());
        }
        note("netlink: no longer followed");
    };
    if let Err(reason) = threads::start(read) {
        following.tables().disconnected(id, Instant::now());
        return Err(format!("netlink: {reason}").into());
    }
    Ok(())
}

/// The feed of the kernel.
struct KernelFeed<'s> {
    state: &'s FollowState,
    socket: OwnedFd,
    feeding: Feeding<'s>,
    /// Before this, no dump begins that a message or a loss asks for.
    next: Instant,
    /// The loss that was reported, until the kernel's routes have been compared after it.
    said: String,
}

impl KernelFeed<'_> {
    /// All routes will be sent again.
    fn begin(&mut self, is_right: bool) {
        let mut tables = self.state.tables();
        self.feeding.id = tables.sends_again(self.feeding.id, is_right, Instant::now());
    }

    /// When a dump may begin that a message or a loss asks for now.
    fn due(&mut self) -> Instant {
        let now = Instant::now() + SETTLED;
        let due = now.max(self.next);
        self.next = self.next.max(now.checked_sub(EARLY).unwrap_or(now)) + PAUSE;
        due
    }

    /// Throws away what is queued, after a loss: it is older than what was lost, and the kernel drops all messages until the queue has
    /// been empty.
    fn throw_away(&self) {
        let read = || recv(&self.socket, &mut [0], RecvFlags::DONTWAIT);
        while !matches!(read(), Err(error) if error != Errno::NOBUFS) {}
    }

    /// Reads until a loss, or until the routes are no longer wanted.
    fn serve(&mut self) -> Result<(), String> {
        let failed = |error: Errno| error.to_string();
        let state = self.state;
        let mut kernel = KernelReader::within(&state.tables().memory_budget().clone());
        // The reader counts from 0.
        self.feeding = Feeding::new(state, NAME, self.feeding.id);
        let mut buffer = vec![0; DATAGRAM];
        // When the next dump begins, whether the routes known by then are right as far as is known, and whether tables know that they
        // are not; the CPU time at which the last one began.
        let mut next = Some(Instant::now());
        let (mut is_right, mut is_stale) = (false, true);
        let mut began = cpu_time();
        loop {
            if !state.tables().is_current(self.feeding.id) {
                return Ok(());
            }
            if !kernel.is_dumping() && next.is_some_and(|next| next <= Instant::now()) {
                // A dump begins a generation; routes that are not in it are removed at its end.
                self.begin(is_right);
                began = cpu_time();
                send(&self.socket, &kernel.dump(), SendFlags::empty()).map_err(failed)?;
                next = None;
            } else if !is_right && !is_stale && !kernel.is_dumping() {
                is_stale = true;
                self.begin(false);
            }
            let timeout = if is_right { LOOK } else { SOON };
            set_socket_timeout(&self.socket, Timeout::Recv, Some(timeout)).map_err(failed)?;
            let (read, from) = match recvfrom(&self.socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((read, _, from)) => (read, from),
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(Errno::NOBUFS) => {
                    return Err("the kernel's messages did not fit into the buffer".to_owned());
                }
                Err(error) => return Err(error.to_string()),
            };
            // Other processes may send to the socket, too.
            let from = from.map(SocketAddrNetlink::try_from);
            if !matches!(from, Some(Ok(from)) if from.pid() == 0) {
                continue;
            }
            let was_dumping = kernel.is_dumping();
            let feeding = &mut self.feeding;
            let step = kernel.push(&buffer[..read], &mut |streams, transaction| {
                feeding.add(streams, transaction);
                feeding.finish(streams);
            });
            let received = (kernel.counts(), kernel.left_out());
            feeding.publish(&[], Some(&self.socket), received);
            match step.map_err(|error| error.to_string())? {
                KernelStep::Read => {}
                KernelStep::Send(request) => {
                    send(&self.socket, &request, SendFlags::empty()).map_err(failed)?;
                }
                KernelStep::Dump if next.is_some() && !is_right => {}
                KernelStep::Dump => {
                    next = Some(self.due());
                    (is_right, is_stale) = (false, false);
                }
            }
            if was_dumping && !kernel.is_dumping() && next.is_none() {
                let rest = REST.max(REST_PER_COST * (cpu_time() - began));
                let rest = if is_right { rest } else { SURE };
                next = Some(Instant::now() + rest);
                is_right = true;
                self.said.clear();
            }
        }
    }
}
