//! Columns of records in; their names, types and values as columns of DuckDB out.

use core::ffi::CStr;
use std::collections::HashMap;
use std::ffi::CString;

use popfib_table::{Cell, Column, ColumnType, Scalar};

use crate::api::TypeId;
use crate::vector::{LogicalType, OutputRows, OutputVector, SqlText};

/// The type that a column of records has in DuckDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellType {
    /// Of its values, or of the elements of its lists.
    scalar: TypeId,
    is_list: bool,
}

impl CellType {
    pub(crate) fn of(column: &Column) -> Self {
        let scalar = match column.element_type() {
            ColumnType::Integer if column.is_unsigned() => TypeId::UBIGINT,
            ColumnType::Integer => TypeId::BIGINT,
            ColumnType::Float => TypeId::DOUBLE,
            ColumnType::Boolean => TypeId::BOOLEAN,
            _ => TypeId::VARCHAR,
        };
        let is_list = column.element_type() != column.column_type();
        Self { scalar, is_list }
    }

    /// Its name in SQL.
    pub(crate) fn name(self) -> String {
        let scalar = match self.scalar {
            TypeId::BIGINT => "BIGINT",
            TypeId::UBIGINT => "UBIGINT",
            TypeId::DOUBLE => "DOUBLE",
            TypeId::BOOLEAN => "BOOLEAN",
            _ => "VARCHAR",
        };
        format!("{scalar}{}", if self.is_list { "[]" } else { "" })
    }

    pub(crate) fn logical_type(self) -> LogicalType {
        let scalar = LogicalType::new(self.scalar);
        match self.is_list {
            true => LogicalType::list(&scalar),
            false => scalar,
        }
    }

    /// Fills a column with the values of these codes of `column`; null for a code without a value.
    ///
    /// # Errors
    /// There is no memory for the lists.
    ///
    /// # Safety
    /// `output` is of this type and has room for a row for each code; `self` is the type of `column`.
    pub(crate) unsafe fn fill(
        self,
        output: OutputVector,
        column: &Column,
        codes: &[u32],
    ) -> Result<(), String> {
        let cells: Vec<_> = codes.iter().map(|&code| column.value(code)).collect();
        // SAFETY: `output` has these rows. A row of lists is where the list starts and how long it is; elements are of the scalar
        // type.
        unsafe {
            if !self.is_list {
                let scalars = OutputScalars::new(self.scalar, output, cells.len());
                for (row, cell) in cells.iter().enumerate() {
                    if let Some(Cell::Scalar(scalar)) = cell {
                        scalars.set(row, *scalar);
                    }
                }
            } else {
                let len = |cell: &Option<Cell<'_>>| match cell {
                    Some(Cell::List(list)) => list.len(),
                    _ => 0,
                };
                let count = cells.iter().map(len).sum();
                let elements = output.elements(count).ok_or("no memory for the lists")?;
                let scalars = OutputScalars::new(self.scalar, elements, count);
                let lists = output.rows::<[u64; 2]>(cells.len());
                let mut start = 0;
                for (row, cell) in cells.iter().enumerate() {
                    lists.set(row, [start as u64, len(cell) as u64]);
                    if let Some(Cell::List(list)) = cell {
                        for (at, scalar) in list.iter().enumerate() {
                            scalars.set(start + at, scalar);
                        }
                        start += list.len();
                    }
                }
            }
            let is_there: Vec<_> = cells.iter().map(Option::is_some).collect();
            output.set_nulls(&is_there);
        }
        Ok(())
    }
}

/// The rows of an output of scalars, by their type.
enum OutputScalars<'a> {
    Texts(OutputVector, OutputRows<'a, SqlText>),
    Signed(OutputRows<'a, i64>),
    Unsigned(OutputRows<'a, u64>),
    Floats(OutputRows<'a, f64>),
    Booleans(OutputRows<'a, bool>),
}

impl OutputScalars<'_> {
    /// # Safety
    /// `output` is of type `of`, one of those of [`CellType`], and has `len` rows.
    unsafe fn new(of: TypeId, output: OutputVector, len: usize) -> Self {
        // SAFETY: the rows of each type are what they are taken for; a BOOLEAN is a byte.
        unsafe {
            match of {
                TypeId::BIGINT => Self::Signed(output.rows(len)),
                TypeId::UBIGINT => Self::Unsigned(output.rows(len)),
                TypeId::DOUBLE => Self::Floats(output.rows(len)),
                TypeId::BOOLEAN => Self::Booleans(output.rows(len)),
                _ => Self::Texts(output, output.rows(len)),
            }
        }
    }

    fn set(&self, row: usize, scalar: Scalar<'_>) {
        match (self, scalar) {
            // SAFETY: these are the output's rows and are texts, as the caller of `new` promised.
            (Self::Texts(output, rows), Scalar::Text(text)) => unsafe {
                output.put(rows, row, text.as_bytes());
            },
            (Self::Signed(rows), Scalar::Integer(number)) => rows.set(row, number as i64),
            (Self::Unsigned(rows), Scalar::Integer(number)) => rows.set(row, number as u64),
            (Self::Floats(rows), Scalar::Float(number, _)) => rows.set(row, number),
            (Self::Booleans(rows), Scalar::Boolean(truth)) => rows.set(row, truth),
            _ => unreachable!("a value of another type than its column"),
        }
    }
}

/// The names in DuckDB of a column `first` and of these columns. `A` and `a` are one name to DuckDB: a name that is already
/// there gets `_1` at its end, or the next number. An empty name, which SQL cannot write, becomes `column`.
pub(crate) fn names(first: &CStr, columns: &[Column]) -> Vec<CString> {
    let mut next: HashMap<String, u32> = HashMap::new();
    let first = first.to_string_lossy();
    let own = columns.iter().map(Column::name);
    [&*first]
        .into_iter()
        .chain(own)
        .map(|name| {
            let name = if name.is_empty() { "column" } else { name };
            // A byte 0 would end the string of C.
            let name = name.replace('\0', "\\0");
            let mut unique = name.clone();
            while next.contains_key(&unique.to_ascii_lowercase()) {
                let number = next.entry(name.to_ascii_lowercase()).or_default();
                *number += 1;
                unique = format!("{name}_{number}");
            }
            next.insert(unique.to_ascii_lowercase(), 0);
            CString::new(unique).unwrap_or_default()
        })
        .collect()
}
