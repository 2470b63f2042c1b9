//! The table of an instance: a text or an image in, a table that never changes out; addresses and cells in, numbers out.

use std::convert::Infallible;
use std::io::Cursor;
use std::net::IpAddr;

use popfib::family::Family;
use popfib::image::Keep;
use popfib::{Image, ImageWriter, Kernel, NextHop, Options};
use popfib_formats::addresses::parse_ipv6;
use popfib_formats::{Input, LoadOptions, load_text};
use popfib_table::{AddressColumn, Column, FamilyTable, Records, TableError, check_records};

/// The name of the text in errors: `table:7: ...`.
const NAME: &str = "table";

/// An image of the routes in `text`, a route a line. `mapped`: IPv4-mapped addresses have the routes of IPv4.
///
/// # Errors
/// The line that is wrong, and why.
pub(crate) fn compile(text: Vec<u8>, mapped: bool) -> Result<Vec<u8>, String> {
    let input = Input::plain(NAME, Cursor::new(text));
    let mut options = LoadOptions::new();
    options.mapped = mapped;
    let (ribs, texts) = load_text(input, &options).map_err(|error| error.to_string())?;
    let mut image = ImageWriter::new(0);
    let write = |image: &mut ImageWriter| -> Result<(), TableError> {
        image.table(NAME, &[])?;
        // Not by way of a `Table`: what writes records of any type would be 7 kB of the npm package.
        image.names(texts.iter())?;
        image.family(&ribs.ipv4, &Options::default(), Keep::Routes)?;
        Ok(image.family(&ribs.ipv6, &Options::default(), Keep::Routes)?)
    };
    write(&mut image).map_err(|error| format!("{NAME}: {error}"))?;
    Ok(image.to_bytes())
}

/// The number of a cell that holds no address.
pub(crate) const INVALID: u32 = u32::MAX;

/// Takes the first cell from `input`; returns its address, or `None` if it holds none.
pub(crate) fn cell(input: &mut &[u8]) -> Option<IpAddr> {
    const PACKED: u8 = 0x80;
    let (len, rest) = input.split_first()?;
    let (bytes, rest) = rest.split_at_checked(usize::from(len & !PACKED))?;
    *input = rest;
    match bytes.len() {
        _ if len & PACKED == 0 => parse_ipv6(bytes).map(|bits| IpAddr::V6(bits.into())),
        4 => bytes.first_chunk::<4>().copied().map(IpAddr::from),
        16 => bytes.first_chunk::<16>().copied().map(IpAddr::from),
        _ => None,
    }
}

/// A longest match.
pub(crate) enum JsMatch {
    NoAddress,
    /// The image was compiled without its routes.
    NoRoutes,
    Nothing,
    /// The prefix as text, and the number of the value.
    Route(String, u32),
}

/// A table, and memory for the addresses of a call.
pub(crate) struct JsTable {
    table: popfib_table::Table,
    cells: AddressColumn,
    addresses: Vec<u128>,
}

impl JsTable {
    /// The table of this name in an image, of which it keeps a copy; without a name, the only one.
    ///
    /// # Errors
    /// Why the bytes are no image, or have no such table.
    pub(crate) fn open(bytes: Vec<u8>, name: Option<&str>) -> Result<Self, String> {
        let failed = |error: TableError| format!("{NAME}: {error}");
        let image = Image::from_bytes(&bytes).map_err(|error| failed(error.into()))?;
        // Freed first, so that the records can take its place.
        drop(bytes);
        check_records(&image).map_err(|error| failed(error.into()))?;
        let of_image = image.table(name).map_err(|error| failed(error.into()))?;
        Ok(Self {
            table: popfib_table::Table::of_image(of_image).map_err(failed)?,
            cells: AddressColumn::new(),
            addresses: Vec::new(),
        })
    }

    pub(crate) fn route_count(&self) -> usize {
        self.table.route_count()
    }

    /// The number of the value; 0 if there is none.
    pub(crate) fn lookup(&self, address: IpAddr) -> u32 {
        self.table.lookup(address).map_or(0, NextHop::get)
    }

    /// The longest match; `None` is no address.
    pub(crate) fn longest_match(&self, address: Option<IpAddr>) -> JsMatch {
        match address.map(|address| self.table.longest_match(address)) {
            None => JsMatch::NoAddress,
            Some(Err(_)) => JsMatch::NoRoutes,
            Some(Ok(None)) => JsMatch::Nothing,
            Some(Ok(Some((prefix, number)))) => JsMatch::Route(prefix.to_string(), number.get()),
        }
    }

    /// The routes that cover an address, the shortest first: a line each, of prefix, tab and number.
    ///
    /// # Errors
    /// The image was compiled without its routes.
    pub(crate) fn supernets(&self, address: IpAddr) -> Result<String, TableError> {
        let mut lines = String::new();
        self.table.supernets(address.into(), |(prefix, number)| {
            lines += &format!("{prefix}\t{}\n", number.get());
        })?;
        Ok(lines)
    }

    /// The records; `None` for an image without records.
    pub(crate) fn records(&self) -> Option<&Records> {
        self.table.records()
    }

    pub(crate) fn column(&self, index: usize) -> Option<&Column> {
        self.records()?.columns().get(index)
    }

    /// The numbers of the values of IPv4 addresses.
    pub(crate) fn lookup_many(&self, addresses: &[u32], numbers: &mut [u32]) {
        let Ok(()) = numbers_of(self.table.ipv4(), addresses, numbers);
    }

    /// The numbers of the values of as many IPv6 addresses, each of 16 bytes of `input`.
    pub(crate) fn lookup_packed(&mut self, input: &[u8], numbers: &mut [u32]) {
        let packed = input.as_chunks().0.iter().take(numbers.len());
        let addresses = &mut self.addresses;
        addresses.clear();
        addresses.extend(packed.map(|bytes| u128::from_be_bytes(*bytes)));
        let Ok(()) = numbers_of(self.table.ipv6(), addresses, numbers);
    }

    /// The numbers of the values of the addresses in as many cells, [`INVALID`] for those that hold none; returns how many
    /// these are.
    pub(crate) fn lookup_cells(&mut self, mut input: &[u8], numbers: &mut [u32]) -> usize {
        let Self { table, cells, .. } = self;
        cells.clear();
        numbers.iter().for_each(|_| cells.push(cell(&mut input)));
        numbers.fill(INVALID);
        let Ok(()) = (cells.ipv4()).answer(numbers, |found, numbers| {
            numbers_of(table.ipv4(), found, numbers)
        });
        let Ok(()) = (cells.ipv6()).answer(numbers, |found, numbers| {
            numbers_of(table.ipv6(), found, numbers)
        });
        cells.len() - cells.ipv4().len() - cells.ipv6().len()
    }
}

/// Writes the numbers of addresses. An image has its FIB, so nothing is compiled here that could fail.
fn numbers_of<A: Family>(
    family: &FamilyTable<A>,
    addresses: &[A],
    numbers: &mut [u32],
) -> Result<(), Infallible> {
    let found = family.value_numbers(Kernel::best(), addresses, numbers);
    if found.is_err() {
        numbers.fill(0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::{Address, Prefix, Rib};

    fn rib<A: Address>(prefix: Prefix<A>, next_hop: u32) -> Rib<A> {
        [(prefix, NextHop::new(next_hop).unwrap())]
            .into_iter()
            .collect()
    }

    /// What other programs may put in an image, and `compile` here does not.
    #[test]
    fn images_without_routes_names_or_a_family() {
        let mut writer = ImageWriter::new(0);
        writer.table("", &[]).unwrap();
        let options = Options::default();
        let ipv4 = rib::<u32>("10.0.0.0/8".parse().unwrap(), 7);
        writer.family(&ipv4, &options, Keep::Values).unwrap();
        let mut table = JsTable::open(writer.to_bytes(), None).unwrap();
        let [inside, outside, other] = ["10.1.1.1", "11.1.1.1", "::1"].map(|a| a.parse().unwrap());
        assert_eq!(table.lookup(inside), 7);
        assert_eq!((table.lookup(outside), table.lookup(other)), (0, 0));
        assert!(table.records().is_none());
        assert!(matches!(
            table.longest_match(Some(inside)),
            JsMatch::NoRoutes
        ));
        assert!(matches!(table.longest_match(Some(other)), JsMatch::Nothing));
        assert!(table.supernets(inside).is_err());
        let mut numbers = [9; 3];
        let cells = b"\x84\x0a\x01\x01\x01\x03::1\x84\x0a\x01\x01\x01";
        assert_eq!(table.lookup_cells(cells, &mut numbers), 0);
        assert_eq!(numbers, [7, 0, 7]);
        // Lengths that lead beyond the input, and lengths that no address has.
        assert_eq!(table.lookup_cells(&cells[..8], &mut numbers), 2);
        assert_eq!(numbers, [7, INVALID, INVALID]);
        assert_eq!(table.lookup_cells(b"", &mut numbers), 3);
        assert_eq!(table.lookup_cells(b"\x80\x83abc\x90", &mut numbers), 3);
        table.lookup_packed(&[0; 48], &mut numbers);
        assert_eq!(numbers, [0; 3]);
    }

    #[test]
    fn images_of_no_table_or_of_several() {
        let error = |writer: &ImageWriter| JsTable::open(writer.to_bytes(), None).err();
        let mut writer = ImageWriter::new(0);
        let no_table = "table: an image without tables";
        assert_eq!(error(&writer).as_deref(), Some(no_table));
        writer.table("a", &[]).unwrap();
        assert_eq!(error(&writer), None);
        writer.table("b", &[]).unwrap();
        let two = "table: an image of 2 tables, of which one is used: \"a\", \"b\"";
        assert_eq!(error(&writer).as_deref(), Some(two));
    }

    #[test]
    fn a_table_by_its_name() {
        let mut writer = ImageWriter::new(0);
        for (name, number) in [("a", 1), ("b", 2)] {
            writer.table(name, &[]).unwrap();
            let ipv4 = rib::<u32>("10.0.0.0/8".parse().unwrap(), number);
            writer
                .family(&ipv4, &Options::default(), Keep::Prefixes)
                .unwrap();
        }
        let open = |name| JsTable::open(writer.to_bytes(), Some(name));
        let mut table = open("b").unwrap();
        assert_eq!(table.lookup("10.1.1.1".parse().unwrap()), 2);
        // By the FIB of longest matches, as there is no other.
        let mut numbers = [9; 2];
        table.lookup_many(&[0x0a01_0101, 0], &mut numbers);
        assert_eq!(numbers, [2, 0]);
        let cells = b"\x84\x0a\x01\x01\x01\x03::1";
        assert_eq!(table.lookup_cells(cells, &mut numbers), 0);
        assert_eq!(numbers, [2, 0]);
        // JavaScript reads texts of IPv4 itself.
        assert_eq!(table.lookup_cells(b"\x0810.1.1.1\x00", &mut numbers), 2);
        let none = "table: no table \"c\": \"a\", \"b\"";
        assert_eq!(open("c").err().as_deref(), Some(none));
    }
}
