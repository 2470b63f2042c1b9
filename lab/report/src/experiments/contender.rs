//! Who is compared: each structure in the forms that the paper measures, in one
//! list, and what was found of each or why it cannot be built.

use popfib::{Kernel, Options, Rib, Size};
use popfib_baselines::Baseline as B;
use popfib_eval::{Algorithm, AnyFib, TrafficAddress, build};
use serde::{Deserialize, Serialize};

use Algorithm::{Baseline, Popfib, Poptrie};
use Group::{Boxes, Cycles, Series4, Series6, Shown, Syn, Threads};

/// Where a structure is measured besides the contest of all, and in which figures it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// In figures of all structures: those of the paper's, and popfib's own.
    Shown,
    /// On SYN1 and SYN2: the paper's Table 5, and popfib's own.
    Syn,
    /// Lookups timed one by one: the paper's Table 4, and popfib's own.
    Cycles,
    /// Of these in the figure by depth, where boxes of more would be too thin.
    Boxes,
    /// On large synthetic tables of IPv4, and of IPv6.
    Series4,
    Series6,
    /// By several threads.
    Threads,
}

/// All structures in the order of tables: direct bits, where they are to be chosen, and groups.
const ALL: [(Algorithm, Option<u8>, &[Group]); 18] = [
    (Baseline(B::Radix), None, &[Shown]),
    (Baseline(B::Patricia), None, &[]),
    (Baseline(B::TreeBitmap16Basic), None, &[]),
    (Baseline(B::TreeBitmap64Basic), None, &[Shown]),
    (Baseline(B::TreeBitmap16), None, &[]),
    (Baseline(B::TreeBitmap64), None, &[Series6]),
    (Baseline(B::Dir24x8), None, &[Series4]),
    (
        Baseline(B::Sail),
        None,
        &[Shown, Syn, Cycles, Boxes, Series4],
    ),
    (Baseline(B::Dxr16), None, &[Shown, Cycles]),
    (
        Baseline(B::Dxr18),
        None,
        &[Shown, Syn, Cycles, Boxes, Series6],
    ),
    (Baseline(B::Dxr18Modified), None, &[Syn, Series4]),
    (Poptrie, Some(0), &[]),
    (Poptrie, Some(16), &[Shown, Cycles]),
    (
        Poptrie,
        Some(18),
        &[Shown, Syn, Cycles, Boxes, Series4, Series6, Threads],
    ),
    (Popfib(Size::Smallest), Some(16), &[]),
    (
        Popfib(Size::Smallest),
        Some(18),
        &[Shown, Syn, Cycles, Boxes, Series4, Series6, Threads],
    ),
    // As it is used: its own choice of form, the fastest kernel.
    (
        Popfib(Size::Smallest),
        None,
        &[Syn, Series4, Series6, Threads],
    ),
    (
        Popfib(Size::Balanced),
        None,
        &[Syn, Series4, Series6, Threads],
    ),
];

/// A structure in one form, looked up in one way.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    /// Its name in tables and figures, the paper's where the paper has one.
    pub(crate) name: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) options: Options,
    /// What looks up batches of a popfib table; the others have a loop of their own.
    pub(crate) kernel: Kernel,
}

impl Contender {
    /// One with the paper's options; popfib without direct bits is as it is used.
    pub(crate) fn new(algorithm: Algorithm, direct_bits: Option<u8>) -> Self {
        let is_batch = matches!(algorithm, Popfib(_)) && direct_bits.is_none();
        let kernel = match is_batch {
            true => Kernel::best(),
            false => Kernel::by_name("scalar").expect("every CPU runs the scalar kernel"),
        };
        let title = algorithm.title();
        Self {
            name: match direct_bits {
                Some(bits) => format!("{title}{bits}"),
                None if is_batch => format!("{title} ({})", kernel.name()),
                None => title.to_owned(),
            },
            algorithm,
            options: Options::default().direct_bits(direct_bits),
            kernel,
        }
    }

    /// All.
    pub(crate) fn all() -> Vec<Self> {
        ALL.map(|(algorithm, bits, _)| Self::new(algorithm, bits))
            .into()
    }

    /// Those of a group, in the same order.
    pub(crate) fn of(group: Group) -> Vec<Self> {
        let of_group = ALL.iter().filter(|(_, _, groups)| groups.contains(&group));
        of_group
            .map(|(algorithm, bits, _)| Self::new(*algorithm, *bits))
            .collect()
    }

    pub(crate) fn build<A: TrafficAddress>(&self, rib: &Rib<A>) -> Result<Built<A>, String> {
        let built = build(rib, self.algorithm, &self.options).map_err(|error| error.to_string())?;
        Ok(Built {
            fib: built.fib,
            kernel: self.kernel,
            build_ms: built.compile_time.as_secs_f64() * 1e3,
        })
    }
}

/// A structure that was built.
pub(crate) struct Built<A> {
    pub(crate) fib: Box<dyn AnyFib<A>>,
    pub(crate) kernel: Kernel,
    pub(crate) build_ms: f64,
}

impl<A> Built<A> {
    /// What a pass calls.
    pub(crate) fn pass(&self) -> impl Fn(&[A]) {
        |burst| self.fib.pass(self.kernel, burst)
    }
}

/// What was found of a structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry<T> {
    pub(crate) name: String,
    #[serde(flatten)]
    outcome: Found<T>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Found<T> {
    Found(T),
    CannotBuild(String),
}

impl<T> Entry<T> {
    pub(crate) fn new(name: &str, found: Result<T, String>) -> Self {
        Self {
            name: name.to_owned(),
            outcome: match found {
                Ok(found) => Found::Found(found),
                Err(reason) => Found::CannotBuild(reason),
            },
        }
    }

    /// What was found, if the structure could be built.
    pub(crate) fn found(&self) -> Option<&T> {
        self.result().ok()
    }

    /// The same, or why it could not.
    pub(crate) fn result(&self) -> Result<&T, &str> {
        match &self.outcome {
            Found::Found(found) => Ok(found),
            Found::CannotBuild(reason) => Err(reason),
        }
    }

    pub(crate) fn found_mut(&mut self) -> Option<&mut T> {
        match &mut self.outcome {
            Found::Found(found) => Some(found),
            Found::CannotBuild(_) => None,
        }
    }
}

/// Builds each of `contenders`, one at a time, and does `work` with it.
pub(crate) fn each<A: TrafficAddress, T>(
    rib: &Rib<A>,
    contenders: &[Contender],
    mut work: impl FnMut(Built<A>) -> T,
) -> Vec<Entry<T>> {
    let entries = contenders.iter();
    entries
        .map(|contender| Entry::new(&contender.name, contender.build(rib).map(&mut work)))
        .collect()
}
