//! The routes of an image, as a table like any other.
//!
//! For what needs every route; what only looks up does so in the image itself.
//! The bytes are validated as a whole first, so no single route is ever invalid.

use std::fmt::Write;

use popfib::{Image, IpPrefix, NextHop};

use crate::error::Place;
use crate::format::Entry;
use crate::load::insert_all;
use crate::{Input, LoadOptions, ReadError, Route, RouteSource, RouteTable};

pub(crate) const FORMAT: Entry = Entry {
    name: "image",
    description: "image made by `popfib compile`, with its routes",
    detect: |head| head.starts_with(&Image::MAGIC),
    open: |input, _| {
        let name = input.name().to_owned();
        let image = Image::from_bytes(&read(input)?)
            .map_err(|e| ReadError::file(&name, e.to_string()).with_source(e))?;
        Ok(Box::new(ImageRoutes::new(&name, image)?))
    },
};

/// A [`RouteTable`] of the routes of `image`, called `name`.
///
/// # Errors
/// An image without routes.
pub fn image_table(name: &str, image: Image) -> Result<RouteTable, ReadError> {
    let mut source = ImageRoutes::new(name, image)?;
    insert_all(name.to_owned(), &mut source, &LoadOptions::new())
}

/// The bytes of an image.
fn read(mut input: Input) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    loop {
        let end = bytes.len();
        bytes.resize((2 * end).max(1 << 20), 0);
        let read = input.read(&mut bytes[end..], Place::Byte(end as u64))?;
        bytes.truncate(end + read);
        if read == 0 {
            return Ok(bytes);
        }
    }
}

/// The routes of both families, in prefix order.
struct ImageRoutes {
    image: Image,
    is_ipv6: bool,
    /// The number of the next route.
    number: u32,
    /// What stands for the name of a next hop that has none.
    text: String,
}

impl ImageRoutes {
    fn new(name: &str, image: Image) -> Result<Self, ReadError> {
        let ipv4 = image.table::<u32>();
        let ipv6 = image.table::<u128>();
        let is_bare = ipv4.is_some_and(|table| !table.has_routes())
            || ipv6.is_some_and(|table| !table.has_routes());
        if is_bare {
            let reason = "the image was compiled without its routes, which are needed here";
            return Err(ReadError::file(name, reason));
        }
        Ok(Self {
            image,
            is_ipv6: false,
            number: 1,
            text: String::new(),
        })
    }

    fn route(&self) -> Option<(IpPrefix, NextHop)> {
        if self.is_ipv6 {
            let (prefix, next_hop) = self.image.table::<u128>()?.route(self.number)?;
            Some((prefix.into(), next_hop))
        } else {
            let (prefix, next_hop) = self.image.table::<u32>()?.route(self.number)?;
            Some((prefix.into(), next_hop))
        }
    }
}

impl RouteSource for ImageRoutes {
    fn next_route(&mut self) -> Result<Option<Route<'_>>, ReadError> {
        let (prefix, next_hop) = loop {
            if let Some(route) = self.route() {
                break route;
            }
            if self.is_ipv6 {
                return Ok(None);
            }
            self.is_ipv6 = true;
            self.number = 1;
        };
        self.number += 1;
        self.text.clear();
        let next_hop = match self.image.name(next_hop) {
            Some(name) => name,
            None => {
                // Writing to a String cannot fail.
                let _ = write!(self.text, "{next_hop}");
                &self.text
            }
        };
        Ok(Some(Route { prefix, next_hop }))
    }
}
