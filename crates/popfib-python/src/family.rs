//! One family of a table: its routes, and what is compiled from them.
//!
//! When a Fib is compiled: a change drops those of its family, and lookups walk the Rib until as many were made as there
//! are routes; then the next one compiles. So a change never costs a compilation by itself, and a million lookups never
//! walk (the ski-rental rule: at most about twice the time of the best choice).
//!
//! A family opened from an image looks up in the image. What needs the Rib (walks and changes) makes it from the image's
//! routes when it is first asked for.

use std::sync::Arc;

use popfib::{
    Address, CompileError, Fib, Image, ImageTable, LongestFib, NextHop, Options, Prefix, Rib,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::longest::Longest;

/// Something that is compiled from a Rib when enough is asked of it.
struct Compiled<T> {
    made: Option<Arc<T>>,
    /// Lookups answered by the Rib since the last change.
    walked: usize,
}

impl<T> Default for Compiled<T> {
    fn default() -> Self {
        Self {
            made: None,
            walked: 0,
        }
    }
}

impl<T> Clone for Compiled<T> {
    fn clone(&self) -> Self {
        Self {
            made: self.made.clone(),
            ..*self
        }
    }
}

impl<T: Send + Sync> Compiled<T> {
    fn compile<A: Address>(
        &mut self,
        py: Python<'_>,
        rib: &Rib<A>,
        compile: fn(&Rib<A>) -> Result<T, CompileError>,
    ) -> PyResult<()> {
        if self.made.is_none() {
            let made = py.detach(|| compile(rib));
            self.made = Some(Arc::new(made.map_err(|error| {
                PyRuntimeError::new_err(format!("cannot compile the table: {error}"))
            })?));
        }
        Ok(())
    }

    /// Compiles if `lookups` more make it worth while.
    #[inline]
    fn expect<A: Address>(
        &mut self,
        py: Python<'_>,
        lookups: usize,
        rib: &Rib<A>,
        compile: fn(&Rib<A>) -> Result<T, CompileError>,
    ) {
        if self.made.is_some() {
            return;
        }
        self.walked = self.walked.saturating_add(lookups);
        if self.walked >= rib.len() && self.compile(py, rib, compile).is_err() {
            // The Rib answers as well; `Table.compile` tells why.
            self.walked = 0;
        }
    }
}

fn compile_fib<A: Address>(rib: &Rib<A>) -> Result<Fib<A, u32>, CompileError> {
    Fib::compile(rib, &Options::default())
}

/// What knows the longest matches, beside the table: that may change meanwhile.
pub(crate) enum Held<A: Address> {
    Fib(Arc<LongestFib<A>>),
    Image(Arc<Image>),
}

impl<A: Address> Held<A> {
    pub(crate) fn longest(&self) -> Longest<'_, A> {
        match self {
            Self::Fib(fib) => Longest::Fib(fib),
            Self::Image(image) => Longest::Image(image.table().expect("it was asked for before")),
        }
    }
}

fn compile_longest<A: Address>(rib: &Rib<A>) -> Result<LongestFib<A>, CompileError> {
    LongestFib::compile(rib, &Options::default())
}

/// One family.
pub(crate) struct Family<A: Address> {
    rib: Rib<A>,
    fib: Compiled<Fib<A, u32>>,
    longest: Compiled<LongestFib<A>>,
    /// Where the routes are as long as the Rib has not been needed.
    image: Option<Arc<Image>>,
}

impl<A: Address> Default for Family<A> {
    fn default() -> Self {
        Self::new(Rib::new())
    }
}

impl<A: Address> Family<A> {
    pub(crate) fn new(rib: Rib<A>) -> Self {
        Self {
            rib,
            fib: Compiled::default(),
            longest: Compiled::default(),
            image: None,
        }
    }

    pub(crate) fn of_image(image: &Arc<Image>) -> Self {
        let mut family = Self::default();
        if let Some(table) = image.table::<A>() {
            family.fib.made = Some(Arc::new(table.fib().clone()));
            family.image = Some(Arc::clone(image));
        }
        family
    }

    /// A copy that shares what is compiled, of routes that are in the Rib.
    pub(crate) fn copy(&self) -> Self {
        Self {
            rib: self.rib.clone(),
            fib: self.fib.clone(),
            longest: self.longest.clone(),
            image: None,
        }
    }

    pub(crate) fn table(&self) -> Option<&ImageTable<A>> {
        self.image.as_ref()?.table()
    }

    pub(crate) fn image(&self) -> Option<&Arc<Image>> {
        self.image.as_ref()
    }

    pub(crate) fn len(&self) -> usize {
        self.table()
            .map_or(self.rib.len(), |table| table.route_count())
    }

    /// The Fib, if it is up to date.
    pub(crate) fn fib(&self) -> Option<&Arc<Fib<A, u32>>> {
        self.fib.made.as_ref()
    }

    /// The Rib; empty as long as the routes are in an image.
    pub(crate) fn rib(&self) -> &Rib<A> {
        &self.rib
    }

    fn changed(&mut self) {
        self.fib = Compiled::default();
        self.longest = Compiled::default();
    }

    /// Compiles for lookups of values, and if asked for of prefixes.
    ///
    /// # Errors
    /// `RuntimeError` for a table beyond what a Fib can number.
    pub(crate) fn compile(&mut self, py: Python<'_>, prefixes: bool) -> PyResult<()> {
        if prefixes && self.image.is_none() {
            self.longest.compile(py, &self.rib, compile_longest)?;
        }
        self.fib.compile(py, &self.rib, compile_fib)
    }

    /// Compiles if `lookups` more make it worth while.
    #[inline]
    pub(crate) fn expect(&mut self, py: Python<'_>, lookups: usize) {
        self.fib.expect(py, lookups, &self.rib, compile_fib);
    }

    /// As [`Self::expect`], for lookups of prefixes.
    ///
    /// # Errors
    /// `ValueError` if there are routes that are nowhere to be found.
    #[inline]
    pub(crate) fn expect_longest(&mut self, py: Python<'_>, lookups: usize) -> PyResult<()> {
        if self.image.is_some() {
            return self.check_routes();
        }
        self.longest.expect(py, lookups, &self.rib, compile_longest);
        Ok(())
    }

    /// What knows the longest matches, where there are routes.
    #[inline]
    pub(crate) fn longest(&self) -> Longest<'_, A> {
        match (&self.longest.made, self.table()) {
            (Some(fib), _) => Longest::Fib(fib),
            (None, Some(table)) => Longest::Image(table),
            (None, None) => Longest::Rib(&self.rib),
        }
    }

    /// The same for lookups without the lock; `None` while the Rib has to answer.
    pub(crate) fn hold_longest(&self) -> Option<Held<A>> {
        match (&self.longest.made, &self.image) {
            (Some(fib), _) => Some(Held::Fib(Arc::clone(fib))),
            (None, Some(image)) => Some(Held::Image(Arc::clone(image))),
            (None, None) => None,
        }
    }

    /// The number of the longest match; 0 if there is none.
    #[inline]
    pub(crate) fn lookup(&mut self, py: Python<'_>, address: A) -> u32 {
        self.expect(py, 1);
        match self.fib() {
            Some(fib) => fib.lookup(address),
            None => self.rib.lookup(address).map_or(0, NextHop::get),
        }
    }

    pub(crate) fn insert(&mut self, prefix: Prefix<A>, number: NextHop) -> Option<NextHop> {
        let old = self.rib.insert(prefix, number);
        if old != Some(number) {
            self.changed();
        }
        old
    }

    pub(crate) fn remove(&mut self, prefix: Prefix<A>) -> Option<NextHop> {
        let old = self.rib.remove(prefix)?;
        self.changed();
        Some(old)
    }

    /// An error if there are routes that are nowhere to be found.
    fn check_routes(&self) -> PyResult<()> {
        match self.table() {
            Some(table) if !table.has_routes() && table.route_count() > 0 => {
                Err(PyValueError::new_err(
                    "the image was compiled without its routes, which are needed here",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Moves the routes from the image into the Rib.
    pub(crate) fn thaw(&mut self) -> PyResult<bool> {
        self.check_routes()?;
        let Some(table) = self.table() else {
            return Ok(false);
        };
        self.rib = table.rib();
        self.image = None;
        Ok(true)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rib.bytes()
            + self.fib.made.as_ref().map_or(0, |fib| fib.bytes())
            + self.longest.made.as_ref().map_or(0, |fib| fib.bytes())
    }
}
