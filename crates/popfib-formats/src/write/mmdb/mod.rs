//! A table in, a MaxMind database out (version 2.0 of the published format): a binary tree of addresses, then
//! records, then what describes both.
//!
//! ```text
//! node 0: left, right      each side 24, 28 or 32 bits: a node, "nothing", or a place among the records
//! node 1: left, right
//! ...
//! 16 zero bytes
//! records                  maps, arrays and scalars (`field`)
//! "\xab\xcd\xefMaxMind.com", then a map: node_count, record_size, ip_version, ...
//! ```
//! A reader follows the bits of an address to the end of the tree and does not look back, so a route
//! is inherited by what is below it: prefixes are put in in their order, a covering one first, and one
//! that is longer parts the leaf where it arrives. IPv4 stands at ::/96 of a tree for both families, so
//! that IPv6 routes answer for no address there.

mod field;
mod records;
mod schema;

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use popfib::{Address, NextHop, Prefix, Rib};
use popfib_table::Records;

use self::field::{ARRAY, BOOLEAN, MAP, UINT16, UINT32, UINT64, head, text, unsigned};
use self::records::MmdbRecordWriter;
use super::error::WriteError;
use super::form::{WriteEntry, WriteMethod};
use super::options::WriteOptions;
use crate::load::RouteTable;

pub(super) static FORM: WriteEntry = WriteEntry {
    name: "mmdb",
    aliases: &[],
    description: "a MaxMind database; AS numbers and countries have the field names of GeoLite",
    method: WriteMethod::Whole(write),
};

/// A side of a node that leads to a next hop: its number follows. Without it, and not 0, a node.
const LEAF: u32 = 1 << 31;

/// Bytes of zero between the tree and the records.
const GAP: usize = 16;

/// Where IPv4 begins in a tree of both families.
const IPV4_BITS: u8 = 96;

/// Where readers look for IPv4, too, as in the databases of MaxMind, unless there are IPv6 routes: v4-mapped addresses, Teredo and 6to4.
const ALIASES: [(u128, u8); 3] = [(0xffff << 32, 96), (0x2001 << 112, 32), (0x2002 << 112, 16)];

/// The two sides of each node. Node 0 is the root; a side that is 0 leads nowhere, as none leads back to the root.
struct MmdbTree(Vec<[u32; 2]>);

impl MmdbTree {
    /// The node that `len` bits of `bits` lead to from the node `from`. What is no node on the way becomes one: a leaf is
    /// parted into a node with this leaf on both sides, so that the route goes on to answer beside what is longer.
    fn node<A: Address>(&mut self, from: usize, bits: A, len: u8) -> usize {
        let mut node = from;
        for depth in 0..len {
            let side = bits.extract(depth, 1) as usize;
            let next = self.0[node][side];
            node = if next == 0 || next & LEAF != 0 {
                self.0.push([next; 2]);
                let new = self.0.len() - 1;
                self.0[node][side] = new as u32;
                new
            } else {
                next as usize
            };
        }
        node
    }

    /// Adds the routes of `rib` below the node `from`.
    fn add<A: Address>(&mut self, from: usize, rib: &Rib<A>) -> Result<(), WriteError> {
        // A covering prefix comes before those inside of it, so a leaf never takes the place of a longer one's.
        for (prefix, next_hop) in rib.iter() {
            let leaf = LEAF | next_hop.get();
            match prefix.len().checked_sub(1) {
                None => self.0[from] = [leaf; 2],
                Some(above) => {
                    let node = self.node(from, prefix.address(), above);
                    self.0[node][prefix.address().extract(above, 1) as usize] = leaf;
                }
            }
            if self.0.len() >= LEAF as usize {
                return Err(form("the tree has more than 2^31 nodes"));
            }
        }
        Ok(())
    }
}

/// The error of a table that the form does not hold.
fn form(reason: &str) -> WriteError {
    WriteError::Form(reason.to_owned())
}

fn write(
    table: &RouteTable,
    options: &WriteOptions,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    write_in(table, &[24, 28, 32], options, out)
}

/// Writes the table with sides of as many bits as the first of `sizes` that are enough.
fn write_in(
    table: &RouteTable,
    sizes: &[u64],
    options: &WriteOptions,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let mut tree = MmdbTree(vec![[0; 2]]);
    let has_ipv6 = !table.ribs.ipv6.is_empty();
    if has_ipv6 {
        let ipv4 = Prefix::new_masked(0u128, IPV4_BITS).unwrap_or_default();
        if let Some((inside, _)) = table.ribs.ipv6.subnets(ipv4).next() {
            let reason = "is where the form has the IPv4 addresses";
            return Err(WriteError::Form(format!(
                "the route of {inside}: ::/96 {reason}"
            )));
        }
        tree.add(0, &table.ribs.ipv6)?;
        let root = tree.node(0, 0u128, IPV4_BITS);
        // No IPv6 route answers for IPv4 addresses: `node` has made the sides out of a covering one.
        tree.0[root] = [0; 2];
        tree.add(root, &table.ribs.ipv4)?;
        for (bits, len) in ALIASES {
            let alias = Prefix::new_masked(bits, len).unwrap_or_default();
            let ipv6 = &table.ribs.ipv6;
            if ipv6.subnets(alias).next().is_none() && ipv6.supernets(alias).next().is_none() {
                let above = tree.node(0, bits, len - 1);
                tree.0[above][bits.extract(len - 1, 1) as usize] = root as u32;
            }
        }
    } else {
        tree.add(0, &table.ribs.ipv4)?;
    }

    // How wide a side has to be depends on the size of the records, so these come before the tree.
    let records = match table.columns.are_records() {
        false => MmdbRecords::of(table)?,
        true => MmdbRecords::of_columns(&table.records, options)?,
    };
    let nodes = tree.0.len();
    let end = nodes + GAP + records.bytes.len();
    let bits = sizes.iter().copied().find(|bits| end as u64 <= 1 << bits);
    let bits = bits.ok_or_else(|| form("the database would have more than 2^32 places"))?;
    // What a side is in the file: below the number of nodes a node, that number itself "nothing", above it a place.
    let record = |side: u32| match side {
        0 => nodes as u32,
        side if side & LEAF != 0 => (nodes + GAP) as u32 + records.places[(side & !LEAF) as usize],
        node => node,
    };
    // The tree is the larger part, and written as it is converted.
    let mut block = Vec::with_capacity((64 << 10) + 8);
    for sides in &tree.0 {
        let [left, right] = sides.map(record);
        let ([l0, l1, l2, l3], [r0, r1, r2, r3]) = (left.to_be_bytes(), right.to_be_bytes());
        match bits {
            24 => block.extend([l1, l2, l3, r1, r2, r3]),
            // The highest four bits of both share the byte between them.
            28 => block.extend([l1, l2, l3, l0 << 4 | r0, r1, r2, r3]),
            _ => block.extend([l0, l1, l2, l3, r0, r1, r2, r3]),
        }
        if block.len() >= 64 << 10 {
            out.write_all(&block)?;
            block.clear();
        }
    }
    block.extend([0; GAP]);
    block.extend(&records.bytes);
    describe(
        &mut block,
        nodes,
        bits,
        if has_ipv6 { 6 } else { 4 },
        options.name.as_deref().unwrap_or(records.values.database()),
        &description(table, options),
    );
    out.write_all(&block)?;
    Ok(())
}

/// What the values of a table are, which decides on the names of members: those of GeoLite, which programs know, if
/// all values are AS numbers or all are countries.
#[derive(Clone, Copy)]
enum MmdbValues {
    As,
    Country,
    Text,
    Records,
}

impl MmdbValues {
    /// The type of the database, unless the user names one.
    fn database(self) -> &'static str {
        match self {
            Self::As => "popfib-ASN",
            Self::Country => "popfib-Country",
            Self::Text | Self::Records => "popfib",
        }
    }
}

/// One record for each next hop.
struct MmdbRecords {
    values: MmdbValues,
    bytes: Vec<u8>,
    /// Where that of each next hop begins, by its number.
    places: Vec<u32>,
}

impl MmdbRecords {
    /// Those of several columns.
    fn of_columns(records: &Records, options: &WriteOptions) -> Result<Self, WriteError> {
        let database = options.name.as_deref().unwrap_or_default();
        let mut writer = MmdbRecordWriter::new(records, database).map_err(WriteError::Form)?;
        let mut places = vec![0];
        for number in (1..=records.len() as u32).filter_map(NextHop::new) {
            places.push(writer.record(number).map_err(WriteError::Form)?);
        }
        Ok(Self {
            values: MmdbValues::Records,
            bytes: writer.bytes,
            places,
        })
    }

    /// Those of one value each.
    fn of(table: &RouteTable) -> Result<Self, WriteError> {
        let is_list = table.is_list();
        let all = || (table.records.values()).filter(|name| is_list || !name.is_empty());
        // As it is written: 007 is a text.
        let is_number = |name: &str| name.parse::<u32>().is_ok_and(|n| n.to_string() == name);
        let is_country =
            |name: &str| name.len() == 2 && name.bytes().all(|b| b.is_ascii_uppercase());
        let values = if all().all(|name| is_number(&name)) {
            MmdbValues::As
        } else if all().all(|name| is_country(&name)) {
            MmdbValues::Country
        } else {
            MmdbValues::Text
        };
        let mut bytes = Vec::new();
        let mut places = vec![0];
        for name in table.records.values() {
            let name = &*name;
            places.push(
                u32::try_from(bytes.len()).map_err(|_| form("the records take more than 4 GiB"))?,
            );
            match (values, name.parse()) {
                // Absent: a record without members.
                _ if name.is_empty() && !is_list => head(&mut bytes, MAP, 0),
                (MmdbValues::As, Ok(number)) => {
                    head(&mut bytes, MAP, 1);
                    text(&mut bytes, "autonomous_system_number");
                    unsigned(&mut bytes, UINT32, number);
                }
                (MmdbValues::Country, _) => {
                    head(&mut bytes, MAP, 1);
                    text(&mut bytes, "country");
                    head(&mut bytes, MAP, 1);
                    text(&mut bytes, "iso_code");
                    text(&mut bytes, name);
                }
                _ if name.is_empty() => {
                    head(&mut bytes, MAP, 1);
                    text(&mut bytes, "listed");
                    // The length of a truth value is the value.
                    head(&mut bytes, BOOLEAN, 1);
                }
                _ => {
                    head(&mut bytes, MAP, 1);
                    text(&mut bytes, table.columns.name().unwrap_or("value"));
                    text(&mut bytes, name);
                }
            }
        }
        Ok(Self {
            values,
            bytes,
            places,
        })
    }
}

/// What the database says of itself.
fn description(table: &RouteTable, options: &WriteOptions) -> String {
    let told = table
        .sources
        .iter()
        .map(|source| source.description.as_str());
    let told: Vec<_> = told.filter(|told| !told.is_empty()).collect();
    match (&options.description, &told[..]) {
        (Some(description), _) => description.clone(),
        (None, []) => "made by popfib".to_owned(),
        (None, told) => told.join("; "),
    }
}

/// Appends what stands at the end of the file, where readers look for it first.
fn describe(
    to: &mut Vec<u8>,
    nodes: usize,
    bits: u64,
    ip_version: u128,
    database: &str,
    description: &str,
) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |time| time.as_secs());
    to.extend(b"\xab\xcd\xefMaxMind.com");
    head(to, MAP, 9);
    text(to, "binary_format_major_version");
    unsigned(to, UINT16, 2);
    text(to, "binary_format_minor_version");
    unsigned(to, UINT16, 0);
    text(to, "build_epoch");
    unsigned(to, UINT64, now.into());
    text(to, "database_type");
    text(to, database);
    text(to, "description");
    head(to, MAP, 1);
    text(to, "en");
    text(to, description);
    text(to, "ip_version");
    unsigned(to, UINT16, ip_version);
    text(to, "languages");
    head(to, ARRAY, 1);
    text(to, "en");
    text(to, "node_count");
    unsigned(to, UINT32, nodes as u128);
    text(to, "record_size");
    unsigned(to, UINT16, bits.into());
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use popfib::{IpPrefix, diff};

    use super::*;
    use crate::{Format, Input, LoadOptions, Routes, load};

    fn table(lines: &str) -> RouteTable {
        load::<Routes>(
            Input::from_reader("t", Cursor::new(lines.to_owned())),
            &LoadOptions::new(),
        )
        .expect("a table")
    }

    fn written(table: &RouteTable, sizes: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_in(table, sizes, &WriteOptions::default(), &mut bytes).expect("written");
        bytes
    }

    /// Fails unless a reader finds the answers of `table` in the database.
    #[track_caller]
    fn assert_same(table: &RouteTable, database: Vec<u8>) {
        assert_eq!(Format::detect(&database).name(), "mmdb");
        let again = load::<Routes>(
            Input::from_reader("t.mmdb", Cursor::new(database)),
            &LoadOptions::new(),
        );
        let again = again.expect("a database");
        let same = |old, new| table.value(old) == again.value(new);
        assert_eq!(
            diff::answers(&table.ribs.ipv4, &again.ribs.ipv4, same).count(),
            0
        );
        // ::/96 is IPv4's.
        let others = diff::answers(&table.ribs.ipv6, &again.ribs.ipv6, same)
            .filter(|change| change.last >> 32 != 0);
        assert_eq!(others.count(), 0);
    }

    #[test]
    fn answers_are_those_of_the_table() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for round in 0..60 {
            let mut lines = String::new();
            for _ in 0..random(60) + 1 {
                // Few bits in use, so that prefixes nest.
                let len = random(33);
                let bits = random(1 << 8) << 24 | random(4) << 16 | random(4) << 6 | random(4);
                let ipv4 = Prefix::new_masked(bits as u32, len as u8).expect("a length");
                let value = match round % 3 {
                    0 => random(70_000).to_string(),
                    1 => ["DE", "JP", "BR"][random(3) as usize].to_owned(),
                    _ => format!("name-{}", "x".repeat(random(400) as usize)),
                };
                lines += &format!("{} {value}\n", IpPrefix::from(ipv4));
                if round % 2 == 0 {
                    let ipv6 =
                        u128::from(random(1 << 16)) << 112 | 1 << 100 | u128::from(random(8));
                    let ipv6 = Prefix::new_masked(ipv6, 16 + random(113) as u8).expect("a length");
                    lines += &format!("{} {value}\n", IpPrefix::from(ipv6));
                }
            }
            let table = table(&lines);
            for size in [24, 28, 32] {
                assert_same(&table, written(&table, &[size]));
            }
        }
    }

    #[test]
    fn default_routes_and_the_place_of_ipv4() {
        for lines in [
            "0.0.0.0/0 1\n",
            "::/0 1\n",
            "::/0 1\n0.0.0.0/0 2\n10.0.0.0/8 3\n",
            "::/0 1\n10.0.0.0/8 2\n",
        ] {
            let table = table(lines);
            assert_same(&table, written(&table, &[24]));
        }
        let table = table("::1/128 1\n10.0.0.0/8 2\n");
        let error = write_in(&table, &[24], &WriteOptions::default(), &mut Vec::new())
            .expect_err("no place");
        assert!(error.to_string().contains("::1/128"), "{error}");
    }

    /// The first bytes of a small tree look like those of other files.
    #[test]
    fn every_single_route_is_recognised() {
        let long = "x".repeat(300);
        for value in ["1", "DE", "v", &long] {
            let ipv4 = (0..=32).map(|len| Prefix::new_masked(u32::MAX << 8, len).map(IpPrefix::V4));
            let ipv6 = (0..=128).map(|len| Prefix::new_masked(1 << 125, len).map(IpPrefix::V6));
            for prefix in ipv4.chain(ipv6) {
                let prefix = prefix.expect("a prefix");
                let table = table(&format!("{prefix} {value}\n"));
                for size in [24, 28, 32] {
                    assert_same(&table, written(&table, &[size]));
                }
            }
        }
    }

    #[test]
    fn a_list_says_that_it_lists() {
        let list = table("10.0.0.0/8\n192.0.2.0/24\n");
        let expected = table("10.0.0.0/8 true\n192.0.2.0/24 true\n");
        assert_same(&expected, written(&list, &[24]));
    }

    #[test]
    fn what_is_too_large_is_an_error() {
        let table = table("10.0.0.0/8 1\n");
        let error = write_in(&table, &[4], &WriteOptions::default(), &mut Vec::new())
            .expect_err("too large");
        assert!(error.to_string().contains("places"), "{error}");
    }
}
