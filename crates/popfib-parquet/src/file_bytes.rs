//! Column chunks in, the bytes of a Parquet file out, with the footer that describes them.
//!
//! Chunks are written into the buffer from which they are sent. The library's writer takes chunks as readers, and copies the bytes of each
//! three times.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::mem;
use std::sync::Arc;

use arrow_schema::Schema;
use parquet::arrow::add_encoded_arrow_schema_to_metadata;
use parquet::basic::{Compression, Encoding};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter,
    RowGroupMetaData,
};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type, TypePtr};

use crate::{page_checks, page_writer};

/// What a file begins and ends with.
const MAGIC: &[u8] = b"PAR1";

/// A Parquet file that is being written.
pub(crate) struct FileBytes {
    /// The bytes that were not taken yet.
    bytes: Vec<u8>,
    /// How many bytes were taken.
    taken: u64,
    schema: SchemaDescPtr,
    pairs: Vec<KeyValue>,
    groups: Vec<RowGroupMetaData>,
    /// The chunks of the row group at hand.
    chunks: Vec<ColumnChunkMetaData>,
}

/// A chunk of values or places that was written.
pub(crate) struct WrittenChunk {
    /// What [`FileBytes::start`] said.
    pub(crate) start: usize,
    /// The length of its dictionary page, if it has one.
    pub(crate) dictionary: Option<usize>,
    pub(crate) encoding: Encoding,
    pub(crate) compression: Compression,
    /// Its length before compression.
    pub(crate) uncompressed: usize,
    /// How many values it has, nulls and empty lists among them.
    pub(crate) values: usize,
}

impl WrittenChunk {
    /// Appends a data page of so many values, which are in `body`, to the chunk. `packed` is memory to compress in.
    pub(crate) fn page(
        &mut self,
        values: usize,
        body: &[u8],
        packed: &mut Vec<u8>,
        to: &mut Vec<u8>,
    ) -> Result<()> {
        self.uncompressed +=
            page_writer::data(values, body, self.encoding, self.compression, packed, to)?;
        self.values += values;
        Ok(())
    }
}

impl FileBytes {
    /// A file of columns as Arrow and Parquet describe them, which says these pairs of itself, too.
    pub(crate) fn new(
        schema: &Schema,
        types: Vec<TypePtr>,
        pairs: Option<Vec<KeyValue>>,
    ) -> Result<Self> {
        let properties = WriterProperties::builder().set_key_value_metadata(pairs);
        let mut properties = properties.build();
        add_encoded_arrow_schema_to_metadata(schema, &mut properties);
        let pairs = properties.key_value_metadata().cloned();
        let root = Type::group_type_builder("schema").with_fields(types);
        Ok(Self {
            bytes: MAGIC.to_vec(),
            taken: 0,
            schema: Arc::new(SchemaDescriptor::new(Arc::new(root.build()?))),
            pairs: pairs.unwrap_or_default(),
            groups: Vec::new(),
            chunks: Vec::new(),
        })
    }

    pub(crate) fn schema(&self) -> &SchemaDescPtr {
        &self.schema
    }

    /// Replaces what is in `bytes` by what was written since the last call.
    pub(crate) fn take(&mut self, bytes: &mut Vec<u8>) {
        bytes.clear();
        self.taken += self.bytes.len() as u64;
        mem::swap(&mut self.bytes, bytes);
    }

    /// Where the next chunk begins, and what it is to be appended to.
    pub(crate) fn start(&mut self) -> (usize, &mut Vec<u8>) {
        (self.bytes.len(), &mut self.bytes)
    }

    /// Where the byte `at` will be in the file.
    fn offset(&self, at: usize) -> i64 {
        self.taken as i64 + at as i64
    }

    /// Ends a chunk, as the next column of the group.
    pub(crate) fn end_chunk(&mut self, chunk: WrittenChunk) -> Result<()> {
        let plain = chunk.dictionary.and(Some(Encoding::PLAIN));
        let encodings = [chunk.encoding, Encoding::RLE].into_iter().chain(plain);
        let start = self.offset(chunk.start);
        let metadata = ColumnChunkMetaData::builder(self.schema.column(self.chunks.len()))
            .set_encodings(encodings.collect())
            .set_compression(chunk.compression)
            .set_num_values(chunk.values as i64)
            .set_total_compressed_size((self.bytes.len() - chunk.start) as i64)
            .set_total_uncompressed_size(chunk.uncompressed as i64)
            .set_dictionary_page_offset(chunk.dictionary.map(|_| start))
            .set_data_page_offset(start + chunk.dictionary.unwrap_or(0) as i64);
        self.chunks.push(metadata.build()?);
        Ok(())
    }

    /// Copies a chunk of another file as the next column of the group.
    ///
    /// # Errors
    /// If it is not all there.
    pub(crate) fn copy(&mut self, mut from: &File, chunk: &ColumnChunkMetaData) -> Result<()> {
        let error = |error: &str| Err(ParquetError::General(error.to_owned()));
        if chunk.file_path().is_some() {
            return error("a column lies in another file");
        }
        let place = page_checks::place(chunk)?;
        let (at, take) = (self.bytes.len(), place.end - place.start);
        from.seek(SeekFrom::Start(place.start))?;
        if from.take(take).read_to_end(&mut self.bytes)? as u64 != take {
            return error("a column is cut off");
        }
        let dictionary = chunk.dictionary_page_offset().filter(|&offset| offset > 0);
        let first = place.start as i64;
        let moved = |offset: i64| offset.checked_sub(first)?.checked_add(self.offset(at));
        let Some(data) = moved(chunk.data_page_offset()) else {
            return error("a column lies nowhere");
        };
        // Indexes of pages and Bloom filters lie elsewhere in the file and are not copied. Readers only use them to skip pages.
        let metadata = chunk
            .clone()
            .into_builder()
            .set_dictionary_page_offset(dictionary.and_then(moved))
            .set_data_page_offset(data)
            .set_index_page_offset(None)
            .set_bloom_filter_offset(None)
            .set_bloom_filter_length(None)
            .set_offset_index_offset(None)
            .set_offset_index_length(None)
            .set_column_index_offset(None)
            .set_column_index_length(None);
        self.chunks.push(metadata.build()?);
        Ok(())
    }

    /// Ends a row group of `rows` rows.
    pub(crate) fn end_group(&mut self, rows: usize) -> Result<()> {
        let chunks = mem::take(&mut self.chunks);
        let sizes = chunks.iter().map(ColumnChunkMetaData::uncompressed_size);
        let group = RowGroupMetaData::builder(self.schema.clone())
            .set_total_byte_size(sizes.fold(0, i64::saturating_add))
            .set_column_metadata(chunks)
            .set_num_rows(rows as i64)
            .build()?;
        self.groups.push(group);
        Ok(())
    }

    /// Ends the file; its last bytes.
    pub(crate) fn finish(self) -> Result<Vec<u8>> {
        let rows = self.groups.iter().map(RowGroupMetaData::num_rows).sum();
        let program = concat!("popfib-parquet version ", env!("CARGO_PKG_VERSION"));
        let file = FileMetaData::new(
            1,
            rows,
            Some(program.to_owned()),
            Some(self.pairs),
            self.schema,
            None,
        );
        let metadata = ParquetMetaData::new(file, self.groups);
        let mut bytes = self.bytes;
        ParquetMetaDataWriter::new(&mut bytes, &metadata).finish()?;
        Ok(bytes)
    }
}
