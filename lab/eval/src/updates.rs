//! Updates applied to a live table, each of them timed; updates made of a table's own
//! routes; and whether the table is right afterwards.

use std::fs;
use std::time::{Duration, Instant};

use popfib::intervals::Intervals;
use popfib::{Address, CompileError, LiveFib, NextHop, Prefix, Rib};

use crate::latencies::Latencies;
use crate::random::Random;

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
    /// The times of those that changed an answer.
    pub changing: Latencies,
    /// The longest of all these without the time that the thread waited for its core, where Linux counts that.
    pub longest_run: Duration,
    /// How long the thread had waited when that was last asked for.
    waited: Duration,
}

/// Times that are long enough to ask how much of them the thread waited.
const LONG: Duration = Duration::from_micros(100);

/// How long this thread has waited for a core, 0 where nobody counts that.
fn waited() -> Duration {
    let counts = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = counts.split_whitespace().nth(1);
    Duration::from_nanos(waited.and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

impl UpdateTimes {
    /// Applies `updates` to `table`, one after the other, as fast as it goes.
    ///
    /// # Errors
    /// [`CompileError`] of [`LiveFib::announce`] and [`LiveFib::withdraw`]; what came
    /// before is applied.
    pub fn apply<A: Address>(
        &mut self,
        table: &mut LiveFib<A>,
        updates: &[Update<A>],
    ) -> Result<(), CompileError> {
        self.waited = waited();
        for &(prefix, next_hop) in updates {
            let start = Instant::now();
            let old = match next_hop {
                Some(next_hop) => table.announce(prefix, next_hop)?,
                None => table.withdraw(prefix)?,
            };
            let time = start.elapsed();
            match next_hop {
                Some(_) => {
                    self.announced += 1;
                    self.repeated += u64::from(old == next_hop);
                }
                None => {
                    self.withdrawn += 1;
                    self.absent += u64::from(old.is_none());
                }
            }
            self.all.add(time);
            if changes_answer(table.rib(), prefix, old, next_hop) {
                self.changing.add(time);
            }
            if time > LONG {
                self.long(time);
            }
        }
        Ok(())
    }

    /// Notes a long time.
    fn long(&mut self, time: Duration) {
        let waited = waited();
        let run = time.saturating_sub(waited - self.waited);
        self.longest_run = self.longest_run.max(run);
        self.waited = waited;
    }

    /// Adds what `other` has counted.
    pub fn append(&mut self, other: &Self) {
        self.announced += other.announced;
        self.withdrawn += other.withdrawn;
        self.absent += other.absent;
        self.repeated += other.repeated;
        self.all.append(&other.all);
        self.changing.append(&other.changing);
        self.longest_run = self.longest_run.max(other.longest_run);
    }
}

/// `count` withdrawals of random routes of `rib`, each announced again before the next goes.
pub fn churn<A: Address>(rib: &Rib<A>, count: usize) -> Vec<Update<A>> {
    let routes = shuffled(rib);
    let both = |&(prefix, next_hop): &Update<A>| [(prefix, None), (prefix, next_hop)];
    routes.iter().cycle().take(count).flat_map(both).collect()
}

/// Announcements of all routes of `rib`, in random order, the same each time.
pub fn shuffled<A: Address>(rib: &Rib<A>) -> Vec<Update<A>> {
    let routes = rib.iter();
    let mut updates: Vec<_> = routes.map(|(prefix, hop)| (prefix, Some(hop))).collect();
    Random::new(1).shuffle(&mut updates);
    updates
}

/// Holds the answers of `table` against its routes, at both ends of every stretch of addresses
/// with one longest match; tells `wrong` the address, the answer and the one that was expected.
/// Returns how many addresses were asked for. O(routes).
pub fn check_answers<A: Address>(table: &LiveFib<A>, mut wrong: impl FnMut(A, u32, u32)) -> u64 {
    let mut asked = 0;
    for interval in Intervals::new(table.rib()) {
        let expected = interval.next_hop.map_or(0, NextHop::get);
        for address in [interval.first, interval.last] {
            asked += 1;
            let answer = table.lookup(address);
            if answer != expected {
                wrong(address, answer, expected);
            }
        }
    }
    asked
}

/// Whether a route that had the next hop `old` and has `new` now changed an answer: not if it says what the one around it says.
fn changes_answer<A: Address>(
    rib: &Rib<A>,
    prefix: Prefix<A>,
    old: Option<NextHop>,
    new: Option<NextHop>,
) -> bool {
    if old.is_some() && new.is_some() {
        return old != new;
    }
    let around = rib
        .supernets(prefix)
        .take_while(|(route, _)| *route != prefix);
    let around = around.last().map(|(_, next_hop)| next_hop);
    old.or(new) != around && old != new
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::Options;

    #[test]
    fn updates_made_of_a_table_bring_it_back() {
        let mut rib = Rib::<u32>::new();
        for (place, text) in ["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16"]
            .iter()
            .enumerate()
        {
            let next_hop = NextHop::new(place as u32 + 1).unwrap();
            rib.insert(text.parse().unwrap(), next_hop);
        }
        let mut table = LiveFib::<u32>::new(Options::default()).unwrap();
        let mut times = UpdateTimes::default();
        times.apply(&mut table, &shuffled(&rib)).unwrap();
        // More than there are routes: from the first again.
        times.apply(&mut table, &churn(&rib, 7)).unwrap();
        assert_eq!((times.announced, times.withdrawn), (10, 7));
        assert_eq!((times.repeated, times.absent), (0, 0));
        assert!(table.rib().iter().eq(rib.iter()));
        assert_eq!(
            check_answers(&table, |_, _, _| panic!("a wrong answer")),
            10
        );
        assert!(churn(&Rib::<u32>::new(), 3).is_empty());
    }

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
