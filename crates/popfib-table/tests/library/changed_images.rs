//! Images that are changed by hand and at random: refused, or answering, as the Python of docs/image-format.md has it
//! (engines/vectors/changed.py).

use std::fmt::Write;
use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

use popfib::{Image, ImageError, NextHop};
use popfib_table::{Table, check_records};

/// What is found in an image, in the form of `changed.py`; nothing if it is refused.
fn found_in(image: &[u8], asked: &[IpAddr]) -> Result<String, ImageError> {
    let image = Image::from_bytes(image)?;
    check_records(&image)?;
    let mut all = String::new();
    for (number, of_image) in image.tables().iter().enumerate() {
        let table = match Table::of_image(of_image) {
            Ok(table) => table,
            Err(popfib_table::TableError::Image(error)) => return Err(error),
            Err(error) => panic!("{error}"),
        };
        let name = of_image.name();
        if image.tables()[..number].iter().any(|t| t.name() == name) {
            continue;
        }
        writeln!(all, "table {name}\nroutes {}", table.route_count()).unwrap();
        for &address in asked {
            let number = table.lookup(address).map_or(0, NextHop::get);
            let found = match table.longest_match(address) {
                Err(_) if number > 0 => format!("{number}/?"),
                Ok(Some((prefix, number))) => format!("{number}/{}", prefix.len()),
                _ => "-".into(),
            };
            writeln!(all, "{number} {found}").unwrap();
        }
        let Some(records) = table.records() else {
            continue;
        };
        let numbers = (1..=records.len() as u32).filter_map(NextHop::new);
        for number in numbers.take(50) {
            let texts = (0..records.columns().len()).map(|column| {
                let text = records.text(number, column);
                text.map_or("~".into(), |text| text.replace(['\t', '\n'], " "))
            });
            writeln!(all, "{}", texts.collect::<Vec<_>>().join("\t")).unwrap();
        }
    }
    Ok(all)
}

#[test]
fn changed_images_are_refused_or_answer_as_the_page_says() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("changed-images");
    let made = Command::new("python3")
        .arg(top.join("engines/vectors/changed.py"))
        .arg(&file)
        .status();
    assert!(made.expect("python3").success());
    let file = fs::read(file).unwrap();
    let mut rest = &file[..];
    let mut part = || {
        let (len, after) = rest.split_first_chunk()?;
        let (part, after) = after.split_at(u32::from_le_bytes(*len) as usize);
        rest = after;
        Some(part)
    };
    let asked = str::from_utf8(part().unwrap()).unwrap();
    let address = |hex: &str| match hex.len() {
        8 => IpAddr::from(u32::from_str_radix(hex, 16).unwrap().to_be_bytes()),
        _ => IpAddr::from(u128::from_str_radix(hex, 16).unwrap().to_be_bytes()),
    };
    let asked: Vec<_> = asked.lines().map(address).collect();
    let (mut images, mut differ) = (0, Vec::new());
    while let Some(name) = part() {
        let (image, expected) = (part().unwrap(), part().unwrap());
        let found = found_in(image, &asked);
        let refused = found.as_ref().err().map(ImageError::to_string);
        if found.unwrap_or_default().as_bytes() != expected {
            let expected = match expected {
                [] => "not refused",
                _ => "another answer",
            };
            let name = String::from_utf8_lossy(name);
            differ.push(format!(
                "{name}: {}",
                refused.as_deref().unwrap_or(expected)
            ));
        }
        images += 1;
    }
    assert!(images > 10_000);
    assert!(differ.is_empty(), "{}: {differ:#?}", differ.len());
}
