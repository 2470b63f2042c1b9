//! One table compiled in every way there is, all answers against the oracle.

use crate::oracle::{Oracle, Route};
use crate::probes::{bits, key};
use popfib::{Address, CompileError, Fib, Kernel, Leaf, NextHop, Options, Prefix, Rib};
use popfib_baselines::poptrie::{BasicNode, LeafvecNode, Node, Poptrie};
use popfib_baselines::{Baseline, CannotBuild, Key, Lpm, Width};

/// The forms of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// popfib's own: values inside the node.
    Blocks,
    /// The paper's, with leafvec.
    Leafvec,
    /// The paper's, without.
    Basic,
}

/// The choices at compile time other than the direct bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// 32-bit leaves in place of 16.
    pub(crate) wide: bool,
    pub(crate) layout: Layout,
    pub(crate) aggregation: bool,
}

impl Form {
    /// How many forms there are.
    pub(crate) const COUNT: usize = 12;

    /// Form `index` of all.
    pub(crate) const fn new(index: usize) -> Self {
        Self {
            wide: index & 1 != 0,
            aggregation: index & 2 != 0,
            layout: match index >> 2 {
                0 => Layout::Blocks,
                1 => Layout::Leafvec,
                _ => Layout::Basic,
            },
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

    /// Compiles `rib` in this form; `None` leaves the direct bits to the library.
    pub(crate) fn compile<A: Address>(
        self,
        rib: &Rib<A>,
        direct_bits: Option<u8>,
    ) -> Result<Box<dyn Compiled<A>>, CompileError> {
        let options = Options::default()
            .direct_bits(direct_bits)
            .aggregation(self.aggregation);
        Ok(match (self.wide, self.layout) {
            (false, Layout::Blocks) => Box::new(Fib::<A, u16>::compile(rib, &options)?),
            (true, Layout::Blocks) => Box::new(Fib::<A, u32>::compile(rib, &options)?),
            (false, Layout::Leafvec) => {
                Box::new(Poptrie::<A, u16, LeafvecNode>::compile(rib, &options)?)
            }
            (true, Layout::Leafvec) => {
                Box::new(Poptrie::<A, u32, LeafvecNode>::compile(rib, &options)?)
            }
            (false, Layout::Basic) => {
                Box::new(Poptrie::<A, u16, BasicNode>::compile(rib, &options)?)
            }
            (true, Layout::Basic) => {
                Box::new(Poptrie::<A, u32, BasicNode>::compile(rib, &options)?)
            }
        })
    }
}

/// The forms to try with `direct_bits`: all, or two that complement each other
/// where the direct table alone takes megabytes. Which two goes by `turn`.
pub(crate) fn affordable(direct_bits: u8, turn: usize) -> Vec<Form> {
    if direct_bits <= 18 {
        Form::ALL.to_vec()
    } else {
        let turn = turn % Form::COUNT;
        vec![Form::new(turn), Form::new(Form::COUNT - 1 - turn)]
    }
}

/// A Fib of any form.
pub(crate) trait Compiled<A> {
    /// What `Fib::check` says, as text.
    fn check(&self) -> Result<(), String>;
    fn direct_bits(&self) -> u8;
    fn nodes(&self) -> usize;
    fn leaves(&self) -> usize;
    fn bytes(&self) -> usize;
    fn lookup(&self, address: A) -> u32;
    /// The first address for which `lookup` or a batch lookup, by any kernel that
    /// this CPU runs, does not say what is expected, and what it says.
    fn first_wrong(&self, probes: &[A], expected: &[u32]) -> Option<(usize, u32)>;
}

macro_rules! compiled {
    (<$($parameter:ident: $bound:ident),*> $type:ty, $batches:expr) => {
        impl<$($parameter: $bound),*> Compiled<A> for $type {
            fn check(&self) -> Result<(), String> {
                <$type>::check(self).map_err(|error| error.to_string())
            }

            fn direct_bits(&self) -> u8 {
                <$type>::direct_bits(self)
            }

            fn nodes(&self) -> usize {
                self.node_count()
            }

            fn leaves(&self) -> usize {
                self.leaf_count()
            }

            fn bytes(&self) -> usize {
                <$type>::bytes(self)
            }

            fn lookup(&self, address: A) -> u32 {
                <$type>::lookup(self, address).to_u32()
            }

            fn first_wrong(&self, probes: &[A], expected: &[u32]) -> Option<(usize, u32)> {
                assert_eq!(probes.len(), expected.len());
                let singles = probes.iter().map(|&probe| <$type>::lookup(self, probe));
                let mut answers = vec![singles.collect::<Vec<L>>()];
                let batches: fn(&$type, &[A], &mut Vec<Vec<L>>) = $batches;
                batches(self, probes, &mut answers);
                answers.iter().find_map(|answers| {
                    let mut pairs = answers.iter().zip(expected).enumerate();
                    pairs.find_map(|(at, (answer, &expected))| {
                        let answer = answer.to_u32();
                        (answer != expected).then_some((at, answer))
                    })
                })
            }
        }
    };
}

compiled!(<A: Address, L: Leaf> Fib<A, L>, |fib, probes, answers| {
    for kernel in Kernel::list() {
        let mut batch = vec![L::default(); probes.len()];
        fib.lookup_batch_with(kernel, probes, &mut batch);
        answers.push(batch);
    }
    let bytes: Vec<_> = probes.iter().map(|probe| probe.to_be_bytes()).collect();
    let mut batch = vec![L::default(); probes.len()];
    fib.lookup_batch_be(&bytes, &mut batch);
    answers.push(batch);
});
compiled!(<A: Address, L: Width, N: Node> Poptrie<A, L, N>, |poptrie, probes, answers| {
    let mut batch = vec![L::default(); probes.len()];
    poptrie.lookup_batch(probes, &mut batch);
    answers.push(batch);
});

/// The prefix of a route as the library writes it.
pub(crate) fn prefix<A: Address>(route: Route) -> Prefix<A> {
    Prefix::new(key(route.bits), route.len).expect("the generators make canonical prefixes")
}

/// A Rib of `routes`; a later one replaces an earlier one of the same prefix.
pub(crate) fn rib<A: Address>(routes: &[Route]) -> Rib<A> {
    let mut rib = Rib::new();
    for &route in routes {
        rib.insert(prefix(route), NextHop::new(route.next_hop).unwrap());
    }
    rib
}

/// What is wrong with the library's answers for this table; `None` if nothing is.
///
/// Asks the Rib, every one of `forms` with every one of `direct_bits`, and every other algorithm.
pub(crate) fn fault<A: Key>(
    routes: &[Route],
    forms: &[Form],
    direct_bits: &[Option<u8>],
    probes: &[A],
) -> Option<String> {
    let rib = rib::<A>(routes);
    let mut oracle = Oracle::default();
    for &route in routes {
        oracle.insert(route);
    }
    let mut expected = Vec::with_capacity(probes.len());
    for &probe in probes {
        let route = oracle.longest_match(bits(probe));
        let want = route.map(|r| (prefix(r), NextHop::new(r.next_hop).unwrap()));
        let got = rib.longest_match(probe);
        if got != want {
            return Some(format!(
                "Rib::longest_match({probe:?}) is {got:?}, not {want:?}"
            ));
        }
        let got = rib.lookup(probe);
        if got != want.map(|(_, next_hop)| next_hop) {
            return Some(format!("Rib::lookup({probe:?}) is {got:?}, not {want:?}"));
        }
        expected.push(route.map_or(0, |r| r.next_hop));
    }
    let highest = routes.iter().map(|r| r.next_hop).max().unwrap_or(0);
    let of_baselines = Baseline::ALL
        .into_iter()
        .find_map(|baseline| baseline_fault(baseline, &rib, highest, probes, &expected));
    if of_baselines.is_some() {
        return of_baselines;
    }
    for &s in direct_bits {
        for form in forms {
            let fib = match form.compile(&rib, s) {
                Ok(fib) => fib,
                Err(error) => return Some(format!("{form:?} s={s:?} does not compile: {error}")),
            };
            if let Err(error) = fib.check() {
                return Some(format!("{form:?} s={s:?} fails its check: {error}"));
            }
            if s.is_some_and(|s| s != fib.direct_bits()) {
                return Some(format!("{form:?} s={s:?} has {} bits", fib.direct_bits()));
            }
            if let Some((at, got)) = fib.first_wrong(probes, &expected) {
                return Some(format!(
                    "{form:?} s={s:?} says {got} for {:?}, not {}",
                    probes[at], expected[at]
                ));
            }
        }
    }
    None
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
        Err(error) => return Some(format!("{name} does not build: {error}")),
    };
    if lpm.name() != name {
        return Some(format!("{name} calls itself {}", lpm.name()));
    }
    let (at, got) = first_wrong_of(&*lpm, probes, expected)?;
    let (probe, expected) = (probes[at], expected[at]);
    Some(format!("{name} says {got} for {probe:?}, not {expected}"))
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

/// Panics if [`fault`] finds something, with the fewest routes that still show it.
pub(crate) fn prove<A: Key>(
    routes: &[Route],
    forms: &[Form],
    direct_bits: &[Option<u8>],
    probes: &[A],
) {
    let Some(mut found) = fault(routes, forms, direct_bits, probes) else {
        return;
    };
    let mut routes = routes.to_vec();
    let mut at = 0;
    while at < routes.len() {
        let mut fewer = routes.clone();
        fewer.remove(at);
        match fault(&fewer, forms, direct_bits, probes) {
            Some(still) => (found, routes) = (still, fewer),
            None => at += 1,
        }
    }
    let routes: Vec<String> = routes
        .iter()
        .map(|&route| format!("{} {}", prefix::<A>(route), route.next_hop))
        .collect();
    panic!("{found}\nroutes: {routes:?}");
}

/// Every number of direct bits that a key of this width can have.
pub(crate) fn every_direct_bits<A: Address>() -> impl Iterator<Item = u8> {
    0..=A::WIDTH.min(24)
}

/// Calls a function of a key type with the smallest key that holds `$width` bits.
macro_rules! with_key {
    ($width:expr, $function:ident($($argument:expr),*)) => {
        match $width {
            0..=8 => $function::<u8>($($argument),*),
            9..=16 => $function::<u16>($($argument),*),
            17..=32 => $function::<u32>($($argument),*),
            33..=64 => $function::<u64>($($argument),*),
            _ => $function::<u128>($($argument),*),
        }
    };
}
pub(crate) use with_key;
