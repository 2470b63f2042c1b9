//! The formats of address files: how one is recognised, how it is opened.
//!
//! The first bytes decide, then the name of the file, then the options: a file that is called `.csv` is a table, and so is text
//! of which a column is asked for. Lines of text are the last resort, as a log may look like anything.

use std::fmt;

use super::batch::AddressBatch;
use super::finder::AddressFinder;
use super::head::{Heading, first_delimiter, has_line, heading};
use super::options::{AddressOptions, LinePart};
use super::source::{AddressEntry, AddressFormat, AddressSource, CsvDialect};
use super::{csv, headed, json, parquet, pcap, raw, text};
use crate::error::ReadError;
use crate::input::Input;
use crate::registry::{Capability, formats};

/// Every format, in the order of detection. The first is also the last resort.
static FORMATS: &[&AddressEntry] = &[
    &text::TEXT,
    &json::JSON_LINES,
    &headed::ZEEK,
    &headed::FIELDS,
    &pcap::FORMAT,
    &parquet::FORMAT,
    &csv::TSV,
    &csv::CSV,
    &raw::IPV4,
    &raw::IPV6,
];

formats! { AddressFormat of FORMATS, no_such: "no such format of addresses" }

impl AddressFormat {
    /// Parquet, which is read by a crate of its own.
    pub const PARQUET: Self = Self(&parquet::FORMAT);
    /// Lines of text.
    pub const TEXT: Self = Self(&text::TEXT);
    /// JSON objects, one a line or in an array.
    pub const JSON_LINES: Self = Self(&json::JSON_LINES);

    /// Whether its files are lines or records of text, which batches have as rows.
    pub fn is_text(self) -> bool {
        !self.is_packets() && !self.0.can(Capability::FixedRecords) && self != Self::PARQUET
    }

    /// Whether its files hold packets, which have a source and a destination.
    pub fn is_packets(self) -> bool {
        self.0.can(Capability::Packets)
    }

    /// The format of `input` by its first bytes; a table if it is called `.csv` or `.tsv` and the bytes say nothing else.
    /// Waits for no more bytes than that takes. Text with commas is taken for a table only with a heading: logs have commas, too.
    pub fn of(input: &mut Input) -> Self {
        match Self::detect(input.peek(is_enough)) {
            format if format == Self::TEXT => Self::of_name(input.name()),
            format => format,
        }
    }

    /// The format of text in a file of this name.
    fn of_name(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        // The name of what is in it, decompressed.
        let packed = [".gz", ".bz2", ".zst"];
        let name = packed
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .unwrap_or(&name);
        match name.rsplit_once('.') {
            Some((_, "csv")) => Self(&csv::CSV),
            Some((_, "tsv")) => Self(&csv::TSV),
            _ => Self(&text::TEXT),
        }
    }
}

/// Whether more bytes cannot change what `head` is taken for.
fn is_enough(head: &[u8]) -> bool {
    let mut magics = pcap::MAGICS.iter().chain([parquet::MAGIC]);
    let magic = magics.find(|magic| magic.iter().zip(head).all(|(a, b)| a == b));
    match magic {
        Some(magic) => head.len() >= magic.len(),
        None => has_line(head) && json::shape(head).is_some() && heading(head) != Heading::Unknown,
    }
}

/// An [`AddressSource`] of any format but Parquet.
pub struct AddressFile {
    format: AddressFormat,
    source: Box<dyn AddressSource>,
    /// What came after the addresses that were handed out last.
    error: Option<ReadError>,
    /// Whether IPv4-mapped addresses are to be made IPv4 here; a finder does so itself.
    unmaps: bool,
}

impl AddressFile {
    /// Opens `input` as `format`, or as what its first bytes say.
    ///
    /// # Errors
    /// If it cannot be read, has no such column, is Parquet, or holds no packets
    /// where sources are to be left out.
    pub fn open(
        mut input: Input,
        format: Option<AddressFormat>,
        options: &AddressOptions,
    ) -> Result<Self, ReadError> {
        let found = format.unwrap_or_else(|| AddressFormat::of(&mut input));
        // Text of which a column is asked for is a table, also if it has one only.
        let is_asked = options.is_table || !options.columns.is_empty();
        let is_table = matches!(found.name(), "csv" | "tsv");
        let format = if format.is_none() && is_table && !options.parts.is_empty() {
            // Fields are those of lines, whatever the file is called.
            AddressFormat::TEXT
        } else if format.is_none() && found == AddressFormat::TEXT && is_asked {
            match first_delimiter(input.peek(has_line)) {
                Some(b'\t') => AddressFormat(&csv::TSV),
                // No delimiter, and names in the first line: a flow log.
                None if options.delimiter.is_none()
                    && headed::is_named_between_blanks(input.peek(has_line), &options.columns) =>
                {
                    AddressFormat(&headed::FIELDS)
                }
                None if options.columns.is_empty() => found,
                _ => AddressFormat(&csv::CSV),
            }
        } else {
            found
        };
        if !format.is_packets() && !options.exclude_sources.is_empty() {
            return Err(ReadError::file(
                input.name(),
                "sources can be left out of a capture of packets only",
            ));
        }
        Ok(Self {
            source: (format.0.open)(input, options)?,
            error: None,
            unmaps: options.unmap && !format.is_text(),
            format,
        })
    }

    /// The format that it is read as.
    pub fn format(&self) -> AddressFormat {
        self.format
    }

    /// Hands out what the source puts into `batch` by `next`; of an error what came before it, and then the error.
    fn hand_out(
        &mut self,
        batch: &mut AddressBatch,
        next: fn(&mut dyn AddressSource, &mut AddressBatch) -> Result<bool, ReadError>,
    ) -> Result<bool, ReadError> {
        batch.clear();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let is_more = next(&mut *self.source, batch);
        if self.unmaps {
            batch.unmap();
        }
        match is_more {
            Err(error) if !batch.is_empty() || !batch.text_of_rows().is_empty() => {
                self.error = Some(error);
                Ok(true)
            }
            is_more => is_more,
        }
    }
}

impl fmt::Debug for AddressFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AddressFile").field(&self.format).finish()
    }
}

impl AddressSource for AddressFile {
    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        self.hand_out(batch, |source, batch| source.next_batch(batch))
    }

    fn next_block(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        self.hand_out(batch, |source, batch| source.next_block(batch))
    }

    fn finder(&self) -> Option<AddressFinder> {
        self.source.finder()
    }

    fn table(&self) -> Option<CsvDialect<'_>> {
        self.source.table()
    }

    fn heading(&self) -> Option<&[u8]> {
        self.source.heading()
    }

    fn field(&self, name: &str) -> Option<LinePart> {
        self.source.field(name)
    }

    fn missing(&self) -> Vec<Option<String>> {
        self.source.missing()
    }

    fn excluded(&self) -> u64 {
        self.source.excluded()
    }

    fn notes(&self) -> Vec<String> {
        self.source.notes()
    }
}
