//! Records in images: what was put in comes out, and no bytes make records that panic.

#[allow(dead_code)]
#[path = "../../../popfib/tests/library/image/forms.rs"]
mod forms;

use forms::{repair, sections};
use popfib::family::ByFamily;
use popfib::image::Keep;
use popfib::{Image, ImageWriter, NextHop, Options};
use popfib_table::{CellKind, ColumnType, Records, RecordsBuilder, Ribs, Table};

/// Columns of every type, with absent values, and so many records.
fn records(count: u32) -> Records {
    let mut builder = RecordsBuilder::new();
    let names = ["text", "int", "big", "float", "bool", "texts", "ints"];
    let [text, int, big, float, bool, texts, ints] =
        names.map(|name| builder.column(name).unwrap());
    for n in 0..count {
        let long = u64::MAX - u64::from(n);
        // Each has another set of values; the text is in all, so that no record equals another.
        builder.set(text, CellKind::Text, &format!("é{n}"));
        if n & 1 == 0 {
            builder.set(int, CellKind::Integer, &(i64::from(n) - 2).to_string());
            builder.set(big, CellKind::Integer, &long.to_string());
        }
        if n & 2 == 0 {
            builder.set(float, CellKind::Float, &(f64::from(n) / 4.0).to_string());
            builder.set(bool, CellKind::Boolean, &(n & 4 == 0).to_string());
        }
        if n % 3 == 0 {
            builder.set_list(
                texts,
                ["x", &n.to_string()].map(|text| (CellKind::Text, text)),
            );
            builder.set_list(
                ints,
                (0..=n % 4).map(|m| (CellKind::Integer, m.to_string())),
            );
        }
        assert_eq!(builder.finish_record().get(), n + 1);
    }
    builder.build().records
}

#[test]
fn copied_records_bring_their_values_alone() {
    let mut all = RecordsBuilder::new();
    let [text, list] = ["text", "list"].map(|name| all.column(name).unwrap());
    for n in 0..100 {
        all.set(text, CellKind::Written, &n.to_string());
        all.set_list(
            list,
            ["a", &n.to_string()].map(|text| (CellKind::Text, text)),
        );
        all.finish_record();
    }
    let absent = all.finish_record();
    let mut some = all.of_same_columns();
    let numbers = [42, 7, 42].map(|number| NextHop::new(number).unwrap());
    let copied = numbers.map(|number| some.copy_record(&all, number).get());
    assert_eq!(copied, [1, 2, 1]);
    assert_eq!(some.copy_record(&all, absent).get(), 3);
    let records = some.build().records;
    let cells = |number| {
        let number = NextHop::new(number).unwrap();
        [0, 1].map(|column| records.cell(number, column).map(|cell| cell.to_string()))
    };
    let is = |text: &str, list: &str| [Some(text.to_owned()), Some(list.to_owned())];
    assert_eq!(cells(1), is("41", "a,41"));
    assert_eq!(cells(2), is("6", "a,6"));
    assert_eq!(cells(3), [None, None]);
    assert_eq!(records.columns()[0].column_type(), ColumnType::Integer);
    assert_eq!(records.columns()[0].len(), 2);
}

/// A table in which a route leads to each record.
fn table(records: Records) -> Table {
    let mut ribs = ByFamily::<Ribs>::default();
    for number in 1..=records.len() as u32 {
        let next_hop = NextHop::new(number).unwrap();
        let prefix = format!("10.{}.{}.0/24", number / 256, number % 256);
        ribs.ipv4.insert(prefix.parse().unwrap(), next_hop);
        let prefix = format!("2001:db8:{number:x}::/48");
        ribs.ipv6.insert(prefix.parse().unwrap(), next_hop);
    }
    Table::of_records(ribs, records)
}

fn image(table: &Table, keep: Keep) -> Vec<u8> {
    let mut writer = ImageWriter::new(7);
    writer.table("model", &[]).unwrap();
    let written = table.write(&mut writer, &Options::default(), keep);
    written.unwrap();
    writer.to_bytes()
}

/// The kind of the section that this line of the section table is of.
fn kind_at(image: &[u8], line: usize) -> u16 {
    u16::from_le_bytes(image[line + 6..line + 8].try_into().unwrap())
}

/// Whether it is about records.
fn is_of_records(image: &[u8], line: usize) -> bool {
    image[line + 4] == 0 && kind_at(image, line) > 1
}

/// The only table of an image.
fn open(bytes: &[u8]) -> Table {
    let image = Image::from_bytes(bytes).unwrap();
    Table::of_image(image.table(None).unwrap()).unwrap()
}

/// All records as text, with the names and types of their columns.
fn shown(records: &Records) -> Vec<String> {
    let columns = records.columns().iter();
    let mut lines: Vec<_> = columns
        .map(|column| {
            format!(
                "{} {:?} {}",
                column.name(),
                column.column_type(),
                column.len()
            )
        })
        .collect();
    for number in (1..=records.len() as u32).filter_map(NextHop::new) {
        let cells = (0..records.columns().len()).map(|column| records.cell(number, column));
        lines.push(format!("{:?}", cells.collect::<Vec<_>>()));
    }
    lines
}

#[test]
fn records_come_back_as_they_were() {
    for count in [1, 2, 5, 255, 256, 700] {
        let all = table(records(count));
        let wanted = shown(all.records().unwrap());
        for keep in [Keep::Values, Keep::Prefixes, Keep::Routes] {
            let bytes = image(&all, keep);
            let read = open(&bytes);
            assert_eq!(shown(read.records().unwrap()), wanted);
            assert_eq!(read.record_count(), Some(count));
            let number = read.lookup("10.0.1.7".parse().unwrap());
            assert_eq!(number, Some(NextHop::MIN));
            if keep == Keep::Routes {
                assert!(image(&read, Keep::Routes) == bytes, "the same image again");
            }
        }
    }
}

#[test]
fn some_columns_in_another_order() {
    let mut all = table(records(300));
    let wanted = shown(all.records().unwrap());
    let [names, rows] = [&wanted[..7], &wanted[7..]];
    assert!(names[3].starts_with("float Float") && names[0].starts_with("text Text"));
    let missing = all.select(&["float".to_owned(), "none".to_owned()]);
    assert_eq!(missing, Err("none".to_owned()));
    all.select(&["ints".to_owned(), "float".to_owned()])
        .unwrap();
    let read = open(&image(&all, Keep::Routes));
    for table in [&all, &read] {
        let records = table.records().unwrap();
        assert_eq!(records.columns().len(), 2);
        assert_eq!(records.columns()[0].column_type(), ColumnType::Integers);
        for (row, number) in rows.iter().zip((1..).filter_map(NextHop::new)) {
            let cells: Vec<_> = (0..2).map(|column| records.cell(number, column)).collect();
            let [first, second] = [0, 1].map(|at| format!("{:?}", cells[at]));
            assert!(
                row.contains(&first) && row.contains(&second),
                "{row}: {cells:?}"
            );
        }
    }
}

#[test]
fn an_image_of_one_column_of_texts_has_its_texts_alone() {
    let mut builder = RecordsBuilder::new();
    let column = builder.column("value").unwrap();
    let mut texts = Vec::new();
    for (number, text) in ["b", "a", "é"].into_iter().enumerate() {
        builder.set(column, CellKind::Text, text);
        builder.finish_record();
        let prefix = format!("10.0.{}.0/24", number + 1).parse().unwrap();
        texts.push((prefix, text));
        let prefix = format!("2001:db8:{:x}::/48", number + 1).parse().unwrap();
        texts.push((prefix, text));
    }
    let wanted = image(&texts.into_iter().collect(), Keep::Routes);
    assert!(image(&table(builder.build().records), Keep::Routes) == wanted);
    let kinds = sections(&wanted)
        .into_iter()
        .filter(|(at, _)| wanted[at + 4] == 0)
        .map(|(at, _)| kind_at(&wanted, at));
    let kinds: Vec<_> = kinds.collect();
    // Metadata of the image and of the table, columns, texts and their ends.
    assert_eq!(kinds, [1, 1, 4, 64, 65]);
    let read = open(&wanted);
    let records = read.records().unwrap();
    assert_eq!(records.columns()[0].name(), "value");
    assert_eq!(image(&read, Keep::Routes), wanted);
}

/// Whatever is in the sections of records, with all checksums right: refused by a line, or records that can be read.
#[test]
fn damaged_records_are_noticed_or_sound() {
    let good = image(&table(records(40)), Keep::Values);
    let about_records = sections(&good)
        .into_iter()
        .filter(|(at, _)| is_of_records(&good, *at));
    let (mut opened, mut refused) = (0, 0);
    for at in about_records.flat_map(|(_, range)| range) {
        for flip in [1, 2, 0x10, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] ^= flip;
            repair(&mut bytes);
            // Tables are checked with the number of records.
            let Ok(image) = Image::from_bytes(&bytes) else {
                refused += 1;
                continue;
            };
            match Table::of_image(image.table(None).unwrap()) {
                Ok(table) => {
                    shown(table.records().unwrap());
                    opened += 1;
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.starts_with("byte ") && !text.contains('\n'), "{text}");
                    refused += 1;
                }
            }
        }
    }
    assert!(opened > 500 && refused > 500, "{opened} and {refused}");
}

#[test]
fn sections_that_are_missing_are_named() {
    let good = image(&table(records(9)), Keep::Values);
    let about_records: Vec<_> = (sections(&good).into_iter())
        .filter(|(at, _)| is_of_records(&good, *at))
        .map(|(at, range)| (kind_at(&good, at), good[range].to_vec()))
        .collect();
    // Seven columns, two of which are lists, and two have texts.
    assert_eq!(about_records.len(), 2 + 7 + 2 * 2 + 2);
    for (omitted, _) in &about_records {
        let mut writer = ImageWriter::new(7);
        writer.table("model", &[]).unwrap();
        let kept = about_records.iter().filter(|(kind, _)| kind != omitted);
        writer.records(9, kept.cloned()).unwrap();
        let image = Image::from_bytes(&writer.to_bytes()).unwrap();
        let read = Table::of_image(image.table(None).unwrap());
        match (omitted, read) {
            // Without their columns there are no records, but numbers.
            (4, Ok(table)) => assert!(table.records().is_none()),
            (_, Err(error)) => {
                let text = error.to_string();
                let what = match omitted {
                    5 => "no rows of the records".to_owned(),
                    _ => format!("of column {}", (omitted - 64) / 4 + 1),
                };
                assert!(text.contains(&what), "{omitted}: {text}");
            }
            (_, Ok(_)) => panic!("it opened without {omitted}"),
        }
    }
}

#[test]
fn records_may_be_none() {
    let mut builder = RecordsBuilder::new();
    let _ = ["a", "b"].map(|name| builder.column(name).unwrap());
    let empty = Table::of_records(ByFamily::default(), builder.build().records);
    let read = open(&image(&empty, Keep::Routes));
    assert_eq!(read.records().unwrap().columns().len(), 2);
    assert!(read.records().unwrap().is_empty());
}

/// A million records, and 4,096 columns of which one has a value: a step for each record and column took 11 s.
#[test]
fn columns_without_values_cost_nothing_to_open() {
    const RECORDS: u32 = 1_000_000;
    const COLUMNS: u16 = 4096;
    let mut head: Vec<u8> = [RECORDS, COLUMNS.into(), 1, 0]
        .map(u32::to_le_bytes)
        .concat();
    // A byte a row, and seven beyond the last, as each is read as a word.
    let mut rows = vec![1; RECORDS as usize];
    rows.extend([0; 7]);
    let (mut names, mut sections) = (String::new(), vec![(5, rows)]);
    for column in 0..COLUMNS {
        let name = column.to_string();
        let value = u8::from(column + 1 == COLUMNS);
        head.extend([5, 0, value, 0]);
        head.extend(
            [name.len() as u32, value.into(), 0]
                .map(u32::to_le_bytes)
                .concat(),
        );
        names += &name;
        sections.push((64 + 4 * column, vec![1; value.into()]));
    }
    head.extend(names.bytes());
    sections.push((4, head));
    let mut writer = ImageWriter::new(7);
    writer.table("wide", &[]).unwrap();
    writer.records(RECORDS, sections).unwrap();
    let family = popfib::Rib::<u32>::new();
    writer
        .family(&family, &Options::default(), Keep::Values)
        .unwrap();
    let image = Image::from_bytes(&writer.to_bytes()).unwrap();
    let begin = std::time::Instant::now();
    let table = Table::of_image(image.table(None).unwrap()).unwrap();
    assert_eq!(
        table.records().map(|records| records.columns().len()),
        Some(4096)
    );
    assert!(begin.elapsed().as_secs() < 5);
}
