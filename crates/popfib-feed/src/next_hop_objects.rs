//! The next-hop objects of a connection: their changes in by number, their next hops of the moment out.
//!
//! Routes name an object by its number. It is a single next hop or a group of others, and changes without a message for any of its
//! routes. A group has the numbers of its members, and its next hops are found when they are asked for: so a changed member costs
//! nothing in the groups and routes that name it, however many these are.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, PoisonError, RwLock};

use crate::memory_budget::MemoryBudget;
use crate::netlink_hops::{NetlinkHop, NetlinkHops};

/// What a number stands for.
#[derive(Debug)]
pub(crate) enum NextHopObject {
    Hop(NetlinkHop),
    Blackhole,
    /// The members, with their weights. There are no groups of groups.
    Group(Box<[(u32, u16)]>),
}

impl NextHopObject {
    /// How many next hops it has, at least one.
    fn parts(&self) -> usize {
        match self {
            Self::Group(members) => members.len().max(1),
            Self::Hop(_) | Self::Blackhole => 1,
        }
    }

    /// About the heap bytes that it takes in a hash table.
    fn bytes(&self) -> usize {
        let members = match self {
            Self::Group(members) => size_of_val(&**members),
            Self::Hop(_) | Self::Blackhole => 0,
        };
        2 * size_of::<(u32, Self)>() + members
    }
}

/// All objects of a connection. They stay as long as a route names one of them.
#[derive(Debug, Default)]
pub(crate) struct NextHopObjects {
    known: RwLock<ObjectTable>,
    budget: Arc<MemoryBudget>,
}

#[derive(Debug, Default)]
struct ObjectTable {
    objects: HashMap<u32, NextHopObject>,
    parts: usize,
    bytes: usize,
}

impl ObjectTable {
    fn remove(&mut self, id: u32) {
        if let Some(old) = self.objects.remove(&id) {
            self.parts -= old.parts();
            self.bytes -= old.bytes();
        }
    }
}

/// The objects of another connection are others.
impl PartialEq for NextHopObjects {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self, other)
    }
}

impl NextHopObjects {
    pub(crate) fn new(budget: &Arc<MemoryBudget>) -> Self {
        Self {
            known: RwLock::default(),
            budget: budget.clone(),
        }
    }

    /// Sets an object. If no memory is left for it, its number is unknown from then on.
    pub(crate) fn set(&self, id: u32, object: NextHopObject) {
        self.change(|known| {
            known.remove(id);
            if self.budget.allows(known.parts + object.parts()) {
                known.parts += object.parts();
                known.bytes += object.bytes();
                known.objects.insert(id, object);
            }
        });
    }

    pub(crate) fn remove(&self, id: u32) {
        self.change(|known| known.remove(id));
    }

    fn change(&self, change: impl FnOnce(&mut ObjectTable)) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.bytes;
        change(&mut known);
        self.budget.change(before, known.bytes);
    }

    pub(crate) fn is_known(&self, id: u32) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.objects.contains_key(&id)
    }

    /// The next hops of an object as it is now. O(members).
    pub(crate) fn hops(&self, id: u32) -> NetlinkHops {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        match known.objects.get(&id) {
            None => NetlinkHops::Unknown(id),
            Some(NextHopObject::Blackhole) => NetlinkHops::Blackhole,
            Some(NextHopObject::Hop(hop)) => NetlinkHops::Through(vec![*hop]),
            Some(NextHopObject::Group(members)) => {
                let hop = |&(member, weight): &(u32, u16)| match known.objects.get(&member) {
                    Some(NextHopObject::Hop(hop)) => Some(NetlinkHop { weight, ..*hop }),
                    _ => None,
                };
                let hops: Vec<NetlinkHop> = members.iter().filter_map(hop).collect();
                match hops.is_empty() {
                    true => NetlinkHops::Unknown(id),
                    false => NetlinkHops::Through(hops),
                }
            }
        }
    }
}

impl Drop for NextHopObjects {
    fn drop(&mut self) {
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.budget.change(known.bytes, 0);
    }
}
