//! Columns to measure `popfib annotate` with, and to look at what it wrote.
//!
//!     columns uint32|binary|text FILE < ADDRESSES    IPv4 addresses, one a line, as a Parquet file
//!     columns show FILE                              prefix and next hop of each row, tab between

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::net::Ipv4Addr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, FixedSizeBinaryArray, RecordBatch, StringArray, UInt32Array};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// Rows that are written at a time.
const ROWS: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["show", file] => show(file),
        [form @ ("uint32" | "binary" | "text"), file] => write(form, file),
        _ => Err("columns uint32|binary|text|show FILE".into()),
    }
}

fn write(form: &str, file: &str) -> Result<(), Box<dyn Error>> {
    let mut lines = io::stdin().lock().lines();
    let mut writer = None;
    loop {
        let texts: Vec<String> = lines.by_ref().take(ROWS).collect::<Result<_, _>>()?;
        if texts.is_empty() {
            break;
        }
        let addresses: Vec<Ipv4Addr> = texts.iter().map(|t| t.parse()).collect::<Result<_, _>>()?;
        let column: ArrayRef = match form {
            "uint32" => {
                let bits = addresses.iter().map(|&address| u32::from(address));
                Arc::new(UInt32Array::from_iter_values(bits))
            }
            "binary" => {
                let octets = addresses.iter().map(Ipv4Addr::octets);
                Arc::new(FixedSizeBinaryArray::try_from_iter(octets)?)
            }
            _ => Arc::new(StringArray::from_iter_values(texts)),
        };
        let rows = RecordBatch::try_from_iter([("address", column)])?;
        if writer.is_none() {
            // Compressed as most software does it by default.
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
            let (file, properties) = (File::create(file)?, Some(properties.build()));
            writer = Some(ArrowWriter::try_new(file, rows.schema(), properties)?);
        }
        if let Some(writer) = &mut writer {
            writer.write(&rows)?;
        }
    }
    writer.ok_or("no addresses")?.close()?;
    Ok(())
}

fn show(file: &str) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(io::stdout().lock());
    for rows in ParquetRecordBatchReaderBuilder::try_new(File::open(file)?)?.build()? {
        let rows = rows?;
        let columns = ["prefix", "next_hop"].map(|name| rows.column_by_name(name));
        let [Some(prefixes), Some(next_hops)] = columns else {
            return Err("not annotated".into());
        };
        let columns = [prefixes, next_hops].map(|column| column.as_dictionary::<UInt32Type>());
        for row in 0..rows.num_rows() {
            let [prefix, next_hop] = columns.map(|column| {
                let texts = column.values().as_string::<i32>();
                column.key(row).map_or("-", |key| texts.value(key))
            });
            writeln!(out, "{prefix}\t{next_hop}")?;
        }
    }
    Ok(out.flush()?)
}
