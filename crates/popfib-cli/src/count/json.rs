//! A count as a line of JSON.

use popfib_formats::CellJson;
use popfib_table::Cell;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::weight::Sum;

/// A row as JSON, its members in the order of the columns.
pub(super) struct Line<'r> {
    pub(super) count: Sum,
    pub(super) share: Option<f64>,
    pub(super) cells: Vec<(&'r str, Option<Cell<'r>>)>,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("count", &self.count)?;
        if let Some(share) = self.share {
            object.serialize_entry("share", &share)?;
        }
        for (name, cell) in &self.cells {
            object.serialize_entry(name, &cell.map(CellJson))?;
        }
        object.end()
    }
}
