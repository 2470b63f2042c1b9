//! Streams made by encoders of the tests, decoded and applied, compared with maps that know no tries.

mod at_once;
mod bmp;
mod files;
mod fpm;
mod kernel;
mod limits;
mod orders;
mod orders_tests;
mod sessions;
mod snapshot;
mod tables;
mod text;
mod wire;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use popfib::{IpPrefix, Prefix};
use popfib_feed::{ConnectionId, Decoder, Limits, Tables};

use at_once::AtOnce as _;

/// Prefixes that collide often, of both families.
fn prefix(random: &mut fastrand::Rng) -> IpPrefix {
    if random.bool() {
        let length = *random.choice([0, 8, 15, 16, 24, 32]).as_ref().unwrap();
        let bits = 0x0a00_0000 | u32::from(random.u8(0..4)) << 16 | u32::from(random.u8(0..3));
        Prefix::new_masked(bits, length).unwrap().into()
    } else {
        let length = *random.choice([0, 32, 33, 48, 128]).as_ref().unwrap();
        let bits = 0x2001_0db8_u128 << 96
            | u128::from(random.u8(0..4)) << 80
            | u128::from(random.u8(0..2));
        Prefix::new_masked(bits, length).unwrap().into()
    }
}

/// Feeds `bytes` in pieces of random lengths.
fn feed(
    tables: &mut Tables,
    id: ConnectionId,
    decoder: &mut Decoder,
    mut bytes: &[u8],
    now: Instant,
    random: &mut fastrand::Rng,
) {
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at(random.usize(1..=bytes.len().min(200)));
        bytes = rest;
        decoder
            .push(piece, &mut |streams, transaction| {
                tables.apply(id, streams, transaction, now)
            })
            .expect("the encoder writes what the decoder reads");
    }
}

/// The best paths of a table as text; what lookups see must be the same.
fn answers(tables: &Tables, table: &str) -> BTreeMap<IpPrefix, String> {
    let (ipv4, ipv6) = tables.routes(table);
    let ipv4 = ipv4
        .into_iter()
        .map(|(prefix, target)| (prefix.into(), target.to_string()));
    let ipv6 = ipv6
        .into_iter()
        .map(|(prefix, target)| (prefix.into(), target.to_string()));
    let routes: BTreeMap<IpPrefix, String> = ipv4.chain(ipv6).collect();
    let Some(mut reader) = tables.view(table).map(|view| view.reader()) else {
        return routes;
    };
    let view = reader.pin();
    for prefix in routes.keys() {
        let address = prefix.address();
        let longest = routes
            .iter()
            .filter(|(prefix, _)| prefix.contains(address))
            .max_by_key(|(prefix, _)| prefix.len());
        let seen = view.longest_match(address);
        let seen = seen.map(|(prefix, target)| (prefix, target.to_string()));
        let expected = longest.map(|(&prefix, text)| (prefix, text.clone()));
        assert_eq!(seen, expected, "{address} in {table}");
    }
    routes
}

fn limits() -> Limits {
    Limits {
        idle: Duration::from_secs(60),
        ..Limits::default()
    }
}

/// Any bytes, and good ones with damage, end in an error or in counts.
fn survives(make: impl Fn() -> Decoder, good: &[u8], random: &mut fastrand::Rng) {
    survived(good, random, |bytes| {
        let mut tables = Tables::new(limits());
        let now = Instant::now();
        let id = tables.connected("any", now);
        let mut decoder = make();
        let result = decoder.push(&bytes, &mut |streams, transaction| {
            tables.apply(id, streams, transaction, now);
        });
        if let Err(error) = result {
            assert!(!error.to_string().contains('\n'));
        }
        tables
    });
}

/// The same of whatever makes tables of bytes.
fn survived(good: &[u8], random: &mut fastrand::Rng, run: impl Fn(Vec<u8>) -> Tables) {
    for round in 0..2000 {
        let mut bytes = good[..random.usize(..=good.len())].to_vec();
        if round % 4 == 0 {
            bytes = (0..random.usize(..200)).map(|_| random.u8(..)).collect();
        }
        for _ in 0..random.usize(..4) {
            if !bytes.is_empty() {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
        }
        let mut tables = run(bytes);
        tables.tick(Instant::now() + limits().idle * 2, usize::MAX);
        let names: Vec<String> = tables.tables_after(None).map(|table| table.name).collect();
        for name in names {
            answers(&tables, &name);
        }
    }
}
