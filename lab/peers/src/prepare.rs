//! Makes the files of a table: routes, streams and the answers that are right.

use std::fs;
use std::path::Path;

use popfib::Rib;
use popfib::family::ByFamily;
use popfib_eval::{Traffic, generate, skewed_next_hops};
use popfib_formats::{Input, LoadOptions, RouteTable, Routes, load};
use serde_json::json;

use crate::exchange::Failure;
use crate::exchange::{self, Family, STREAMS};

/// Next hops of the built-in table, which comes with origin AS numbers: more
/// than 2 bytes hold, and no router has as many neighbours.
const NEXT_HOPS: u32 = 500;

/// Writes both families of `table`, a file or `default`, into folders of
/// `output`, and prints what they are, one JSON line a family.
pub(crate) fn prepare(table: &str, output: &Path, counts: (usize, usize)) -> Result<(), Failure> {
    if table == "default" {
        let table: RouteTable = load(Input::built_in(), &LoadOptions::new())?;
        let name = format!("{}, {NEXT_HOPS} next hops", table.name);
        let ByFamily { ipv4, ipv6 } = table.content.ribs;
        family(
            &name,
            &skewed_next_hops(&ipv4, NEXT_HOPS, 4),
            output,
            counts.0,
        )?;
        family(
            &name,
            &skewed_next_hops(&ipv6, NEXT_HOPS, 6),
            output,
            counts.1,
        )
    } else {
        let path = Path::new(table);
        let table = load::<Routes>(Input::open(path)?, &LoadOptions::new())?;
        let ByFamily { ipv4, ipv6 } = table.content.ribs;
        // The rows of a report need a name, not a place.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        family(&name, &ipv4, output, counts.0)?;
        family(&name, &ipv6, output, counts.1)
    }
}

fn family<A: Family>(
    table: &str,
    rib: &Rib<A>,
    output: &Path,
    count: usize,
) -> Result<(), Failure> {
    if rib.is_empty() {
        return Ok(());
    }
    let folder = output.join(A::FOLDER);
    fs::create_dir_all(&folder)?;
    exchange::write_table(&folder, rib)?;
    for name in STREAMS {
        let traffic: Traffic = name.parse()?;
        let addresses = generate(&traffic, rib, count, 1)?.ok_or("no traffic for this table")?;
        exchange::write_stream(&folder, name, &addresses, rib)?;
    }
    let highest = rib.iter().map(|(_, next_hop)| next_hop.get()).max();
    let line = json!({
        "table": table,
        "family": A::FOLDER,
        "folder": folder,
        "routes": rib.len(),
        "highest_next_hop": highest,
        "addresses": count,
    });
    println!("{line}");
    Ok(())
}
