//! Damaged images, their checksums made right again: either refused, or every
//! lookup by every kernel stays inside of them.
#![no_main]

#[path = "../../crates/popfib/tests/image/forms.rs"]
mod forms;

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use popfib::{Image, Options};

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

/// Images of all widths of keys: with and without routes, pages, aggregation.
fn bases() -> &'static [Vec<u8>] {
    static BASES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    BASES.get_or_init(|| {
        let plain = Options::default();
        let bare = plain.clone().aggregation(false).direct_bits(Some(0));
        let direct = plain.clone().direct_bits(Some(5));
        vec![
            forms::every_width(1, 3, &plain, true),
            forms::every_width(2, 12, &plain, false),
            forms::every_width(3, 12, &bare, true),
            forms::every_width(4, 40, &direct, false),
        ]
    })
}

fn edit(bytes: &mut Vec<u8>, edit: &Edit) {
    let len = bytes.len();
    if len < 4 {
        return;
    }
    let word_at = |at: u16| usize::from(at) * 4 % (len / 4 * 4);
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
    }
});
