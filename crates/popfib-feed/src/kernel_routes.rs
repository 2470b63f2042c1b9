//! The kernel's routes of one table, prefix and metric: each route that is announced, dumped or withdrawn in, the route that the kernel
//! then uses out.
//!
//! The kernel keeps such routes in a list and uses the first one whose link is up. `ip route append` adds one at the end, `prepend` at the
//! front, `replace` takes the place of the first. IPv6 does the same with the routes of several interfaces (each has `fe80::/64`), except
//! that routes through gateways are next hops of one route. Tables know only the route that is used. The others are kept here, and only
//! for prefixes that have several: a message says whether there are others. The route that was there before is then not known. If it is
//! needed, or if a message does not fit the list, only a new dump can tell which route is used.
//!
//! The kernel puts a part of a dump into the queue some time after it has read the routes: a message about a change in between comes
//! before that part, which does not have the change. So the lists that messages have changed during a dump are kept until its end, and
//! if a part differs from them, a new dump has to follow.
//!
//! The next hops of an IPv6 route lie in the kernel's list one by one, in the order in which they came. A dump has them at the place of
//! the first one, and does not have what lies between the first and the last. So a route that a dump lacks there may still exist. It is
//! missed only if it came before the first dump, so that no message told of it, and then the next hops around it are deleted.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use popfib::IpPrefix;

use crate::netlink_hops::{NetlinkHop, NetlinkHops};
use crate::target::Target;

/// Flags of messages: part of a dump, took the place of another, without others, was made, at the end.
const MULTI: u16 = 2;
const REPLACE: u16 = 0x100;
const ALONE: u16 = 0x200;
const CREATE: u16 = 0x400;
const APPEND: u16 = 0x800;

/// Table, prefix and metric.
pub(crate) type KernelRouteKey = (u32, IpPrefix, u32);

/// One of the routes of a key.
#[derive(Clone, Debug)]
pub(crate) struct KernelRoute {
    /// A hash of what distinguishes it from the others, without the state of its links.
    pub(crate) identity: u64,
    /// `None` if none of its links is up.
    pub(crate) target: Option<Target>,
    /// The next hops of an IPv6 route through gateways, of which a prefix has one. They come and go one by one.
    pub(crate) set: Option<Vec<NetlinkHop>>,
}

impl KernelRoute {
    fn is_set(&self) -> bool {
        self.set.is_some()
    }

    /// Whether the other is this route, its next hops included.
    fn is_like(&self, other: &Self) -> bool {
        match self.is_set() && other.is_set() {
            true => self.set == other.set,
            false => self.identity == other.identity,
        }
    }

    fn has_several(&self) -> bool {
        self.set.as_ref().is_some_and(|hops| hops.len() > 1)
    }
}

/// What the change means for the table: nothing, or the new target.
pub(crate) type UsedRouteChange = Option<Option<Target>>;

/// The routes of a key in the kernel's order; `None` is one whose message was not seen.
type KernelRouteList = Vec<Option<KernelRoute>>;

/// A key whose routes are coming in a dump.
#[derive(Debug)]
struct DumpedKey {
    key: KernelRouteKey,
    first: KernelRoute,
    /// How many have come.
    count: usize,
    /// Its list before the dump.
    before: KernelRouteList,
}

/// The routes of those keys that have several, or one whose next hops come and go.
#[derive(Debug, Default)]
pub(crate) struct KernelRoutes {
    /// With the dump in which the list was last touched.
    lists: HashMap<KernelRouteKey, (KernelRouteList, u32)>,
    /// The last key in the dump.
    last: Option<DumpedKey>,
    /// What messages have changed during the dump.
    changed: HashMap<KernelRouteKey, KernelRouteList>,
    is_dumping: bool,
    dump: u32,
    is_unsure: bool,
}

impl KernelRoutes {
    /// A dump begins.
    pub(crate) fn begin(&mut self) {
        self.dump = self.dump.wrapping_add(1);
        self.last = None;
        self.changed.clear();
        self.is_dumping = true;
    }

    /// All parts of a dump have come. Returns whether they were right; otherwise a new dump has to follow.
    pub(crate) fn end(&mut self, is_right: bool) -> bool {
        self.end_key();
        self.is_dumping = false;
        self.changed = HashMap::new();
        let is_right = is_right && !std::mem::take(&mut self.is_unsure);
        if is_right {
            // What it did not have is gone.
            self.lists.retain(|_, (_, dump)| *dump == self.dump);
        }
        is_right
    }

    /// All routes of the last key in the dump have come.
    fn end_key(&mut self) {
        let Some(last) = self.last.take() else {
            return;
        };
        if let Some(list) = self.changed.get(&last.key) {
            self.is_unsure |= list.len() != last.count;
        }
        if let Some((list, _)) = self.lists.get_mut(&last.key)
            && let Some(set) = list
                .iter()
                .position(|route| route.as_ref().is_some_and(KernelRoute::has_several))
        {
            let is_hidden = |route: &Option<KernelRoute>| {
                let known = route.as_ref();
                known.is_none_or(|route| !route.is_set() && place(list, route).is_none())
            };
            if last.before.iter().any(is_hidden) && list.iter().all(Option::is_some) {
                list.insert(set + 1, None);
            }
        }
    }

    /// Whether only a new dump can tell which route is used, since the last call.
    pub(crate) fn take_unsure(&mut self) -> bool {
        std::mem::take(&mut self.is_unsure)
    }

    /// The identity of a route with this content.
    pub(crate) fn identity(&self, content: &impl Hash) -> u64 {
        self.lists.hasher().hash_one(content)
    }

    /// Takes a route that was announced by a message with these flags.
    pub(crate) fn announced(
        &mut self,
        key: KernelRouteKey,
        flags: u16,
        route: KernelRoute,
    ) -> UsedRouteChange {
        if flags & MULTI != 0 {
            return self.dumped(key, route);
        }
        let known = self.lists.remove(&key).map(|(list, _)| list);
        let may_be_first = flags & (ALONE | REPLACE) != 0 || flags & CREATE == 0;
        let mut list = match known {
            _ if flags & ALONE != 0 => KernelRouteList::new(),
            Some(list) => list,
            None if may_be_first => KernelRouteList::new(),
            None => vec![None],
        };
        let is_ipv6 = matches!(key.1, IpPrefix::V6(_));
        let is_replaced = is_ipv6 && flags & REPLACE != 0;
        let known = place(&list, &route).filter(|_| !is_replaced);
        if let Some(place) = known {
            list[place] = Some(route);
        } else if list.is_empty() {
            list.push(Some(route));
        } else if flags & REPLACE != 0 {
            // Of IPv6, one through gateways replaces the like, if there is one, even if another one is equal.
            let is_of_kind = |other: &Option<KernelRoute>| {
                let other = other.as_ref();
                !is_ipv6 || other.is_none_or(|other| other.is_set() == route.is_set())
            };
            let place = list.iter().position(is_of_kind).unwrap_or(0);
            self.is_unsure |= is_ipv6 && list[place].is_none();
            list[place] = Some(route);
        } else if flags & CREATE == 0 {
            // The state of one of them has changed.
            match list.iter().position(Option::is_none) {
                Some(place) => list[place] = Some(route),
                None => self.is_unsure = true,
            }
        } else if route.is_set() && matches!(list[..], [None]) {
            // The route that was there before is one of its next hops, or there was none: when several next hops are added, messages do
            // not say that they are alone.
            self.is_unsure |= !route.has_several();
            list = vec![Some(route)];
        } else if is_ipv6 || flags & APPEND != 0 {
            // For the same reason.
            self.is_unsure |= is_ipv6 && matches!(list[..], [None]);
            list.push(Some(route));
        } else {
            list.insert(0, Some(route));
        }
        self.keep(key, list)
    }

    /// Takes a route of a dump, which has the routes of a key one after the other.
    fn dumped(&mut self, key: KernelRouteKey, route: KernelRoute) -> UsedRouteChange {
        let is_next = self.last.as_ref().is_some_and(|last| last.key == key);
        if !is_next {
            self.end_key();
        }
        if let Some(list) = self.changed.get(&key) {
            let count = self.last.as_ref().map_or(0, |last| last.count);
            let known = list.get(count).and_then(Option::as_ref);
            self.is_unsure |= !known.is_some_and(|known| known.is_like(&route));
        }
        let (mut list, _) = self.lists.remove(&key).unwrap_or_default();
        let Some(last) = &mut self.last else {
            let target = route.target.clone();
            self.last = Some(DumpedKey {
                key,
                first: route.clone(),
                count: 1,
                before: list,
            });
            self.store(key, vec![Some(route)]);
            return Some(target);
        };
        if list.is_empty() {
            list.push(Some(last.first.clone()));
        }
        // The route may be there already, by a message between two parts of the dump.
        let has_more = list.len() > last.count;
        last.count += 1;
        match place(&list, &route).filter(|_| has_more) {
            Some(place) => list[place] = Some(route),
            None => list.push(Some(route)),
        }
        self.store(key, list)
    }

    /// Takes a route that was withdrawn: as a whole, or only its next hop that `route` has.
    pub(crate) fn withdrawn(
        &mut self,
        key: KernelRouteKey,
        route: &KernelRoute,
        is_whole: bool,
    ) -> UsedRouteChange {
        let Some((mut list, _)) = self.lists.remove(&key) else {
            return self.keep(key, KernelRouteList::new());
        };
        let unknown = list.iter().position(Option::is_none);
        let Some(place) = place(&list, route).or(unknown) else {
            self.is_unsure = true;
            self.keep(key, list);
            return None;
        };
        // The one that is used from now on may be the unknown one.
        self.is_unsure |= unknown.is_some_and(|unknown| place < unknown);
        let left = list[place].as_ref().and_then(|known| {
            let is_gone = |hop: &NetlinkHop| {
                let gone = route.set.iter().flatten();
                let mut gone = gone.map(|gone| (gone.gateway, gone.interface));
                gone.any(|gone| gone == (hop.gateway, hop.interface))
            };
            let hops = known.set.iter().flatten().filter(|hop| !is_gone(hop));
            let hops: Vec<NetlinkHop> = hops.copied().collect();
            (!is_whole && !hops.is_empty()).then_some(hops)
        });
        match left {
            Some(hops) => {
                // If it was the first one, another route may come before the next one.
                self.is_unsure |= list.len() > 1;
                list[place] = Some(KernelRoute {
                    identity: route.identity,
                    target: Some(Target::hops(NetlinkHops::Through(hops.clone()))),
                    set: Some(hops),
                });
            }
            None => {
                list.remove(place);
            }
        }
        self.keep(key, list)
    }

    /// [Stores](Self::store) a list that a message has changed.
    fn keep(&mut self, key: KernelRouteKey, list: KernelRouteList) -> UsedRouteChange {
        if self.is_dumping {
            self.changed.insert(key, list.clone());
        }
        self.store(key, list)
    }

    /// Stores the list if it says more than the table. Returns the target of the route that is used.
    fn store(&mut self, key: KernelRouteKey, list: KernelRouteList) -> UsedRouteChange {
        let usable =
            |route: &Option<KernelRoute>| route.as_ref().is_none_or(|r| r.target.is_some());
        let used = match list.iter().find(|route| usable(route)) {
            None => Some(None),
            Some(Some(route)) => Some(route.target.clone()),
            Some(None) => None,
        };
        let is_plain = match &list[..] {
            [] | [None] => true,
            [Some(route)] => !route.has_several(),
            _ => false,
        };
        if !is_plain {
            self.lists.insert(key, (list, self.dump));
        }
        used
    }
}

/// Where the list has this route. A list has one route of IPv6 next hops that come and go.
fn place(list: &KernelRouteList, route: &KernelRoute) -> Option<usize> {
    let is_same = |other: &KernelRoute| match route.is_set() {
        true => other.is_set(),
        false => !other.is_set() && other.identity == route.identity,
    };
    let is_same = |other: &Option<KernelRoute>| other.as_ref().is_some_and(is_same);
    list.iter().position(is_same)
}
