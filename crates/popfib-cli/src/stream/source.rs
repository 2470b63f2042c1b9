//! Where addresses come from: a file of any format.

use std::path::Path;

#[cfg(feature = "parquet")]
use popfib_formats::Column;
use popfib_formats::{
    AddressBatch, AddressFile, AddressFinder, AddressFormat, AddressSource, Input, TableForm,
};
#[cfg(feature = "parquet")]
use popfib_parquet::ParquetAddresses;

use super::{InputArgs, Wanted};
use crate::failure::Failure;
use crate::output::note;
use crate::table::counted;

/// A file of addresses.
pub(crate) enum Source {
    File(Box<AddressFile>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetAddresses>),
}

impl Source {
    /// Opens `input`, which is the file at `path`.
    pub(super) fn open(
        path: &Path,
        mut input: Input,
        args: &InputArgs,
        skip_invalid: bool,
        wanted: Wanted,
    ) -> Result<Self, Failure> {
        let mut format = args.format();
        let detected = format.unwrap_or_else(|| AddressFormat::of(&mut input));
        if detected == AddressFormat::PARQUET && path.as_os_str() != "-" {
            return Self::open_parquet(path, args, skip_invalid);
        }
        let is_lines = matches!(wanted, Wanted::Lines | Wanted::AllOfLines);
        if is_lines && format.is_none() && detected.is_text() && !args.is_column() {
            format = Some(AddressFormat::TEXT);
        }
        let file = AddressFile::open(input, format, &args.options(wanted))?;
        Ok(Self::File(Box::new(file)))
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(path: &Path, args: &InputArgs, skip_invalid: bool) -> Result<Self, Failure> {
        let column = match &args.column[..] {
            [] => Column::default(),
            [column] => column.clone(),
            _ => return Err("of a Parquet file, one --column can be looked up".into()),
        };
        let source = ParquetAddresses::open(path, &column)?;
        Ok(Self::Parquet(Box::new(source.skip_invalid(skip_invalid))))
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(path: &Path, _: &InputArgs, _: bool) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let name = name.escape_debug();
        Err(format!("{name}: this popfib was built without Parquet").into())
    }

    /// Replaces what is in `batch` by the next addresses; false at the end.
    pub(super) fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, Failure> {
        match self {
            Self::File(file) => Ok(file.next_batch(batch)?),
            #[cfg(feature = "parquet")]
            Self::Parquet(file) => Ok(file.next_batch(batch)?),
        }
    }

    /// What it looks like as a table, if it is one.
    pub(crate) fn table(&self) -> Option<TableForm<'_>> {
        match self {
            Self::File(file) => file.table(),
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => None,
        }
    }

    /// Whether its rows are JSON objects.
    pub(crate) fn is_json(&self) -> bool {
        matches!(self, Self::File(file) if file.format() == AddressFormat::JSON_LINES)
    }

    /// Whether it is a log of Zeek.
    pub(crate) fn is_zeek(&self) -> bool {
        matches!(self, Self::File(file) if file.format() == AddressFormat::ZEEK)
    }

    /// Whether it is text, so that each row is a line or a record of the file.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::File(file) if file.format().is_text())
    }

    /// Whether it holds packets.
    pub(super) fn is_packets(&self) -> bool {
        matches!(self, Self::File(file) if file.format().is_packets())
    }

    /// As [`AddressSource::next_block`].
    pub(super) fn next_block(&mut self, batch: &mut AddressBatch) -> Result<bool, Failure> {
        match self {
            Self::File(file) => Ok(file.next_block(batch)?),
            #[cfg(feature = "parquet")]
            Self::Parquet(file) => Ok(file.next_batch(batch)?),
        }
    }

    /// What finds the addresses of blocks.
    pub(super) fn finder(&self) -> Option<AddressFinder> {
        match self {
            Self::File(file) => file.finder(),
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => None,
        }
    }

    /// Notes what of the file `name` is not in the answers.
    pub(super) fn note_left_out(&self, name: &str, skipped: u64) {
        match self {
            Self::File(file) => {
                if skipped > 0 {
                    let unit = format!("invalid {}", file.format().unit());
                    note(format_args!("{name}: {} skipped", counted(skipped, &unit)));
                }
                for line in file.notes() {
                    note(format_args!("{name}: {line}"));
                }
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(file) => {
                if file.skipped() > 0 {
                    let rows = counted(file.skipped(), "row");
                    note(format_args!("{name}: {rows} without a valid address"));
                }
            }
        }
    }
}
