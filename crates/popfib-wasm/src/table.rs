//! A table that never changes: an image, and lookups in it.

use std::io::Cursor;
use std::net::IpAddr;

use popfib::{Address, Fib, Image, ImageWriter, Kernel, NextHop, Options, Prefix};
use popfib_formats::{Input, LoadOptions, load_text, parse_address};

/// The name of the text in errors: `table:7: ...`.
const NAME: &str = "table";

/// An image of the routes in `text`, a route a line.
///
/// # Errors
/// The line that is wrong, and why.
pub(crate) fn compile(text: Vec<u8>) -> Result<Vec<u8>, String> {
    let input = Input::plain(NAME, Cursor::new(text));
    let table = load_text(input, &LoadOptions::new()).map_err(|error| error.to_string())?;
    let name = |number| table.next_hops.name(NextHop::new(number)?);
    let mut writer = ImageWriter::new(NAME, 0);
    let names = writer.names((1..).map_while(name));
    names.map_err(|error| error.to_string())?;
    let options = Options::default();
    let ipv4 = writer.table(&table.ipv4, &options, true);
    let both = ipv4.and_then(|()| writer.table(&table.ipv6, &options, true));
    both.map_err(|error| format!("{NAME}: {error}"))?;
    // The image takes their place.
    drop(table);
    Ok(writer.to_bytes())
}

/// The address that `text` is.
pub(crate) fn address(text: &[u8]) -> Option<IpAddr> {
    parse_address(text)
}

/// A longest match.
pub(crate) enum Matched {
    NoAddress,
    /// The image was compiled without its routes.
    NoRoutes,
    Nothing,
    /// The prefix as text, and the number of the value.
    Route(String, u32),
}

/// An image, and its Fibs at hand.
#[derive(Default)]
pub(crate) struct Table {
    image: Option<Image>,
    ipv4: Option<Fib<u32, u32>>,
    ipv6: Option<Fib<u128, u32>>,
    texts: Texts,
}

/// The addresses of a call by family, each with its place.
#[derive(Default)]
struct Texts {
    ipv4: Vec<u32>,
    ipv4_at: Vec<u32>,
    ipv6: Vec<u128>,
    ipv6_at: Vec<u32>,
}

impl Table {
    /// The table of an image, from a copy of it.
    ///
    /// # Errors
    /// Anything that is no image, or one without a table of addresses.
    pub(crate) fn open(bytes: &[u8]) -> Result<Self, String> {
        let image = Image::from_bytes(bytes).map_err(|error| format!("{NAME}: {error}"))?;
        let ipv4 = image.table::<u32>().map(|table| table.fib().clone());
        let ipv6 = image.table::<u128>().map(|table| table.fib().clone());
        if ipv4.is_none() && ipv6.is_none() {
            return Err(format!("{NAME}: the image has no table of IP addresses"));
        }
        Ok(Self {
            image: Some(image),
            ipv4,
            ipv6,
            texts: Texts::default(),
        })
    }

    pub(crate) fn route_count(&self) -> usize {
        fn count<A: Address>(image: &Image) -> usize {
            image.table::<A>().map_or(0, |table| table.route_count())
        }
        let image = self.image.as_ref();
        image.map_or(0, |image| count::<u32>(image) + count::<u128>(image))
    }

    /// The number of the value; 0 if there is none.
    pub(crate) fn lookup(&self, address: IpAddr) -> u32 {
        match address {
            IpAddr::V4(address) => self.ipv4.as_ref().map(|fib| fib.lookup(address.into())),
            IpAddr::V6(address) => self.ipv6.as_ref().map(|fib| fib.lookup(address.into())),
        }
        .unwrap_or(0)
    }

    /// The longest match; `None` is no address.
    pub(crate) fn longest_match(&self, address: Option<IpAddr>) -> Matched {
        fn family<A: Address>(image: &Image, address: A) -> Matched
        where
            Prefix<A>: ToString,
        {
            let Some(table) = image.table::<A>() else {
                return Matched::Nothing;
            };
            if !table.has_routes() && table.route_count() > 0 {
                return Matched::NoRoutes;
            }
            match table.longest_match(address) {
                Some((prefix, number)) => Matched::Route(prefix.to_string(), number.get()),
                None => Matched::Nothing,
            }
        }
        match (&self.image, address) {
            (_, None) => Matched::NoAddress,
            (None, _) => Matched::Nothing,
            (Some(image), Some(IpAddr::V4(address))) => family::<u32>(image, address.into()),
            (Some(image), Some(IpAddr::V6(address))) => family::<u128>(image, address.into()),
        }
    }

    /// The text of a number's value: where the image has no names, the number itself.
    pub(crate) fn value(&self, number: u32) -> Option<String> {
        let image = self.image.as_ref()?;
        let number = NextHop::new(number)?;
        match image.name_count() {
            Some(_) => image.name(number).map(str::to_owned),
            None => Some(number.to_string()),
        }
    }

    /// The numbers of the values of IPv4 addresses.
    pub(crate) fn lookup_many(&self, addresses: &[u32], numbers: &mut [u32]) {
        match &self.ipv4 {
            Some(fib) => fib.lookup_batch(addresses, numbers),
            None => numbers.fill(0),
        }
    }

    /// The numbers of the values of as many texts, each in `input` after a byte of its length; returns how many
    /// come before the first that is no address.
    pub(crate) fn lookup_texts(&mut self, input: &[u8], numbers: &mut [u32]) -> usize {
        let valid = self.texts.read(input, numbers.len());
        numbers.fill(0);
        let texts = &self.texts;
        if let Some(fib) = &self.ipv4 {
            let put = |at: usize, number| numbers[texts.ipv4_at[at] as usize] = number;
            fib.lookup_each_with(Kernel::best(), &texts.ipv4, put);
        }
        if let Some(fib) = &self.ipv6 {
            let put = |at: usize, number| numbers[texts.ipv6_at[at] as usize] = number;
            fib.lookup_each_with(Kernel::best(), &texts.ipv6, put);
        }
        valid
    }
}

impl Texts {
    /// Reads `count` texts up to the first that is no address; returns how many it read.
    fn read(&mut self, mut input: &[u8], count: usize) -> usize {
        self.ipv4.clear();
        self.ipv4_at.clear();
        self.ipv6.clear();
        self.ipv6_at.clear();
        for at in 0..count {
            let text = input.split_first().and_then(|(len, rest)| {
                let text;
                (text, input) = rest.split_at_checked(usize::from(*len))?;
                address(text)
            });
            match text {
                Some(IpAddr::V4(address)) => {
                    self.ipv4.push(address.into());
                    self.ipv4_at.push(at as u32);
                }
                Some(IpAddr::V6(address)) => {
                    self.ipv6.push(address.into());
                    self.ipv6_at.push(at as u32);
                }
                None => return at,
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::Rib;

    fn rib<A: Address>(prefix: Prefix<A>, next_hop: u32) -> Rib<A> {
        [(prefix, NextHop::new(next_hop).unwrap())]
            .into_iter()
            .collect()
    }

    /// What other programs may put in an image, and `compile` here does not.
    #[test]
    fn images_without_routes_names_or_a_family() {
        let mut writer = ImageWriter::new("", 0);
        let options = Options::default();
        let ipv4 = rib::<u32>("10.0.0.0/8".parse().unwrap(), 7);
        writer.table(&ipv4, &options, false).unwrap();
        let mut table = Table::open(&writer.to_bytes()).unwrap();
        let [inside, outside, other] = ["10.1.1.1", "11.1.1.1", "::1"].map(|a| a.parse().unwrap());
        assert_eq!(table.lookup(inside), 7);
        assert_eq!((table.lookup(outside), table.lookup(other)), (0, 0));
        assert_eq!(table.value(7).as_deref(), Some("7"));
        assert!(matches!(
            table.longest_match(Some(inside)),
            Matched::NoRoutes
        ));
        assert!(matches!(table.longest_match(Some(other)), Matched::Nothing));
        let mut numbers = [9; 3];
        let texts = b"\x0810.1.1.1\x03::1\x0811.1.1.1";
        assert_eq!(table.lookup_texts(texts, &mut numbers), 3);
        assert_eq!(numbers, [7, 0, 0]);
        // Lengths that lead beyond the input.
        assert_eq!(table.lookup_texts(&texts[..12], &mut numbers), 1);
        assert_eq!(table.lookup_texts(b"", &mut numbers), 0);
    }

    #[test]
    fn images_without_addresses_are_refused() {
        let error = |writer: &ImageWriter| Table::open(&writer.to_bytes()).err();
        let none = "table: the image has no table of IP addresses";
        let mut writer = ImageWriter::new("", 0);
        assert_eq!(error(&writer).as_deref(), Some(none));
        let keys = rib::<u64>(Prefix::new(0, 1).unwrap(), 1);
        writer.table(&keys, &Options::default(), true).unwrap();
        assert_eq!(error(&writer).as_deref(), Some(none));
    }

    #[test]
    fn nothing_is_open_yet() {
        let table = Table::default();
        let address = "10.1.1.1".parse().unwrap();
        assert_eq!((table.lookup(address), table.value(1)), (0, None));
        assert!(matches!(
            table.longest_match(Some(address)),
            Matched::Nothing
        ));
        assert!(matches!(table.longest_match(None), Matched::NoAddress));
    }
}
