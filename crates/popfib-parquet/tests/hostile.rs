//! Files made to do harm: an error in one line, or the rows, and memory in proportion to the file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt32Array};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataWriter};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use popfib_formats::AddressBatch;
use popfib_formats::addresses::ColumnId;
use popfib_parquet::{ParquetAddresses, ParquetError, ParquetRows};

/// A file of this test's own.
fn path(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    fs::create_dir_all(&directory).unwrap();
    directory.join(name)
}

fn write(path: &Path, columns: Vec<(String, ArrayRef)>, properties: WriterPropertiesBuilder) {
    let rows = RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, column)| (name, column, true)),
    )
    .unwrap();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties.build())).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
}

fn ip(column: ArrayRef) -> Vec<(String, ArrayRef)> {
    vec![("ip".to_owned(), column)]
}

/// How many rows a file has that are read, those that are no address among them.
fn rows(path: &Path) -> Result<usize, ParquetError> {
    rows_of(path, &ColumnId::Name("ip".into()))
}

/// Reads the rows of a file as a table, whatever they are: to the end, or to an error in one line.
fn read_table(path: &Path) {
    let read = ParquetRows::open(path).and_then(|mut rows| io::copy(&mut rows, &mut io::sink()));
    if let Err(error) = read {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

fn rows_of(path: &Path, column: &ColumnId) -> Result<usize, ParquetError> {
    read_table(path);
    let mut source =
        ParquetAddresses::open(path, std::slice::from_ref(column), None)?.skip_invalid(true);
    let (mut batch, mut rows) = (AddressBatch::new(), 0);
    while source.next_batch(&mut batch)? {
        rows += batch.len();
    }
    Ok(rows)
}

/// The file at `path` with other metadata at its end.
fn retold(path: &Path, tell: impl FnOnce(ParquetMetaData) -> ParquetMetaData) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let metadata = tell(builder.metadata().as_ref().clone());
    let mut bytes = fs::read(path).unwrap();
    ParquetMetaDataWriter::new(&mut bytes, &metadata)
        .finish()
        .unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn chunks_that_overlap() {
    let path = path("overlap");
    let numbers = || ip(Arc::new(UInt32Array::from_iter_values(0..1000)));
    write(&path, numbers(), WriterProperties::builder());
    retold(&path, |metadata| metadata);
    assert_eq!(rows(&path).unwrap(), 1000);
    retold(&path, |metadata| {
        let file = metadata.file_metadata().clone();
        ParquetMetaData::new(file, vec![metadata.row_group(0).clone(); 1000])
    });
    let error = rows(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("belongs to two columns or row groups"),
        "{error}"
    );
    // By one byte, and beyond the end.
    for (longer, reason) in [
        (1, "belongs to two"),
        (1 << 40, "a column is cut off"),
        (-1 << 40, "lies nowhere"),
    ] {
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(500));
        write(&path, numbers(), properties);
        assert_eq!(rows(&path).unwrap(), 1000);
        retold(&path, |metadata| {
            let mut groups = metadata.row_groups().to_vec();
            // The last one for the end of the file.
            let group = &mut groups[usize::from(longer > 1)];
            let chunk = group.column(0).clone();
            let len = chunk.compressed_size().saturating_add(longer);
            let chunk = chunk
                .into_builder()
                .set_total_compressed_size(len)
                .build()
                .unwrap();
            let group_of = group.clone().into_builder();
            *group = group_of.set_column_metadata(vec![chunk]).build().unwrap();
            ParquetMetaData::new(metadata.file_metadata().clone(), groups)
        });
        let error = rows(&path).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

/// Of the codecs, the library's gzip alone unpacks whatever there is.
#[test]
fn pages_of_gzip_that_are_longer_than_they_claim() {
    let path = path("gzip.parquet");
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["10.0.0.1"; 1 << 18]));
    let properties = WriterProperties::builder()
        .set_compression(Compression::GZIP(GzipLevel::default()))
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(usize::MAX)
        .set_data_page_size_limit(usize::MAX);
    write(&path, ip(texts), properties);
    assert_eq!(rows(&path).unwrap(), 1 << 18);
    // The page's header: its type, then its length without compression, doubled, in seven bits a byte.
    let mut file = fs::read(&path).unwrap();
    assert_eq!(file[4..7], [0x15, 0, 0x15]);
    let end = 7 + file[7..].iter().position(|byte| byte & 128 == 0).unwrap();
    file[end] = 1;
    fs::write(&path, file).unwrap();
    let error = rows(&path).unwrap_err().to_string();
    assert!(error.contains("bytes that it claims to be"), "{error}");
}

/// The inputs that the fuzz target begins with, which showed faults or are seeds.
#[test]
fn kept_inputs() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions/parquet");
    let wanted = [
        ("dictionary-without-words", "2 rows"),
        ("page-that-claims-more", "claims to be"),
        ("panic-empty-slice", "the file is damaged"),
        ("panic-no-decoder", "the file is damaged"),
        ("panic-out-of-bounds", "the file is damaged"),
        ("panic-unwrap", "the file is damaged"),
        ("row-groups-at-one-place", "belongs to two columns"),
        ("seed-dictionary", "15 rows"),
        ("seed-numbers", "15 rows"),
        ("seed-packed", "10 rows"),
        ("seed-text", "15 rows"),
    ];
    assert_eq!(fs::read_dir(&kept).unwrap().count(), wanted.len());
    for (name, wanted) in wanted {
        let told = rows_of(&kept.join(name), &ColumnId::Number(1));
        let told = told.map_or_else(|error| error.to_string(), |rows| format!("{rows} rows"));
        assert!(
            told.contains(wanted) && !told.contains('\n'),
            "{name}: {told}"
        );
    }
}

#[test]
fn dictionaries_without_words() {
    let path = path("empty-dictionary");
    let column: DictionaryArray<Int32Type> = [None::<&str>, None].into_iter().collect();
    write(&path, ip(Arc::new(column)), WriterProperties::builder());
    assert_eq!(rows(&path).unwrap(), 2);
}

/// What the process took at most so far.
#[cfg(target_os = "linux")]
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    1024 * line
        .trim()
        .trim_end_matches(" kB")
        .parse::<usize>()
        .unwrap()
}

/// Reads files of at most a megabyte, each in a process of its own whose memory is limited.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_in_proportion() {
    const CHILD: &str = "POPFIB_PARQUET_FILE";
    const MOST: usize = 64 << 20;
    if let Some(file) = std::env::var_os(CHILD) {
        let before = peak();
        let told =
            rows(Path::new(&file)).map_or_else(|error| error.to_string(), |rows| rows.to_string());
        println!("told: {told}");
        println!("took: {}", peak() - before);
        return;
    }
    let plain = || WriterProperties::builder().set_dictionary_enabled(false);
    let zstd = |properties: WriterPropertiesBuilder| {
        properties.set_compression(Compression::ZSTD(ZstdLevel::default()))
    };
    let text = |text: String, rows: usize| {
        ip(Arc::new(StringArray::from_iter_values(
            (0..rows).map(|_| &text),
        )))
    };
    let wide = (0..4000).map(|n| {
        let name = if n == 7 {
            "ip".to_owned()
        } else {
            format!("column {n}")
        };
        (name, Arc::new(UInt32Array::from(vec![n])) as ArrayRef)
    });
    let words = (0..300_000).map(|n| format!("{n:x}"));
    let words = StringArray::from_iter_values(words);
    let large = || WriterProperties::builder().set_dictionary_page_size_limit(1 << 30);
    let files = [
        // A long text in a dictionary, which many rows have.
        (
            "long",
            text("x".repeat(500_000), 400),
            WriterProperties::builder(),
            "400",
        ),
        // Pages that are much larger than they are in the file.
        (
            "page",
            text("x".repeat(40 << 20), 1),
            zstd(plain()),
            "claims to be",
        ),
        (
            "pages",
            text("x".repeat(1 << 20), 100),
            zstd(plain()),
            "100",
        ),
        (
            "word",
            text("x".repeat(40 << 20), 1),
            zstd(large()),
            "claims to be",
        ),
        ("words", ip(Arc::new(words)), zstd(large()), "300000"),
        ("wide", wide.collect(), plain(), "1"),
    ];
    for (name, columns, properties, wanted) in files {
        let path = path(name);
        write(&path, columns, properties);
        let len = fs::metadata(&path).unwrap().len();
        assert!(len < 3 << 20, "{name}: {len} bytes");
        let child = std::process::Command::new("sh")
            .args(["-c", "ulimit -v 1500000; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "memory_is_in_proportion", "--nocapture"])
            .env(CHILD, &path)
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&child.stdout).into_owned();
        let find = |what: &str| {
            output
                .lines()
                .find_map(|line| line.split_once(what).map(|(_, rest)| rest))
        };
        let told = find("told: ").unwrap_or_else(|| {
            panic!("{name}: {output}{}", String::from_utf8_lossy(&child.stderr))
        });
        let took: usize = find("took: ").unwrap().parse().unwrap();
        println!("{name}: {len} bytes, {} MB, {told}", took >> 20);
        assert!(
            told == wanted || told.contains(wanted) && wanted.starts_with('c'),
            "{name}: {told}"
        );
        assert!(
            took < MOST * len.div_ceil(1 << 20) as usize,
            "{name}: {} MB",
            took >> 20
        );
    }
}
