//! The limits of the baselines: a table exactly at one builds and answers, one
//! more does not and says why.

use crate::forms::first_wrong_of;
use crate::judge::rib;
use crate::oracle::Route;
use crate::probes;
use crate::segments::Segments;
use crate::tables::Random;
use popfib_baselines::{Baseline, CannotBuild, Key};

/// The route of the first `len` bits of an IPv4 address.
fn ipv4(address: u32, len: u8, next_hop: u32) -> Route {
    Route::new(u128::from(address) << 96, len, next_hop)
}

/// Builds, and answers at every boundary.
fn builds<A: Key>(baseline: Baseline, routes: &[Route]) {
    let rib = rib::<A>(routes);
    let lpm = baseline
        .build(&rib)
        .unwrap_or_else(|error| panic!("{}: {error}", baseline.name()));
    let mut sorted = routes.to_vec();
    sorted.sort_unstable();
    let segments = Segments::new(&sorted);
    let probes = probes::mixed::<A>(&mut Random::new(20), &sorted, 10_000);
    let expected: Vec<u32> = probes
        .iter()
        .map(|&probe| {
            let route = segments.longest_match(probes::bits(probe));
            route.map_or(0, |route| route.next_hop)
        })
        .collect();
    let wrong = first_wrong_of(&*lpm, &probes, &expected);
    assert_eq!(wrong, None, "{}", baseline.name());
}

/// Does not build; the error, which is one line.
fn refuses<A: Key>(baseline: Baseline, routes: &[Route]) -> CannotBuild {
    let error = baseline
        .build(&rib::<A>(routes))
        .err()
        .unwrap_or_else(|| panic!("{} builds", baseline.name()));
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains('\n'), "{text}");
    error
}

fn too_many(what: &'static str, max: u64) -> CannotBuild {
    CannotBuild::TooMany { what, max }
}

#[test]
fn next_hops() {
    for (baseline, max) in [
        (Baseline::Dir24x8, 32_767),
        (Baseline::Sail, 32_767),
        (Baseline::Dxr16, 65_535),
        (Baseline::Dxr18, 65_535),
        (Baseline::Dxr18Modified, 65_535),
    ] {
        for len in [0, 8, 16, 20, 24, 28, 32] {
            let covering = ipv4(0, 0, 1);
            builds::<u32>(baseline, &[covering, ipv4(0x0a01_0203, len, max)]);
            let next_hop = max + 1;
            let routes = [ipv4(0x0a01_0203, len, next_hop)];
            let expected = CannotBuild::NextHop { next_hop, max };
            assert_eq!(refuses::<u32>(baseline, &routes), expected);
        }
    }
    for baseline in Baseline::ALL {
        let is_wide =
            !["dir-24-8", "sail"].contains(&baseline.name()) && !baseline.name().starts_with("dxr");
        if is_wide {
            let highest = (1 << 31) - 1;
            builds::<u32>(baseline, &[ipv4(0, 0, highest), ipv4(1 << 31, 3, 70_000)]);
        }
    }
}

#[test]
fn families() {
    let routes = [Route::new(0, 0, 1)];
    for baseline in [Baseline::Dir24x8, Baseline::Sail, Baseline::Dxr18Modified] {
        let error = refuses::<u128>(baseline, &routes);
        assert_eq!(error, CannotBuild::KeyWidth { width: 128 });
        assert_eq!(
            refuses::<u8>(baseline, &routes),
            CannotBuild::KeyWidth { width: 8 }
        );
    }
}

#[test]
fn dir_24_8_has_32768_blocks() {
    let long = |i: u32| ipv4(0x0a00_0000 + (i << 8), 25, 7 + i % 100);
    let mut routes: Vec<Route> = (0..1 << 15).map(long).collect();
    builds::<u32>(Baseline::Dir24x8, &routes);
    // A second one in the same block is no block of its own.
    routes.push(ipv4(0x0a00_0081, 32, 5));
    builds::<u32>(Baseline::Dir24x8, &routes);
    routes.push(long(1 << 15));
    assert_eq!(
        refuses::<u32>(Baseline::Dir24x8, &routes),
        too_many("blocks of routes beyond /24", 1 << 15)
    );
}

#[test]
fn sail_has_32768_chunks() {
    let long = |i: u32| ipv4(i << 16, 17 + (i % 16) as u8, 7 + i % 100);
    let mut routes: Vec<Route> = (0..1 << 15).map(long).collect();
    builds::<u32>(Baseline::Sail, &routes);
    routes.push(ipv4(0x1_8000, 17, 5));
    builds::<u32>(Baseline::Sail, &routes);
    routes.push(long(1 << 15));
    assert_eq!(
        refuses::<u32>(Baseline::Sail, &routes),
        too_many("chunks of routes beyond /16", 1 << 15)
    );
}

/// `chunks` chunks of 16 bits, from 1.0.0.0 on, with `count` ranges each, in
/// the long format: neighbours differ and have next hops above 255.
fn chunks(chunks: u32, count: u32) -> Vec<Route> {
    (0..chunks)
        .flat_map(|chunk| {
            // The first range begins with the chunk.
            (0..count).map(move |i| {
                let address = 0x0100_0000 + (chunk << 16) + (i << 4);
                ipv4(address, 28, 300 + i % 2)
            })
        })
        .collect()
}

#[test]
fn dxr_has_4096_ranges_in_a_chunk() {
    // The chunk is full of routes, and so no range is left between them.
    let mut routes = chunks(1, 4_096);
    for baseline in [Baseline::Dxr16, Baseline::Dxr18, Baseline::Dxr18Modified] {
        builds::<u32>(baseline, &routes);
    }
    routes.push(ipv4(0x0100_8003, 32, 5));
    assert_eq!(
        refuses::<u32>(Baseline::Dxr16, &routes),
        too_many("ranges in a chunk", 4_096)
    );
    // The same ranges are spread over four chunks there.
    builds::<u32>(Baseline::Dxr18, &routes);
}

#[test]
fn dxr_of_ipv6_has_8192_ranges_in_a_chunk() {
    let route = |i: u128| Route::new(0x2001 << 112 | i << 99, 29, 1 + (i % 2) as u32);
    let mut routes: Vec<Route> = (0..1 << 13).map(route).collect();
    builds::<u128>(Baseline::Dxr16, &routes);
    builds::<u128>(Baseline::Dxr18, &routes);
    routes.push(Route::new(0x2001 << 112 | 1, 128, 9));
    assert_eq!(
        refuses::<u128>(Baseline::Dxr16, &routes),
        too_many("ranges in a chunk", 8_192)
    );
    builds::<u128>(Baseline::Dxr18, &routes);
}

/// 2^19 entries of the long format, and with the paper's modification 2^20.
#[test]
fn dxr_has_524288_ranges() {
    // 2^12 ranges in each of 2^7 or 2^8 chunks.
    for (baseline, count) in [
        (Baseline::Dxr16, 1 << 7),
        (Baseline::Dxr18, 1 << 7),
        (Baseline::Dxr18Modified, 1 << 8),
    ] {
        let mut routes = chunks(count, 4_096);
        let max = u64::from(count) << 12;
        builds::<u32>(baseline, &routes);
        // A chunk with one next hop has no entry.
        routes.push(ipv4(0xc000_0000, 16, 9));
        builds::<u32>(baseline, &routes);
        // A range more, in a chunk of its own: two entries more.
        routes.push(ipv4(0xd001_0000, 24, 999));
        assert_eq!(
            refuses::<u32>(baseline, &routes),
            too_many("ranges", max),
            "{}",
            baseline.name()
        );
    }
}

/// In the short format two entries take the place of one.
#[test]
fn dxr_has_twice_as_many_short_ranges() {
    let short = |chunk: u32, i: u32| ipv4(0x0100_0000 + (chunk << 16) + (i << 8), 24, 1 + i % 2);
    // 2^8 ranges in each of 2^12 chunks: 2^20 entries of the short format.
    let mut routes: Vec<Route> = (0..1 << 12)
        .flat_map(|chunk| (0..1 << 8).map(move |i| short(chunk, i)))
        .collect();
    builds::<u32>(Baseline::Dxr16, &routes);
    let bytes = Baseline::Dxr16.build(&rib::<u32>(&routes)).unwrap().bytes();
    assert_eq!(bytes, (4 << 16) + (2 << 20));
    routes.push(ipv4(0xd001_0000, 24, 1));
    assert_eq!(
        refuses::<u32>(Baseline::Dxr16, &routes),
        too_many("ranges", 1 << 19)
    );
}
