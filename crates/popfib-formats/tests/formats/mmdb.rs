//! MaxMind databases, made here byte by byte as their specification says.

use std::collections::BTreeMap;

use crate::common::{STRICT, error, named, read, routes};
use popfib_formats::{Format, LoadOptions};

/// A value of the data section.
pub(super) enum Value<'a> {
    Text(&'a str),
    Short(u16),
    Number(u32),
    Long(u64),
    Map(&'a [(&'a str, Value<'a>)]),
    Array(&'a [Value<'a>]),
    Bytes(&'a [u8]),
    Signed(i32),
    Longest(u128),
    Double(f64),
    Float(f32),
    Truth(bool),
    /// To an offset below 2,048 of the data section.
    Pointer(u16),
}

fn encode(value: &Value<'_>, out: &mut Vec<u8>) {
    let control = |kind: u8, len: usize, out: &mut Vec<u8>| {
        assert!(len < 285);
        let size = len.min(29) as u8;
        if kind > 7 {
            out.extend([size, kind - 7]);
        } else {
            out.push(kind << 5 | size);
        }
        if len >= 29 {
            out.push((len - 29) as u8);
        }
    };
    match value {
        Value::Text(text) => {
            control(2, text.len(), out);
            out.extend(text.as_bytes());
        }
        Value::Short(number) => {
            control(5, 2, out);
            out.extend(number.to_be_bytes());
        }
        Value::Long(number) => {
            control(9, 8, out);
            out.extend(number.to_be_bytes());
        }
        Value::Number(number) => {
            control(6, 4, out);
            out.extend(number.to_be_bytes());
        }
        Value::Map(members) => {
            control(7, members.len(), out);
            for (key, value) in *members {
                encode(&Value::Text(key), out);
                encode(value, out);
            }
        }
        Value::Pointer(offset) => {
            assert!(*offset < 2048);
            out.extend([1 << 5 | (offset >> 8) as u8, *offset as u8]);
        }
        Value::Bytes(bytes) => {
            control(4, bytes.len(), out);
            out.extend(*bytes);
        }
        Value::Signed(number) => {
            control(8, 4, out);
            out.extend(number.to_be_bytes());
        }
        Value::Longest(number) => {
            control(10, 16, out);
            out.extend(number.to_be_bytes());
        }
        Value::Double(number) => {
            control(3, 8, out);
            out.extend(number.to_be_bytes());
        }
        Value::Float(number) => {
            control(15, 4, out);
            out.extend(number.to_be_bytes());
        }
        Value::Truth(truth) => control(14, usize::from(*truth), out),
        Value::Array(items) => {
            control(11, items.len(), out);
            items.iter().for_each(|item| encode(item, out));
        }
    }
}

/// A node of the tree while it is built; a record's number or a subtree.
#[derive(Default)]
struct Node {
    record: Option<usize>,
    children: [Option<Box<Node>>; 2],
}

/// A database of `networks` (first bits, length, record) in a tree of `version`.
pub(super) fn database(
    version: u16,
    networks: &[(u128, u8, usize)],
    records: &[Value<'_>],
) -> Vec<u8> {
    let mut root = Node::default();
    for &(bits, len, record) in networks {
        let mut node = &mut root;
        for depth in 0..len {
            let bit = (bits >> (127 - depth) & 1) as usize;
            node = node.children[bit].get_or_insert_default();
        }
        node.record = Some(record);
    }
    let mut data = Vec::new();
    let offsets: Vec<usize> = records
        .iter()
        .map(|record| {
            let offset = data.len();
            encode(record, &mut data);
            offset
        })
        .collect();
    fn count(node: &Node) -> usize {
        let inner = node.record.is_none();
        usize::from(inner)
            + node
                .children
                .iter()
                .flatten()
                .map(|n| count(n))
                .sum::<usize>()
    }
    let nodes = count(&root);
    // Depth first, as writers do.
    fn number(
        node: &Node,
        next: &mut usize,
        nodes: usize,
        offsets: &[usize],
        out: &mut BTreeMap<usize, [usize; 2]>,
    ) -> usize {
        if let Some(record) = node.record {
            return nodes + 16 + offsets[record];
        }
        let own = *next;
        *next += 1;
        let sides = [0, 1].map(|side| match &node.children[side] {
            Some(child) => number(child, next, nodes, offsets, out),
            None => nodes,
        });
        out.insert(own, sides);
        own
    }
    let mut tree = BTreeMap::new();
    number(&root, &mut 0, nodes, &offsets, &mut tree);
    let mut file = Vec::new();
    for sides in tree.values() {
        for side in sides {
            file.extend(&(*side as u32).to_be_bytes()[1..]);
        }
    }
    file.extend([0; 16]);
    file.extend(data);
    file.extend(b"\xab\xcd\xefMaxMind.com");
    let metadata = Value::Map(&[
        ("binary_format_major_version", Value::Short(2)),
        ("binary_format_minor_version", Value::Short(0)),
        ("build_epoch", Value::Long(1)),
        ("database_type", Value::Text("Test")),
        ("description", Value::Map(&[("en", Value::Text("test"))])),
        ("ip_version", Value::Short(version)),
        ("languages", Value::Array(&[])),
        ("node_count", Value::Number(nodes as u32)),
        ("record_size", Value::Short(24)),
    ]);
    encode(&metadata, &mut file);
    file
}

/// `first` of an IPv4 address, as the first bits.
pub(super) const fn v4(a: u8, b: u8, c: u8, d: u8) -> u128 {
    (u32::from_be_bytes([a, b, c, d]) as u128) << 96
}

/// The tree of IPv4 is `::/96`, so a shorter network that covers it answers for all of IPv4.
#[test]
fn a_network_above_the_tree_of_ipv4_is_one_of_ipv4_too() {
    let records = [Value::Text("all"), Value::Text("other")];
    let networks = [(0, 64, 0), (0x2001_0db8 << 96, 32, 1)];
    let table = read(database(6, &networks, &records), &STRICT).unwrap();
    let wanted = ["0.0.0.0/0 all", "::/64 all", "2001:db8::/32 other"];
    assert_eq!(routes(&table), wanted);
    let table = read(database(6, &[(0, 96, 0)], &records), &STRICT).unwrap();
    assert_eq!(routes(&table), ["0.0.0.0/0 all"]);
}

#[test]
fn the_most_telling_scalar_is_the_value() {
    let records = [
        Value::Map(&[
            ("autonomous_system_organization", Value::Text("X")),
            ("autonomous_system_number", Value::Number(13335)),
        ]),
        Value::Map(&[
            ("city", Value::Map(&[("en", Value::Text("Paris"))])),
            (
                "country",
                Value::Map(&[
                    ("geoname_id", Value::Number(7)),
                    ("iso_code", Value::Text("FR")),
                ]),
            ),
        ]),
        Value::Text("plain"),
        Value::Map(&[
            ("a", Value::Map(&[])),
            ("b", Value::Array(&[Value::Text(""), Value::Number(5)])),
            ("c", Value::Number(6)),
        ]),
    ];
    let file = database(
        4,
        &[
            (v4(0, 0, 0, 0), 8, 2),
            (v4(1, 0, 0, 0), 24, 0),
            (v4(1, 0, 1, 0), 24, 1),
            (v4(9, 0, 0, 0), 8, 3),
            (v4(10, 0, 0, 0), 8, 0),
        ],
        &records,
    );
    assert_eq!(Format::detect(&file).name(), "mmdb");
    assert_eq!(
        routes(&read(file, &STRICT).unwrap()),
        [
            "0.0.0.0/8 plain",
            "1.0.0.0/24 13335",
            "1.0.1.0/24 FR",
            "9.0.0.0/8 5",
            "10.0.0.0/8 13335"
        ]
    );
}

#[test]
fn networks_of_ipv4_in_a_tree_of_ipv6_are_ipv4() {
    let record = [Value::Text("a"), Value::Text("b")];
    let file = database(
        6,
        &[(v4(1, 0, 0, 0) >> 96, 120, 0), (0x2001_0db8 << 96, 32, 1)],
        &record,
    );
    assert_eq!(Format::detect(&file).name(), "mmdb");
    assert_eq!(
        routes(&read(file, &STRICT).unwrap()),
        ["1.0.0.0/24 a", "2001:db8::/32 b"]
    );
    // Without IPv4 the tree has nothing far to the left.
    let file = database(6, &[(0x2001_0db8 << 96, 32, 0)], &record);
    assert_eq!(Format::detect(&file).name(), "mmdb");
}

#[test]
fn what_is_no_database_is_an_error() {
    let good = database(4, &[(v4(1, 0, 0, 0), 8, 0)], &[Value::Text("a")]);
    let options = LoadOptions {
        format: Format::by_name("mmdb"),
        ..STRICT.clone()
    };
    assert_eq!(
        routes(&read(good.clone(), &options).unwrap()),
        ["1.0.0.0/8 a"]
    );
    for data in [&b""[..], b"hello", &good[..good.len() / 2]] {
        let message = error(data, &options);
        assert!(
            message.starts_with("t: not a MaxMind database: "),
            "{message}"
        );
    }
    let none = database(4, &[], &[]);
    assert!(error(none, &options).starts_with("t: "));
    let empty = database(4, &[(v4(1, 0, 0, 0), 8, 0)], &[Value::Map(&[])]);
    assert_eq!(
        error(empty, &options),
        "t: there is no route in it; 1 network without a value left out"
    );
    let control = database(4, &[(v4(1, 0, 0, 0), 8, 0)], &[Value::Text("a\nb")]);
    let message = error(control.clone(), &options);
    assert!(message.contains("control character"), "{message}");
    // The bytes of the record are where the error says.
    let place = message
        .strip_prefix("t: byte ")
        .and_then(|rest| rest.split(':').next());
    let place: usize = place.and_then(|place| place.parse().ok()).expect("a place");
    assert_eq!(&control[place..place + 4], b"\x43a\nb");
    let both = database(
        4,
        &[(v4(1, 0, 0, 0), 8, 0), (v4(2, 0, 0, 0), 8, 1)],
        &[Value::Text("a\nb"), Value::Text("c")],
    );
    let skip = LoadOptions {
        skip_invalid: true,
        ..options.clone()
    };
    let table = read(both, &skip).unwrap();
    assert_eq!(
        (routes(&table).concat(), table.skipped),
        ("2.0.0.0/8 c".to_owned(), 1)
    );
    // No byte of it may make the reader panic or run on.
    for at in 0..good.len() {
        for flip in [0xff, 0x01, 0x80] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            if let Ok(table) = read(bad, &options) {
                assert!(routes(&table).len() < 100);
            }
        }
    }
}

#[test]
fn the_value_can_be_chosen() {
    let names = |name| {
        [
            ("iso_code", Value::Text(name)),
            ("geoname_id", Value::Number(7)),
        ]
    };
    let (one, two) = (names("AA"), names("BB"));
    let cities = [Value::Text("first"), Value::Text("second")];
    let records = [
        Value::Map(&[("asn", Value::Number(64500)), ("country", Value::Map(&one))]),
        Value::Map(&[
            ("country", Value::Map(&two)),
            ("cities", Value::Array(&cities)),
        ]),
        Value::Text("no map at all"),
    ];
    let networks = [1, 2, 3].map(|n| (v4(n, 0, 0, 0), 8, n as usize - 1));
    let file = database(4, &networks, &records);
    let with = |path: &str| LoadOptions {
        format: Format::by_name("mmdb"),
        columns: named(path),
        ..STRICT.clone()
    };
    let table = read(file.clone(), &with("country.iso_code")).unwrap();
    assert_eq!(routes(&table), ["1.0.0.0/8 AA", "2.0.0.0/8 BB"]);
    assert_eq!(table.notes, ["1 network without country.iso_code left out"]);
    let table = read(file.clone(), &with("cities[1]")).unwrap();
    assert_eq!(routes(&table), ["2.0.0.0/8 second"]);
    assert_eq!(table.notes, ["2 networks without cities[1] left out"]);
    // Nothing has it, and other formats have nothing to choose from.
    assert!(error(file, &with("no.such")).starts_with("t: "));
    let of_text = LoadOptions {
        format: None,
        ..with("country")
    };
    assert_eq!(
        error("10.0.0.0/8 a\n", &of_text),
        "t: text has no columns to choose from"
    );
}

#[test]
fn a_tree_of_shared_parts_has_an_end() {
    let options = LoadOptions {
        format: Format::by_name("mmdb"),
        ..STRICT.clone()
    };
    // A chain of 32 nodes, both sides of each made the next one: 2^32 networks.
    let mut file = database(4, &[(0, 32, 0)], &[Value::Text("a")]);
    for node in 0..32 {
        let (left, right) = (node * 6, node * 6 + 3);
        file.copy_within(left..left + 3, right);
    }
    let message = error(file.clone(), &options);
    assert!(
        message.ends_with("parts of its tree are shared"),
        "{message}"
    );
    // The same with nothing in it.
    let empty = 32u32.to_be_bytes();
    file[31 * 6..31 * 6 + 3].copy_from_slice(&empty[1..]);
    file[31 * 6 + 3..32 * 6].copy_from_slice(&empty[1..]);
    let message = error(file, &options);
    assert!(
        message.ends_with("parts of its tree are shared"),
        "{message}"
    );
}

#[test]
fn records_that_point_to_one_value_share_it() {
    let long = "x".repeat(280);
    let mut records = vec![Value::Text(&long)];
    records.extend((0..250).map(|_| Value::Pointer(0)));
    let networks: Vec<_> = (0..250u8)
        .map(|n| (v4(10, n, 0, 0), 16, 1 + usize::from(n)))
        .collect();
    let table = read(database(4, &networks, &records), &STRICT).unwrap();
    assert_eq!((table.ribs.ipv4.len(), table.records.len()), (250, 1));
}

/// Arrays of two pointers to the next one: 2^40 values in 240 bytes, and no scalar among them.
#[test]
fn values_in_values_have_an_end() {
    let pairs: Vec<_> = (1..=40u16)
        .map(|n| [Value::Pointer(6 * n), Value::Pointer(6 * n)])
        .collect();
    let mut records: Vec<_> = pairs.iter().map(|pair| Value::Array(pair)).collect();
    records.push(Value::Array(&[]));
    let message = error(database(4, &[(v4(10, 0, 0, 0), 8, 0)], &records), &STRICT);
    assert!(
        message.contains("10.0.0.0/8: the record is damaged"),
        "{message}"
    );
    assert!(
        message.contains("maximum number of data structure values"),
        "{message}"
    );
    let options = LoadOptions {
        columns: named("[0]"),
        ..STRICT.clone()
    };
    let message = error(database(4, &[(v4(10, 0, 0, 0), 8, 0)], &records), &options);
    assert!(message.starts_with("t: "), "{message}");
}
