//! Real tables, read whole and compared with a reading that shares no code.

use std::fs::{self, File};
use std::io::Read;
use std::net::IpAddr;

use crate::common::rounds::rounds;
use crate::common::{STRICT, load, shared_data};
use popfib_formats::{
    AddressBatch, AddressFile, AddressFormat, AddressOptions, AddressSource, Input,
};

fn unpack(path: &std::path::Path) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}

#[test]
fn every_table_is_read_as_it_is() {
    let Some(data) = shared_data("every_table_is_read_as_it_is") else {
        return;
    };
    let mut files = 0;
    for entry in fs::read_dir(data.join("tables")).unwrap() {
        let path = entry.unwrap().path();
        files += 1;
        // By default the smaller ones.
        if fs::metadata(&path).unwrap().len() > rounds(512 << 10, u64::MAX) {
            continue;
        }
        let table = load(&path, &STRICT).unwrap();
        let text = unpack(&path);
        let mut wanted: Vec<((IpAddr, u8), &str)> = text
            .lines()
            .map(|line| {
                let (prefix, next_hop) = line.split_once(' ').unwrap();
                let (address, len) = prefix.split_once('/').unwrap();
                ((address.parse().unwrap(), len.parse().unwrap()), next_hop)
            })
            .collect();
        wanted.sort_unstable();
        let seen = table
            .routes()
            .map(|(p, n)| ((p.address(), p.len()), table.value(n)));
        let wanted = wanted
            .into_iter()
            .map(|(route, value)| (route, value.into()));
        assert!(seen.eq(wanted), "{}", path.display());
        assert_eq!(
            (table.replaced, table.skipped),
            (0, 0),
            "{}",
            path.display()
        );
    }
    assert!(files >= 20, "{files} tables");
}

#[test]
fn every_trace_is_read_as_it_is() {
    let Some(data) = shared_data("every_trace_is_read_as_it_is") else {
        return;
    };
    let mut files = 0;
    for entry in fs::read_dir(data.join("traces")).unwrap() {
        let path = entry.unwrap().path();
        let text = unpack(&path);
        let wanted = text.lines().map(|line| line.parse::<IpAddr>().unwrap());
        let input = Input::open(&path).unwrap();
        let mut source =
            AddressFile::open(input, Some(AddressFormat::TEXT), &AddressOptions::default())
                .unwrap();
        let mut batch = AddressBatch::new();
        let mut seen = Vec::new();
        while source.next_batch(&mut batch).unwrap() {
            let found = batch.iter();
            seen.extend(found.map(|found| found.expect("each line is an address").0));
        }
        assert!(wanted.eq(seen), "{}", path.display());
        files += 1;
    }
    assert!(files >= 3, "{files} traces");
}
