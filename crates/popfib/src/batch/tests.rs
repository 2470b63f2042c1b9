//! Every kernel that this CPU can run against `Fib::lookup`, on tables of every shape.

#[cfg(all(feature = "std", target_os = "linux"))]
mod guard;
#[cfg(feature = "std")]
mod race;

use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;
use std::println;

use super::{Kernel, KernelError, KernelKind, LAST_RUN};
use crate::address::STRIDE;
use crate::fib::arrays::{FibView, FibWord, IDLE_BLOCK, words};
use crate::fib::layout::{HALF, HALF_END, NODE};
use crate::fib::lookup::lookup_each;
use crate::memory::Global;
use crate::next_hop::MAX_NEXT_HOP;
use crate::rounds::rounds;
use crate::{Address, Fib, NextHop, Options, Prefix, Rib, Size};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    fn address<A: Address>(&mut self) -> A {
        A::truncate(u128::from(self.bits()) << 64 | u128::from(self.bits()))
    }
}

/// The kernels to test; says on standard output which can't be.
fn kernels() -> Vec<Kernel> {
    let available: Vec<Kernel> = Kernel::list().collect();
    for name in Kernel::ALL_NAMES {
        if !available.iter().any(|kernel| kernel.name() == *name) {
            println!("skipped: kernel {name}: this CPU can't run it");
        }
    }
    available
}

/// Routes under few short prefixes, so that blocks fill and nest down to the
/// last bit; next hops up to `max`, which one route has.
fn rib<A: Address>(random: &mut Random, count: usize, max: u32) -> Rib<A> {
    let anchors: [A; 4] = core::array::from_fn(|_| random.address());
    let mut rib = Rib::new();
    for n in 0..count {
        let len = random.below(u64::from(A::WIDTH) + 1) as u8;
        let shared = random.below(u64::from(len) + 1) as u8;
        let anchor = anchors[random.below(4) as usize];
        let bits = (anchor & A::mask(shared)) | (random.address::<A>() & !A::mask(shared));
        let next_hop = if n == 0 {
            max
        } else {
            1 + random.below(u64::from(max)) as u32
        };
        let prefix = Prefix::new(bits & A::mask(len), len).expect("no host bits");
        rib.insert(prefix, NextHop::new(next_hop).expect("not 0"));
    }
    rib
}

/// `count` addresses: ends of routes, their neighbours, and any.
fn probes<A: Address>(random: &mut Random, rib: &Rib<A>, count: usize) -> Vec<A> {
    let routes: Vec<Prefix<A>> = rib.iter().map(|(prefix, _)| prefix).collect();
    (0..count)
        .map(|_| {
            if routes.is_empty() || random.below(4) == 0 {
                return random.address();
            }
            let prefix = routes[random.below(routes.len() as u64) as usize];
            let (first, last) = (prefix.first(), prefix.last());
            match random.below(5) {
                0 => first,
                1 => last,
                2 => first.checked_previous().unwrap_or(last),
                3 => last.checked_next().unwrap_or(first),
                _ => first | (random.address::<A>() & !A::mask(prefix.len())),
            }
        })
        .collect()
}

/// Holds each kernel against `lookup`, on all of `probes` at once and as bytes;
/// if asked, on every slice of 0 to 200 of them from each of the first 64 on.
fn compare<A: Address>(fib: &Fib<A>, probes: &[A], slices: bool) {
    fib.check().expect("a compiled Fib is whole");
    let expected: Vec<u32> = probes.iter().map(|probe| fib.lookup(*probe)).collect();
    let bytes: Vec<A::Bytes> = probes.iter().map(|probe| probe.to_be_bytes()).collect();
    let untouched = MAX_NEXT_HOP;
    for kernel in kernels() {
        let mut answers = vec![untouched; probes.len()];
        fib.lookup_batch_with(kernel, probes, &mut answers);
        assert_eq!(answers, expected, "{kernel}");
        answers.fill(untouched);
        kernel.lookup_batch_be::<A>(fib.arrays(), &bytes, &mut answers);
        assert_eq!(answers, expected, "{kernel}, of bytes");
        if !slices {
            continue;
        }
        for offset in 0..rounds(16, 64) {
            for len in 0..=200 {
                let (end, room) = (offset + len, &mut answers[..len + 1]);
                room.fill(untouched);
                fib.lookup_batch_with(kernel, &probes[offset..end], &mut room[..len]);
                assert_eq!(
                    room[..len],
                    expected[offset..end],
                    "{kernel}, {offset}+{len}"
                );
                assert_eq!(room[len], untouched, "{kernel} writes beyond the slice");
            }
        }
    }
}

fn every_number_of_direct_bits<A: Address>() {
    let mut random = Random(u64::from(A::WIDTH));
    for direct_bits in 0..=A::WIDTH.min(rounds(20, 24)) {
        let options = Options::default().direct_bits(Some(direct_bits));
        let rib = rib::<A>(&mut random, 3000, 500);
        let probes = probes(&mut random, &rib, 3001);
        let fib = Fib::<A>::compile(&rib, &options).expect("fits");
        let slices = rounds(direct_bits == 5, matches!(direct_bits, 0 | 5 | 18));
        compare(&fib, &probes, slices);
    }
}

/// Next hops of every number of bits, in tables and in blocks.
fn every_width_of_values<A: Address>() {
    let mut random = Random(1);
    for bits in 1..=MAX_NEXT_HOP.ilog2() + 1 {
        for max in [1 << (bits - 1), u32::MAX >> (32 - bits)] {
            let rib = rib::<A>(&mut random, 700, max);
            let probes = probes(&mut random, &rib, 1000);
            let options = Options::default().direct_bits(Some((bits % 9) as u8));
            let fib = Fib::<A>::compile(&rib, &options).expect("fits");
            compare(&fib, &probes, false);
        }
    }
}

/// No routes; a default route; one host; and routes below all 64 bits that
/// vectors hold of a key.
fn odd_tables<A: Address>() {
    let mut random = Random(2);
    let one = NextHop::MIN;
    let empty = Rib::<A>::new();
    let mut default_only = Rib::new();
    default_only.insert(Prefix::DEFAULT_ROUTE, one);
    let mut host = Rib::new();
    let at = random.address::<A>();
    host.insert(Prefix::new(at, A::WIDTH).expect("a host"), one);
    let mut deep = Rib::new();
    for len in 1..=A::WIDTH {
        let next_hop = NextHop::new(len.into()).expect("not 0");
        deep.insert(
            Prefix::new(at & A::mask(len), len).expect("masked"),
            next_hop,
        );
    }
    for rib in [empty, default_only, host, deep] {
        let mut probes = probes(&mut random, &rib, 200);
        probes.extend([at, A::MIN, A::MAX].repeat(30));
        for direct_bits in [0, 1, 6, 7, 8, 16, 17, rounds(20, 24)] {
            if direct_bits > A::WIDTH {
                continue;
            }
            let options = Options::default().direct_bits(Some(direct_bits));
            compare(&Fib::compile(&rib, &options).expect("fits"), &probes, false);
        }
    }
}

/// Flat tables, of both widths of entries, beside those that are not.
fn flat_tables<A: Address>() {
    let mut random = Random(5 + u64::from(A::WIDTH));
    let mut widths = [0; 2];
    let is_long = A::WIDTH > 32;
    let last = (A::WIDTH - STRIDE).min(18);
    let first = if is_long { 0 } else { 1 };
    for root_bits in (first..=last.min(rounds(12, 18))).chain(is_long.then_some(24)) {
        for (count, max) in [
            (0, 1),
            (1, 1),
            (40, 3),
            (3000, 500),
            (3000, HALF_END - 1),
            (3000, MAX_NEXT_HOP),
        ] {
            let rib = match count {
                0 => Rib::new(),
                _ => rib::<A>(&mut random, count, max),
            };
            let options = Options::default()
                .direct_bits(Some(root_bits))
                .aggregation(random.below(2) == 0)
                .size(Size::Smallest);
            let plain = Fib::<A>::compile(&rib, &options).expect("fits");
            let compile = |max| Fib::<A>::flat(&rib, &options, max, Global).expect("fits");
            let flat = compile(usize::MAX).expect("there is no limit");
            let probes = probes(&mut random, &rib, 2001);
            let expected: Vec<u32> = probes.iter().map(|probe| plain.lookup(*probe)).collect();
            let found: Vec<u32> = probes.iter().map(|probe| flat.lookup(*probe)).collect();
            assert_eq!(found, expected, "{root_bits} bits, {count} routes");
            assert_eq!(flat.direct_bits(), root_bits);
            compare(&flat, &probes, root_bits == 5 && count == 3000);
            let bytes = flat.bytes();
            assert!(compile(bytes).is_some());
            // Of long keys, tables without blocks have a root only.
            assert!(is_long && count < 40 || compile(bytes / 2).is_none());
            let is_half = |entry: &FibWord| entry.load(Relaxed) & HALF != 0;
            let halves = flat
                .arrays()
                .root
                .iter()
                .filter(|entry| is_half(entry))
                .count();
            widths[0] += halves;
            widths[1] += flat.arrays().root.len() - halves;
        }
    }
    assert!(widths[1] > 0 && (is_long || widths[0] > 0), "{widths:?}");
}

/// The tests of a key.
macro_rules! suite {
    ($($name:ident: $key:ty;)+) => {$(
        mod $name {
            #[test]
            fn every_number_of_direct_bits() {
                super::every_number_of_direct_bits::<$key>();
            }

            #[test]
            fn every_width_of_values() {
                super::every_width_of_values::<$key>();
            }

            #[test]
            fn odd_tables() {
                super::odd_tables::<$key>();
            }
        }
    )+};
}

suite! {
    key_u8: u8;
    key_u16: u16;
    key_u32: u32;
    key_u64: u64;
    key_u128: u128;
}

/// The tests of flat tables.
macro_rules! flat_suite {
    ($($name:ident: $key:ty;)+) => {$(
        #[test]
        fn $name() {
            flat_tables::<$key>();
        }
    )+};
}

flat_suite! {
    flat_tables_of_u8: u8;
    flat_tables_of_u16: u16;
    flat_tables_of_u32: u32;
    flat_tables_of_u64: u64;
    flat_tables_of_u128: u128;
}

/// No compiled Fib has them, since a leaf has one bit less; the layout may.
#[test]
fn values_of_32_bits() {
    let mut random = Random(3);
    let values: Vec<u32> = (0..64).map(|_| random.bits() as u32 & !NODE).collect();
    let arena = [&IDLE_BLOCK, &[!0, !0][..], &values].concat();
    let view = FibView {
        root: &words(vec![NODE | IDLE_BLOCK.len() as u32]),
        arena: &words(arena),
        root_bits: 0,
        page_bits: 0,
        value_bits: 32,
        is_flat: false,
    };
    let probes: Vec<u32> = (0..100).map(|_| random.address()).collect();
    let expected: Vec<u32> = probes.iter().map(|p| values[(p >> 26) as usize]).collect();
    for kernel in kernels() {
        let mut answers = vec![0u32; probes.len()];
        kernel.lookup_batch(view, &probes, &mut answers);
        assert_eq!(answers, expected, "{kernel}");
    }
    let mut answers = vec![0u32; probes.len()];
    lookup_each(view, &probes, &mut answers);
    assert_eq!(answers, expected);
}

fn small_fib() -> Fib<u32> {
    let mut random = Random(4);
    Fib::compile(&rib(&mut random, 100, 9), &Options::default()).expect("fits")
}

/// What ran is what was asked for: each kernel's own function says so.
#[test]
fn the_kernel_asked_for_runs() {
    let fib = small_fib();
    for kernel in kernels() {
        LAST_RUN.set(None);
        fib.lookup_batch_with(kernel, &[1; 100], &mut [0; 100]);
        assert_eq!(LAST_RUN.get(), Some(kernel.0), "{kernel}");
        assert_eq!(Kernel::by_name(kernel.name()), Ok(kernel));
    }
    LAST_RUN.set(None);
    fib.lookup_batch(&[1; 100], &mut [0; 100]);
    assert_eq!(LAST_RUN.get(), Some(Kernel::best().0));
    LAST_RUN.set(None);
    fib.lookup_batch_be(&[[0, 0, 0, 1]; 100], &mut [0; 100]);
    assert_eq!(LAST_RUN.get(), Some(Kernel::best().0));
}

#[cfg(feature = "std")]
#[test]
fn the_last_kernel_is_taken() {
    if std::env::var_os("POPFIB_KERNEL").is_none() {
        assert_eq!(Some(&Kernel::best()), kernels().last());
    }
}

#[test]
fn unknown_and_unavailable_names_are_errors() {
    for name in ["", "Scalar", "avx", "scalar ", "avx512\n"] {
        let error = Kernel::by_name(name).expect_err(name);
        assert_eq!(error, KernelError::Unknown { name: name.into() });
        let line = alloc::format!("{error}");
        assert!(
            Kernel::ALL_NAMES.iter().all(|name| line.contains(name)),
            "{line}"
        );
        assert!(!line.contains('\n'), "{line}");
    }
    for kind in KernelKind::ALL {
        match Kernel::by_name(kind.name()) {
            Ok(kernel) => assert!(Kernel::list().any(|listed| listed == kernel)),
            Err(error) => {
                let name = kind.name();
                assert_eq!(error, KernelError::Unavailable { name });
                assert!(Kernel::list().all(|listed| listed.0 != kind));
            }
        }
    }
}

#[test]
#[should_panic(expected = "one next hop for each address")]
fn slices_of_different_lengths_panic() {
    small_fib().lookup_batch(&[1, 2], &mut [0]);
}

/// `Kernel::best` reads the environment once, so each name takes a process: this
/// test's own program, which runs this test alone.
#[cfg(feature = "std")]
#[test]
fn the_environment_forces_a_kernel() {
    use std::env;
    use std::string::{String, ToString};
    const WANTED: &str = "POPFIB_TEST_WANTED_KERNEL";
    if let Ok(wanted) = env::var(WANTED) {
        LAST_RUN.set(None);
        small_fib().lookup_batch(&[1; 100], &mut [0; 100]);
        assert_eq!(LAST_RUN.get().map(KernelKind::name), Some(&*wanted));
        return;
    }
    let starts = std::process::Command::new(env::current_exe().expect("a program"))
        .arg("--list")
        .output()
        .is_ok_and(|output| output.status.success());
    if !starts {
        std::println!("skipped: a forced kernel: no program can be started, as by an emulator");
        return;
    }
    let name = "batch::tests::the_environment_forces_a_kernel";
    let run = |kernel: &str| {
        let output = std::process::Command::new(env::current_exe().expect("a program"))
            .args(["--exact", name, "--nocapture"])
            .env("POPFIB_KERNEL", kernel)
            .env(WANTED, kernel)
            .output()
            .expect("the program runs");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).to_string();
        (output.status.success(), text)
    };
    for kernel in kernels() {
        let (success, text) = run(kernel.name());
        assert!(success && text.contains("1 passed"), "{text}");
    }
    let (success, text) = run("fastest");
    assert!(
        !success && text.contains("POPFIB_KERNEL: no kernel `fastest`: "),
        "{text}"
    );
}
