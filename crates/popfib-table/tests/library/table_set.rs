//! Several tables at once: their answers are those of each table by itself.

use popfib::family::Family;
use popfib::{Kernel, Prefix};
use popfib_table::{CellKind, FamilyTable, RecordsBuilder, Table, TableError, TableSet};

/// A number that looks random.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 31).wrapping_mul(0x7fb5_d329_728e_a185);
    (number ^ number >> 27).wrapping_mul(0x81da_def4_bc2d_d44d)
}

/// Small prefixes around few addresses, so that tables overlap.
fn table(seed: u64, routes: u64) -> Table {
    let route = |route| {
        let random = mixed(seed << 32 | route);
        let bits = random as u32 & 0x0f0f_00ff;
        let value = format!("hop {}", random >> 40 & 7);
        let ipv4 = Prefix::new_masked(bits, (random >> 33 & 31) as u8 + 1).unwrap();
        let ipv6 =
            Prefix::new_masked(u128::from(bits) << 64, (random >> 50 & 127) as u8 + 1).unwrap();
        [
            (u32::ip_prefix(ipv4), value.clone()),
            (u128::ip_prefix(ipv6), value),
        ]
    };
    (0..routes).flat_map(route).collect()
}

fn check<A: Family>(all: &Table, tables: &[Table], address: impl Fn(u64) -> A) {
    let set = all.set().unwrap();
    let of = |n: u64| match mixed(n) % 41 {
        40 => (TableSet::NONE, address(n)),
        table => (table as u32, address(n)),
    };
    let (ids, addresses): (Vec<u32>, Vec<A>) = (0..20_000).map(of).unzip();
    let mut numbers = vec![9; ids.len()];
    let mut matches = numbers.clone();
    for kernel in Kernel::list() {
        let asked = (&ids[..], &addresses[..]);
        set.numbers(false, kernel, asked, &mut numbers).unwrap();
        set.numbers(true, kernel, asked, &mut matches).unwrap();
        for ((&id, &address), (&number, &matched)) in
            ids.iter().zip(&addresses).zip(numbers.iter().zip(&matches))
        {
            let found = FamilyTable::<A>::matched(address, matched);
            assert_eq!(found.map_or(0, |(_, number)| number.get()), number);
            let found = found.map(|(prefix, n)| (prefix, all.value(n).unwrap().into_owned()));
            let wanted = tables.get(id as usize).and_then(|table| {
                let (prefix, n) = table.family::<A>().longest_match(address).unwrap()?;
                Some((prefix, table.value(n).unwrap().into_owned()))
            });
            assert_eq!(found, wanted);
        }
    }
}

#[test]
fn answers_are_those_of_each_table() {
    let tables: Vec<_> = (0..40).map(|n| table(n % 30, 3 * (n % 30))).collect();
    let named = tables.iter().cloned().enumerate();
    let all = Table::of_tables(named.map(|(n, table)| (format!("vrf {n}"), table))).unwrap();
    let set = all.set().unwrap();
    assert_eq!(set.id("vrf 39"), Some(39));
    assert_eq!(
        (set.id("vrf 40"), set.id("main"), set.id("")),
        (None, None, None)
    );
    // Equal values have one number, whatever their tables.
    assert_eq!(all.record_count(), Some(8));
    check::<u32>(&all, &tables, |n| mixed(n + 1) as u32 & 0x0f0f_00ff);
    check::<u128>(&all, &tables, |n| {
        (mixed(n + 1) as u128 & 0x0f0f_00ff) << 64
    });
}

#[test]
fn the_table_without_a_name_is_also_called_main() {
    let of = |names: [&str; 2]| {
        let tables = names.map(|name| (name.to_owned(), table(1, 4)));
        let all = Table::of_tables(tables).unwrap();
        let set = all.set().unwrap();
        ["", "main", "default", "254", "red"].map(|name| set.id(name))
    };
    assert_eq!(
        of(["red", ""]),
        [Some(1), Some(1), Some(1), Some(1), Some(0)]
    );
    assert_eq!(of(["main", ""]), [Some(1), Some(0), Some(1), Some(1), None]);
}

#[test]
fn columns_are_those_of_all_tables() {
    let of = |names: &[&str], kind, text: &str| {
        let mut builder = RecordsBuilder::new();
        for name in names {
            let column = builder.column(name).unwrap();
            builder.set(column, kind, text);
        }
        let number = builder.finish_record();
        let mut ribs = popfib::family::ByFamily::default();
        let ribs: &mut popfib::family::ByFamily<popfib_table::Ribs> = &mut ribs;
        ribs.ipv4.insert(Prefix::new(0, 0).unwrap(), number);
        Table::of_records(std::mem::take(ribs), builder.build().records)
    };
    let tables = [
        ("a".to_owned(), of(&["x", "y"], CellKind::Integer, "7")),
        ("b".to_owned(), of(&["y", "z"], CellKind::Float, "0.5")),
    ];
    let all = Table::of_tables(tables).unwrap();
    let records = all.records().unwrap();
    let columns: Vec<_> = records
        .columns()
        .iter()
        .map(|column| column.name())
        .collect();
    assert_eq!(columns, ["x", "y", "z"]);
    let mut numbers = [0; 2];
    let set = all.set().unwrap();
    let asked = (&[0, 1][..], &[1u32, 1][..]);
    set.numbers(false, Kernel::best(), asked, &mut numbers)
        .unwrap();
    let cells = numbers.map(|number| {
        [0, 1, 2].map(|column| all.value_in(popfib::NextHop::new(number).unwrap(), column))
    });
    let cells = cells.map(|cells| cells.map(|cell| cell.map(|cell| cell.into_owned())));
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        cells,
        [
            [text("7"), text("7"), None],
            [None, text("0.5"), text("0.5")]
        ]
    );
}

#[test]
fn an_image_without_routes_is_refused() {
    let mut writer = popfib::ImageWriter::new(0);
    writer.table("a", &[]).unwrap();
    let options = popfib::Options::default();
    table(1, 4)
        .write(&mut writer, &options, popfib::image::Keep::Prefixes)
        .unwrap();
    let image = popfib::Image::from_bytes(&writer.to_bytes()).unwrap();
    let table = Table::of_image(image.table(None).unwrap()).unwrap();
    let refused = Table::of_tables([("a".to_owned(), table)]);
    assert!(matches!(refused, Err(TableError::NoRoutes)));
}
