//! The state of one client: the table that it has chosen, and the numbers of the values that it was sent. Addresses come in; out
//! come matches, numbers of values, paths and images of that table.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use popfib::family::Family;
use popfib::live::IpMapReader;
use popfib_feed::Target;

use super::answers::{AnswerColumns, FoundValue, NEXT_HOP, write_answer};
use super::bulk::ValueNumbers;
use super::files::ServedFile;
use super::images::{ClientImage, NoImage, OpenTable};
use super::questions::BodyForm;
use super::state::FollowState;

/// The state of one client.
pub(super) struct ClientSession {
    table: Option<String>,
    open: Option<OpenTable>,
    /// That of a live table.
    reader: Option<IpMapReader<Target>>,
    /// Those of the table that is open.
    columns: AnswerColumns,
    pub(super) numbers: ValueNumbers,
    /// Which settings of files it knows.
    settings: u64,
}

impl ClientSession {
    pub(super) fn new(state: &FollowState) -> Self {
        Self {
            table: None,
            open: None,
            reader: None,
            columns: AnswerColumns::of(&[NEXT_HOP]),
            numbers: ValueNumbers::new(&state.value_memory),
            settings: state.files.version(),
        }
    }

    /// Chooses the table for later queries; false if there is no table of this name. Then they have no match until there is one.
    pub(super) fn choose(&mut self, state: &FollowState, name: &str) -> bool {
        self.open = None;
        self.table = Some(name.to_owned());
        self.open(state);
        self.open.is_some()
    }

    /// Opens the table of this session, if it exists: a file comes before a live table of its name, and after the default one.
    pub(super) fn open(&mut self, state: &FollowState) {
        if self.open.is_some() {
            return;
        }
        let live = |name| state.view(name).map(OpenTable::Live);
        let file = |served: Arc<ServedFile>| {
            let now = served.current();
            OpenTable::File(served, now)
        };
        self.open = match self.table.as_deref() {
            Some(name) => state.files.get(name).map(file).or_else(|| live(Some(name))),
            None => live(None).or_else(|| state.files.first().map(file)),
        };
        self.reader = match &self.open {
            Some(OpenTable::Live(view)) => Some(view.reader()),
            _ => None,
        };
        self.columns = match &self.open {
            Some(OpenTable::File(_, now)) => AnswerColumns::of(&now.columns),
            _ => AnswerColumns::of(&[NEXT_HOP]),
        };
    }

    /// Uses what is newest of a file from now on.
    pub(super) fn renew(&mut self, state: &FollowState) {
        let settings = state.files.version();
        let is_old = match &self.open {
            Some(OpenTable::File(served, now)) => !Arc::ptr_eq(&served.current(), now),
            _ => false,
        };
        if is_old || settings != self.settings {
            self.settings = settings;
            self.open = None;
        }
    }

    /// Answers with these columns alone; an error if there is none of this name.
    pub(super) fn select(&mut self, state: &FollowState, names: &str) -> Result<(), &'static str> {
        self.open(state);
        let names = names.split(',');
        self.columns = match &self.open {
            Some(OpenTable::File(_, now)) => AnswerColumns::new(&now.columns, names)?,
            _ => AnswerColumns::new(&[NEXT_HOP], names)?,
        };
        Ok(())
    }

    /// Appends the answer to an address.
    pub(super) fn answer(
        &mut self,
        state: &FollowState,
        form: BodyForm,
        address: IpAddr,
        to: &mut Vec<u8>,
    ) {
        self.open(state);
        self.count(state, 1);
        match (&self.open, &mut self.reader) {
            (Some(OpenTable::File(_, now)), _) => {
                let found = now.table.longest_match(address).ok().flatten();
                let found = found.zip(now.table.records());
                let found = found.map(|((prefix, number), records)| {
                    (prefix, FoundValue::Record(records, number))
                });
                write_answer(to, form, &self.columns, address, found);
            }
            // As long as it is pinned, the writer of the table cannot drop values.
            (_, Some(reader)) => {
                let guard = reader.pin();
                let found = guard.longest_match(address);
                let found = found.map(|(prefix, value)| (prefix, FoundValue::Live(value)));
                write_answer(to, form, &self.columns, address, found);
            }
            _ => write_answer(to, form, &self.columns, address, None),
        }
    }

    fn count(&self, state: &FollowState, addresses: usize) {
        let count = |lookups: &AtomicU64| lookups.fetch_add(addresses as u64, Ordering::Relaxed);
        count(&state.lookups);
        if let Some(OpenTable::File(served, _)) = &self.open {
            count(&served.lookups);
        }
    }

    /// Appends the number of the value of each of the packed addresses; `None` if there are more values than numbers.
    pub(super) fn look_up_packed<A: Family<Bytes = [u8; N]>, const N: usize>(
        &mut self,
        state: &FollowState,
        packed: &[u8],
        to: &mut Vec<u8>,
    ) -> Option<()> {
        let (packed, _) = packed.as_chunks();
        self.open(state);
        self.count(state, packed.len());
        match (&self.open, &mut self.reader) {
            (Some(OpenTable::File(_, now)), _) => self.numbers.answer_file::<A, N>(now, packed, to),
            (_, Some(reader)) => self.numbers.answer::<A, N>(reader, packed, to),
            _ => {
                to.resize(to.len() + packed.len() * 4, 0);
                Some(())
            }
        }
    }

    /// The version of the open table.
    pub(super) fn version(&self) -> u64 {
        self.open.as_ref().map_or(0, OpenTable::version)
    }

    /// The name of the live table, for what those of files have none of.
    pub(super) fn live_table(&mut self, state: &FollowState) -> Result<String, &'static str> {
        self.open(state);
        if let Some(OpenTable::File(..)) = &self.open {
            return Err("the table of a file has neither paths nor changes");
        }
        let tables = state.tables();
        let name = self.table.as_deref().or_else(|| tables.default_table());
        name.map(str::to_owned).ok_or("there is no table yet")
    }

    /// The compiled table.
    pub(super) fn image(&mut self, state: &FollowState) -> Result<Arc<ClientImage>, NoImage> {
        self.open(state);
        state.images.of(self.open.clone())
    }
}
