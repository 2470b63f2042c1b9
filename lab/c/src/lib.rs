//! Bulk lookups by a Rust program, as a library that `bench.c` calls: only whole passes go through C, and each burst
//! within is a call of Rust by Rust.

use core::ffi::c_void;
use core::hint::black_box;
use core::slice;

use popfib::live::{Guard, Reader};
use popfib::{Address, LiveFib, NextHop, Options, Prefix};

/// `struct file_route`.
#[repr(C)]
struct Route {
    prefix: [u8; 16],
    length: u8,
    zeros: [u8; 3],
    next_hop: u32,
}

/// A table and a reader that is online.
enum Bench {
    Ipv4(Guard<'static, u32>),
    Ipv6(Guard<'static, u128>),
}

fn guard<A: Address>(routes: &[Route]) -> Guard<'static, A> {
    let mut live: LiveFib<A> = LiveFib::new(Options::default()).expect("an empty table");
    // Route by route, as C does: the table then lies in memory alike.
    for route in routes {
        let address = A::truncate(u128::from_be_bytes(route.prefix) >> (128 - A::WIDTH));
        let prefix = Prefix::new(address, route.length).expect("a prefix");
        let next_hop = NextHop::new(route.next_hop).expect("a next hop");
        live.announce(prefix, next_hop).expect("memory");
    }
    // Readers keep what they look up in; this one stays until the program ends.
    let reader: &mut Reader<A> = Box::leak(Box::new(live.reader()));
    reader.pin()
}

/// Makes a table.
///
/// # Safety
/// There are `count` routes.
#[unsafe(no_mangle)]
unsafe extern "C" fn rust_bench_table(
    family: u32,
    routes: *const c_void,
    count: usize,
) -> *mut c_void {
    // SAFETY: the caller's.
    let routes = unsafe { slice::from_raw_parts(routes.cast::<Route>(), count) };
    let bench = if family == 4 {
        Bench::Ipv4(guard(routes))
    } else {
        Bench::Ipv6(guard(routes))
    };
    Box::into_raw(Box::new(bench)).cast()
}

/// # Safety
/// As for [`rust_bench_pass`], for `A`.
unsafe fn pass<A: Address>(
    guard: &Guard<'_, A>,
    addresses: *const c_void,
    count: usize,
    next_hops: &mut [u32],
    network: bool,
) {
    if network {
        // SAFETY: the caller's.
        let addresses = unsafe { slice::from_raw_parts(addresses.cast::<A::Bytes>(), count) };
        for addresses in addresses.chunks_exact(next_hops.len()) {
            guard.lookup_batch_be(addresses, next_hops);
            black_box(&mut *next_hops);
        }
    } else {
        // SAFETY: the caller's.
        let addresses = unsafe { slice::from_raw_parts(addresses.cast::<A>(), count) };
        for addresses in addresses.chunks_exact(next_hops.len()) {
            guard.lookup_batch(addresses, next_hops);
            black_box(&mut *next_hops);
        }
    }
}

/// Looks up all addresses, `burst` at a time, always into the same place.
///
/// # Safety
/// `bench` is from `rust_bench_table`; there are `count` addresses, aligned, and room for `burst` next hops.
#[unsafe(no_mangle)]
unsafe extern "C" fn rust_bench_pass(
    bench: *const c_void,
    addresses: *const c_void,
    count: usize,
    next_hops: *mut u32,
    burst: usize,
    network: bool,
) {
    // SAFETY: the caller's.
    unsafe {
        let next_hops = slice::from_raw_parts_mut(next_hops, burst);
        match &*bench.cast::<Bench>() {
            Bench::Ipv4(guard) => pass(guard, addresses, count, next_hops, network),
            Bench::Ipv6(guard) => pass(guard, addresses, count, next_hops, network),
        }
    }
}
