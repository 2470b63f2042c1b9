//! How fast records are read: the values of columns of an image for a file of addresses.
//!
//!     cargo run --release -p popfib-table --example records -- IMAGE ADDRESSES COLUMN...
//!
//! ADDRESSES are IPv4 addresses of four bytes each, in network order; without a COLUMN only the numbers of records are asked for. Prints
//! the records that were found and the bytes of all their values, and the million addresses a second (median, least and most of five
//! passes) by batches, and one by one.

use std::hint::black_box;
use std::time::Instant;

use popfib::{Image, Kernel, NextHop};
use popfib_table::{Cell, Scalar, Table};

/// How often a pass goes through the addresses, so that it takes longer than a few milliseconds.
const REPEATS: usize = 16;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(image), Some(addresses)) = (args.next(), args.next()) else {
        return Err("records IMAGE ADDRESSES COLUMN...".into());
    };
    let columns: Vec<String> = args.collect();
    let mut table = Table::of_image(Image::open(image)?.table(None)?)?;
    if !columns.is_empty() {
        table.select(&columns)?;
    }
    let addresses = std::fs::read(addresses)?;
    let addresses: Vec<u32> = addresses
        .as_chunks::<4>()
        .0
        .iter()
        .map(|address| u32::from_be_bytes(*address))
        .collect();
    let family = table.ipv4();
    let kernel = Kernel::best();
    // What is read of a value: so much that it has to be there.
    let read = |number: u32| -> (usize, usize) {
        let Some(number) = NextHop::new(number) else {
            return (0, 0);
        };
        let records = table.records().expect("the image has records or names");
        let cells = (0..columns.len()).filter_map(|column| records.cell(number, column));
        let bytes = cells.map(|cell| match cell {
            Cell::Scalar(Scalar::Text(text)) => {
                text.len() + usize::from(text.as_bytes().first() == Some(&0))
            }
            Cell::Scalar(Scalar::Float(number, _)) => usize::from(number != 0.0),
            Cell::Scalar(_) => 8,
            Cell::List(list) => list.len(),
        });
        (1, bytes.sum())
    };
    let rate = |passes: &mut dyn FnMut() -> (usize, usize)| {
        let mut rates = Vec::new();
        let mut found = (0, 0);
        for _ in 0..5 {
            let start = Instant::now();
            for _ in 0..REPEATS {
                found = black_box(passes());
            }
            rates.push((REPEATS * addresses.len()) as f64 / start.elapsed().as_secs_f64() / 1e6);
        }
        rates.sort_by(f64::total_cmp);
        (found, rates)
    };
    let sum = |all: (usize, usize), one: (usize, usize)| (all.0 + one.0, all.1 + one.1);
    let mut numbers = vec![0; 1024];
    let (found, batches) = rate(&mut || {
        let mut all = (0, 0);
        for chunk in addresses.chunks(1024) {
            let numbers = &mut numbers[..chunk.len()];
            if family.value_numbers(kernel, chunk, numbers).is_err() {
                return (0, 0);
            }
            all = match columns.is_empty() {
                // Vector code, and no branch that would be mispredicted.
                true => (
                    all.0 + numbers.iter().filter(|number| **number != 0).count(),
                    0,
                ),
                false => (numbers.iter()).fold(all, |all, &number| sum(all, read(number))),
            };
        }
        all
    });
    let (again, single) = rate(&mut || {
        let all = addresses
            .iter()
            .map(|&address| read(family.lookup(address)));
        all.fold((0, 0), sum)
    });
    assert_eq!(found, again);
    println!("found {} bytes {}", found.0, found.1);
    println!(
        "batches {:.1} {:.1} {:.1}",
        batches[2], batches[0], batches[4]
    );
    println!("single {:.1} {:.1} {:.1}", single[2], single[0], single[4]);
    Ok(())
}
