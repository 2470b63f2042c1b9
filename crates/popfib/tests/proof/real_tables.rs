//! The real tables, Rib and every form against the segments at every boundary of every route and at random
//! addresses.

use crate::forms::{Form, Key, others_fault};
use crate::judge::rib;
use crate::oracle::Route;
use crate::probes::{self, bits};
use crate::real_files;
use crate::rounds::rounds;
use crate::segments::Segments;
use crate::tables::Random;

/// One family in several forms, at all boundaries and many random addresses.
fn prove_family<A: Key>(routes: &[Route], next_hops: usize) {
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
    let probes = probes::mixed::<A>(&mut Random::new(17), routes, rounds(100_000, 1_000_000));
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

    let forms = Form::of_real_tables().into_iter();
    for (form, s) in forms.filter(|(form, _)| form.max_next_hop() as usize >= next_hops) {
        let fib = form.compile(&rib, s).unwrap();
        fib.check().unwrap();
        if let Some((at, answer)) = fib.first_wrong(&probes, &expected) {
            let (probe, expected) = (probes[at], expected[at]);
            panic!("{form:?} s={s:?} says {answer} for {probe:?}, not {expected}");
        }
    }
    let others = others_fault(&rib, &probes, &expected);
    assert_eq!(others, None);
}

fn prove(name: &str) {
    let Some(table) = real_files::load(name) else {
        return;
    };
    assert!(
        table.v4.len() + table.v6.len() > 1_000,
        "{name} is a whole table"
    );
    prove_family::<u32>(&table.v4, table.next_hops);
    prove_family::<u128>(&table.v6, table.next_hops);
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
            let Some(any) = real_files::find("tables") else {
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
