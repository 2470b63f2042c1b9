//! One client: the table that it asks, and the numbers that it knows values by.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use popfib::{IpPrefix, TableReader};
use popfib_feed::{PathOf, Target};

use super::bulk::{Key, Numbers};
use super::images::{Compiled, Failed};
use super::state::State;

/// What one client has chosen and been told.
#[derive(Default)]
pub(super) struct Session {
    table: Option<String>,
    reader: Option<TableReader<Target>>,
    pub(super) numbers: Numbers,
}

impl Session {
    /// Asks this table from now on; false if there is none of this name.
    pub(super) fn choose(&mut self, state: &State, name: &str) -> bool {
        let Some(reader) = state.tables().reader(name) else {
            return false;
        };
        self.reader = Some(reader);
        self.table = Some(name.to_owned());
        true
    }

    /// Opens the table of this session, if it is there.
    fn open(&mut self, state: &State) {
        if self.reader.is_none() {
            let tables = state.tables();
            let name = self.table.as_deref().or_else(|| tables.default_table());
            self.reader = name.and_then(|name| tables.reader(name));
        }
    }

    /// Hands the longest match of an address to `show`, which writes to memory and nowhere else: the writer of the
    /// table waits for it to drop values.
    pub(super) fn look_up<T>(
        &mut self,
        state: &State,
        address: IpAddr,
        show: impl FnOnce(Option<(IpPrefix, &Target)>) -> T,
    ) -> T {
        state.lookups.fetch_add(1, Ordering::Relaxed);
        self.open(state);
        let guard = self.reader.as_mut().map(TableReader::pin);
        let found = guard.as_ref().and_then(|g| g.longest_match(address));
        show(found)
    }

    /// Appends the number of the value of each of the packed addresses; false if there are more values than numbers.
    pub(super) fn look_up_packed<A: Key>(
        &mut self,
        state: &State,
        packed: &[u8],
        to: &mut Vec<u8>,
    ) -> bool {
        let count = packed.len() / A::BYTES;
        state.lookups.fetch_add(count as u64, Ordering::Relaxed);
        self.open(state);
        match &mut self.reader {
            Some(reader) => self.numbers.answer::<A>(reader, packed, to),
            None => {
                to.resize(to.len() + count * 4, 0);
                true
            }
        }
    }

    /// The name of the table that is asked.
    pub(super) fn table(&self, state: &State) -> Option<String> {
        let tables = state.tables();
        let name = self.table.as_deref().or_else(|| tables.default_table());
        name.map(str::to_owned)
    }

    /// The paths of exactly this prefix, the best first.
    pub(super) fn paths(&self, state: &State, prefix: IpPrefix) -> Vec<PathOf> {
        let tables = state.tables();
        let name = self.table.as_deref().or_else(|| tables.default_table());
        name.map(|name| tables.paths(name, prefix))
            .unwrap_or_default()
    }

    /// The table, compiled.
    pub(super) fn image(&self, state: &State) -> Result<Arc<Compiled>, Failed> {
        state.images.of(state, self.table.as_deref())
    }
}
