//! The routes of a table and the numbers of their values: addresses and prefixes in, numbers out.
//!
//! They are in a map of the library, which is right and fast after every change; or in the table of an image, until a walk
//! or a change needs the routes in memory. Either is shared with lookups under way, so to copy it costs nothing: the first
//! change afterwards copies the map.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use popfib::family::{ByFamily, Family, PerFamily};
use popfib::{CompileError, IpPrefix, Kernel, NextHop, NextHopMap, Prefix};
use popfib_table::{FamilyTable, Records, Ribs, Table, TableError};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::records::RecordDicts;

/// A route: the number of its value.
pub(crate) type NumberedRoute = (IpPrefix, NextHop);

/// The error of a change that could not be made.
pub(crate) fn refused(error: CompileError) -> PyErr {
    let message = format!("cannot change the table: {error}");
    match error {
        CompileError::OutOfMemory(_) => PyMemoryError::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}

/// The error of a table that lacks what it was asked for.
pub(crate) fn lacking(error: TableError) -> PyErr {
    match error {
        TableError::Compile(error) => refused(error),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// Makes [`ByFamily`] the maps of both families.
#[derive(Clone)]
pub(crate) enum NumberMaps {}

impl PerFamily for NumberMaps {
    type Of<A: Family> = NextHopMap<A>;
}

/// The numbers of values by prefix.
#[derive(Clone, Default)]
pub(crate) struct NumberMap(pub(crate) ByFamily<NumberMaps>);

fn ip<A: Family>((prefix, number): (Prefix<A>, NextHop)) -> NumberedRoute {
    (A::ip_prefix(prefix), number)
}

impl NumberMap {
    /// The map of these routes.
    ///
    /// # Errors
    /// `RuntimeError` for more values than a map can number, `MemoryError`.
    pub(crate) fn new(
        ipv4: impl IntoIterator<Item = (Prefix<u32>, NextHop)>,
        ipv6: impl IntoIterator<Item = (Prefix<u128>, NextHop)>,
    ) -> PyResult<Self> {
        let mut map = Self::default();
        map.0.ipv4.extend(ipv4).map_err(refused)?;
        map.0.ipv6.extend(ipv6).map_err(refused)?;
        Ok(map)
    }

    /// The map of the routes of RIBs.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn from_ribs(ribs: ByFamily<Ribs>) -> PyResult<Self> {
        Ok(Self(ByFamily {
            ipv4: NextHopMap::from_rib(ribs.ipv4).map_err(refused)?,
            ipv6: NextHopMap::from_rib(ribs.ipv6).map_err(refused)?,
        }))
    }

    /// Inserts routes, of which the last of a prefix stays.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn extend(&mut self, routes: Vec<NumberedRoute>) -> PyResult<()> {
        self.extend_family::<u32>(&routes)?;
        self.extend_family::<u128>(&routes)
    }

    fn extend_family<A: Family>(&mut self, routes: &[NumberedRoute]) -> PyResult<()> {
        let routes = routes.iter();
        let routes = routes.filter_map(|(prefix, number)| Some((A::prefix(*prefix)?, *number)));
        A::of_mut(&mut self.0).extend(routes).map_err(refused)
    }

    /// Inserts a route; returns the number that the prefix had.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn insert(
        &mut self,
        prefix: IpPrefix,
        number: NextHop,
    ) -> PyResult<Option<NextHop>> {
        let inserted = popfib::by_family!(prefix, |prefix: Prefix<A>| A::of_mut(&mut self.0)
            .insert(prefix, number));
        inserted.map_err(refused)
    }

    pub(crate) fn remove(&mut self, prefix: IpPrefix) -> Option<NextHop> {
        popfib::by_family!(prefix, |prefix: Prefix<A>| A::of_mut(&mut self.0)
            .remove(prefix))
    }

    pub(crate) fn get(&self, prefix: IpPrefix) -> Option<NextHop> {
        popfib::by_family!(prefix, |prefix: Prefix<A>| A::of(&self.0).get(prefix))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.ipv4.len() + self.0.ipv6.len()
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = NextHop> {
        let ipv4 = self.0.ipv4.iter().map(|(_, number)| number);
        ipv4.chain(self.0.ipv6.iter().map(|(_, number)| number))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = NumberedRoute> {
        self.0.ipv4.iter().map(ip).chain(self.0.ipv6.iter().map(ip))
    }

    /// The first route, or the first after `prefix`, IPv4 before IPv6.
    pub(crate) fn next(&self, prefix: Option<IpPrefix>) -> Option<NumberedRoute> {
        let route = match prefix {
            None => self.0.ipv4.first().map(ip),
            Some(IpPrefix::V4(prefix)) => self.0.ipv4.next(prefix).map(ip),
            Some(IpPrefix::V6(prefix)) => return self.0.ipv6.next(prefix).map(ip),
        };
        route.or_else(|| self.0.ipv6.first().map(ip))
    }

    /// The routes that cover `prefix`, including `prefix` itself, the shortest first.
    pub(crate) fn supernets(&self, prefix: IpPrefix) -> Vec<NumberedRoute> {
        popfib::by_family!(prefix, |prefix: Prefix<A>| A::of(&self.0)
            .supernets(prefix)
            .map(ip)
            .collect())
    }

    /// The routes inside `prefix`, including `prefix` itself, in prefix order.
    pub(crate) fn subnets(&self, prefix: IpPrefix) -> Vec<NumberedRoute> {
        popfib::by_family!(prefix, |prefix: Prefix<A>| A::of(&self.0)
            .subnets(prefix)
            .map(ip)
            .collect())
    }

    /// The routes as RIBs, with the numbers that `number` makes of theirs.
    pub(crate) fn ribs(&self, number: impl Fn(NextHop) -> NextHop) -> ByFamily<Ribs> {
        fn other<P>(number: impl Fn(NextHop) -> NextHop) -> impl Fn((P, NextHop)) -> (P, NextHop) {
            move |(prefix, old)| (prefix, number(old))
        }
        ByFamily {
            ipv4: self.0.ipv4.iter().map(other(&number)).collect(),
            ipv6: self.0.ipv6.iter().map(other(&number)).collect(),
        }
    }
}

/// A table in an image, and its records as far as they were asked for.
pub(crate) struct PyImageTable {
    pub(crate) table: Table,
    dicts: OnceLock<RecordDicts>,
}

impl PyImageTable {
    /// The record of this number as a dict.
    pub(crate) fn record<'py>(
        &self,
        py: Python<'py>,
        number: NextHop,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(records) = self.table.records() else {
            return Ok(None);
        };
        let dicts = match self.dicts.get() {
            Some(dicts) => dicts,
            None => {
                let dicts = RecordDicts::new(py, records);
                self.dicts.get_or_init(|| dicts)
            }
        };
        dicts.dict(py, records, number).map(Some)
    }

    /// Whether its records have several columns.
    pub(crate) fn has_columns(&self) -> bool {
        let records = self.table.records();
        records.is_some_and(|records| records.columns().len() > 1)
    }
}

/// Where the routes are.
#[derive(Clone)]
pub(crate) struct TableRoutes {
    /// Empty as long as they are in an image.
    map: Arc<NumberMap>,
    are_in_image: bool,
    /// The table in the image, whose records the numbers are, until the first change.
    image: Option<Arc<PyImageTable>>,
    /// Whether an image had records of several columns, which the first change dropped.
    pub(crate) has_lost_columns: bool,
}

impl Default for TableRoutes {
    fn default() -> Self {
        Self::from(NumberMap::default())
    }
}

impl From<NumberMap> for TableRoutes {
    fn from(map: NumberMap) -> Self {
        let map = Arc::new(map);
        Self {
            map,
            are_in_image: false,
            image: None,
            has_lost_columns: false,
        }
    }
}

impl TableRoutes {
    pub(crate) fn of_image(table: Table) -> Self {
        Self {
            are_in_image: true,
            image: Some(Arc::new(PyImageTable {
                table,
                dicts: OnceLock::new(),
            })),
            ..Self::default()
        }
    }

    /// The map; empty as long as the routes are in an image.
    pub(crate) fn map(&self) -> &NumberMap {
        &self.map
    }

    pub(crate) fn are_in_image(&self) -> bool {
        self.are_in_image
    }

    #[inline]
    pub(crate) fn family<A: Family>(&self) -> FamilyRoutes<'_, A> {
        match self.image.as_ref().filter(|_| self.are_in_image) {
            None => FamilyRoutes::Map(A::of(&self.map.0)),
            Some(image) => FamilyRoutes::Image(image.table.family()),
        }
    }

    /// The table in an image, until the first change.
    pub(crate) fn image(&self) -> Option<&Arc<PyImageTable>> {
        self.image.as_ref()
    }

    /// The records of an image; `None` where values are objects without columns.
    ///
    /// # Errors
    /// `ValueError` if a change has dropped the columns.
    pub(crate) fn records(&self) -> PyResult<Option<&Records>> {
        Ok(self.of_records()?.and_then(|image| image.table.records()))
    }

    /// The image that has the records.
    ///
    /// # Errors
    /// As [`Self::records`].
    pub(crate) fn of_records(&self) -> PyResult<Option<&Arc<PyImageTable>>> {
        if self.has_lost_columns {
            return Err(value_error!(
                "the table was changed, so its records are gone: routes have one value then"
            ));
        }
        let image = self.image.as_ref();
        Ok(image.filter(|image| image.table.records().is_some()))
    }

    /// The number of the longest match; 0 if there is none.
    #[inline]
    pub(crate) fn lookup(&self, address: IpAddr) -> u32 {
        popfib::by_family!(address, |address: A| self.family::<A>().lookup(address))
    }

    /// The longest match; none if the routes are [not there](Self::check).
    #[inline]
    pub(crate) fn longest_match(&self, address: IpAddr) -> Option<NumberedRoute> {
        popfib::by_family!(address, |address: A| self
            .family()
            .longest_match(address)
            .map(ip))
    }

    pub(crate) fn len(&self) -> usize {
        self.family::<u32>().len() + self.family::<u128>().len()
    }

    pub(crate) fn bytes(&self) -> usize {
        let map = self.map.0.ipv4.bytes() + self.map.0.ipv6.bytes();
        let image = |image: &Arc<PyImageTable>| {
            image.table.bytes() + image.dicts.get().map_or(0, RecordDicts::bytes)
        };
        map + self.image.as_ref().map_or(0, image)
    }

    /// Fails if longest matches can't be found, which takes prefixes.
    ///
    /// # Errors
    /// `ValueError` for an image without prefixes.
    pub(crate) fn check(&self) -> PyResult<()> {
        match self
            .image
            .as_ref()
            .is_none_or(|image| image.table.has_prefixes())
        {
            true => Ok(()),
            false => Err(lacking(TableError::NoRoutes)),
        }
    }

    /// Makes a map of an image.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(crate) fn thaw(&mut self, py: Python<'_>) -> PyResult<()> {
        if let Some(image) = self.image.as_ref().filter(|_| self.are_in_image) {
            let table = &image.table;
            let (ipv4, ipv6) = (table.ipv4().routes(), table.ipv6().routes());
            let (ipv4, ipv6) = (ipv4.map_err(lacking)?, ipv6.map_err(lacking)?);
            let map = py.detach(|| NumberMap::new(ipv4, ipv6))?;
            self.map = Arc::new(map);
            self.are_in_image = false;
        }
        Ok(())
    }

    /// The map to change: a copy, if it is in use elsewhere.
    pub(crate) fn own(&mut self, py: Python<'_>) -> &mut NumberMap {
        if let Some(image) = self.image.take() {
            self.has_lost_columns = image.has_columns();
        }
        if Arc::get_mut(&mut self.map).is_none() {
            self.map = py.detach(|| Arc::new(NumberMap::clone(&self.map)));
        }
        Arc::make_mut(&mut self.map)
    }
}

/// The routes of one family.
#[derive(Clone, Copy)]
pub(crate) enum FamilyRoutes<'a, A: Family> {
    Map(&'a NextHopMap<A>),
    Image(&'a FamilyTable<A>),
}

impl<'a, A: Family> FamilyRoutes<'a, A> {
    /// All routes in prefix order; `None` if an image does not keep them.
    pub(crate) fn routes(self) -> Option<Box<dyn Iterator<Item = (Prefix<A>, NextHop)> + 'a>> {
        match self {
            Self::Map(map) => Some(Box::new(map.iter())),
            Self::Image(table) => Some(Box::new(table.routes().ok()?)),
        }
    }

    /// The number of the longest match; 0 if there is none.
    #[inline]
    fn lookup(self, address: A) -> u32 {
        match self {
            Self::Map(map) => map.lookup(address).map_or(0, NextHop::get),
            Self::Image(table) => table.lookup(address),
        }
    }

    /// The numbers of the longest matches; 0 if there is none.
    pub(crate) fn lookup_batch(self, addresses: &[A], numbers: &mut [u32]) {
        match self {
            Self::Map(map) => map.lookup_batch(addresses, numbers),
            Self::Image(table) => {
                let found = table.value_numbers(Kernel::best(), addresses, numbers);
                found.expect("an image has its FIB");
            }
        }
    }

    /// Calls `found` with the place and the longest match of each address; none if the routes are [not there](TableRoutes::check).
    pub(crate) fn longest_match_each(
        self,
        addresses: &[A],
        mut found: impl FnMut(usize, Option<(Prefix<A>, NextHop)>),
    ) {
        match self {
            Self::Map(map) => map.longest_match_each(addresses, found),
            Self::Image(table) => match table.longest() {
                Ok(fib) => popfib::longest::matches_with(fib, Kernel::best(), addresses, found),
                Err(_) => (0..addresses.len()).for_each(|at| found(at, None)),
            },
        }
    }

    #[inline]
    fn longest_match(self, address: A) -> Option<(Prefix<A>, NextHop)> {
        match self {
            Self::Map(map) => map.longest_match(address),
            Self::Image(table) => table.longest_match(address).ok()?,
        }
    }

    pub(crate) fn len(self) -> usize {
        match self {
            Self::Map(map) => map.len(),
            Self::Image(table) => table.route_count(),
        }
    }
}
