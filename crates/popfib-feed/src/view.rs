//! The best paths of a table as other threads see them: a live table.

use popfib::{CompileError, IpPrefix, LiveTable, Shared, TableReader};

use crate::info::Routes;
use crate::journal::Journal;
use crate::target::Target;

/// What readers see of a table.
#[derive(Default)]
pub(crate) struct View {
    table: LiveTable<Target, Shared>,
    pub(crate) journal: Journal,
    /// Changes that there was no memory for, or that the table has no numbers for.
    pub(crate) failed: u64,
}

impl View {
    pub(crate) fn announce(&mut self, prefix: IpPrefix, target: Target) {
        self.journal.add(prefix, || Some(target.clone()));
        let done = self.table.announce(prefix, target);
        self.count(done);
    }

    pub(crate) fn withdraw(&mut self, prefix: IpPrefix) {
        self.journal.add(prefix, || None);
        let done = self.table.withdraw(prefix);
        self.count(done);
    }

    /// Both families at once, into an empty table.
    pub(crate) fn fill(&mut self, ipv4: Routes<u32>, ipv6: Routes<u128>) {
        let ipv4 = ipv4
            .into_iter()
            .map(|(prefix, target)| (prefix, Some(target)));
        let done = self.table.ipv4_mut().apply(ipv4);
        self.count(done.map(|()| true));
        let ipv6 = ipv6
            .into_iter()
            .map(|(prefix, target)| (prefix, Some(target)));
        let done = self.table.ipv6_mut().apply(ipv6);
        self.count(done.map(|()| true));
    }

    fn count(&mut self, done: Result<bool, CompileError>) {
        self.failed += u64::from(done.is_err());
    }

    pub(crate) fn reader(&self) -> TableReader<Target> {
        self.table.reader()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
    }
}
