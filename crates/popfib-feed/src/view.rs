//! The best paths of a table as other threads see them: a live table.
//!
//! Changes wait until they are published, so that many of them cost one compilation and not a patch each.

use std::mem;

use popfib::{CompileError, IpPrefix, LiveTable, Shared, TableReader};

use crate::info::Routes;
use crate::journal::{BestChange, Journal};
use crate::target::Target;

/// The room for waiting changes that is kept for the next ones.
const KEPT: usize = 1 << 10;

/// What readers see of a table.
#[derive(Default)]
pub(crate) struct View {
    table: LiveTable<Target, Shared>,
    pub(crate) journal: Journal,
    /// Changes that readers do not see yet, in their order.
    waiting: Vec<BestChange>,
    /// Changes that there was no memory for, or that the table has no numbers for.
    pub(crate) failed: u64,
}

impl View {
    pub(crate) fn announce(&mut self, prefix: IpPrefix, target: Target) {
        self.waiting.push((prefix, Some(target)));
    }

    pub(crate) fn withdraw(&mut self, prefix: IpPrefix) {
        self.waiting.push((prefix, None));
    }

    /// How many changes readers do not see.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Lets readers see all changes.
    pub(crate) fn publish(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let mut waiting = mem::take(&mut self.waiting);
        for (prefix, target) in &waiting {
            self.journal.add(*prefix, || target.clone());
        }
        let is_done = waiting.len() > 1 && self.table.apply(waiting.iter().cloned()).is_ok();
        if !is_done {
            for (prefix, target) in waiting.drain(..) {
                let done = match target {
                    Some(target) => self.table.announce(prefix, target),
                    None => self.table.withdraw(prefix),
                };
                self.count(done);
            }
        }
        if waiting.capacity() <= KEPT {
            waiting.clear();
            self.waiting = waiting;
        }
    }

    /// Prefixes of both families that readers see.
    pub(crate) fn prefixes(&self) -> [usize; 2] {
        [self.table.ipv4().len(), self.table.ipv6().len()]
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
