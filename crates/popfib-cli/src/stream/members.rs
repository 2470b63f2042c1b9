//! Members that JSON objects have already, by the names of those that are added: an object with two of one name says
//! something else to each reader.

use std::collections::BTreeMap;

use memchr::memmem::Finder;
use serde::de::IgnoredAny;

/// The names of members that are added.
pub(super) struct Members {
    names: Vec<(String, Finder<'static>)>,
}

impl Members {
    /// Of these names.
    pub(super) fn new(names: impl Iterator<Item = String>) -> Self {
        let quoted = |name: &String| serde_json::to_vec(name).expect("text is JSON");
        let finder = |name: &String| Finder::new(&quoted(name)).into_owned();
        Self {
            names: names.map(|name| (name.clone(), finder(&name))).collect(),
        }
    }

    /// The first of them that the object `row` has already.
    #[inline]
    pub(super) fn doubled(&self, row: &[u8]) -> Option<&str> {
        let mut names = self.names.iter();
        let (name, _) =
            names.find(|(name, finder)| finder.find(row).is_some() && has(row, name))?;
        Some(name)
    }
}

/// Whether the object has the member itself, and no object or text inside of it.
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
        let members = Members::new(["prefix", "next_hop"].map(str::to_owned).into_iter());
        for (row, doubled) in [
            ("{}", None),
            ("{\"prefix\":1}", Some("prefix")),
            ("\u{feff}{\"a\":1, \"next_hop\" : null}", Some("next_hop")),
            (
                "{\"a\":{\"prefix\":1},\"b\":\"prefix\",\"c\":[\"next_hop\"]}",
                None,
            ),
            ("{\"prefix2\":1}", None),
            ("{\"prefix\":1", None),
        ] {
            assert_eq!(members.doubled(row.as_bytes()), doubled, "{row}");
        }
    }
}
