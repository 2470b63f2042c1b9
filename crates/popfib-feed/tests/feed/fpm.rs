use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Instant;

use popfib_feed::snapshot::Snapshot;
use popfib_feed::{Decoder, Limits, Tables};

use crate::at_once::AtOnce as _;
use crate::{answers, feed, limits, prefix, survives, wire};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// One connection that has sent these frames.
fn tables(frames: &[Vec<u8>]) -> (Tables, Decoder) {
    let mut tables = Tables::new(limits());
    let now = Instant::now();
    let id = tables.connected("fpm", now);
    let mut decoder = Decoder::fpm(&Default::default());
    let mut random = fastrand::Rng::with_seed(1);
    feed(
        &mut tables,
        id,
        &mut decoder,
        &frames.concat(),
        now,
        &mut random,
    );
    (tables, decoder)
}

fn table(frames: &[Vec<u8>], name: &str) -> Vec<String> {
    let answers = answers(&tables(frames).0, name);
    answers
        .iter()
        .map(|(prefix, value)| format!("{prefix} {value}"))
        .collect()
}

#[test]
fn routes_have_next_hops_in_every_form() {
    let route = |prefix: &str, kind, attributes: &[u8]| {
        wire::frame(&[wire::route(
            prefix.parse().unwrap(),
            254,
            kind,
            Some(attributes),
        )])
    };
    let hops = [(ip("192.0.2.1"), 3, 1), (ip("192.0.2.2"), 3, 4)];
    let frames = [
        wire::frame(&[
            wire::object(1, ip("192.0.2.9"), 2),
            wire::object(2, ip("192.0.2.8"), 3),
        ]),
        wire::frame(&[wire::group(3, &[(1, 1), (2, 2)])]),
        route("0.0.0.0/0", 1, &wire::gateway(ip("192.0.2.1"), 3)),
        route("10.0.0.0/8", 1, &wire::multipath(&hops)),
        route("10.1.0.0/16", 6, &[]),
        route("10.2.0.0/16", 1, &wire::named(1)),
        route("10.3.0.0/16", 1, &wire::named(3)),
        route("10.4.0.0/16", 1, &wire::attribute(4, &7u32.to_ne_bytes())),
        route("10.5.0.0/16", 1, &wire::named(77)),
        // RTA_VIA: IPv4 through IPv6.
        route(
            "10.6.0.0/16",
            1,
            &wire::attribute(18, &[&[10, 0], &[0xfe; 16][..]].concat()),
        ),
        route("2001:db8::/32", 1, &wire::gateway(ip("fe80::1"), 4)),
    ];
    assert_eq!(
        table(&frames, "main"),
        [
            "0.0.0.0/0 192.0.2.1 dev 3",
            "10.0.0.0/8 192.0.2.1 dev 3, 192.0.2.2 dev 3 weight 4",
            "10.1.0.0/16 blackhole",
            "10.2.0.0/16 192.0.2.9 dev 2",
            "10.3.0.0/16 192.0.2.9 dev 2, 192.0.2.8 dev 3 weight 2",
            "10.4.0.0/16 dev 7",
            "10.5.0.0/16 unknown nhid 77",
            "10.6.0.0/16 fefe:fefe:fefe:fefe:fefe:fefe:fefe:fefe",
            "2001:db8::/32 fe80::1 dev 4",
        ]
    );
    assert_eq!(tables(&frames).1.counts().unknown_next_hops, 1);
}

#[test]
fn a_next_hop_changes_under_its_routes() {
    let mut frames = vec![
        wire::frame(&[wire::group(3, &[(1, 1), (2, 1)])]),
        wire::frame(&[wire::route(
            "10.0.0.0/8".parse().unwrap(),
            254,
            1,
            Some(&wire::named(3)),
        )]),
    ];
    assert_eq!(table(&frames, "main"), ["10.0.0.0/8 unknown nhid 3"]);
    frames.push(wire::frame(&[wire::object(2, ip("192.0.2.2"), 0)]));
    assert_eq!(table(&frames, "main"), ["10.0.0.0/8 192.0.2.2"]);
    frames.push(wire::frame(&[wire::object(1, ip("192.0.2.1"), 0)]));
    assert_eq!(table(&frames, "main"), ["10.0.0.0/8 192.0.2.1, 192.0.2.2"]);
    frames.push(wire::frame(&[wire::group(3, &[(2, 1)])]));
    assert_eq!(table(&frames, "main"), ["10.0.0.0/8 192.0.2.2"]);
    // No member any more.
    frames.push(wire::frame(&[wire::object(1, ip("192.0.2.7"), 0)]));
    assert_eq!(table(&frames, "main"), ["10.0.0.0/8 192.0.2.2"]);
}

#[test]
fn a_withdrawal_and_an_announcement_in_one_frame_are_one_change() {
    let prefix = "10.0.0.0/8".parse().unwrap();
    let gateway = |text| wire::gateway(ip(text), 0);
    let new = |text| wire::route(prefix, 254, 1, Some(&gateway(text)));
    let bytes = [
        wire::frame(&[new("192.0.2.1")]),
        wire::frame(&[wire::route(prefix, 254, 0, None), new("192.0.2.2")]),
    ]
    .concat();
    let mut seen = Vec::new();
    Decoder::fpm(&Default::default())
        .push(&bytes, &mut |_, transaction| {
            let changes = transaction.changes().iter();
            seen.push(
                changes
                    .map(|c| c.target.as_ref().unwrap().to_string())
                    .collect::<Vec<_>>(),
            );
        })
        .unwrap();
    assert_eq!(seen, [["192.0.2.1"], ["192.0.2.2"]]);
}

#[test]
fn vrfs_are_tables() {
    let prefix = "10.0.0.0/8".parse().unwrap();
    let gateway = wire::gateway(ip("192.0.2.1"), 0);
    let high = [
        &wire::gateway(ip("192.0.2.2"), 0)[..],
        &wire::attribute(15, &1000u32.to_ne_bytes()),
    ]
    .concat();
    let frames = [
        wire::frame(&[wire::route(prefix, 10, 1, Some(&gateway))]),
        wire::frame(&[wire::route(prefix, 0, 1, Some(&high))]),
    ];
    assert_eq!(table(&frames, "10"), ["10.0.0.0/8 192.0.2.1"]);
    assert_eq!(table(&frames, "1000"), ["10.0.0.0/8 192.0.2.2"]);
    assert!(table(&frames, "main").is_empty());
}

#[test]
fn wrong_messages_are_counted_and_the_next_is_read() {
    let good = wire::route(
        "10.0.0.0/8".parse().unwrap(),
        254,
        1,
        Some(&wire::gateway(ip("192.0.2.1"), 0)),
    );
    let mut cut = good.clone();
    cut[..4].copy_from_slice(&9000u32.to_ne_bytes());
    let mut long = good.clone();
    long[17] = 33; // bits of a prefix
    let mpls = wire::netlink(24, &[28, 20, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0]);
    let frames = [
        wire::frame(&[cut]),
        wire::frame(&[long, wire::netlink(999, &[]), mpls]),
        vec![1, 2, 0, 4], // protobuf
        wire::frame(&[good]),
    ];
    let (tables, decoder) = tables(&frames);
    assert_eq!(answers(&tables, "main").len(), 1);
    let counts = decoder.counts();
    assert_eq!((counts.invalid, counts.other), (2, 3));
    let mut decoder = Decoder::fpm(&Default::default());
    assert!(decoder.push(&[1, 1, 0, 3], &mut |_, _| {}).is_err());
    let mut decoder = Decoder::fpm(&Default::default());
    assert!(decoder.push(&[2, 1, 0, 4], &mut |_, _| {}).is_err());
}

/// Any changes, in frames of several, cut anywhere.
#[test]
fn any_changes_leave_what_a_map_has() {
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut expected = BTreeMap::new();
        let mut stream = Vec::new();
        for _ in 0..200 {
            let mut messages = Vec::new();
            for _ in 0..random.usize(1..6) {
                let prefix = prefix(&mut random);
                if random.u8(..) < 80 {
                    expected.remove(&prefix);
                    messages.push(wire::route(prefix, 254, 0, None));
                } else {
                    let hop = IpAddr::from([192, 0, 2, random.u8(1..9)]);
                    expected.insert(prefix, format!("{hop} dev 3"));
                    let attributes = wire::gateway(hop, 3);
                    messages.push(wire::route(prefix, 254, 1, Some(&attributes)));
                }
            }
            stream.push(wire::frame(&messages));
        }
        assert_eq!(answers(&tables(&stream).0, "main"), expected, "seed {seed}");
    }
}

#[test]
fn any_bytes_are_survived() {
    let mut random = fastrand::Rng::with_seed(7);
    let hops = [(ip("192.0.2.1"), 3, 1), (ip("192.0.2.2"), 3, 4)];
    let good = [
        wire::frame(&[
            wire::object(1, ip("192.0.2.9"), 2),
            wire::group(2, &[(1, 1)]),
        ]),
        wire::frame(&[wire::route(
            "10.0.0.0/8".parse().unwrap(),
            254,
            1,
            Some(&wire::named(2)),
        )]),
        wire::frame(&[wire::route(
            "::/0".parse().unwrap(),
            254,
            1,
            Some(&wire::multipath(&hops)),
        )]),
    ]
    .concat();
    survives(|| Decoder::fpm(&Default::default()), &good, &mut random);
}

/// A snapshot of routes that name an object has the next hops of the object.
#[test]
fn an_object_outlives_its_connection_and_is_kept_in_a_snapshot() {
    let frames = [
        wire::frame(&[wire::object(1, ip("192.0.2.9"), 2)]),
        wire::frame(&[wire::route(
            "10.0.0.0/8".parse().unwrap(),
            254,
            1,
            Some(&wire::named(1)),
        )]),
    ];
    let (mut tables, decoder) = tables(&frames);
    drop(decoder);
    let expected = BTreeMap::from([("10.0.0.0/8".parse().unwrap(), "192.0.2.9 dev 2".into())]);
    assert_eq!(answers(&tables, "main"), expected);
    let mut file = Vec::new();
    let mut snapshot = Snapshot::new();
    while snapshot.take(&mut tables, 1) {
        snapshot.write(&mut file).unwrap();
    }
    snapshot.finish(&mut file).unwrap();
    let now = Instant::now();
    let restored = Tables::restore(limits(), &mut &file[..], &|_| true, now).unwrap();
    assert_eq!(answers(&restored, "main"), expected);
}

/// A thousand groups with one member in common: a change of the member costs the same as without groups.
#[test]
fn a_member_of_many_groups_changes_at_once() {
    let group: Vec<(u32, u8)> = (7..507).map(|member| (member, 1)).collect();
    let prefix = |number: u32| {
        format!("10.{}.{}.0/24", number >> 8, number & 255)
            .parse()
            .unwrap()
    };
    let mut frames = Vec::new();
    for number in 0..1000 {
        frames.push(wire::frame(&[
            wire::group(5000 + number, &group),
            wire::route(prefix(number), 254, 1, Some(&wire::named(5000 + number))),
        ]));
    }
    let (mut tables, mut decoder) = tables(&frames);
    let id = tables.connected("fpm", Instant::now());
    let begin = Instant::now();
    let mut random = fastrand::Rng::with_seed(1);
    for gateway in 1..=200 {
        let frame = wire::frame(&[wire::object(
            7,
            format!("192.0.2.{gateway}").parse().unwrap(),
            1,
        )]);
        feed(&mut tables, id, &mut decoder, &frame, begin, &mut random);
    }
    // With a step for each member of each group it would be 100 million steps.
    assert!(begin.elapsed().as_secs() < 5);
    let values = answers(&tables, "main");
    assert_eq!(values.len(), 1000);
    assert!(values.values().all(|value| value == "192.0.2.200 dev 1"));
}

/// An object beyond the limit of memory, or of its source, is refused: the routes that name it say so, and nothing of it is kept.
#[test]
fn objects_count_against_the_limits_of_memory_and_of_their_source() {
    let group: Vec<(u32, u8)> = (0..500).map(|member| (member, 1)).collect();
    for (max_bytes, max_peer_paths, most) in
        [(80 << 20, 5_000_000, 24_000), (usize::MAX, 80_000, 160)]
    {
        let mut tables = Tables::new(Limits {
            max_bytes,
            max_peer_paths,
            ..limits()
        });
        let now = Instant::now();
        let id = tables.connected("fpm", now);
        let mut decoder = Decoder::fpm(tables.memory_budget());
        let mut send = |messages: &[Vec<u8>]| {
            let mut commit = |streams: &[_], transaction: &mut _| {
                tables.apply(id, streams, transaction, now);
            };
            decoder.push(&wire::frame(messages), &mut commit).unwrap();
            (tables.bytes(), tables.totals().refused)
        };
        let mut count = 0;
        while count < 40_000 {
            let (bytes, refused) = send(&[wire::group(10_000 + count, &group)]);
            assert!(bytes < 85 << 20);
            if refused > 0 {
                break;
            }
            count += 1;
        }
        assert!(count > 0 && count as usize <= most, "{count} groups");
        // If the new content of a group is refused, its old content is gone, too.
        let (bytes, _) = send(&[]);
        let (fewer, _) = send(&[wire::group(10_000, &[&group[..], &group].concat()[..510])]);
        assert!(fewer < bytes);
        // There is memory for a small one again.
        let (_, refused) = send(&[wire::group(10_000, &group[..10])]);
        assert_eq!(refused, 2);
        drop(decoder);
        assert!(
            tables.bytes() < 1 << 20,
            "{} bytes are held",
            tables.bytes()
        );
    }
}

/// Numbers that only routes name take no place when no route names them any more.
#[test]
fn numbers_that_no_route_names_are_forgotten() {
    let mut tables = Tables::new(limits());
    let now = Instant::now();
    let id = tables.connected("fpm", now);
    let mut decoder = Decoder::fpm(&Default::default());
    let prefix = "10.0.0.0/8".parse().unwrap();
    for number in 1..20_000 {
        let frame = wire::frame(&[wire::route(prefix, 254, 1, Some(&wire::named(number)))]);
        let mut commit = |streams: &[_], transaction: &mut _| {
            tables.apply(id, streams, transaction, now);
        };
        decoder.push(&frame, &mut commit).unwrap();
    }
    assert_eq!(answers(&tables, "main")[&prefix], "unknown nhid 19999");
    assert!(format!("{decoder:?}").matches("unknown nhid").count() < 3000);
}
