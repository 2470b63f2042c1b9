//! Live tables that follow the operations on a Rib, each with a reader that
//! stays inside all the time.

use popfib::live::Reader;
use popfib::{Address, Kernel, LiveFib, LiveFibSet, NextHop, Options, Prefix, Size};

/// The highest next hop of operations.
const HIGHEST: NextHop = NextHop::MIN.saturating_add(0xffff);

/// Live tables of different options, and their readers.
pub(crate) struct Live<A: Address> {
    tables: Vec<(LiveFib<A>, Reader<A>)>,
    /// Sets whose table 1 follows, and 0 lags behind by every second change.
    sets: Vec<LiveFibSet<A>>,
    changes: usize,
}

impl<A: Address> Default for Live<A> {
    fn default() -> Self {
        // Flat blocks end where keys of so few bits do; tables of longer ones are larger than each change may take here.
        let flat = (A::WIDTH <= 16).then(|| {
            let direct_bits = Some(A::WIDTH - 6);
            Options::default()
                .direct_bits(direct_bits)
                .size(Size::Balanced)
        });
        let options = [
            Options::default(),
            Options::default().direct_bits(Some(0)),
            Options::default().direct_bits(Some(7)).aggregation(false),
        ];
        let tables = options.into_iter().chain(flat).map(|options| {
            let table = LiveFib::new(options).expect("the direct bits fit every key");
            let reader = table.reader();
            (table, reader)
        });
        let sets = [Size::Smallest, Size::Balanced].map(|size| {
            let options = Options::default().size(size);
            LiveFibSet::new(HIGHEST, options).expect("fits")
        });
        Self {
            tables: tables.collect(),
            sets: sets.into(),
            changes: 0,
        }
    }
}

impl<A: Address> Live<A> {
    /// Announces a route, which replaces `old`; the readers look up `keys` meanwhile.
    pub(crate) fn announce(
        &mut self,
        prefix: Prefix<A>,
        next_hop: NextHop,
        old: Option<NextHop>,
        keys: &[A],
    ) {
        self.change(keys, |table| {
            assert_eq!(table.announce(prefix, next_hop), Ok(old));
        });
        self.change_sets(keys, |set| {
            assert_eq!(set.announce(1, prefix, next_hop), Ok(old));
        });
    }

    /// Withdraws a route, whose next hop is `old`; the readers look up `keys` meanwhile.
    pub(crate) fn withdraw(&mut self, prefix: Prefix<A>, old: Option<NextHop>, keys: &[A]) {
        self.change(keys, |table| {
            assert_eq!(table.withdraw(prefix), Ok(old));
        });
        self.change_sets(keys, |set| {
            assert_eq!(set.withdraw(1, prefix), Ok(old));
        });
    }

    /// Withdraws every route.
    pub(crate) fn clear(&mut self) {
        self.change(&[], |table| {
            while let Some((prefix, _)) = table.rib().first() {
                table.withdraw(prefix).expect("a smaller table fits");
            }
            assert!(table.rib().is_empty());
        });
        self.change_sets(&[], |set| drop(set.remove(1).expect("memory")));
    }

    /// Changes table 1 of each set while a guard is held, at times after a copy of it is made, and asks this and that.
    fn change_sets(&mut self, keys: &[A], change: impl Fn(&mut LiveFibSet<A>)) {
        self.changes += 1;
        for set in &mut self.sets {
            let mut reader = set.reader().expect("memory");
            let guard = reader.pin();
            if self.changes.is_multiple_of(4) {
                let copy = set.rib(1).cloned().unwrap_or_default();
                set.insert(0, copy).expect("fits");
            }
            change(set);
            for (table, key) in [0, 1]
                .iter()
                .flat_map(|table| keys.iter().map(move |key| (*table, *key)))
            {
                let expected = set.rib(table).and_then(|rib| rib.lookup(key));
                let expected = expected.map_or(0, NextHop::get);
                assert_eq!(guard.lookup(table, key), expected, "{table} {key:?}");
                assert_eq!(set.lookup(table, key), expected, "{table} {key:?}");
            }
        }
    }

    /// Changes each table while a guard is held, then asks its reader and the writer.
    fn change(&mut self, keys: &[A], change: impl Fn(&mut LiveFib<A>)) {
        for (table, reader) in &mut self.tables {
            let guard = reader.pin();
            change(table);
            for kernel in Kernel::list() {
                let mut answers = vec![u32::MAX; keys.len()];
                guard.lookup_batch_with(kernel, keys, &mut answers);
                for (key, answer) in keys.iter().zip(answers) {
                    let expected = table.rib().lookup(*key).map_or(0, NextHop::get);
                    assert_eq!(answer, expected, "{key:?} by {kernel}");
                    assert_eq!(table.lookup(*key), expected, "{key:?}");
                }
            }
        }
    }

    /// Holds the tables' answers against `answers`, and verifies their layout.
    pub(crate) fn check(&mut self, keys: &[A], answers: &[u32]) {
        for (table, reader) in &mut self.tables {
            assert_eq!(table.check(), Ok(()));
            let mut found = vec![u32::MAX; keys.len()];
            reader.lookup_batch(keys, &mut found);
            assert_eq!(found, answers, "{table:?}");
        }
        for set in &self.sets {
            assert_eq!(set.check(), Ok(()));
            for kernel in Kernel::list() {
                let mut found = vec![u32::MAX; keys.len()];
                set.lookup_batch_with(kernel, &vec![1; keys.len()], keys, &mut found);
                assert_eq!(found, answers, "{set:?} by {kernel}");
            }
        }
    }
}
