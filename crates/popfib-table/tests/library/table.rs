//! Tables of all kinds beside a linear scan of their routes: from a builder, from an image, from one without its routes,
//! from one without names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use popfib::family::Family;
use popfib::image::Keep;
use popfib::{Image, ImageWriter, IpPrefix, Kernel, NextHop, Options, Prefix, Rib};
use popfib_table::{AddressColumn, FamilyTable, PrefixText, Table, TableError};
use proptest::prelude::*;

/// What a table should answer.
#[derive(Clone, Debug, Default)]
struct Model(BTreeMap<IpPrefix, String>);

impl Model {
    fn covering(&self, prefix: IpPrefix) -> Vec<(IpPrefix, &str)> {
        let all = self
            .0
            .iter()
            .map(|(prefix, value)| (*prefix, value.as_str()));
        all.filter(|(route, _)| covers(*route, prefix)).collect()
    }

    fn longest_match(&self, address: IpAddr) -> Option<(IpPrefix, &str)> {
        self.covering(IpPrefix::host(address)).pop()
    }

    fn table(&self) -> Table {
        let routes = self.0.iter();
        // What a route replaces is gone.
        let twice = |(prefix, value): (&IpPrefix, &String)| {
            [(*prefix, "replaced".to_owned()), (*prefix, value.clone())]
        };
        routes.flat_map(twice).collect()
    }
}

fn covers(route: IpPrefix, prefix: IpPrefix) -> bool {
    match (route, prefix) {
        (IpPrefix::V4(route), IpPrefix::V4(prefix)) => route.covers(&prefix),
        (IpPrefix::V6(route), IpPrefix::V6(prefix)) => route.covers(&prefix),
        _ => false,
    }
}

/// The routes as an image, opened again.
fn image(table: &Table, keep: Keep) -> Table {
    let mut writer = ImageWriter::new(7);
    writer.table("model", &[]).unwrap();
    let written = table.write(&mut writer, &Options::default(), keep);
    written.unwrap();
    open(&writer)
}

/// The only table of an image.
fn open(writer: &ImageWriter) -> Table {
    let image = Image::from_bytes(&writer.to_bytes()).unwrap();
    Table::of_image(image.table(None).unwrap()).unwrap()
}

/// The first and last address of each route, and those beside them.
fn borders(model: &Model) -> Vec<IpAddr> {
    let mut borders = vec!["0.0.0.0".parse().unwrap(), "::".parse().unwrap()];
    for prefix in model.0.keys() {
        match *prefix {
            IpPrefix::V4(prefix) => {
                let (first, last) = (prefix.first(), prefix.last());
                let all = [first.wrapping_sub(1), first, last, last.wrapping_add(1)];
                borders.extend(all.map(Family::ip));
            }
            IpPrefix::V6(prefix) => {
                let (first, last) = (prefix.first(), prefix.last());
                let all = [first.wrapping_sub(1), first, last, last.wrapping_add(1)];
                borders.extend(all.map(Family::ip));
            }
        }
    }
    borders
}

fn text(table: &Table, number: NextHop) -> &str {
    match table.value(number) {
        Some(Cow::Borrowed(text)) => text,
        other => panic!("{other:?} of {number}"),
    }
}

/// One family in batches, by both Fibs.
fn check_batches<A: Family>(table: &Table, model: &Model, addresses: &[A]) {
    let family = table.family::<A>();
    let kernel = Kernel::best();
    let mut numbers = vec![9; addresses.len()];
    family
        .value_numbers(kernel, addresses, &mut numbers)
        .unwrap();
    for (&address, &number) in addresses.iter().zip(&numbers) {
        let wanted = model.longest_match(address.ip());
        let found = NextHop::new(number).map(|number| text(table, number));
        assert_eq!(found, wanted.map(|(_, value)| value), "{}", address.ip());
        assert_eq!(family.lookup(address), number);
    }
    if !table.has_prefixes() {
        return;
    }
    family
        .match_numbers(kernel, addresses, &mut numbers)
        .unwrap();
    for (&address, &number) in addresses.iter().zip(&numbers) {
        let wanted = model.longest_match(address.ip());
        let found = FamilyTable::<A>::matched(address, number);
        let value = FamilyTable::<A>::value_of_match(number);
        assert_eq!(value, found.map_or(0, |(_, number)| number.get()));
        let found = found.map(|(prefix, number)| (A::ip_prefix(prefix), text(table, number)));
        assert_eq!(found, wanted);
    }
    if !table.has_routes() {
        return;
    }
    let mut routes = Vec::new();
    let each = |prefix, number| routes.push((A::ip_prefix(prefix), text(table, number)));
    let numbered = family.number_routes(each).unwrap();
    numbered.numbers(kernel, addresses, &mut numbers);
    for (address, number) in addresses.iter().zip(numbers) {
        let found = (number as usize).checked_sub(1).map(|place| routes[place]);
        assert_eq!(found, model.longest_match(address.ip()));
    }
}

/// Everything that a table answers.
fn check(table: &Table, model: &Model) {
    let addresses = borders(model);
    let mut column = AddressColumn::new();
    addresses.iter().for_each(|address| column.push(*address));
    assert_eq!(table.route_count(), model.0.len());
    // Before and after a Fib is there.
    for _ in 0..2 {
        for &address in &addresses {
            let wanted = model.longest_match(address);
            let found = table.lookup(address).map(|number| text(table, number));
            assert_eq!(found, wanted.map(|(_, value)| value), "{address}");
            let found = table.longest_match(address);
            if table.has_prefixes() {
                let found = found.unwrap();
                assert_eq!(found.map(|(p, n)| (p, text(table, n))), wanted);
            }
        }
        check_batches(table, model, column.ipv4());
        check_batches(table, model, column.ipv6());
    }
    let hosts = addresses.iter().copied().map(IpPrefix::host);
    let prefixes: Vec<_> = model.0.keys().copied().chain(hosts).collect();
    if !table.has_routes() {
        return;
    }
    let all = table.routes().unwrap().map(|(p, n)| (p, text(table, n)));
    assert!(all.eq(model.0.iter().map(|(p, value)| (*p, value.as_str()))));
    for prefix in prefixes {
        let mut found = Vec::new();
        table.supernets(prefix, |route| found.push(route)).unwrap();
        let found: Vec<_> = found
            .into_iter()
            .map(|(p, n)| (p, text(table, n)))
            .collect();
        assert_eq!(found, model.covering(prefix));
    }
}

fn check_all(model: &Model) {
    let table = model.table();
    check(&image(&table, Keep::Routes), model);
    let prefixes = image(&table, Keep::Prefixes);
    assert!(prefixes.has_prefixes());
    assert_eq!(prefixes.has_routes(), prefixes.route_count() == 0);
    check(&prefixes, model);
    let bare = image(&table, Keep::Values);
    check(&table, model);
    check(&bare, model);
    if bare.route_count() == 0 {
        assert!(bare.has_routes());
        return;
    }
    assert!(!bare.has_routes());
    assert!(matches!(bare.routes().err(), Some(TableError::NoRoutes)));
    let is_there = |prefix: &IpPrefix| match prefix {
        IpPrefix::V4(_) => bare.ipv4().longest().is_ok(),
        IpPrefix::V6(_) => bare.ipv6().longest().is_ok(),
    };
    for prefix in model.0.keys() {
        assert!(!is_there(prefix));
        assert!(bare.longest_match(prefix.address()).is_err());
    }
}

fn prefix() -> impl Strategy<Value = IpPrefix> {
    // Few bits, so that routes nest.
    let ipv4 = (any::<u32>(), 0..=32u8)
        .prop_map(|(bits, len)| IpPrefix::V4(Prefix::new_masked(bits & 0xc003_8007, len).unwrap()));
    let ipv6 = (any::<u128>(), 0..=128u8).prop_map(|(bits, len)| {
        IpPrefix::V6(Prefix::new_masked(bits & (7 << 125 | 3 << 63 | 3), len).unwrap())
    });
    prop_oneof![ipv4, ipv6]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn answers_are_those_of_a_scan(
        routes in prop::collection::btree_map(prefix(), "[a-c]{0,2}", 0..40),
    ) {
        check_all(&Model(routes));
    }
}

#[test]
fn one_family_default_routes_and_hosts() {
    let of = |routes: &[&str]| {
        let routes = routes
            .iter()
            .map(|prefix| (prefix.parse().unwrap(), (*prefix).to_owned()));
        Model(routes.collect())
    };
    check_all(&Model::default());
    check_all(&of(&["0.0.0.0/0"]));
    check_all(&of(&["::/0"]));
    check_all(&of(&["0.0.0.0/0", "::/0"]));
    check_all(&of(&["255.255.255.255", "0.0.0.0", "::", "ffff::/16"]));
    let hosts = (0..300).map(|at| {
        (
            IpPrefix::host(IpAddr::from([10, 0, (at / 7) as u8, at as u8])),
            at.to_string(),
        )
    });
    check_all(&Model(hosts.collect()));
}

/// More values than 16 bits number.
#[test]
fn many_values() {
    let route = |at: u32| {
        let prefix = Prefix::new_masked(at << 12, 20).unwrap();
        (prefix.into(), format!("value {at}"))
    };
    let table: Table = (0..70_000).map(route).collect();
    let images = [Keep::Routes, Keep::Values].map(|keep| image(&table, keep));
    for table in [table].iter().chain(&images) {
        assert_eq!(table.record_count(), Some(70_000));
        let addresses: Vec<u32> = (0..70_000).map(|at| at << 12 | 99).collect();
        let mut numbers = vec![0; addresses.len()];
        let ipv4 = table.ipv4();
        ipv4.value_numbers(Kernel::best(), &addresses, &mut numbers)
            .unwrap();
        assert_eq!(
            (ipv4.value_count(), table.ipv6().value_count()),
            (70_000, 0)
        );
        for (at, number) in numbers.into_iter().enumerate() {
            let number = NextHop::new(number).unwrap();
            assert_eq!(table.value(number), Some(format!("value {at}").into()));
        }
    }
}

/// However many threads ask first, there is one Fib.
#[test]
fn threads_share_what_one_compiles() {
    let table = popfib_like();
    let fibs = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let fib = std::ptr::from_ref(table.ipv4().fib().unwrap()) as usize;
                    let longest = std::ptr::from_ref(table.ipv4().longest().unwrap()) as usize;
                    (fib, longest, table.lookup("10.1.2.3".parse().unwrap()))
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert!(fibs.iter().all(|fib| *fib == fibs[0]));
    assert_eq!(fibs[0].2, NextHop::new(1));
}

fn popfib_like() -> Table {
    let prefix = |at: u32| Prefix::new_masked(0x0a00_0000 + (at << 8), 24).unwrap();
    let routes = (0..5000).map(|at| (prefix(at).into(), "ten"));
    routes.collect()
}

/// Images of other programs: without names, without a family, without routes.
#[test]
fn images_without_names_or_a_family() {
    let mut writer = ImageWriter::new(0);
    writer.table("", &[]).unwrap();
    let seven = NextHop::new(7).unwrap();
    let routes: Rib<u32> = [("10.0.0.0/8".parse().unwrap(), seven)]
        .into_iter()
        .collect();
    writer
        .family(&routes, &Options::default(), Keep::Values)
        .unwrap();
    let table = open(&writer);
    assert_eq!(
        (
            table.record_count(),
            table.values().count(),
            table.value(seven)
        ),
        (None, 0, None)
    );
    assert_eq!(table.lookup("10.1.1.1".parse().unwrap()), Some(seven));
    assert_eq!(table.lookup("::1".parse().unwrap()), None);
    assert!(
        table
            .longest_match("::1".parse().unwrap())
            .unwrap()
            .is_none()
    );
    assert!(table.longest_match("10.1.1.1".parse().unwrap()).is_err());
    assert_eq!(
        (table.ipv4().route_count(), table.ipv6().route_count()),
        (1, 0)
    );
}

#[test]
fn prefixes_of_either_family_are_written_without_a_heap() {
    for prefix in [
        "0.0.0.0/0",
        "255.255.255.255/32",
        "::/0",
        "2001:db8::/32",
        "1:2:3:4:5:6:7:8/128",
    ] {
        let parsed: IpPrefix = prefix.parse().unwrap();
        assert_eq!(PrefixText::new(parsed).as_str(), prefix);
    }
}
