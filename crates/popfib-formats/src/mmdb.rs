//! MaxMind databases (MMDB): a binary tree of networks with records.
//!
//! A record is a structure of any shape; the value is its most telling scalar:
//! the record itself if it is one, else the first of [`TELLING`] that it has,
//! else the first scalar in it; or what the caller names, where it is there. The file is read into memory as a whole, because
//! what describes it stands at its end; the networks are walked as they are
//! asked for. IPv4 networks in a tree of IPv6 are handed out as IPv4, once.

use std::fmt;
use std::net::IpAddr;

use hashbrown::HashMap;
use maxminddb::{LookupResult, PathElement, Reader, Within, WithinOptions};
use popfib::IpPrefix;
use self_cell::self_cell;
use serde::Deserializer;
use serde::de::{Deserialize, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::Place;
use crate::format::Entry;
use crate::names::{left_out, printable};
use crate::{Input, ReadError, Route, RouteSource};

pub(crate) static FORMAT: Entry = Entry {
    name: "mmdb",
    description: "MaxMind databases (MMDB); the AS number, country code or first scalar of each record",
    detect,
    open: |input, options| Ok(Box::new(Mmdb::open(input, options.value_path.as_deref())?)),
};

/// The largest database that is read: twenty times the largest of the known ones.
const MAX_SIZE: usize = 1 << 30;

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

/// The first nodes of the tree: writers number them depth first, so that the
/// first of the two sides that leads to a node leads to the next one. The words
/// that all such files have stand at the end.
fn detect(head: &[u8]) -> bool {
    const LINKED: usize = 8;
    [24, 28, 32].into_iter().any(|bits| {
        let sides = |n: usize| -> Option<[u32; 2]> {
            let len = bits / 4;
            let node = head.get(n * len..(n + 1) * len)?;
            let number = |high, low: &[u8]| low.iter().fold(high, |n, &b| n << 8 | u32::from(b));
            Some(match bits {
                24 => [number(0, &node[..3]), number(0, &node[3..])],
                28 => [
                    number(u32::from(node[3] >> 4), &node[..3]),
                    number(u32::from(node[3] & 0xf), &node[4..]),
                ],
                _ => [number(0, &node[..4]), number(0, &node[4..])],
            })
        };
        (0..LINKED).all(|n| sides(n).is_some_and(|sides| sides.contains(&(n as u32 + 1))))
    })
}

self_cell!(
    /// A database and the walk through its networks.
    struct Walk {
        owner: Reader<Vec<u8>>,
        #[not_covariant]
        dependent: Networks,
    }
);

type Networks<'a> = Within<'a, Vec<u8>>;

/// A [`RouteSource`] of a MaxMind database.
pub(crate) struct Mmdb {
    name: String,
    walk: Walk,
    /// Records seen before, by their offset: many networks share one.
    values: HashMap<usize, Option<String>>,
    value: String,
    /// The keys to the value, if the caller has chosen one.
    path: Option<Vec<String>>,
    /// Networks whose records don't have it.
    without: u64,
    /// How many more networks, with records or without, the tree can hold.
    left: u64,
    at_end: bool,
}

impl Mmdb {
    /// Reads the database in `input`, of its records what is at `path`.
    ///
    /// # Errors
    /// If it can't be read to its end, is too large, or no such database.
    pub(crate) fn open(mut input: Input, path: Option<&str>) -> Result<Self, ReadError> {
        let name = input.name().to_owned();
        let mut data = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            match input.read(&mut buffer, Place::Byte(data.len() as u64))? {
                0 => break,
                n if data.len() + n > MAX_SIZE => {
                    let reason = format!("the database has more than {MAX_SIZE} bytes");
                    return Err(ReadError::file(&name, reason));
                }
                n => data.extend_from_slice(&buffer[..n]),
            }
        }
        let invalid =
            |e| ReadError::file(&name, format!("not a MaxMind database: {e}")).with_source(e);
        let reader = Reader::from_source(data).map_err(invalid)?;
        // Each node parts a network in two. Where nodes share children, hostile
        // files can make of a few nodes more networks than could ever be walked;
        // those without records are asked for, too, to count them.
        let left = u64::from(reader.metadata().node_count) + 1;
        let options = WithinOptions::default().include_networks_without_data();
        let walk = Walk::try_new(reader, |reader| reader.networks(options)).map_err(|e| {
            ReadError::file(&name, format!("not a MaxMind database: {e}")).with_source(e)
        })?;
        Ok(Self {
            name,
            walk,
            values: HashMap::new(),
            value: String::new(),
            path: path.map(|path| path.split('.').map(str::to_owned).collect()),
            without: 0,
            left,
            at_end: false,
        })
    }

    /// The next network with its value in `self.value`.
    fn advance(&mut self) -> Result<Option<IpPrefix>, String> {
        let (values, value, left) = (&mut self.values, &mut self.value, &mut self.left);
        let (path, without) = (self.path.as_deref(), &mut self.without);
        self.walk.with_dependent_mut(|_, networks| {
            loop {
                let (found, offset) = loop {
                    let Some(found) = networks.next() else {
                        return Ok(None);
                    };
                    let found = found.map_err(|e| format!("the database is damaged: {e}"))?;
                    let fewer = left.checked_sub(1);
                    *left = fewer.ok_or("the database is damaged: parts of its tree are shared")?;
                    if let Some(offset) = found.offset() {
                        break (found, offset);
                    }
                };
                let network = found
                    .network()
                    .map_err(|e| format!("the database is damaged: {e}"))?;
                let prefix = prefix(network.ip(), network.prefix())?;
                if !values.contains_key(&offset) {
                    let found = match path {
                        Some(path) => scalar_at(&found, path),
                        None => scalar(&found).map(Some),
                    };
                    let found = found.map_err(|e| format!("{prefix}: {e}"))?;
                    values.insert(offset, found);
                }
                match &values[&offset] {
                    Some(found) => found.clone_into(value),
                    None => {
                        *without += 1;
                        continue;
                    }
                }
                return Ok(Some(prefix));
            }
        })
    }
}

/// The prefix of a network; those that v4-mapped addresses are written in stay IPv6.
fn prefix(address: IpAddr, len: u8) -> Result<IpPrefix, String> {
    IpPrefix::new(address, len).map_err(|e| format!("{address}/{len}: {e}"))
}

/// The value of a record.
fn scalar(found: &LookupResult<'_, Vec<u8>>) -> Result<String, String> {
    let damaged = |e| format!("the record is damaged: {e}");
    for path in TELLING {
        let keys: Vec<_> = path.iter().map(|key| PathElement::Key(key)).collect();
        // A record of another shape is not at fault: it has no such path.
        if let Ok(Some(Scalar(Some(value)))) = found.decode_path::<Scalar>(&keys) {
            return checked(value);
        }
    }
    match found.decode::<Scalar>().map_err(damaged)? {
        Some(Scalar(Some(value))) => checked(value),
        _ => Err("no scalar in the record".to_owned()),
    }
}

/// The value at `path` in a record; `None` if there is no scalar.
fn scalar_at(found: &LookupResult<'_, Vec<u8>>, path: &[String]) -> Result<Option<String>, String> {
    let elements: Vec<_> = path
        .iter()
        .map(|key| match key.parse() {
            Ok(index) => PathElement::Index(index),
            Err(_) => PathElement::Key(key),
        })
        .collect();
    // A record of another shape is not at fault, as above.
    match found.decode_path::<Scalar>(&elements) {
        Ok(Some(Scalar(Some(value)))) => checked(value).map(Some),
        _ => Ok(None),
    }
}

fn checked(value: String) -> Result<String, String> {
    printable(&value)?;
    Ok(value)
}

/// The first scalar in a value, at any depth; empty strings are none.
struct Scalar(Option<String>);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(First)
    }
}

struct First;

impl<'de> Visitor<'de> for First {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar((!text.is_empty()).then(|| text.to_owned())))
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Scalar, E> {
        Ok(Scalar(None))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar(Some(number.to_string())))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Scalar, E> {
        Ok(Scalar(Some(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar(Some(number.to_string())))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Scalar, E> {
        Ok(Scalar(Some(number.to_string())))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Scalar, E> {
        Ok(Scalar(Some(truth.to_string())))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        let mut first = Scalar(None);
        while map.next_key::<IgnoredAny>()?.is_some() {
            if first.0.is_none() {
                first = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(first)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar, A::Error> {
        let mut first = Scalar(None);
        while first.0.is_none()
            && let Some(next) = seq.next_element()?
        {
            first = next;
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(first)
    }
}

impl RouteSource for Mmdb {
    fn next_route(&mut self) -> Result<Option<Route<'_>>, ReadError> {
        if self.at_end {
            return Ok(None);
        }
        match self.advance() {
            Ok(Some(prefix)) => Ok(Some(Route {
                prefix,
                next_hop: &self.value,
            })),
            Ok(None) => {
                self.at_end = true;
                Ok(None)
            }
            Err(reason) => {
                self.at_end = true;
                Err(ReadError::file(&self.name, reason))
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let path = self.path.as_deref().unwrap_or_default().join(".");
        left_out(self.without, "network", &path)
    }
}

impl fmt::Debug for Mmdb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mmdb")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
