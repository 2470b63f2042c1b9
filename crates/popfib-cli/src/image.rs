//! Tables from images (`--fib`): opened once, then asked as they are.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use popfib::{Image, ImageError};
use popfib_formats::{RouteTable, image_table};
use popfib_table::Table;

use crate::args::{ReadArgs, is_stdin};
use crate::failure::Failure;

/// An image and how long it took to open.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Its file, as messages name it.
    pub(crate) name: String,
    pub(crate) image: Arc<Image>,
    /// The table in it.
    pub(crate) table: Table,
    /// From the call to a table that can be asked.
    pub(crate) open_time: Duration,
}

/// The image at `path`, if there is a path; without validating it if it is trusted.
pub(crate) fn open_file(
    path: Option<&Path>,
    trust: bool,
    read: &ReadArgs,
) -> Result<Option<Opened>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    let name = path.display().to_string();
    if let Some(option) = read.of_file() {
        let name = name.escape_debug();
        return Err(format!("{name}: an image is compiled already; {option} is for tables").into());
    }
    if is_stdin(path) {
        return Err("--fib takes a file; `--table -` reads an image from standard input".into());
    }
    let start = Instant::now();
    let image = if trust {
        // SAFETY: whoever says `--trust` promises what `Image::map_trusted` asks for.
        unsafe { Image::map_trusted(path) }
    } else {
        Image::open(path)
    };
    let image = image.map_err(|error| format!("{}: {error}", name.escape_debug()))?;
    Ok(Some(Opened::new(name, image, start)))
}

impl Opened {
    fn new(name: String, image: Image, start: Instant) -> Self {
        let image = Arc::new(image);
        Self {
            name,
            table: Table::of_image(Arc::clone(&image)),
            image,
            open_time: start.elapsed(),
        }
    }

    /// The image in `bytes`, for which somebody was asked at `start`.
    pub(crate) fn of_bytes(name: &str, bytes: &[u8], start: Instant) -> Result<Self, ImageError> {
        Ok(Self::new(name.to_owned(), Image::from_bytes(bytes)?, start))
    }

    /// All routes of the image, for what needs more than lookups.
    pub(crate) fn into_routes(self) -> Result<RouteTable, Failure> {
        Ok(image_table(&self.name, self.image)?)
    }

    /// Its table, whose values have texts: numbers where the image has none.
    pub(crate) fn into_table(self) -> Result<Table, Failure> {
        match self.table.value_count() {
            Some(_) => Ok(self.table),
            None => Ok(self.into_routes()?.into_table()),
        }
    }

    /// Why this image does not do `to` something.
    pub(crate) fn without_routes(&self, to: &str) -> Failure {
        let name = self.name.escape_debug();
        format!("{name}: the image was compiled without the routes to {to}").into()
    }
}
