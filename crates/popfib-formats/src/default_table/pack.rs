//! Packs a table: the counterpart of `unpack`, which describes the form. Routes in, bytes out.
//!
//! Compiled into the packer (`examples/pack-default-table.rs`) and into the
//! tests only. The same routes give the same bytes on any machine, as long as
//! `Cargo.lock` names the same compressor.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use popfib::{Address, Prefix};

use super::unpack::{SIZES, round_up, size};

/// One route: a prefix and its AS.
pub(crate) type AsRoute<A> = (Prefix<A>, u32);

/// The columns that are filled route by route; `numbers` is known before.
#[derive(Default)]
struct PackedColumns {
    lengths: Vec<u8>,
    steps: Vec<u8>,
    changes: Vec<u8>,
    places: [Vec<u8>; 3],
    place: u32,
}

/// Packs the routes of both families, each in prefix order and without repetition.
pub(crate) fn pack(ipv4: &[AsRoute<u32>], ipv6: &[AsRoute<u128>]) -> Vec<u8> {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    let origins = ipv4.iter().map(|r| r.1).chain(ipv6.iter().map(|r| r.1));
    for asn in origins {
        *counts.entry(asn).or_default() += 1;
    }
    let mut ranking: Vec<u32> = counts.keys().copied().collect();
    ranking.sort_by_key(|asn| Reverse(counts[asn]));
    let places: HashMap<u32, u32> = ranking.iter().copied().zip(0..).collect();

    // The most frequent AS first, so that the high bytes of places are mostly zero.
    let mut numbers = Vec::new();
    let mut last = 0u32;
    for &asn in &ranking {
        put_number(&mut numbers, u128::from(asn.wrapping_sub(last)));
        last = asn;
    }
    let mut columns = PackedColumns::default();
    columns.family(ipv4, &places);
    columns.family(ipv6, &places);

    let [high, middle, low] = &columns.places;
    let (lengths, steps, changes) = (&columns.lengths, &columns.steps, &columns.changes);
    let columns = [&numbers, lengths, steps, changes, high, middle, low];
    let mut bytes = (ipv4.len() as u32).to_be_bytes().to_vec();
    bytes.extend(columns.iter().flat_map(|c| (c.len() as u32).to_be_bytes()));
    assert_eq!(bytes.len(), 4 * SIZES);
    bytes.extend(columns.into_iter().flatten());

    deflate(&bytes)
}

/// Packs the names of AS: of these numbers, which are in ascending order.
pub(crate) fn pack_names<'n>(numbers: &[u32], name: impl Fn(u32) -> &'n str) -> Vec<u8> {
    assert!(numbers.is_sorted_by(|a, b| a < b));
    let names: Vec<&str> = numbers.iter().map(|&asn| name(asn)).collect();
    assert!(!names.concat().contains('\n'));
    deflate(names.join("\n").as_bytes())
}

/// The size of `bytes` and their DEFLATE stream.
fn deflate(bytes: &[u8]) -> Vec<u8> {
    let packed = (bytes.len() as u32).to_be_bytes().to_vec();
    let mut encoder = DeflateEncoder::new(packed, Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

impl PackedColumns {
    /// Adds the routes of a family, each by its difference to the one before.
    fn family<A: Address>(&mut self, routes: &[AsRoute<A>], places: &HashMap<u32, u32>) {
        assert!(routes.is_sorted_by(|a, b| a.0 < b.0));
        let (mut before, mut behind) = (None, 0);
        for &(prefix, asn) in routes {
            let first = prefix.first().to_u128();
            let size = size(A::WIDTH - prefix.len());
            let covering = before.filter(|before: &Prefix<A>| before.covers(&prefix));
            let (from, kind) = match covering {
                Some(covering) => (covering.first().to_u128(), 1),
                None => (round_up(behind, size), 0),
            };
            // Only the prefix of length 0 has the size 0 (2^128), and it starts at 0.
            let steps = (first - from).checked_div(size).unwrap_or(0);
            assert!(steps >> 127 == 0, "half of all addresses without a route");
            self.lengths.push(prefix.len());
            put_number(&mut self.steps, steps << 1 | kind);
            before = Some(prefix);
            behind = first.wrapping_add(size);

            let place = places[&asn];
            self.changes.push(u8::from(place != self.place));
            if place != self.place {
                let [top, bytes @ ..] = place.to_be_bytes();
                assert_eq!(top, 0, "more than 2^24 AS");
                for (column, byte) in self.places.iter_mut().zip(bytes) {
                    column.push(byte);
                }
                self.place = place;
            }
        }
    }
}

/// Appends a number, 7 bits a byte from the lowest up.
fn put_number(column: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        column.push(number as u8 | 0x80);
        number >>= 7;
    }
    column.push(number as u8);
}
