//! MRT files made here, byte by byte: what is read of them, and what is refused.

use crate::common::{SKIP, STRICT, error, input, load_from, read, routes};
use crate::mrt_file::{
    as_path, next_hop, path_attribute, peer_table, reach, record, rib, table_dump,
};
use popfib_formats::{Format, LoadOptions, PeerFilter, RouteValue, open_routes};

/// Two peers, IPv4 and IPv6 routes, ties and detours.
fn table() -> Vec<u8> {
    let v4 = |asns: &[u32], hop: [u8; 4]| [as_path(&[(2, asns)]), next_hop(hop)].concat();
    let v6 = |asns: &[u32], hop: &[u8]| [as_path(&[(2, asns)]), reach(hop)].concat();
    let hop6 = [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[7]].concat();
    [
        peer_table(&[([192, 0, 2, 1], 64501), ([192, 0, 2, 2], 64502)]),
        // The shorter path, whatever the order.
        rib(
            2,
            &[8, 10],
            &[(0, v4(&[1, 2, 3], [1; 4])), (1, v4(&[4, 5], [2; 4]))],
        ),
        rib(
            2,
            &[8, 11],
            &[(0, v4(&[1, 2], [1; 4])), (1, v4(&[4, 5, 6], [2; 4]))],
        ),
        // As long: the lower index, wherever it stands.
        rib(
            2,
            &[8, 12],
            &[(1, v4(&[4, 5], [2; 4])), (0, v4(&[1, 2], [1; 4]))],
        ),
        rib(2, &[0], &[(1, v4(&[], [2; 4]))]),
        // Host bits mean nothing.
        rib(2, &[12, 172, 0x1f], &[(0, v4(&[9], [1; 4]))]),
        rib(4, &[32, 0x20, 1, 0xd, 0xb8], &[(0, v6(&[1, 9], &hop6))]),
    ]
    .concat()
}

fn with(peer: Option<&str>, value: RouteValue) -> LoadOptions {
    LoadOptions {
        peer: peer.map(|peer| peer.parse().unwrap()),
        value,
        ..STRICT.clone()
    }
}

#[test]
fn the_best_path_of_each_prefix() {
    let table = read(table(), &STRICT).unwrap();
    let wanted = [
        "0.0.0.0/0 2.2.2.2",
        "10.0.0.0/8 2.2.2.2",
        "11.0.0.0/8 1.1.1.1",
        "12.0.0.0/8 1.1.1.1",
        "172.16.0.0/12 1.1.1.1",
        "2001:db8::/32 2001:db8::7",
    ];
    assert_eq!(routes(&table), wanted);
    assert_eq!((table.replaced, table.skipped), (0, 0));
    assert!(table.notes.is_empty());
}

#[test]
fn one_peer_by_index_address_or_as() {
    for peer in ["1", "192.0.2.2", "AS64502"] {
        let table = read(table(), &with(Some(peer), RouteValue::NextHop)).unwrap();
        let prefixes = ["0.0.0.0/0", "10.0.0.0/8", "11.0.0.0/8", "12.0.0.0/8"];
        let wanted = prefixes.map(|prefix| format!("{prefix} 2.2.2.2"));
        assert_eq!(routes(&table), wanted, "{peer}");
    }
    let nobody = with(Some("AS1"), RouteValue::NextHop);
    assert_eq!(
        error(table(), &nobody),
        "t: there is no route in it from peer AS1"
    );
    for text in ["", "AS", "ASx", "-1", "1.2.3", "AS99999999999"] {
        assert!(text.parse::<PeerFilter>().is_err(), "{text}");
    }
}

#[test]
fn other_values_than_the_next_hop() {
    let table = |value| routes(&read(table(), &with(None, value)).unwrap());
    let wanted = [
        "0.0.0.0/0 64502", // an empty path: the peer's own
        "10.0.0.0/8 5",
        "11.0.0.0/8 2",
        "12.0.0.0/8 2",
        "172.16.0.0/12 9",
        "2001:db8::/32 9",
    ];
    assert_eq!(table(RouteValue::OriginAs), wanted);
    let peers = table(RouteValue::Peer);
    assert_eq!(peers[..2], ["0.0.0.0/0 192.0.2.2", "10.0.0.0/8 192.0.2.2"]);
    assert_eq!(peers[2], "11.0.0.0/8 192.0.2.1");
}

#[test]
fn sets_and_confederations_in_paths() {
    let hop = next_hop([1; 4]);
    let path = |segments: &[(u8, &[u32])]| [as_path(segments), hop.clone()].concat();
    let data = |first: &[(u8, &[u32])], second: &[(u8, &[u32])]| {
        [
            peer_table(&[([192, 0, 2, 1], 1), ([192, 0, 2, 2], 2)]),
            rib(2, &[8, 10], &[(0, path(first)), (1, path(second))]),
        ]
        .concat()
    };
    let origin = |first, second| {
        let options = with(None, RouteValue::OriginAs);
        routes(&read(data(first, second), &options).unwrap())
    };
    // A set counts once: 2 against 3.
    let set: &[(u8, &[u32])] = &[(2, &[7]), (1, &[8, 9, 10])];
    assert_eq!(origin(&[(2, &[1, 2, 3])], set), ["10.0.0.0/8 {8,9,10}"]);
    assert_eq!(origin(&[(1, &[8])], set), ["10.0.0.0/8 {8}"]);
    // Confederations don't count: 1 against 2.
    let confederation: &[(u8, &[u32])] = &[(3, &[1, 2, 3]), (4, &[5]), (2, &[7])];
    assert_eq!(origin(&[(2, &[1, 2])], confederation), ["10.0.0.0/8 7"]);
    assert_eq!(
        origin(&[(2, &[70000])], &[(2, &[1, 2])]),
        ["10.0.0.0/8 70000"]
    );
}

#[test]
fn next_hops_of_ipv6() {
    let global = [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[7]].concat();
    let link = [&[0xfe, 0x80][..], &[0; 13], &[1]].concat();
    let hop = |hop: &[u8]| {
        let data = [
            peer_table(&[([192, 0, 2, 1], 1)]),
            rib(4, &[0], &[(0, [as_path(&[]), reach(hop)].concat())]),
        ];
        routes(&read(data.concat(), &STRICT).unwrap()).remove(0)
    };
    assert_eq!(hop(&global), "::/0 2001:db8::7");
    assert_eq!(hop(&[&global[..], &link].concat()), "::/0 2001:db8::7");
    assert_eq!(hop(&[&link[..], &global].concat()), "::/0 2001:db8::7");
    assert_eq!(hop(&[&[0; 16][..], &link].concat()), "::/0 fe80::1");
    // IPv4 prefixes with next hops of IPv6 (RFC 8950).
    let data = [
        peer_table(&[([192, 0, 2, 1], 1)]),
        rib(2, &[8, 10], &[(0, [as_path(&[]), reach(&global)].concat())]),
    ];
    let table = read(data.concat(), &STRICT).unwrap();
    assert_eq!(routes(&table), ["10.0.0.0/8 2001:db8::7"]);
    // The whole attribute, as old programs wrote it.
    let whole = [&[0, 2, 1, 16][..], &global, &[0], &[0]].concat();
    let whole = path_attribute(14, &whole);
    let data = [
        peer_table(&[([192, 0, 2, 1], 1)]),
        rib(4, &[0], &[(0, [as_path(&[]), whole].concat())]),
    ];
    let table = read(data.concat(), &STRICT).unwrap();
    assert_eq!(routes(&table), ["::/0 2001:db8::7"]);
}

#[test]
fn table_dump_of_old() {
    let route = |prefix, peer: u8, asns: &[u16]| table_dump(prefix, [192, 0, 2, peer], asns);
    let data = [
        route([10, 0, 0, 0, 8], 9, &[1, 2, 3]),
        route([10, 0, 0, 0, 8], 4, &[1, 2]),
        route([11, 0, 0, 0, 8], 4, &[5]),
        route([11, 0, 0, 0, 8], 9, &[6]),
    ]
    .concat();
    let table = read(data.clone(), &STRICT).unwrap();
    let wanted = ["10.0.0.0/8 192.0.2.4", "11.0.0.0/8 192.0.2.9"];
    assert_eq!(routes(&table), wanted);
    let table = read(data.clone(), &with(None, RouteValue::OriginAs)).unwrap();
    assert_eq!(routes(&table), ["10.0.0.0/8 2", "11.0.0.0/8 6"]);
    // Peers are numbered as they come.
    let table = read(data.clone(), &with(Some("1"), RouteValue::NextHop)).unwrap();
    assert_eq!(routes(&table)[1], "11.0.0.0/8 192.0.2.4");
    let mut source = open_routes(input(data), &STRICT).unwrap();
    while source.next_route().unwrap().is_some() {}
    let peers = source.peers().iter();
    let seen: Vec<_> = peers
        .map(|p| (p.address.to_string(), p.asn, p.ipv4_routes))
        .collect();
    assert_eq!(
        seen,
        [
            ("192.0.2.9".into(), 64500, 2),
            ("192.0.2.4".into(), 64500, 2)
        ]
    );
}

#[test]
fn other_records_are_left_out_and_counted() {
    let data = [
        record(13, 7, &[1, 2, 3]),  // GEO_PEER_TABLE
        record(11, 0, b"whatever"), // OSPFv2
        table(),
        record(13, 99, b""),
        record(13, 3, b"multicast"),
    ]
    .concat();
    assert_eq!(Format::detect(&data).name(), "mrt");
    let table = read(data, &STRICT).unwrap();
    assert_eq!(table.route_count(), 6);
    assert_eq!(
        table.notes,
        ["4 records that hold no unicast routes left out"]
    );
    assert_eq!(
        error(record(16, 4, b"an update"), &STRICT),
        "t: there is no route in it; 1 record of updates left out (`popfibd --updates` makes a table of them)"
    );
}

#[test]
fn records_that_are_invalid() {
    let good = [as_path(&[(2, &[1])]), next_hop([1; 4])].concat();
    let peers = || peer_table(&[([192, 0, 2, 1], 1)]);
    let at = peers().len();
    let path = |bytes: &[u8]| path_attribute(2, bytes);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (
            rib(2, &[8, 10], &[(1, good.clone())]),
            "a route of a peer that is not in the table of peers",
        ),
        (
            rib(2, &[33, 1, 2, 3, 4, 5], &[(0, good.clone())]),
            "a prefix is longer than its addresses",
        ),
        (
            rib(4, &[129; 18], &[(0, good.clone())]),
            "a prefix is longer than its addresses",
        ),
        (
            rib(4, &[255; 33], &[(0, good.clone())]),
            "a prefix is longer than its addresses",
        ),
        (
            rib(2, &[8, 10], &[(0, path(&[2, 9, 0, 0, 0, 1]))]),
            "a field reaches beyond its record",
        ),
        (
            rib(2, &[8, 10], &[(0, path(&[9, 0]))]),
            "an AS path has a segment of no known kind",
        ),
        (
            rib(2, &[8, 10], &[(0, as_path(&[]))]),
            "a route without a next hop",
        ),
        (
            rib(2, &[8, 10], &[(0, vec![0x40, 3, 200, 1])]),
            "a field reaches beyond its record",
        ),
        (
            record(13, 2, &[0, 0, 0, 0, 8, 10, 0, 2]),
            "a field reaches beyond its record",
        ),
        (record(13, 1, &[0; 7]), "a field reaches beyond its record"),
        (record(12, 1, &[0; 9]), "a field reaches beyond its record"),
    ];
    for (bad, reason) in cases {
        let after = rib(2, &[8, 11], &[(0, good.clone())]);
        let data = [peers(), bad, after].concat();
        assert_eq!(
            error(data.clone(), &STRICT),
            format!("t: byte {at}: {reason}")
        );
        let table = read(data, &SKIP).unwrap();
        assert_eq!(routes(&table), ["11.0.0.0/8 1.1.1.1"], "{reason}");
        assert_eq!(table.skipped, 1, "{reason}");
    }
    let early = rib(2, &[8, 10], &[(0, good)]);
    assert_eq!(
        error(early, &STRICT),
        "t: byte 0: routes before the table of peers"
    );
}

#[test]
fn files_cut_off_anywhere() {
    let data = table();
    let whole = routes(&read(data.clone(), &STRICT).unwrap());
    let mut most = 0;
    for cut in 13..data.len() {
        let options = LoadOptions {
            format: Format::by_name("mrt"),
            ..STRICT.clone()
        };
        // Where a record ends, the rest isn't missed.
        if let Err(error) = read(&data[..cut], &options) {
            let message = error.to_string();
            let is_empty = message.ends_with("there is no route in it");
            let is_cut = message.contains(": the file ends in a record: ");
            assert!(is_empty || is_cut && error.is_cut(), "{cut}: {message}");
            assert!(is_empty || error.byte().unwrap() <= cut as u64);
            if is_cut && let Ok(kept) = read(&data[..cut], &SKIP) {
                let kept = routes(&kept);
                assert!(kept.iter().all(|route| whole.contains(route)));
                most = most.max(kept.len());
            }
        }
    }
    assert_eq!(most, whole.len() - 1);
}

#[test]
fn hostile_lengths() {
    // Four GiB promised, nothing there.
    let header = [0, 0, 0, 1, 0, 13, 0, 2, 0xff, 0xff, 0xff, 0xff];
    let options = LoadOptions {
        format: Format::by_name("mrt"),
        ..STRICT.clone()
    };
    let message = load_from(input(header), &options).unwrap_err().to_string();
    let reason = "a record of 4294967295 bytes, more than 16777216";
    assert_eq!(message, format!("t: byte 0: {reason}"));
    // As long as may be, and nothing there either.
    let header = [0, 0, 0, 1, 0, 13, 0, 2, 1, 0, 0, 0];
    let message = error([&header[..], &[7; 100]].concat(), &options);
    assert_eq!(
        message,
        "t: byte 0: the file ends in a record: 112 of 16777228 bytes"
    );
    // One too long is skipped, if it is there, and the rest is read.
    let long = 17 << 20;
    let huge = [
        &[0, 0, 0, 1, 0, 13, 0, 2][..],
        &u32::to_be_bytes(long),
        &vec![0; long as usize],
    ];
    let table = read(
        [&huge.concat()[..], &table()].concat(),
        &LoadOptions {
            skip_invalid: true,
            ..options
        },
    );
    let table = table.unwrap();
    assert_eq!((table.ribs.ipv4.len(), table.skipped), (5, 1));
    // As is a great one that is allowed.
    let great = record(13, 99, &vec![0; 15 << 20]);
    let table = read([peer_table(&[]), great, self::table()].concat(), &STRICT).unwrap();
    assert_eq!(table.ribs.ipv4.len(), 5);
}

#[test]
fn additional_paths() {
    let mut entry = Vec::new();
    for (identifier, path) in [(1, &[1, 2, 3][..]), (2, &[9]), (3, &[1, 2])] {
        let hop = next_hop([identifier; 4]);
        let attributes = [as_path(&[(2, path)]), hop].concat();
        entry.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, identifier]);
        entry.extend((attributes.len() as u16).to_be_bytes());
        entry.extend(attributes);
    }
    let body = [&[0, 0, 0, 0, 8, 10, 0, 3][..], &entry].concat();
    let data = [peer_table(&[([192, 0, 2, 1], 1)]), record(13, 8, &body)].concat();
    assert_eq!(
        routes(&read(data, &STRICT).unwrap()),
        ["10.0.0.0/8 2.2.2.2"]
    );
}
