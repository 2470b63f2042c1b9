//! The state of one client: the table that it has chosen, and the numbers of the values that it was sent. Addresses come in; out
//! come matches, numbers of values, paths and images of that table.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use popfib::IpPrefix;
use popfib::family::Family;
use popfib::live::IpMapReader;
use popfib_feed::info::PathInfo;
use popfib_feed::{TableView, Target};

use super::bulk::ValueNumbers;
use super::images::{ClientImage, NoImage};
use super::state::FollowState;

/// The state of one client.
pub(super) struct ClientSession {
    table: Option<String>,
    reader: Option<ViewReader>,
    pub(super) numbers: ValueNumbers,
}

/// A reader of a table, and the view that keeps the table alive.
struct ViewReader {
    table: IpMapReader<Target>,
    view: Arc<TableView>,
}

impl ViewReader {
    fn of(view: Arc<TableView>) -> Self {
        Self {
            table: view.reader(),
            view,
        }
    }
}

impl ClientSession {
    pub(super) fn new(state: &FollowState) -> Self {
        Self {
            table: None,
            reader: None,
            numbers: ValueNumbers::new(&state.value_memory),
        }
    }

    /// Chooses the table for later queries; false if there is no table of this name. Then they have no match until there is one.
    pub(super) fn choose(&mut self, state: &FollowState, name: &str) -> bool {
        self.reader = None;
        self.table = Some(name.to_owned());
        self.open(state);
        self.reader.is_some()
    }

    /// Opens the table of this session, if it exists.
    pub(super) fn open(&mut self, state: &FollowState) {
        if self.reader.is_none() {
            self.reader = state.view(self.table.as_deref()).map(ViewReader::of);
        }
    }

    /// Passes the longest match of an address to `show`. That may only write to memory: as long as it runs, the writer of the table
    /// cannot drop values.
    pub(super) fn look_up<T>(
        &mut self,
        state: &FollowState,
        address: IpAddr,
        show: impl FnOnce(Option<(IpPrefix, &Target)>) -> T,
    ) -> T {
        state.lookups.fetch_add(1, Ordering::Relaxed);
        self.open(state);
        let guard = self.reader.as_mut().map(|reader| reader.table.pin());
        let found = guard.as_ref().and_then(|g| g.longest_match(address));
        show(found)
    }

    /// Appends the number of the value of each of the packed addresses; false if there are more values than numbers.
    pub(super) fn look_up_packed<A: Family<Bytes = [u8; N]>, const N: usize>(
        &mut self,
        state: &FollowState,
        packed: &[u8],
        to: &mut Vec<u8>,
    ) -> bool {
        let (packed, _) = packed.as_chunks();
        state
            .lookups
            .fetch_add(packed.len() as u64, Ordering::Relaxed);
        self.open(state);
        match &mut self.reader {
            Some(reader) => self.numbers.answer::<A, N>(&mut reader.table, packed, to),
            None => {
                to.resize(to.len() + packed.len() * 4, 0);
                true
            }
        }
    }

    /// The version of the open table.
    pub(super) fn version(&self) -> u64 {
        let reader = self.reader.as_ref();
        reader.map_or(0, |reader| reader.view.version())
    }

    /// The name of the table for queries.
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
    pub(super) fn image(&self, state: &FollowState) -> Result<Arc<ClientImage>, NoImage> {
        state.image(self.table.as_deref())
    }
}
