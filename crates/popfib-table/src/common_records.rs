//! Several tables in, one out that has the records of all and the tables as its [set](Table::set): equal records are one.

use hashbrown::HashMap;
use popfib::family::{ByFamily, Family};
use popfib::{NextHop, Rib};

use crate::error::TableError;
use crate::records::{Cell, CellKind, Column, RecordsBuilder, Scalar};
use crate::table::Table;

impl Table {
    /// The tables of these names, whose records become those of one table, equal ones one: its columns are those of all. A column has
    /// texts if it has values of several types. O(routes and records of all).
    ///
    /// # Errors
    /// [`TableError::NoRoutes`] of an image without routes, [`TableError::TooManyColumns`].
    pub fn of_tables(tables: impl IntoIterator<Item = (String, Self)>) -> Result<Self, TableError> {
        let mut builder = RecordsBuilder::new();
        let (mut all, mut value_column) = (Vec::new(), 0);
        for (name, table) in tables {
            let table = table.named()?;
            let records = table.records().ok_or(TableError::NoNames)?;
            let columns = records.columns().iter();
            let columns = columns.map(|column| builder.column(column.name()));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            if all.is_empty() {
                value_column = columns[records.value_column()];
            }
            let mut known = HashMap::new();
            let mut number = |old: NextHop| {
                *known.entry(old).or_insert_with(|| {
                    for (index, column) in records.columns().iter().enumerate() {
                        if let Some(cell) = records.cell(old, index) {
                            copy(cell, column, columns[index], &mut builder);
                        }
                    }
                    builder.finish_record()
                })
            };
            let ribs = ByFamily {
                ipv4: renumbered(&table, &mut number)?,
                ipv6: renumbered(&table, &mut number)?,
            };
            all.push((name, ribs));
        }
        let mut records = builder.build().records;
        records.set_value_column(value_column.min(records.columns().len() - 1));
        Ok(Self::of_set(all, records))
    }
}

/// The routes of a family, with other numbers of records.
fn renumbered<A: Family>(
    table: &Table,
    number: &mut impl FnMut(NextHop) -> NextHop,
) -> Result<Rib<A>, TableError> {
    let routes = table.family::<A>().routes()?;
    Ok(routes.map(|(prefix, old)| (prefix, number(old))).collect())
}

/// Sets a value of the record at hand to that of another table.
fn copy(cell: Cell<'_>, from: &Column, to: usize, builder: &mut RecordsBuilder) {
    let kind = |scalar: Scalar<'_>| match (from.maxmind_type(), scalar) {
        (Some(maxmind_type), _) => CellKind::MaxMind(maxmind_type),
        (None, Scalar::Text(_)) => CellKind::Text,
        (None, Scalar::Integer(_)) => CellKind::Integer,
        (None, Scalar::Float(..)) => CellKind::Float,
        (None, Scalar::Boolean(_)) => CellKind::Boolean,
    };
    match cell {
        Cell::Scalar(scalar) => builder.set(to, kind(scalar), &scalar.to_string()),
        Cell::List(list) => {
            let elements = list.iter().map(|scalar| (kind(scalar), scalar.to_string()));
            builder.set_list(to, elements);
        }
    }
}
