//! A Parquet file in, the addresses of its columns out, in batches.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::File;
use std::iter;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringViewArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_data::{ByteView, MAX_INLINE_VIEW_LEN};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use popfib_formats::AddressBatch;
use popfib_formats::addresses::{ColumnId, parse_address, parse_ipv4_at};
use popfib_table::packed_ip;

use crate::error::ParquetError;
use crate::page_checks;
use crate::panic_guard::guarded;

/// The rows of a Parquet file, with the addresses of some of its columns.
///
/// Such a column is text, unsigned 32-bit numbers (IPv4), or binary values of 4 or 16 bytes in network order. Text is read as views into
/// its pages and dictionary, so a long text that a million rows have is in memory once. A null is a row without an address, and so is
/// empty text. No other column is decoded.
pub struct ParquetAddresses {
    name: String,
    file: File,
    metadata: ArrowReaderMetadata,
    /// The metadata by which columns are read, with text as views.
    reading: ArrowReaderMetadata,
    /// The columns that are read.
    mask: ProjectionMask,
    /// Among those read, the columns of addresses in the order asked for, and that of the rows' texts.
    columns: Vec<usize>,
    text: Option<usize>,
    skip_invalid: bool,
    skipped: u64,
    /// The rows of a row group that are not read yet; `None` before the first.
    rows: Option<ParquetRecordBatchReader>,
    /// The row group at hand.
    group: usize,
    /// Rows read of this group, and before it.
    group_rows: u64,
    row: u64,
}

impl ParquetAddresses {
    /// Opens the file at `path` and finds its `columns` of addresses; without any, the first of text that begins with one, or the first.
    /// What [`AddressBatch::rows`] has is the `text` of a column, if one is asked for.
    ///
    /// # Errors
    /// If it cannot be read, is no Parquet file, has no such column, or one of addresses of another type.
    pub fn open(
        path: &Path,
        columns: &[ColumnId],
        text: Option<&ColumnId>,
    ) -> Result<Self, ParquetError> {
        let name = path.display().to_string();
        let failure = |reason: &dyn Display| ParquetError::new(&name, reason);
        let file = File::open(path).map_err(|error| failure(&format!("cannot open: {error}")))?;
        let metadata = page_checks::load(&file).map_err(|error| failure(&error))?;
        let find = |id: &ColumnId| find(&metadata, id).map_err(|reason| failure(&reason));
        let mut columns = columns.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let text = text.map(find).transpose()?;
        let of = |file: &File, columns, text| {
            let file = file.try_clone().map_err(|error| failure(&error))?;
            Self::of((&name, file), &metadata, columns, text)
        };
        if columns.is_empty() {
            let begins = |&column: &usize| {
                let field = metadata.schema().field(column);
                let source = is_text(field.data_type()).then(|| of(&file, vec![column], None));
                let mut batch = AddressBatch::new();
                source.is_some_and(|source| {
                    let first = source.and_then(|mut source| source.next_batch(&mut batch));
                    first.is_ok() && batch.iter().flatten().next().is_some()
                })
            };
            let mut all = 0..metadata.schema().fields().len();
            columns.push(all.find(begins).unwrap_or(0));
        }
        of(&file, columns, text)
    }

    fn of(
        (name, file): (&str, File),
        metadata: &ArrowReaderMetadata,
        mut columns: Vec<usize>,
        mut text: Option<usize>,
    ) -> Result<Self, ParquetError> {
        let failure = |reason: &dyn Display| ParquetError::new(name, reason);
        let all = metadata.schema();
        let mut fields = all.fields().to_vec();
        for &index in &columns {
            let field = all.fields().get(index);
            let field = field.ok_or_else(|| failure(&"no columns"))?;
            if is_text(field.data_type()) {
                let view = Field::clone(field).with_data_type(DataType::Utf8View);
                fields[index] = Arc::new(view);
            } else if !is_binary(field.data_type()) {
                let (name, kind) = (field.name(), field.data_type());
                return Err(failure(&format!(
                    "column {name:?} is {kind}, not text, UInt32, or FixedSizeBinary of 4 or 16"
                )));
            }
        }
        let schema = Schema::new_with_metadata(fields, all.metadata().clone());
        let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
        let reading = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options);
        let reading = reading.map_err(|error| failure(&error))?;
        // Columns are read in their own order.
        let read: BTreeSet<usize> = columns.iter().copied().chain(text).collect();
        let descriptor = metadata.parquet_schema();
        let leaves = 0..descriptor.num_columns();
        let roots = leaves.map(|leaf| descriptor.get_column_root_idx(leaf));
        if !read.is_subset(&roots.collect()) {
            return Err(failure(&"a column without data"));
        }
        for index in columns.iter_mut().chain(&mut text) {
            *index = read.range(..*index).count();
        }
        Ok(Self {
            mask: ProjectionMask::roots(descriptor, read),
            columns,
            text,
            name: name.to_owned(),
            file,
            metadata: metadata.clone(),
            reading,
            skip_invalid: false,
            skipped: 0,
            rows: None,
            group: 0,
            group_rows: 0,
            row: 0,
        })
    }

    /// Whether a cell that is no address is counted, and its row has no address, instead of an error. The row stays, because answers belong
    /// to the rows by their order.
    pub fn skip_invalid(mut self, skip: bool) -> Self {
        self.skip_invalid = skip;
        self
    }

    /// How many cells so far were no addresses.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The columns of the file, as Arrow has them.
    pub(crate) fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// What the file says about itself.
    pub(crate) fn metadata(&self) -> &ParquetMetaData {
        self.metadata.metadata()
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The row group that the last batch came from.
    pub(crate) fn group(&self) -> &RowGroupMetaData {
        self.metadata().row_group(self.group)
    }

    /// Whether the last batch was the last of its row group.
    pub(crate) fn is_at_group_end(&self) -> bool {
        self.group_rows == self.group().num_rows() as u64
    }

    /// Replaces what is in `batch` by the addresses of the next rows, one for each; returns false at the end. A batch is of one row group.
    ///
    /// # Errors
    /// If the file is damaged, or a cell is no address and not to be skipped.
    pub fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ParquetError> {
        batch.clear();
        let name = self.name.clone();
        let damaged = |row, error: &dyn Display| {
            ParquetError::new(&name, format!("after row {row}: {error}"))
        };
        let rows = loop {
            if let Some(rows) = &mut self.rows {
                match guarded(|| Ok(rows.next().transpose()?)).transpose() {
                    Some(Ok(rows)) if rows.num_rows() == 0 => continue,
                    Some(Ok(rows)) => break rows,
                    Some(Err(error)) => return Err(damaged(self.row, &error)),
                    None if !self.is_at_group_end() => {
                        return Err(damaged(self.row, &"the row group is cut off"));
                    }
                    None => {
                        self.rows = None;
                        self.group += 1;
                    }
                }
            } else if self.group < self.metadata().num_row_groups() {
                self.group_rows = 0;
                let (mask, most) = (self.mask.clone(), AddressBatch::FULL as u64);
                let group = page_checks::rows(&self.file, &self.reading, self.group, mask, most);
                self.rows = Some(group.map_err(|error| damaged(self.row, &error))?);
            } else {
                return Ok(false);
            }
        };
        let result = self.take(&rows, batch);
        self.row += rows.num_rows() as u64;
        self.group_rows += rows.num_rows() as u64;
        result.map(|()| true)
    }

    fn take(&mut self, rows: &RecordBatch, batch: &mut AddressBatch) -> Result<(), ParquetError> {
        if let [column] = self.columns[..] {
            self.addresses(rows.column(column), batch)?;
        } else {
            let mut columns = vec![AddressBatch::new(); self.columns.len()];
            for (at, of_column) in columns.iter_mut().enumerate() {
                self.addresses(rows.column(self.columns[at]), of_column)?;
            }
            let mut cells: Vec<_> = columns.iter().map(|column| column.iter()).collect();
            for _ in 0..rows.num_rows() {
                for column in &mut cells {
                    let found = column.next().flatten();
                    batch.push(found.map(|(address, _)| address));
                    batch.push_cell(found.is_some().into());
                }
            }
        }
        if let Some(text) = self.text {
            let failure = |error| ParquetError::new(&self.name, error);
            let options = FormatOptions::new();
            let texts = ArrayFormatter::try_new(rows.column(text), &options).map_err(failure)?;
            for row in 0..rows.num_rows() {
                let text = texts.value(row).try_to_string().map_err(failure)?;
                batch.push_row(text.as_bytes());
            }
        }
        Ok(())
    }

    fn addresses(
        &mut self,
        column: &ArrayRef,
        batch: &mut AddressBatch,
    ) -> Result<(), ParquetError> {
        match column.data_type() {
            DataType::UInt32 => {
                let values = column.as_primitive::<UInt32Type>();
                if values.null_count() == 0 {
                    batch.extend_ipv4(values.values().iter().copied());
                } else {
                    for value in values {
                        batch.push(value.map(|bits| IpAddr::V4(bits.into())));
                    }
                }
            }
            DataType::FixedSizeBinary(_) => {
                let values = column.as_fixed_size_binary();
                if values.null_count() == 0 && values.value_length() == 4 {
                    let (octets, _) = values.value_data().as_chunks();
                    batch.extend_ipv4(octets.iter().map(|octets| u32::from_be_bytes(*octets)));
                } else {
                    for value in values {
                        batch.push(value.and_then(packed_ip));
                    }
                }
            }
            DataType::Utf8View => self.texts(column.as_string_view(), batch)?,
            _ => unreachable!("the type was found readable"),
        }
        Ok(())
    }

    /// The addresses of cells of text.
    fn texts(
        &mut self,
        texts: &StringViewArray,
        batch: &mut AddressBatch,
    ) -> Result<(), ParquetError> {
        let (views, buffers) = (texts.views(), texts.data_buffers());
        let short = views.inner().as_slice();
        let mut row = 0;
        while row < texts.len() {
            // IPv4 addresses are read where the cells lie, as many as follow each other.
            batch.extend_ipv4(iter::from_fn(|| {
                let view = ByteView::from(*views.get(row)?);
                let len = view.length as usize;
                let address = if view.length <= MAX_INLINE_VIEW_LEN {
                    parse_ipv4_at(short, size_of::<u128>() * row + size_of::<u32>(), len)?
                } else {
                    let buffer = buffers.get(view.buffer_index as usize)?;
                    parse_ipv4_at(buffer, view.offset as usize, len)?
                };
                let address = Some(address).filter(|_| texts.is_valid(row))?;
                row += 1;
                Some(address)
            }));
            if row < texts.len() {
                let text = texts.is_valid(row).then(|| texts.value(row));
                batch.push(self.parse(text, row)?);
                row += 1;
            }
        }
        Ok(())
    }

    /// The address of a cell of text; `row` counts from the first of this batch.
    #[inline]
    fn parse(&mut self, text: Option<&str>, row: usize) -> Result<Option<IpAddr>, ParquetError> {
        let Some(text) = text.map(str::trim_ascii).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        match parse_address(text.as_bytes()) {
            Some(address) => Ok(Some(address)),
            None if self.skip_invalid => {
                self.skipped += 1;
                Ok(None)
            }
            None => {
                let row = self.row + row as u64 + 1;
                let shown: String = text.chars().take(60).collect();
                let reason = format!("row {row}: {shown:?}: not an address");
                Err(ParquetError::new(&self.name, reason))
            }
        }
    }
}

/// The place of a column, or why there is none.
fn find(metadata: &ArrowReaderMetadata, column: &ColumnId) -> Result<usize, String> {
    let fields = metadata.schema().fields();
    let (found, asked) = match column {
        ColumnId::Number(number) => {
            let index = Some(number - 1).filter(|&index| index < fields.len());
            (index, number.to_string())
        }
        ColumnId::Name(name) => {
            let index = fields.iter().position(|field| field.name() == name);
            (index, format!("{name:?}"))
        }
    };
    let names = fields.iter().take(20).map(|f| format!("{:?}", f.name()));
    let names = || names.collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| format!("no column {asked}; there are {}", names()))
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, value) => **value == DataType::Utf8,
        _ => false,
    }
}

fn is_binary(kind: &DataType) -> bool {
    matches!(kind, DataType::UInt32 | DataType::FixedSizeBinary(4 | 16))
}
