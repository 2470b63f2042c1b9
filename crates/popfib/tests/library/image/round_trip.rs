//! What went into an image comes out of it.

use popfib::image::{ImageFamily, ImageTable, Keep, Source};
use popfib::{
    Address, CompileError, Fib, FibSet, Image, ImageWriter, NextHop, Options, Prefix, Rib, Size,
    longest,
};

use super::forms::{Random, alike, ask, common_tables, every_width, family, rib, two_tables};

fn options() -> impl Iterator<Item = Options> {
    [None, Some(0), Some(3), Some(8)]
        .into_iter()
        .flat_map(|direct_bits| {
            [false, true].map(|on| Options::default().direct_bits(direct_bits).aggregation(on))
        })
}

fn round_trip<A: Address>(seed: u64, count: usize, next_hops: u64, options: &Options) {
    let random = &mut Random(seed);
    let rib: Rib<A> = rib(random, count, next_hops);
    let mut writer = ImageWriter::new(7);
    writer.table("routes.txt", &[]).unwrap();
    writer.family(&rib, options, Keep::Routes).unwrap();
    let image = Image::from_bytes(&writer.to_bytes()).unwrap();
    let of_image = image.table(None).unwrap();
    assert_eq!(
        (of_image.name(), image.created(), of_image.name_count()),
        ("routes.txt", 7, None)
    );
    assert!(image.writer().starts_with("popfib "), "{}", image.writer());
    let table = family::<A>(&image);
    assert_eq!(table.rib(), rib);
    assert_eq!(table.route_count(), rib.len());
    assert!(table.routes().eq(rib.iter()));
    assert_eq!(&table.options(), options);
    let fib = Fib::<A>::compile(&rib, options).unwrap();
    assert_eq!(table.fib().unwrap().node_count(), fib.node_count());
    assert_eq!(table.fib().unwrap().leaf_count(), fib.leaf_count());
    assert_eq!(table.fib().unwrap().direct_bits(), fib.direct_bits());
    assert_eq!(table.fib().unwrap().bytes(), fib.bytes());
    ask(&image, seed);
    let borders = rib
        .iter()
        .flat_map(|(prefix, _)| [prefix.first(), prefix.last()]);
    let random: Vec<A> = (0..200).map(|_| random.address()).collect();
    for address in borders.chain(random) {
        let wanted = rib.longest_match(address);
        assert_eq!(table.longest_match(address), wanted);
        let next_hop = wanted.map_or(0, |(_, next_hop)| next_hop.get());
        assert_eq!(table.fib().unwrap().lookup(address), next_hop);
    }
    let random = &mut Random(!seed);
    let others = (0..100).map(|_| {
        let len = random.below(u64::from(A::WIDTH) + 1) as u8;
        Prefix::new_masked(random.address::<A>(), len).unwrap()
    });
    let others: Vec<_> = others.collect();
    let there = rib.iter().map(|(prefix, _)| prefix);
    for prefix in there.chain(others) {
        assert_eq!(table.get(prefix), rib.get(prefix));
        assert!(table.supernets(prefix).eq(rib.supernets(prefix)));
        assert!(table.subnets(prefix).eq(rib.subnets(prefix)));
    }
}

#[test]
fn tables_of_every_width_come_back() {
    for (seed, options) in options().enumerate() {
        for count in [0, 1, 2, 40, 500] {
            for next_hops in [1, 40, 16_000_000] {
                let seed = (seed * 1000 + count) as u64;
                round_trip::<u8>(seed, count, next_hops, &options);
                round_trip::<u16>(seed, count, next_hops, &options);
                round_trip::<u32>(seed, count, next_hops, &options);
                round_trip::<u64>(seed, count, next_hops, &options);
                round_trip::<u128>(seed, count, next_hops, &options);
            }
        }
    }
}

#[test]
fn default_direct_bits_of_larger_tables_come_back() {
    round_trip::<u32>(1, 70_000, 1000, &Options::default());
    round_trip::<u128>(1, 20_000, 1000, &Options::default());
}

/// Tables whose blocks are stored once, of a third of the length, answer as each by itself.
fn blocks_in_common<A: Address>(bits: &[u8]) {
    let ribs = alike::<A>(2000);
    for keep in [Keep::Values, Keep::Routes] {
        let bytes = common_tables(&ribs, bits, keep);
        let image = Image::from_bytes(&bytes).unwrap();
        ask(&image, 1);
        let own = |rib: &Rib<A>, bits: &u8| {
            common_tables(std::slice::from_ref(rib), &[*bits], keep).len()
        };
        let own: usize = ribs
            .iter()
            .zip(bits)
            .map(|(rib, bits)| own(rib, bits))
            .sum();
        let arrays: usize = bits.iter().map(|bits| 4 << bits.min(&16)).sum();
        if keep == Keep::Values {
            assert!(
                (bytes.len() - arrays) * 2 < own - arrays,
                "{} {own}",
                bytes.len()
            );
        }
        let mut random = Random(2);
        let families = || (image.tables().iter()).map(|table| table.family::<A>().unwrap());
        let fibs: Vec<_> = families().map(ImageFamily::fib).collect();
        let set = FibSet::of_fibs(&fibs).unwrap().expect("one arena");
        assert_eq!((set.len(), set.check()), (3, Ok(())));
        assert!(set.bytes() < bytes.len());
        for (number, (table, rib)) in (0..).zip(image.tables().iter().zip(&ribs)) {
            let family = table.family::<A>().unwrap();
            assert_eq!(table.next_hop_name(NextHop::MIN), Some("a"));
            assert!(
                table.has_common_records()
                    && family
                        .routes()
                        .eq(rib.iter().filter(|_| keep == Keep::Routes))
            );
            let borders = rib.iter().map(|(prefix, _)| prefix.last());
            for address in borders.chain((0..1000).map(|_| random.address())) {
                let wanted = rib.longest_match(address);
                let next_hop = wanted.map_or(0, |(_, next_hop)| next_hop.get());
                assert_eq!(family.lookup(address), next_hop);
                assert_eq!(set.lookup(number, address), next_hop);
                assert!(keep == Keep::Values || family.longest_match(address) == wanted);
            }
        }
    }
}

#[test]
fn tables_have_blocks_in_common() {
    blocks_in_common::<u16>(&[0, 6, 6]);
    blocks_in_common::<u32>(&[6, 6, 12]);
    blocks_in_common::<u64>(&[12, 12, 12]);
    blocks_in_common::<u128>(&[24, 24, 24]);
    // No set of Fibs with arenas of their own, or of other bits; none in place of one is a table without routes.
    let ribs = alike::<u32>(9);
    let fib = |rib, bits| Fib::compile(rib, &Options::default().direct_bits(Some(bits))).unwrap();
    let fibs = [fib(&ribs[0], 6), fib(&ribs[1], 6), fib(&ribs[2], 5)];
    let all: Vec<_> = fibs.iter().map(Some).collect();
    for wrong in [&all[..2], &all[2..], &[None], &[]] {
        assert!(FibSet::of_fibs(wrong).unwrap().is_none());
    }
    let set = FibSet::of_fibs(&[None, all[1]]).unwrap().unwrap();
    assert_eq!((set.len(), set.lookup(0, 1 << 31)), (2, 0));
    // A table that is alone, one with names of its own, and one without routes keep what they have.
    let one = common_tables(&alike::<u32>(50)[..1], &[6], Keep::Routes);
    ask(&Image::from_bytes(&one).unwrap(), 1);
    let mut writer = ImageWriter::new(0);
    writer.names(["a", "b", "c"]).unwrap();
    let mut ribs = alike::<u32>(50);
    ribs.push(Rib::new());
    for (number, rib) in ribs.iter().enumerate() {
        writer.table(&number.to_string(), &[]).unwrap();
        if number == 1 {
            writer.names(["x", "y", "z"]).unwrap();
        }
        let family = writer.family(rib, &Options::default(), Keep::Routes);
        family.unwrap();
    }
    let image = Image::from_bytes(&writer.to_bytes()).unwrap();
    ask(&image, 1);
    for (table, rib) in image.tables().iter().zip(&ribs) {
        assert!(table.family::<u32>().unwrap().routes().eq(rib.iter()));
    }
    let names = image
        .tables()
        .iter()
        .map(|table| table.next_hop_name(NextHop::MIN));
    assert!(names.eq(["a", "x", "a", "a"].map(Some)));
}

#[test]
fn equal_tables_make_equal_bytes() {
    let options = Options::default();
    let bytes = every_width(3, 50, &options, Keep::Routes);
    assert_eq!(bytes, every_width(3, 50, &options, Keep::Routes));
    // From other memory of the same content: names and routes in any order of calls.
    let random = &mut Random(5);
    let (a, b) = (rib::<u32>(random, 50, 9), rib::<u128>(random, 50, 9));
    let names: Vec<String> = (0..9).map(|n| n.to_string()).collect();
    let names = || names.iter().map(String::as_str);
    let mut one = ImageWriter::new(0);
    one.table("", &[]).unwrap();
    one.names(names()).unwrap();
    one.family(&a, &options, Keep::Routes).unwrap();
    one.family(&b, &options, Keep::Values).unwrap();
    let mut other = ImageWriter::new(0);
    other.table("", &[]).unwrap();
    other.family(&b, &options, Keep::Values).unwrap();
    other.family(&a, &options, Keep::Routes).unwrap();
    other.names(names()).unwrap();
    assert_eq!(one.to_bytes(), other.to_bytes());
}

#[test]
fn without_routes_only_next_hops_are_answered() {
    let bytes = every_width(1, 60, &Options::default(), Keep::Values);
    assert!(bytes.len() < every_width(1, 60, &Options::default(), Keep::Routes).len());
    let image = Image::from_bytes(&bytes).unwrap();
    ask(&image, 1);
    let table = family::<u32>(&image);
    assert!(!table.has_routes() && table.longest_fib().is_none());
    assert!(table.routes().next().is_none() && table.rib().is_empty());
    assert_eq!((table.longest_match(0), table.route(1)), (None, None));
    assert!(table.route_count() > 0 && table.next_hop_count() > 0);
}

/// What an image keeps of a table makes no difference to what it answers.
#[test]
fn of_each_that_is_kept_the_answers_are_those_of_the_routes() {
    fn of<A: Address>(seed: u64, count: usize) {
        let random = &mut Random(seed);
        let rib: Rib<A> = rib(random, count, 30);
        let borders = rib
            .iter()
            .flat_map(|(prefix, _)| [prefix.first(), prefix.last()]);
        let others: Vec<A> = (0..50).map(|_| random.address()).collect();
        let addresses: Vec<_> = borders.chain(others).collect();
        let mut lengths = Vec::new();
        for keep in [Keep::Values, Keep::Prefixes, Keep::Routes] {
            let mut writer = ImageWriter::new(7);
            writer.table("routes.txt", &[]).unwrap();
            writer.family(&rib, &Options::default(), keep).unwrap();
            let bytes = writer.to_bytes();
            lengths.push(bytes.len());
            let image = Image::from_bytes(&bytes).unwrap();
            ask(&image, seed);
            let table = family::<A>(&image);
            assert_eq!(table.has_routes(), keep == Keep::Routes);
            assert_eq!(table.longest_fib().is_some(), keep != Keep::Values);
            assert_eq!(table.fib().is_some(), keep != Keep::Prefixes);
            assert_eq!(table.route_count(), rib.len());
            for &address in &addresses {
                let wanted = rib.longest_match(address);
                let next_hop = wanted.map_or(0, |(_, next_hop)| next_hop.get());
                assert_eq!(table.lookup(address), next_hop);
                let wanted = wanted.filter(|_| keep != Keep::Values);
                assert_eq!(table.longest_match(address), wanted);
            }
        }
        assert!(count < 3 || lengths.is_sorted(), "{lengths:?}");
    }
    for count in [0, 1, 60, 2_000] {
        of::<u8>(1, count);
        of::<u16>(2, count);
        of::<u32>(3, count);
        of::<u64>(4, count);
        of::<u128>(5, count);
    }
}

#[test]
fn names_are_those_of_the_next_hops() {
    let image = Image::from_bytes(&every_width(1, 60, &Options::default(), Keep::Routes)).unwrap();
    let table = image.table(None).unwrap();
    assert_eq!(table.name_count(), Some(40));
    let name = |n| table.next_hop_name(NextHop::new(n).unwrap());
    assert_eq!(name(1), Some("peer-0-é"));
    assert_eq!(name(40), Some("peer-39-é"));
    assert_eq!((name(41), name(u32::MAX)), (None, None));

    let mut writer = ImageWriter::new(0);
    writer.table("", &[]).unwrap();
    writer.names(["", "a", ""]).unwrap();
    let image = Image::from_bytes(&writer.to_bytes()).unwrap();
    let table = image.table(None).unwrap();
    let names = [1, 2, 3].map(|n| table.next_hop_name(NextHop::new(n).unwrap()));
    assert_eq!(names, [Some(""), Some("a"), Some("")]);
    assert!(table.family::<u32>().is_none());
}

#[test]
fn next_hops_without_a_name_are_refused() {
    let rib = rib::<u32>(&mut Random(1), 50, 9);
    let highest = rib
        .iter()
        .map(|(_, next_hop)| next_hop.get())
        .max()
        .unwrap();
    let names = vec!["x"; highest as usize];
    let mut writer = ImageWriter::new(0);
    writer.table("", &[]).unwrap();
    writer.names(names[1..].iter().copied()).unwrap();
    let error = writer
        .family(&rib, &Options::default(), Keep::Routes)
        .unwrap_err();
    let max = highest - 1;
    assert_eq!(
        error,
        CompileError::NextHop {
            next_hop: highest,
            max
        }
    );
    let mut writer = ImageWriter::new(0);
    writer.table("", &[]).unwrap();
    writer
        .family(&rib, &Options::default(), Keep::Routes)
        .unwrap();
    assert!(writer.names(names[1..].iter().copied()).is_err());
    assert!(writer.names(names.iter().copied()).is_ok());
}

#[test]
fn fibs_and_tables_outlive_their_image() {
    let image = Image::from_bytes(&every_width(1, 60, &Options::default(), Keep::Routes)).unwrap();
    let fib = family::<u128>(&image).fib().unwrap().clone();
    let wanted = family::<u128>(&image).rib();
    let table = image.table(None).unwrap().clone();
    drop(image);
    assert_eq!(table.family::<u128>().unwrap().rib(), wanted);
    drop(table);
    for (prefix, _) in wanted.iter() {
        let next_hop = wanted.lookup(prefix.last()).unwrap();
        assert_eq!(fib.lookup(prefix.last()), next_hop.get());
    }
}

#[test]
fn next_hops_that_leave_no_room_for_a_length_have_no_routes() {
    let mut rib = Rib::<u128>::new();
    let max = longest::max_next_hop::<u128>();
    let everything = Prefix::new(0, 0).unwrap();
    rib.insert(everything, NextHop::new(max).unwrap());
    let mut writer = ImageWriter::new(0);
    writer.table("", &[]).unwrap();
    writer
        .family(&rib, &Options::default(), Keep::Routes)
        .unwrap();
    let image = Image::from_bytes(&writer.to_bytes()).unwrap();
    let found = family::<u128>(&image).longest_match(5);
    assert_eq!(found, rib.longest_match(5));

    rib.insert(everything, NextHop::new(max + 1).unwrap());
    let mut writer = ImageWriter::new(0);
    writer.table("", &[]).unwrap();
    let empty = writer.to_bytes();
    let error = writer
        .family(&rib, &Options::default(), Keep::Routes)
        .unwrap_err();
    let next_hop = max + 1;
    assert_eq!(error, CompileError::NextHop { next_hop, max });
    assert_eq!(writer.to_bytes(), empty);
    writer
        .family(&rib, &Options::default(), Keep::Values)
        .unwrap();
    let image = Image::from_bytes(&writer.to_bytes()).unwrap();
    assert_eq!(family::<u128>(&image).fib().unwrap().lookup(5), max + 1);
}

/// Flat tables, those of long keys too, in an image as they are compiled.
#[test]
fn flat_tables_come_back() {
    let flat = |bits| {
        Options::default()
            .direct_bits(Some(bits))
            .size(Size::Balanced)
    };
    for count in [0, 1, 40, 500] {
        for next_hops in [1, 40, 16_000_000] {
            round_trip::<u8>(1, count, next_hops, &flat(2));
            round_trip::<u16>(3, count, next_hops, &flat(10));
        }
    }
    round_trip::<u32>(5, 2000, 1000, &flat(18));
    round_trip::<u64>(6, 2000, 1000, &flat(24));
    round_trip::<u128>(7, 2000, 1000, &flat(24));
}

#[test]
fn each_table_of_an_image_is_found_by_its_name() {
    let image = Image::from_bytes(&two_tables(12)).unwrap();
    ask(&image, 1);
    let names: Vec<_> = image.tables().iter().map(ImageTable::name).collect();
    assert_eq!(names, ["balanced", "smallest"]);
    let [balanced, smallest] =
        ["balanced", "smallest"].map(|name| image.table(Some(name)).unwrap());
    assert_eq!(
        (balanced.name_count(), smallest.name_count()),
        (Some(3), None)
    );
    let source = &balanced.sources()[0];
    let told = [
        &source.name,
        &source.description,
        &source.licence,
        &source.date,
    ];
    assert_eq!(told, ["a.txt", "two tables", "CC0", "2026-11-26"]);
    let sources = [Source::named("b.txt"), Source::named("c.txt")];
    assert_eq!(smallest.sources(), sources);
    let random = &mut Random(3);
    let ribs = [3, 40].map(|next_hops| rib::<u8>(random, 12, next_hops));
    for (table, rib) in [balanced, smallest].into_iter().zip(ribs) {
        let family = table.family::<u8>().unwrap();
        for address in 0..=255 {
            assert_eq!(family.longest_match(address), rib.longest_match(address));
        }
    }
    let error = |name| image.table(name).unwrap_err().to_string();
    let wanted = "an image of 2 tables, of which one is used: \"balanced\", \"smallest\"";
    assert_eq!(error(None), wanted);
    assert_eq!(
        error(Some("x")),
        "no table \"x\": \"balanced\", \"smallest\""
    );
}

#[test]
fn metadata_are_lines_whatever_they_say() {
    let mut writer = ImageWriter::new(0);
    let source = Source {
        description: "a\tb\nname\tother".into(),
        ..Source::named("")
    };
    writer.table("é\n", &[source]).unwrap();
    assert!(writer.table("é\n", &[]).is_err());
    let image = Image::from_bytes(&writer.to_bytes()).unwrap();
    let table = image.table(None).unwrap();
    assert_eq!(table.name(), "é\u{fffd}");
    let told = &table.sources()[0].description;
    assert_eq!(told, "a\u{fffd}b\u{fffd}name\u{fffd}other");
    let none = Image::from_bytes(&ImageWriter::new(0).to_bytes());
    assert_eq!(none.unwrap_err().to_string(), "an image without tables");
}

/// An image of version 3, kept as long as that is read. Made by
/// `every_width(1, 12, &Options::default(), Keep::Routes)`.
#[test]
fn the_image_of_before_is_read() {
    let image = Image::from_bytes(include_bytes!("../../data/v3.fib")).unwrap();
    let of_image = image.table(None).unwrap();
    assert_eq!(
        (of_image.name(), image.created()),
        ("every width", 1_779_000_000)
    );
    assert_eq!(image.writer(), "popfib 0.1.0");
    assert_eq!(of_image.next_hop_name(NextHop::MIN), Some("peer-0-é"));
    ask(&image, 1);
    let random = &mut Random(1);
    assert_eq!(family::<u8>(&image).rib(), rib(random, 12, 40));
    assert_eq!(family::<u16>(&image).rib(), rib(random, 12, 40));
    let ipv4 = rib::<u32>(random, 12, 40);
    assert_eq!(family::<u32>(&image).rib(), ipv4);
    assert_eq!(family::<u64>(&image).rib(), rib(random, 12, 40));
    assert_eq!(family::<u128>(&image).rib(), rib(random, 12, 40));
    for (prefix, _) in ipv4.iter() {
        for address in [prefix.first(), prefix.last()] {
            assert_eq!(
                family::<u32>(&image).longest_match(address),
                ipv4.longest_match(address)
            );
        }
    }
}
