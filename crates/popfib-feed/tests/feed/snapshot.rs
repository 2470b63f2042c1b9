use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use popfib::IpPrefix;
use popfib_feed::snapshot::{Snapshot, SnapshotError};
use popfib_feed::targets::{NetlinkHop, NetlinkHops};
use popfib_feed::{
    ConnectionId, Limits, PathChange, Stream, StreamEvent, StreamId, Tables, Target, Transaction,
};
use popfib_formats::bgp::{BgpPath, pack_path};

use crate::at_once::AtOnce as _;
use crate::{answers, limits, prefix};

const FEEDS: [&str; 3] = ["FPM", "BMP 192.0.2.1", "a \"file\"\n"];

fn streams() -> Vec<Stream> {
    let of = |table: &str, peer: &str| Stream {
        table: table.to_owned(),
        peer: peer.to_owned(),
    };
    vec![of("main", ""), of("main", "a"), of("pre/1:2", "a")]
}

fn target(random: &mut fastrand::Rng) -> Target {
    let hop = |weight| NetlinkHop {
        gateway: (weight > 1).then(|| [192, 0, 2, weight as u8].into()),
        interface: 3,
        weight,
    };
    match random.u8(..7) {
        0 => Target::name("a name, with # and \u{e4}"),
        1 => Target::hops(NetlinkHops::Through(vec![hop(1), hop(2)])),
        2 => Target::hops(NetlinkHops::Through(vec![hop(3)])),
        3 => Target::hops(NetlinkHops::Blackhole),
        4 => Target::hops(NetlinkHops::Unknown(7)),
        number => {
            let mut path = BgpPath::default();
            path.next_hop = Some([192, 0, 2, 1].into());
            path.as_path = format!("64500 {number}");
            (path.local_preference, path.med) = (Some(7), Some(number.into()));
            let mut packed = Vec::new();
            pack_path(&path, &mut packed).unwrap();
            Target::path(&packed).unwrap()
        }
    }
}

fn change(
    tables: &mut Tables,
    id: ConnectionId,
    stream: u32,
    prefix: IpPrefix,
    to: Option<Target>,
) {
    let mut transaction = Transaction::default();
    transaction.change(PathChange {
        stream: StreamId(stream),
        prefix,
        path: stream % 2 * 9,
        target: to,
    });
    tables.apply(id, &streams(), &mut transaction, Instant::now());
}

fn save(tables: &mut Tables, count: usize) -> Vec<u8> {
    let mut snapshot = Snapshot::new();
    let mut bytes = Vec::new();
    while snapshot.take(tables, count) {
        snapshot.write(&mut bytes).unwrap();
    }
    let paths = snapshot.finish(&mut bytes).unwrap();
    assert_eq!(paths as usize, tables.totals().paths);
    bytes
}

fn restore(mut bytes: &[u8], limits: Limits) -> Result<Tables, SnapshotError> {
    Tables::restore(limits, &mut bytes, &|_| true, Instant::now())
}

/// Every path of every table as text.
fn paths(tables: &Tables) -> BTreeSet<(String, IpPrefix, String, String, u32, String)> {
    let mut all = BTreeSet::new();
    let names: Vec<String> = tables.tables_after(None).map(|table| table.name).collect();
    for name in names {
        for prefix in answers(tables, &name).into_keys() {
            for path in tables.paths(&name, prefix) {
                let value = path.target.to_string();
                all.insert((name.clone(), prefix, path.feed, path.peer, path.id, value));
            }
        }
    }
    all
}

/// Some tables and what is in them.
fn random_tables(random: &mut fastrand::Rng) -> Tables {
    let mut tables = Tables::new(limits());
    let now = Instant::now();
    let ids = FEEDS.map(|name| tables.connected(name, now));
    for _ in 0..random.usize(..150) {
        let to = (random.u8(..4) > 0).then(|| target(random));
        let id = *random.choice(&ids).unwrap();
        change(&mut tables, id, random.u32(..3), prefix(random), to);
    }
    tables
}

#[test]
fn tables_begin_again_with_what_they_had() {
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut tables = random_tables(&mut random);
        let bytes = save(&mut tables, random.usize(1..5));
        let mut restored = restore(&bytes, limits()).unwrap();
        assert_eq!(paths(&restored), paths(&tables), "seed {seed}");
        let totals = restored.totals();
        assert_eq!(totals.paths, tables.totals().paths);
        assert_eq!((totals.older, totals.connected), (totals.paths, 0));
        assert_eq!(restored.is_fresh(), totals.paths == 0);
        // Nothing is removed while no feed has connected.
        let later = Instant::now() + limits().idle * 9;
        while restored.tick(later, 7) {}
        assert_eq!(restored.totals().paths, totals.paths);
        // A copy of a copy is the same.
        assert_eq!(
            paths(&restore(&save(&mut restored, 3), limits()).unwrap()),
            paths(&tables)
        );
    }
}

/// Paths that a feed announces again are its own and no longer of the snapshot. Those that it does not announce are removed, and no other
/// feed's.
#[test]
fn feeds_take_over_what_a_snapshot_says() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut tables = random_tables(&mut random);
        let mut restored = restore(&save(&mut tables, 100), limits()).unwrap();
        let mut expected = paths(&tables);
        expected.retain(|path| path.2 != "FPM");
        let now = Instant::now();
        let id = restored.connected("FPM", now);
        let mut said = BTreeMap::new();
        for _ in 0..20 {
            said.insert((prefix(&mut random), random.u32(..3)), target(&mut random));
        }
        for ((prefix, stream), target) in &said {
            change(&mut restored, id, *stream, *prefix, Some(target.clone()));
            let Stream { table, peer } = streams()[*stream as usize].clone();
            let text = target.to_string();
            expected.insert((table, *prefix, "FPM".to_owned(), peer, stream % 2 * 9, text));
        }
        let is_swept_by_mark = random.bool();
        let mut transaction = Transaction::default();
        for stream in 0..3 {
            for is_ipv6 in [false, true] {
                let stream = StreamId(stream);
                transaction.event(StreamEvent::EndOfRib { stream, is_ipv6 });
            }
        }
        let mut end = now;
        match is_swept_by_mark {
            true => restored.apply(id, &streams(), &mut transaction, now),
            false => end += limits().idle * 2,
        }
        while restored.tick(end, 5) {}
        assert_eq!(paths(&restored), expected, "seed {seed}");
        for (table, prefix, feed, ..) in &expected {
            for path in restored
                .paths(table, *prefix)
                .iter()
                .filter(|p| p.feed == *feed)
            {
                assert_eq!(path.target.is_restored(), feed != "FPM", "{path:?}");
                assert_eq!(path.is_older, feed != "FPM", "{path:?}");
            }
        }
    }
}

#[test]
fn feeds_that_are_not_wanted_and_paths_beyond_the_limit_stay_away() {
    let mut tables = random_tables(&mut fastrand::Rng::with_seed(5));
    let bytes = save(&mut tables, 100);
    let of_fpm = paths(&tables).into_iter().filter(|path| path.2 == "FPM");
    let of_fpm: BTreeSet<_> = of_fpm.collect();
    assert!(of_fpm.len() > 2);
    let restored = Tables::restore(limits(), &mut &bytes[..], &|f| f == "FPM", Instant::now());
    assert_eq!(paths(&restored.unwrap()), of_fpm);
    let max_paths = 2;
    let few = Limits {
        max_paths,
        ..limits()
    };
    let totals = restore(&bytes, few).unwrap().totals();
    assert_eq!(totals.paths, 2);
    assert_eq!(totals.refused as usize, tables.totals().paths - 2);
}

#[test]
fn what_is_no_snapshot_is_an_error_with_its_line() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut tables = random_tables(&mut random);
    let good = save(&mut tables, 100);
    assert!(matches!(restore(b"", limits()), Err(SnapshotError::Other)));
    let table = b"10.0.0.0/8 east\n";
    assert!(matches!(
        restore(table, limits()),
        Err(SnapshotError::Other)
    ));
    let first = good.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for round in 0..3000 {
        let mut bytes = good[..random.usize(first..good.len())].to_vec();
        if round % 2 == 0 {
            bytes.clone_from(&good);
            for _ in 0..random.usize(1..4) {
                let at = random.usize(first..bytes.len());
                bytes[at] = random.u8(..);
            }
        }
        match restore(&bytes, limits()) {
            // Some damage reads as another value.
            Ok(tables) => drop(paths(&tables)),
            Err(SnapshotError::Damaged { line, reason }) => {
                let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
                assert!(line >= 2 && line <= lines + 1 && !reason.contains('\n'));
            }
            Err(error) => panic!("{error}"),
        }
        if round % 2 == 1 {
            assert!(restore(&bytes, limits()).is_err(), "it was cut off");
        }
    }
    for (line, reason) in [
        (
            "10.0.0.0/8 east",
            "line 2: not a route, as a snapshot has them",
        ),
        (
            "10.0.0.0/8\teast\t# 0 0 0",
            "line 2: there is no such value",
        ),
        (
            "#{\"name\":\"\\u001b\"}",
            "line 2: a name with control characters",
        ),
        ("#{\"path\":\"0g\"}", "line 2: not hexadecimal"),
        ("#{\"end\":7}", "line 3: it was cut off"),
    ] {
        let text = format!("# popfibd snapshot 1\n{line}\n");
        assert_eq!(
            restore(text.as_bytes(), limits())
                .err()
                .map(|e| e.to_string()),
            Some(reason.to_owned())
        );
    }
}
