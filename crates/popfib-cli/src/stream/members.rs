//! JSON objects that have a member already which would be added: batches of rows in, the name of the first such member out.
//!
//! It is an error, since readers disagree about an object that has two members of one name.

use std::collections::BTreeMap;

use memchr::memmem::Finder;
use popfib_formats::AddressBatch;
use serde::de::IgnoredAny;

/// The names of members that are added.
pub(super) struct AddedMembers {
    names: Vec<(String, Finder<'static>)>,
}

impl AddedMembers {
    /// Members of these names.
    pub(super) fn new(names: impl Iterator<Item = String>) -> Self {
        let quoted = |name: &String| serde_json::to_vec(name).expect("text is JSON");
        let finder = |name: &String| Finder::new(&quoted(name)).into_owned();
        Self {
            names: names.map(|name| (name.clone(), finder(&name))).collect(),
        }
    }

    /// The first of them that an object of `batch` has already.
    pub(super) fn doubled(&self, batch: &AddressBatch) -> Option<&str> {
        let is_there = |(name, finder): &&(String, Finder<'_>)| {
            let is_in = |text| finder.find(text).is_some();
            // The name is searched for in all rows at once, and is nearly never there.
            is_in(batch.text_of_rows()) && batch.rows().any(|row| is_in(row) && has(row, name))
        };
        self.names
            .iter()
            .find(is_there)
            .map(|(name, _)| name.as_str())
    }
}

/// Whether the object itself has the member; those of objects inside of it do not count.
#[cold]
fn has(row: &[u8], name: &str) -> bool {
    let row = row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(row);
    serde_json::from_slice(row)
        .is_ok_and(|members: BTreeMap<String, IgnoredAny>| members.contains_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_members_of_the_object_itself_count() {
        for (row, name, is_there) in [
            ("{}", "prefix", false),
            ("{\"prefix\":1}", "prefix", true),
            ("\u{feff}{\"a\":1, \"next_hop\" : null}", "next_hop", true),
            (
                "{\"a\":{\"prefix\":1},\"b\":\"prefix\",\"c\":[\"prefix\"]}",
                "prefix",
                false,
            ),
            ("{\"prefix2\":1}", "prefix", false),
            ("{\"prefix\":1", "prefix", false),
        ] {
            assert_eq!(has(row.as_bytes(), name), is_there, "{row}");
        }
    }
}
