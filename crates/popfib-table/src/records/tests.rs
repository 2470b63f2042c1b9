//! Records beside a model: the cells of each record as they were set.

use popfib::NextHop;

use super::packed_rows::RecordRows;
use super::*;

#[derive(Clone, Debug, PartialEq)]
enum Set {
    Absent,
    Text(String),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Texts(Vec<String>),
    Integers(Vec<i128>),
}

fn cell_of(cell: Option<Cell<'_>>) -> Set {
    let scalar = |scalar: Scalar<'_>| match scalar {
        Scalar::Text(text) => Set::Text(text.to_owned()),
        Scalar::Integer(number) => Set::Integer(number),
        Scalar::Float(number, _) => Set::Float(number),
        Scalar::Boolean(truth) => Set::Boolean(truth),
    };
    match cell {
        None => Set::Absent,
        Some(Cell::Scalar(one)) => scalar(one),
        Some(Cell::List(list)) => match list.iter().next() {
            Some(Scalar::Integer(_)) => Set::Integers(
                list.iter()
                    .map(|element| match element {
                        Scalar::Integer(number) => number,
                        other => panic!("{other:?} in a list of integers"),
                    })
                    .collect(),
            ),
            _ => Set::Texts(list.iter().map(|element| element.to_string()).collect()),
        },
    }
}

fn set(builder: &mut RecordsBuilder, column: usize, value: &Set) {
    match value {
        Set::Absent => {}
        Set::Text(text) => builder.set(column, CellKind::Text, text),
        Set::Integer(number) => builder.set(column, CellKind::Integer, &number.to_string()),
        Set::Float(number) => builder.set(column, CellKind::Float, &number.to_string()),
        Set::Boolean(truth) => builder.set(column, CellKind::Boolean, &truth.to_string()),
        Set::Texts(texts) => {
            builder.set_list(column, texts.iter().map(|text| (CellKind::Text, text)));
        }
        Set::Integers(numbers) => {
            let numbers = numbers.iter().map(|number| number.to_string());
            builder.set_list(column, numbers.map(|number| (CellKind::Integer, number)));
        }
    }
}

/// A column of texts that tell its type, and that.
fn written(texts: &[&str]) -> ColumnType {
    let mut builder = RecordsBuilder::new();
    let column = builder.column("c").unwrap();
    for text in texts {
        builder.set(column, CellKind::Written, text);
        builder.finish_record();
    }
    let built = builder.build();
    assert_eq!(built.mixed, [""; 0]);
    let column = &built.records.columns()[0];
    for (code, text) in texts.iter().enumerate() {
        let value = column.value(code as u32 + 1).unwrap();
        assert_eq!(value.to_string(), *text, "as it was written");
    }
    column.column_type()
}

/// By the shortest digits of the library, and zeros.
#[test]
fn decimals_are_zeros_after_the_shortest_digits() {
    let mut state = 7u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let written = |number: f64, decimals: u8| {
        let mut text = number.to_string();
        let has = text.split_once('.').map_or(0, |(_, digits)| digits.len());
        if has == 0 && decimals > 0 {
            text.push('.');
        }
        text + &"0".repeat(usize::from(decimals).saturating_sub(has))
    };
    let fixed = [
        0.0, -0.0, 0.5, -1.5, 1.005, 48.0, 999.9995, 1e14, 1e15, 1e16, 1e300, 5e-324,
    ];
    let numbers = (0..200_000).map(|n| {
        let bits = random();
        match n % 2 {
            // Of few digits, as people write them.
            0 => (bits as i64 >> (11 + bits % 53)) as f64 / 10f64.powi((bits >> 8) as i32 % 18),
            _ => f64::from_bits(bits),
        }
    });
    let numbers: Vec<f64> = numbers.filter(|number| number.is_finite()).collect();
    for (at, number) in fixed.into_iter().chain(numbers).enumerate() {
        let decimals = (at % 20) as u8;
        let text = Scalar::Float(number, decimals).to_string();
        assert_eq!(text, written(number, decimals), "{number:e} {decimals}");
        assert_eq!(text.parse().map(f64::to_bits), Ok(number.to_bits()));
    }
}

#[test]
fn whole_numbers_with_and_without_a_point_are_numbers() {
    let mut builder = RecordsBuilder::new();
    let column = builder.column("c").unwrap();
    for text in ["48", "48.0", "", "48.2", "-0.0"] {
        if !text.is_empty() {
            builder.set(column, CellKind::Written, text);
        }
        builder.finish_record();
    }
    let records = builder.build().records;
    assert_eq!(records.columns()[0].column_type(), ColumnType::Float);
    let text = |number| records.cell(NextHop::new(number).unwrap(), 0);
    let texts = (1..=5).map(|number| text(number).map(|cell| cell.to_string()));
    let wanted = [Some("48"), Some("48"), None, Some("48.2"), Some("-0")];
    assert!(texts.eq(wanted.map(|text| text.map(str::to_owned))));
    // Equal numbers are one value, which is counted once.
    assert_eq!(records.columns()[0].len(), 3);
    let codes = |number| records.codes(number).next();
    assert_eq!(codes(1), codes(2));
}

#[test]
fn the_type_of_written_texts_is_never_guessed_with_loss() {
    let max = u64::MAX.to_string();
    for (texts, column_type) in [
        (&["1", "-7", "0"][..], ColumnType::Integer),
        (&["1", &max], ColumnType::Integer),
        (&["-1", &max], ColumnType::Text),
        (
            &["340282366920938463463374607431768211455"],
            ColumnType::Text,
        ),
        (&["01234"], ColumnType::Text),
        (&["1", "01234"], ColumnType::Text),
        (&["1e5"], ColumnType::Text),
        (&["+7"], ColumnType::Text),
        (&["-0"], ColumnType::Float),
        (&["1", "2.5"], ColumnType::Float),
        (&["2.50"], ColumnType::Float),
        (&["48.0", "48.2", "-7.125"], ColumnType::Float),
        (&["48.1370", "11.5000", "0.1000"], ColumnType::Float),
        // As versions and AS numbers are written.
        (&["1.10", "1.9"], ColumnType::Text),
        (&["1.10", "7"], ColumnType::Text),
        (&["NaN"], ColumnType::Text),
        (&["inf", "1.5"], ColumnType::Text),
        (&["true", "false"], ColumnType::Boolean),
        (&["true", "1"], ColumnType::Text),
        (&["True"], ColumnType::Text),
        (&["", "1"], ColumnType::Text),
        (&["AS1", "1"], ColumnType::Text),
    ] {
        assert_eq!(written(texts), column_type, "{texts:?}");
    }
}

#[test]
fn records_are_what_was_set_whatever_the_widths_of_codes() {
    // Columns with 1 to 300 different values, which come up one after the other.
    let counts = [1u32, 2, 3, 7, 8, 300, 1, 40, 255, 256, 12, 5];
    let mut state = 1u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut value = |column: usize| {
        let n = random(u64::from(counts[column]));
        if random(4) == 0 {
            return Set::Absent;
        }
        match column % 6 {
            0 => Set::Text(format!("text {n}")),
            1 => Set::Integer(i128::from(n) - 3),
            2 => Set::Float(n as f64 / 8.0),
            3 => Set::Boolean(n.is_multiple_of(2)),
            4 => Set::Texts((0..=n % 4).map(|m| format!("{n},{m}\\")).collect()),
            _ => Set::Integers((0..=n % 5).map(|m| i128::from(m + n)).collect()),
        }
    };
    let mut model: Vec<Vec<Set>> = Vec::new();
    let mut builder = RecordsBuilder::new();
    for round in 0..3_000 {
        let known = (1 + round / 100).min(counts.len());
        let record: Vec<Set> = (0..known).map(&mut value).collect();
        for (column, value) in record.iter().enumerate() {
            let column = match value {
                Set::Absent => continue,
                _ => builder.column(&format!("c{column}")).unwrap(),
            };
            set(&mut builder, column, value);
        }
        let number = builder.finish_record();
        let mut record = record;
        record.resize(counts.len(), Set::Absent);
        let number = number.get() as usize;
        match model.get(number - 1) {
            Some(known) => assert_eq!(*known, record, "an equal record has its number"),
            None => {
                assert!(!model.contains(&record), "equal records have one number");
                assert_eq!(number, model.len() + 1);
                model.push(record);
            }
        }
    }
    assert_eq!(builder.len(), model.len());
    let built = builder.build();
    assert_eq!(built.mixed, [""; 0]);
    let records = built.records;
    assert_eq!(records.len(), model.len());
    assert!(records.bytes() > model.len());
    for (index, record) in model.iter().enumerate() {
        let number = NextHop::new(index as u32 + 1).unwrap();
        for (column, value) in record.iter().enumerate() {
            let column = records.column(&format!("c{column}")).unwrap();
            assert_eq!(
                cell_of(records.cell(number, column)),
                *value,
                "record {number}"
            );
        }
    }
    let behind = NextHop::new(model.len() as u32 + 1).unwrap();
    assert_eq!(records.cell(behind, 0), None);
    assert_eq!(records.column("c99"), None);
}

#[test]
fn columns_of_several_types_become_texts() {
    let mut builder = RecordsBuilder::new();
    let (a, b) = (builder.column("a").unwrap(), builder.column("b").unwrap());
    let rows = [
        (Set::Integer(1), Set::Text("x".into())),
        // Written as the integer is.
        (Set::Text("1".into()), Set::Texts(vec!["x".into()])),
        (Set::Float(1.5), Set::Texts(vec!["x".into(), "y,z".into()])),
        (Set::Boolean(true), Set::Absent),
    ];
    let mut numbers = Vec::new();
    for (first, second) in &rows {
        set(&mut builder, a, first);
        set(&mut builder, b, second);
        numbers.push(builder.finish_record());
    }
    let built = builder.build();
    assert_eq!(built.mixed, ["a", "b"]);
    let texts = |column| -> Vec<_> {
        let cell = |&number| {
            built
                .records
                .cell(number, column)
                .map(|cell| cell.to_string())
        };
        numbers.iter().map(cell).collect()
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(texts(a), [text("1"), text("1"), text("1.5"), text("true")]);
    assert_eq!(texts(b), [text("x"), text("x"), text(r"x,y\,z"), None]);
    for column in built.records.columns() {
        assert_eq!(column.column_type(), ColumnType::Text);
    }
}

#[test]
fn lists_have_types_too() {
    let mut builder = RecordsBuilder::new();
    let column = builder.column("l").unwrap();
    let lists = [
        Set::Integers(vec![3, 1, 3]),
        Set::Integers(vec![1]),
        Set::Integers(vec![]),
    ];
    for list in &lists {
        set(&mut builder, column, list);
        builder.finish_record();
    }
    let records = builder.build().records;
    assert_eq!(records.columns()[0].column_type(), ColumnType::Integers);
    assert_eq!(cell_of(records.cell(NextHop::MIN, 0)), lists[0]);
    let list = records.cell(NextHop::MIN, 0).unwrap();
    assert_eq!(list.to_string(), "3,1,3");

    let mut builder = RecordsBuilder::new();
    let column = builder.column("l").unwrap();
    builder.set_list(
        column,
        ["true", "false"].map(|truth| (CellKind::Boolean, truth)),
    );
    let number = builder.finish_record();
    let records = builder.build().records;
    assert_eq!(records.columns()[0].column_type(), ColumnType::Texts);
    let texts = ["true", "false"].map(str::to_owned).to_vec();
    assert_eq!(cell_of(records.cell(number, 0)), Set::Texts(texts));
}

#[test]
fn one_column_has_no_rows_and_no_column_is_one_of_texts() {
    let mut builder = RecordsBuilder::new();
    let column = builder.column("name").unwrap();
    for text in ["b", "a", "", "b"] {
        builder.set(column, CellKind::Text, text);
        builder.finish_record();
    }
    let records = builder.build().records;
    assert!(matches!(records.rows, RecordRows::Codes));
    for (number, text) in [(1, "b"), (2, "a"), (3, "")] {
        let number = NextHop::new(number).unwrap();
        assert_eq!(cell_of(records.cell(number, 0)), Set::Text(text.to_owned()));
    }
    assert_eq!(records.len(), 3);

    let records = RecordsBuilder::new().build().records;
    assert!(records.is_empty() && records.columns().len() == 1);
    assert_eq!(records.cell(NextHop::MIN, 0), None);
    assert!(Records::default().is_empty());
}

#[test]
fn columns_have_a_bound() {
    let mut builder = RecordsBuilder::new();
    for index in 0..builder::MAX_COLUMNS {
        assert_eq!(builder.column(&index.to_string()).unwrap(), index);
    }
    assert_eq!(builder.column("7").unwrap(), 7);
    let error = builder.column("one more").unwrap_err();
    assert_eq!(error.to_string(), "records of more than 4096 columns");
    builder.set(0, CellKind::Boolean, "true");
    assert_eq!(builder.finish_record(), NextHop::MIN);
}

#[test]
fn a_column_says_what_its_elements_are() {
    let column = |values: &[i128], is_list: bool| {
        let mut builder = RecordsBuilder::new();
        let column = builder.column("c").unwrap();
        for value in values {
            let value = value.to_string();
            match is_list {
                true => builder.set_list(column, [(CellKind::Integer, value)]),
                false => builder.set(column, CellKind::Integer, &value),
            }
            builder.finish_record();
        }
        builder.build().records.columns()[0].clone()
    };
    let highest = i128::from(u64::MAX);
    for is_list in [false, true] {
        assert_eq!(column(&[1], is_list).element_type(), ColumnType::Integer);
        assert!(!column(&[1, -1, i64::MAX.into()], is_list).is_unsigned());
        assert!(column(&[1, highest], is_list).is_unsigned());
    }
    // What no builder makes, and an image may have.
    let lists = column(&[1], true).lists;
    let floats = Column::new(
        "c".into(),
        super::scalars::ScalarDictionary::Floats(vec![1.5], 0),
        lists,
    );
    assert_eq!(floats.column_type(), ColumnType::Texts);
    assert_eq!(floats.element_type(), ColumnType::Float);
}
