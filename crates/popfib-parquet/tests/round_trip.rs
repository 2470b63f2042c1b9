//! Files annotated and read back by the library's own reader, column by column.

use std::fs::{self, File};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowDictionaryKeyType, Int32Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, FixedSizeBinaryArray, Int64Array, LargeStringArray,
    RecordBatch, StringArray, UInt32Array,
};
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use popfib::NextHop;
use popfib_formats::AddressBatch;
use popfib_formats::addresses::ColumnId;
use popfib_parquet::{ParquetAddresses, ParquetAnnotator, ParquetAnswers};
use popfib_table::{Dictionary, Records};

/// A directory of this test's own.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Writes a file with the column `ip` between two others, in row groups of `group` rows.
fn write(path: &Path, ip: ArrayRef, group: usize) -> RecordBatch {
    write_as(
        path,
        ip,
        WriterProperties::builder().set_max_row_group_row_count(Some(group)),
    )
}

/// Writes a file with the column `ip` between two others.
fn write_as(path: &Path, ip: ArrayRef, properties: WriterPropertiesBuilder) -> RecordBatch {
    let numbers = Int64Array::from_iter_values(0..ip.len() as i64);
    let words = (0..ip.len()).map(|n| (n % 3 > 0).then(|| format!("word {}", n % 5)));
    let rows = RecordBatch::try_from_iter_with_nullable([
        ("n", Arc::new(numbers) as ArrayRef, false),
        ("ip", ip, true),
        (
            "word",
            Arc::new(StringArray::from_iter(words)) as ArrayRef,
            true,
        ),
    ])
    .unwrap();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties.build())).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    rows
}

/// All rows of a file, and how many each row group has.
fn read(path: &Path) -> (RecordBatch, Vec<i64>) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let groups = builder.metadata().row_groups().iter();
    let groups = groups.map(|group| group.num_rows()).collect();
    let rows = builder.metadata().file_metadata().num_rows() as usize;
    let mut all = builder.with_batch_size(rows.max(1)).build().unwrap();
    let schema = arrow_array::RecordBatchReader::schema(&all);
    let rows = all
        .next()
        .map_or(RecordBatch::new_empty(schema), Result::unwrap);
    assert!(all.next().is_none());
    (rows, groups)
}

/// The texts of a column of answers.
fn texts(rows: &RecordBatch, column: &str) -> Vec<Option<String>> {
    let column = rows.column_by_name(column).unwrap();
    let dictionary = column.as_dictionary::<UInt32Type>();
    let values = dictionary.values().as_string::<i32>();
    let keys = dictionary.keys().iter();
    keys.map(|key| key.map(|key| values.value(key as usize).to_owned()))
        .collect()
}

/// Records of one text each, by their places.
fn records<'t>(texts: impl IntoIterator<Item = &'t str>) -> Records {
    let mut names = Dictionary::new();
    for text in texts {
        names.intern(text);
    }
    Records::of_values(names)
}

/// The number of the record at this place.
fn number(place: u32) -> NextHop {
    NextHop::new(place + 1).unwrap()
}

/// What the columns of answers are called.
const NAMES: [&str; 2] = ["prefix", "next_hop"];

/// Answers that tell something of each address: its last byte, over five next hops.
fn answers(with_prefixes: bool) -> ParquetAnswers {
    let records = records(["a", "b", "", "a name that is longer", "e"]);
    let mut answers = ParquetAnswers::new(&records, with_prefixes);
    for byte in 1..256u32 {
        answers.push(&format!("prefix of {byte}"), number(byte % 5));
    }
    answers
}

/// What these answers are for an address; those that end in 0 have no match.
fn expected(address: Option<IpAddr>) -> Option<(String, String)> {
    let last = match address? {
        IpAddr::V4(address) => address.octets()[3],
        IpAddr::V6(address) => address.octets()[15],
    };
    let name = ["a", "b", "", "a name that is longer", "e"][usize::from(last) % 5];
    (last > 0).then(|| (format!("prefix of {last}"), name.to_owned()))
}

/// The addresses of a batch in order.
fn addresses(batch: &AddressBatch) -> Vec<Option<IpAddr>> {
    batch.iter().map(|found| Some(found?.0)).collect()
}

/// Annotates `files` into `to`; the addresses that were met.
fn annotate(files: &[&Path], to: &Path, with_prefixes: bool) -> Vec<Option<IpAddr>> {
    let answers = [answers(with_prefixes)];
    let mut writer = None;
    let mut met = Vec::new();
    let (mut bytes, mut piece) = (Vec::new(), Vec::new());
    for file in files {
        let mut source =
            ParquetAddresses::open(file, &[ColumnId::Name("ip".into())], None).unwrap();
        let writer = writer.get_or_insert_with(|| {
            ParquetAnnotator::new(
                "out",
                Some(&source),
                &NAMES[usize::from(!with_prefixes)..],
                &answers,
            )
            .unwrap()
        });
        assert!(writer.takes(Some(&source)) && !writer.takes(None));
        let mut batch = AddressBatch::new();
        while source.next_batch(&mut batch).unwrap() {
            let of_batch = addresses(&batch);
            let last = |address: &Option<IpAddr>| match address {
                None => 0,
                Some(IpAddr::V4(address)) => u32::from(*address) & 0xff,
                Some(IpAddr::V6(address)) => u128::from(*address) as u32 & 0xff,
            };
            let numbers: Vec<u32> = of_batch.iter().map(last).collect();
            writer
                .write(&batch, Some(&source), &[&numbers], &answers)
                .unwrap();
            writer.take(&mut piece);
            bytes.extend_from_slice(&piece);
            met.extend(of_batch);
        }
    }
    bytes.extend(writer.unwrap().finish(&answers).unwrap());
    fs::write(to, bytes).unwrap();
    met
}

/// Annotates a file with the column `ip`, and holds every cell against `wanted`.
fn check(name: &str, ip: ArrayRef, wanted: &[Option<IpAddr>]) {
    let directory = directory(name);
    for group in [1 << 20, 700, 64] {
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group));
        check_as(&directory, ip.clone(), wanted, properties);
    }
}

fn check_as(
    directory: &Path,
    ip: ArrayRef,
    wanted: &[Option<IpAddr>],
    properties: WriterPropertiesBuilder,
) {
    let (from, to) = (directory.join("from.parquet"), directory.join("to.parquet"));
    let rows = write_as(&from, ip.clone(), properties);
    for with_prefixes in [true, false] {
        assert_eq!(annotate(&[&from], &to, with_prefixes), wanted);
        let (back, groups) = read(&to);
        assert_eq!(groups, read(&from).1, "row groups are kept");
        for kept in ["n", "ip", "word"] {
            assert_eq!(
                back.column_by_name(kept),
                rows.column_by_name(kept),
                "{kept}"
            );
        }
        let wanted = wanted.iter().map(|&address| expected(address).unzip());
        let (prefixes, next_hops): (Vec<_>, Vec<_>) = wanted.unzip();
        assert_eq!(texts(&back, "next_hop"), next_hops);
        if with_prefixes {
            assert_eq!(texts(&back, "prefix"), prefixes);
        }
        assert_eq!(back.num_columns(), 4 + usize::from(with_prefixes));
    }
}

/// Addresses of both families, some of them many times one after the other.
fn some(count: u32, nulls: bool, of: impl Fn(u32) -> IpAddr) -> Vec<Option<IpAddr>> {
    let value = |n: u32| {
        if n % 500 < 150 {
            7
        } else {
            n.wrapping_mul(0x9e37_79b9)
        }
    };
    (0..count)
        .map(|n| (!nulls || n % 11 != 3).then(|| of(value(n))))
        .collect()
}

fn v4(n: u32) -> IpAddr {
    IpAddr::V4(n.into())
}

fn v6(n: u32) -> IpAddr {
    IpAddr::V6((0x2001_0db8 << 96 | u128::from(n)).into())
}

fn bits(addresses: &[Option<IpAddr>]) -> impl Iterator<Item = Option<u32>> {
    addresses.iter().map(|address| match address {
        Some(IpAddr::V4(address)) => Some(u32::from(*address)),
        _ => None,
    })
}

#[test]
fn numbers() {
    for nulls in [false, true] {
        let addresses = some(5000, nulls, v4);
        let column = UInt32Array::from_iter(bits(&addresses));
        check("numbers", Arc::new(column), &addresses);
    }
}

#[test]
fn bytes() {
    for (size, of) in [(4, v4 as fn(u32) -> IpAddr), (16, v6)] {
        for nulls in [false, true] {
            let addresses = some(3000, nulls, of);
            let octets = addresses.iter().map(|address| match address {
                Some(IpAddr::V4(address)) => Some(address.octets().to_vec()),
                Some(IpAddr::V6(address)) => Some(address.octets().to_vec()),
                None => None,
            });
            let column = FixedSizeBinaryArray::try_from_sparse_iter_with_size(octets, size);
            check("bytes", Arc::new(column.unwrap()), &addresses);
        }
    }
}

#[test]
fn text_of_every_kind() {
    // Both families, so that they take turns.
    let of = |n: u32| if n.is_multiple_of(3) { v6(n) } else { v4(n) };
    let addresses = some(3000, true, of);
    let text = || {
        addresses
            .iter()
            .map(|address| address.map(|a| a.to_string()))
    };
    check("text", Arc::new(StringArray::from_iter(text())), &addresses);
    check(
        "large",
        Arc::new(LargeStringArray::from_iter(text())),
        &addresses,
    );
    fn dictionary<K: ArrowDictionaryKeyType>(
        text: impl Iterator<Item = Option<String>>,
    ) -> DictionaryArray<K> {
        let text: Vec<_> = text.collect();
        text.iter().map(Option::as_deref).collect()
    }
    check(
        "dictionary",
        Arc::new(dictionary::<Int32Type>(text())),
        &addresses,
    );
}

#[test]
fn every_compression_and_page() {
    let directory = directory("pages");
    let addresses = some(40_000, true, v4);
    let numbers: ArrayRef = Arc::new(UInt32Array::from_iter(bits(&addresses)));
    let text = addresses.iter().map(|a| a.map(|a| a.to_string()));
    let text: ArrayRef = Arc::new(StringArray::from_iter(text));
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for has_dictionary in [false, true] {
                for column in [&numbers, &text] {
                    let properties = WriterProperties::builder()
                        .set_compression(compression)
                        .set_writer_version(version)
                        .set_dictionary_enabled(has_dictionary)
                        .set_write_batch_size(1000)
                        .set_data_page_row_count_limit(1000)
                        .set_max_row_group_row_count(Some(35_000));
                    check_as(&directory, column.clone(), &addresses, properties);
                }
            }
        }
    }
}

/// More answers than 16 bits count, some long, more rows than a page has, and of both
/// dictionaries a part.
#[test]
fn many_answers() {
    let directory = directory("many");
    let (from, to) = (directory.join("from"), directory.join("to"));
    let count = 300_000u32;
    let hops: Vec<_> = (0..70_000).map(|n| n.to_string()).collect();
    let mut answers = ParquetAnswers::new(&records(hops.iter().map(String::as_str)), true);
    let text = |n: u32| match n % 1000 {
        0 => format!("p{n:0>100}"),
        _ => format!("p{n}"),
    };
    for n in 1..=count {
        answers.push(&text(n), number(n.wrapping_mul(7) % 70_000));
    }
    let answers = [answers];
    let wanted: Vec<u32> = (0..400_000u32)
        .map(|row| match row % 250_000 {
            // All of a block's numbers, then few that lie far apart.
            row @ 0..200_000 => row + 50_000,
            row => row.wrapping_mul(0x9e37_79b9) % (count + 1),
        })
        .collect();
    write(
        &from,
        Arc::new(UInt32Array::from(vec![0; wanted.len()])),
        250_000,
    );
    let mut source = ParquetAddresses::open(&from, &[ColumnId::Name("ip".into())], None).unwrap();
    let mut writer = ParquetAnnotator::new("out", Some(&source), &NAMES, &answers).unwrap();
    let (mut batch, mut at) = (AddressBatch::new(), 0);
    while source.next_batch(&mut batch).unwrap() {
        let numbers = &wanted[at..at + batch.len()];
        at += batch.len();
        let written = writer.write(&batch, Some(&source), &[numbers], &answers);
        written.unwrap();
    }
    fs::write(&to, writer.finish(&answers).unwrap()).unwrap();
    let (back, groups) = read(&to);
    assert_eq!(groups, [250_000, 150_000]);
    let (prefixes, next_hops) = (texts(&back, "prefix"), texts(&back, "next_hop"));
    for (row, &number) in wanted.iter().enumerate() {
        let is_there = number > 0;
        let next_hop = number.wrapping_mul(7) % 70_000;
        assert_eq!(prefixes[row], is_there.then(|| text(number)));
        assert_eq!(next_hops[row], is_there.then(|| next_hop.to_string()));
    }
}

#[test]
fn one_answer_or_none_at_all() {
    for address in [None, Some(v4(0)), Some(v4(9))] {
        let addresses = vec![address; 2000];
        let column = UInt32Array::from_iter(bits(&addresses));
        check("one", Arc::new(column), &addresses);
    }
    let empty: ArrayRef = Arc::new(UInt32Array::from(Vec::<u32>::new()));
    let directory = directory("empty");
    let (from, to) = (directory.join("from"), directory.join("to"));
    write(&from, empty, 10);
    assert!(annotate(&[&from], &to, true).is_empty());
    assert_eq!(read(&to).0.num_rows(), 0);
}

#[test]
fn files_one_behind_the_other() {
    let directory = directory("files");
    let [one, two, other, to] = ["one", "two", "other", "to"].map(|name| directory.join(name));
    let addresses = some(1000, true, v4);
    write(
        &one,
        Arc::new(UInt32Array::from_iter(bits(&addresses))),
        300,
    );
    write(
        &two,
        Arc::new(UInt32Array::from_iter(bits(&addresses[..10]))),
        300,
    );
    annotate(&[&one, &two], &to, true);
    let (back, groups) = read(&to);
    assert_eq!(groups, [300, 300, 300, 100, 10]);
    assert_eq!(texts(&back, "prefix")[1000..], texts(&back, "prefix")[..10]);
    // Of another type.
    write(&other, Arc::new(StringArray::from(vec!["10.0.0.1"])), 300);
    let column = ColumnId::Name("ip".into());
    let [first, second] = [&one, &other]
        .map(|path| ParquetAddresses::open(path, std::slice::from_ref(&column), None).unwrap());
    let answers = [answers(true)];
    let writer = ParquetAnnotator::new("out", Some(&first), &NAMES, &answers).unwrap();
    assert!(!writer.takes(Some(&second)));
    // What was annotated has the columns already.
    let annotated = ParquetAddresses::open(&to, std::slice::from_ref(&column), None).unwrap();
    let error = ParquetAnnotator::new("out", Some(&annotated), &NAMES, &answers)
        .err()
        .unwrap();
    let wanted = "out: there is a column \"prefix\" already";
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn addresses_without_a_file_become_a_column() {
    let directory = directory("column");
    let to = directory.join("to");
    let all = some(40_000, true, |n| {
        if n.is_multiple_of(2) { v6(n) } else { v4(n) }
    });
    let answers = [answers(true)];
    let number = |row: usize| all[row].map_or(0, |_| row as u32 % 256);
    let written = |rows_of_batch: usize| {
        let mut writer = ParquetAnnotator::new("out", None, &NAMES, &answers).unwrap();
        for first in (0..all.len()).step_by(rows_of_batch) {
            let rows = first..all.len().min(first + rows_of_batch);
            let mut batch = AddressBatch::new();
            for address in &all[rows.clone()] {
                batch.push(*address);
            }
            let numbers: Vec<u32> = rows.map(number).collect();
            let write = |writer: &mut ParquetAnnotator, numbers: &[&[u32]]| {
                writer.write(&batch, None, numbers, &answers)
            };
            assert!(write(&mut writer, &[&numbers[1..]]).is_err());
            assert!(write(&mut writer, &[]).is_err());
            write(&mut writer, &[&numbers]).unwrap();
        }
        writer.finish(&answers).unwrap()
    };
    let bytes = written(AddressBatch::FULL);
    // However the addresses come: one by one through a slow pipe is no page for each.
    for rows_of_batch in [1, 700] {
        assert!(written(rows_of_batch) == bytes, "{rows_of_batch}");
    }
    fs::write(&to, bytes).unwrap();
    let (back, _) = read(&to);
    assert_eq!(back.schema().field(0).data_type(), &DataType::Utf8);
    let text = back.column(0).as_string::<i32>();
    let text: Vec<_> = text.iter().map(|text| text.map(str::to_owned)).collect();
    let wanted: Vec<_> = all
        .iter()
        .map(|address| address.map(|a| a.to_string()))
        .collect();
    assert_eq!(text, wanted);
    for (row, prefix) in texts(&back, "prefix").into_iter().enumerate() {
        let number = number(row);
        let wanted = (number > 0).then(|| format!("prefix of {number}"));
        assert_eq!(prefix, wanted, "{row}");
    }
}

#[test]
fn damaged_files_are_errors() {
    let directory = directory("damaged");
    let path = directory.join("file");
    let addresses = some(5000, false, v4);
    write(
        &path,
        Arc::new(UInt32Array::from_iter(bits(&addresses))),
        1000,
    );
    let good = fs::read(&path).unwrap();
    let column = ColumnId::Name("ip".into());
    for cut in [0, 3, 100, good.len() - 1] {
        fs::write(&path, &good[..cut]).unwrap();
        let error = ParquetAddresses::open(&path, std::slice::from_ref(&column), None)
            .err()
            .unwrap();
        let error = error.to_string();
        assert!(error.starts_with(path.to_str().unwrap()), "{error}");
    }
    // Bytes of pages: an error in one line, or other addresses, but an end in any case.
    let mut batch = AddressBatch::new();
    for at in (4..good.len() / 2).step_by(97) {
        let mut bytes = good.clone();
        bytes[at] ^= 0xff;
        fs::write(&path, bytes).unwrap();
        let mut source =
            ParquetAddresses::open(&path, std::slice::from_ref(&column), None).unwrap();
        let mut rows = 0;
        let answers = [answers(true)];
        let mut writer = ParquetAnnotator::new("out", Some(&source), &NAMES, &answers).unwrap();
        loop {
            match source.next_batch(&mut batch) {
                Ok(false) => break,
                Ok(true) => {
                    rows += batch.len();
                    assert!(rows <= 5000);
                    writer
                        .write(&batch, Some(&source), &[&vec![1; batch.len()]], &answers)
                        .unwrap();
                }
                Err(error) => {
                    assert!(!error.to_string().contains('\n'), "{error}");
                    break;
                }
            }
        }
    }
}
