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
    let name = |number| table.next_hops.get(NextHop::new(number)?);
    let mut writer = ImageWriter::new(NAME, 0);
    let names = writer.names((1..).map_while(name));
    names.map_err(|error| error.to_string())?;
    let options = Options::default();
    let ipv4 = writer.table(&table.ribs.ipv4, &options, true);
    let both = ipv4.and_then(|()| writer.table(&table.ribs.ipv6, &options, true));
    both.map_err(|error| format!("{NAME}: {error}"))?;
    // The image takes their place.
    drop(table);
    Ok(writer.to_bytes())
}

/// The number of what is no address.
pub(crate) const INVALID: u32 = u32::MAX;

/// The address in the first cell of `input`, which begins after it then; `None` if it holds none.
pub(crate) fn cell(input: &mut &[u8]) -> Option<IpAddr> {
    const PACKED: u8 = 0x80;
    let (len, rest) = input.split_first()?;
    let (bytes, rest) = rest.split_at_checked(usize::from(len & !PACKED))?;
    *input = rest;
    match bytes.len() {
        _ if len & PACKED == 0 => parse_address(bytes),
        4 => bytes.first_chunk::<4>().copied().map(IpAddr::from),
        16 => bytes.first_chunk::<16>().copied().map(IpAddr::from),
        _ => None,
    }
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
    cells: Cells,
}

/// The addresses of a call by family, each with its place.
#[derive(Default)]
struct Cells {
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
            cells: Cells::default(),
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

    /// The numbers of the values of as many IPv6 addresses, each of 16 bytes of `input`.
    pub(crate) fn lookup_packed(&mut self, input: &[u8], numbers: &mut [u32]) {
        let Some(fib) = &self.ipv6 else {
            return numbers.fill(0);
        };
        let packed = input.as_chunks().0.iter().take(numbers.len());
        self.cells.ipv6.clear();
        (self.cells.ipv6).extend(packed.map(|bytes| u128::from_be_bytes(*bytes)));
        fib.lookup_batch(&self.cells.ipv6, numbers);
    }

    /// The numbers of the values of the addresses in as many cells, [`INVALID`] for those that hold none; returns how many
    /// these are.
    pub(crate) fn lookup_cells(&mut self, input: &[u8], numbers: &mut [u32]) -> usize {
        numbers.fill(0);
        let invalid = self.cells.read(input, numbers);
        let cells = &self.cells;
        if let Some(fib) = &self.ipv4 {
            let put = |at: usize, number| numbers[cells.ipv4_at[at] as usize] = number;
            fib.lookup_each_with(Kernel::best(), &cells.ipv4, put);
        }
        if let Some(fib) = &self.ipv6 {
            let put = |at: usize, number| numbers[cells.ipv6_at[at] as usize] = number;
            fib.lookup_each_with(Kernel::best(), &cells.ipv6, put);
        }
        invalid
    }
}

impl Cells {
    /// Reads as many cells as there are numbers, and marks those that hold no address; returns how many these are.
    fn read(&mut self, mut input: &[u8], numbers: &mut [u32]) -> usize {
        self.ipv4.clear();
        self.ipv4_at.clear();
        self.ipv6.clear();
        self.ipv6_at.clear();
        let mut invalid = 0;
        for (at, number) in (0..).zip(numbers) {
            match cell(&mut input) {
                Some(IpAddr::V4(address)) => {
                    self.ipv4.push(address.into());
                    self.ipv4_at.push(at);
                }
                Some(IpAddr::V6(address)) => {
                    self.ipv6.push(address.into());
                    self.ipv6_at.push(at);
                }
                None => {
                    *number = INVALID;
                    invalid += 1;
                }
            }
        }
        invalid
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
        let cells = b"\x0810.1.1.1\x03::1\x84\x0a\x01\x01\x01";
        assert_eq!(table.lookup_cells(cells, &mut numbers), 0);
        assert_eq!(numbers, [7, 0, 7]);
        // Lengths that lead beyond the input, and lengths that no address has.
        assert_eq!(table.lookup_cells(&cells[..12], &mut numbers), 2);
        assert_eq!(numbers, [7, INVALID, INVALID]);
        assert_eq!(table.lookup_cells(b"", &mut numbers), 3);
        assert_eq!(table.lookup_cells(b"\x80\x83abc\x90", &mut numbers), 3);
        table.lookup_packed(&[0; 48], &mut numbers);
        assert_eq!(numbers, [0; 3]);
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
