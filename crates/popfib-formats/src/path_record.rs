//! The values of BGP paths: one of them, or their attributes as the columns of a record. A [`BgpPath`] in, a number out.

use popfib::NextHop;
use popfib_table::CellKind;

use crate::bgp_path::BgpPath;
use crate::peers::RouteValue;
use crate::table_format::LoadOptions;
use crate::values::ValueBook;

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

/// What the value of a path is made of, which its reader fills: the path where columns are read, else the value.
#[derive(Debug, Default)]
pub(crate) struct PathValue {
    pub(crate) text: String,
    pub(crate) path: BgpPath,
}

/// Numbers the values of paths.
#[derive(Debug)]
pub(crate) struct PathValues {
    pub(crate) book: ValueBook,
    columns: [Option<usize>; NAMES.len()],
}

impl PathValues {
    /// For the columns that are asked for, or one value.
    pub(crate) fn new(options: &LoadOptions) -> Self {
        let rank: fn(&str) -> Option<usize> = match options.value {
            RouteValue::NextHop => |name| (name == "next_hop").then_some(0),
            RouteValue::OriginAs | RouteValue::OriginOrValue => {
                |name| (name == "origin_as").then_some(0)
            }
            RouteValue::Peer => |name| (name == "peer").then_some(0),
        };
        // What would be the value without columns is the value of the record, too.
        let mut book = ValueBook::new(&options.columns).ranked(rank);
        book.is_ignored = options.prefixes_only;
        let columns = NAMES.map(|name| book.column(name));
        // They are there in every file: that no path has a MED, say, is no error.
        let all = columns.iter().flatten();
        all.for_each(|&column| book.is_there(column));
        Self { book, columns }
    }

    /// The number of a value; `None` if it lacks that.
    pub(crate) fn number(&mut self, value: &PathValue) -> Option<NextHop> {
        if !self.book.reads_columns() {
            return self.book.text(&value.text);
        }
        self.book.begin();
        for (name, column) in NAMES.into_iter().zip(self.columns) {
            if let Some(column) = column {
                self.put(&value.path, name, column);
            }
        }
        self.book.number()
    }

    /// Puts the attribute of this name into its column, if the path has it.
    fn put(&mut self, path: &BgpPath, name: &str, column: usize) {
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
                return self.book.put_list(column, all);
            }
        };
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.book.put(column, kind, &value);
        }
    }
}
