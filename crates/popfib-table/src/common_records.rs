//! Several tables in, one out that has the records of all and the tables as its [set](Table::set): equal records are one.

use hashbrown::HashMap;
use popfib::family::{ByFamily, Family};
use popfib::image::ImageTable;
use popfib::{NextHop, Rib};

use crate::error::TableError;
use crate::family::FamilyTable;
use crate::records::{Cell, CellKind, Column, Records, RecordsBuilder, Scalar};
use crate::table::Table;

impl Table {
    /// The same of tables whose answers stay what they are: all have one kind of records. `None` of others.
    ///
    /// # Errors
    /// As [`of_tables`](Self::of_tables).
    pub fn of_alike(tables: &[(&str, &Self)]) -> Result<Option<Self>, TableError> {
        let kinds = tables.iter().map(|(_, table)| {
            let records = table.records()?;
            let column = |column: &Column| {
                let types = (
                    column.column_type(),
                    column.is_unsigned(),
                    column.maxmind_type(),
                );
                (column.name().to_owned(), types, column.is_of_list())
            };
            let columns: Vec<_> = records.columns().iter().map(column).collect();
            Some((columns, records.value_column()))
        });
        let Some(kinds) = kinds.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        if kinds.len() < 2 || kinds.iter().any(|kind| *kind != kinds[0]) {
            return Ok(None);
        }
        let tables = tables.iter();
        let tables = tables.map(|&(name, table)| (name.to_owned(), table.clone()));
        Self::of_tables(tables).map(Some)
    }

    /// All tables of an image, if they have their records in common.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`] of an image without routes, [`TableError::Image`] for records that are damaged.
    pub fn of_common(images: &[ImageTable]) -> Result<Option<Self>, TableError> {
        if images.len() < 2 || !images.iter().all(ImageTable::has_common_records) {
            return Ok(None);
        }
        let records = Records::of_image(&images[0])?.ok_or(TableError::NoNames)?;
        let table = |image: &ImageTable| {
            let ipv4 = FamilyTable::of_image(image);
            let ipv6 = FamilyTable::of_image(image);
            match ipv4.has_routes() && ipv6.has_routes() {
                true => Ok((image.name().to_owned(), ByFamily { ipv4, ipv6 })),
                false => Err(TableError::NoRoutes),
            }
        };
        let tables = images.iter().map(table).collect::<Result<_, _>>()?;
        Ok(Some(Self::of_tables_and_records(tables, records)))
    }

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
