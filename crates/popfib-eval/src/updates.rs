//! Updates applied to a live table, each of them timed.

use std::time::Instant;

use popfib::{Address, Changes, CompileError, Leaf, LiveFib, NextHop, Prefix};

use crate::latencies::Latencies;

/// A route that is announced, or with no next hop withdrawn.
pub type Update<A> = (Prefix<A>, Option<NextHop>);

/// What became of updates, and how long they took.
#[derive(Clone, Debug, Default)]
pub struct UpdateTimes {
    /// Announcements.
    pub announced: u64,
    /// Withdrawals.
    pub withdrawn: u64,
    /// Withdrawals of routes that were not there.
    pub absent: u64,
    /// Announcements of a route that was there with the same next hop.
    pub repeated: u64,
    /// The time of each update, in Rib and Fib together.
    pub all: Latencies,
    /// The times of those that changed an answer, and so the Fib.
    pub changing: Latencies,
}

impl UpdateTimes {
    /// Applies `updates` to `table`, one behind the other, as fast as it goes.
    ///
    /// # Errors
    /// [`CompileError`] of [`LiveFib::announce`] and [`LiveFib::withdraw`]; what came
    /// before is applied.
    pub fn apply<A: Address, L: Leaf>(
        &mut self,
        table: &mut LiveFib<A, L>,
        updates: &[Update<A>],
    ) -> Result<(), CompileError> {
        let mut changes = total(table.changes());
        // One reading of the clock an update: the end of one is the start of the next.
        let mut start = Instant::now();
        for (prefix, next_hop) in updates {
            match next_hop {
                Some(next_hop) => {
                    let old = table.announce(*prefix, *next_hop)?;
                    self.announced += 1;
                    self.repeated += u64::from(old == Some(*next_hop));
                }
                None => {
                    let old = table.withdraw(*prefix)?;
                    self.withdrawn += 1;
                    self.absent += u64::from(old.is_none());
                }
            }
            let end = Instant::now();
            self.all.add(end - start);
            let now = total(table.changes());
            if now != changes {
                self.changing.add(end - start);
                changes = now;
            }
            start = end;
        }
        Ok(())
    }

    /// Adds what `other` has counted.
    pub fn append(&mut self, other: &Self) {
        self.announced += other.announced;
        self.withdrawn += other.withdrawn;
        self.absent += other.absent;
        self.repeated += other.repeated;
        self.all.append(&other.all);
        self.changing.append(&other.changing);
    }
}

/// Changes of the Fib, patched or compiled.
fn total(changes: Changes) -> u64 {
    changes.patches + changes.compiles
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::Options;

    #[test]
    fn what_was_there_and_what_was_not_is_counted() {
        let mut table = LiveFib::<u32>::new(Options::default()).unwrap();
        let prefix: Prefix<u32> = "10.0.0.0/8".parse().unwrap();
        let inside: Prefix<u32> = "10.1.0.0/16".parse().unwrap();
        let hop = Some(NextHop::MIN);
        let updates = [
            (prefix, hop),
            (prefix, hop),
            (inside, hop),
            (prefix, None),
            (prefix, None),
        ];
        let mut times = UpdateTimes::default();
        times.apply(&mut table, &updates).unwrap();
        assert_eq!((times.announced, times.withdrawn), (3, 2));
        assert_eq!((times.repeated, times.absent), (1, 1));
        assert_eq!(times.all.count(), 5);
        // The route inside says what the one outside says: no answer changes.
        assert_eq!(times.changing.count(), 2);
        let mut twice = times.clone();
        twice.append(&times);
        assert_eq!((twice.announced, twice.all.count()), (6, 10));
    }
}
