//! Datasets as large as the paper's: how much its SYN1 and SYN2 grow, and the series of the projection, built.

use std::path::Path;

use popfib::{Fib, Options, Rib};
use popfib_eval::datasets::syn::Syn;
use popfib_eval::datasets::synthetic::{Growing, Synthetic};
use popfib_formats::{LoadOptions, load};

/// The paper's numbers of routes, of 2014: a table of 2010 grows nearly as
/// much, the built-in one, which is newer, less.
#[test]
#[ignore = "full tables"]
fn heavy_tables_grow_as_in_the_paper() {
    let newer = popfib_formats::default_table().ipv4;
    let older = jpix();
    for (syn, paper) in [(Syn::Syn1, 764_847.0), (Syn::Syn2, 885_645.0)] {
        let growth = |rib: &Rib<u32>| syn.of(rib).len() as f64 / rib.len() as f64;
        let paper = paper / 531_489.0;
        assert!(growth(&newer) < paper, "{}", growth(&newer));
        if let Some(older) = &older {
            // The paper's words would make it 0.6 and more.
            assert!((growth(older) - paper).abs() < 0.1, "{}", growth(older));
        }
    }
}

/// A table of 2010, where there is shared data beside the project.
fn jpix() -> Option<Rib<u32>> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = "shared/data/tables/jpix-20100701-as4777-v4.nexthop.txt.gz";
    let file = manifest.ancestors().map(|folder| folder.join(name));
    let Some(file) = file.into_iter().find(|file| file.is_file()) else {
        println!("skipped: {name}: no shared data");
        return None;
    };
    Some(load(&file, &LoadOptions::default()).unwrap().ipv4)
}

/// The series up to ten million routes, built for real. The hundred million of its end
/// take too much memory for every machine that runs the tests.
#[test]
#[ignore = "10 million routes"]
fn heavy_the_papers_projection() {
    fn build<A: Synthetic>() {
        let mut growing = Growing::<A>::new(64, 1);
        for routes in A::SERIES.iter().filter(|routes| **routes <= 10_000_000) {
            let rib = growing.grow_to(*routes);
            match Fib::<A, u16>::compile(rib, &Options::default()) {
                Ok(fib) => println!("{routes} routes: {} bytes", fib.bytes()),
                Err(error) => panic!("{routes} routes: {error}"),
            }
        }
    }
    build::<u128>();
    build::<u32>();
}
