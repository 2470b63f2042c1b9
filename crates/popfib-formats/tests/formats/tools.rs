//! Aggregation and differences of real tables, checked by longest matches asked for one by one.

use std::fs;

use crate::common::{STRICT, load, shared_data};
use popfib::{Address, NextHop, Prefix, Rib, aggregate, diff};
use popfib_formats::RouteTable;
use popfib_table::Dictionary;

fn same(a: NextHop, b: NextHop) -> bool {
    a == b
}

/// At both ends of every route of either table, and right outside of it.
fn answers_agree<A: Address>(old: &Rib<A>, new: &Rib<A>) -> bool {
    old.iter().chain(new).all(|(prefix, _)| {
        let (first, last) = (prefix.first(), prefix.last());
        [
            Some(first),
            Some(last),
            first.checked_previous(),
            last.checked_next(),
        ]
        .into_iter()
        .flatten()
        .all(|address| old.lookup(address) == new.lookup(address))
    })
}

fn aggregation_is_right<A: Address>(name: &str, rib: &Rib<A>) {
    let (optimal, simple) = (aggregate::ortc(rib), aggregate::simple(rib));
    println!(
        "{name}: {} routes, simple {}, ortc {}",
        rib.len(),
        simple.len(),
        optimal.len()
    );
    for aggregated in [&optimal, &simple] {
        assert!(answers_agree(rib, aggregated), "{name}");
        assert_eq!(diff::answers(rib, aggregated, same).next(), None, "{name}");
    }
    assert!(optimal.len() <= simple.len() && simple.len() <= rib.len());
    assert_eq!(aggregate::simple(&simple), simple, "{name}");
    assert_eq!(aggregate::ortc(&simple).len(), optimal.len(), "{name}");
    // One route less is noticed, and told where.
    let Some((prefix, _)) = optimal.iter().nth(optimal.len() / 2) else {
        return;
    };
    let mut broken = optimal.clone();
    broken.remove(prefix);
    assert!(!answers_agree(rib, &broken), "{name}");
    let changes: Vec<_> = diff::answers(rib, &broken, same).collect();
    assert!(!changes.is_empty(), "{name}");
    for change in changes {
        assert!(prefix.contains(change.first) && prefix.contains(change.last));
        for address in [change.first, change.last] {
            assert_eq!(rib.lookup(address), change.old, "{name}");
            assert_eq!(broken.lookup(address), change.new, "{name}");
        }
    }
}

#[test]
#[ignore = "full tables"]
fn heavy_long_real_tables_aggregated() {
    let Some(data) = shared_data("heavy_long_real_tables_aggregated") else {
        return;
    };
    let mut files = 0;
    for entry in fs::read_dir(data.join("tables")).unwrap() {
        let path = entry.unwrap().path();
        let table = load(&path, &STRICT).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        aggregation_is_right(&format!("{name} ipv4"), &table.ribs.ipv4);
        aggregation_is_right(&format!("{name} ipv6"), &table.ribs.ipv6);
        files += 1;
    }
    assert!(files >= 20, "{files} tables");
}

/// The changes from `old` to `new`, applied to `old`.
fn patched<A: Address>(old: &Rib<A>, new: &Rib<A>) -> Rib<A> {
    let mut patched = old.clone();
    for change in diff::routes(old, new, same) {
        let was = match change.new {
            Some(next_hop) => patched.insert(change.prefix, next_hop),
            None => patched.remove(change.prefix),
        };
        assert_eq!(was, change.old);
    }
    patched
}

/// `rib` with its next hops under the numbers that their names have in `old`.
fn renumbered<A: Address>(rib: &Rib<A>, table: &RouteTable, old: &mut Dictionary) -> Rib<A> {
    rib.iter()
        .map(|(prefix, n): (Prefix<A>, _)| (prefix, old.intern(&table.value(n))))
        .collect()
}

#[test]
#[ignore = "full tables"]
fn heavy_differences_of_real_tables() {
    let Some(data) = shared_data("heavy_differences_of_real_tables") else {
        return;
    };
    // Tables of different days and routers, with AS numbers in both.
    let table = |name: &str| load(&data.join("tables").join(name), &STRICT).unwrap();
    let old = table("bart-tier1-v46.origin.txt.gz");
    let mut texts = Dictionary::new();
    for text in old.records.values() {
        texts.intern(&text);
    }
    let new = table("rotonda-dfz-v4.txt.gz");
    let ipv4 = renumbered(&new.ribs.ipv4, &new, &mut texts);
    assert_eq!(patched(&old.ribs.ipv4, &ipv4), ipv4);
    assert_eq!(patched(&ipv4, &old.ribs.ipv4), old.ribs.ipv4);
    assert_eq!(patched(&old.ribs.ipv6, &Rib::new()), Rib::new());
    let changes: Vec<_> = diff::answers(&old.ribs.ipv4, &ipv4, same).collect();
    assert!(changes.len() > 1000, "{}", changes.len());
    // Every route's ends are in a change exactly if the answers there differ.
    for (prefix, _) in old.ribs.ipv4.iter().chain(&ipv4) {
        for address in [prefix.first(), prefix.last()] {
            let at = changes.partition_point(|change| change.last < address);
            let told = changes.get(at).filter(|change| change.first <= address);
            let (was, is) = (old.ribs.ipv4.lookup(address), ipv4.lookup(address));
            assert_eq!(
                told.map(|c| (c.old, c.new)),
                (was != is).then_some((was, is))
            );
        }
    }
}
