//! The routes of a table and the numbers of their values, and what answers for them.
//!
//! A map of the library, which is right and fast after every change; or an image, until a walk or a change needs
//! the routes in memory. Either is shared with lookups under way, so to copy it costs nothing: the first change
//! afterwards copies the map.

use std::net::IpAddr;
use std::sync::Arc;

use popfib::{
    Address, CompileError, Image, ImageTable, IpPrefix, NextHop, NextHopMap, Prefix, Rib,
};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// A route: the number of its value.
pub(crate) type Route = (IpPrefix, NextHop);

/// The error of a change that could not be made.
pub(crate) fn refused(error: CompileError) -> PyErr {
    let message = format!("cannot change the table: {error}");
    match error {
        CompileError::OutOfMemory(_) => PyMemoryError::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}

/// The numbers of values by prefix.
#[derive(Clone, Default)]
pub(crate) struct Map {
    pub(crate) ipv4: NextHopMap<u32>,
    pub(crate) ipv6: NextHopMap<u128>,
}

fn ip<A: Address>((prefix, number): (Prefix<A>, NextHop)) -> Route
where
    IpPrefix: From<Prefix<A>>,
{
    (prefix.into(), number)
}

impl Map {
    /// # Errors
    /// `RuntimeError` for more values than a map can number, `MemoryError`.
    pub(crate) fn new(
        ipv4: impl IntoIterator<Item = (Prefix<u32>, NextHop)>,
        ipv6: impl IntoIterator<Item = (Prefix<u128>, NextHop)>,
    ) -> PyResult<Self> {
        let mut map = Self::default();
        map.ipv4.extend(ipv4).map_err(refused)?;
        map.ipv6.extend(ipv6).map_err(refused)?;
        Ok(map)
    }

    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn from_ribs(ipv4: Rib<u32>, ipv6: Rib<u128>) -> PyResult<Self> {
        let ipv4 = NextHopMap::from_rib(ipv4).map_err(refused)?;
        let ipv6 = NextHopMap::from_rib(ipv6).map_err(refused)?;
        Ok(Self { ipv4, ipv6 })
    }

    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn extend(&mut self, routes: Vec<Route>) -> PyResult<()> {
        let ipv4 = routes.iter().filter_map(|(prefix, number)| match prefix {
            IpPrefix::V4(prefix) => Some((*prefix, *number)),
            IpPrefix::V6(_) => None,
        });
        self.ipv4.extend(ipv4).map_err(refused)?;
        let ipv6 = routes.iter().filter_map(|(prefix, number)| match prefix {
            IpPrefix::V4(_) => None,
            IpPrefix::V6(prefix) => Some((*prefix, *number)),
        });
        self.ipv6.extend(ipv6).map_err(refused)
    }

    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn insert(
        &mut self,
        prefix: IpPrefix,
        number: NextHop,
    ) -> PyResult<Option<NextHop>> {
        let inserted = match prefix {
            IpPrefix::V4(prefix) => self.ipv4.insert(prefix, number),
            IpPrefix::V6(prefix) => self.ipv6.insert(prefix, number),
        };
        inserted.map_err(refused)
    }

    pub(crate) fn remove(&mut self, prefix: IpPrefix) -> Option<NextHop> {
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4.remove(prefix),
            IpPrefix::V6(prefix) => self.ipv6.remove(prefix),
        }
    }

    pub(crate) fn get(&self, prefix: IpPrefix) -> Option<NextHop> {
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4.get(prefix),
            IpPrefix::V6(prefix) => self.ipv6.get(prefix),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = NextHop> {
        let ipv4 = self.ipv4.iter().map(|(_, number)| number);
        ipv4.chain(self.ipv6.iter().map(|(_, number)| number))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Route> {
        self.ipv4.iter().map(ip).chain(self.ipv6.iter().map(ip))
    }

    /// The first route, or the first after `prefix`, IPv4 before IPv6.
    pub(crate) fn next(&self, prefix: Option<IpPrefix>) -> Option<Route> {
        let route = match prefix {
            None => self.ipv4.first().map(ip),
            Some(IpPrefix::V4(prefix)) => self.ipv4.next(prefix).map(ip),
            Some(IpPrefix::V6(prefix)) => return self.ipv6.next(prefix).map(ip),
        };
        route.or_else(|| self.ipv6.first().map(ip))
    }

    /// The routes that cover `prefix`, including `prefix` itself, the shortest first.
    pub(crate) fn supernets(&self, prefix: IpPrefix) -> Vec<Route> {
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4.supernets(prefix).map(ip).collect(),
            IpPrefix::V6(prefix) => self.ipv6.supernets(prefix).map(ip).collect(),
        }
    }

    /// The routes inside `prefix`, including `prefix` itself, in prefix order.
    pub(crate) fn subnets(&self, prefix: IpPrefix) -> Vec<Route> {
        match prefix {
            IpPrefix::V4(prefix) => self.ipv4.subnets(prefix).map(ip).collect(),
            IpPrefix::V6(prefix) => self.ipv6.subnets(prefix).map(ip).collect(),
        }
    }

    /// The same for what works on Ribs, with other numbers.
    pub(crate) fn ribs(&self, number: impl Fn(NextHop) -> NextHop) -> (Rib<u32>, Rib<u128>) {
        fn other<P>(number: impl Fn(NextHop) -> NextHop) -> impl Fn((P, NextHop)) -> (P, NextHop) {
            move |(prefix, old)| (prefix, number(old))
        }
        (
            self.ipv4.iter().map(other(&number)).collect(),
            self.ipv6.iter().map(other(&number)).collect(),
        )
    }
}

/// The routes of a family in an image.
pub(crate) fn routes<A: Address>(image: &Image) -> impl Iterator<Item = (Prefix<A>, NextHop)> {
    image.table().into_iter().flat_map(ImageTable::routes)
}

/// Addresses of a family.
pub(crate) trait Key: Address {
    /// Its part of a map.
    fn of(map: &Map) -> &NextHopMap<Self>;
}

impl Key for u32 {
    fn of(map: &Map) -> &NextHopMap<u32> {
        &map.ipv4
    }
}

impl Key for u128 {
    fn of(map: &Map) -> &NextHopMap<u128> {
        &map.ipv6
    }
}

/// Where the routes are.
#[derive(Clone)]
pub(crate) struct Routes {
    /// Empty as long as they are in an image.
    map: Arc<Map>,
    image: Option<Arc<Image>>,
}

impl Default for Routes {
    fn default() -> Self {
        Self::from(Map::default())
    }
}

impl From<Map> for Routes {
    fn from(map: Map) -> Self {
        let map = Arc::new(map);
        Self { map, image: None }
    }
}

impl Routes {
    pub(crate) fn of_image(image: &Arc<Image>) -> Self {
        Self {
            image: Some(Arc::clone(image)),
            ..Self::default()
        }
    }

    /// The map; empty as long as the routes are in an image.
    pub(crate) fn map(&self) -> &Map {
        &self.map
    }

    pub(crate) fn are_in_image(&self) -> bool {
        self.image.is_some()
    }

    #[inline]
    pub(crate) fn family<A: Key>(&self) -> Family<'_, A> {
        match &self.image {
            None => Family::Map(A::of(&self.map)),
            Some(image) => Family::Image(image.table()),
        }
    }

    /// The number of the longest match; 0 if there is none.
    #[inline]
    pub(crate) fn lookup(&self, address: IpAddr) -> u32 {
        match address {
            IpAddr::V4(address) => self.family::<u32>().lookup(address.into()),
            IpAddr::V6(address) => self.family::<u128>().lookup(address.into()),
        }
    }

    /// The longest match, where the routes are [there](Self::check).
    #[inline]
    pub(crate) fn longest_match(&self, address: IpAddr) -> Option<Route> {
        match address {
            IpAddr::V4(address) => self.family().longest_match(u32::from(address)).map(ip),
            IpAddr::V6(address) => self.family().longest_match(u128::from(address)).map(ip),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.family::<u32>().len() + self.family::<u128>().len()
    }

    pub(crate) fn bytes(&self) -> usize {
        let map = self.map.ipv4.bytes() + self.map.ipv6.bytes();
        map + self.image.as_ref().map_or(0, |image| image.bytes())
    }

    /// # Errors
    /// `ValueError` for an image without its routes, for what needs them.
    pub(crate) fn check(&self) -> PyResult<()> {
        match self.family::<u32>().is_whole() && self.family::<u128>().is_whole() {
            true => Ok(()),
            false => Err(PyValueError::new_err(
                "the image was compiled without its routes, which are needed here",
            )),
        }
    }

    /// Makes a map of an image.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(crate) fn thaw(&mut self, py: Python<'_>) -> PyResult<()> {
        self.check()?;
        if let Some(image) = &self.image {
            let map = py.detach(|| Map::new(routes(image), routes(image)))?;
            *self = map.into();
        }
        Ok(())
    }

    /// The map to change: a copy, if it is in use elsewhere.
    pub(crate) fn own(&mut self, py: Python<'_>) -> &mut Map {
        if Arc::get_mut(&mut self.map).is_none() {
            self.map = py.detach(|| Arc::new(Map::clone(&self.map)));
        }
        Arc::make_mut(&mut self.map)
    }
}

/// The routes of one family.
#[derive(Clone, Copy)]
pub(crate) enum Family<'a, A: Address> {
    Map(&'a NextHopMap<A>),
    /// None of a family that an image has not.
    Image(Option<&'a ImageTable<A>>),
}

impl<A: Address> Family<'_, A> {
    /// The number of the longest match; 0 if there is none.
    #[inline]
    fn lookup(self, address: A) -> u32 {
        match self {
            Self::Map(map) => map.lookup(address).map_or(0, NextHop::get),
            Self::Image(table) => table.map_or(0, |table| table.fib().lookup(address)),
        }
    }

    #[inline]
    fn longest_match(self, address: A) -> Option<(Prefix<A>, NextHop)> {
        match self {
            Self::Map(map) => map.longest_match(address),
            Self::Image(table) => table?.longest_match(address),
        }
    }

    pub(crate) fn len(self) -> usize {
        match self {
            Self::Map(map) => map.len(),
            Self::Image(table) => table.map_or(0, ImageTable::route_count),
        }
    }

    /// Whether all routes are there, and not their number alone.
    fn is_whole(self) -> bool {
        match self {
            Self::Image(Some(table)) => table.has_routes() || table.route_count() == 0,
            _ => true,
        }
    }
}
