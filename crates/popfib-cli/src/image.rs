//! Tables from images (`--fib`): opened once, then asked as they are.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use popfib::{Image, Keep, Options};
use popfib_formats::{Columns, RouteTable, image_table, table_of_image};
use popfib_table::{Table, TableError};

use crate::args::{ReadArgs, is_stdin};
use crate::failure::Failure;
use crate::output::tell;

/// An image and how long it took to open.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Its file, as messages name it.
    pub(crate) name: String,
    pub(crate) image: Arc<Image>,
    /// The table in it, of the columns that are asked for.
    pub(crate) table: Table,
    columns: Columns,
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
    let of_records = ReadArgs {
        columns: Vec::new(),
        ..read.clone()
    };
    if let Some(option) = of_records.of_file() {
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
    Ok(Some(Opened::new(name, image, start, read)?))
}

impl Opened {
    fn new(name: String, image: Image, start: Instant, read: &ReadArgs) -> Result<Self, Failure> {
        let image = Arc::new(image);
        let columns = read.options().columns;
        Ok(Self {
            table: table_of_image(&name, &image, &columns)?,
            name,
            image,
            columns,
            open_time: start.elapsed(),
        })
    }

    /// The image in `bytes`, for which somebody was asked at `start`.
    pub(crate) fn of_bytes(name: &str, bytes: &[u8], start: Instant) -> Result<Self, TableError> {
        let image = Arc::new(Image::from_bytes(bytes)?);
        Ok(Self {
            name: name.to_owned(),
            table: Table::of_image(Arc::clone(&image))?,
            image,
            columns: Columns::Value,
            open_time: start.elapsed(),
        })
    }

    /// All routes of the image with one value each, for what needs more than lookups.
    pub(crate) fn into_routes(self) -> Result<RouteTable, Failure> {
        let table = image_table(&self.name, self.image, &self.columns)?;
        tell(&table.name, &table.remarks());
        Ok(table)
    }

    /// Its table, whose values have texts: numbers where the image has none.
    pub(crate) fn into_table(self) -> Result<Table, Failure> {
        match self.table.value_count() {
            Some(_) => Ok(self.table),
            None => Ok(self.into_routes()?.into_table()),
        }
    }
}

/// Why the image called `name` does not do `to` something.
pub(crate) fn without_routes(name: &str, to: &str) -> Failure {
    let name = name.escape_debug();
    format!("{name}: the image was compiled without the routes to {to}").into()
}

/// Where an image is written, and its time.
pub(crate) struct ImagePlace<'p> {
    path: &'p Path,
    created: u64,
}

impl<'p> ImagePlace<'p> {
    /// Known before anything is read, so that what is wrong with it is told at once.
    pub(crate) fn new(path: &'p Path) -> Result<Self, Failure> {
        if is_stdin(path) {
            return Err("-o: an image has to be a file, not `-`".into());
        }
        Ok(Self {
            path,
            created: created()?,
        })
    }

    /// Writes the image of `table`, which comes from `source`.
    pub(crate) fn save(
        &self,
        table: &Table,
        source: &str,
        options: &Options,
        keep: Keep,
    ) -> Result<(), Failure> {
        let writer = table.to_image(source, self.created, options, keep);
        let writer = writer.map_err(|error| format!("{}: {error}", source.escape_debug()))?;
        let path = self.path.display().to_string();
        let saved = writer.save(self.path);
        saved.map_err(|error| format!("{}: {error}", path.escape_debug()).into())
    }
}

/// The time to put into the image, in seconds since 1970.
fn created() -> Result<u64, Failure> {
    match std::env::var_os("SOURCE_DATE_EPOCH") {
        None => Ok(SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs())),
        Some(text) => text
            .to_str()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| "SOURCE_DATE_EPOCH is not a number of seconds".into()),
    }
}
