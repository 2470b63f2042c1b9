//! The datagrams of a Linux kernel's rtnetlink socket in; transactions, and requests to send, out.
//!
//! A dump requests next-hop objects, IPv4 routes and IPv6 routes, one after the other. The kernel makes each part of its answer when there
//! is room in the socket's queue, and puts messages about changes into the same queue. So the result is right if all are applied in this
//! order. The kernel does not report all changes: IPv4 routes vanish with their interface, its addresses or their next-hop object. Then
//! everything is requested again, and routes that are not sent again are removed. Messages that do not fit into a full queue are lost; as
//! what is left in it is older, that ends the reader.

use std::collections::HashMap;
use std::sync::Arc;

use crate::kernel_routes::KernelRoutes;
use crate::left_out::LeftOutMessages;
use crate::memory_budget::MemoryBudget;
use crate::netlink;
use crate::received::{Commit, DecodeError, MessageCounts};
use crate::rtnetlink::{DELETE_NEXT_HOP, IPV4, IPV6, NEW_NEXT_HOP, NEW_ROUTE, RouteMessages};
use crate::transaction::{StreamEvent, StreamId, Transaction};

const ERROR: u16 = 2;
const DONE: u16 = 3;
const OVERRUN: u16 = 4;
const NEW_LINK: u16 = 16;
const DELETE_LINK: u16 = 17;
const NEW_ADDRESS: u16 = 20;
const DELETE_ADDRESS: u16 = 21;

/// The number of the main table.
const MAIN: u32 = 254;

/// The flag that something changed during the dump.
const INTERRUPTED: u16 = 0x10;

/// The requests of a dump, in this order: message type, family, length of the body.
const REQUESTS: [(u16, u8, usize); 3] = [
    (NEW_NEXT_HOP + 2, 0, 8),
    (NEW_ROUTE + 2, IPV4, 12),
    (NEW_ROUTE + 2, IPV6, 12),
];

/// Reads the messages of a kernel. Unlike a [`Decoder`](crate::Decoder), it also makes requests to send, and reads whole datagrams.
#[derive(Debug)]
pub struct KernelReader {
    routes: RouteMessages,
    transaction: Transaction,
    /// How many requests of the dump have been answered.
    answered: usize,
    was_interrupted: bool,
    /// The last state of each interface.
    links: HashMap<u32, u32>,
}

/// What the caller has to do after a datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelStep {
    /// Continue reading.
    Read,
    /// Send this, then continue reading.
    Send(Vec<u8>),
    /// Begin a new dump, now or soon: routes may have vanished without a message.
    Dump,
}

impl KernelReader {
    /// The groups that the socket has to join before the first dump, as bits of its address: links, IPv4 addresses,
    /// routes of both families, next-hop objects.
    pub const GROUPS: u32 = 1 | 0x10 | 0x40 | 0x400 | 1 << 31;

    /// Makes the reader of an open socket, whose next-hop objects are limited by the memory budget of the [tables](crate::Tables::memory_budget).
    pub fn within(budget: &Arc<MemoryBudget>) -> Self {
        Self {
            routes: RouteMessages::of_kernel(budget),
            transaction: Transaction::default(),
            answered: REQUESTS.len(),
            was_interrupted: false,
            links: HashMap::new(),
        }
    }

    /// Begins a dump and returns the request to send. Must not be called during another dump.
    pub fn dump(&mut self) -> Vec<u8> {
        self.routes_of_kernel().begin();
        self.answered = 0;
        self.was_interrupted = false;
        self.request()
    }

    fn routes_of_kernel(&mut self) -> &mut KernelRoutes {
        self.routes.kernel_mut().expect("it is made for a kernel")
    }

    /// Whether a dump is in progress.
    pub fn is_dumping(&self) -> bool {
        self.answered < REQUESTS.len()
    }

    fn request(&self) -> Vec<u8> {
        let (kind, family, body) = REQUESTS[self.answered];
        netlink::dump(kind, family, body)
    }

    /// Reads a datagram and calls `commit` with its changes. At the end of a dump, all streams are complete.
    ///
    /// # Errors
    /// The kernel refuses to dump its routes, or messages were lost. A reader of another socket has to go on.
    pub fn push(
        &mut self,
        mut datagram: &[u8],
        commit: &mut Commit<'_>,
    ) -> Result<KernelStep, DecodeError> {
        let mut next = KernelStep::Read;
        self.transaction.clear();
        while !datagram.is_empty() {
            let message = match netlink::message(&mut datagram) {
                Ok(message) => message,
                Err(reason) => {
                    self.routes.leave_out(reason, datagram);
                    break;
                }
            };
            self.was_interrupted |= message.flags & INTERRUPTED != 0;
            match message.kind {
                DONE => next = self.done(next),
                ERROR => match message.body.first_chunk().map(|b| i32::from_ne_bytes(*b)) {
                    None | Some(0) => {}
                    // Older kernels have no next-hop objects.
                    Some(_) if self.answered == 0 => next = self.done(next),
                    Some(number) => {
                        return Err(DecodeError(format!(
                            "the kernel refuses: error {}",
                            -number
                        )));
                    }
                },
                OVERRUN => return Err(DecodeError("messages were lost".to_owned())),
                NEW_LINK | DELETE_LINK | NEW_ADDRESS | DELETE_ADDRESS => {
                    if self.interface(message.kind, message.body) {
                        next = KernelStep::Dump;
                    }
                }
                kind => {
                    self.routes.message(message, &mut self.transaction)?;
                    if kind == DELETE_NEXT_HOP {
                        next = KernelStep::Dump;
                    }
                }
            }
        }
        if self.routes_of_kernel().take_unsure() {
            match self.is_dumping() {
                true => self.was_interrupted = true,
                false => next = KernelStep::Dump,
            }
        }
        if self.routes.take_changed() {
            self.transaction.change_objects();
        }
        if !self.transaction.is_empty() {
            self.transaction.settle();
            commit(&self.routes.received.streams.0, &mut self.transaction);
        }
        Ok(next)
    }

    /// One request has been answered.
    fn done(&mut self, next: KernelStep) -> KernelStep {
        if !self.is_dumping() {
            return next;
        }
        self.answered += 1;
        if self.is_dumping() {
            return KernelStep::Send(self.request());
        }
        let is_right = !self.was_interrupted;
        if !self.routes_of_kernel().end(is_right) {
            return KernelStep::Dump;
        }
        // Without routes, the table is there and empty.
        let _ = self.routes.stream(MAIN);
        for stream in 0..self.routes.received.streams.0.len() as u32 {
            for is_ipv6 in [false, true] {
                let stream = StreamId(stream);
                self.transaction
                    .event(StreamEvent::EndOfRib { stream, is_ipv6 });
            }
        }
        next
    }

    /// Takes a message about an interface or one of its IPv4 addresses. Returns whether routes may be gone, or may be used again.
    fn interface(&mut self, kind: u16, body: &[u8]) -> bool {
        /// Up, running, and with a carrier: each is a reason for which the kernel drops routes or next hops.
        const STATE: u32 = 0x1_0041;
        let Some((&[_, _, _, _, i0, i1, i2, i3], rest)) = body.split_first_chunk::<8>() else {
            let reason = "a message about an interface is shorter than its header";
            self.routes.leave_out(reason, body);
            return false;
        };
        self.routes.received.counts.messages += 1;
        let index = u32::from_ne_bytes([i0, i1, i2, i3]);
        // The parts of a dump that are still to come may have routes of any interface.
        let is_used = self.is_dumping() || self.routes.interfaces.contains(&index);
        match kind {
            NEW_LINK => {
                let state = rest.first_chunk().map_or(0, |f| u32::from_ne_bytes(*f)) & STATE;
                // Of an interface that was not heard of before, the state before is not known.
                self.links.insert(index, state) != Some(state) && is_used
            }
            DELETE_LINK => {
                self.links.remove(&index);
                self.routes.interfaces.remove(&index);
                is_used
            }
            // Next hops of an interface that has an address again are used again.
            NEW_ADDRESS => is_used,
            // Routes of other interfaces may name it as their source.
            _ => true,
        }
    }

    /// The messages that were left out so far, by reason.
    pub fn left_out(&self) -> &[LeftOutMessages] {
        self.routes.received.left_out.all()
    }

    /// Counts of the messages so far.
    pub fn counts(&self) -> MessageCounts {
        self.routes.received.counts
    }
}
