//! The best paths of a table as a live table, which other threads read.
//!
//! Changes wait until they are published, so that many of them need one compilation instead of one patch each.

use popfib::{Address, CompileError, IpPrefix, LiveMap, LiveTable, Prefix, Shared, TableReader};

use crate::info::Routes;
use crate::journal::Journal;
use crate::target::Target;

/// The capacity for waiting changes that is kept for later ones.
const KEPT: usize = 1 << 10;

/// A change of the best path of a prefix: the new target, or `None` if the prefix has no path any more.
type Change<A> = (Prefix<A>, Option<Target>);

/// The part of a table that readers see.
#[derive(Default)]
pub(crate) struct View {
    table: LiveTable<Target, Shared>,
    pub(crate) journal: Journal,
    /// Changes that readers do not see yet, in their order.
    ipv4: Vec<Change<u32>>,
    ipv6: Vec<Change<u128>>,
    /// Changes that failed because there was no memory or no number left.
    pub(crate) failed: u64,
}

impl View {
    pub(crate) fn announce(&mut self, prefix: IpPrefix, target: Target) {
        self.wait(prefix, Some(target));
    }

    pub(crate) fn withdraw(&mut self, prefix: IpPrefix) {
        self.wait(prefix, None);
    }

    fn wait(&mut self, prefix: IpPrefix, target: Option<Target>) {
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4.push((prefix, target)),
            IpPrefix::V6(prefix) => self.ipv6.push((prefix, target)),
        }
    }

    /// The number of changes that readers do not see yet.
    pub(crate) fn waiting(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    /// Publishes all changes to readers.
    pub(crate) fn publish(&mut self) {
        self.failed += publish(self.table.ipv4_mut(), &mut self.ipv4, &mut self.journal);
        self.failed += publish(self.table.ipv6_mut(), &mut self.ipv6, &mut self.journal);
    }

    /// The number of prefixes of each family that readers see.
    pub(crate) fn prefixes(&self) -> [usize; 2] {
        [self.table.ipv4().len(), self.table.ipv6().len()]
    }

    /// Fills an empty table with the routes of both families at once.
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

/// Applies the changes of one family; returns how many failed.
fn publish<A: Address>(
    map: &mut LiveMap<A, Target, Shared>,
    waiting: &mut Vec<Change<A>>,
    journal: &mut Journal,
) -> u64
where
    IpPrefix: From<Prefix<A>>,
{
    for (prefix, target) in &*waiting {
        journal.add((*prefix).into(), || target.clone());
    }
    let mut failed = 0;
    if waiting.len() < 2 || map.apply(waiting.iter().cloned()).is_err() {
        for (prefix, target) in waiting.drain(..) {
            let done = match target {
                Some(target) => map.announce(prefix, target),
                None => map.withdraw(prefix),
            };
            failed += u64::from(done.is_err());
        }
    }
    match waiting.capacity() <= KEPT {
        true => waiting.clear(),
        false => *waiting = Vec::new(),
    }
    failed
}
