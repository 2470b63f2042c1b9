//! Joins beside lookups in each of the tables, at every border of theirs.

use std::net::IpAddr;

use popfib::family::{ByFamily, Family};
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_table::{
    Cell, CellKind, Join, Lists, Records, RecordsBuilder, Ribs, Scalar, Table, TableError,
};
use proptest::prelude::*;

fn number(number: u32) -> NextHop {
    NextHop::new(number).unwrap()
}

/// A table of these routes, whose records have two columns, of which each may be absent.
fn table(routes: &[(IpPrefix, u8)]) -> Table {
    let mut builder = RecordsBuilder::new();
    let (asn, city) = (
        builder.column("asn").unwrap(),
        builder.column("city").unwrap(),
    );
    let mut ribs = ByFamily::<Ribs>::default();
    for &(prefix, value) in routes {
        if value & 1 == 0 {
            builder.set(asn, CellKind::Integer, &(value / 4).to_string());
        }
        if value & 3 > 0 {
            builder.set(city, CellKind::Text, &format!("city {}", value / 4));
        }
        let number = builder.finish_record();
        match prefix {
            IpPrefix::V4(prefix) => ribs.ipv4.insert(prefix, number),
            IpPrefix::V6(prefix) => ribs.ipv6.insert(prefix, number),
        };
    }
    Table::of_records(ribs, builder.build().records)
}

fn list(prefixes: &[IpPrefix]) -> Table {
    prefixes.iter().map(|prefix| (*prefix, "")).collect()
}

/// The first and last address of each prefix, and those beside it.
fn borders(prefixes: impl Iterator<Item = IpPrefix>) -> Vec<IpAddr> {
    fn of<A: Family + Into<u128> + TryFrom<u128>>(prefix: Prefix<A>) -> [A; 4] {
        let width = u32::from(A::WIDTH);
        let all = u128::MAX >> (128 - width);
        let first: u128 = prefix.address().into();
        let last = first | all.checked_shr(prefix.len().into()).unwrap_or(0);
        [
            first,
            last,
            first.wrapping_sub(1) & all,
            last.wrapping_add(1) & all,
        ]
        .map(|address| A::try_from(address).unwrap_or_else(|_| panic!("an address")))
    }
    prefixes
        .flat_map(|prefix| match prefix {
            IpPrefix::V4(prefix) => of(prefix).map(|address| IpAddr::V4(address.into())),
            IpPrefix::V6(prefix) => of(prefix).map(|address| IpAddr::V6(address.into())),
        })
        .collect()
}

fn cells(records: &Records, number: Option<NextHop>) -> Vec<Option<Cell<'_>>> {
    let columns = 0..records.columns().len();
    columns
        .map(|column| records.cell(number?, column))
        .collect()
}

/// Few long beginnings, so that prefixes lie in each other; /0 and hosts too.
fn prefix() -> impl Strategy<Value = IpPrefix> {
    let ipv4 = (0u32..4, any::<u8>(), 0u8..=32).prop_map(|(head, tail, len)| {
        let address = 0x0a00_0000 | head << 22 | u32::from(tail) << (u32::from(len) / 3);
        IpPrefix::V4(Prefix::new_masked(address, len).unwrap())
    });
    let ipv6 = (0u128..4, any::<u8>(), 0u8..=128).prop_map(|(head, tail, len)| {
        let address = 0x2001 << 112 | head << 90 | u128::from(tail) << (u32::from(len) / 3);
        IpPrefix::V6(Prefix::new_masked(address, len).unwrap())
    });
    prop_oneof![ipv4, ipv6]
}

fn routes() -> impl Strategy<Value = Vec<(IpPrefix, u8)>> {
    // Of the four remainders, one would be a record without values.
    let value = any::<u8>().prop_map(|value| value | 1);
    let value = prop_oneof![value, any::<u8>().prop_map(|value| value & !1 | 2)];
    proptest::collection::vec((prefix(), value), 0..25)
}

proptest! {
    #[test]
    fn a_joined_table_answers_as_its_tables(
        a in routes(),
        b in routes(),
        lists in proptest::collection::vec(proptest::collection::vec(prefix(), 0..12), 0..5),
        lengths: bool,
    ) {
        let named = |index: usize| format!("list-{index}");
        let of_lists: Vec<_> = lists.iter().map(|prefixes| list(prefixes)).collect();
        let (first, second) = (table(&a), table(&b));
        let mut all = Lists::new();
        for (n, prefixes) in lists.iter().enumerate() {
            all.add(&named(n), prefixes.iter().copied());
        }
        let joined = Join::new()
            .lengths(lengths)
            .table("a", &first)
            .unwrap()
            .table("b", &second)
            .unwrap()
            .lists("bad", all)
            .build()
            .unwrap();
        let records = joined.records().unwrap();
        let prefixes = a.iter().chain(&b).map(|(prefix, _)| *prefix);
        let prefixes: Vec<_> = prefixes.chain(lists.iter().flatten().copied()).collect();
        let mut addresses = borders(prefixes.into_iter());
        addresses.extend(["10.1.2.3", "::1", "255.255.255.255"].map(|text| text.parse::<IpAddr>().unwrap()));
        for address in addresses {
            let found = joined.longest_match(address).unwrap();
            let mut given = cells(records, found.map(|(_, number)| number)).into_iter();
            let mut longest = None;
            for table in [&first, &second] {
                let wanted = table.longest_match(address).unwrap();
                let wanted_cells = cells(table.records().unwrap(), wanted.map(|(_, number)| number));
                prop_assert_eq!(given.by_ref().take(2).collect::<Vec<_>>(), wanted_cells, "{}", address);
                if lengths {
                    let length = wanted.map(|(prefix, _)| Cell::Scalar(Scalar::Integer(prefix.len().into())));
                    prop_assert_eq!(given.next().unwrap(), length);
                }
                longest = longest.max(wanted.map(|(prefix, _)| prefix.len()));
            }
            let containing = of_lists.iter().enumerate();
            let containing = containing.filter_map(|(n, list)| Some((n, list.longest_match(address).unwrap()?.0)));
            let containing: Vec<_> = containing.collect();
            let names: Vec<_> = containing.iter().map(|(n, _)| named(*n)).collect();
            let shown = given.next().unwrap().map(|cell| cell.to_string());
            prop_assert_eq!(shown.unwrap_or_default(), names.join(","), "{}", address);
            let of_lists = containing.iter().map(|(_, prefix)| prefix.len()).max();
            if lengths {
                let length = of_lists.map(|len| Cell::Scalar(Scalar::Integer(len.into())));
                prop_assert_eq!(given.next().unwrap(), length);
            }
            prop_assert_eq!(found.map(|(prefix, _)| prefix.len()), longest.max(of_lists));
        }
    }

    #[test]
    fn filled_values_are_those_of_the_next_shorter_prefix_with_one(routes in routes()) {
        let own = table(&routes);
        let joined = Join::new().fill(true).table("t", &own).unwrap().build().unwrap();
        let records = own.records().unwrap();
        for address in borders(routes.iter().map(|(prefix, _)| *prefix)) {
            // All routes that contain the address, the shortest first.
            let mut covering = Vec::new();
            if let Some((prefix, _)) = own.longest_match(address).unwrap() {
                own.supernets(prefix, |(_, number)| covering.push(number)).unwrap();
            }
            for column in 0..2 {
                let cells = covering.iter().rev();
                let wanted = cells.copied().find_map(|number| records.cell(number, column));
                let number = joined.lookup(address);
                let given = number.and_then(|number| joined.records().unwrap().cell(number, column));
                prop_assert_eq!(given, wanted, "{}", address);
            }
        }
    }
}

#[test]
fn names_of_joined_columns() {
    let text = |value: &str| -> Table {
        let prefix = "10.0.0.0/8".parse().unwrap();
        [(prefix, value)].into_iter().collect()
    };
    let names = |join: Join| -> Vec<String> {
        let table = join.build().unwrap();
        let columns = table.records().unwrap().columns();
        columns
            .iter()
            .map(|column| column.name().to_owned())
            .collect()
    };
    let several = table(&["10.0.0.0/8"].map(|prefix| (prefix.parse().unwrap(), 3)));
    let join = Join::new()
        .table("asn", &text("7"))
        .and_then(|join| join.table("geo", &several))
        .unwrap();
    assert_eq!(names(join.clone()), ["asn", "geo.asn", "geo.city"]);
    // One column that has a name keeps it.
    let mut city = several.clone();
    city.select(&["city".to_owned()]).unwrap();
    assert_eq!(
        names(Join::new().table("geo", &city).unwrap()),
        ["geo.city"]
    );
    let wanted = ["asn", "asn.length", "geo.asn", "geo.city", "geo.length"];
    assert_eq!(names(join.lengths(true)), wanted);
    let twice = Join::new()
        .table("a", &text("1"))
        .and_then(|join| join.table("a", &text("2"))?.build());
    let Err(TableError::DuplicateColumn(name)) = twice else {
        panic!("two tables of one name");
    };
    assert_eq!(name, "a");
    // Of several columns, one may be called as another table with its column is.
    let twice = Join::new()
        .table("geo.asn", &text("1"))
        .and_then(|join| join.table("geo", &several)?.build());
    assert_eq!(
        twice.unwrap_err().to_string(),
        "two columns are called geo.asn"
    );
}

#[test]
fn tables_may_be_empty_and_equal_answers_are_one_record() {
    let empty = Join::new().build().unwrap();
    assert_eq!(empty.route_count(), 0);
    let nothing = Join::new()
        .table("a", &Table::default())
        .unwrap()
        .lists("b", Lists::new());
    assert_eq!(nothing.build().unwrap().route_count(), 0);
    // Two lists that are equal, and a thousand prefixes of each: one record.
    let prefixes: Vec<_> = (0..1_000u32)
        .map(|n| format!("10.{}.{}.0/24", n / 256, n % 256).parse().unwrap())
        .collect();
    let mut lists = Lists::new();
    for name in ["x", "y"] {
        lists.add(name, prefixes.iter().copied());
    }
    let joined = Join::new().lists("bad", lists).build().unwrap();
    assert_eq!(
        (joined.route_count(), joined.record_count()),
        (1_000, Some(1))
    );
    assert_eq!(joined.value(number(1)).as_deref(), Some("x,y"));
}
