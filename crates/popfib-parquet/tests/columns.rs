//! Columns of records of every type, in tables and beside addresses, read back by the library's own reader and by ours.

use std::fmt::Write;
use std::fs::{self, File};
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use popfib::NextHop;
use popfib_formats::{AddressBatch, ColumnSelection, Input, LoadOptions, RouteTable, WriteError};
use popfib_parquet::{ParquetAnnotator, ParquetAnswers, ParquetRows, write_table};
use popfib_table::{Cell, Records, Scalar};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// All columns of a table.
fn load(input: Input) -> RouteTable {
    let options = LoadOptions {
        columns: ColumnSelection::All,
        ..LoadOptions::new()
    };
    popfib_formats::load(input, &options).unwrap()
}

fn of_text(text: String) -> RouteTable {
    load(Input::from_reader("t", std::io::Cursor::new(text)))
}

/// Writes a table, and reads it back as a table.
fn written(table: &RouteTable, path: &PathBuf) -> RouteTable {
    write_table(table, File::create(path).unwrap()).unwrap();
    load(Input::from_reader(
        "again",
        ParquetRows::open(path).unwrap(),
    ))
}

/// The rows of a file, and how many each row group has.
fn rows(path: &PathBuf) -> (RecordBatch, Vec<i64>) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let groups = builder.metadata().row_groups().iter();
    let groups = groups.map(|group| group.num_rows()).collect();
    let all = builder.metadata().file_metadata().num_rows() as usize;
    let mut batches = builder.with_batch_size(all).build().unwrap();
    (batches.next().unwrap().unwrap(), groups)
}

/// A value as text after its type.
fn scalar(value: Scalar<'_>) -> String {
    match value {
        Scalar::Text(text) => format!("text {text}"),
        Scalar::Integer(number) => format!("integer {number}"),
        Scalar::Float(number, _) => format!("float {number:?}"),
        Scalar::Boolean(truth) => format!("boolean {truth}"),
    }
}

fn cell(cell: Cell<'_>) -> String {
    match cell {
        Cell::Scalar(value) => scalar(value),
        Cell::List(list) => format!("{:?}", list.iter().map(scalar).collect::<Vec<_>>()),
    }
}

/// The same of the values of a column, by the library.
fn found(column: &dyn Array) -> Vec<Option<String>> {
    let value = |row: usize| match column.data_type() {
        DataType::Utf8 => format!("text {}", column.as_string::<i32>().value(row)),
        DataType::Dictionary(..) => {
            let texts = column.as_dictionary::<UInt32Type>();
            let code = texts.keys().value(row) as usize;
            format!("text {}", texts.values().as_string::<i32>().value(code))
        }
        DataType::Int64 => format!("integer {}", column.as_primitive::<Int64Type>().value(row)),
        DataType::UInt64 => format!("integer {}", column.as_primitive::<UInt64Type>().value(row)),
        DataType::Float64 => {
            format!(
                "float {:?}",
                column.as_primitive::<Float64Type>().value(row)
            )
        }
        DataType::Boolean => format!("boolean {}", column.as_boolean().value(row)),
        DataType::List(_) => {
            let elements = found(&*column.as_list::<i32>().value(row));
            format!("{:?}", elements.iter().flatten().collect::<Vec<_>>())
        }
        other => panic!("{other}"),
    };
    let rows = 0..column.len();
    rows.map(|row| column.is_valid(row).then(|| value(row)))
        .collect()
}

/// Holds the columns from the one of this index on against those of the records of these numbers, 0 for none.
fn check(rows: &RecordBatch, first: usize, records: &Records, numbers: &[u32]) {
    for index in 0..records.columns().len() {
        let wanted = |&number: &u32| Some(cell(records.cell(NextHop::new(number)?, index)?));
        let wanted: Vec<_> = numbers.iter().map(wanted).collect();
        let name = records.columns()[index].name();
        assert!(found(rows.column(first + index)) == wanted, "{name}");
    }
}

/// Each route with its values by the names and types of their columns.
fn answers(table: &RouteTable) -> Vec<String> {
    let records = &table.records;
    let answer = |(prefix, number)| {
        let columns = records.columns().iter().enumerate();
        let cells = columns.filter_map(|(index, column)| {
            let value = cell(records.cell(number, index)?);
            let unsigned = column.is_unsigned();
            Some(format!("{} {unsigned} {value}", column.name()))
        });
        let mut cells: Vec<_> = cells.collect();
        cells.sort();
        format!("{prefix} {cells:?}")
    };
    table.routes().map(answer).collect()
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// A table of routes of both families, whose records have columns of every type, each absent in some.
fn random_table(seed: u64, routes: u64) -> RouteTable {
    let mut random = Random(seed);
    let texts = [
        "",
        "a",
        "a, b",
        "\u{65e5}\u{672c}\t\\",
        "\"",
        "null",
        "7",
        "-",
    ];
    let mut words: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    words.extend(
        (0..random.below(3000)).map(|n| format!("word {n} {}", "x".repeat(n as usize % 90))),
    );
    let mut text = String::new();
    for n in 0..routes {
        match n % 3 {
            0 => write!(text, "{{\"prefix\":\"2001:db8:{:x}::/48\"", n % 65536).unwrap(),
            _ => write!(
                text,
                "{{\"prefix\":\"{}.{}.{}.0/24\"",
                n >> 16,
                n >> 8 & 255,
                n & 255
            )
            .unwrap(),
        }
        let mut word = |random: &mut Random| {
            let len = words.len() as u64;
            // As JSON has them, too.
            format!("{:?}", words[random.below(len) as usize])
        };
        // Runs of equal records, too.
        let mut own = Random(if n % 100 < 40 {
            seed
        } else {
            random.below(1 << 40)
        });
        let random = &mut own;
        let list = |random: &mut Random, value: &mut dyn FnMut(&mut Random) -> String| {
            let len = random.below(5);
            let values: Vec<_> = (0..len).map(|_| value(random)).collect();
            format!("[{}]", values.join(","))
        };
        for column in 0..8 {
            if random.below(4) == 0 {
                continue;
            }
            let (name, value) = match column {
                0 => ("name", word(random)),
                1 => ("delta", format!("-{}", random.below(1 << 31))),
                2 => ("id", (u64::MAX - random.below(1 << 31)).to_string()),
                3 => ("rate", format!("{}.5", random.below(1000))),
                4 => ("up", (random.below(2) == 0).to_string()),
                5 => ("tags.all", list(random, &mut word)),
                6 => (
                    "ports",
                    list(random, &mut |random| random.below(70_000).to_string()),
                ),
                _ => (
                    "sums",
                    list(random, &mut |random| {
                        (u64::MAX - random.below(9)).to_string()
                    }),
                ),
            };
            write!(text, ",\"{name}\":{value}").unwrap();
        }
        text.push_str("}\n");
    }
    of_text(text)
}

/// Whatever the table: the library reads each value with its type, and as a table it is the one that was written.
#[test]
fn tables_come_back() {
    let path = path("tables.parquet");
    for (seed, routes) in [(1, 1), (2, 9), (3, 300), (4, 20_000), (5, 60_000)] {
        let table = random_table(seed, routes);
        let again = written(&table, &path);
        assert!(answers(&again) == answers(&table), "{seed}");
        let (rows, _) = rows(&path);
        let (prefixes, numbers): (Vec<_>, Vec<_>) = table.routes().unzip();
        let prefixes: Vec<_> = prefixes
            .iter()
            .map(|prefix| Some(format!("text {prefix}")))
            .collect();
        assert_eq!(rows.schema().field(0).name(), "prefix");
        assert!(found(rows.column(0)) == prefixes);
        let numbers: Vec<_> = numbers.into_iter().map(NextHop::get).collect();
        check(&rows, 1, &table.records, &numbers);
    }
}

/// Beside addresses: the columns of several tables, where they match.
#[test]
fn annotated_columns_come_back() {
    let path = path("annotated.parquet");
    let tables = [random_table(7, 5000), random_table(8, 40_000)];
    let records = tables.each_ref().map(|table| &table.records);
    let mut names = Vec::new();
    let mut answers = Vec::new();
    for (index, records) in records.iter().enumerate() {
        let with_prefixes = index == 0;
        let mut of_table = ParquetAnswers::new(records, with_prefixes);
        for number in (1..=records.len() as u32).rev() {
            of_table.push(&format!("prefix {number}"), NextHop::new(number).unwrap());
        }
        answers.push(of_table);
        names.extend(with_prefixes.then(|| "prefix".to_owned()));
        let columns = records.columns().iter();
        names.extend(columns.map(|column| format!("{index} {}", column.name())));
    }
    let mut writer = ParquetAnnotator::new("out", None, &names, &answers).unwrap();
    let mut random = Random(9);
    let mut numbers = [Vec::new(), Vec::new()];
    for (numbers, records) in numbers.iter_mut().zip(records) {
        numbers.extend((0..50_000).map(|_| random.below(records.len() as u64 + 1) as u32));
    }
    for first in (0..50_000).step_by(AddressBatch::FULL) {
        let rows = first..(first + AddressBatch::FULL).min(50_000);
        let mut batch = AddressBatch::new();
        rows.clone().for_each(|_| batch.push(None));
        let of_batch = numbers.each_ref().map(|numbers| &numbers[rows.clone()]);
        writer.write(&batch, None, &of_batch, &answers).unwrap();
    }
    fs::write(&path, writer.finish(&answers).unwrap()).unwrap();
    let (rows, _) = rows(&path);
    let schema = rows.schema();
    let found_names = schema.fields().iter().map(|field| field.name().as_str());
    let wanted = ["address"]
        .into_iter()
        .chain(names.iter().map(String::as_str));
    assert!(found_names.eq(wanted));
    let record = |numbers: &[u32], records: &Records| -> Vec<u32> {
        let count = records.len() as u32;
        let of = |&number: &u32| if number == 0 { 0 } else { count + 1 - number };
        numbers.iter().map(of).collect()
    };
    let of_first = record(&numbers[0], records[0]);
    let prefixes: Vec<_> = of_first
        .iter()
        .map(|&number| (number > 0).then(|| format!("text prefix {number}")))
        .collect();
    assert!(found(rows.column(1)) == prefixes);
    check(&rows, 2, records[0], &of_first);
    let of_second = record(&numbers[1], records[1]);
    check(
        &rows,
        2 + records[0].columns().len(),
        records[1],
        &of_second,
    );
}

/// One column, none, and no rows.
#[test]
fn tables_without_records() {
    let path = path("plain.parquet");
    let load = |text: &str| {
        if text.is_empty() {
            return RouteTable::default();
        }
        let input = Input::from_reader("t", std::io::Cursor::new(text.to_owned()));
        popfib_formats::load(input, &LoadOptions::new()).unwrap()
    };
    for (text, column, wanted) in [
        (
            "10.0.0.0/8 east\n::/0 west\n10.1.0.0/16 east\n",
            None,
            &["prefix", "next_hop"][..],
        ),
        ("10.0.0.0/8 east\n", Some("site"), &["prefix", "site"]),
        ("10.0.0.0/8\n::/0\n", None, &["prefix"]),
        ("", None, &["prefix"]),
    ] {
        let mut table = load(text);
        if let Some(column) = column {
            let mut texts = popfib_table::Dictionary::new();
            for text in table.records.values() {
                texts.intern(&text);
            }
            table.records = Records::of_texts(column, texts);
            table.columns = popfib_formats::ColumnSelection::Named(vec![column.to_owned()]);
        }
        write_table(&table, File::create(&path).unwrap()).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        let names = builder
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone());
        assert_eq!(names.collect::<Vec<_>>(), wanted);
        if table.route_count() == 0 {
            assert_eq!(builder.metadata().num_row_groups(), 0);
            continue;
        }
        let (rows, _) = rows(&path);
        let (prefixes, values): (Vec<_>, Vec<_>) = table
            .routes()
            .map(|(prefix, number)| {
                let value = table.value(number);
                (
                    Some(format!("text {prefix}")),
                    Some(format!("text {value}")),
                )
            })
            .unzip();
        assert_eq!(found(rows.column(0)), prefixes);
        if wanted.len() == 2 {
            assert_eq!(found(rows.column(1)), values);
        }
    }
    let text = "{\"prefix\":\"10.0.0.0/8\",\"a\":1}\n";
    let mut table = of_text(text.to_owned());
    table.records = Records::of_texts("prefix", popfib_table::Dictionary::new());
    let error = write_table(&table, Vec::new()).unwrap_err();
    let wanted = "a column is called \"prefix\", as the prefix is";
    assert!(
        matches!(&error, WriteError::Form(_)) && error.to_string() == wanted,
        "{error}"
    );
}

/// What is in memory at a time is bounded, in rows and in elements of lists.
#[test]
fn row_groups_are_bounded() {
    let path = path("groups.parquet");
    let table = popfib_formats::load(Input::built_in(), &LoadOptions::new()).unwrap();
    write_table(&table, File::create(&path).unwrap()).unwrap();
    let (all, groups) = rows(&path);
    assert_eq!(groups, [1 << 20, table.route_count() as i64 - (1 << 20)]);
    let values = table.routes().map(|(_, number)| {
        let value = table.value(number);
        Some(format!("text {value}"))
    });
    assert!(found(all.column(1)).into_iter().eq(values));
    let list = vec!["7"; 10_000].join(",");
    let mut text = String::new();
    for n in 0..250 {
        let list = if n == 7 { "" } else { &list };
        writeln!(
            text,
            "{{\"prefix\":\"10.{n}.0.0/16\",\"n\":{n},\"list\":[{list}]}}"
        )
        .unwrap();
    }
    let table = of_text(text);
    assert!(answers(&written(&table, &path)) == answers(&table));
    assert_eq!(rows(&path).1, [106, 105, 39]);
}
