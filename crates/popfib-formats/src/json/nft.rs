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

use super::members::pairs;
use super::{first_byte, keys, parse};
use crate::error::{not, quote};
use crate::grammar::{Grammar, RouteRows, TableEntry, document};
use crate::sets::{FilledSets, other_set};
use crate::words::is_one_of;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "nftables-json",
    description: "`nft -j list set`, `nft -j list ruleset`: sets by name, maps",
    can: &[],
    detect,
    open: |input, options| Ok(document(NftJson::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    first_byte(head) == Some(b'{') && keys(head).next().as_deref() == Some("nftables")
}

#[derive(Default)]
struct NftJson {
    /// The sets and the tables that have elements so far.
    filled: FilledSets,
    filled_tables: FilledSets,
}

/// What else objects of a rule set are, in none of which are sets.
const OTHERS: &str =
    "metainfo table chain flowtable counter quota limit synproxy secmark tunnel rename reset";

/// What a set has beside its table, name, type and elements.
const OF_SETS: &str =
    "family handle policy flags timeout gc-interval size comment auto-merge map stmt";

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
        // Beside the list of its objects, a document has none.
        if !key.is_empty() {
            return Err(not(key, "a member of nftables"));
        }
        self.object(json, 0, rows)?;
        rows.detail()
    }
}

impl NftJson {
    /// Reads an object of the rule set, or the command about one.
    fn object(&mut self, json: &str, depth: u8, rows: &mut RouteRows) -> Result<(), String> {
        for (kind, of) in pairs(json)? {
            let is_command = depth == 0;
            match &*kind {
                "set" | "map" | "element" => self.set(of.get(), rows)?,
                "add" | "create" if is_command => self.object(of.get(), 1, rows)?,
                "delete" | "destroy" | "flush" if is_command => {
                    self.removal(of.get(), json, rows)?
                }
                "rule" | "insert" | "replace" => rows.leave_out("rule", "")?,
                "ct helper" | "ct timeout" | "ct expectation" => {}
                other if is_one_of(OTHERS, other) => {}
                other => {
                    return Err(not(other, "an object of nftables"));
                }
            }
        }
        Ok(())
    }

    /// Reads a command that takes away this object.
    fn removal(&mut self, json: &str, command: &str, rows: &RouteRows) -> Result<(), String> {
        for (kind, of) in pairs(json)? {
            let name = || parse::<NftName>(of.get()).ok().map(|of| of.name);
            match &*kind {
                "set" | "map" | "element" => {
                    self.filled.removal(name().as_deref(), command, rows)?
                }
                "table" => self
                    .filled_tables
                    .removal(name().as_deref(), command, rows)?,
                "ruleset" => self.filled.removal(None, command, rows)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads a set, or elements that are added to one.
    fn set(&mut self, json: &str, rows: &mut RouteRows) -> Result<(), String> {
        let (mut table, mut name, mut is_other, mut elements) =
            (String::new(), None, false, Vec::new());
        for (key, value) in pairs(json)? {
            let value = value.get();
            match &*key {
                "table" => table = parse(value)?,
                "name" => name = Some(parse::<String>(value)?),
                // A name, or a list of names if elements are more than an address. It is missing where elements are added.
                "type" => is_other = !matches!(value, r#""ipv4_addr""# | r#""ipv6_addr""#),
                "elem" => elements.extend(parse::<Vec<&RawValue>>(value)?),
                other if is_one_of(OF_SETS, other) => {}
                other => return Err(not(other, "known of a set")),
            }
        }
        let name = name.ok_or("a set without a name")?;
        if is_other && !elements.is_empty() {
            return other_set(rows);
        }
        if !elements.is_empty() {
            self.filled.add(&name);
            self.filled_tables.add(&table);
        }
        for element in elements {
            read_element(element.get(), &name, 0, rows)?;
        }
        Ok(())
    }
}

/// What a command takes away.
#[derive(Deserialize)]
struct NftName {
    name: String,
}

/// How deep an element may stand in others: an array with its value in a map, an object with its timeout, itself.
/// A document that nests them further would only cost stack.
const MAX_DEPTH: u8 = 3;

/// Finds an element whose set is called `name`; of a map's array, the second takes the place of that name.
fn read_element(json: &str, name: &str, depth: u8, rows: &mut RouteRows) -> Result<(), String> {
    if depth == MAX_DEPTH {
        return Err("not an element of a set".to_owned());
    }
    match json.as_bytes().first() {
        Some(b'[') => {
            let [element, value]: [&RawValue; 2] = parse(json)?;
            let value = value_of(value.get())?;
            read_element(element.get(), &value, depth + 1, rows)
        }
        Some(b'{') => match parse(json)? {
            NftJsonElement::Prefix(NftPrefix { addr, len }) => {
                rows.elements(&format!("{addr}/{len}"), name)
            }
            NftJsonElement::Range([first, last]) => rows.elements(&format!("{first}-{last}"), name),
            NftJsonElement::Elem(NftDetails { val }) => {
                read_element(val.get(), name, depth + 1, rows)
            }
            NftJsonElement::Concat(_) => Err(format!(
                "an element of {} is more than an address",
                quote(name)
            )),
        },
        _ => {
            let text: Cow<str> = parse(json)?;
            rows.elements(&text, name)
        }
    }
}

/// What an element of a map leads to, as `nft` prints it without `-j`: a verdict with its target (`jump c`), or a datum.
fn value_of(json: &str) -> Result<String, String> {
    #[derive(Deserialize)]
    struct VerdictTarget {
        target: String,
    }
    if json.starts_with('"') {
        return parse(json);
    }
    if !json.starts_with('{') {
        return Ok(json.to_owned());
    }
    let verdict: std::collections::BTreeMap<String, Option<VerdictTarget>> = parse(json)?;
    let words = verdict.into_iter().map(|(word, target)| match target {
        Some(VerdictTarget { target }) => format!("{word} {target}"),
        None => word,
    });
    Ok(words.collect::<Vec<_>>().join(" "))
}
