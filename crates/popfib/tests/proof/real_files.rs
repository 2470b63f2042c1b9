//! The real tables of `shared/data`, where it lies beside the project. Where it does not, each test says that
//! it is skipped.

use crate::oracle::Route;
use crate::probes::bits;
use flate2::read::MultiGzDecoder;
use popfib::IpPrefix;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// A table of both families, each sorted; next hops are numbered from 1 as they appear.
pub(crate) struct Table {
    pub(crate) v4: Vec<Route>,
    pub(crate) v6: Vec<Route>,
    pub(crate) next_hops: usize,
}

/// The file of that name in `shared/data/tables` beside the project.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = manifest
        .ancestors()
        .map(|folder| folder.join("shared/data"))
        .find(|folder| folder.is_dir());
    if data.is_none() {
        println!("skipped: {name}: no shared data");
    }
    Some(data?.join("tables").join(name))
}

/// Reads a table; `None`, with a word on standard output, without shared data.
pub(crate) fn load(name: &str) -> Option<Table> {
    let path = find(name)?;
    let file = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut numbers = HashMap::new();
    let (mut v4, mut v6) = (Vec::new(), Vec::new());
    for line in BufReader::new(MultiGzDecoder::new(file)).lines() {
        let line = line.unwrap();
        let (prefix, value) = line.split_once(' ').expect("PREFIX VALUE");
        let next = numbers.len() as u32 + 1;
        let next_hop = *numbers.entry(value.to_owned()).or_insert(next);
        match prefix.parse().unwrap_or_else(|e| panic!("{line}: {e}")) {
            IpPrefix::V4(p) => v4.push(Route::new(bits(p.address()), p.len(), next_hop)),
            IpPrefix::V6(p) => v6.push(Route::new(bits(p.address()), p.len(), next_hop)),
        }
    }
    for family in [&mut v4, &mut v6] {
        // The last of two lines for one prefix wins, as in the Rib.
        family.reverse();
        family.sort_by_key(|r| (r.bits, r.len));
        family.dedup_by_key(|r| (r.bits, r.len));
    }
    Some(Table {
        v4,
        v6,
        next_hops: numbers.len(),
    })
}
