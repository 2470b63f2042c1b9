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
    /// Writes the image, unless nothing has changed since `last` or there is no table yet. Returns the version that was written.
    pub(super) fn publish(&self, last: &Version) -> Result<Version, String> {
        let view = self.state.view(self.table);
        if view.is_none() && self.table.is_none() {
            return Ok(last.clone());
        }
        let name = view.as_deref().map(|view| view.name().to_owned());
        let now = view.as_deref().map_or(0, |view| view.version());
        if *last == Some((name.clone(), now)) {
            return Ok(last.clone());
        }
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", self.path.display());
        let compiled = images::compile(view.as_deref());
        let (version, writer) = compiled.map_err(|error| failed(&*error))?;
        writer.save(self.path).map_err(|error| failed(&error))?;
        Ok(Some((name, version)))
    }
}

/// The table that was written, if there was one, and its version.
pub(super) type Version = Option<(Option<String>, u64)>;
