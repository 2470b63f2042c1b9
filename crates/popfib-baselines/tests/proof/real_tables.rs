//! The real tables of `shared/data`, where it lies beside the project: Rib and
//! Fib against the segments at every boundary of every route and at random
//! addresses. Where it does not, each test says that it is skipped.

use crate::forms::{Form, Layout, first_wrong_of, rib};
use crate::oracle::Route;
use crate::probes::{self, bits};
use crate::segments::Segments;
use crate::tables::Random;
use flate2::read::MultiGzDecoder;
use popfib::IpPrefix;
use popfib_baselines::{Baseline, CannotBuild, Key};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// A table of both families, each sorted; next hops are numbered from 1 as they appear.
pub(crate) struct Table {
    pub(crate) v4: Vec<Route>,
    pub(crate) v6: Vec<Route>,
    next_hops: usize,
}

/// The file of that name in `shared/data/tables` beside the project.
fn find(name: &str) -> Option<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = manifest
        .ancestors()
        .map(|folder| folder.join("shared/data"))
        .find(|folder| folder.is_dir());
    if data.is_none() {
        println!("skipped: {name}: no shared data");
    }
    Some(data?.join("tables").join(name))
}

/// Reads a table; `None`, with a word on standard output, without shared data.
pub(crate) fn load(name: &str) -> Option<Table> {
    let path = find(name)?;
    let file = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut numbers = HashMap::new();
    let (mut v4, mut v6) = (Vec::new(), Vec::new());
    for line in BufReader::new(MultiGzDecoder::new(file)).lines() {
        let line = line.unwrap();
        let (prefix, value) = line.split_once(' ').expect("PREFIX VALUE");
        let next = numbers.len() as u32 + 1;
        let next_hop = *numbers.entry(value.to_owned()).or_insert(next);
        match prefix.parse().unwrap_or_else(|e| panic!("{line}: {e}")) {
            IpPrefix::V4(p) => v4.push(Route::new(bits(p.address()), p.len(), next_hop)),
            IpPrefix::V6(p) => v6.push(Route::new(bits(p.address()), p.len(), next_hop)),
        }
    }
    for family in [&mut v4, &mut v6] {
        // The last of two lines for one prefix wins, as in the Rib.
        family.reverse();
        family.sort_by_key(|r| (r.bits, r.len));
        family.dedup_by_key(|r| (r.bits, r.len));
    }
    Some(Table {
        v4,
        v6,
        next_hops: numbers.len(),
    })
}

/// One family in several forms, at all boundaries and a million random addresses.
fn prove_family<A: Key>(routes: &[Route], wide: bool) {
    if routes.is_empty() {
        return;
    }
    let rib = rib::<A>(routes);
    assert_eq!(rib.len(), routes.len());
    let listed = rib
        .iter()
        .map(|(p, n)| Route::new(bits(p.address()), p.len(), n.get()));
    assert!(
        listed.eq(routes.iter().copied()),
        "Rib::iter is in prefix order"
    );

    let segments = Segments::new(routes);
    let probes = probes::mixed::<A>(&mut Random::new(17), routes, 1_000_000);
    let expected: Vec<u32> = probes
        .iter()
        .map(|&probe| {
            let expected = segments.longest_match(bits(probe));
            let found = rib.longest_match(probe);
            let found = found.map(|(p, n)| Route::new(bits(p.address()), p.len(), n.get()));
            assert_eq!(found, expected, "{probe:?}");
            assert_eq!(
                rib.lookup(probe).map(|n| n.get()),
                expected.map(|r| r.next_hop)
            );
            expected.map_or(0, |r| r.next_hop)
        })
        .collect();

    let default = Form {
        wide,
        layout: Layout::Blocks,
        aggregation: true,
    };
    let scattered = Form {
        aggregation: false,
        ..default
    };
    let widest = Form {
        wide: true,
        ..default
    };
    let paper = Form {
        layout: Layout::Leafvec,
        ..default
    };
    let basic = Form {
        layout: Layout::Basic,
        ..scattered
    };
    for (form, s) in [
        (default, None),
        (default, Some(18)),
        (default, Some(16)),
        (default, Some(0)),
        (widest, Some(18)),
        (scattered, Some(18)),
        (paper, Some(18)),
        (basic, Some(18)),
    ] {
        let fib = form.compile(&rib, s).unwrap();
        fib.check().unwrap();
        if let Some((at, answer)) = fib.first_wrong(&probes, &expected) {
            let (probe, expected) = (probes[at], expected[at]);
            panic!("{form:?} s={s:?} says {answer} for {probe:?}, not {expected}");
        }
    }
    for baseline in Baseline::ALL {
        let name = baseline.name();
        match baseline.build(&rib) {
            Ok(lpm) => {
                let wrong = first_wrong_of(&*lpm, &probes, &expected);
                let wrong = wrong.map(|(at, answer)| (probes[at], answer, expected[at]));
                assert_eq!(wrong, None, "{name}");
            }
            // What a real table can go beyond.
            Err(CannotBuild::TooMany { .. } | CannotBuild::NextHop { .. })
                if name.starts_with("dxr") || ["dir-24-8", "sail"].contains(&name) => {}
            Err(CannotBuild::KeyWidth { .. }) if A::WIDTH != 32 => {}
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

fn prove(name: &str) {
    let Some(table) = load(name) else {
        return;
    };
    assert!(
        table.v4.len() + table.v6.len() > 1_000,
        "{name} is a whole table"
    );
    let wide = table.next_hops > 65_535;
    prove_family::<u32>(&table.v4, wide);
    prove_family::<u128>(&table.v6, wide);
}

macro_rules! tables {
    ($($(#[$attribute:meta])* $test:ident: $file:literal,)*) => {$(
        #[test]
        $(#[$attribute])*
        fn $test() {
            prove($file);
        }
    )*
        /// Every file of the folder has its test.
        #[test]
        fn no_table_is_forgotten() {
            let Some(any) = find("tables") else {
                return;
            };
            let known = [$($file),*];
            for file in any.parent().unwrap().read_dir().unwrap() {
                let name = file.unwrap().file_name().into_string().unwrap();
                assert!(known.contains(&name.as_str()), "{name}");
            }
        }
    };
}
tables! {
    #[ignore = "a full table"]
    heavy_bart: "bart-tier1-v46.origin.txt.gz",
    hujun: "hujun-44k-v4.nexthop.txt.gz",
    #[ignore = "a full table"]
    heavy_iptoasn: "iptoasn-country-20260617-v46.txt.gz",
    #[ignore = "a full table"]
    heavy_jpix_as2497: "jpix-20100701-as2497-v4.nexthop.txt.gz",
    #[ignore = "a full table"]
    heavy_jpix_as4777: "jpix-20100701-as4777-v4.nexthop.txt.gz",
    linx: "linx-p69-20141225-v6.nexthop.txt.gz",
    #[ignore = "a full table"]
    heavy_npm_v4: "npm-asn-20260617-v4.txt.gz",
    #[ignore = "a full table"]
    heavy_npm_v6: "npm-asn-20260617-v6.txt.gz",
    #[ignore = "a full table"]
    heavy_ris_v4_fib64: "ris-as3333-20260511-v4.fib64.txt.gz",
    #[ignore = "a full table"]
    heavy_ris_v4_origin: "ris-as3333-20260511-v4.origin.txt.gz",
    #[ignore = "a full table"]
    heavy_ris_v6_fib64: "ris-as3333-20260511-v6.fib64.txt.gz",
    #[ignore = "a full table"]
    heavy_ris_v6_origin: "ris-as3333-20260511-v6.origin.txt.gz",
    #[ignore = "a full table"]
    heavy_rotonda: "rotonda-dfz-v4.txt.gz",
    #[ignore = "a full table"]
    heavy_routeviews_as19151: "routeviews-20210117-as19151-v6.rand32.txt.gz",
    #[ignore = "a full table"]
    heavy_routeviews_as23367: "routeviews-20210117-as23367-v6.rand32.txt.gz",
    #[ignore = "a full table"]
    heavy_routeviews_as293: "routeviews-20210117-as293-v6.rand32.txt.gz",
    rv2: "rv2-20140523-first9k-best-v4.nexthop.txt.gz",
    rv6: "rv6-20151101-first6k-best-v6.nexthop.txt.gz",
    rvchicago: "rvchicago-201908-fib5-v4.txt.gz",
    vix: "vix-20020722-as1853-v4.nexthop.txt.gz",
}
