//! `--bpf`: a live table in, the table of BPF programs out, word by word.
//!
//! A thread for each takes the changes of best paths as they are published, so that neither publishing nor any client waits for the
//! kernel. Changes that come while it waits for programs make one batch. If it has missed some, it compares all routes.
//!
//! Programs keep what an earlier process left until all tables are loaded, as images do (`publish.rs`).

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use popfib::family::Family;
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_bpf::{BpfError, MappedTable, MirroredTable, PinnedMap, ProgramValues, ValueKind};
use popfib_feed::{BestPathChange, BestRoutes, TableView, Target};

use popfib_bpf::ValueIds;
use popfib_program::failure::Failure;
use popfib_program::message::note;

use super::bpf_counts::BpfCounts;
use super::state::{FollowState, Health};
use super::threads;

/// How long the thread waits for changes before it looks whether it is still wanted, and after the kernel has refused something.
const TICK: Duration = Duration::from_millis(100);
const AFTER_REFUSAL: Duration = Duration::from_secs(1);

/// Changes that are taken at a time.
const MOST: usize = 1 << 16;

/// What the main thread wants of the thread.
const GO_ON: u8 = 0;
const END: u8 = 1;
const END_WITH_ALL: u8 = 2;

/// `DIR`, or `DIR=TABLE`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BpfTarget {
    pin: PathBuf,
    /// `None` is the default table.
    table: Option<String>,
}

impl BpfTarget {
    fn of(text: &str) -> Self {
        let (pin, table) = match text.rsplit_once('=') {
            Some((pin, table)) => (pin, Some(table.to_owned())),
            None => (text, None),
        };
        Self {
            pin: PathBuf::from(pin).join("popfib"),
            table,
        }
    }
}

/// Whether two of these are for the same map.
pub(super) fn has_same_map(texts: &[String]) -> bool {
    let pins = texts.iter().map(|text| BpfTarget::of(text).pin);
    let different: HashSet<PathBuf> = pins.collect();
    different.len() < texts.len()
}

/// The thread of one table. Dropping this ends it, after the changes so far.
pub(super) struct BpfThread {
    wish: Arc<AtomicU8>,
    thread: Option<JoinHandle<()>>,
}

impl BpfThread {
    /// Opens the map, which is made if there is none, and starts the thread.
    pub(super) fn start(
        state: &Arc<FollowState>,
        text: &str,
        ids: Option<&ValueIds>,
    ) -> Result<Self, Failure> {
        let target = BpfTarget::of(text);
        let pin = PinnedMap::open_or_create(&target.pin).map_err(|error| error.to_string())?;
        let has_table = matches!(pin.current(), Ok(Some(_)) | Err(_));
        let kind = ids.map_or(ValueKind::Integers, |_| ValueKind::Ids);
        let table = MirroredTable::new(pin, kind).map_err(|error| error.to_string())?;
        let wish = Arc::new(AtomicU8::new(GO_ON));
        let mut mirror = BpfMirror {
            state: state.clone(),
            name: target.pin.display().to_string(),
            target,
            has_table,
            table,
            numbers: ProgramNumbers::new(ids.cloned()),
            counts: BpfCounts::default(),
            is_complete: false,
            has_told: false,
        };
        let wanted = wish.clone();
        let thread = threads::start(move || mirror.run(&wanted))?;
        let thread = Some(thread);
        Ok(Self { wish, thread })
    }

    /// All routes are there: at the end programs get them, even if it is not known of some feed that it has sent all.
    pub(super) fn finish(mut self) {
        self.end(END_WITH_ALL);
    }

    fn end(&mut self, wish: u8) {
        self.wish.store(wish, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for BpfThread {
    fn drop(&mut self) {
        self.end(END);
    }
}

/// What the thread has.
struct BpfMirror {
    state: Arc<FollowState>,
    target: BpfTarget,
    name: String,
    /// Whether programs have a table of an earlier process.
    has_table: bool,
    table: MirroredTable,
    numbers: ProgramNumbers,
    counts: BpfCounts,
    /// Whether all changes so far were made.
    is_complete: bool,
    /// Whether it is known that the kernel refuses something.
    has_told: bool,
}

/// A view whose changes are kept, until this is dropped.
struct WatchedView(Arc<TableView>);

impl Drop for WatchedView {
    fn drop(&mut self) {
        self.0.unwatch();
    }
}

impl BpfMirror {
    fn run(&mut self, wanted: &AtomicU8) {
        loop {
            let wish = wanted.load(Ordering::Relaxed);
            let is_ready =
                wish == END_WITH_ALL || !self.has_table || self.state.health() != Health::Loading;
            let view = self.state.view(self.target.table.as_deref());
            if let Some(view) = view.filter(|_| is_ready)
                && self.follow(view, wanted)
            {
                break;
            }
            if wish != GO_ON {
                break;
            }
            thread::sleep(TICK);
        }
        let all = self.state.bpf.lock();
        let mut all = all.unwrap_or_else(PoisonError::into_inner);
        all.retain(|(name, _)| *name != self.name);
    }

    /// Follows a table until there is another one in its place; whether it is over before.
    fn follow(&mut self, view: Arc<TableView>, wanted: &AtomicU8) -> bool {
        let mut next = view.watch();
        let WatchedView(view) = &WatchedView(view);
        let mut changes = Vec::new();
        let mut looked = Instant::now();
        self.is_complete = false;
        loop {
            let is_last = wanted.load(Ordering::Relaxed) != GO_ON;
            let lost;
            changes.clear();
            (next, lost) = view.changes(next, MOST, &mut changes);
            if !self.is_complete || lost > 0 {
                // Changes that come meanwhile are made again by the next batch.
                let result = self.compare(view);
                self.hear(result);
            } else if !changes.is_empty() || self.counts.is_behind {
                let result = self.apply(&changes);
                self.hear(result);
            }
            if is_last && changes.len() < MOST {
                return true;
            }
            if self.counts.is_behind {
                thread::sleep(AFTER_REFUSAL);
            } else {
                view.wait_for_changes(next, TICK);
            }
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                let now = self.state.view(self.target.table.as_deref());
                // Without a table its routes stay for programs: a router may have gone for a moment.
                if now.is_some_and(|now| !Arc::ptr_eq(&now, view)) {
                    return false;
                }
            }
        }
    }

    /// Makes the changes of the table, and lets programs see them.
    fn apply(&mut self, changes: &[BestPathChange]) -> Result<(), String> {
        let (mut ipv4, mut ipv6) = (Vec::new(), Vec::new());
        for (prefix, target) in changes {
            let number = target.as_ref();
            let number = number.map(|target| self.numbers.of(target, &mut self.table));
            match prefix {
                IpPrefix::V4(prefix) => ipv4.push((*prefix, number)),
                IpPrefix::V6(prefix) => ipv6.push((*prefix, number)),
            }
        }
        self.flush(ipv4, ipv6)
    }

    /// Makes the table that of the view.
    fn compare(&mut self, view: &TableView) -> Result<(), String> {
        let (_, ipv4, ipv6) = view.routes();
        let ipv4 = differences(ipv4, &mut self.numbers, &mut self.table);
        let ipv6 = differences(ipv6, &mut self.numbers, &mut self.table);
        self.flush(ipv4, ipv6)
    }

    fn flush(
        &mut self,
        ipv4: Vec<(Prefix<u32>, Option<NextHop>)>,
        ipv6: Vec<(Prefix<u128>, Option<NextHop>)>,
    ) -> Result<(), String> {
        let Self { table, numbers, .. } = self;
        // If there is no memory, some of the changes are missing.
        self.is_complete = false;
        table.apply(ipv4).map_err(|error| error.to_string())?;
        table.apply(ipv6).map_err(|error| error.to_string())?;
        self.is_complete = true;
        let refused = |error: BpfError| error.to_string();
        table.flush().map_err(refused)?;
        numbers.sweep(table).map_err(refused)
    }

    /// Counts what was done; a refusal is reported once, until all is well again.
    fn hear(&mut self, result: Result<(), String>) {
        let counts = self.table.counts();
        self.counts = BpfCounts {
            tables: counts.tables,
            words: counts.words,
            graces: counts.graces,
            refused: self.counts.refused + u64::from(result.is_err()),
            is_behind: result.is_err(),
            bytes: self.table.table().map_or(0, MappedTable::bytes),
            unnumbered: self.numbers.unnumbered,
        };
        match result {
            Err(reason) if !self.has_told => note(format_args!(
                "{reason}; programs look up in the last table that they have, until this one fits"
            )),
            Ok(()) if self.has_told => {
                note(format_args!(
                    "{}: programs have all routes again",
                    self.name
                ));
            }
            _ => {}
        }
        self.has_told = self.counts.is_behind;
        let all = self.state.bpf.lock();
        let mut all = all.unwrap_or_else(PoisonError::into_inner);
        match all.iter_mut().find(|(name, _)| *name == self.name) {
            Some((_, counts)) => *counts = self.counts,
            None => all.push((self.name.clone(), self.counts)),
        }
    }
}

/// The changes that make the table's routes these.
fn differences<A: Family>(
    routes: BestRoutes<A>,
    numbers: &mut ProgramNumbers,
    table: &mut MirroredTable,
) -> Vec<(Prefix<A>, Option<NextHop>)> {
    let routes: Vec<_> = routes
        .into_iter()
        .map(|(prefix, target)| (prefix, numbers.of(&target, table)))
        .collect();
    table.differences(routes)
}

/// The numbers of values. A number stands for one value as long as a program may have found it.
struct ProgramNumbers {
    ids: Option<ValueIds>,
    numbers: HashMap<Target, NextHop>,
    /// Numbers that were given out, and those of them that are free.
    last: u32,
    free: Vec<NextHop>,
    /// So many values were in use when this was last looked at.
    used: usize,
    unnumbered: u64,
    has_told: bool,
}

impl ProgramNumbers {
    fn new(ids: Option<ValueIds>) -> Self {
        Self {
            ids,
            numbers: HashMap::new(),
            last: 0,
            free: Vec::new(),
            used: 0,
            unnumbered: 0,
            has_told: false,
        }
    }

    /// The number of a value, which programs know from now on.
    fn of(&mut self, target: &Target, table: &mut MirroredTable) -> NextHop {
        if let Some(number) = self.numbers.get(target) {
            return *number;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.last += 1;
            NextHop::MIN.saturating_add(self.last - 1)
        });
        let text = target.to_string();
        let value = match &self.ids {
            Some(ids) => ids.get(&text).copied(),
            None => ProgramValues::integer(&text),
        };
        if value.is_none() {
            self.unnumbered += 1;
            if !self.has_told {
                self.has_told = true;
                note(format_args!(
                    "'{}' and perhaps other values have no number: programs get 0; --bpf-ids gives them some",
                    text.escape_debug()
                ));
            }
        }
        table.set_value(number, value.unwrap_or(0));
        self.numbers.insert(target.clone(), number);
        number
    }

    /// Takes back the numbers of values that no route has, if they may be many. All changes were flushed.
    fn sweep(&mut self, table: &mut MirroredTable) -> Result<(), BpfError> {
        if self.numbers.len() < 2 * self.used + 1024 {
            return Ok(());
        }
        let mut is_used = vec![false; self.last as usize + 1];
        let ipv4 = table.rib::<u32>().iter().map(|(_, number)| number);
        let ipv6 = table.rib::<u128>().iter().map(|(_, number)| number);
        for number in ipv4.chain(ipv6) {
            is_used[number.get() as usize] = true;
        }
        // Programs may still have found them.
        table.wait()?;
        self.numbers.retain(|_, number| {
            let is_used = is_used[number.get() as usize];
            if !is_used {
                self.free.push(*number);
            }
            is_used
        });
        self.used = self.numbers.len();
        Ok(())
    }
}
