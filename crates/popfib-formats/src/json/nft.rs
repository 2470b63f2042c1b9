//! Sets and maps of nftables as JSON (`nft -j list set`, `nft -j list ruleset`, scripts for `nft -j -f`): the objects of
//! a rule set in, the elements of its address sets out, each with the set's name.
//!
//! ```text
//! {"nftables": [{"metainfo": {}}, {"set": {"name": "bl", "type": "ipv4_addr", "elem": [
//!   "192.0.2.1", {"prefix": {"addr": "10.0.0.0", "len": 8}}, {"range": ["198.51.100.4", "198.51.100.9"]},
//!   {"elem": {"val": "192.0.2.2", "timeout": 3600}}]}}]}
//! ```
//! The same rules hold as for [the text](crate::sets::nft). An element is a string, or an object with one member that
//! says what it is; in a map it is an array of itself and its value (`["192.0.2.1", {"jump": {"target": "c"}}]`).

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{first_byte, keys, reason};
use crate::error::quote;
use crate::grammar::{Grammar, document};
use crate::registry::FormatCapabilities;
use crate::rows::RouteRows;
use crate::sets::other_set;
use crate::table_format::TableEntry;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "nftables-json",
    description: "`nft -j list set`, `nft -j list ruleset`: sets by name, maps",
    can: FormatCapabilities::NONE,
    detect,
    open: |input, options| Ok(document(NftJson, input, options)),
};

fn detect(head: &[u8]) -> bool {
    first_byte(head) == Some(b'{') && keys(head).next().as_deref() == Some("nftables")
}

struct NftJson;

/// An object of the rule set; rules, chains and what else there is have none of these members.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct NftObject<'a> {
    #[serde(borrow)]
    set: Option<NftSet<'a>>,
    #[serde(borrow)]
    map: Option<NftSet<'a>>,
    #[serde(borrow)]
    element: Option<NftSet<'a>>,
    /// In scripts; serde_json bounds how deep it can stand in itself.
    #[serde(borrow)]
    add: Option<Box<NftObject<'a>>>,
}

#[derive(Deserialize)]
#[serde(expecting = "a set")]
struct NftSet<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    /// A name (`"ipv4_addr"`), or a list of names if elements are more than an address. It is missing where elements
    /// are added to a set.
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    elem: Vec<&'a RawValue>,
}

/// An element that is more than a string.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", expecting = "an element of a set")]
enum NftJsonElement<'a> {
    #[serde(borrow)]
    Prefix(NftPrefix<'a>),
    #[serde(borrow)]
    Range([Cow<'a, str>; 2]),
    #[serde(borrow)]
    Elem(NftDetails<'a>),
    /// Address and port, or the like, which no table of prefixes has.
    Concat(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
#[serde(expecting = "a prefix")]
struct NftPrefix<'a> {
    #[serde(borrow)]
    addr: Cow<'a, str>,
    len: u8,
}

/// An element with a timeout, a counter or a comment.
#[derive(Deserialize)]
#[serde(expecting = "an element of a set")]
struct NftDetails<'a> {
    #[serde(borrow)]
    val: &'a RawValue,
}

impl Grammar for NftJson {
    fn opens(&mut self, key: &str, is_list: bool, _: &mut RouteRows) -> bool {
        // The document, and the list of its objects.
        key.is_empty() || is_list && key == "nftables"
    }

    fn read(&mut self, key: &str, json: &str, rows: &mut RouteRows) -> Result<(), String> {
        if !key.is_empty() {
            return rows.heading(json);
        }
        let mut object: NftObject = serde_json::from_str(json).map_err(|e| reason(&e))?;
        if let Some(added) = object.add {
            object = *added;
        }
        let Some(set) = object.set.or(object.map).or(object.element) else {
            // Tables, chains and rules.
            return rows.detail();
        };
        let is_other = |kind: &RawValue| !matches!(kind.get(), r#""ipv4_addr""# | r#""ipv6_addr""#);
        if set.kind.is_some_and(is_other) {
            return match set.elem.is_empty() {
                true => rows.detail(),
                false => other_set(rows),
            };
        }
        for element in &set.elem {
            read_element(element.get(), &set.name, 0, rows)?;
        }
        rows.detail()
    }
}

/// How deep an element may stand in others: an array with its value in a map, an object with its timeout, itself.
/// A document that nests them further would only cost stack.
const MAX_DEPTH: u8 = 3;

/// Finds an element whose set is called `name`; of a map's array, the second takes the place of that name.
fn read_element(json: &str, name: &str, depth: u8, rows: &mut RouteRows) -> Result<(), String> {
    let is_invalid = |e| reason(&e);
    if depth == MAX_DEPTH {
        return Err("not an element of a set".to_owned());
    }
    match json.as_bytes().first() {
        Some(b'[') => {
            let [element, value]: [&RawValue; 2] =
                serde_json::from_str(json).map_err(is_invalid)?;
            let value = value_of(value.get()).map_err(is_invalid)?;
            read_element(element.get(), &value, depth + 1, rows)
        }
        Some(b'{') => match serde_json::from_str(json).map_err(is_invalid)? {
            NftJsonElement::Prefix(NftPrefix { addr, len }) => {
                rows.elements(&format!("{addr}/{len}"), name)
            }
            NftJsonElement::Range([first, last]) => rows.elements(&format!("{first}-{last}"), name),
            NftJsonElement::Elem(NftDetails { val }) => {
                read_element(val.get(), name, depth + 1, rows)
            }
            NftJsonElement::Concat(_) => Err(format!(
                "an element of {} is more than an address",
                quote(name.as_bytes())
            )),
        },
        _ => {
            let text: Cow<str> = serde_json::from_str(json).map_err(is_invalid)?;
            rows.elements(&text, name)
        }
    }
}

/// What an element of a map leads to, as `nft` prints it without `-j`: a verdict with its target (`jump c`), or a datum.
fn value_of(json: &str) -> Result<String, serde_json::Error> {
    #[derive(Deserialize)]
    struct VerdictTarget {
        target: String,
    }
    if json.starts_with('"') {
        return serde_json::from_str(json);
    }
    if !json.starts_with('{') {
        return Ok(json.to_owned());
    }
    let verdict: std::collections::BTreeMap<String, Option<VerdictTarget>> =
        serde_json::from_str(json)?;
    let words = verdict.into_iter().map(|(word, target)| match target {
        Some(VerdictTarget { target }) => format!("{word} {target}"),
        None => word,
    });
    Ok(words.collect::<Vec<_>>().join(" "))
}
