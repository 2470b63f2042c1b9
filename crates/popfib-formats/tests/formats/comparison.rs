//! The comparison of all doors, by the libraries: engines/vectors/comparison.py.

use std::fs;
use std::path::Path;
use std::process::Command;

use popfib::family::Family;
use popfib::image::Keep;
use popfib::{Image, ImageWriter, Kernel, NextHop, Options};
use popfib_formats::addresses::parse_address;
use popfib_formats::{ColumnSelection, Input, LoadOptions, LookupTable, load};
use popfib_table::{AddressColumn, FamilyAddresses, FamilyTable, Table};

/// Puts the prefix and the columns of each address into the place of its row.
fn answer<A: Family>(table: &Table, addresses: &FamilyAddresses<A>, answers: &mut [String]) {
    let (family, kernel) = (table.family::<A>(), Kernel::best());
    let mut numbers = vec![9; addresses.len()];
    let mut matches = numbers.clone();
    family
        .value_numbers(kernel, addresses, &mut numbers)
        .unwrap();
    family
        .match_numbers(kernel, addresses, &mut matches)
        .unwrap();
    let records = table.records().unwrap();
    for (at, (&address, &row)) in addresses.iter().zip(addresses.rows()).enumerate() {
        let found = FamilyTable::<A>::matched(address, matches[at]);
        assert_eq!(found.map(|(_, number)| number), NextHop::new(numbers[at]));
        if let Some((prefix, number)) = found {
            let texts = (0..records.columns().len()).map(|column| records.text(number, column));
            let texts = texts.map(|text| text.unwrap_or("~".into()));
            let texts = texts.collect::<Vec<_>>().join("\t");
            answers[row as usize] = format!("{}\t{texts}", A::ip_prefix(prefix));
        }
    }
}

#[test]
fn the_table_of_all_doors() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Command::new("python3")
        .arg(top.join("engines/vectors/generate.py"))
        .status();
    assert!(made.expect("python3").success());
    let folder = top.join("target/vectors");
    let questions = fs::read_to_string(folder.join("questions.tsv")).unwrap();
    let questions: Vec<Vec<&str>> = questions.lines().map(|q| q.split('\t').collect()).collect();
    let mut addresses = AddressColumn::new();
    for question in &questions {
        let address = parse_address(question[0].as_bytes());
        assert_eq!(address.is_some(), question[1] != "-", "{}", question[0]);
        addresses.push(address);
    }
    let versions = ["first.csv", "second.jsonl"].into_iter().zip(1..);
    for (file, version) in versions {
        let options = LoadOptions {
            columns: ColumnSelection::All,
            mapped: version == 2,
            ..LoadOptions::new()
        };
        let table: LookupTable = load(Input::open(folder.join(file)).unwrap(), &options).unwrap();
        let mut image = ImageWriter::new(0);
        image.table("", &[]).unwrap();
        let written = (table.content).write(&mut image, &Options::default(), Keep::Routes);
        written.unwrap();
        let image = Image::from_bytes(&image.to_bytes()).unwrap();
        let table = Table::of_image(image.table(None).unwrap()).unwrap();
        let mut answers = vec![String::new(); addresses.len()];
        answer(&table, addresses.ipv4(), &mut answers);
        answer(&table, addresses.ipv6(), &mut answers);
        let rows = fs::read_to_string(folder.join(file).with_extension("tsv")).unwrap();
        let rows: Vec<&str> = [""].into_iter().chain(rows.lines()).collect();
        for (question, answer) in questions.iter().zip(&answers) {
            let row: usize = question[version].parse().unwrap_or(0);
            assert_eq!(answer, rows[row], "{}", question[0]);
        }
    }
}
