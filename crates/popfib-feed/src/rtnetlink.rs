//! Rtnetlink messages of routes and next-hop objects in, from the kernel or from FRR; changes of paths out.
//!
//! A route either contains its next hops or names a next-hop object by its number; an object is a single next hop or a group of other
//! objects. An object can change later without a message for any of its routes, so a route refers to the object and not to its current
//! content.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use popfib::{IpPrefix, Prefix};

use crate::kernel_routes::{KernelRoute, KernelRoutes, UsedRouteChange};
use crate::memory_budget::MemoryBudget;
use crate::netlink::{InvalidReason, NetlinkMessage, aligned, attributes, number};
use crate::netlink_hops::{NetlinkHop, NetlinkHops};
use crate::next_hop_objects::{NextHopObject, NextHopObjects};
use crate::received::{DecodeError, ReceivedMessages};
use crate::target::Target;
use crate::transaction::{PathChange, StreamId, Transaction};

pub(crate) const NEW_ROUTE: u16 = 24;
const DELETE_ROUTE: u16 = 25;
pub(crate) const NEW_NEXT_HOP: u16 = 104;
pub(crate) const DELETE_NEXT_HOP: u16 = 105;

/// The flag of a route or next hop whose link is down, so that the kernel does not use it.
const DEAD: u32 = 1;

/// The maximum number of next hops of a route, whose text no other limit then refuses. Routers have up to 256.
const MAX_HOPS: usize = 512;
const TOO_MANY: InvalidReason = "more than 512 next hops";

pub(crate) const IPV4: u8 = 2;
pub(crate) const IPV6: u8 = 10;

/// Converts rtnetlink messages to transactions.
#[derive(Debug, Default)]
pub(crate) struct RouteMessages {
    objects: Arc<NextHopObjects>,
    /// Next hops that routes contain or name; routes with equal ones share them.
    tables: HashMap<u32, StreamId>,
    has_changed: bool,
    /// Only for the kernel, whose routes differ by metric; FRR sends only the route that it chose.
    kernel: Option<KernelRoutes>,
    /// The interfaces that the kernel's routes and next-hop objects have named.
    pub(crate) interfaces: HashSet<u32>,
    pub(crate) received: ReceivedMessages,
}

/// The content of a route message.
#[derive(Default)]
struct RouteParts<'a> {
    kind: u8,
    protocol: u8,
    scope: u8,
    flags: u32,
    destination: Option<&'a [u8]>,
    table: u32,
    object: Option<u32>,
    gateway: Option<IpAddr>,
    interface: u32,
    metric: u32,
    source: Option<&'a [u8]>,
    /// The attributes of TCP, by which two routes may differ.
    metrics: Option<&'a [u8]>,
    paths: Option<&'a [u8]>,
}

impl RouteMessages {
    /// Makes a reader for messages of the kernel.
    pub(crate) fn of_kernel(budget: &Arc<MemoryBudget>) -> Self {
        Self {
            kernel: Some(KernelRoutes::default()),
            ..Self::new(budget)
        }
    }

    /// What is known of the kernel's routes, if the messages are the kernel's.
    pub(crate) fn kernel_mut(&mut self) -> Option<&mut KernelRoutes> {
        self.kernel.as_mut()
    }

    pub(crate) fn new(budget: &Arc<MemoryBudget>) -> Self {
        Self {
            objects: Arc::new(NextHopObjects::new(budget)),
            ..Self::default()
        }
    }

    /// Reads a message. An invalid message is counted and left out.
    pub(crate) fn message(
        &mut self,
        message: NetlinkMessage<'_>,
        to: &mut Transaction,
    ) -> Result<(), DecodeError> {
        self.received.counts.messages += 1;
        let done = match message.kind {
            NEW_ROUTE | DELETE_ROUTE => self.route(message, to),
            NEW_NEXT_HOP => self.new_next_hop(message.body).map(Ok),
            DELETE_NEXT_HOP => self.delete_next_hop(message.body).map(Ok),
            _ => {
                self.received.counts.other += 1;
                Ok(Ok(()))
            }
        };
        match done {
            Ok(done) => done,
            Err(reason) => {
                self.leave_out(reason, message.body);
                Ok(())
            }
        }
    }

    /// Counts an invalid message.
    pub(crate) fn leave_out(&mut self, reason: InvalidReason, message: &[u8]) {
        self.received.leave_out(reason, String::new, message);
    }

    /// Whether next-hop objects have changed since the last call.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    fn route(
        &mut self,
        message: NetlinkMessage<'_>,
        to: &mut Transaction,
    ) -> Result<Result<(), DecodeError>, InvalidReason> {
        const CLONED: u32 = 0x200;
        let (head, rest) = message
            .body
            .split_first_chunk::<12>()
            .ok_or("a route is shorter than its header")?;
        let [
            family,
            length,
            source_length,
            service,
            table,
            protocol,
            scope,
            kind,
            flags @ ..,
        ] = *head;
        let flags = u32::from_ne_bytes(flags);
        let is_other = !matches!(family, IPV4 | IPV6)
            || source_length != 0
            || service != 0
            || flags & CLONED != 0
            // Local, broadcast, anycast and multicast. FRR withdraws with type 0.
            || matches!(kind, 2..=5 | 10..);
        if is_other {
            self.received.counts.other += 1;
            return Ok(Ok(()));
        }
        let mut parts = RouteParts {
            kind,
            protocol,
            scope,
            flags,
            table: table.into(),
            ..RouteParts::default()
        };
        attributes(rest, |kind, value| {
            match kind {
                1 => parts.destination = Some(value),
                4 => parts.interface = number(value)?,
                5 => parts.gateway = Some(address(value)?),
                6 => parts.metric = number(value)?,
                7 => parts.source = Some(value),
                8 => parts.metrics = Some(value),
                9 => parts.paths = Some(value),
                15 => parts.table = number(value)?,
                18 => parts.gateway = Some(via(value)?),
                30 => parts.object = Some(number(value)?),
                _ => {}
            }
            Ok(())
        })?;
        let prefix = prefix(family, parts.destination, length)?;
        let is_new = message.kind == NEW_ROUTE;
        let (path, target) = match self.kernel.is_some() {
            true => match self.kernel_route(prefix, &parts, message.flags, is_new)? {
                Some(target) => (parts.metric, target),
                None => return Ok(Ok(())),
            },
            // FRR sends only the route that it chose, and may withdraw it with another metric or none.
            false => {
                let target = is_new.then(|| self.target(&parts)).transpose();
                // With invalid next hops, it counts as withdrawn: the ones before are gone.
                let target = target.unwrap_or_else(|reason| {
                    self.leave_out(reason, message.body);
                    None
                });
                (0, target.flatten())
            }
        };
        let stream = match self.stream(parts.table) {
            Ok(stream) => stream,
            Err(error) => return Ok(Err(error)),
        };
        to.change(PathChange {
            stream,
            prefix,
            // Of the kernel's routes, the one with the lowest metric is used.
            path,
            target,
        });
        Ok(Ok(()))
    }

    /// What a message of the kernel means for the route of this prefix and metric that is used.
    fn kernel_route(
        &mut self,
        prefix: IpPrefix,
        parts: &RouteParts<'_>,
        flags: u16,
        is_new: bool,
    ) -> Result<UsedRouteChange, InvalidReason> {
        /// The protocols of redirects, of the kernel itself and of router advertisements.
        const AUTOMATIC: [u8; 3] = [1, 2, 9];
        let hops = self.hops(parts)?;
        let is_set = matches!(prefix, IpPrefix::V6(_))
            && parts.object.is_none()
            && !AUTOMATIC.contains(&parts.protocol)
            && hops.iter().all(|(hop, _)| hop.gateway.is_some())
            && matches!(parts.kind, 0..=1);
        let target = is_new.then(|| self.target(parts)).transpose()?.flatten();
        let all: Vec<NetlinkHop> = hops.iter().map(|&(hop, _)| hop).collect();
        self.interfaces.extend(all.iter().map(|hop| hop.interface));
        let content = (
            (parts.kind, parts.protocol, parts.scope, parts.object),
            (&all, parts.source, parts.metrics),
        );
        let mut kernel = self.kernel.take().expect("the messages are a kernel's");
        let route = KernelRoute {
            identity: kernel.identity(&content),
            target,
            set: is_set.then_some(all),
        };
        let key = (parts.table, prefix, parts.metric);
        let shown = match is_new {
            true => kernel.announced(key, flags, route),
            false => {
                let is_whole = parts.paths.is_some();
                kernel.withdrawn(key, &route, is_whole)
            }
        };
        self.kernel = Some(kernel);
        Ok(shown)
    }

    /// The next hops that a route message contains, and whether each can be used.
    fn hops(&self, parts: &RouteParts<'_>) -> Result<Vec<(NetlinkHop, bool)>, InvalidReason> {
        let mut hops = match parts.paths {
            Some(paths) => multipath(paths)?,
            None => {
                let hop = NetlinkHop {
                    gateway: parts.gateway,
                    interface: parts.interface,
                    weight: 1,
                };
                vec![(hop, parts.flags & DEAD == 0)]
            }
        };
        if self.kernel.is_some() {
            // In a change message, the kernel puts the newest next hop first; in a dump it does not.
            hops.sort_unstable_by_key(|(hop, _)| (hop.gateway, hop.interface));
        }
        Ok(hops)
    }

    /// The target of a route; `None` if none of its next hops can be used.
    fn target(&mut self, parts: &RouteParts<'_>) -> Result<Option<Target>, InvalidReason> {
        let hops = match parts.kind {
            6 => NetlinkHops::Blackhole,
            7 => NetlinkHops::Unreachable,
            8 => NetlinkHops::Prohibit,
            9 => NetlinkHops::Throw,
            _ => {
                if let Some(id) = parts.object {
                    self.received.counts.unknown_next_hops += u64::from(!self.objects.is_known(id));
                    let target = Target::object(id, &self.objects);
                    return Ok((parts.flags & DEAD == 0).then_some(target));
                }
                let hops = self.hops(parts)?;
                let usable = hops.iter().filter(|(_, is_usable)| *is_usable);
                NetlinkHops::Through(usable.map(|&(hop, _)| hop).collect())
            }
        };
        let is_usable = !matches!(&hops, NetlinkHops::Through(hops) if hops.is_empty());
        Ok(is_usable.then(|| Target::hops(hops)))
    }

    fn new_next_hop(&mut self, body: &[u8]) -> Result<(), InvalidReason> {
        let rest = body
            .get(8..)
            .ok_or("a next hop is shorter than its header")?;
        let mut id = None;
        let mut hop = NetlinkHop {
            gateway: None,
            interface: 0,
            weight: 1,
        };
        let mut is_blackhole = false;
        let mut members = Vec::new();
        attributes(rest, |kind, value| {
            match kind {
                1 => id = Some(number(value)?),
                2 => {
                    let (entries, rest) = value.as_chunks::<8>();
                    if !rest.is_empty() {
                        return Err("a group of next hops has an invalid length");
                    }
                    members.extend(entries.iter().map(|&[a, b, c, d, weight, high, ..]| {
                        // In newer kernels a weight has 16 bits; the higher ones follow.
                        let weight = u16::from(high) << 8 | u16::from(weight);
                        (u32::from_ne_bytes([a, b, c, d]), weight.saturating_add(1))
                    }));
                }
                4 => is_blackhole = true,
                5 => hop.interface = number(value)?,
                6 => hop.gateway = Some(address(value)?),
                _ => {}
            }
            Ok(())
        })?;
        let id = id.ok_or("a next hop without a number")?;
        if self.kernel.is_some() {
            self.interfaces.insert(hop.interface);
        }
        self.has_changed = true;
        if members.len() > MAX_HOPS {
            self.objects.remove(id);
            return Err(TOO_MANY);
        }
        let object = match members.is_empty() {
            true if is_blackhole => NextHopObject::Blackhole,
            true => NextHopObject::Hop(hop),
            false => NextHopObject::Group(members.into()),
        };
        self.objects.set(id, object);
        Ok(())
    }

    fn delete_next_hop(&mut self, body: &[u8]) -> Result<(), InvalidReason> {
        let rest = body
            .get(8..)
            .ok_or("a next hop is shorter than its header")?;
        let mut id = None;
        attributes(rest, |kind, value| {
            if kind == 1 {
                id = Some(number(value)?);
            }
            Ok(())
        })?;
        let id = id.ok_or("a next hop without a number")?;
        self.has_changed = true;
        self.objects.remove(id);
        Ok(())
    }

    /// The stream of a table of this number.
    pub(crate) fn stream(&mut self, table: u32) -> Result<StreamId, DecodeError> {
        if let Some(&stream) = self.tables.get(&table) {
            return Ok(stream);
        }
        let name = match table {
            0 | 254 => "main".to_owned(),
            253 => "default".to_owned(),
            255 => "local".to_owned(),
            number => number.to_string(),
        };
        let stream = self.received.streams.add(name, String::new())?;
        self.tables.insert(table, stream);
        Ok(stream)
    }
}

fn address(value: &[u8]) -> Result<IpAddr, InvalidReason> {
    if let Ok(bytes) = <[u8; 4]>::try_from(value) {
        return Ok(Ipv4Addr::from(bytes).into());
    }
    let bytes = <[u8; 16]>::try_from(value).map_err(|_| "an address has neither 4 nor 16 bytes")?;
    Ok(Ipv6Addr::from(bytes).into())
}

/// An address of any family, which follows the number of the family.
fn via(value: &[u8]) -> Result<IpAddr, InvalidReason> {
    address(value.get(2..).ok_or("an address without its family")?)
}

fn prefix(family: u8, destination: Option<&[u8]>, length: u8) -> Result<IpPrefix, InvalidReason> {
    const TOO_LONG: InvalidReason = "a prefix is longer than its addresses";
    let address = match (destination, family) {
        (Some(bytes), _) => address(bytes)?,
        (None, _) if length != 0 => return Err("a route without its destination"),
        (None, IPV4) => Ipv4Addr::UNSPECIFIED.into(),
        (None, _) => Ipv6Addr::UNSPECIFIED.into(),
    };
    match (address, family) {
        (IpAddr::V4(address), IPV4) => {
            let prefix = Prefix::new_masked(u32::from(address), length);
            prefix.map(IpPrefix::V4).map_err(|_| TOO_LONG)
        }
        (IpAddr::V6(address), IPV6) => {
            let prefix = Prefix::new_masked(u128::from(address), length);
            prefix.map(IpPrefix::V6).map_err(|_| TOO_LONG)
        }
        _ => Err("a destination of another family"),
    }
}

/// The next hops of a route that has several, and whether each can be used. Each has a header and its own attributes.
fn multipath(mut bytes: &[u8]) -> Result<Vec<(NetlinkHop, bool)>, InvalidReason> {
    const CUT: InvalidReason = "a next hop is cut off";
    let mut hops = Vec::new();
    while !bytes.is_empty() {
        let &[low, high, flags, weight, ref interface @ ..] =
            bytes.first_chunk::<8>().ok_or(CUT)?;
        let length = usize::from(u16::from_ne_bytes([low, high]));
        let mut hop = NetlinkHop {
            gateway: None,
            interface: u32::from_ne_bytes(*interface),
            weight: u16::from(weight) + 1,
        };
        attributes(bytes.get(8..length).ok_or(CUT)?, |kind, value| {
            match kind {
                5 => hop.gateway = Some(address(value)?),
                18 => hop.gateway = Some(via(value)?),
                _ => {}
            }
            Ok(())
        })?;
        if hops.len() == MAX_HOPS {
            return Err(TOO_MANY);
        }
        hops.push((hop, u32::from(flags) & DEAD == 0));
        bytes = bytes.get(aligned(length)..).unwrap_or_default();
    }
    match hops.is_empty() {
        true => Err("a route with several next hops has none"),
        false => Ok(hops),
    }
}
