//! `--bpf`: a live table in, the table of BPF programs out, word by word.
//!
//! A thread for each stores the words of changes after they are published, with the numbers of values that readers of this process
//! have: nothing of the table is kept twice. While it waits for programs what is published next waits, some milliseconds, and is one
//! batch then; clients do not wait.
//!
//! Programs keep what an earlier process left until all tables are loaded, as images do (`publish.rs`).

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use popfib_bpf::{MappedTable, MirroredTable, PinnedMap, ProgramValues, ValueKind};
use popfib_feed::{TableView, Target};

use popfib_bpf::ValueIds;
use popfib_program::failure::Failure;
use popfib_program::note;

use super::bpf_counts::BpfCounts;
use super::state::{FollowState, Health};
use super::threads;

/// How long the thread waits for changes before it looks whether it is still wanted, and after the kernel has refused something.
const TICK: Duration = Duration::from_millis(100);
const AFTER_REFUSAL: Duration = Duration::from_secs(1);

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

/// Whether two of these are for the same map, or for the same table: the words of a table have one copy.
pub(super) fn is_given_twice(texts: &[String]) -> bool {
    let targets = || texts.iter().map(|text| BpfTarget::of(text));
    let pins: HashSet<PathBuf> = targets().map(|target| target.pin).collect();
    let tables: HashSet<_> = targets().map(|target| target.table).collect();
    pins.len().min(tables.len()) < texts.len()
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
        let wish = Arc::new(AtomicU8::new(GO_ON));
        let mut mirror = BpfMirror {
            state: state.clone(),
            name: target.pin.display().to_string(),
            target,
            has_table,
            table: MirroredTable::new(pin, kind),
            values: TargetValues {
                ids: ids.cloned(),
                unnumbered: 0,
            },
            counts: BpfCounts::default(),
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
    values: TargetValues,
    counts: BpfCounts,
    /// Whether it is known that the kernel refuses something.
    has_told: bool,
}

/// A view that this thread alone copies, until this is dropped.
struct MirroredView(Arc<TableView>);

impl Drop for MirroredView {
    fn drop(&mut self) {
        self.0.end_mirror();
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
        if !view.begin_mirror() {
            self.hear(Err(format!("{}: another --bpf has its table", self.name)));
            thread::sleep(AFTER_REFUSAL);
            return false;
        }
        let MirroredView(view) = &MirroredView(view);
        let mut seen = None;
        let mut looked = Instant::now();
        loop {
            let is_last = wanted.load(Ordering::Relaxed) != GO_ON;
            let version = view.version();
            if seen != Some(version) || self.counts.is_behind {
                let Self { table, values, .. } = self;
                let result = view.mirror(|routes| table.bring(routes, |target| values.of(target)));
                self.hear(result.map_err(|error| error.to_string()));
                seen = Some(version);
            }
            if is_last {
                return true;
            }
            if self.counts.is_behind {
                thread::sleep(AFTER_REFUSAL);
            } else {
                view.wait_for_version(version, TICK);
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
            unnumbered: self.values.unnumbered,
        };
        match result {
            Err(reason) if !self.has_told => note!(
                "{reason}; programs look up in the last table that they have, until this one fits"
            ),
            Ok(()) if self.has_told => {
                note!("{}: programs have all routes again", self.name);
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

/// What programs get for values.
struct TargetValues {
    ids: Option<ValueIds>,
    /// Values that had no number.
    unnumbered: u64,
}

impl TargetValues {
    fn of(&mut self, target: &Target) -> u32 {
        let text = target.to_string();
        let value = match &self.ids {
            Some(ids) => ids.get(&text).copied(),
            None => ProgramValues::integer(&text),
        };
        if value.is_none() {
            if self.unnumbered == 0 {
                note!(
                    "'{}' and perhaps other values have no number: programs get 0; --bpf-ids gives them some",
                    text.escape_debug()
                );
            }
            self.unnumbered += 1;
        }
        value.unwrap_or(0)
    }
}
