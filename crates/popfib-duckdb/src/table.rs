//! Tables as queries use them: compiled once, never changed, shared by all threads.

use std::io::{self, Read};
use std::net::IpAddr;
use std::sync::OnceLock;

use popfib::{Address, Fib, Image, IpPrefix, LongestFib, NextHop, Options, Prefix, Rib};
use popfib_formats::{Input, LoadOptions, RouteTable};

use crate::vector::Text;

/// A table of both families; their next hops share the numbers of the values.
pub(crate) struct Table {
    pub(crate) ipv4: Family<u32>,
    pub(crate) ipv6: Family<u128>,
    pub(crate) values: Values,
    /// Routes replaced by later ones for the same prefix, and invalid lines skipped.
    pub(crate) replaced: u64,
    pub(crate) skipped: u64,
    /// What else was left out.
    pub(crate) notes: Vec<String>,
}

/// The routes of one family.
pub(crate) struct Family<A: Address> {
    pub(crate) fib: Fib<A, u32>,
    pub(crate) route_count: usize,
    /// None in an image that was compiled without them.
    rib: Option<Rib<A>>,
    /// That of the image, or made when prefixes are first asked for.
    longest: OnceLock<Result<LongestFib<A>, String>>,
}

impl<A: Address> Family<A> {
    fn new(rib: Rib<A>) -> Result<Self, String> {
        let fib = Fib::compile(&rib, &Options::default()).map_err(|error| error.to_string())?;
        Ok(Self {
            fib,
            route_count: rib.len(),
            rib: Some(rib),
            longest: OnceLock::new(),
        })
    }

    /// That of an image, whose memory the Fibs share.
    fn of_image(image: &Image) -> Result<Self, String> {
        let Some(table) = image.table::<A>() else {
            return Self::new(Rib::new());
        };
        let has_routes = table.has_routes() || table.route_count() == 0;
        Ok(Self {
            fib: table.fib().try_clone().map_err(|error| error.to_string())?,
            route_count: table.route_count(),
            rib: has_routes.then(|| table.rib()),
            longest: match table.longest_fib() {
                Some(longest) => OnceLock::from(Ok(longest.clone())),
                None => OnceLock::new(),
            },
        })
    }

    /// Every route.
    ///
    /// # Errors
    /// Of an image that has none.
    pub(crate) fn rib(&self) -> Result<&Rib<A>, &str> {
        let why = "the image was compiled without its routes, which are needed here";
        self.rib.as_ref().ok_or(why)
    }

    /// Longest matches with their prefixes.
    ///
    /// # Errors
    /// As [`Family::rib`]; where it can't be compiled.
    pub(crate) fn longest(&self) -> Result<&LongestFib<A>, &str> {
        let rib = self.rib()?;
        let compile = || LongestFib::compile(rib, &Options::default());
        let longest = (self.longest).get_or_init(|| compile().map_err(|error| error.to_string()));
        longest.as_ref().map_err(String::as_str)
    }
}

/// The values by their numbers from 1 on.
#[derive(Default)]
pub(crate) struct Values {
    /// One after the other.
    text: String,
    /// Where each ends; 0 is that of number 0.
    ends: Vec<usize>,
    /// What is written for each; number 0 has the empty one.
    pub(crate) texts: Vec<Text>,
    has_long: bool,
    integers: OnceLock<Result<Vec<i64>, String>>,
}

impl Values {
    fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut values = Self {
            ends: vec![0],
            texts: vec![Text::new(b"")],
            ..Self::default()
        };
        for name in names {
            values.text.push_str(name);
            values.ends.push(values.text.len());
            let text = Text::new(name.as_bytes());
            values.has_long |= text.is_long();
            values.texts.push(text);
        }
        values
    }

    /// Whether there is one that does not lie inside of its [`Text`].
    pub(crate) fn has_long(&self) -> bool {
        self.has_long
    }

    /// The text of a number that is not 0.
    pub(crate) fn text(&self, number: u32) -> &str {
        let number = number as usize;
        &self.text[self.ends[number - 1]..self.ends[number]]
    }

    /// All values as integers, 0 for number 0.
    ///
    /// # Errors
    /// One of them is none.
    pub(crate) fn integers(&self) -> Result<&[i64], &str> {
        let parse = |number| {
            let text = self.text(number);
            text.parse().map_err(|_| {
                let text = popfib_formats::Escaped(text);
                format!("the value '{text}' is no integer of 64 bits")
            })
        };
        let all = || {
            let numbers = (1..self.ends.len() as u32).map(parse);
            std::iter::once(Ok(0)).chain(numbers).collect()
        };
        let integers = self.integers.get_or_init(all);
        integers
            .as_ref()
            .map_or_else(|error| Err(&**error), |all| Ok(all.as_slice()))
    }
}

impl Table {
    /// The table in a file, an image or in any format that popfib reads.
    ///
    /// # Errors
    /// A line that names the file and says what is wrong with it.
    pub(crate) fn load(
        name: &str,
        mut reader: Box<dyn Read + Send>,
        options: &LoadOptions,
    ) -> Result<Self, String> {
        let mut head = Vec::new();
        let read = reader
            .by_ref()
            .take(Image::MAGIC.len() as u64)
            .read_to_end(&mut head);
        if let Err(error) = read {
            return Err(format!("{}: {error}", popfib_formats::Escaped(name)));
        }
        let is_image = head == Image::MAGIC && options == &LoadOptions::new();
        let mut whole = io::Cursor::new(head).chain(reader);
        if is_image {
            let mut bytes = Vec::new();
            let read = whole
                .read_to_end(&mut bytes)
                .map_err(|error| error.to_string());
            // A copy in this process: what happens to the file later does not matter.
            let image = read.and_then(|_| Image::from_bytes(&bytes).map_err(|e| e.to_string()));
            let image =
                image.map_err(|error| format!("{}: {error}", popfib_formats::Escaped(name)))?;
            if image.name_count().is_some() {
                return Self::of_image(&image);
            }
            whole = io::Cursor::new(bytes).chain(Box::new(io::empty()));
        }
        let input = Input::from_reader(name, whole);
        let table = popfib_formats::load_from(input, options);
        Self::of_routes(table.map_err(|error| error.to_string())?)
    }

    /// The built-in table.
    ///
    /// # Errors
    /// No memory.
    pub(crate) fn built_in() -> Result<Self, String> {
        Self::of_routes(popfib_formats::default_table())
    }

    pub(crate) fn of_routes(table: RouteTable) -> Result<Self, String> {
        let name = |number| table.next_hops.get(NextHop::new(number)?);
        Ok(Self {
            values: Values::new((1..).map_while(name)),
            ipv4: Family::new(table.ribs.ipv4)?,
            ipv6: Family::new(table.ribs.ipv6)?,
            replaced: table.replaced,
            skipped: table.skipped,
            notes: table.notes,
        })
    }

    fn of_image(image: &Image) -> Result<Self, String> {
        let name = |number| image.name(NextHop::new(number)?);
        Ok(Self {
            values: Values::new((1..).map_while(name)),
            ipv4: Family::of_image(image)?,
            ipv6: Family::of_image(image)?,
            replaced: 0,
            skipped: 0,
            notes: Vec::new(),
        })
    }

    /// Every route that covers an address, the shortest first: prefix and number of the value.
    ///
    /// # Errors
    /// As [`Family::rib`].
    pub(crate) fn covering(
        &self,
        address: IpAddr,
        found: &mut Vec<(IpPrefix, u32)>,
    ) -> Result<(), &str> {
        match address {
            IpAddr::V4(address) => {
                let routes = self.ipv4.rib()?.supernets(Prefix::host(address.into()));
                found.extend(routes.map(|(prefix, value)| (prefix.into(), value.get())));
            }
            IpAddr::V6(address) => {
                let routes = self.ipv6.rib()?.supernets(Prefix::host(address.into()));
                found.extend(routes.map(|(prefix, value)| (prefix.into(), value.get())));
            }
        }
        Ok(())
    }
}
