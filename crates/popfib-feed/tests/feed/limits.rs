//! Peers and tables that grow beyond what they may.

use std::time::Instant;

use popfib_feed::info::DroppedPaths;
use popfib_feed::{
    ConnectionId, Decoder, Limits, PathChange, Stream, StreamEvent, StreamId, Tables, Target,
    Transaction,
};

use crate::at_once::AtOnce as _;
use crate::wire::{self, Peer};
use crate::{answers, limits};

const PEERS: [Peer; 2] = [
    Peer {
        kind: 0,
        flags: 0,
        address: [192, 0, 2, 1],
        distinguisher: 0,
    },
    Peer {
        kind: 0,
        flags: 0,
        address: [192, 0, 2, 2],
        distinguisher: 0,
    },
];

/// Ten routes of a peer from 10.FIRST.0.0/16 on.
fn ten(peer: Peer, first: u8) -> Vec<u8> {
    let prefixes: Vec<_> = (first..first + 10)
        .map(|number| (None, format!("10.{number}.0.0/16").parse().unwrap()))
        .collect();
    let path = (peer.address.into(), 100, &[64500][..]);
    wire::bmp(0, Some(peer), &wire::update(&prefixes, Some(path)))
}

fn push(tables: &mut Tables, id: ConnectionId, decoder: &mut Decoder, message: &[u8]) {
    let now = Instant::now();
    let mut commit =
        |streams: &[_], transaction: &mut _| tables.apply(id, streams, transaction, now);
    decoder.push(message, &mut commit).unwrap();
    while tables.tick(now, 3) {}
}

#[test]
fn a_peer_with_too_many_paths_is_dropped_until_it_comes_up_again_and_no_other() {
    let mut tables = Tables::new(Limits {
        max_peer_paths: 25,
        ..limits()
    });
    let id = tables.connected("router", Instant::now());
    let mut decoder = Decoder::bmp(&Default::default());
    let [peer, other] = PEERS;
    for first in [0, 10] {
        push(&mut tables, id, &mut decoder, &ten(peer, first));
        push(&mut tables, id, &mut decoder, &ten(other, first));
    }
    // The same routes once more are no more paths.
    push(&mut tables, id, &mut decoder, &ten(peer, 0));
    assert_eq!((tables.totals().paths, tables.totals().dropped), (40, 0));
    assert_eq!(tables.take_dropped(), []);

    push(&mut tables, id, &mut decoder, &ten(peer, 20));
    let dropped = DroppedPaths::Peer {
        feed: "router".to_owned(),
        peer: "192.0.2.1".to_owned(),
        table: "pre-policy".to_owned(),
    };
    assert_eq!(tables.take_dropped(), [dropped]);
    assert_eq!(tables.take_dropped(), []);
    let seen = answers(&tables, "pre-policy");
    assert_eq!(seen.len(), 20);
    assert!(seen.values().all(|value| value.starts_with("192.0.2.2 ")));
    let totals = tables.totals();
    assert_eq!((totals.paths, totals.dropped, totals.refused), (20, 1, 5));
    // The peer goes on; none of its paths is kept.
    push(&mut tables, id, &mut decoder, &ten(peer, 30));
    assert_eq!((tables.totals().paths, tables.totals().refused), (20, 15));

    let up = wire::bmp(3, Some(peer), &wire::peer_up(false));
    push(&mut tables, id, &mut decoder, &up);
    push(&mut tables, id, &mut decoder, &ten(peer, 30));
    assert_eq!((tables.totals().paths, tables.totals().dropped), (30, 1));

    // It is dropped once more, and its router connects again.
    for first in [40, 50] {
        push(&mut tables, id, &mut decoder, &ten(peer, first));
    }
    assert_eq!((tables.totals().paths, tables.totals().dropped), (20, 2));
    let id = tables.connected("router", Instant::now());
    push(
        &mut tables,
        id,
        &mut Decoder::bmp(&Default::default()),
        &ten(peer, 40),
    );
    assert_eq!(tables.totals().paths, 30);
}

#[test]
fn paths_beyond_the_memory_are_refused_and_those_there_change_and_leave() {
    // The limit counts all targets of the process, those of other tests too, so it leaves room for them.
    let full = 400 << 20;
    let mut tables = Tables::new(Limits {
        max_bytes: full,
        ..limits()
    });
    let id = tables.connected("router", Instant::now());
    let mut decoder = Decoder::bmp(&Default::default());
    let [peer, _] = PEERS;
    push(&mut tables, id, &mut decoder, &ten(peer, 0));
    assert_eq!((tables.totals().paths, tables.totals().refused), (10, 0));

    tables.set_limits(Limits {
        max_bytes: 1000,
        ..limits()
    });
    tables.tick(Instant::now(), 1);
    push(&mut tables, id, &mut decoder, &ten(peer, 5));
    assert_eq!((tables.totals().paths, tables.totals().refused), (10, 5));
    // A withdrawal is applied.
    let gone = [(None, "10.0.0.0/16".parse().unwrap())];
    let message = wire::bmp(0, Some(peer), &wire::update(&gone, None));
    push(&mut tables, id, &mut decoder, &message);
    assert_eq!(tables.totals().paths, 9);
    // With a higher limit the paths are accepted.
    tables.set_limits(Limits {
        max_bytes: full,
        ..limits()
    });
    tables.tick(Instant::now(), 1);
    push(&mut tables, id, &mut decoder, &ten(peer, 5));
    assert_eq!((tables.totals().paths, tables.totals().refused), (14, 5));
}

/// One stream.
fn streams(peer: u32) -> [Stream; 1] {
    [Stream {
        table: "pre-policy".to_owned(),
        peer: peer.to_string(),
    }]
}

fn announce(tables: &mut Tables, id: ConnectionId, streams: &[Stream], prefix: &str) {
    let mut transaction = Transaction::default();
    transaction.change(PathChange {
        stream: StreamId(streams.len() as u32 - 1),
        prefix: prefix.parse().unwrap(),
        path: 0,
        target: Some(Target::name("a")),
    });
    tables.apply(id, streams, &mut transaction, Instant::now());
}

/// Routers by the thousand that come, announce a route and go: their routes stay until the places are needed.
#[test]
fn places_of_peers_that_are_away_are_for_those_that_are_there() {
    let mut tables = Tables::new(limits());
    let now = Instant::now();
    let stays = tables.joined("stays", now);
    announce(&mut tables, stays, &streams(0), "10.0.0.0/8");
    for router in 0..30u32 {
        let id = tables.joined(&format!("router {router}"), now);
        let all: Vec<Stream> = (0..8000).flat_map(streams).collect();
        let mut transaction = Transaction::default();
        for stream in 0..8000 {
            transaction.change(PathChange {
                stream: StreamId(stream),
                prefix: "10.1.0.0/16".parse().unwrap(),
                path: 0,
                target: Some(Target::name("a")),
            });
        }
        tables.apply(id, &all, &mut transaction, now);
        while tables.tick(now, usize::MAX) {}
        tables.disconnected(id, now);
        while tables.tick(now, usize::MAX) {}
    }
    let totals = tables.totals();
    assert_eq!((totals.refused, totals.announced), (0, 240_001));
    assert!(
        (50_000..=1 << 16).contains(&totals.paths),
        "{}",
        totals.paths
    );
    let dropped = tables.take_dropped();
    assert_eq!(
        dropped[..2],
        ["router 0", "router 1"].map(|name| DroppedPaths::Feed(name.to_owned()))
    );
    assert!(dropped.len() > 20);
    let last = tables.joined("last", now);
    announce(&mut tables, last, &streams(0), "10.2.0.0/16");
    assert_eq!(
        tables
            .paths("pre-policy", "10.2.0.0/16".parse().unwrap())
            .len(),
        1
    );
    assert_eq!(
        tables
            .paths("pre-policy", "10.0.0.0/8".parse().unwrap())
            .len(),
        1
    );
}

/// What the sweep visits is counted by its steps: one walk, not one for each lost peer.
#[test]
fn the_paths_of_all_lost_peers_are_removed_by_one_walk() {
    let mut tables = Tables::new(limits());
    let now = Instant::now();
    let good = tables.joined("good", now);
    for number in 0..3000 {
        let prefix = format!("10.{}.{}.0/24", number >> 8, number & 255);
        announce(&mut tables, good, &streams(0), &prefix);
    }
    let bad = tables.joined("bad", now);
    let all: Vec<Stream> = (0..300).flat_map(streams).collect();
    for count in 1..=all.len() {
        announce(&mut tables, bad, &all[..count], "223.255.255.0/24");
    }
    let mut lost = Transaction::default();
    (0..300).for_each(|peer| lost.event(StreamEvent::Down(StreamId(peer))));
    tables.apply(bad, &all, &mut lost, now);
    let mut steps = 1;
    while tables.tick(now, 100) {
        steps += 1;
    }
    assert_eq!(tables.totals().paths, 3000);
    assert!(steps <= 3300 / 100 + 1, "{steps} steps of 100 paths");
}
