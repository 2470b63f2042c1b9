//! A file of addresses of any format in, batches of addresses out.
//!
//! Parquet is a case of its own, since its reader is another crate, which a build may be without, and opens the file itself: it
//! reads columns from many places of it.

use std::path::Path;

use popfib_formats::addresses::{AddressFinder, CsvDialect, LinePart};
use popfib_formats::text::counted;
use popfib_formats::{AddressBatch, AddressFile, AddressFormat, AddressSource, Input};
#[cfg(feature = "parquet")]
use popfib_parquet::ParquetAddresses;
use popfib_program::failure::Failure;
#[cfg(not(feature = "parquet"))]
use popfib_program::failure::NO_PARQUET;

use super::{InputArgs, ReadTextAs};
use crate::output::note;

/// A file of addresses.
pub(crate) enum StreamSource {
    File(Box<AddressFile>),
    /// And whether IPv4-mapped addresses are made IPv4.
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetAddresses>, bool),
}

impl StreamSource {
    /// Opens `input`, which is the file at `path`.
    pub(super) fn open(
        path: &Path,
        mut input: Input,
        args: &InputArgs,
        skip_invalid: bool,
        read_as: ReadTextAs,
        looks_up: bool,
    ) -> Result<Self, Failure> {
        let mut format = args.format();
        let detected = format.unwrap_or_else(|| AddressFormat::of(&mut input));
        if detected == AddressFormat::PARQUET && path.as_os_str() != "-" {
            return Self::open_parquet(path, args, skip_invalid);
        }
        let is_lines = matches!(read_as, ReadTextAs::Lines | ReadTextAs::AllOfLines);
        if is_lines && format.is_none() && detected.is_text() && !args.is_column() {
            format = Some(AddressFormat::TEXT);
        }
        let name = input.name().escape_debug().to_string();
        let file = AddressFile::open(input, format, &args.options(read_as, looks_up))?;
        let source = Self::File(Box::new(file));
        match source.misfit(args) {
            Some(reason) => Err(format!("{name}: {reason}").into()),
            None => Ok(source),
        }
    }

    /// The file, if it is no Parquet file.
    fn file(&self) -> Option<&AddressFile> {
        match self {
            Self::File(file) => Some(file),
            #[cfg(feature = "parquet")]
            Self::Parquet(..) => None,
        }
    }

    /// Why one of the options means nothing in this file, if so.
    fn misfit(&self, args: &InputArgs) -> Option<String> {
        let format = self.file()?.format();
        let is_headed = self.heading().is_some();
        let has_columns = self.table().is_some() || is_headed;
        let given = [
            (
                "--field",
                !args.field.is_empty(),
                self.is_text() && self.table().is_none(),
            ),
            ("--path", !args.path.is_empty(), self.is_json()),
            ("--address", args.address.is_some(), self.is_text()),
            ("--not-in", !args.not_in.is_empty(), self.is_text()),
            ("--column", args.is_column(), has_columns),
            (
                "--delimiter",
                args.delimiter.is_some(),
                !(is_headed && args.is_column()),
            ),
        ];
        let (option, ..) = given
            .into_iter()
            .find(|(_, is_given, fits)| *is_given && !fits)?;
        let other = match option {
            "--column" if self.is_json() => "; --path is for members of JSON",
            "--field" if has_columns => "; --column is for columns",
            _ => "",
        };
        Some(format!(
            "{option} means nothing in a file of the format {}{other}",
            format.name()
        ))
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(path: &Path, args: &InputArgs, skip_invalid: bool) -> Result<Self, Failure> {
        let options = [
            ("--field", !args.field.is_empty()),
            ("--address", args.address.is_some()),
            ("--not-in", !args.not_in.is_empty()),
            ("--delimiter", args.delimiter.is_some()),
        ];
        if let Some((option, _)) = options.iter().find(|(_, is_given)| *is_given) {
            let reason = format_args!("{option} means nothing in a Parquet file");
            return Err(Failure::of_file(path, reason));
        }
        let source = ParquetAddresses::open(path, &args.column, args.row_text.as_ref());
        let source = source.map_err(|error| error.to_string())?;
        let source = source.skip_invalid(skip_invalid);
        Ok(Self::Parquet(Box::new(source), args.unmap))
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(path: &Path, _: &InputArgs, _: bool) -> Result<Self, Failure> {
        Err(Failure::of_file(path, NO_PARQUET))
    }

    /// Replaces the content of `batch` by the next addresses; false at the end.
    pub(super) fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, Failure> {
        match self {
            Self::File(file) => Ok(file.next_batch(batch)?),
            #[cfg(feature = "parquet")]
            Self::Parquet(file, unmaps) => {
                let is_more = file.next_batch(batch).map_err(|error| error.to_string())?;
                if *unmaps {
                    batch.unmap();
                }
                Ok(is_more)
            }
        }
    }

    /// Delimiter and heading, if it is a table.
    pub(crate) fn table(&self) -> Option<CsvDialect<'_>> {
        self.file()?.table()
    }

    /// What one address stands in, as messages call it: a line, a row, a packet.
    pub(super) fn unit(&self) -> &'static str {
        self.file().map_or("row", |file| file.format().unit())
    }

    /// For each part or column that was asked for, why no row had it.
    pub(super) fn missing(&self) -> Vec<Option<String>> {
        self.file().map_or_else(Vec::new, AddressFile::missing)
    }

    /// Whether its rows are JSON objects.
    pub(crate) fn is_json(&self) -> bool {
        self.file()
            .is_some_and(|file| file.format() == AddressFormat::JSON_LINES)
    }

    /// How the line begins that has the names of the fields, if the format has such a line among its lines.
    pub(crate) fn heading(&self) -> Option<&[u8]> {
        self.file()?.heading()
    }

    /// The field of this name, if fields have names.
    pub(crate) fn field(&self, name: &str) -> Option<LinePart> {
        self.file()?.field(name)
    }

    /// Whether it is text, so that each row is a line or a record of the file.
    pub(crate) fn is_text(&self) -> bool {
        self.file().is_some_and(|file| file.format().is_text())
    }

    /// Whether it is a Parquet file, whose rows have the text that `row_text` asks for.
    pub(crate) fn is_parquet(&self) -> bool {
        self.file().is_none()
    }

    /// Whether it holds packets.
    pub(crate) fn is_packets(&self) -> bool {
        matches!(self, Self::File(file) if file.format().is_packets())
    }

    /// As [`AddressSource::next_block`].
    pub(super) fn next_block(&mut self, batch: &mut AddressBatch) -> Result<bool, Failure> {
        match self {
            Self::File(file) => Ok(file.next_block(batch)?),
            #[cfg(feature = "parquet")]
            Self::Parquet(..) => self.next_batch(batch),
        }
    }

    /// What finds the addresses of the blocks of [`next_block`](Self::next_block), on any thread; `None` if they are found already.
    pub(super) fn finder(&self) -> Option<AddressFinder> {
        self.file()?.finder()
    }

    /// Notes what of the file `name` the answers leave out.
    pub(super) fn note_left_out(&self, name: &str, skipped: u64) {
        match self {
            Self::File(file) => {
                if skipped > 0 {
                    let unit = format!("invalid {}", file.format().unit());
                    note!("{name}: {} skipped", counted(skipped, &unit));
                }
                for line in file.notes() {
                    note!("{name}: {line}");
                }
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(file, _) => {
                if file.skipped() > 0 {
                    let rows = counted(file.skipped(), "row");
                    note!("{name}: {rows} without a valid address");
                }
            }
        }
    }
}
