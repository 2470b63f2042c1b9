//! `--bpf`: a live table in, the table of BPF programs out, word by word.
//!
//! Whoever publishes changes stores their words, too, with the numbers of values that readers of this process have: nothing of the
//! table is kept twice. While that waits for programs what is published next waits, some milliseconds, and is one batch then; clients do
//! not wait. The main loop looks which table it is.
//!
//! Programs keep what an earlier process left until all tables are loaded, as images do (`publish.rs`).
//!
//! Rejected: a thread that stores the words. To wake it for each publication, and its falling asleep, are a fifth of an update's CPU
//! time (docs/experiments/updates.md).

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use popfib::LiveIpMap;
use popfib::map::Shared;
use popfib_bpf::{MappedTable, MirroredTable, PinnedMap, ProgramValues, ValueIds, ValueKind};
use popfib_feed::{TableView, Target};
use popfib_program::failure::Failure;
use popfib_program::note;

use super::bpf_counts::BpfCounts;
use super::state::{FollowState, Health};

/// How long nothing is tried after the kernel has refused something.
const AFTER_REFUSAL: Duration = Duration::from_secs(1);

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

/// One table of programs. Dropping this ends it: programs keep what they have.
pub(super) struct BpfTable {
    target: BpfTarget,
    /// Whether programs have a table of an earlier process.
    has_table: bool,
    copy: Arc<Mutex<BpfCopy>>,
    view: Option<MirroredView>,
}

/// A view that has its copy here, until this is dropped.
struct MirroredView(Arc<TableView>);

impl Drop for MirroredView {
    fn drop(&mut self) {
        self.0.end_mirror();
    }
}

impl BpfTable {
    /// Opens the map, which is made if there is none.
    pub(super) fn open(
        state: &Arc<FollowState>,
        text: &str,
        ids: Option<&ValueIds>,
    ) -> Result<Self, Failure> {
        let target = BpfTarget::of(text);
        let pin = PinnedMap::open_or_create(&target.pin).map_err(|error| error.to_string())?;
        let has_table = matches!(pin.current(), Ok(Some(_)) | Err(_));
        let kind = ids.map_or(ValueKind::Integers, |_| ValueKind::Ids);
        let copy = BpfCopy {
            state: state.clone(),
            name: target.pin.display().to_string().into(),
            table: MirroredTable::new(pin, kind),
            values: TargetValues {
                ids: ids.cloned(),
                unnumbered: 0,
            },
            counts: BpfCounts::default(),
            refused: None,
        };
        Ok(Self {
            target,
            has_table,
            copy: Arc::new(Mutex::new(copy)),
            view: None,
        })
    }

    /// Follows the table that there is by now, unless programs have one and routes are still received for the first time (with
    /// `has_all`, all are there); tries again what the kernel has refused.
    pub(super) fn follow(&mut self, has_all: bool) {
        let mut copy = self.copy();
        if has_all {
            copy.refused = None;
        }
        if copy.is_resting() {
            return;
        }
        let (state, is_behind) = (copy.state.clone(), copy.refused.is_some());
        drop(copy);
        let is_ready = has_all || !self.has_table || state.health() != Health::Loading;
        let view = state.view(self.target.table.as_deref());
        let is_followed = |view: &Arc<TableView>| {
            let known = self.view.as_ref();
            known.is_some_and(|MirroredView(known)| Arc::ptr_eq(known, view))
        };
        // Without a table its routes stay for programs: a router may have gone for a moment.
        if let Some(view) = view.filter(|view| is_ready && !is_followed(view)) {
            self.view = None;
            let copy = self.copy.clone();
            let bring = move |routes: &mut _| lock(&copy).bring(routes);
            match view.begin_mirror(Box::new(bring)) {
                true => self.view = Some(MirroredView(view)),
                false => self.copy().hear(Err("another --bpf has its table".into())),
            }
        } else if (is_behind || has_all)
            && let Some(MirroredView(view)) = &self.view
        {
            view.bring_mirror();
        }
    }

    fn copy(&self) -> MutexGuard<'_, BpfCopy> {
        lock(&self.copy)
    }
}

impl Drop for BpfTable {
    fn drop(&mut self) {
        let BpfCopy { state, name, .. } = &*self.copy();
        state.bpf().remove(name);
    }
}

fn lock(copy: &Mutex<BpfCopy>) -> MutexGuard<'_, BpfCopy> {
    copy.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The copy of a table in the maps of programs.
struct BpfCopy {
    state: Arc<FollowState>,
    name: Arc<str>,
    table: MirroredTable,
    values: TargetValues,
    counts: BpfCounts,
    /// When the kernel last refused something, until all is well again.
    refused: Option<Instant>,
}

impl BpfCopy {
    /// Whether nothing is tried, since the kernel has just refused something.
    fn is_resting(&self) -> bool {
        self.refused
            .is_some_and(|last| last.elapsed() < AFTER_REFUSAL)
    }

    /// Brings the copy up to date.
    fn bring(&mut self, routes: &mut LiveIpMap<Target, Shared>) {
        if !self.is_resting() {
            let Self { table, values, .. } = self;
            let result = table.bring(routes, |target| values.of(target));
            self.hear(result.map_err(|error| error.to_string()));
        }
    }

    /// Counts what was done; a refusal is reported once, until all is well again.
    fn hear(&mut self, result: Result<(), String>) {
        let had_told = self.counts.is_behind;
        self.counts = BpfCounts {
            mirror: self.table.counts(),
            refused: self.counts.refused + u64::from(result.is_err()),
            is_behind: result.is_err(),
            bytes: self.table.table().map_or(0, MappedTable::bytes),
            unnumbered: self.values.unnumbered,
        };
        self.refused = result.is_err().then(Instant::now);
        match result {
            Err(reason) if !had_told => note!(
                "{reason}; programs look up in the last table that they have, until this one fits"
            ),
            Ok(()) if had_told => note!("{}: programs have all routes again", self.name),
            _ => {}
        }
        self.state.bpf().insert(self.name.clone(), self.counts);
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
