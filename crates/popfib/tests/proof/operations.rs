//! Typed operations on a Rib, its Fibs, live tables and maps, judged after every step by the oracle.
//!
//! The fuzz target `operations` runs whatever `arbitrary` makes of the bytes
//! that the fuzzer invents; `replay` runs the kept ones on every test run. Both
//! include this very file.

use crate::forms::Form;
use crate::live::Live;
use crate::maps::Maps;
use crate::oracle::{Oracle, Route};
use arbitrary::{Arbitrary, Unstructured};
use popfib::{Address, CompileError, NextHop, Prefix, Rib};

/// A key width and what to do.
#[derive(Debug)]
pub(crate) struct Input {
    key: Key,
    operations: Vec<Operation>,
}

impl<'a> Arbitrary<'a> for Input {
    /// Operations to the end of the bytes; a derived list would stop at half of all bytes.
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let key = bytes.arbitrary()?;
        let mut operations = Vec::new();
        while !bytes.is_empty() && operations.len() < MOST_OPERATIONS {
            operations.push(bytes.arbitrary()?);
        }
        Ok(Self { key, operations })
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Key {
    U8,
    U16,
    U32,
    U128,
}

/// An address: a new one, or one met before with one bit changed. Without the
/// second kind the fuzzer would hardly ever find two routes that meet.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Place {
    New(u128),
    Near { earlier: u8, flip: u8 },
}

/// A prefix: any, or that of a route that is there.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Target {
    Any { place: Place, len: u8 },
    Held(u8),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Operation {
    Insert {
        place: Place,
        len: u8,
        next_hop: NextHops,
    },
    Replace {
        target: Target,
        next_hop: NextHops,
    },
    Remove(Target),
    Get(Target),
    Lookup(Place),
    LongestMatch(Place),
    Iterate,
    /// Clears if `sure` is 0: too often would leave no table ever grow.
    Clear {
        sure: u8,
    },
    Compile {
        direct_bits: Option<u8>,
        form: u8,
    },
}

/// Few next hops, so that neighbours are merged, or any.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum NextHops {
    Few(bool),
    Any(u16),
}

impl NextHops {
    /// 1 to 65,536: one more than 16 bits hold.
    fn number(self) -> NextHop {
        match self {
            Self::Few(other) => NextHop::MIN.saturating_add(other.into()),
            Self::Any(number) => NextHop::MIN.saturating_add(number.into()),
        }
    }
}

/// More would make the linear scans slow and finds nothing new.
const MOST_OPERATIONS: usize = 400;

/// Runs the operations; panics at the first wrong answer. Returns how many there were.
pub(crate) fn run(input: &Input) -> usize {
    let operations = &input.operations;
    match input.key {
        Key::U8 => Run::<u8>::default().all(operations),
        Key::U16 => Run::<u16>::default().all(operations),
        Key::U32 => Run::<u32>::default().all(operations),
        Key::U128 => Run::<u128>::default().all(operations),
    }
    operations.len()
}

#[derive(Default)]
struct Run<A: Address> {
    rib: Rib<A>,
    live: Live<A>,
    maps: Maps<A>,
    oracle: Oracle,
    /// Every address met so far, left-aligned.
    met: Vec<u128>,
}

impl<A: Address> Run<A> {
    fn all(&mut self, operations: &[Operation]) {
        for &operation in operations {
            self.step(operation);
        }
        self.iterate();
        self.compile(Form::new(2), None);
    }

    fn address(&mut self, place: Place) -> u128 {
        let bits = match place {
            Place::Near { earlier, flip } if !self.met.is_empty() => {
                let earlier = self.met[usize::from(earlier) % self.met.len()];
                earlier ^ 1 << (127 - flip % A::WIDTH)
            }
            Place::New(bits) => bits,
            Place::Near { flip, .. } => flip.into(),
        };
        let bits = Route::new(bits, A::WIDTH, 0).bits;
        self.met.push(bits);
        bits
    }

    fn key(bits: u128) -> A {
        A::truncate(bits >> (128 - A::WIDTH))
    }

    fn route(&mut self, place: Place, len: u8, next_hop: u32) -> (Route, Prefix<A>) {
        let bits = self.address(place);
        let route = Route::new(bits, len % (A::WIDTH + 1), next_hop);
        let prefix = Prefix::new_masked(Self::key(bits), route.len).unwrap();
        assert_eq!(prefix.address(), Self::key(route.bits));
        (route, prefix)
    }

    fn target(&mut self, target: Target) -> (Route, Prefix<A>) {
        match target {
            Target::Held(index) if !self.rib.is_empty() => {
                let routes = self.oracle.sorted();
                let route = routes[usize::from(index) % routes.len()];
                let prefix = Prefix::new(Self::key(route.bits), route.len).unwrap();
                (route, prefix)
            }
            Target::Held(len) => self.route(Place::New(0), len, 0),
            Target::Any { place, len } => self.route(place, len, 0),
        }
    }

    fn insert(&mut self, (route, prefix): (Route, Prefix<A>), next_hop: NextHop) {
        let old = self.rib.insert(prefix, next_hop);
        let around = self.around(prefix);
        self.live.announce(prefix, next_hop, old, &around);
        let replaced = old.map(NextHop::get);
        let number = next_hop.get();
        let changed = Route {
            next_hop: number,
            ..route
        };
        assert_eq!(replaced, self.oracle.insert(changed));
        let asked = (&around[..], &self.oracle);
        self.maps.insert(prefix, next_hop, old, asked);
        assert_eq!(self.rib.get(prefix).map(NextHop::get), Some(number));
    }

    /// Both ends of `prefix`, what is next to them, and some of the addresses met last.
    fn around(&self, prefix: Prefix<A>) -> Vec<A> {
        let (first, last) = (prefix.first(), prefix.last());
        let ends = [
            first.checked_previous(),
            Some(first),
            Some(last),
            last.checked_next(),
        ];
        let met = self.met.iter().rev().take(60).map(|bits| Self::key(*bits));
        ends.into_iter().flatten().chain(met).collect()
    }

    fn step(&mut self, operation: Operation) {
        match operation {
            Operation::Insert {
                place,
                len,
                next_hop,
            } => {
                let at = self.route(place, len, 0);
                self.insert(at, next_hop.number());
            }
            Operation::Replace { target, next_hop } => {
                let at = self.target(target);
                self.insert(at, next_hop.number());
            }
            Operation::Remove(target) => {
                let (route, prefix) = self.target(target);
                let old = self.rib.remove(prefix);
                let around = self.around(prefix);
                self.live.withdraw(prefix, old, &around);
                let removed = old.map(NextHop::get);
                assert_eq!(removed, self.oracle.remove(route));
                self.maps.remove(prefix, old, (&around, &self.oracle));
                assert_eq!(self.rib.get(prefix), None);
            }
            Operation::Get(target) => {
                let (route, prefix) = self.target(target);
                let found = self.rib.get(prefix).map(NextHop::get);
                assert_eq!(found, self.oracle.get(route));
            }
            Operation::Lookup(place) => {
                let bits = self.address(place);
                let found = self.rib.lookup(Self::key(bits)).map(NextHop::get);
                let expected = self.oracle.longest_match(bits);
                assert_eq!(found, expected.map(|r| r.next_hop));
            }
            Operation::LongestMatch(place) => {
                let bits = self.address(place);
                let found = self.rib.longest_match(Self::key(bits));
                let expected = self.oracle.longest_match(bits);
                let plain = |(p, n): (Prefix<A>, NextHop)| (p.address(), p.len(), n.get());
                let expected = expected.map(|r| (Self::key(r.bits), r.len, r.next_hop));
                assert_eq!(found.map(plain), expected);
            }
            Operation::Iterate => self.iterate(),
            Operation::Clear { sure } if sure > 0 => {}
            Operation::Clear { .. } => {
                self.rib.clear();
                self.live.clear();
                self.maps.clear();
                self.oracle = Oracle::default();
            }
            Operation::Compile { direct_bits, form } => {
                // Up to 16, that compiling stays fast, and three that are too many.
                let s = direct_bits.map(|s| [s % 20, 25][usize::from(s % 20 > 16)]);
                self.compile(Form::new(usize::from(form) % Form::COUNT), s);
            }
        }
        assert_eq!(self.rib.is_empty(), self.oracle.sorted().is_empty());
    }

    fn iterate(&self) {
        let found = self
            .rib
            .iter()
            .map(|(p, n)| (p.address(), p.len(), n.get()));
        let expected = self.oracle.sorted();
        assert_eq!(self.rib.len(), expected.len());
        let expected = expected
            .iter()
            .map(|r| (Self::key(r.bits), r.len, r.next_hop));
        assert!(found.eq(expected), "{:?}", self.rib);
    }

    /// Compiles, checks, and asks for all that was met and for the ends of all routes.
    fn compile(&mut self, form: Form, direct_bits: Option<u8>) {
        let routes = self.oracle.sorted();
        let fib = match form.compile(&self.rib, direct_bits) {
            Ok(fib) => fib,
            Err(CompileError::DirectBits {
                direct_bits: s,
                max,
            }) => {
                assert_eq!(direct_bits, Some(s));
                assert!(s > max && max == A::WIDTH.min(24), "{s} of {max}");
                return;
            }
            Err(CompileError::NextHop { next_hop, max }) => {
                assert!(next_hop > max && max == form.max_next_hop());
                assert!(routes.iter().any(|r| r.next_hop == next_hop));
                return;
            }
            Err(error) => panic!("{error}"),
        };
        assert!(direct_bits.is_none_or(|s| s <= A::WIDTH.min(24)));
        fib.check().unwrap();
        let ends = routes.iter().flat_map(|r| [r.bits, r.last()]);
        let around = routes.iter().flat_map(|r| {
            let unit = 1 << (128 - A::WIDTH);
            [r.bits.wrapping_sub(unit), r.last().wrapping_add(unit)]
        });
        let probes: Vec<u128> = self.met.iter().copied().chain(ends).chain(around).collect();
        let keys: Vec<A> = probes.iter().map(|&bits| Self::key(bits)).collect();
        let answers: Vec<u32> = probes
            .iter()
            .map(|&bits| self.oracle.longest_match(bits).map_or(0, |r| r.next_hop))
            .collect();
        self.live.check(&keys, &answers);
        self.maps.check(&keys, &self.oracle);
        // Single lookups, and batches by every kernel.
        if let Some((at, found)) = fib.first_wrong(&keys, &answers) {
            let (probe, answer) = (probes[at], answers[at]);
            panic!("{form:?} s={direct_bits:?} says {found} for {probe:032x}, not {answer}");
        }
    }
}
