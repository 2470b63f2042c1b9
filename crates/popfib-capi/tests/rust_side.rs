//! A real table asked in Rust: what the tests in C are compared with, and what the benchmark asks.
//!
//!     rust_side DIR      writes routes, addresses, answers, an image and the names of kernels to DIR
//!
//! Files, by family F (4 or 6), numbers in the order of this machine:
//! `routes-F` (records of 24 bytes: prefix, padded to 16 bytes; length; three bytes of 0; next hop),
//! `addresses-F` (bytes in network order), `answers-F` (next hops of 32 bits), `lengths-F` (of the matching
//! prefix, one byte each; 255 for none), `image` with both families, `records` with the same
//! routes, whose records have the columns `asn` and `name`, `two-tables` with the tables `a` and `b`, `broken-records`, `long-list`, whose only
//! record is one, `first` and `second`, the table of target/vectors in both versions, and `kernels.h`.

use std::error::Error;
use std::fs;
use std::path::Path;

use popfib::family::ByFamily;
use popfib::image::Keep;
use popfib::{Address, ImageWriter, Kernel, NextHop, Options, Rib};
use popfib_formats::{ColumnSelection, Input, LoadOptions, LookupTable, RouteTable, load};
use popfib_table::{CellKind, RecordsBuilder};

fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).ok_or("rust_side DIR")?;
    let dir = Path::new(&dir);
    let table: RouteTable = load(Input::built_in(), &LoadOptions::new())?;
    let (ipv4, ipv6) = (narrow(&table.ribs.ipv4), narrow(&table.ribs.ipv6));
    answers(dir, &ipv4, 4)?;
    answers(dir, &ipv6, 6)?;
    let mut image = ImageWriter::new(0);
    image.table("", &[])?;
    image.family(&ipv4, &Options::default(), Keep::Routes)?;
    image.family(&ipv6, &Options::default(), Keep::Routes)?;
    fs::write(dir.join("image"), image.to_bytes())?;
    let mut records = RecordsBuilder::new();
    let (asn, name) = (records.column("asn")?, records.column("name")?);
    for number in 1..=u16::MAX {
        records.set(asn, CellKind::Integer, &number.to_string());
        records.set(
            name,
            CellKind::Text,
            &format!("Network {number} of somebody"),
        );
        records.finish_record();
    }
    let ribs = ByFamily { ipv4, ipv6 };
    let mut image = ImageWriter::new(0);
    image.table("", &[])?;
    let table = popfib_table::Table::of_records(ribs, records.build().records);
    table.write(&mut image, &Options::default(), Keep::Values)?;
    fs::write(dir.join("records"), image.to_bytes())?;
    for (name, file, mapped) in [
        ("first", "first.csv", false),
        ("second", "second.jsonl", true),
    ] {
        let columns = ColumnSelection::All;
        let options = LoadOptions {
            columns,
            mapped,
            ..LoadOptions::new()
        };
        let input = Input::open(Path::new("target/vectors").join(file))?;
        let table: LookupTable = load(input, &options)?;
        let mut image = ImageWriter::new(0);
        image.table("", &[])?;
        (table.content).write(&mut image, &Options::default(), Keep::Routes)?;
        fs::write(dir.join(name), image.to_bytes())?;
    }
    let mut two = ImageWriter::new(0);
    for (name, next_hop) in [("a", 7), ("b", 9)] {
        let route = ("10.0.0.0/8".parse()?, NextHop::MIN.saturating_add(next_hop));
        let rib: Rib<u32> = [route].into_iter().collect();
        two.table(name, &[])?;
        two.family(&rib, &Options::default(), Keep::Routes)?;
    }
    fs::write(dir.join("two-tables"), two.to_bytes())?;
    let mut broken = ImageWriter::new(0);
    broken.table("", &[])?;
    // Of no columns.
    broken.records(1, vec![(4, vec![0; 16])])?;
    broken.family(&Rib::<u32>::new(), &Options::default(), Keep::Routes)?;
    fs::write(dir.join("broken-records"), broken.to_bytes())?;
    let mut list = RecordsBuilder::new();
    let column = list.column("list")?;
    list.set_list(
        column,
        (0..80_000).map(|number| (CellKind::Integer, number.to_string())),
    );
    list.finish_record();
    let mut image = ImageWriter::new(0);
    image.table("", &[])?;
    let table = popfib_table::Table::of_records(ByFamily::default(), list.build().records);
    table.write(&mut image, &Options::default(), Keep::Values)?;
    fs::write(dir.join("long-list"), image.to_bytes())?;
    let names = Kernel::ALL_NAMES.join("\", \"");
    let kernels = format!("static const char *const KERNELS[] = {{\"{names}\"}};\n");
    fs::write(dir.join("kernels.h"), kernels)?;
    Ok(())
}

/// The routes with next hops of 16 bits, so that tables of both widths can hold them.
fn narrow<A: Address>(rib: &Rib<A>) -> Rib<A> {
    rib.iter()
        .map(|(prefix, next_hop)| {
            let number = next_hop.get() % u32::from(u16::MAX);
            (prefix, NextHop::MIN.saturating_add(number))
        })
        .collect()
}

/// Numbers that look random: xorshift64*.
fn random(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

fn random_address<A: Address>(state: &mut u64) -> A {
    A::truncate(u128::from(random(state)) << 64 | u128::from(random(state)))
}

/// The borders of every third route, random addresses inside of routes, and random ones.
fn addresses<A: Address>(rib: &Rib<A>) -> Vec<A> {
    let mut state = 1;
    let mut addresses = vec![A::MIN, A::MAX];
    for (prefix, _) in rib.iter().step_by(3) {
        let inside = random_address::<A>(&mut state) & !A::mask(prefix.len()) | prefix.address();
        addresses.extend([prefix.first(), prefix.last(), inside]);
        addresses.extend(prefix.last().checked_next());
        addresses.push(random_address(&mut state));
    }
    addresses
}

fn answers<A: Address>(dir: &Path, rib: &Rib<A>, family: u8) -> Result<(), Box<dyn Error>> {
    let file = |name| dir.join(format!("{name}-{family}"));
    let mut routes = Vec::new();
    for (prefix, next_hop) in rib.iter() {
        let bytes = prefix.address().to_be_bytes();
        let bytes = bytes.as_ref();
        routes.extend(bytes);
        routes.resize(routes.len() + 16 - bytes.len(), 0);
        routes.extend([prefix.len(), 0, 0, 0]);
        routes.extend(next_hop.get().to_ne_bytes());
    }
    fs::write(file("routes"), routes)?;
    let (mut asked, mut next_hops, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for address in addresses(rib) {
        // The Rib shares no code with what C asks, the Fib.
        let route = rib.longest_match(address);
        asked.extend(address.to_be_bytes().as_ref());
        next_hops.extend(
            route
                .map_or(0, |(_, next_hop)| next_hop.get())
                .to_ne_bytes(),
        );
        lengths.push(route.map_or(255, |(prefix, _)| prefix.len()));
    }
    fs::write(file("addresses"), asked)?;
    fs::write(file("answers"), next_hops)?;
    fs::write(file("lengths"), lengths)?;
    Ok(())
}
