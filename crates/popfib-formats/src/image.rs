//! The routes of an image (docs/image-format.md), as a table like any other: a compiled file in, routes out, of both families in
//! prefix order.
//!
//! For what needs every route; what only looks up does so in the image itself.
//! The bytes are validated as a whole first, so no single route is ever invalid.

use std::mem;

use hashbrown::HashMap;
use popfib::family::Family;
use popfib::image::{ImageFamily, ImageTable, Source};
use popfib::{Image, ImageError, IpPrefix, NextHop};
use popfib_table::{Column, Records, Table, TableError, check_records};

use crate::error::{ReadError, no_name, quote};
use crate::input::{Input, InputKind};
use crate::name_rule::check_characters;
use crate::registry::Capability::{ManyValues, Tables};
use crate::route::{Route, RouteSource};
use crate::table_format::{LoadOptions, TableEntry};
use crate::values::{ColumnSelection, ValueBook};

/// Whether a file that begins with these bytes is an image.
pub fn is_image(head: &[u8]) -> bool {
    head.starts_with(&Image::MAGIC)
}

pub(crate) const FORMAT: TableEntry = TableEntry {
    name: "image",
    description: "image made by `popfib compile`, with its routes",
    can: &[Tables, ManyValues],
    detect: is_image,
    open: |mut input, options| {
        let one = LoadOptions {
            every_table: false,
            ..options.clone()
        };
        let image = read(&mut input, &one)?.remove(0);
        Ok(Box::new(ImageRoutes::new(input.name(), &image, options)?))
    },
};

/// Whether there is an image to read.
pub(crate) fn is_image_input(input: &mut Input) -> bool {
    match input.kind {
        InputKind::Bytes => is_image(input.peek(is_image)),
        InputKind::BuiltIn => false,
        InputKind::Image(_) => true,
    }
}

/// Reads the whole image, and takes the table that the options name, without a name the only one; or every table.
pub(crate) fn read(input: &mut Input, options: &LoadOptions) -> Result<Vec<ImageTable>, ReadError> {
    if let InputKind::Image(opened) = &input.kind {
        return Ok(opened.clone());
    }
    let bytes = input.read_whole(check_length)?;
    let failed =
        |error: ImageError| ReadError::file(input.name(), error.to_string()).with_source(error);
    let image = Image::from_bytes(&bytes).map_err(failed)?;
    check_records(&image).map_err(failed)?;
    if options.every_table {
        return Ok(image.tables().to_vec());
    }
    let table = image.table(options.table.as_deref());
    Ok(vec![table.map_err(failed)?.clone()])
}

impl Input {
    /// Tables of an image that is open: one, or several for [`LoadOptions::every_table`].
    pub fn image(name: impl Into<String>, tables: &[ImageTable]) -> Self {
        let kind = InputKind::Image(tables.to_vec());
        Self::embedded(Source::named(name), b"", kind)
    }
}

/// Refuses more bytes than the header states (docs/image-format.md).
///
/// The rest of a small compressed file could be gigabytes.
fn check_length(bytes: &[u8]) -> Result<(), String> {
    let stated = bytes.get(16..24).and_then(<[u8]>::first_chunk);
    match stated.map(|length| u64::from_le_bytes(*length)) {
        Some(stated) if bytes.len() as u64 > stated => Err(format!(
            "the image has more bytes than the {stated} that its header states"
        )),
        _ => Ok(()),
    }
}

/// A table in an image, with these columns of its records, for lookups; `name` is its file, for errors.
///
/// # Errors
/// Damaged records, or a column that is not there, with those that are.
pub(crate) fn table_of_image(
    name: &str,
    image: &ImageTable,
    columns: &ColumnSelection,
) -> Result<Table, ReadError> {
    let table = Table::of_image(image);
    let mut table = table.map_err(|e| ReadError::file(name, e.to_string()))?;
    if let ColumnSelection::Named(names) = columns {
        select_columns(name, &mut table, names)?;
    }
    Ok(table)
}

/// Leaves only the columns of these names in a table; `name` is its file, for errors.
///
/// # Errors
/// A column that is not there, with those that are.
pub(crate) fn select_columns(
    name: &str,
    table: &mut Table,
    names: &[String],
) -> Result<(), ReadError> {
    let selected = table.select(names);
    selected.map_err(|missing| ReadError::file(name, no_column_message(&missing, table.records())))
}

/// What to say if records have no column called `missing`: which columns there are, and how there come to be more than one value.
pub fn no_column_message(missing: &str, records: Option<&Records>) -> String {
    let there = records.map_or(&[][..], Records::columns);
    let message = no_name(missing, there.iter().map(Column::name));
    match there {
        [only] if only.name() == "value" => {
            message + "; `columns='*'` keeps all when a file is loaded or compiled"
        }
        _ => message,
    }
}

/// The routes of both families, in prefix order.
pub(crate) struct ImageRoutes {
    name: String,
    /// Without records where these are read: then the book has them.
    table: Table,
    image: ImageTable,
    /// How many routes have been read.
    count: u32,
    values: ValueBook,
    /// The numbers there of the image's next hops: records that differ may be equal in the columns that are read.
    numbers: HashMap<NextHop, Option<NextHop>>,
}

impl ImageRoutes {
    /// The routes of `image`, called `name`.
    ///
    /// # Errors
    /// An image without routes, or without the columns.
    pub(crate) fn new(
        name: &str,
        image: &ImageTable,
        options: &LoadOptions,
    ) -> Result<Self, ReadError> {
        let mut table = table_of_image(name, image, &options.columns)?;
        let has_several = table
            .records()
            .is_some_and(|records| records.columns().len() > 1);
        let are_records = options.columns.are_records()
            || options.image_columns && options.columns == ColumnSelection::Value && has_several;
        if !table.has_routes() {
            let error = TableError::NoRoutes;
            return Err(ReadError::file(name, error.to_string()).with_source(error));
        }
        // The table has the only column alone, so the book need not look for it.
        let mut values = ValueBook::default();
        values.wanted = options.columns.clone();
        let mut numbers = HashMap::new();
        if are_records && table.records().is_some() {
            // Their numbers stay, so that nothing of them is copied.
            let records = mem::take(&mut table).into_records().unwrap_or_default();
            let (records, distinct) = records.distinct();
            let blank = records.blank();
            let distinct = distinct.into_iter().map(NextHop::new);
            let distinct = distinct.map(|number| number.filter(|_| number != blank));
            numbers.extend((1..).filter_map(NextHop::new).zip(distinct));
            values = ValueBook::of_records(records);
        }
        Ok(Self {
            name: name.to_owned(),
            table,
            image: image.clone(),
            count: 0,
            values,
            numbers,
        })
    }

    /// The route of this number in its family, from 1.
    fn route<A: Family>(&self, number: u32) -> Option<(IpPrefix, NextHop)> {
        let (prefix, next_hop) = self.image.family::<A>()?.route(number)?;
        Some((A::ip_prefix(prefix), next_hop))
    }

    /// The one value of this next hop, which the book has not yet.
    fn value(&mut self, next_hop: NextHop) -> Result<Option<NextHop>, String> {
        if self.table.records().is_none() {
            return Ok(self.values.text(&next_hop.to_string()));
        }
        // An empty one is absent, or that of a list of prefixes.
        let value = self.table.value(next_hop).unwrap_or_default();
        if !value.is_empty()
            && let Err(reason) = check_characters(&value)
        {
            return Err(format!("{}: {reason}", quote(&*value)));
        }
        Ok(self.values.text(&value))
    }
}

impl RouteSource for ImageRoutes {
    fn next_route(&mut self) -> Result<Option<Route>, ReadError> {
        let number = self.count + 1;
        let ipv4 = self
            .image
            .family::<u32>()
            .map_or(0, ImageFamily::route_count) as u32;
        let route = self.route::<u32>(number);
        let route = route.or_else(|| self.route::<u128>(number - ipv4));
        let Some((prefix, next_hop)) = route else {
            return Ok(None);
        };
        self.count = number;
        if let Some(&value) = self.numbers.get(&next_hop) {
            return Ok(Some(Route { prefix, value }));
        }
        let value = self.value(next_hop);
        let value =
            value.map_err(|e| ReadError::file(&self.name, format!("route {prefix}: {e}")))?;
        self.numbers.insert(next_hop, value);
        Ok(Some(Route { prefix, value }))
    }

    fn values(&mut self) -> &mut ValueBook {
        &mut self.values
    }

    fn has_values(&self) -> bool {
        let records = self.table.records();
        !records.is_some_and(|records| records.columns()[records.value_column()].is_of_list())
    }

    fn sources(&self) -> Vec<Source> {
        self.image.sources()
    }
}
