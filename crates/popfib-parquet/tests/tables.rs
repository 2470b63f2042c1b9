//! Tables in Parquet files.

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, LargeStringArray, RecordBatch, StringArray, UInt32Array,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use popfib_formats::{ColumnSelection, Input, LoadOptions};
use popfib_parquet::ParquetRows;

/// As lines of JSON that the formats read.
#[test]
fn columns_of_every_type() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tables");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("table.parquet");
    let mut tags = ListBuilder::new(StringBuilder::new());
    for tag in [Some(vec![Some("x"), Some("y")]), None, Some(vec![])] {
        tags.append_option(tag);
    }
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "network",
            Arc::new(StringArray::from(vec![
                "10.0.0.0/8",
                "10.1.0.0/16",
                "2001:db8::/32",
            ])),
        ),
        (
            "asn",
            Arc::new(UInt32Array::from(vec![Some(64500), None, Some(7)])),
        ),
        (
            "name",
            Arc::new(LargeStringArray::from(vec![Some("a\tb"), Some(""), None])),
        ),
        ("tags", Arc::new(tags.finish())),
        (
            "rate",
            Arc::new(Float64Array::from(vec![
                Some(2.0),
                Some(f64::NAN),
                Some(0.1),
            ])),
        ),
        (
            "up",
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
        ),
    ];
    let rows = RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, column)| (name, column, true)),
    )
    .unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(2));
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties.build())).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    let mut text = String::new();
    let mut lines = ParquetRows::open(&path).unwrap();
    lines.read_to_string(&mut text).unwrap();
    let wanted = r#"{"network":"10.0.0.0/8","asn":64500,"name":"a\tb","tags":["x","y"],"rate":2,"up":true}
{"network":"10.1.0.0/16","name":"","rate":null}
{"network":"2001:db8::/32","asn":7,"tags":[],"rate":0.1,"up":false}
"#;
    assert_eq!(text, wanted);
    let input = Input::from_reader("t", ParquetRows::open(&path).unwrap());
    let options = LoadOptions {
        columns: ColumnSelection::All,
        ..LoadOptions::new()
    };
    let table: popfib_formats::RouteTable = popfib_formats::load(input, &options).unwrap();
    let records = &table.records;
    let columns = records.columns().iter();
    let types: Vec<_> = columns
        .map(|column| (column.name(), column.column_type().name()))
        .collect();
    let wanted = [
        ("asn", "integer"),
        ("name", "text"),
        ("tags", "list of texts"),
        ("rate", "float"),
        ("up", "boolean"),
    ];
    assert_eq!(types, wanted);
    assert!(ParquetRows::open(&path.with_extension("none")).is_err());
}
