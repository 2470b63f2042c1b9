//! Small images of random tables, damage to them, and lookups in whatever can be
//! opened. The fuzz target `image` is made of this too.

use popfib::image::Source;
use popfib::image::{ImageFamily, ImageTable, Keep};
use popfib::{Address, Fib, Image, ImageWriter, Kernel, NextHop, Options, longest};
use popfib::{Prefix, Rib, Size};

/// SplitMix64: small, seedable, the same on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    pub(crate) fn address<A: Address>(&mut self) -> A {
        A::truncate(u128::from(self.bits()) << 64 | u128::from(self.bits()))
    }
}

/// A table of `count` random prefixes, half of them inside the one before.
pub(crate) fn rib<A: Address>(random: &mut Random, count: usize, next_hops: u64) -> Rib<A> {
    let mut last = Prefix::DEFAULT_ROUTE;
    (0..count)
        .map(|_| {
            let inside = random.below(2) == 0;
            let least = if inside { last.len() } else { 0 };
            let len = least + random.below(u64::from(A::WIDTH - least) + 1) as u8;
            let mut bits = random.address::<A>();
            if inside {
                bits = last.address() | bits & !A::mask(last.len());
            }
            last = Prefix::new_masked(bits, len).unwrap();
            let next_hop = 1 + random.below(next_hops) as u32;
            (last, NextHop::new(next_hop).unwrap())
        })
        .collect()
}

/// An image with one table.
#[allow(dead_code)] // by the fuzz target only
pub(crate) fn one_width<A: Address>(count: usize, options: &Options, keep: Keep) -> Vec<u8> {
    let mut writer = ImageWriter::new(1_779_000_000);
    writer.table("one width", &[]).unwrap();
    writer.names(["a", "b", "c", "d", "e"]).unwrap();
    let rib = rib::<A>(&mut Random(1), count, 5);
    writer.family(&rib, options, keep).unwrap();
    writer.to_bytes()
}

/// An image with two tables of so many routes, of which the first is flat.
pub(crate) fn two_tables(count: usize) -> Vec<u8> {
    let random = &mut Random(3);
    let mut writer = ImageWriter::new(0);
    let source = Source {
        description: "two tables".into(),
        licence: "CC0".into(),
        date: "2026-11-26".into(),
        ..Source::named("a.txt")
    };
    writer.table("balanced", &[source]).unwrap();
    writer.names(["a", "b", "c"]).unwrap();
    let routes = rib::<u8>(random, count, 3);
    let options = Options::default().direct_bits(Some(2)).size(Size::Balanced);
    writer.family(&routes, &options, Keep::Routes).unwrap();
    let sources = [Source::named("b.txt"), Source::named("c.txt")];
    writer.table("smallest", &sources).unwrap();
    let routes = rib::<u8>(random, count, 40);
    let options = Options::default().direct_bits(Some(8));
    writer.family(&routes, &options, Keep::Prefixes).unwrap();
    writer.to_bytes()
}

/// The Ribs of tables that are nearly the same.
pub(crate) fn alike<A: Address>(count: usize) -> Vec<Rib<A>> {
    let mut random = Random(7);
    let first: Rib<A> = rib(&mut random, count, 3);
    (0..3)
        .map(|_| {
            first
                .iter()
                .chain(rib(&mut random, 1 + count / 50, 3).iter())
                .collect()
        })
        .collect()
}

/// An image of these tables, each with direct bits, which have names and blocks in common.
pub(crate) fn common_tables<A: Address>(ribs: &[Rib<A>], bits: &[u8], keep: Keep) -> Vec<u8> {
    let mut writer = ImageWriter::new(0);
    writer.names(["a", "b", "c"]).unwrap();
    for (number, (rib, bits)) in ribs.iter().zip(bits).enumerate() {
        writer.table(&number.to_string(), &[]).unwrap();
        let options = Options::default().direct_bits(Some(*bits));
        writer.family(rib, &options, keep).unwrap();
    }
    writer.to_bytes()
}

/// An image with a table for each width of keys.
#[allow(dead_code)] // not by the fuzz target
pub(crate) fn every_width(seed: u64, count: usize, options: &Options, keep: Keep) -> Vec<u8> {
    let mut random = Random(seed);
    let mut writer = ImageWriter::new(1_779_000_000);
    writer.table("every width", &[]).unwrap();
    let names: Vec<String> = (0..40).map(|n| format!("peer-{n}-é")).collect();
    writer.names(names.iter().map(String::as_str)).unwrap();
    let random = &mut random;
    writer
        .family(&rib::<u8>(random, count, 40), options, keep)
        .unwrap();
    writer
        .family(&rib::<u16>(random, count, 40), options, keep)
        .unwrap();
    writer
        .family(&rib::<u32>(random, count, 40), options, keep)
        .unwrap();
    writer
        .family(&rib::<u64>(random, count, 40), options, keep)
        .unwrap();
    writer
        .family(&rib::<u128>(random, count, 40), options, keep)
        .unwrap();
    writer.to_bytes()
}

/// CRC-32 as in zip and PNG, from its definition.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    static TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < 256 {
            let mut crc = index as u32;
            let mut bit = 0;
            while bit < 8 {
                crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
                bit += 1;
            }
            table[index] = crc;
            index += 1;
        }
        table
    };
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)]
    })
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// The section table: where each line is, and the range of its section, if that is
/// inside of the image.
pub(crate) fn sections(bytes: &[u8]) -> Vec<(usize, std::ops::Range<usize>)> {
    let count = bytes
        .get(12..16)
        .map_or(0, |b| u32::from_le_bytes(b.try_into().unwrap()));
    (0..count as usize)
        .map(|index| 64 + 32 * index)
        .take_while(|at| at + 32 <= bytes.len())
        .filter_map(|at| {
            let start = u64_at(bytes, at + 8);
            let end = start.checked_add(u64_at(bytes, at + 16))?;
            (end <= bytes.len()).then_some((at, start..end))
        })
        .collect()
}

/// Makes length and checksums right again, so that damage is met by what they hide.
pub(crate) fn repair(bytes: &mut [u8]) {
    if bytes.len() < 64 {
        return;
    }
    bytes[..8].copy_from_slice(b"\x89POPFIB\n");
    let len = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&len.to_le_bytes());
    for (at, range) in sections(bytes) {
        let checksum = crc32(&bytes[range]);
        bytes[at + 24..at + 28].copy_from_slice(&checksum.to_le_bytes());
    }
    let count = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    // Beyond what 32 bits count, too.
    if let Some(table) = bytes.get(64..count.saturating_mul(32).saturating_add(64)) {
        let checksum = crc32(table);
        bytes[24..28].copy_from_slice(&checksum.to_le_bytes());
    }
    let checksum = crc32(&bytes[..60]);
    bytes[60..64].copy_from_slice(&checksum.to_le_bytes());
}

/// Asks all tables of an image, by every kernel, for random addresses and those
/// around its routes. Returns all answers.
pub(crate) fn ask(image: &Image, seed: u64) -> Vec<u32> {
    let mut answers = Vec::new();
    let random = &mut Random(seed);
    for table in image.tables() {
        ask_family::<u8>(table, random, &mut answers);
        ask_family::<u16>(table, random, &mut answers);
        ask_family::<u32>(table, random, &mut answers);
        ask_family::<u64>(table, random, &mut answers);
        ask_family::<u128>(table, random, &mut answers);
    }
    answers
}

fn ask_family<A: Address>(of: &ImageTable, random: &mut Random, answers: &mut Vec<u32>) {
    let Some(table) = of.family::<A>() else {
        return;
    };
    // Enough for the kernels to overlap lookups, twice.
    let mut addresses: Vec<A> = (0..70).map(|_| random.address()).collect();
    for (prefix, next_hop) in table.routes().take(20) {
        addresses.extend([prefix.first(), prefix.last()]);
        addresses.extend(prefix.first().checked_previous());
        addresses.extend(prefix.last().checked_next());
        // Every next hop of a validated image has its name, if there are any.
        assert_eq!(
            of.next_hop_name(next_hop).is_some(),
            of.name_count().is_some()
        );
    }
    let max = of
        .name_count()
        .or(of.record_count())
        .unwrap_or(u32::MAX >> 1);
    let wide: Vec<_> = addresses
        .iter()
        .map(|address| table.lookup(*address))
        .collect();
    assert!(wide.iter().all(|answer| *answer <= max));
    if let Some(fib) = table.fib() {
        assert_eq!(ask_fib(fib, &addresses, max), wide);
    }
    if let Some(fib) = table.longest_fib() {
        let numbers = ask_fib(fib, &addresses, u32::MAX);
        for (number, address) in numbers.into_iter().zip(&addresses) {
            let found = table.longest_match(*address);
            assert_eq!(found, longest::matched(*address, number));
            assert!(found.is_none_or(|(_, next_hop)| next_hop.get() <= max));
        }
    }
    answers.extend(wide);
}

/// The answers of every kernel, which are the same and at most `max`.
fn ask_fib<A: Address>(fib: &Fib<A>, addresses: &[A], max: u32) -> Vec<u32> {
    fib.check().unwrap();
    let mut one_by_one = Vec::new();
    for address in addresses {
        one_by_one.push(fib.lookup(*address));
    }
    assert!(one_by_one.iter().all(|answer| *answer <= max));
    for kernel in Kernel::list() {
        let mut batch = vec![0; addresses.len()];
        fib.lookup_batch_with(kernel, addresses, &mut batch);
        assert!(batch == one_by_one, "{kernel}");
    }
    one_by_one
}

/// The family of keys of type `A` of the only table of an image, which has one.
#[allow(dead_code)] // not by the fuzz target
pub(crate) fn family<A: Address>(image: &Image) -> &ImageFamily<A> {
    let table = image.table(None).expect("one table");
    table.family().expect("a family for each width")
}
