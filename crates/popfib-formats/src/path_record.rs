//! The attributes of a BGP path as the columns of a record: a [`BgpPath`] in, the text of a record out (`record.rs`).

use crate::bgp_path::BgpPath;
use crate::peers::RouteValue;
use crate::record::{CellKind, RecordText};
use crate::table_format::{ColumnSelection, LoadOptions};

/// The columns, called as the members of what `popfib paths --json` prints.
const NAMES: [&str; 11] = [
    "next_hop",
    "origin_as",
    "as_path",
    "peer",
    "peer_as",
    "communities",
    "local_preference",
    "med",
    "origin",
    "aggregator",
    "atomic",
];

/// Makes the text of a record of each path.
#[derive(Debug)]
pub(crate) struct PathRecord {
    pub(crate) text: RecordText,
    columns: [Option<usize>; NAMES.len()],
    /// The path, which its reader fills.
    pub(crate) path: BgpPath,
}

impl PathRecord {
    /// For the columns that are asked for; `None` if one value is read.
    pub(crate) fn of(options: &LoadOptions) -> Option<Self> {
        if options.columns == ColumnSelection::Value {
            return None;
        }
        let rank: fn(&str) -> Option<usize> = match options.value {
            RouteValue::NextHop => |name| (name == "next_hop").then_some(0),
            RouteValue::OriginAs | RouteValue::OriginOrValue => {
                |name| (name == "origin_as").then_some(0)
            }
            RouteValue::Peer => |name| (name == "peer").then_some(0),
        };
        // What would be the value without columns is the value of the record, too.
        let mut text = RecordText::new(&options.columns).ranked(rank);
        let columns = NAMES.map(|name| text.column(name));
        // They are there in every file: that no path has a MED, say, is no error.
        columns
            .iter()
            .flatten()
            .for_each(|&column| text.is_there(column));
        Some(Self {
            columns,
            text,
            path: BgpPath::default(),
        })
    }

    /// Sets `record` to the text of the path.
    pub(crate) fn write(&mut self, record: &mut String) {
        for (name, column) in NAMES.into_iter().zip(self.columns) {
            if let Some(column) = column {
                self.put(name, column);
            }
        }
        record.clear();
        record.push_str(self.text.finish());
    }

    /// Puts the attribute of this name into its column, if the path has it.
    fn put(&mut self, name: &str, column: usize) {
        let path = &self.path;
        let number =
            |number: Option<u32>| (CellKind::Integer, number.map(|number| number.to_string()));
        let text = |text: &str| (CellKind::Text, Some(text.to_owned()));
        let (kind, value) = match name {
            "next_hop" => (
                CellKind::Text,
                path.next_hop.map(|address| address.to_string()),
            ),
            // Mostly a number, and a text if it is a set: the column decides once all are read.
            "origin_as" => (CellKind::Written, Some(path.origin_as())),
            "as_path" => text(&path.as_path),
            "peer" => text(&path.peer.to_string()),
            "peer_as" => number(Some(path.peer_as)),
            "local_preference" => number(path.local_preference),
            "med" => number(path.med),
            "origin" => text(&path.origin),
            "aggregator" => text(&path.aggregator),
            "atomic" => (CellKind::Boolean, Some(path.is_atomic.to_string())),
            _ => {
                let all: Vec<_> = path.communities.split_ascii_whitespace().collect();
                let all = all.into_iter().map(|community| (CellKind::Text, community));
                return self.text.put_list(column, all);
            }
        };
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.text.put(column, kind, &value);
        }
    }
}
