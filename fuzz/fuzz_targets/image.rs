//! Damaged images, their checksums made right again: either refused, or every
//! lookup by every kernel stays inside of them.
#![no_main]

#[path = "../../crates/popfib/tests/library/image/forms.rs"]
mod forms;

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use popfib::image::{ImageTable, Keep};
use popfib::{Address, Image, NextHop, Options, Size};
use popfib_table::Table;

#[derive(Arbitrary, Debug)]
struct Input {
    base: u8,
    edits: Vec<Edit>,
    /// Whether the length and the checksums are left as they are.
    keep_checksums: bool,
    seed: u64,
}

#[derive(Arbitrary, Debug)]
enum Edit {
    Flip {
        at: u16,
        bits: u8,
    },
    /// A whole word, where most of an image's numbers are.
    Word {
        at: u16,
        value: u32,
    },
    /// A bit of a word: pointers lead elsewhere, blocks become wide.
    Bit {
        at: u16,
        bit: u8,
    },
    /// One word to another place.
    Copy {
        from: u16,
        to: u16,
    },
    Cut {
        len: u16,
    },
}

/// Small images for keys of every width, one each: with and without routes, pages,
/// aggregation.
fn bases() -> &'static [Vec<u8>] {
    static BASES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    BASES.get_or_init(|| {
        let mut bases = Vec::new();
        add::<u8>(&mut bases);
        add::<u16>(&mut bases);
        add::<u32>(&mut bases);
        add::<u64>(&mut bases);
        add::<u128>(&mut bases);
        // Flat ones: several tables; long keys, whose root is large, most of it zero.
        bases.push(forms::two_tables(5));
        // Tables with names and blocks in common.
        bases.push(forms::common_tables(
            &forms::alike::<u32>(9),
            &[0, 2, 6],
            Keep::Routes,
        ));
        bases.push(forms::common_tables(
            &forms::alike::<u128>(9),
            &[0, 0, 6],
            Keep::Values,
        ));
        let long = Options::default().direct_bits(Some(24));
        let long = long.size(Size::Balanced);
        bases.push(forms::one_width::<u64>(3, &long, Keep::Values));
        // Records of every type.
        bases.push(include_bytes!("../../engines/vectors/records.fib").to_vec());
        bases
    })
}

fn add<A: Address>(bases: &mut Vec<Vec<u8>>) {
    let plain = Options::default();
    let bare = plain.clone().aggregation(false).direct_bits(Some(0));
    let direct = plain.clone().direct_bits(Some(5));
    bases.push(forms::one_width::<A>(3, &plain, Keep::Routes));
    bases.push(forms::one_width::<A>(12, &bare, Keep::Routes));
    bases.push(forms::one_width::<A>(12, &direct, Keep::Values));
    bases.push(forms::one_width::<A>(12, &direct, Keep::Prefixes));
    if A::WIDTH == 64 {
        // The root is large, most of it zero.
        let paged = plain.clone().direct_bits(Some(17));
        bases.push(forms::one_width::<A>(3, &paged, Keep::Values));
    }
}

fn edit(bytes: &mut Vec<u8>, edit: &Edit) {
    let len = bytes.len();
    if len < 4 {
        return;
    }
    // From the end too, where the arena of a large image is.
    let word_at = |at: u16| {
        let words = len / 4;
        let at = usize::from(at);
        let at = if at < 0x8000 {
            at % words
        } else {
            words - 1 - (at - 0x8000) % words
        };
        at * 4
    };
    match *edit {
        Edit::Flip { at, bits } => bytes[usize::from(at) % len] ^= bits,
        Edit::Word { at, value } => {
            bytes[word_at(at)..][..4].copy_from_slice(&value.to_le_bytes());
        }
        Edit::Bit { at, bit } => bytes[word_at(at) + usize::from(bit / 8 % 4)] ^= 1 << (bit % 8),
        Edit::Copy { from, to } => {
            let from = word_at(from);
            bytes.copy_within(from..from + 4, word_at(to));
        }
        Edit::Cut { len: shorter } => bytes.truncate(len - usize::from(shorter) % len),
    }
}

/// Reads all records, if they are sound.
fn records(image: &ImageTable) {
    let Ok(table) = Table::of_image(image) else {
        return;
    };
    let count = table.record_count().unwrap_or(0);
    let columns = table.records().map_or(0, |records| records.columns().len());
    for number in (1..=count).filter_map(NextHop::new) {
        for column in 0..columns {
            let _ = table.value_in(number, column);
        }
    }
}

fuzz_target!(|input: Input| {
    let bases = bases();
    let mut bytes = bases[usize::from(input.base) % bases.len()].clone();
    for one in &input.edits {
        edit(&mut bytes, one);
    }
    if !input.keep_checksums {
        forms::repair(&mut bytes);
    }
    if let Ok(image) = Image::from_bytes(&bytes) {
        forms::ask(&image, input.seed);
        image.tables().iter().for_each(records);
    }
});
