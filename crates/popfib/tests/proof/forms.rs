//! The forms of a Fib: every choice at compile time.

use crate::judge::Compiled;
pub(crate) use popfib::Address as Key;
use popfib::{Address, CompileError, Fib, FibSet, Kernel, Options, Rib, Size};

/// The choices at compile time other than the direct bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) aggregation: bool,
    pub(crate) size: Size,
}

impl Form {
    /// How many forms there are.
    pub(crate) const COUNT: usize = 4;

    /// Form `index` of all.
    pub(crate) const fn new(index: usize) -> Self {
        Self {
            aggregation: index & 1 != 0,
            size: if index & 2 == 0 {
                Size::Smallest
            } else {
                Size::Balanced
            },
        }
    }

    /// All of them.
    pub(crate) const ALL: [Self; Self::COUNT] =
        [Self::new(0), Self::new(1), Self::new(2), Self::new(3)];

    /// The highest next hop that it holds.
    pub(crate) fn max_next_hop(self) -> u32 {
        u32::MAX >> 1
    }

    /// The forms and direct bits that a full table is tried with.
    pub(crate) fn of_real_tables() -> Vec<(Self, Option<u8>)> {
        let default = Self {
            aggregation: true,
            size: Size::Smallest,
        };
        let balanced = Self {
            size: Size::Balanced,
            ..default
        };
        let scattered = Self {
            aggregation: false,
            ..default
        };
        vec![
            (default, None),
            (balanced, None),
            (default, Some(18)),
            (default, Some(16)),
            (default, Some(0)),
            (balanced, Some(18)),
            (scattered, Some(18)),
        ]
    }

    /// Compiles `rib` in this form; `None` leaves the direct bits to the library.
    pub(crate) fn compile<A: Address>(
        self,
        rib: &Rib<A>,
        direct_bits: Option<u8>,
    ) -> Result<Box<dyn Compiled<A>>, CompileError> {
        let options = Options::default()
            .direct_bits(direct_bits)
            .aggregation(self.aggregation)
            .size(self.size);
        Ok(Box::new(Fib::<A>::compile(rib, &options)?))
    }
}

impl<A: Address> Compiled<A> for Fib<A> {
    fn check(&self) -> Result<(), String> {
        Fib::check(self).map_err(|error| error.to_string())
    }

    fn direct_bits(&self) -> u8 {
        Fib::direct_bits(self)
    }

    fn nodes(&self) -> usize {
        self.node_count()
    }

    fn leaves(&self) -> usize {
        self.leaf_count()
    }

    fn bytes(&self) -> usize {
        Fib::bytes(self)
    }

    fn lookup(&self, address: A) -> u32 {
        Fib::lookup(self, address)
    }

    fn first_wrong(&self, probes: &[A], expected: &[u32]) -> Option<(usize, u32)> {
        assert_eq!(probes.len(), expected.len());
        let singles = probes.iter().map(|&probe| Fib::lookup(self, probe));
        let mut answers = vec![singles.collect::<Vec<u32>>()];
        for kernel in Kernel::list() {
            let mut batch = vec![0; probes.len()];
            self.lookup_batch_with(kernel, probes, &mut batch);
            answers.push(batch);
        }
        let bytes: Vec<_> = probes.iter().map(|probe| probe.to_be_bytes()).collect();
        let mut batch = vec![0; probes.len()];
        self.lookup_batch_be(&bytes, &mut batch);
        answers.push(batch);
        answers.iter().find_map(|answers| {
            let mut pairs = answers.iter().zip(expected).enumerate();
            pairs.find_map(|(at, (answer, expected))| (answer != expected).then_some((at, *answer)))
        })
    }
}

/// A set of tables: this one, another with every second of its routes, and this one again, asked in turn, and a table that there is
/// not.
pub(crate) fn others_fault<A: Address>(
    rib: &Rib<A>,
    probes: &[A],
    expected: &[u32],
) -> Option<String> {
    let half: Rib<A> = rib.iter().step_by(2).collect();
    let tables: Vec<u32> = (0..probes.len() as u32).map(|at| at % 7 % 4).collect();
    let wanted = tables.iter().zip(probes).zip(expected);
    let wanted: Vec<u32> = wanted
        .map(|((table, probe), expected)| match table {
            1 => half.lookup(*probe).map_or(0, |next_hop| next_hop.get()),
            3 => 0,
            _ => *expected,
        })
        .collect();
    for form in Form::ALL {
        let options = Options::default()
            .aggregation(form.aggregation)
            .size(form.size);
        let set = match FibSet::compile([rib, &half, rib], &options) {
            Ok(set) => set,
            Err(error) => return Some(format!("a set of {form:?} does not compile: {error}")),
        };
        if let Err(error) = set.check() {
            return Some(format!("a set of {form:?} fails its check: {error}"));
        }
        let singles = tables.iter().zip(probes);
        let mut answers = vec![
            singles
                .map(|(table, probe)| set.lookup(*table, *probe))
                .collect(),
        ];
        for kernel in Kernel::list() {
            let mut batch = vec![0; probes.len()];
            set.lookup_batch_with(kernel, &tables, probes, &mut batch);
            answers.push(batch);
        }
        for answers in answers {
            if let Some(at) = (0..probes.len()).find(|at| answers[*at] != wanted[*at]) {
                let (table, probe, answer, wanted) =
                    (tables[at], probes[at], answers[at], wanted[at]);
                return Some(format!(
                    "table {table} of a set of {form:?} says {answer} for {probe:?}, not {wanted}"
                ));
            }
        }
    }
    None
}
