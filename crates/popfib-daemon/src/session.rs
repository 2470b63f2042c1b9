//! The state of one client: the table that it has chosen, and the numbers of the values that it was sent. Addresses come in; out
//! come matches, numbers of values, paths and images of that table.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use popfib::IpPrefix;
use popfib::family::Family;
use popfib::live::IpMapReader;
use popfib_feed::info::PathInfo;
use popfib_feed::{TableView, Target};

use super::answers::{AnswerColumns, FoundValue, NEXT_HOP, write_answer};
use super::bulk::ValueNumbers;
use super::files::{FileTable, ServedFile};
use super::images::{ClientImage, ImageOf, NoImage};
use super::questions::BodyForm;
use super::state::FollowState;

/// The state of one client.
pub(super) struct ClientSession {
    table: Option<String>,
    reader: Option<TableReader>,
    /// Those of the table that is open.
    columns: AnswerColumns,
    pub(super) numbers: ValueNumbers,
    /// Which settings of files it knows.
    settings: u64,
}

/// A table that is open.
enum TableReader {
    /// A reader, and the view that keeps the table alive.
    Live(IpMapReader<Target>, Arc<TableView>),
    /// A file, and its table.
    File(Arc<ServedFile>, Arc<FileTable>),
}

impl ClientSession {
    pub(super) fn new(state: &FollowState) -> Self {
        Self {
            table: None,
            reader: None,
            columns: AnswerColumns::of(&[NEXT_HOP]),
            numbers: ValueNumbers::new(&state.value_memory),
            settings: state.files.version(),
        }
    }

    /// Chooses the table for later queries; false if there is no table of this name. Then they have no match until there is one.
    pub(super) fn choose(&mut self, state: &FollowState, name: &str) -> bool {
        self.reader = None;
        self.table = Some(name.to_owned());
        self.open(state);
        self.reader.is_some()
    }

    /// Opens the table of this session, if it exists: a file comes before a live table of its name, and after the default one.
    pub(super) fn open(&mut self, state: &FollowState) {
        if self.reader.is_some() {
            return;
        }
        let live = |name| {
            let view: Arc<TableView> = state.view(name)?;
            Some(TableReader::Live(view.reader(), view))
        };
        let file = |served: Arc<ServedFile>| {
            let now = served.current();
            TableReader::File(served, now)
        };
        self.reader = match self.table.as_deref() {
            Some(name) => state.files.get(name).map(file).or_else(|| live(Some(name))),
            None => live(None).or_else(|| state.files.first().map(file)),
        };
        self.columns = match &self.reader {
            Some(TableReader::File(_, now)) => AnswerColumns::of(&now.columns),
            _ => AnswerColumns::of(&[NEXT_HOP]),
        };
    }

    /// Uses what is newest of a file from now on.
    pub(super) fn renew(&mut self, state: &FollowState) {
        let settings = state.files.version();
        let is_old = match &self.reader {
            Some(TableReader::File(served, now)) => !Arc::ptr_eq(&served.current(), now),
            _ => false,
        };
        if is_old || settings != self.settings {
            self.settings = settings;
            self.reader = None;
        }
    }

    /// Answers with these columns alone; an error if there is none of this name.
    pub(super) fn select(&mut self, state: &FollowState, names: &str) -> Result<(), &'static str> {
        self.open(state);
        let names = names.split(',');
        self.columns = match &self.reader {
            Some(TableReader::File(_, now)) => AnswerColumns::new(&now.columns, names)?,
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
        match &mut self.reader {
            // As long as it is pinned, the writer of the table cannot drop values.
            Some(TableReader::Live(reader, _)) => {
                let guard = reader.pin();
                let found = guard.longest_match(address);
                let found = found.map(|(prefix, value)| (prefix, FoundValue::Live(value)));
                write_answer(to, form, &self.columns, address, found);
            }
            Some(TableReader::File(_, now)) => {
                let found = now.table.longest_match(address).ok().flatten();
                let found = found.zip(now.table.records());
                let found = found.map(|((prefix, number), records)| {
                    (prefix, FoundValue::Record(records, number))
                });
                write_answer(to, form, &self.columns, address, found);
            }
            None => write_answer(to, form, &self.columns, address, None),
        }
    }

    fn count(&self, state: &FollowState, addresses: usize) {
        let count = |lookups: &AtomicU64| lookups.fetch_add(addresses as u64, Ordering::Relaxed);
        count(&state.lookups);
        if let Some(TableReader::File(served, _)) = &self.reader {
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
        match &mut self.reader {
            Some(TableReader::Live(reader, _)) => self.numbers.answer::<A, N>(reader, packed, to),
            Some(TableReader::File(_, now)) => self.numbers.answer_file::<A, N>(now, packed, to),
            None => {
                to.resize(to.len() + packed.len() * 4, 0);
                Some(())
            }
        }
    }

    /// The version of the open table.
    pub(super) fn version(&self) -> u64 {
        match &self.reader {
            Some(TableReader::Live(_, view)) => view.version(),
            Some(TableReader::File(_, now)) => now.version,
            None => 0,
        }
    }

    /// The name of the live table for queries.
    pub(super) fn table(&self, state: &FollowState) -> Option<String> {
        let tables = state.tables();
        let name = self.table.as_deref().or_else(|| tables.default_table());
        name.map(str::to_owned)
    }

    /// Passes the paths of exactly this prefix to `each`, the best first.
    pub(super) fn each_path(
        &self,
        state: &FollowState,
        prefix: IpPrefix,
        each: impl FnMut(&PathInfo) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.table(state) {
            Some(table) => state.each_path(&table, prefix, each),
            None => Ok(()),
        }
    }

    /// The compiled table.
    pub(super) fn image(&mut self, state: &FollowState) -> Result<Arc<ClientImage>, NoImage> {
        self.open(state);
        let table = match &self.reader {
            Some(TableReader::Live(_, view)) => ImageOf::Live(view.clone()),
            Some(TableReader::File(served, now)) => ImageOf::File(served.name.clone(), now.clone()),
            None => ImageOf::Nothing,
        };
        state.image(table)
    }
}
