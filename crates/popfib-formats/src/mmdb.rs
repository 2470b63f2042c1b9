//! MaxMind databases (MMDB): a binary tree of networks with records in, a route for each network out.
//!
//! ```text
//! tree of nodes (a bit of the address each) | 16 zeros | records | "\xab\xcd\xefMaxMind.com" | what describes the file
//! ```
//! A record is a structure of any shape; the value is its most telling scalar:
//! the record itself if it is one, else the first of [`TELLING`] that it has,
//! else the first scalar in it. Its columns are all its scalars, each called by the keys that lead to it, and its lists of
//! scalars (`leaves.rs`). The file is read into memory as a whole, because
//! what describes it stands at its end; the networks are walked as they are
//! asked for. IPv4 networks in a tree of IPv6 are handed out as IPv4, once.
//!
//! A record is decoded once, however many networks have it, and databases are of strangers: what a few bytes could make of the
//! tree or of names is bounded ([`NAME_GROWTH`], the count of networks).

use hashbrown::HashMap;
use maxminddb::{LookupResult, MaxMindDbError, PathElement, Reader, Within, WithinOptions};
use popfib::image::Source;
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_table::{CellKind, MaxMindType};
use self_cell::self_cell;

use crate::date::rfc3339;
use crate::error::{FilePlace, ReadError};
use crate::input::Input;
use crate::leaves::{RecordLeaves, RecordNode};
use crate::names::note_left_out;
use crate::registry::Capability::ManyValues;
use crate::route::{Route, RouteSource};
use crate::table_format::TableEntry;
use crate::values::{ColumnSelection, ValueBook};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "mmdb",
    description: "MaxMind databases (MMDB); the AS number, country code or first scalar of each record",
    can: &[ManyValues],
    detect,
    open: |input, options| Ok(Box::new(Mmdb::open(input, &options.columns)?)),
};

/// The largest database that is read: twenty times the largest of the known ones.
const MAX_SIZE: usize = 1 << 30;

/// How much longer names may be than the bytes they are made of: numbers grow to digits.
const NAME_GROWTH: usize = 4;

/// The same for whole records, whose texts repeat the parts that the file has once for several of them.
const RECORD_GROWTH: usize = 16;

/// The scalars that tell most about a network, the first first.
const TELLING: [&[&str]; 10] = [
    &["autonomous_system_number"],
    &["asn"],
    &["as_number"],
    &["country", "iso_code"],
    &["country_code"],
    &["registered_country", "iso_code"],
    &["connection_type"],
    &["domain"],
    &["isp"],
    &["continent", "code"],
];

/// The words that all such files have near their end, or, where that is too far,
/// the first nodes of the tree: node 0 is the root, and each of the next nodes is
/// one that a node before it leads to, as in all orders in which trees are written.
fn detect(head: &[u8]) -> bool {
    const LINKED: usize = 8;
    const METADATA: &[u8] = b"\xab\xcd\xefMaxMind.com";
    let is_linked = |bits: usize| {
        let side = |at: usize| -> Option<usize> {
            let (len, half) = (bits / 4, bits / 8);
            let node = head.get(at / 2 * len..(at / 2 + 1) * len)?;
            let bytes = if at.is_multiple_of(2) {
                &node[..half]
            } else {
                &node[len - half..]
            };
            // Of 28 bits, the highest are in the byte between the two.
            let high = match (bits, at % 2) {
                (28, 0) => usize::from(node[3] >> 4),
                (28, _) => usize::from(node[3] & 0xf),
                _ => 0,
            };
            Some(bytes.iter().fold(high, |n, &b| n << 8 | usize::from(b)))
        };
        (1..=LINKED).all(|node| (0..2 * node).any(|at| side(at) == Some(node)))
    };
    memchr::memmem::find(head, METADATA).is_some() || [24, 28, 32].into_iter().any(is_linked)
}

self_cell!(
    /// A database and the walk through its networks.
    struct MmdbWalk {
        owner: Reader<Vec<u8>>,
        #[not_covariant]
        dependent: MmdbNetworks,
    }
);

/// The walk, which borrows the database.
type MmdbNetworks<'a> = Within<'a, Vec<u8>>;

/// A [`RouteSource`] of a MaxMind database.
pub(crate) struct Mmdb {
    name: String,
    walk: MmdbWalk,
    values: ValueBook,
    /// The numbers of the values of records seen before, by their offset: many
    /// networks share a record, and many records a value.
    numbers: HashMap<usize, Option<NextHop>>,
    /// How many bytes of values there can be, as no two lie in the same bytes.
    max_len: usize,
    /// All of IPv4, where the network handed out last covers its tree, with the same value.
    ipv4: Option<Route>,
    /// What reads columns, unless one value is read.
    leaves: Option<RecordLeaves>,
    /// Networks whose records have none of them, or no value at all.
    without: u64,
    /// Where the records begin in the file.
    records: u64,
    /// How many more networks, with records or without, the tree can hold.
    left: u64,
    at_end: bool,
    /// What the metadata say of it.
    source: Source,
}

impl Mmdb {
    /// Reads the database in `input`, of its records these columns.
    ///
    /// # Errors
    /// If it can't be read to its end, is too large, or no such database.
    pub(crate) fn open(mut input: Input, columns: &ColumnSelection) -> Result<Self, ReadError> {
        let name = input.name().to_owned();
        let data = input.read_whole(|data| {
            if data.len() <= MAX_SIZE {
                return Ok(());
            }
            Err(format!("the database has more than {MAX_SIZE} bytes"))
        })?;
        let invalid =
            |e| ReadError::file(&name, format!("not a MaxMind database: {e}")).with_source(e);
        let len = data.len();
        let reader = Reader::from_source(data).map_err(invalid)?;
        // Each node parts a network in two. Where nodes share children, hostile
        // files can make of a few nodes more networks than could ever be walked;
        // those without records are asked for, too, to count them.
        let metadata = reader.metadata();
        let left = u64::from(metadata.node_count) + 1;
        let kind = &metadata.database_type;
        let description = match metadata.description.get("en") {
            None => kind.clone(),
            // The type is put in front, unless the text has it or it is the one that popfib writes by default.
            Some(text) if text.contains(kind) || kind.starts_with("popfib") => text.clone(),
            Some(text) => format!("{kind}: {text}"),
        };
        let source = Source {
            description,
            date: rfc3339(metadata.build_epoch).unwrap_or_default(),
            ..Source::default()
        };
        // The tree, two sides a node, and sixteen bytes come before them.
        let records = u64::from(metadata.node_count) * u64::from(metadata.record_size) / 4 + 16;
        let options = WithinOptions::default().include_networks_without_data();
        let walk = MmdbWalk::try_new(reader, |reader| reader.networks(options)).map_err(invalid)?;
        Ok(Self {
            name,
            walk,
            values: ValueBook::new(columns).ranked(telling),
            numbers: HashMap::new(),
            max_len: match columns {
                ColumnSelection::Value => NAME_GROWTH.saturating_mul(len),
                _ => RECORD_GROWTH.saturating_mul(len.max(1 << 20)),
            },
            ipv4: None,
            leaves: RecordLeaves::of(columns),
            without: 0,
            records,
            left,
            at_end: false,
            source,
        })
    }

    /// The next network with its value.
    fn advance(&mut self) -> Result<Option<Route>, ReadError> {
        if let Some(ipv4) = self.ipv4.take() {
            return Ok(Some(ipv4));
        }
        let (all, left) = (&mut self.ipv4, &mut self.left);
        let (values, numbers, max_len) = (&mut self.values, &mut self.numbers, self.max_len);
        let (leaves, without) = (&mut self.leaves, &mut self.without);
        let failed = |reason: String| ReadError::file(&self.name, reason);
        let damaged = |what: &str| failed(format!("the database is damaged: {what}"));
        self.walk.with_dependent_mut(|_, networks| {
            loop {
                // The next network that has a record.
                let (found, offset) = loop {
                    let Some(found) = networks.next() else {
                        return Ok(None);
                    };
                    let found = found.map_err(|e| damaged(&e.to_string()))?;
                    let fewer = left.checked_sub(1);
                    *left = fewer.ok_or_else(|| damaged("parts of its tree are shared"))?;
                    if let Some(offset) = found.offset() {
                        break (found, offset);
                    }
                };
                let network = found.network().map_err(|e| damaged(&e.to_string()))?;
                let (address, len) = (network.ip(), network.prefix());
                // Those that v4-mapped addresses are written in stay IPv6.
                let prefix = IpPrefix::new(address, len)
                    .map_err(|e| failed(format!("{address}/{len}: {e}")))?;
                // Decoded only the first time that a network has this record.
                if !numbers.contains_key(&offset) {
                    values.begin();
                    let read = match leaves {
                        Some(leaves) => found.decode::<RecordNode<'_>>().map(|node| {
                            let node = node.unwrap_or(RecordNode::Null);
                            leaves.fill(&node, values);
                        }),
                        None => scalar(&found).map(|text| {
                            values.put(0, CellKind::Text, &text.unwrap_or_default());
                        }),
                    };
                    read.map_err(|e| failed(format!("{prefix}: the record is damaged: {e}")))?;
                    // It is no value; other networks may have one.
                    let number = values.finish().map_err(|e| {
                        let place = FilePlace::Byte(self.records + offset as u64);
                        ReadError::invalid(&self.name, place, format!("{prefix}: {e}"))
                    })?;
                    // Each new value takes bytes of the file that no other takes, unless it was made to explode.
                    if values.text_len() > max_len {
                        return Err(damaged("its values overlap"));
                    }
                    numbers.insert(offset, number);
                }
                let value = numbers[&offset];
                if value.is_none() {
                    *without += 1;
                    continue;
                }
                // IPv4 addresses are those of ::/96 in the tree.
                let ipv4 = IpPrefix::V4(Prefix::DEFAULT_ROUTE);
                let ipv4 = Some(Route {
                    prefix: ipv4,
                    value,
                });
                match prefix {
                    IpPrefix::V6(prefix) if prefix.first() != 0 || prefix.len() > 96 => {}
                    IpPrefix::V6(prefix) if prefix.len() == 96 => return Ok(ipv4),
                    IpPrefix::V6(_) => *all = ipv4,
                    IpPrefix::V4(_) => {}
                }
                return Ok(Some(Route { prefix, value }));
            }
        })
    }
}

/// How much a column of this name tells.
fn telling(name: &str) -> Option<usize> {
    TELLING.iter().position(|path| path.join(".") == name)
}

/// The text of the first of [`TELLING`] that a record has, else of its first scalar.
fn scalar(found: &LookupResult<'_, Vec<u8>>) -> Result<Option<String>, MaxMindDbError> {
    for path in TELLING {
        let keys: Vec<_> = path.iter().map(|key| PathElement::Key(key)).collect();
        // A record of another shape is not at fault: it has no such path.
        if let Ok(Some(node)) = found.decode_path::<RecordNode<'_>>(&keys)
            && let Some(value) = first_scalar(&node)
        {
            return Ok(Some(value.to_owned()));
        }
    }
    let node = found.decode::<RecordNode<'_>>()?;
    Ok(node.as_ref().and_then(first_scalar).map(str::to_owned))
}

/// The first scalar in a record that says something; bytes do not.
fn first_scalar<'a>(node: &'a RecordNode<'_>) -> Option<&'a str> {
    match node {
        RecordNode::Null | RecordNode::Scalar(CellKind::MaxMind(MaxMindType::Bytes), _) => None,
        RecordNode::Scalar(_, text) => (!text.trim().is_empty()).then_some(text),
        RecordNode::Map(members) => members.iter().find_map(|(_, node)| first_scalar(node)),
        RecordNode::Array(elements) => elements.iter().find_map(first_scalar),
    }
}

impl RouteSource for Mmdb {
    fn says_none(&self) -> bool {
        false
    }

    fn next_route(&mut self) -> Result<Option<Route>, ReadError> {
        if self.at_end {
            return Ok(None);
        }
        let next = self.advance();
        self.at_end = match &next {
            Ok(route) => route.is_none(),
            Err(error) => !error.is_invalid_line(),
        };
        next
    }

    fn sources(&self) -> Vec<Source> {
        vec![self.source.clone()]
    }

    fn values(&mut self) -> &mut ValueBook {
        &mut self.values
    }

    fn has_values(&self) -> bool {
        self.values.reads_columns()
    }

    fn notes(&self) -> Vec<String> {
        let which = format!(
            " without {}",
            self.values.wanted.name().unwrap_or("a value")
        );
        let mut notes = note_left_out(self.without, "network", &which);
        notes.extend(self.leaves.iter().flat_map(RecordLeaves::notes));
        notes
    }
}
