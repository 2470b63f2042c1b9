//! [`TableBuilder`]: prefixes with texts in, a [`Table`] or an image out.

use popfib::family::{ByFamily, Family};
use popfib::image::Keep;
use popfib::{ImageWriter, IpPrefix, NextHop, Options, Prefix};

use crate::dictionary::Dictionary;
use crate::error::TableError;
use crate::family::Ribs;
use crate::table::Table;

/// Collects routes, each with a text as its value, and makes a [`Table`] or an image of them. Of two routes for one prefix the later
/// one stays.
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

    /// A builder that begins with the routes of `ribs`, whose next hops are numbers of `values`. A route with a higher number has no
    /// value.
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
        popfib::by_family!(prefix, |prefix: Prefix<A>| A::of_mut(&mut self.ribs)
            .insert(prefix, number))
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

    /// Puts the values and routes into the table that was [begun](ImageWriter::table) in an image, as [`Table::write`] does.
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
