//! Writes the compiled table to a file, which other processes open or map.

use std::path::Path;

use super::images;
use super::state::State;

/// Writes the image of one table.
pub(super) struct Publisher<'s> {
    pub(super) path: &'s Path,
    pub(super) table: Option<&'s str>,
    pub(super) state: &'s State,
}

impl Publisher<'_> {
    /// Writes the image, unless nothing has changed since `version` or there is no table yet. Returns the version that was written.
    pub(super) fn publish(&self, version: u64) -> Result<u64, String> {
        let tables = self.state.tables();
        let is_there = self.table.is_some() || tables.default_table().is_some();
        if !is_there || tables.version() == version {
            return Ok(version);
        }
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", self.path.display());
        let compiled = images::compile(tables, self.table);
        let (version, writer) = compiled.map_err(|error| failed(&*error))?;
        writer.save(self.path).map_err(|error| failed(&error))?;
        Ok(version)
    }
}
