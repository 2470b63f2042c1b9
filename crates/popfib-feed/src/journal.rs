//! The last changes of best paths: each change in, the changes from a number on out, for clients that watch a table. They are kept only
//! while there is such a client, and their number is limited: a slow client loses changes, and nobody waits for it.

use std::collections::VecDeque;

use popfib::IpPrefix;

use crate::target::Target;

/// The maximum number of changes that are kept.
const MAX: usize = 1 << 16;

/// A change of the best path of a prefix: the new target, or `None` if the prefix has no path any more.
pub type BestPathChange = (IpPrefix, Option<Target>);

/// The changes of one table.
#[derive(Default)]
pub(crate) struct Journal {
    watchers: usize,
    /// The number of the first change that is kept.
    first: u64,
    changes: VecDeque<BestPathChange>,
}

impl Journal {
    /// Adds a client. Returns the number of the next change.
    pub(crate) fn watch(&mut self) -> u64 {
        self.watchers += 1;
        self.end()
    }

    /// The number of the next change.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.changes.len() as u64
    }

    /// Removes a client.
    pub(crate) fn unwatch(&mut self) {
        self.watchers -= 1;
        if self.watchers == 0 {
            self.first += self.changes.len() as u64;
            self.changes = VecDeque::new();
        }
    }

    /// Whether there is a client.
    pub(crate) fn is_watched(&self) -> bool {
        self.watchers > 0
    }

    /// Keeps a change, for the clients that there are.
    pub(crate) fn add(&mut self, prefix: IpPrefix, target: Option<Target>) {
        if self.changes.len() == MAX {
            self.changes.pop_front();
            self.first += 1;
        }
        self.changes.push_back((prefix, target));
    }

    /// Appends up to `most` changes from number `from` on. Returns the number of the next one, and how many were lost before.
    pub(crate) fn from(&self, from: u64, most: usize, to: &mut Vec<BestPathChange>) -> (u64, u64) {
        let lost = self.first.saturating_sub(from);
        let start = from.saturating_sub(self.first) as usize;
        let before = to.len();
        to.extend(self.changes.iter().skip(start).take(most).cloned());
        let next = from + lost + (to.len() - before) as u64;
        (next, lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(number: usize) -> IpPrefix {
        format!("10.{}.{}.0/24", number >> 8 & 255, number & 255)
            .parse()
            .unwrap()
    }

    #[test]
    fn changes_come_once_and_in_order_and_the_oldest_are_lost() {
        let mut journal = Journal::default();
        assert!(!journal.is_watched());
        let start = journal.watch();
        assert!(journal.is_watched());
        for number in 0..10 {
            journal.add(prefix(number), None);
        }
        let mut seen = Vec::new();
        let (next, lost) = journal.from(start, 4, &mut seen);
        let (next, more_lost) = journal.from(next, 100, &mut seen);
        assert_eq!((lost, more_lost, seen.len()), (0, 0, 10));
        assert!((0..10).all(|number| seen[number].0 == prefix(number)));
        for number in 0..MAX + 3 {
            journal.add(prefix(number), None);
        }
        seen.clear();
        let (end, lost) = journal.from(next, usize::MAX, &mut seen);
        assert_eq!((lost, seen.len(), end), (3, MAX, next + MAX as u64 + 3));
        assert_eq!(seen[0].0, prefix(3));
        // Numbers continue after a time without clients.
        journal.unwatch();
        assert!(!journal.is_watched());
        assert_eq!(journal.watch(), end);
    }
}
