//! The one book of all targets of the process: contents in, numbers out, the same number for equal contents for as long as anyone has it.
//!
//! A path of a table takes the four bytes of a number, and most routes of a router share theirs with many others. Whoever is not the
//! first or the last to have a content counts by one atomic step; these two take the lock of the book. What belongs to a number never
//! moves, so whoever has the number reads that without the lock.
//!
//! Rejected: an `Arc` for each content and connection. It takes eight bytes in each path, a heap block more for each content, and as many
//! contents as there are connections that send equal ones.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hashbrown::HashTable;
use popfib::NextHop;

use crate::memory_budget::TARGETS;
use crate::netlink_hops::{NetlinkHop, NetlinkHops};
use crate::next_hop_objects::NextHopObjects;

/// What a target consists of.
#[derive(Clone, PartialEq)]
pub(crate) enum TargetKind {
    Name(Box<str>),
    Hops(NetlinkHops),
    Object(u32, Arc<NextHopObjects>),
    /// Packed attributes.
    Path(Box<[u8]>),
}

impl TargetKind {
    /// Heap bytes of the target. The next hops of an object are counted with the objects.
    fn bytes(&self) -> usize {
        let content = match self {
            Self::Name(name) => name.len(),
            Self::Hops(NetlinkHops::Through(hops)) => hops.capacity() * size_of::<NetlinkHop>(),
            Self::Hops(_) | Self::Object(..) => 0,
            Self::Path(bytes) => bytes.len(),
        };
        size_of::<TargetPlace>() + content
    }
}

/// Numbers are `PAGES` times `PAGES_IN_ONE` pages of `PLACES`.
const PAGES: usize = 2048;
const PAGES_IN_ONE: usize = 1024;
const PLACES: usize = 1024;

type PlacePage = OnceLock<Box<[TargetPlace]>>;

static PLACES_OF_ALL: [OnceLock<Box<[PlacePage]>>; PAGES] = [const { OnceLock::new() }; PAGES];

static NUMBERS: Mutex<TargetNumbers> = Mutex::new(TargetNumbers {
    known: HashTable::new(),
    free: Vec::new(),
    highest: 0,
});

/// What belongs to a number. While anyone has it, only `holders` changes.
#[derive(Default)]
struct TargetPlace {
    /// How many have it. Only under the lock of the book does it become 0, or more than that.
    holders: AtomicU32,
    hash: AtomicU32,
    /// How many keep the number from other contents. Changes only under the lock of the book.
    reserved: AtomicU32,
    rank: [AtomicU64; 2],
    kind: Mutex<Option<TargetKind>>,
}

/// Which numbers are in use, and for what.
struct TargetNumbers {
    known: HashTable<NextHop>,
    free: Vec<NextHop>,
    highest: u32,
}

impl TargetNumbers {
    fn lock() -> MutexGuard<'static, Self> {
        NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, hash: u32, is_same: impl Fn(&TargetKind) -> bool) -> Option<Target> {
        let is_it = |number: &NextHop| {
            let place = place(*number);
            place.hash.load(Ordering::Relaxed) == hash
                && place.kind().as_ref().is_some_and(&is_same)
        };
        let number = *self.known.find(spread(hash), is_it)?;
        Some(Target::numbered(number))
    }

    /// Lets another content have a number, unless anyone still has or reserves it.
    fn free(&mut self, number: NextHop) {
        let TargetPlace {
            holders, reserved, ..
        } = place(number);
        if [holders, reserved].map(|count| count.load(Ordering::Relaxed)) == [0, 0] {
            self.free.push(number);
        }
    }
}

impl TargetPlace {
    fn kind(&self) -> MutexGuard<'_, Option<TargetKind>> {
        self.kind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The target of a route. It is cheap to clone, and equal ones are one.
///
/// A BGP path is displayed as its next hop, followed by the words `as-path`, `local-pref`, `med` and `communities`
/// with their values, for those attributes that it has.
#[derive(PartialEq, Eq)]
pub struct Target(NextHop);

impl Target {
    /// That of this hash which `is_same` recognises. It must not use the book.
    pub(crate) fn find(hash: u32, is_same: impl Fn(&TargetKind) -> bool) -> Option<Self> {
        TargetNumbers::lock().find(hash, is_same)
    }

    /// That of this content, with its hash; a new one gets this rank.
    pub(crate) fn of(hash: u32, kind: TargetKind, rank: [u64; 2]) -> Self {
        let mut numbers = TargetNumbers::lock();
        if let Some(known) = numbers.find(hash, |known| *known == kind) {
            return known;
        }
        let number = numbers.free.pop().unwrap_or_else(|| {
            numbers.highest += 1;
            NextHop::new(numbers.highest).expect("from 1 on")
        });
        TARGETS.fetch_add(kind.bytes(), Ordering::Relaxed);
        let new = place(number);
        new.hash.store(hash, Ordering::Relaxed);
        for (place, word) in new.rank.iter().zip(rank) {
            place.store(word, Ordering::Relaxed);
        }
        *new.kind() = Some(kind);
        new.holders.store(1, Ordering::Relaxed);
        let hash_of = |number: &NextHop| spread(place(*number).hash.load(Ordering::Relaxed));
        numbers.known.insert_unique(spread(hash), number, hash_of);
        Self(number)
    }

    /// That of a number, which somebody has or which is known under the lock of the book.
    pub(crate) fn numbered(number: NextHop) -> Self {
        place(number).holders.fetch_add(1, Ordering::Relaxed);
        Self(number)
    }

    /// The number of the target. No other target has it now, except equal ones. Nothing of the target is read.
    pub fn number(&self) -> NextHop {
        self.0
    }

    /// Keeps its [number](Self::number) from other targets, also after the last clone of this one is gone.
    pub fn reserve(&self) -> ReservedTarget {
        let _numbers = TargetNumbers::lock();
        place(self.0).reserved.fetch_add(1, Ordering::Relaxed);
        ReservedTarget(self.0)
    }

    /// The hash of its content.
    pub(crate) fn content_hash(&self) -> u32 {
        place(self.0).hash.load(Ordering::Relaxed)
    }

    pub(crate) fn rank(&self) -> [u64; 2] {
        let [first, last] = &place(self.0).rank;
        [first, last].map(|word| word.load(Ordering::Relaxed))
    }

    /// A copy of the content: whoever writes it out, perhaps slowly, keeps nobody else from it.
    pub(crate) fn kind(&self) -> TargetKind {
        let kind = place(self.0).kind().clone();
        kind.expect("a number stands for a content")
    }
}

impl Clone for Target {
    fn clone(&self) -> Self {
        Self::numbered(self.0)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let place = place(self.0);
        let one_less = |holders| (holders > 1).then(|| holders - 1);
        let (done, seen) = (Ordering::Release, Ordering::Relaxed);
        if place.holders.fetch_update(done, seen, one_less).is_ok() {
            return;
        }
        let mut numbers = TargetNumbers::lock();
        // It may have been found again.
        if place.holders.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let hash = spread(place.hash.load(Ordering::Relaxed));
        let known = numbers.known.find_entry(hash, |known| *known == self.0);
        known.expect("a number is known").remove();
        let kind = place.kind().take();
        numbers.free(self.0);
        drop(numbers);
        let bytes = kind.as_ref().map_or(0, TargetKind::bytes);
        TARGETS.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// What keeps the number of a target that may be gone from others, and nothing of its content.
pub struct ReservedTarget(NextHop);

impl Drop for ReservedTarget {
    fn drop(&mut self) {
        let mut numbers = TargetNumbers::lock();
        place(self.0).reserved.fetch_sub(1, Ordering::Relaxed);
        numbers.free(self.0);
    }
}

fn place(number: NextHop) -> &'static TargetPlace {
    let at = number.get() as usize;
    let pages = PLACES_OF_ALL[at / PLACES / PAGES_IN_ONE]
        .get_or_init(|| (0..PAGES_IN_ONE).map(|_| OnceLock::new()).collect());
    let page = pages[at / PLACES % PAGES_IN_ONE]
        .get_or_init(|| (0..PLACES).map(|_| TargetPlace::default()).collect());
    &page[at % PLACES]
}

/// A hash table's hash of the half that is kept: it wants well-mixed bits at both ends.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::target::Target;

    fn is_known(name: &str) -> bool {
        let numbers = TargetNumbers::lock();
        let is_it = |number: &NextHop| {
            let kind = place(*number).kind();
            matches!(&*kind, Some(TargetKind::Name(known)) if **known == *name)
        };
        numbers.known.iter().any(is_it)
    }

    /// Threads find, clone and let go of a few contents at the same time, each often as the first or the last: what has a number is what
    /// was asked for, equal ones have the same while somebody has them, and none stays.
    #[test]
    fn contents_come_and_go_in_many_threads() {
        let names: Vec<String> = (0..3).map(|number| format!("book {number}")).collect();
        thread::scope(|scope| {
            for begin in 0..4 {
                let names = &names;
                scope.spawn(move || {
                    let mut held = Vec::new();
                    for round in 0..20_000 {
                        let name = &names[(begin + round / 3) % names.len()];
                        let target = Target::name(name);
                        let again = Target::name(name);
                        assert_eq!(target.as_name().as_deref(), Some(&**name));
                        assert_eq!(target.number(), again.number());
                        held.push(target.clone());
                        if held.len() > round % 3 {
                            held.clear();
                        }
                    }
                });
            }
        });
        assert!(names.iter().all(|name| !is_known(name)));
    }

    #[test]
    fn a_reserved_number_is_of_no_other_content() {
        let first = Target::name("reserved");
        let (number, reserved) = (first.number(), first.reserve());
        drop(first);
        assert!(!is_known("reserved"));
        let others: Vec<_> = (0..1000)
            .map(|other| Target::name(&format!("other {other}")))
            .collect();
        assert!(others.iter().all(|other| other.number() != number));
        drop(reserved);
        assert_eq!(
            TargetNumbers::lock()
                .free
                .iter()
                .filter(|free| **free == number)
                .count(),
            1
        );
    }

    #[test]
    fn a_path_of_a_table_is_small() {
        assert_eq!(size_of::<Option<Target>>(), 4);
        assert_eq!(size_of::<TargetPlace>(), 64);
    }
}
