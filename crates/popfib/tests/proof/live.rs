//! Live tables that follow the operations on a Rib, each with a reader that
//! stays inside all the time.

use popfib::live::Reader;
use popfib::{Address, Kernel, LiveFib, NextHop, Options, Prefix, Size};

/// Live tables of different options, and their readers.
pub(crate) struct Live<A: Address> {
    tables: Vec<(LiveFib<A>, Reader<A>)>,
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
        Self {
            tables: tables.collect(),
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
    }

    /// Withdraws a route, whose next hop is `old`; the readers look up `keys` meanwhile.
    pub(crate) fn withdraw(&mut self, prefix: Prefix<A>, old: Option<NextHop>, keys: &[A]) {
        self.change(keys, |table| {
            assert_eq!(table.withdraw(prefix), Ok(old));
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
    }
}
