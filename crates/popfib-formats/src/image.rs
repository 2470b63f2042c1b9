//! The routes of an image, as a table like any other.
//!
//! For what needs every route; what only looks up does so in the image itself.
//! The bytes are validated as a whole first, so no single route is ever invalid.

use std::fmt::Write;
use std::sync::Arc;

use popfib::{Family, Image, ImageError, ImageTable, IpPrefix, NextHop};
use popfib_table::{Table, TableError};

use crate::error::ReadError;
use crate::error::quote;
use crate::input::Input;
use crate::name_rule::check_characters;
use crate::registry::Capabilities;
use crate::route::{Route, RouteSource};
use crate::table_format::Entry;

/// Whether a file that begins with these bytes is an image.
pub fn is_image(head: &[u8]) -> bool {
    head.starts_with(&Image::MAGIC)
}

pub(crate) const FORMAT: Entry = Entry {
    name: "image",
    description: "image made by `popfib compile`, with its routes",
    can: Capabilities::NONE,
    detect: is_image,
    open: |mut input, _| {
        let image = read(&mut input)?;
        Ok(Box::new(ImageRoutes::new(input.name(), image)?))
    },
};

/// Reads the whole image.
pub(crate) fn read(input: &mut Input) -> Result<Image, ReadError> {
    let bytes = input.read_whole(check_length)?;
    let failed =
        |error: ImageError| ReadError::file(input.name(), error.to_string()).with_source(error);
    Image::from_bytes(&bytes).map_err(failed)
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

/// The routes of both families, in prefix order.
pub(crate) struct ImageRoutes {
    name: String,
    image: Arc<Image>,
    /// How many routes have been read.
    count: u32,
    /// What stands for the name of a next hop that has none.
    text: String,
}

impl ImageRoutes {
    /// The routes of `image`, called `name`.
    ///
    /// # Errors
    /// An image without routes.
    pub(crate) fn new(name: &str, image: impl Into<Arc<Image>>) -> Result<Self, ReadError> {
        let image = image.into();
        if !Table::of_image(Arc::clone(&image)).has_routes() {
            return Err(ReadError::file(name, TableError::NoRoutes.to_string()));
        }
        Ok(Self {
            name: name.to_owned(),
            image,
            count: 0,
            text: String::new(),
        })
    }

    fn route<A: Family>(&self, number: u32) -> Option<(IpPrefix, NextHop)> {
        let (prefix, next_hop) = self.image.table::<A>()?.route(number)?;
        Some((A::ip_prefix(prefix), next_hop))
    }
}

impl RouteSource for ImageRoutes {
    fn next_route(&mut self) -> Result<Option<Route<'_>>, ReadError> {
        let number = self.count + 1;
        let ipv4 = self.image.table::<u32>().map_or(0, ImageTable::route_count) as u32;
        let route = self.route::<u32>(number);
        let route = route.or_else(|| self.route::<u128>(number - ipv4));
        let Some((prefix, next_hop)) = route else {
            return Ok(None);
        };
        self.count = number;
        self.text.clear();
        let next_hop = match self.image.name(next_hop) {
            // That of a list of prefixes.
            Some("") => "",
            Some(name) => match check_characters(name) {
                Ok(()) => name,
                Err(reason) => {
                    let name = quote(name.as_bytes());
                    let reason = format!("route {prefix}: {name}: {reason}");
                    return Err(ReadError::file(&self.name, reason));
                }
            },
            None => {
                // Writing to a String cannot fail.
                let _ = write!(self.text, "{next_hop}");
                &self.text
            }
        };
        Ok(Some(Route { prefix, next_hop }))
    }
}
