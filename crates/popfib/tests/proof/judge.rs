//! All forms of one table compared with the oracle: the library's, or those that the including crate's `forms` lists.

use crate::forms::{self, Form, Key};
use crate::oracle::{Oracle, Route};
use crate::probes::{bits, key};
use popfib::{Address, NextHop, Prefix, Rib};

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

/// A table compiled in some form.
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
/// Asks the Rib, every one of `forms` with every one of `direct_bits`, and what else the crate has.
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
    let others = forms::others_fault(&rib, probes, &expected);
    if others.is_some() {
        return others;
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
