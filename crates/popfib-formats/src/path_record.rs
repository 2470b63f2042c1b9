//! The attributes of a BGP path as the columns of a record.

use crate::bgp_path::BgpPath;
use crate::peers::RouteValue;
use crate::record::{Kind, RecordText};
use crate::table_format::{Columns, LoadOptions};

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
        if options.columns == Columns::Value {
            return None;
        }
        let rank: fn(&str) -> Option<usize> = match options.value {
            RouteValue::NextHop => |name| (name == "next_hop").then_some(0),
            RouteValue::OriginAs | RouteValue::OriginOrValue => {
                |name| (name == "origin_as").then_some(0)
            }
            RouteValue::Peer => |name| (name == "peer").then_some(0),
        };
        let mut text = RecordText::new(&options.columns).ranked(rank);
        let columns = NAMES.map(|name| text.column(name));
        columns
            .iter()
            .flatten()
            .for_each(|&column| text.is_known(column));
        Some(Self {
            columns,
            text,
            path: BgpPath::default(),
        })
    }

    /// Sets `record` to the text of the path.
    pub(crate) fn write(&mut self, record: &mut String) {
        let path = &self.path;
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let cells = [
            (Kind::Text, path.next_hop.map(|address| address.to_string())),
            // A set is no number.
            (Kind::Written, text(&path.origin_as())),
            (Kind::Text, text(&path.as_path)),
            (Kind::Text, Some(path.peer.to_string())),
            (Kind::Integer, number(Some(path.peer_as))),
            (Kind::Text, None),
            (Kind::Integer, number(path.local_preference)),
            (Kind::Integer, number(path.med)),
            (Kind::Text, text(&path.origin)),
            (Kind::Text, text(&path.aggregator)),
            (Kind::Boolean, Some(path.is_atomic.to_string())),
        ];
        for ((kind, cell), (name, column)) in cells.into_iter().zip(NAMES.iter().zip(self.columns))
        {
            match (column, cell) {
                (Some(column), Some(cell)) => self.text.put(column, kind, &cell),
                (Some(column), None) if *name == "communities" => {
                    let all: Vec<_> = path.communities.split_ascii_whitespace().collect();
                    let all = all.into_iter().map(|one| (Kind::Text, one));
                    self.text.put_list(column, all);
                }
                _ => {}
            }
        }
        record.clear();
        record.push_str(self.text.finish());
    }
}
