use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use popfib::IpPrefix;
use popfib_feed::{Decoder, Tables};

use crate::at_once::AtOnce as _;
use crate::wire::{self, Peer};
use crate::{answers, feed, limits, prefix, survives};

const PEER: Peer = Peer {
    kind: 0,
    flags: 0,
    address: [192, 0, 2, 1],
    distinguisher: 0,
};
const OTHER: Peer = Peer {
    address: [192, 0, 2, 2],
    ..PEER
};

fn run(messages: &[Vec<u8>]) -> (Tables, Decoder) {
    let mut tables = Tables::new(limits());
    let now = Instant::now();
    let id = tables.connected("bmp", now);
    let mut decoder = Decoder::bmp(&Default::default());
    let mut random = fastrand::Rng::with_seed(1);
    feed(
        &mut tables,
        id,
        &mut decoder,
        &messages.concat(),
        now,
        &mut random,
    );
    tables.tick(now, usize::MAX);
    (tables, decoder)
}

fn announce(peer: Peer, text: &str, preference: u32, as_path: &[u32]) -> Vec<u8> {
    let prefix: IpPrefix = text.parse().unwrap();
    let path = (IpAddr::from(peer.address), preference, as_path);
    wire::bmp(0, Some(peer), &wire::update(&[(None, prefix)], Some(path)))
}

fn values(tables: &Tables, table: &str) -> Vec<String> {
    let answers = answers(tables, table);
    answers
        .iter()
        .map(|(prefix, value)| format!("{prefix} {value}"))
        .collect()
}

#[test]
fn the_best_path_over_peers_answers_until_its_peer_is_lost() {
    let mut messages = vec![
        wire::bmp(4, None, &[0, 2, 0, 2, b'r', b'1']),
        wire::bmp(3, Some(PEER), &wire::peer_up(false)),
        wire::bmp(3, Some(OTHER), &wire::peer_up(false)),
        announce(PEER, "10.0.0.0/8", 100, &[64500, 64501, 64502]),
        announce(OTHER, "10.0.0.0/8", 100, &[64500, 64502]),
        announce(PEER, "2001:db8::/32", 200, &[64500]),
    ];
    let (tables, _) = run(&messages);
    let long = "192.0.2.1 as-path 64500 64501 64502 local-pref 100";
    let expected = [
        "10.0.0.0/8 192.0.2.2 as-path 64500 64502 local-pref 100",
        "2001:db8::/32 192.0.2.1 as-path 64500 local-pref 200",
    ];
    assert_eq!(values(&tables, "pre-policy"), expected);
    let paths = tables.paths("pre-policy", "10.0.0.0/8".parse().unwrap());
    let peers: Vec<&str> = paths.iter().map(|path| path.peer.as_str()).collect();
    assert_eq!(peers, ["192.0.2.2", "192.0.2.1"]);
    messages.push(wire::bmp(2, Some(OTHER), &[4]));
    // A peer is down: queries do not return its paths, although the sweep has not reached them yet.
    let (mut tables, now) = (Tables::new(limits()), Instant::now());
    let id = tables.connected("bmp", now);
    let mut commit =
        |streams: &[_], transaction: &mut _| tables.apply(id, streams, transaction, now);
    Decoder::bmp(&Default::default())
        .push(&messages.concat(), &mut commit)
        .unwrap();
    let paths = tables.paths("pre-policy", "10.0.0.0/8".parse().unwrap());
    let peers: Vec<&str> = paths.iter().map(|path| path.peer.as_str()).collect();
    assert_eq!((peers, tables.totals().paths), (vec!["192.0.2.1"], 3));
    let (tables, _) = run(&messages);
    assert_eq!(
        values(&tables, "pre-policy")[0],
        format!("10.0.0.0/8 {long}")
    );
    assert_eq!(tables.totals().swept, 1);
    // A higher local preference beats a shorter path.
    messages.push(announce(OTHER, "10.0.0.0/8", 50, &[64500]));
    assert_eq!(
        values(&run(&messages).0, "pre-policy")[0],
        format!("10.0.0.0/8 {long}")
    );
}

#[test]
fn policies_and_vrfs_are_tables() {
    let of = |kind, flags, distinguisher| Peer {
        kind,
        flags,
        distinguisher,
        ..PEER
    };
    let peers = [
        (of(0, 0, 0), "pre-policy"),
        (of(0, 0x40, 0), "post-policy"),
        (of(0, 0x10, 0), "rib-out-pre"),
        (of(0, 0x50, 0), "rib-out-post"),
        (of(3, 0, 0), "loc-rib"),
        (of(1, 0, 0x0000_fc00_0000_0007), "pre-policy/64512:7"),
        (of(1, 0, 0x0001_c000_0201_0007), "pre-policy/192.0.2.1:7"),
        (of(1, 0, 0x0002_0001_0000_0007), "pre-policy/65536:7"),
    ];
    let messages: Vec<_> = peers
        .iter()
        .map(|&(peer, _)| announce(peer, "10.0.0.0/8", 1, &[1]))
        .collect();
    let (tables, _) = run(&messages);
    for (_, table) in peers {
        assert_eq!(values(&tables, table).len(), 1, "{table}");
    }
    assert_eq!(tables.tables_after(None).count(), peers.len());
    assert_eq!(tables.default_table(), Some("loc-rib"));
}

#[test]
fn wrong_attributes_are_a_withdrawal() {
    let good = announce(PEER, "10.0.0.0/8", 100, &[64500]);
    let mut bad = good.clone();
    // The origin, the first attribute, says what no origin is.
    let at = 6 + 42 + 19 + 4 + 4;
    bad[at] = 9;
    let (tables, decoder) = run(&[good.clone(), bad]);
    assert!(values(&tables, "pre-policy").is_empty());
    assert_eq!(decoder.counts().invalid, 1);
    // A length beyond all attributes, and no next hop.
    for (place, byte) in [(at - 1, 200), (at + 20, 99)] {
        let mut bad = good.clone();
        bad[place] = byte;
        let (tables, decoder) = run(&[good.clone(), bad]);
        assert!(values(&tables, "pre-policy").is_empty(), "{place}");
        assert_eq!(decoder.counts().invalid, 1);
    }
    // One whose parts nobody can find changes nothing.
    let mut cut = good.clone();
    cut[6 + 42 + 19 + 3] = 200;
    let (tables, decoder) = run(&[good, cut]);
    assert_eq!(values(&tables, "pre-policy").len(), 1);
    assert_eq!(decoder.counts().invalid, 1);
}

#[test]
fn a_peer_that_was_never_up_may_go_down() {
    let (tables, decoder) = run(&[
        wire::bmp(2, Some(PEER), &[1]),
        wire::bmp(0, Some(PEER), &[]),
    ]);
    assert_eq!(decoder.counts().invalid, 1);
    assert_eq!(tables.totals().paths, 0);
}

/// Paths of two peers, with identifiers or without, in messages of several prefixes.
#[test]
fn any_updates_leave_the_best_paths_of_a_map() {
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        let has_ids = seed % 2 == 0;
        let mut messages: Vec<_> = [PEER, OTHER]
            .map(|peer| wire::bmp(3, Some(peer), &wire::peer_up(has_ids)))
            .into();
        // For each prefix its paths: by preference, then peer and identifier.
        let mut paths: BTreeMap<(IpPrefix, usize, u32), u32> = BTreeMap::new();
        for _ in 0..200 {
            let peer = random.usize(..2);
            let first = prefix(&mut random);
            let is_ipv4 = matches!(first, IpPrefix::V4(_));
            let mut prefixes = vec![first];
            prefixes.extend((0..4).map(|_| prefix(&mut random)));
            prefixes.retain(|prefix| matches!(prefix, IpPrefix::V4(_)) == is_ipv4);
            // No router repeats a prefix in a message.
            prefixes.sort_unstable();
            prefixes.dedup();
            let id = if has_ids { random.u32(1..4) } else { 0 };
            let nlri: Vec<_> = prefixes
                .iter()
                .map(|&p| (has_ids.then_some(id), p))
                .collect();
            let preference = random.u32(1..5);
            let as_path = [64500];
            let address = [PEER, OTHER][peer].address;
            let path = random
                .bool()
                .then_some((address.into(), preference, &as_path[..]));
            for &prefix in &prefixes {
                let key = (prefix, peer, id);
                match path {
                    Some(_) => paths.insert(key, preference),
                    None => paths.remove(&key),
                };
            }
            let body = wire::update(&nlri, path);
            messages.push(wire::bmp(0, Some([PEER, OTHER][peer]), &body));
        }
        let mut best: BTreeMap<IpPrefix, (u32, std::cmp::Reverse<usize>)> = BTreeMap::new();
        for ((prefix, peer, _), preference) in paths {
            let this = (preference, std::cmp::Reverse(peer));
            let held = best.entry(prefix).or_insert(this);
            *held = this.max(*held);
        }
        let (tables, decoder) = run(&messages);
        assert_eq!(decoder.counts().invalid, 0);
        // Which peer has the lower number depends on who spoke first: only preferences are compared.
        let seen = answers(&tables, "pre-policy");
        let preferences = seen.iter().map(|(&prefix, text)| {
            let preference = text.rsplit(' ').next().unwrap().parse::<u32>().unwrap();
            (prefix, preference)
        });
        let expected = best
            .iter()
            .map(|(&prefix, &(preference, _))| (prefix, preference));
        assert!(preferences.eq(expected), "seed {seed}");
    }
}

#[test]
fn any_bytes_are_survived() {
    let mut random = fastrand::Rng::with_seed(7);
    let good = [
        wire::bmp(4, None, &[0, 2, 0, 2, b'r', b'1']),
        wire::bmp(3, Some(PEER), &wire::peer_up(true)),
        announce(PEER, "10.0.0.0/8", 100, &[64500]),
        announce(OTHER, "2001:db8::/32", 100, &[64500]),
        wire::bmp(0, Some(OTHER), &wire::end_of_rib(true)),
        wire::bmp(2, Some(PEER), &[1]),
    ]
    .concat();
    survives(|| Decoder::bmp(&Default::default()), &good, &mut random);
    let head = [3, 0x7f, 0xff, 0xff, 0xff, 0];
    assert!(
        Decoder::bmp(&Default::default())
            .push(&head, &mut |_, _| {})
            .is_err()
    );
}

#[test]
fn a_peer_is_down_although_this_connection_has_sent_nothing_of_it() {
    let now = Instant::now();
    let mut tables = Tables::new(limits());
    let mut random = fastrand::Rng::with_seed(46);
    let mut connect = |tables: &mut Tables, messages: &[Vec<u8>]| {
        let id = tables.joined("bmp", now);
        let mut decoder = Decoder::bmp(&Default::default());
        let bytes = messages.concat();
        feed(tables, id, &mut decoder, &bytes, now, &mut random);
        while tables.tick(now, usize::MAX) {}
        id
    };
    let post = Peer {
        flags: 0x40,
        ..PEER
    };
    let first = [
        announce(PEER, "10.1.0.0/16", 100, &[64500]),
        announce(post, "10.2.0.0/16", 100, &[64500]),
        announce(OTHER, "10.3.0.0/16", 100, &[64500]),
    ];
    let id = connect(&mut tables, &first);
    tables.disconnected(id, now);
    assert_eq!(tables.totals().paths, 3);
    // Routes of the same message batch come after it.
    let second = [
        wire::bmp(2, Some(PEER), &[4]),
        announce(PEER, "10.4.0.0/16", 100, &[64500]),
    ];
    connect(&mut tables, &second);
    let only = |prefix| [format!("{prefix} 192.0.2.1 as-path 64500 local-pref 100")];
    let of_other = "10.3.0.0/16 192.0.2.2 as-path 64500 local-pref 100";
    let [new] = only("10.4.0.0/16");
    assert_eq!(values(&tables, "pre-policy"), [of_other, &new]);
    assert!(values(&tables, "post-policy").is_empty());
}

#[test]
fn speakers_of_one_address_have_a_table_of_their_own_each() {
    let own = |address| Peer {
        kind: 3,
        address,
        ..PEER
    };
    let (one, two) = (own([192, 0, 2, 1]), own([192, 0, 2, 2]));
    let mut messages = vec![
        announce(one, "10.1.0.0/16", 100, &[64500]),
        announce(one, "10.2.0.0/16", 100, &[64500]),
        announce(two, "10.2.0.0/16", 100, &[64500, 64501]),
        announce(two, "10.3.0.0/16", 100, &[64500]),
    ];
    let both = |tables: &Tables| {
        let paths = tables.paths("loc-rib", "10.2.0.0/16".parse().unwrap());
        paths.into_iter().map(|path| path.peer).collect::<Vec<_>>()
    };
    assert_eq!(both(&run(&messages).0), ["192.0.2.1", "192.0.2.2"]);
    messages.push(wire::bmp(2, Some(two), &[6]));
    let (tables, _) = run(&messages);
    assert_eq!(both(&tables), ["192.0.2.1"]);
    assert_eq!(values(&tables, "loc-rib").len(), 2);
}

#[test]
fn tables_are_whole_when_all_peers_that_are_up_have_sent_theirs_or_are_silent() {
    let start = Instant::now();
    let second = |n| start + Duration::from_secs(n);
    let end_of_rib = [&[0xff; 16][..], &[0, 23, 2, 0, 0, 0, 0]].concat();
    let end = |peer| wire::bmp(0, Some(peer), &end_of_rib);
    let up = |peer| wire::bmp(3, Some(peer), &wire::peer_up(false));
    for is_silent in [false, true] {
        let mut tables = Tables::new(limits());
        let id = tables.joined("bmp", start);
        let mut decoder = Decoder::bmp(&Default::default());
        let mut send = |tables: &mut Tables, messages: &[Vec<u8>], now| {
            let mut commit =
                |streams: &[_], changes: &mut _| tables.apply(id, streams, changes, now);
            decoder.push(&messages.concat(), &mut commit).unwrap();
            tables.tick(now, usize::MAX);
        };
        let first = [up(PEER), up(OTHER), announce(PEER, "10.1.0.0/16", 1, &[1])];
        send(&mut tables, &first, start);
        // Peer after peer may send its table: the silent one is waited for until the others are through.
        for now in 0..20 {
            let route = announce(PEER, &format!("10.{}.0.0/16", 100 + now), 1, &[1]);
            send(&mut tables, &[route], second(now));
        }
        send(&mut tables, &[end(PEER)], second(20));
        tables.tick(second(23), usize::MAX);
        assert!(!tables.is_whole());
        match is_silent {
            true => drop(tables.tick(second(24), usize::MAX)),
            false => send(&mut tables, &[wire::bmp(2, Some(OTHER), &[4])], second(23)),
        }
        assert!(tables.is_whole());
    }
}
