//! What the tests share: made inputs, every compression, and where the real tables are.

// Each test program uses its own part of this.
#![allow(dead_code)]

#[path = "../../../popfib/tests/common/rounds.rs"]
pub(crate) mod rounds;

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use popfib_formats::{
    ColumnSelection, Format, Input, LoadOptions, ReadError, RouteTable, WriteFormat,
};

pub(crate) static STRICT: LazyLock<LoadOptions> = LazyLock::new(LoadOptions::new);
pub(crate) static SKIP: LazyLock<LoadOptions> = LazyLock::new(|| LoadOptions {
    skip_invalid: true,
    ..LoadOptions::new()
});
pub(crate) static MASK: LazyLock<LoadOptions> = LazyLock::new(|| LoadOptions {
    mask: true,
    ..LoadOptions::new()
});

/// The only column, of this name.
pub(crate) fn named(column: &str) -> ColumnSelection {
    ColumnSelection::Named(vec![column.to_owned()])
}

/// The form of this name.
pub(crate) fn write_form(name: &str) -> WriteFormat {
    name.parse().unwrap()
}

pub(crate) fn input(data: impl Into<Vec<u8>>) -> Input {
    Input::from_reader("t", Cursor::new(data.into()))
}

/// The table in the file at `path`.
pub(crate) fn load(path: &Path, options: &LoadOptions) -> Result<RouteTable, ReadError> {
    popfib_formats::load(Input::open(path)?, options)
}

pub(crate) fn load_from(input: Input, options: &LoadOptions) -> Result<RouteTable, ReadError> {
    popfib_formats::load(input, options)
}

pub(crate) fn read(
    data: impl Into<Vec<u8>>,
    options: &LoadOptions,
) -> Result<RouteTable, ReadError> {
    popfib_formats::load(input(data), options)
}

/// The message of the error that `data` must end in; checks that it is one line.
pub(crate) fn error(data: impl Into<Vec<u8>>, options: &LoadOptions) -> String {
    let message = read(data, options).expect_err("an error").to_string();
    assert!(!message.contains(char::is_control), "{message:?}");
    assert!(message.len() < 500, "{message}");
    message
}

/// The routes as `PREFIX NEXTHOP` lines in prefix order, IPv4 first.
pub(crate) fn routes(table: &RouteTable) -> Vec<String> {
    let name = |n| table.value(n);
    let lines = table.routes().map(|(p, n)| format!("{p} {}", name(n)));
    lines.collect()
}

/// Reads `text`, and expects it to be recognised as this format.
pub(crate) fn table_as(format: &str, text: &str) -> RouteTable {
    assert_eq!(Format::detect(text.as_bytes()).name(), format, "{text}");
    read(text, &STRICT).unwrap_or_else(|e| panic!("{format}: {e}\n{text}"))
}

/// The routes of [`table_as`].
pub(crate) fn read_as(format: &str, text: &str) -> Vec<String> {
    routes(&table_as(format, text))
}

pub(crate) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bzip2(data: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(data: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest)
}

pub(crate) fn plain(data: &[u8]) -> Vec<u8> {
    data.to_vec()
}

pub(crate) type Compress = fn(&[u8]) -> Vec<u8>;
pub(crate) const COMPRESSIONS: [(&str, Compress); 3] =
    [("gzip", gzip), ("bzip2", bzip2), ("zstd", zstd)];

/// The folder of real tables, which lies beside the repository where there is one.
pub(crate) fn shared_data(test: &str) -> Option<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("shared/data"))
        .find(|data| data.is_dir());
    if data.is_none() {
        println!("skipped: {test}: no shared data");
    }
    data
}
