//! The packed form gives back what went in, and the embedded table is the one it claims to be.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::iter;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use popfib::{Address, IpPrefix, Prefix};

use super::pack::{AsRoute, pack, pack_names};
use super::unpack::{self, inflate};
use super::{AsNames, NAMES, PACKED};
use crate::error::ReadError;
use crate::input::Input;
use crate::load::{RouteTable, load};
use crate::table_format::LoadOptions;
use crate::values::ColumnSelection;
use popfib_table::{Cell, Scalar};

/// All routes of the embedded table, as a text table has them.
fn embedded_text() -> String {
    let mut columns = unpack::UnpackedColumns::unpack(PACKED);
    let numbers = columns.numbers();
    let mut text = String::new();
    while let Some((prefix, index)) = columns.next() {
        writeln!(text, "{prefix} {}", numbers[index]).expect("memory");
    }
    text
}

fn default_table() -> RouteTable {
    default_table_of(&ColumnSelection::Value).expect("no error")
}

fn default_table_of(columns: &ColumnSelection) -> Result<RouteTable, ReadError> {
    let options = LoadOptions {
        columns: columns.clone(),
        ..LoadOptions::new()
    };
    load(Input::built_in(), &options)
}

/// FNV-1a, 64 bits.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[test]
fn the_checksum_is_fnv_1a() {
    assert_eq!(checksum("foobar"), 0x8594_4171_f739_67e8);
}

/// The checksum was taken from a text table that was not made by this code.
#[test]
fn the_embedded_routes_have_the_known_checksum() {
    assert_eq!(checksum(&embedded_text()), 0xa565_bcb0_0d41_bd68);
}

#[test]
fn the_embedded_files_are_small() {
    assert!(PACKED.len() < 1_300_000, "{} bytes", PACKED.len());
    assert!(NAMES.len() < 760_000, "{} bytes", NAMES.len());
}

#[test]
fn the_embedded_table_loads_whole() {
    let table = default_table();
    assert_eq!(table.ribs.ipv4.len(), 901_899);
    assert_eq!(table.ribs.ipv6.len(), 160_147);
    assert_eq!(table.records.len(), 73_345);
    assert_eq!((table.replaced, table.skipped), (0, 0));

    let name = |next_hop| table.value(next_hop);
    let first = table.ribs.ipv4.iter().next().expect("a route");
    assert_eq!(first.0.to_string(), "1.0.0.0/24");
    assert_eq!((first.1.get(), name(first.1)), (1, "13335".into()));
    let (prefix, next_hop) = table.ribs.ipv4.longest_match(0x0808_0808).expect("a route");
    assert_eq!(prefix.to_string(), "8.8.8.0/24");
    assert_eq!(name(next_hop), "15169");
    let dns = Address::parse("2001:4860:4860::8888").expect("an address");
    let (prefix, next_hop) = table.ribs.ipv6.longest_match(dns).expect("a route");
    assert_eq!(prefix.to_string(), "2001:4860::/32");
    assert_eq!(name(next_hop), "15169");
    assert_eq!(table.ribs.ipv4.longest_match(0x0a00_0001), None);
}

/// The checksum was taken from the files of the source, by another program.
#[test]
fn the_embedded_names_have_the_known_checksum() {
    let names = AsNames::unpack();
    let line = |(asn, place): &(u32, std::ops::Range<usize>)| {
        format!("{asn} {}", &names.text[place.clone()])
    };
    let lines: Vec<String> = names.numbers.iter().map(line).collect();
    assert_eq!(lines.len(), 73_345);
    assert_eq!(checksum(&lines.join("\n")), 0x8b82_de32_beed_915e);
    assert_eq!(names.of(15169), Some("Google LLC"));
    assert_eq!((names.of(0), names.of(u32::MAX)), (None, None));
}

fn columns(names: &[&str]) -> RouteTable {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    default_table_of(&ColumnSelection::Named(names)).expect("columns that are there")
}

#[test]
fn each_route_has_the_number_and_the_name_of_its_origin() {
    let plain = default_table();
    let names = AsNames::unpack();
    for (wanted, asn, name) in [
        (ColumnSelection::All, 0, 1),
        (
            ColumnSelection::Named(vec!["as_name".into(), "asn".into()]),
            1,
            0,
        ),
    ] {
        let table = default_table_of(&wanted).expect("columns that are there");
        let records = &table.records;
        assert_eq!((records.len(), records.value_column()), (73_345, 0));
        assert_eq!(table.route_count(), plain.route_count());
        for ((prefix, plain_hop), (same, number)) in plain.routes().zip(table.routes()) {
            assert_eq!(prefix, same);
            let origin: u32 = plain.value(plain_hop).parse().expect("a number");
            let cell = records.cell(number, asn);
            assert_eq!(cell, Some(Cell::Scalar(Scalar::Integer(origin.into()))));
            let cell = records.cell(number, name);
            assert_eq!(
                cell,
                names
                    .of(origin)
                    .map(|name| Cell::Scalar(Scalar::Text(name)))
            );
        }
    }
}

#[test]
fn one_column_of_the_embedded_table_is_a_value() {
    let plain = default_table();
    let numbers = columns(&["asn"]);
    assert_eq!(numbers.columns.name(), Some("asn"));
    let names = numbers.records.columns().iter().map(|column| column.name());
    assert!(names.eq(["asn"]));
    assert!(numbers.ribs.ipv4 == plain.ribs.ipv4 && numbers.ribs.ipv6 == plain.ribs.ipv6);

    // An unknown AS has no name.
    let table = columns(&["as_name"]);
    let names = AsNames::unpack();
    let mut routes = table.routes();
    for (prefix, next_hop) in plain.routes() {
        let origin = plain.value(next_hop).parse().expect("a number");
        let (same, number) = routes.next().expect("as many routes");
        assert_eq!(
            (prefix, names.of(origin).unwrap_or_default()),
            (same, &*table.value(number))
        );
    }
    assert_eq!(routes.next(), None);

    let error =
        default_table_of(&ColumnSelection::Named(vec!["name".into()])).expect_err("no such column");
    assert_eq!(
        error.to_string(),
        "tier1-origin-20260617: no column \"name\" in \"asn\", \"as_name\""
    );
}

/// Data that is kept beside a checkout, not in it.
fn shared(path: &str) -> Option<PathBuf> {
    let beside = |dir: &Path| Some(dir.parent()?.join("shared/data").join(path));
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .filter_map(beside)
        .find(|path| path.exists())
}

#[test]
fn the_embedded_routes_are_those_of_the_text_table() {
    const NAME: &str = "tables/bart-tier1-v46.origin.txt.gz";
    let Some(path) = shared(NAME) else {
        println!("skipped: the_embedded_routes_are_those_of_the_text_table: no {NAME}");
        return;
    };
    let file = File::open(&path).expect("the text table");
    let expected = BufReader::new(GzDecoder::new(file)).lines();
    let text = embedded_text();
    let mut found = text.lines();
    for (index, line) in expected.enumerate() {
        assert_eq!(
            found.next(),
            Some(&*line.expect("text")),
            "line {}",
            index + 1
        );
    }
    assert_eq!(found.next(), None);
}

/// What comes out of what [`pack`] made of these routes.
fn round_trip(ipv4: &[AsRoute<u32>], ipv6: &[AsRoute<u128>]) {
    let packed = pack(ipv4, ipv6);
    let mut columns = unpack::UnpackedColumns::unpack(&packed);
    let numbers = columns.numbers();
    let ipv4 = ipv4.iter().map(|&(prefix, asn)| (prefix.into(), asn));
    let ipv6 = ipv6.iter().map(|&(prefix, asn)| (prefix.into(), asn));
    let wanted: Vec<(IpPrefix, u32)> = ipv4.chain(ipv6).collect();
    let found = iter::from_fn(|| columns.next());
    let found: Vec<_> = found
        .map(|(prefix, index)| (prefix, numbers[index]))
        .collect();
    assert_eq!(found, wanted);
}

fn route<A: Address>(bits: A, len: u8, asn: u32) -> AsRoute<A> {
    (Prefix::new_masked(bits, len).expect("a length"), asn)
}

#[test]
fn tables_of_few_routes_come_back() {
    round_trip(&[], &[]);
    assert_eq!(
        inflate(&pack_names(&[7, 9], |asn| ["a", "b c"][usize::from(asn == 9)])),
        b"a\nb c"
    );
    round_trip(&[route(0, 0, 0)], &[]);
    round_trip(&[], &[route(0, 0, 7)]);
    round_trip(&[route(u32::MAX, 32, u32::MAX)], &[route(1, 128, 0)]);
    let chain: Vec<AsRoute<u128>> = (0..=128).map(|len| route(u128::MAX, len, 9)).collect();
    round_trip(&[route(0, 32, 1), route(1, 32, 2)], &chain);
}

/// Numbers that look random, the same ones every time (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Routes in few places (`spread` bits), so that they nest, with few or many AS.
    fn routes<A: Address>(&mut self, count: u64, spread: u8, origins: u64) -> Vec<AsRoute<A>> {
        let mut routes = BTreeMap::new();
        for _ in 0..count {
            let len = self.below(u64::from(A::WIDTH) + 1) as u8;
            let wide = u128::from(self.next()) << 64 | u128::from(self.next());
            let address = A::truncate(wide) & !A::mask(A::WIDTH - spread);
            let (prefix, asn) = route(address, len, self.below(origins) as u32);
            routes.insert(prefix, asn);
        }
        routes.into_iter().collect()
    }
}

#[test]
fn random_tables_come_back() {
    let mut random = Random(1);
    for round in 0..400 {
        let count = random.below(200);
        let spread = random.below(33) as u8;
        let origins = [1, 2, 40, 4_294_967_295][round % 4];
        let ipv4 = random.routes(count, spread, origins);
        let ipv6 = random.routes(200 - count, 4 * spread, origins);
        round_trip(&ipv4, &ipv6);
    }
}
