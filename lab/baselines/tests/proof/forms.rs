//! The forms of the paper's Poptrie, and the other structures beside them.

use crate::judge::Compiled;
use popfib::{Address, CompileError, Options, Rib};
pub(crate) use popfib_baselines::Key;
use popfib_baselines::poptrie::{BasicNode, LeafvecNode, Node, Poptrie};
use popfib_baselines::{Baseline, CannotBuild, Lpm, Width};

/// The choices at compile time other than the direct bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// 32-bit leaves in place of 16.
    pub(crate) wide: bool,
    /// The paper's node with leafvec, or its basic one.
    pub(crate) leafvec: bool,
    pub(crate) aggregation: bool,
}

impl Form {
    /// How many forms there are.
    pub(crate) const COUNT: usize = 8;

    /// Form `index` of all.
    pub(crate) const fn new(index: usize) -> Self {
        Self {
            wide: index & 1 != 0,
            aggregation: index & 2 != 0,
            leafvec: index & 4 == 0,
        }
    }

    /// All of them.
    pub(crate) const ALL: [Self; Self::COUNT] = {
        let mut all = [Self::new(0); Self::COUNT];
        let mut index = 0;
        while index < Self::COUNT {
            all[index] = Self::new(index);
            index += 1;
        }
        all
    };

    /// The highest next hop that it holds.
    pub(crate) fn max_next_hop(self) -> u32 {
        if self.wide { u32::MAX >> 1 } else { 65_535 }
    }

    /// The forms and direct bits that a full table is tried with.
    pub(crate) fn of_real_tables() -> Vec<(Self, Option<u8>)> {
        let of_width = |wide| {
            let paper = Self {
                wide,
                leafvec: true,
                aggregation: true,
            };
            let basic = Self {
                leafvec: false,
                aggregation: false,
                ..paper
            };
            [(paper, Some(18)), (basic, Some(18))]
        };
        [false, true].into_iter().flat_map(of_width).collect()
    }

    /// Compiles `rib` in this form; `None` leaves the direct bits to the library.
    pub(crate) fn compile<A: Key>(
        self,
        rib: &Rib<A>,
        direct_bits: Option<u8>,
    ) -> Result<Box<dyn Compiled<A>>, CompileError> {
        let options = Options::default()
            .direct_bits(direct_bits)
            .aggregation(self.aggregation);
        Ok(match (self.wide, self.leafvec) {
            (false, true) => Box::new(Poptrie::<A, u16, LeafvecNode>::compile(rib, &options)?),
            (true, true) => Box::new(Poptrie::<A, u32, LeafvecNode>::compile(rib, &options)?),
            (false, false) => Box::new(Poptrie::<A, u16, BasicNode>::compile(rib, &options)?),
            (true, false) => Box::new(Poptrie::<A, u32, BasicNode>::compile(rib, &options)?),
        })
    }
}

impl<A: Address, L: Width, N: Node> Compiled<A> for Poptrie<A, L, N> {
    fn check(&self) -> Result<(), String> {
        Poptrie::check(self)
    }

    fn direct_bits(&self) -> u8 {
        Lpm::direct_bits(self)
    }

    fn nodes(&self) -> usize {
        self.nodes_and_leaves().0
    }

    fn leaves(&self) -> usize {
        self.nodes_and_leaves().1
    }

    fn bytes(&self) -> usize {
        Lpm::bytes(self)
    }

    fn lookup(&self, address: A) -> u32 {
        Lpm::lookup(self, address)
    }

    fn first_wrong(&self, probes: &[A], expected: &[u32]) -> Option<(usize, u32)> {
        first_wrong_of(self, probes, expected)
    }
}

/// What is wrong with the other structures.
pub(crate) fn others_fault<A: Key>(rib: &Rib<A>, probes: &[A], expected: &[u32]) -> Option<String> {
    let highest = rib.iter().map(|(_, next_hop)| next_hop.get()).max();
    Baseline::ALL
        .into_iter()
        .find_map(|baseline| baseline_fault(baseline, rib, highest.unwrap_or(0), probes, expected))
}

/// What is wrong with a baseline: its answers, or that it is not to be had for
/// a table within its limits.
fn baseline_fault<A: Key>(
    baseline: Baseline,
    rib: &Rib<A>,
    highest_next_hop: u32,
    probes: &[A],
    expected: &[u32],
) -> Option<String> {
    let name = baseline.name();
    let lpm = match baseline.build(rib) {
        Ok(lpm) => lpm,
        Err(CannotBuild::KeyWidth { width }) if A::WIDTH != 32 && width == A::WIDTH => {
            let is_ipv4_only = ["dir-24-8", "sail", "dxr-18-modified"].contains(&name);
            return (!is_ipv4_only).then(|| format!("{name} refuses keys of {width} bits"));
        }
        Err(CannotBuild::NextHop { next_hop, max }) => {
            let is_known = match name {
                "dir-24-8" | "sail" => max == 32_767,
                "dxr-16" | "dxr-18" | "dxr-18-modified" => max == 65_535,
                _ => false,
            };
            let is_right = is_known && next_hop > max && next_hop <= highest_next_hop;
            return (!is_right).then(|| format!("{name} refuses next hop {next_hop}"));
        }
        // What a full table may go beyond.
        Err(CannotBuild::TooMany { .. }) if rib.len() > 10_000 && has_limits(name) => return None,
        Err(error) => return Some(format!("{name} does not build: {error}")),
    };
    let bits = match name {
        "dir-24-8" => 24,
        "sail" | "dxr-16" => 16,
        "dxr-18" | "dxr-18-modified" => 18,
        "treebitmap-16" => 16.min(A::WIDTH - A::WIDTH % 4),
        "treebitmap-64" => 18.min(A::WIDTH - A::WIDTH % 6),
        _ => 0,
    };
    if lpm.direct_bits() != bits.min(A::WIDTH) {
        return Some(format!("{name} has {} direct bits", lpm.direct_bits()));
    }
    let (at, got) = first_wrong_of(&*lpm, probes, expected)?;
    let (probe, expected) = (probes[at], expected[at]);
    Some(format!("{name} says {got} for {probe:?}, not {expected}"))
}

/// Whether a full table may be more than the structure can number.
fn has_limits(name: &str) -> bool {
    name.starts_with("dxr") || ["dir-24-8", "sail"].contains(&name)
}

/// The first address for which a lookup, a batch lookup or a chain does not say
/// what is expected, and what it says.
pub(crate) fn first_wrong_of<A: Address>(
    lpm: &dyn Lpm<A>,
    probes: &[A],
    expected: &[u32],
) -> Option<(usize, u32)> {
    assert_eq!(probes.len(), expected.len());
    let singles: Vec<u32> = probes.iter().map(|&probe| lpm.lookup(probe)).collect();
    let mut batch = vec![u32::MAX; probes.len()];
    lpm.lookup_batch(probes, &mut batch);
    // Batches of every length up to some dozens, as the ends of bursts have them.
    let mut short = vec![u32::MAX; probes.len()];
    let (mut from, mut len) = (0, 1);
    while from < probes.len() {
        let to = probes.len().min(from + len % 70);
        lpm.lookup_batch(&probes[from..to], &mut short[from..to]);
        (from, len) = (to, len + 1);
    }
    let wrong = [singles, batch, short].iter().find_map(|answers| {
        let mut pairs = answers.iter().zip(expected).enumerate();
        pairs.find_map(|(at, (answer, expected))| (answer != expected).then_some((at, *answer)))
    });
    wrong.or_else(|| {
        let answer = lpm.lookup_chain(probes);
        let last = probes.len().checked_sub(1)?;
        (answer != expected[last]).then_some((last, answer))
    })
}
