//! Columns of records in; the type of each and the bytes of its values out, as `popfib.js` reads them.

use popfib_table::{Cell, Column, ColumnType, Scalar};

/// The numbers of the types that columns have.
const TEXT: u32 = 1;
const INTEGER: u32 = 2;
const BIGINT: u32 = 3;
const FLOAT: u32 = 4;
const BOOLEAN: u32 = 5;
/// Added to one of these for lists of it.
const LIST: u32 = 8;

/// The highest integer up to which a number of JavaScript is exact, `Number.MAX_SAFE_INTEGER`.
const MAX_SAFE: u128 = (1 << 53) - 1;

/// The type of a column. All of its values have it, so integers are `BIGINT` as soon as one of them is beyond [`MAX_SAFE`].
pub(crate) fn type_of(column: &Column) -> u32 {
    if column.is_of_list() {
        return BOOLEAN;
    }
    let is_big = |scalar: Scalar<'_>| match scalar {
        Scalar::Integer(number) => number.unsigned_abs() > MAX_SAFE,
        _ => false,
    };
    let scalar = match column.element_type() {
        ColumnType::Integer => {
            match (1..=column.len() as u32).any(|code| each(column, code, is_big)) {
                true => BIGINT,
                false => INTEGER,
            }
        }
        ColumnType::Float => FLOAT,
        ColumnType::Boolean => BOOLEAN,
        // Elements are never lists.
        ColumnType::Text | ColumnType::Texts | ColumnType::Integers => TEXT,
    };
    match column.column_type() {
        ColumnType::Texts | ColumnType::Integers => scalar + LIST,
        _ => scalar,
    }
}

/// Calls `take` with the value of a code, or with each element of a list, until it returns true; returns whether it did.
fn each(column: &Column, code: u32, mut take: impl FnMut(Scalar<'_>) -> bool) -> bool {
    match column.value(code) {
        None => false,
        Some(Cell::Scalar(scalar)) => take(scalar),
        Some(Cell::List(list)) => list.iter().any(take),
    }
}

/// Puts the value of a code into `output`, or the elements of a list one after the other: a text after its length, an integer as 16
/// bytes, a float as 8, a boolean as one. The value of a value-less list is true, so that a match does not look like none.
pub(crate) fn put(column: &Column, code: u32, output: &mut Vec<u8>) {
    output.clear();
    if column.is_of_list() && code == 1 {
        output.push(true.into());
        return;
    }
    each(column, code, |scalar| {
        match scalar {
            Scalar::Text(text) => {
                output.extend((text.len() as u32).to_le_bytes());
                output.extend(text.as_bytes());
            }
            Scalar::Integer(number) => output.extend(number.to_le_bytes()),
            Scalar::Float(number, _) => output.extend(number.to_le_bytes()),
            Scalar::Boolean(truth) => output.push(truth.into()),
        }
        false
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib_table::{CellKind, Records, RecordsBuilder};

    /// Records of one column, of a value each.
    fn of(values: &[&[Scalar<'_>]], is_list: bool) -> Records {
        let mut builder = RecordsBuilder::new();
        let column = builder.column("c").unwrap();
        let cell = |value: &Scalar<'_>| {
            let kind = match value {
                Scalar::Text(_) => CellKind::Text,
                Scalar::Integer(_) => CellKind::Integer,
                Scalar::Float(..) => CellKind::Float,
                Scalar::Boolean(_) => CellKind::Boolean,
            };
            (kind, value.to_string())
        };
        for value in values {
            match is_list {
                true => builder.set_list(column, value.iter().map(cell)),
                false => {
                    let (kind, text) = cell(&value[0]);
                    builder.set(column, kind, &text);
                }
            }
            builder.finish_record();
        }
        builder.build().records
    }

    #[test]
    fn types_are_those_of_javascript() {
        use Scalar::{Boolean, Float, Integer, Text};
        let highest = MAX_SAFE as i128;
        let cases: [(&[&[Scalar<'_>]], u32); 8] = [
            (&[&[Text("1")]], TEXT),
            (&[&[Integer(-highest)], &[Integer(highest)]], INTEGER),
            (&[&[Integer(1)], &[Integer(highest + 1)]], BIGINT),
            (&[&[Integer(1)], &[Integer(-highest - 1)]], BIGINT),
            (&[&[Integer(u64::MAX.into())]], BIGINT),
            (&[&[Integer(i64::MIN.into())]], BIGINT),
            (&[&[Float(1.0, 0)]], FLOAT),
            (&[&[Boolean(true)]], BOOLEAN),
        ];
        for (values, expected) in cases {
            let records = of(values, false);
            assert_eq!(type_of(&records.columns()[0]), expected, "{values:?}");
        }
        let lists: [(&[&[Scalar<'_>]], u32); 3] = [
            (&[&[Text("a"), Text("b")]], TEXT),
            (&[&[Integer(1)], &[Integer(2), Integer(highest)]], INTEGER),
            (
                &[&[Integer(1)], &[Integer(2), Integer(highest + 1)]],
                BIGINT,
            ),
        ];
        for (values, expected) in lists {
            let records = of(values, true);
            let found = type_of(&records.columns()[0]);
            assert_eq!(found, expected + LIST, "{values:?}");
        }
        // A column without a value.
        let mut builder = RecordsBuilder::new();
        builder.column("c").unwrap();
        assert_eq!(type_of(&builder.build().records.columns()[0]), TEXT);
    }

    #[test]
    fn values_as_bytes() {
        let bytes = |records: &Records, code| {
            let mut output = vec![7];
            put(&records.columns()[0], code, &mut output);
            output
        };
        let texts = of(&[&[Scalar::Text("é")], &[Scalar::Text("")]], false);
        assert_eq!(bytes(&texts, 1), [2, 0, 0, 0, 0xc3, 0xa9]);
        assert_eq!(bytes(&texts, 2), [0; 4]);
        assert_eq!((bytes(&texts, 0), bytes(&texts, 3)), (vec![], vec![]));
        let numbers = of(&[&[Scalar::Integer(-2), Scalar::Integer(1)]], true);
        let [low, high] = [-2i128, 1].map(i128::to_le_bytes);
        assert_eq!(bytes(&numbers, 1), [low, high].concat());
        let floats = of(&[&[Scalar::Float(0.5, 0)]], false);
        assert_eq!(bytes(&floats, 1), 0.5f64.to_le_bytes());
        let truths = of(
            &[&[Scalar::Boolean(true)], &[Scalar::Boolean(false)]],
            false,
        );
        assert_eq!((bytes(&truths, 1), bytes(&truths, 2)), (vec![1], vec![0]));
        // A value-less list.
        let list = of(&[&[Scalar::Text("")]], false);
        assert_eq!(type_of(&list.columns()[0]), BOOLEAN);
        assert_eq!((bytes(&list, 1), bytes(&list, 2)), (vec![1], vec![]));
    }
}
