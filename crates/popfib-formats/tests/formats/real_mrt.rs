//! Real MRT files, compared with what another reader, which shares no code, made of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::common::{SKIP, STRICT, load, routes, shared_data};
use popfib_formats::{
    Change, Input, LoadOptions, RouteValue, UpdateOptions, open_routes, open_updates,
};

fn unpack(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}

/// The expected routes with the column that stands for the next hop.
fn expected(path: &Path, column: usize) -> Vec<String> {
    let text = unpack(path);
    let lines = text.lines().map(|line| {
        let fields: Vec<_> = line.split(' ').collect();
        format!("{} {}", fields[0], fields[column])
    });
    lines.collect()
}

/// Both in one order: the files' order of IPv6 prefixes is that of their bytes, too.
fn assert_same(seen: &[String], wanted: &[String]) {
    let sorted = |routes: &[String]| {
        let mut routes = routes.to_vec();
        routes.sort_unstable();
        routes
    };
    let (seen, wanted) = (sorted(seen), sorted(wanted));
    let first = seen.iter().zip(&wanted).find(|(a, b)| a != b);
    assert_eq!(first, None);
    assert_eq!(seen.len(), wanted.len());
}

#[test]
fn frr_table() {
    let Some(data) = shared_data("frr_table") else {
        return;
    };
    let folder = data.join("vendor-frr-bird");
    for (value, column) in [(RouteValue::NextHop, 1), (RouteValue::OriginAs, 2)] {
        let options = LoadOptions {
            value,
            ..STRICT.clone()
        };
        let table = load(&folder.join("frr-rib.mrt"), &options).unwrap();
        let (v4, v6): (Vec<_>, Vec<_>) =
            routes(&table).into_iter().partition(|r| !r.contains("::"));
        assert_same(&v4, &expected(&folder.join("expected-v4.txt.gz"), column));
        if value == RouteValue::NextHop {
            assert_same(&v6, &expected(&folder.join("expected-v6.txt.gz"), column));
        }
        assert_eq!(v6.len(), 5000);
        assert_eq!((table.replaced, table.skipped), (0, 0));
    }
}

#[test]
fn table_dump_of_2002() {
    let Some(data) = shared_data("table_dump_of_2002") else {
        return;
    };
    let file = data.join("raw/bgpdump/bview.20020722.2337.gz");
    let options = LoadOptions {
        peer: Some("AS1853".parse().unwrap()),
        ..STRICT.clone()
    };
    let wanted = expected(
        &data.join("tables/vix-20020722-as1853-v4.nexthop.txt.gz"),
        1,
    );
    assert_same(&routes(&load(&file, &options).unwrap()), &wanted);

    let table = load(&file, &STRICT).unwrap();
    assert_eq!(table.ribs.ipv4.len(), 112_988);
    // Routes for one prefix lie together.
    assert_eq!((table.replaced, table.skipped), (0, 0));
    let mut source = open_routes(Input::open(&file).unwrap(), &STRICT).unwrap();
    while source.next_route().unwrap().is_some() {}
    let peers = source.peers();
    assert_eq!(peers.len(), 36);
    assert_eq!((peers[0].asn, peers[0].ipv4_routes), (1853, 112_986));
}

/// Of the truncated files, the routes of before the cut, each with the best path.
#[test]
fn truncated_tables() {
    let Some(data) = shared_data("truncated_tables") else {
        return;
    };
    let files = [
        (
            "raw/pyasn/rib.20140523.0600_firstMB.bz2",
            "tables/rv2-20140523-first9k-best-v4.nexthop.txt.gz",
        ),
        (
            "raw/pyasn/rib6.20151101.0600_firstMB.bz2",
            "tables/rv6-20151101-first6k-best-v6.nexthop.txt.gz",
        ),
    ];
    for (file, wanted) in files {
        let file = data.join(file);
        let error = load(&file, &STRICT).unwrap_err();
        let length = file.metadata().unwrap().len();
        let reason = format!("the bzip2 data is cut off after {length} bytes");
        assert!(
            error.byte().is_some_and(|byte| byte > 10_000_000),
            "{error}"
        );
        assert!(
            error.is_cut() && error.to_string().ends_with(&reason),
            "{error}"
        );

        let table = load(&file, &SKIP).unwrap();
        assert_eq!(table.notes.len(), 1);
        let wanted = expected(&data.join(wanted), 1);
        let seen = routes(&table);
        let prefixes = |routes: &[String]| -> Vec<String> {
            routes
                .iter()
                .map(|r| r.split(' ').next().unwrap().to_owned())
                .collect()
        };
        assert_same(&prefixes(&seen), &prefixes(&wanted));
        // Ties were decided there by the peers' addresses, here by their indexes, so
        // that only most next hops are the same.
        let wanted: BTreeMap<_, _> = wanted.iter().map(|r| r.split_once(' ').unwrap()).collect();
        let same = seen.iter().filter(|r| {
            let (prefix, next_hop) = r.split_once(' ').unwrap();
            wanted[prefix] == next_hop
        });
        let same = same.count();
        assert!(same * 2 > seen.len(), "{same} of {}", seen.len());
    }
}

#[test]
fn updates_of_2013() {
    let Some(data) = shared_data("updates_of_2013") else {
        return;
    };
    let mut raw = open_updates(
        Input::open(data.join("raw/gobgpdump/arch0")).unwrap(),
        &UpdateOptions::default(),
    )
    .unwrap();
    let mut text = open_updates(
        Input::open(data.join("updates/gobgpdump-arch0.txt.gz")).unwrap(),
        &UpdateOptions::default(),
    )
    .unwrap();
    // The text has multicast routes, too, which are none of ours.
    let (mut count, mut multicast) = (0, 0);
    while let Some(update) = raw.next_update().unwrap() {
        loop {
            let same = text.next_update().unwrap().expect("as many updates");
            if (same.time, same.prefix, same.change) == (update.time, update.prefix, update.change)
                && same.peer.unwrap().0 == update.peer.unwrap().0
            {
                break;
            }
            multicast += 1;
        }
        count += 1;
    }
    while text.next_update().unwrap().is_some() {
        multicast += 1;
    }
    assert_eq!((count, count + multicast), (47_182, 47_462));
    assert_eq!(raw.peers().len(), 35);
}

#[test]
fn every_stream_of_updates() {
    let Some(data) = shared_data("every_stream_of_updates") else {
        return;
    };
    let files = [
        ("ris-as3333-20260511-v4.fib64", 1_355_568, 37_853),
        ("ris-as3333-20260511-v6.fib64", 1_210_274, 27_961),
        ("linx-p52-20141217-v4", 18_141, 5_305),
    ];
    for (name, announced, withdrawn) in files {
        let file = data.join(format!("updates/{name}.updates.txt.gz"));
        let input = Input::open(file).unwrap();
        let mut source = open_updates(input, &UpdateOptions::default()).unwrap();
        let mut seen = (0, 0);
        while let Some(update) = source.next_update().unwrap() {
            match update.change {
                Change::Announce(_) => seen.0 += 1,
                Change::Withdraw => seen.1 += 1,
            }
        }
        assert_eq!(seen, (announced, withdrawn), "{name}");
    }
    let file = data.join("raw/bgpdump/updates.20160811.1600.gz");
    let input = Input::open(file).unwrap();
    let mut source = open_updates(input, &UpdateOptions::default()).unwrap();
    let mut count = 0;
    while source.next_update().unwrap().is_some() {
        count += 1;
    }
    // As an independent reader counts them.
    assert_eq!(count, 41_212);
}
