//! Images as the tables of commands: a file or the bytes of one in, an input out, from which a table is loaded without reading. And the
//! reverse: tables in, an image out (`ImagePlace`).
//!
//! An image is compiled already, so options that choose how a table is read are refused here, except those that choose a table of
//! several, or columns.

use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use popfib::image::{ImageTable, Keep};
use popfib::{Image, ImageWriter, Options};
use popfib_formats::text::rfc3339;
use popfib_formats::{Input, LookupTable};
use popfib_program::failure::{CHOOSES, Failure, KEEPS, of_table};
use popfib_program::files::is_image_file;
use popfib_program::progress;
use popfib_table::{Table, TableError, check_records};

use crate::args::{ReadArgs, is_embedded, is_stdin};
use crate::destination::COMPRESSED;

/// An image that is open, and which of its tables are meant.
#[derive(Debug)]
pub(crate) struct OpenedImage {
    /// The file, for messages.
    pub(crate) name: String,
    pub(crate) image: Image,
    tables: Vec<ImageTable>,
    /// When it was asked for.
    pub(crate) start: Instant,
}

/// The image at `path`; `None` without a path, or if the file does not begin as an image does. An image that is trusted is not
/// validated. One that comes from a pipe, is compressed or is to be changed is read like any other table.
pub(crate) fn open_file(
    path: Option<&Path>,
    trust: bool,
    read: &ReadArgs,
) -> Result<Option<OpenedImage>, Failure> {
    let changes = read.fill || read.mapped;
    let path = match path {
        Some(path) if is_image_table(path) && !changes => path,
        _ if trust && !changes => return Err("--trust is for an image that is a file".into()),
        _ => return Ok(None),
    };
    let of_records = ReadArgs {
        columns: Vec::new(),
        vrf: None,
        every_table: false,
        ..read.clone()
    };
    if let Some(option) = of_records.of_file() {
        let reason = format_args!("an image is compiled already; {option} is for tables");
        return Err(Failure::of_file(path, reason));
    }
    let start = Instant::now();
    let image = if trust {
        // SAFETY: whoever says `--trust` promises what `Image::map_trusted` asks for.
        unsafe { Image::map_trusted(path) }
    } else {
        Image::open(path).and_then(|image| check_records(&image).map(|()| image))
    };
    let image = image.map_err(|error| Failure::of_file(path, error))?;
    let mut opened = OpenedImage {
        tables: image.tables().to_vec(),
        name: path.display().to_string(),
        image,
        start,
    };
    if !read.every_table {
        opened.choose(read.vrf.as_deref())?;
    }
    Ok(Some(opened))
}

/// Whether `path`, given for a table, is the file of an image.
pub(crate) fn is_image_table(path: &Path) -> bool {
    !is_stdin(path) && !is_embedded(path) && is_image_file(path)
}

impl OpenedImage {
    /// Takes the table of this name; without a name, the only one.
    fn choose(&mut self, table: Option<&str>) -> Result<(), Failure> {
        let table = self.image.table(table);
        let name = self.name.escape_debug();
        let table = table.map_err(|error| format!("{name}: {error}; {CHOOSES}"))?;
        self.tables = vec![table.clone()];
        Ok(())
    }

    /// The only table of the image in `bytes`.
    pub(crate) fn of_bytes(name: String, bytes: &[u8], start: Instant) -> Result<Self, Failure> {
        let image = Image::from_bytes(bytes).map_err(|error| format!("{name}: {error}"))?;
        let mut opened = Self {
            tables: Vec::new(),
            name,
            image,
            start,
        };
        opened.choose(None)?;
        Ok(opened)
    }

    /// Its table, or its tables, to be loaded.
    pub(crate) fn input(&self) -> Input {
        Input::image(&*self.name, &self.tables)
    }
}

/// The table that was loaded, if it has the routes that it takes `to` do something.
pub(crate) fn with_routes(loaded: LookupTable, to: &str) -> Result<Table, Failure> {
    match loaded.has_routes() {
        true => Ok(loaded.content),
        false => Err(without_routes(&loaded.name, to)),
    }
}

/// The error of the image called `name`, which lacks the routes that it takes `to` do something.
pub(crate) fn without_routes(name: &str, to: &str) -> Failure {
    let name = name.escape_debug();
    format!("{name}: the image was compiled without the routes to {to}; {KEEPS}").into()
}

/// Where an image is written, and its time.
pub(crate) struct ImagePlace<'p> {
    path: &'p Path,
    created: u64,
}

impl<'p> ImagePlace<'p> {
    /// Made before any table is read, so that errors of the path or the time come at once.
    pub(crate) fn new(path: &'p Path) -> Result<Self, Failure> {
        if is_stdin(path) {
            return Err("-o: an image has to be a file, not `-`".into());
        }
        let end = path.extension().unwrap_or_default().to_string_lossy();
        if COMPRESSED.contains(&format!(".{end}").as_str()) {
            let reason = "an image is not compressed: it is used in place";
            return Err(Failure::of_file(path, reason));
        }
        Ok(Self {
            path,
            created: created()?,
        })
    }

    /// Writes the image of these tables, each with its name.
    pub(crate) fn save(
        &self,
        tables: &[(String, LookupTable)],
        options: &Options,
        keep: Keep,
    ) -> Result<(), Failure> {
        let writer = image_of(tables, self.created, options, keep)?;
        let saved = popfib_table::save_image(&writer, self.path);
        saved.map_err(|error| Failure::of_file(self.path, error))
    }
}

/// The image of these tables, each with its name, that is made at `created`. If they have one kind of records, these are those of all,
/// and so are equal blocks, where that is shorter.
pub(crate) fn image_of(
    tables: &[(String, LookupTable)],
    created: u64,
    options: &Options,
    keep: Keep,
) -> Result<ImageWriter, Failure> {
    let _bar = progress::step("compiling");
    let mut writer = ImageWriter::new(created);
    let alike = tables.iter().map(|(name, of)| (&**name, &of.content));
    // Without routes there is nothing to number again: that is told below, with the name of the table.
    let common = Table::of_alike(&alike.collect::<Vec<_>>()).unwrap_or(None);
    if let Some(records) = common.as_ref().and_then(Table::records) {
        let written = records.write(&mut writer);
        written.map_err(|error| of_table(&error))?;
    }
    let set = common.as_ref().and_then(Table::set);
    let latest = rfc3339(created).filter(|_| std::env::var_os(EPOCH).is_some());
    for (id, (name, loaded)) in tables.iter().enumerate() {
        let mut sources = loaded.sources.clone();
        for source in &mut sources {
            // No date of a file is after the time of the image, so that newer copies of the same data make an equal one.
            if let Some(latest) = latest.as_ref().filter(|latest| source.date > **latest) {
                source.date.clone_from(latest);
            }
        }
        let failed =
            |error: TableError| format!("{}: {}", loaded.name.escape_debug(), of_table(&error));
        let begun = writer.table(name, &sources);
        begun.map_err(|error| failed(error.into()))?;
        let written = match set {
            Some(set) => set.write(id, &mut writer, options, keep),
            None => loaded.write(&mut writer, options, keep),
        };
        written.map_err(failed)?;
    }
    Ok(writer)
}

/// The variable that fixes the time of an image, as for reproducible builds.
const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// The time to put into the image, in seconds since 1970.
pub(crate) fn created() -> Result<u64, Failure> {
    match std::env::var_os(EPOCH) {
        None => Ok(SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs())),
        Some(text) => text
            .to_str()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| "SOURCE_DATE_EPOCH is not a number of seconds".into()),
    }
}
