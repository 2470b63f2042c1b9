//! `--publish`: a live table in, an image file out, which other processes open or map.

use std::path::PathBuf;

use popfib_program::files::is_image_file;
use popfib_program::note;
use popfib_table::save_image;

use super::images::{self, OpenTable};
use super::settings::Settings;
use super::state::{FollowState, Health};

/// Writes the image of one table.
pub(super) struct Publisher {
    path: PathBuf,
    /// `None` is the default table.
    table: Option<String>,
    /// The table that was written, if there was one, and its version.
    written: Option<(Option<String>, u64)>,
}

impl Publisher {
    /// `None` if no image is to be written.
    pub(super) fn of(settings: &Settings) -> Option<Self> {
        settings.publish.as_ref().map(|path| Self {
            path: path.clone(),
            table: settings.publish_table.clone(),
            written: None,
        })
    }

    /// Writes the image, unless nothing has changed since the last one or there is no table yet. An image that an earlier process
    /// wrote is not replaced while routes are still received for the first time, unless all are there (`has_all`).
    pub(super) fn publish(
        &mut self,
        state: &FollowState,
        is_last: bool,
        has_all: bool,
    ) -> Result<(), String> {
        let is_loading = !has_all && state.health() == Health::Loading;
        let table = state.view(self.table.as_deref()).map(OpenTable::Live);
        if table.is_none() && self.table.is_none() {
            return Ok(());
        }
        let name = table.as_ref().map(|table| table.name().to_owned());
        let now = table.as_ref().map_or(0, OpenTable::version);
        // At the end, another thread may be about to publish what has changed.
        if !is_last && self.written == Some((name.clone(), now)) {
            return Ok(());
        }
        if is_loading && self.written.is_none() && is_image_file(&self.path) {
            if is_last {
                let path = self.path.display();
                note!("{path}: left as it was, since not all routes had been received");
            }
            return Ok(());
        }
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", self.path.display());
        let compiled = images::compile(table.as_ref());
        let (version, writer) = compiled.map_err(|error| failed(&error))?;
        save_image(&writer, &self.path).map_err(|error| failed(&error))?;
        self.written = Some((name, version));
        Ok(())
    }
}
