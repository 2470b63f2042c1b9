//! Routes that become a table or an image.

use popfib::family::{ByFamily, Family};
use popfib::image::Keep;
use popfib::{ImageWriter, IpPrefix, NextHop, Options, Prefix};

use crate::dictionary::Dictionary;
use crate::error::TableError;
use crate::family::Ribs;
use crate::table::Table;

/// Collects the routes of a [`Table`] or an image. The last of two routes for one prefix stays.
#[derive(Clone, Debug, Default)]
pub struct TableBuilder {
    ribs: ByFamily<Ribs>,
    values: Dictionary,
}

impl TableBuilder {
    /// No routes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Routes that are there already, whose next hops are numbers of `values`. One that is higher has no value.
    pub fn from_parts(ribs: ByFamily<Ribs>, values: Dictionary) -> Self {
        Self { ribs, values }
    }

    /// The number of a value: that of an equal one, or the next. Expected constant time.
    #[inline]
    pub fn value(&mut self, value: &str) -> NextHop {
        self.values.intern(value)
    }

    /// Inserts a route; returns the number of the value that it replaces.
    #[inline]
    pub fn insert(&mut self, prefix: IpPrefix, value: &str) -> Option<NextHop> {
        let number = self.value(value);
        match prefix {
            IpPrefix::V4(prefix) => self.ribs.ipv4.insert(prefix, number),
            IpPrefix::V6(prefix) => self.ribs.ipv6.insert(prefix, number),
        }
    }

    /// Inserts a route whose value has this [number](Self::value); returns the number of the value that it replaces.
    ///
    /// # Panics
    /// If no value has the number.
    #[inline]
    pub fn insert_number<A: Family>(
        &mut self,
        prefix: Prefix<A>,
        number: NextHop,
    ) -> Option<NextHop> {
        assert!(number.get() as usize <= self.values.len());
        A::of_mut(&mut self.ribs).insert(prefix, number)
    }

    /// As [`Table::write`].
    ///
    /// # Errors
    /// Those of [`ImageWriter::family`] and [`ImageWriter::names`].
    ///
    /// # Panics
    /// If no table was begun.
    pub fn write(
        &self,
        writer: &mut ImageWriter,
        options: &Options,
        keep: Keep,
    ) -> Result<(), TableError> {
        // Not by way of a `Table`: what writes records of any type would be 7 kB of the npm package.
        writer.names(self.values.iter())?;
        writer.family(&self.ribs.ipv4, options, keep)?;
        writer.family(&self.ribs.ipv6, options, keep)?;
        Ok(())
    }

    /// The table of these routes. Nothing is compiled yet.
    pub fn build(self) -> Table {
        Table::of_ribs(self.ribs, self.values)
    }
}
