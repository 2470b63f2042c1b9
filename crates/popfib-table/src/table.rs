//! [`Table`]: routes of both families and their records in, numbers of records out.
//!
//! It holds a [`FamilyTable`] for each family and the records of both. An address or a prefix of either family goes to its family
//! here; whoever looks up many addresses goes to the family directly and so chooses once.
//!
//! Answers are numbers, so that a door makes its own form of each value once and finds it by the number: a text ready for the output
//! line in the command, a string of 16 bytes in DuckDB, nothing in JavaScript. Not on this table stand C, whose next hops are the
//! caller's numbers; Python's tables of objects, which change; and `popfibd`, whose tables change while others look up.
//!
//! Rejected: a map that follows its changes (`NextHopMap`) inside, for Python's sake: the command would compile it to look up three
//! addresses. A Rib kept beside an image for what needs one: nothing asks for it twice.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use popfib::family::{ByFamily, Family};
use popfib::image::{ImageTable, Keep};
use popfib::{ImageWriter, IpPrefix, NextHop, Options, Prefix};

use crate::dictionary::Dictionary;
use crate::error::TableError;
use crate::family::{FamilyTable, FamilyTables, Ribs};
use crate::records::Records;
use crate::table_set::TableSet;

/// Routes of IPv4 and IPv6, each with a [record](Records), mostly of one text. It never changes; threads may share it.
///
/// Answers are numbers of records, from 1 on; equal records have one number. The *value* of a record is what it has in
/// [one column](Records::value_column), the first unless another was chosen. Single lookups compile nothing. Lookups of many addresses
/// go by [`family`](Self::family), whose Fibs are compiled when they are first asked for.
#[derive(Clone, Debug)]
pub struct Table {
    families: ByFamily<FamilyTables>,
    /// `None` for an image without names.
    records: Option<Records>,
    /// The bytes of the image that the families and records are in, 0 without one.
    image_bytes: usize,
    set: Option<Arc<TableSet>>,
}

impl Default for Table {
    fn default() -> Self {
        Self::of_texts(ByFamily::default(), Dictionary::default())
    }
}

impl Table {
    /// The table of these routes, whose next hops are numbers of texts. One that is higher has no value.
    pub fn of_texts(ribs: ByFamily<Ribs>, values: Dictionary) -> Self {
        Self::of_records(ribs, Records::of_values(values))
    }

    /// The table of these routes, whose next hops are numbers of `records`. One that is higher has no record.
    pub fn of_records(ribs: ByFamily<Ribs>, records: Records) -> Self {
        Self {
            families: ByFamily {
                ipv4: ribs.ipv4.into(),
                ipv6: ribs.ipv6.into(),
            },
            records: Some(records),
            image_bytes: 0,
            set: None,
        }
    }

    /// The records of several tables, whose next hops are numbers of `records`, and [these tables](Self::set) by their names.
    pub fn of_set(tables: Vec<(String, ByFamily<Ribs>)>, records: Records) -> Self {
        let tables = tables.into_iter().map(|(name, ribs)| {
            let (ipv4, ipv6) = (ribs.ipv4.into(), ribs.ipv6.into());
            (name, ByFamily { ipv4, ipv6 })
        });
        Self::of_tables_and_records(tables.collect(), records)
    }

    pub(crate) fn of_tables_and_records(
        tables: Vec<(String, ByFamily<FamilyTables>)>,
        records: Records,
    ) -> Self {
        Self {
            set: Some(Arc::new(TableSet::new(tables))),
            ..Self::of_records(ByFamily::default(), records)
        }
    }

    /// The tables that it has the records of, if these are several. It has no routes of its own then.
    pub fn set(&self) -> Option<&TableSet> {
        self.set.as_deref()
    }

    /// A table of an image, whose memory it shares. The image may have been compiled [without its routes](Self::has_routes) or
    /// [for values alone](Self::has_prefixes), or made without names: then the table has [no records](Self::records).
    ///
    /// # Errors
    /// [`TableError::Image`] for records that are damaged.
    pub fn of_image(image: &ImageTable) -> Result<Self, TableError> {
        let records = Records::of_image(image)?;
        Ok(Self {
            families: ByFamily {
                ipv4: FamilyTable::of_image(image),
                ipv6: FamilyTable::of_image(image),
            },
            image_bytes: image.image_bytes(),
            records,
            set: None,
        })
    }

    /// Keeps only these columns of the records, in this order. Nothing is copied but the columns' values.
    ///
    /// # Errors
    /// The first of the names that no column has.
    pub fn select(&mut self, names: &[String]) -> Result<(), String> {
        match &mut self.records {
            Some(records) => records.select(names),
            None => names.first().map_or(Ok(()), |name| Err(name.clone())),
        }
    }

    /// The same with a record for each next hop, its number as a text, if it has [no records](Self::records). O(routes) then.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`].
    pub fn named(self) -> Result<Self, TableError> {
        if self.records.is_some() {
            return Ok(self);
        }
        let routes = self.routes()?;
        Ok(routes.map(|(prefix, n)| (prefix, n.to_string())).collect())
    }

    /// From now on the [value](Self::value) of each record is what it has in the column of this name. The other columns stay.
    ///
    /// # Errors
    /// The name, if no column has it.
    pub fn set_value_column<'n>(&mut self, name: &'n str) -> Result<(), &'n str> {
        let records = self.records.as_mut();
        let found = records.and_then(|records| Some((records.column(name)?, records)));
        let (column, records) = found.ok_or(name)?;
        records.set_value_column(column);
        Ok(())
    }

    /// The routes of one family: `u32` is IPv4, `u128` IPv6.
    #[inline]
    pub fn family<A: Family>(&self) -> &FamilyTable<A> {
        A::of(&self.families)
    }

    /// The routes of IPv4.
    #[inline]
    pub fn ipv4(&self) -> &FamilyTable<u32> {
        &self.families.ipv4
    }

    /// The routes of IPv6.
    #[inline]
    pub fn ipv6(&self) -> &FamilyTable<u128> {
        &self.families.ipv6
    }

    /// The number of routes of both families.
    pub fn route_count(&self) -> usize {
        self.ipv4().route_count() + self.ipv6().route_count()
    }

    /// Whether the routes themselves are there: false for an image that was compiled without them.
    pub fn has_routes(&self) -> bool {
        self.ipv4().has_routes() && self.ipv6().has_routes()
    }

    /// The records of the routes; `None` in an image without names.
    pub fn records(&self) -> Option<&Records> {
        self.records.as_ref()
    }

    /// The same without the routes.
    pub fn into_records(self) -> Option<Records> {
        self.records
    }

    /// Whether longest matches can be asked for: false for an image of values alone.
    pub fn has_prefixes(&self) -> bool {
        self.ipv4().has_prefixes() && self.ipv6().has_prefixes()
    }

    /// How many records there are, which is also the highest number; `None` in an image without names.
    pub fn record_count(&self) -> Option<u32> {
        self.records.as_ref().map(|records| records.len() as u32)
    }

    /// The value of the record of this number, as text; `None` if it is absent. O(1) if it is a text, otherwise O(its length).
    #[inline]
    pub fn value(&self, number: NextHop) -> Option<Cow<'_, str>> {
        let column = self.records.as_ref().map_or(0, Records::value_column);
        self.value_in(number, column)
    }

    /// What the record has in the [column](Records::columns) of this index, as [`value`](Self::value).
    ///
    /// # Panics
    /// If there is no such column.
    #[inline]
    pub fn value_in(&self, number: NextHop, column: usize) -> Option<Cow<'_, str>> {
        self.records.as_ref()?.text(number, column)
    }

    /// The values of all records in the order of their numbers, from 1 on, empty where they are absent; none in an image
    /// without names.
    pub fn values(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.records.iter().flat_map(Records::values)
    }

    /// The number of the record of the longest prefix that contains `address`.
    #[inline]
    pub fn lookup(&self, address: IpAddr) -> Option<NextHop> {
        NextHop::new(popfib::by_family!(address, |address: A| self
            .family::<A>()
            .lookup(address)))
    }

    /// The longest prefix that contains `address`, and the number of its record.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`].
    #[inline]
    pub fn longest_match(
        &self,
        address: IpAddr,
    ) -> Result<Option<(IpPrefix, NextHop)>, TableError> {
        Ok(popfib::by_family!(address, |address: A| self
            .family::<A>()
            .longest_match(address)?
            .map(ip)))
    }

    /// All routes in prefix order, IPv4 first, with the numbers of their records.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`].
    pub fn routes(&self) -> Result<impl Iterator<Item = (IpPrefix, NextHop)>, TableError> {
        let (ipv4, ipv6) = (self.ipv4().routes()?, self.ipv6().routes()?);
        Ok(ipv4.map(ip).chain(ipv6.map(ip)))
    }

    /// Hands the routes that cover `prefix` to `each`, including `prefix` itself, the shortest first.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`].
    pub fn supernets(
        &self,
        prefix: IpPrefix,
        each: impl FnMut((IpPrefix, NextHop)),
    ) -> Result<(), TableError> {
        popfib::by_family!(prefix, |prefix: Prefix<A>| self
            .family::<A>()
            .supernets(prefix)?
            .map(ip)
            .for_each(each));
        Ok(())
    }

    /// Puts the records and routes into the table that was [begun](ImageWriter::table) in an image. `keep` says how much of the
    /// routes the image has.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`], [`TableError::TooLarge`], and those of [`ImageWriter::family`].
    ///
    /// # Panics
    /// If no table was begun.
    pub fn write(
        &self,
        writer: &mut ImageWriter,
        options: &Options,
        keep: Keep,
    ) -> Result<(), TableError> {
        if let Some(records) = &self.records {
            records.write(writer)?;
        }
        writer.family(&*self.ipv4().rib()?, options, keep)?;
        writer.family(&*self.ipv6().rib()?, options, keep)?;
        Ok(())
    }

    /// The bytes that the table takes, its image included.
    pub fn bytes(&self) -> usize {
        let records = self.records.as_ref().map_or(0, Records::bytes);
        self.ipv4().bytes() + self.ipv6().bytes() + records + self.image_bytes
    }
}

/// Of two routes for one prefix the later stays.
impl<V: AsRef<str>> FromIterator<(IpPrefix, V)> for Table {
    fn from_iter<I: IntoIterator<Item = (IpPrefix, V)>>(routes: I) -> Self {
        let (mut ribs, mut texts) = (ByFamily::<Ribs>::default(), Dictionary::new());
        for (prefix, value) in routes {
            let number = texts.intern(value.as_ref());
            popfib::by_family!(prefix, |prefix: Prefix<A>| A::of_mut(&mut ribs)
                .insert(prefix, number));
        }
        Self::of_texts(ribs, texts)
    }
}

#[inline(always)]
fn ip<A: Family>((prefix, number): (Prefix<A>, NextHop)) -> (IpPrefix, NextHop) {
    (A::ip_prefix(prefix), number)
}
