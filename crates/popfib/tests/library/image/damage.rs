//! No bytes make an image that answers wrongly or reads out of bounds.

use crate::common::rounds::rounds;
use popfib::image::Keep;
use popfib::{Image, ImageError, Options};

use super::forms::{
    Random, alike, ask, common_tables, crc32, every_width, repair, sections, two_tables,
};

fn small() -> Vec<u8> {
    every_width(1, 5, &Options::default(), Keep::Routes)
}

/// Those that are damaged byte for byte.
fn all_small() -> [Vec<u8>; 3] {
    let common = common_tables(&alike::<u32>(9), &[0, 2, 6], Keep::Prefixes);
    [small(), two_tables(5), common]
}

fn error(bytes: &[u8]) -> String {
    let error = Image::from_bytes(bytes).unwrap_err().to_string();
    assert!(!error.contains('\n'));
    error
}

#[test]
fn every_damaged_byte_is_noticed() {
    for good in all_small() {
        assert!(good.len() < 8192, "{}", good.len());
        for at in 0..good.len() {
            let mut bytes = good.clone();
            for flip in [1, 0x80, 0xff] {
                bytes[at] = good[at] ^ flip;
                assert!(Image::from_bytes(&bytes).is_err(), "byte {at} ^ {flip}");
            }
        }
    }
}

/// Nothing but sound images gets through, even with all checksums right. (That
/// lookups stay inside them is for the address sanitizer to tell.)
#[test]
fn damage_behind_right_checksums_is_noticed_or_sound() {
    let mut random = Random(1);
    for good in all_small() {
        let mut opened = 0;
        for at in 0..good.len() {
            // By default they take turns.
            let flips = [1, 0x10, 0x80, 0xff].into_iter().skip(at % rounds(4, 1));
            for flip in flips.step_by(rounds(4, 1)) {
                let mut bytes = good.clone();
                bytes[at] ^= flip;
                repair(&mut bytes);
                if let Ok(image) = Image::from_bytes(&bytes) {
                    ask(&image, random.bits());
                    opened += 1;
                }
            }
        }
        // Letters of names, other next hops, other addresses of hosts: not all is noticed.
        assert!(opened > good.len() / rounds(40, 10), "{opened}");
    }
}

/// The numbers that a FIB's sizes are reckoned from, which may overflow.
#[test]
fn every_value_of_every_byte_of_a_fibs_header_is_refused_or_sound() {
    const FIB_HEADER: u16 = 16;
    let good = small();
    let headers: Vec<_> = (sections(&good).into_iter())
        .filter(|(at, _)| kind_at(&good, *at) == FIB_HEADER)
        .collect();
    assert_eq!(headers.len(), 5);
    for at in headers.into_iter().flat_map(|(_, range)| range) {
        for value in 0..=255 {
            let mut bytes = good.clone();
            bytes[at] = value;
            repair(&mut bytes);
            if let Ok(image) = Image::from_bytes(&bytes) {
                ask(&image, 1);
            }
        }
    }
}

#[test]
fn every_cut_and_addition_is_noticed() {
    let good = small();
    for len in 0..good.len() {
        let text = error(&good[..len]);
        match len {
            0..8 => assert_eq!(text, "not a popfib image"),
            8..64 => assert_eq!(text, format!("cut off at byte {len} of 64")),
            _ => assert_eq!(text, format!("cut off at byte {len} of {}", good.len())),
        }
        // Cut where the header knows of it.
        let mut bytes = good[..len].to_vec();
        repair(&mut bytes);
        assert!(Image::from_bytes(&bytes).is_err(), "{len}");
    }
    let longer = [&good[..], b"x"].concat();
    assert_eq!(
        error(&longer),
        format!("1 bytes follow the image's {}", good.len())
    );
}

#[test]
fn other_files_and_versions_are_refused_by_name() {
    assert_eq!(error(b"10.0.0.0/8 1\n"), "not a popfib image");
    assert_eq!(error(&[0; 100]), "not a popfib image");
    let mut bytes = small();
    // The version before this one, and one to come.
    bytes[8] = 2;
    let again = "this program reads version 3: make it again with `popfib compile`";
    assert_eq!(error(&bytes), format!("an image of version 2.0; {again}"));
    bytes[8] = 4;
    bytes[10] = 3;
    let wanted = format!("an image of version 4.3; {again}");
    assert_eq!(error(&bytes), wanted);
    repair(&mut bytes);
    assert_eq!(error(&bytes), wanted);
    // As a machine of the other byte order would write it.
    bytes[8..12].copy_from_slice(&[0, 1, 0, 0]);
    assert!(
        error(&bytes).starts_with("an image of version 256.0"),
        "{}",
        error(&bytes)
    );
}

#[test]
fn a_later_minor_version_and_unknown_sections_are_read() {
    let mut bytes = small();
    bytes[10] = 9;
    repair(&mut bytes);
    assert!(Image::from_bytes(&bytes).is_ok());

    // A section of an unknown kind after the others, of the only table, for keys of an unknown width.
    let old = small();
    let count = sections(&old).len();
    let (old_head, new_head) = (64 + 32 * count, 64 + 32 * (count + 1));
    let shift = new_head.next_multiple_of(64) - old_head.next_multiple_of(64);
    let mut bytes = old[..old_head].to_vec();
    for (at, range) in sections(&old) {
        let start = (range.start + shift) as u64;
        bytes[at + 8..at + 16].copy_from_slice(&start.to_le_bytes());
    }
    let content = b"from the future";
    let start = (old.len() + shift).next_multiple_of(64);
    bytes.extend(1u32.to_le_bytes());
    for number in [256, 99] {
        bytes.extend(u16::to_le_bytes(number));
    }
    bytes.extend((start as u64).to_le_bytes());
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend([0; 8]);
    bytes.resize(new_head.next_multiple_of(64), 0);
    bytes.extend(&old[old_head.next_multiple_of(64)..]);
    bytes.resize(start, 0);
    bytes.extend(content);
    bytes[12..16].copy_from_slice(&(count as u32 + 1).to_le_bytes());
    repair(&mut bytes);
    let image = Image::from_bytes(&bytes).unwrap();
    assert_eq!(ask(&image, 1), ask(&Image::from_bytes(&old).unwrap(), 1));
    // Its bytes are verified all the same.
    *bytes.last_mut().unwrap() ^= 1;
    let text = error(&bytes);
    assert!(text.contains("section of kind 99, 256 bits"), "{text}");
}

#[test]
fn errors_name_the_place() {
    let good = small();
    let at = |key_bits: u16, kind: u16| {
        let line = |at: usize| (u16_at(&good, at + 4), kind_at(&good, at));
        let all = sections(&good);
        let found = all
            .into_iter()
            .find(|(at, _)| line(*at) == (key_bits, kind));
        found.expect("such a section").1.start
    };
    let u32_max = u32::MAX.to_le_bytes();
    let broken = |start: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[start..start + value.len()].copy_from_slice(value);
        repair(&mut bytes);
        error(&bytes)
    };
    let arena = at(32, 18);
    let text = broken(arena, &[9]);
    assert!(
        text.starts_with(&format!("byte {} (IPv4 FIB arena): ", arena)),
        "{text}"
    );
    let text = broken(at(128, 17), &u32_max);
    assert!(
        text.contains("(IPv6 FIB arena): pointer 0xffffffff leads nowhere"),
        "{text}"
    );
    let text = broken(at(32, 34), &u32_max);
    assert!(
        text.contains("(IPv4 route addresses): route 1 is malformed"),
        "{text}"
    );
    let text = broken(at(32, 33), &[33]);
    assert!(
        text.contains("route 1 is malformed or out of order"),
        "{text}"
    );
    let text = broken(at(32, 16) + 6, &[1]);
    assert!(
        text.ends_with(
            "(IPv4 FIB description): size fastest is no longer read; compile the table again"
        ),
        "{text}"
    );
    let text = broken(at(0, 65), &u32_max);
    assert!(text.contains("(ends of texts of column 1)"), "{text}");
    let text = broken(at(0, 64), &[0xff]);
    assert!(text.contains("the texts are not UTF-8"), "{text}");
    let text = broken(at(0, 4), &u32_max);
    assert!(text.contains("another length than its column"), "{text}");
    let text = broken(at(0, 1), b"\n");
    assert!(text.contains("(metadata): a line is malformed"), "{text}");
    // Without repair it is the checksum.
    let mut bytes = good.clone();
    bytes[arena + 5] ^= 4;
    let wanted = format!(
        "byte {} (IPv4 FIB arena): the checksum does not match",
        arena
    );
    assert_eq!(error(&bytes), wanted);
    let ImageError::Broken {
        offset, section, ..
    } = Image::from_bytes(&bytes).unwrap_err()
    else {
        panic!("another error");
    };
    assert_eq!((offset, section.as_str()), (arena as u64, "IPv4 FIB arena"));
}

/// Of the three sections of a FIB, and of routes, all are there or none: nothing of a family is left out quietly.
#[test]
fn a_family_that_lacks_a_section_is_refused() {
    for (good, keep) in [Keep::Values, Keep::Prefixes, Keep::Routes]
        .map(|keep| (every_width(1, 5, &Options::default(), keep), keep))
    {
        // In its place one of an unknown kind, which is skipped.
        for (line, _) in sections(&good) {
            let is_of_addresses = [32, 128].contains(&u16_at(&good, line + 4));
            let unknown = match kind_at(&good, line) {
                first @ (16 | 32 | 48) => first - 1,
                last @ (18 | 34 | 50) => last + 1,
                _ => continue,
            };
            let mut bytes = good.clone();
            bytes[line + 6..line + 8].copy_from_slice(&unknown.to_le_bytes());
            repair(&mut bytes);
            if !is_of_addresses {
                // Readers of addresses skip it.
                assert!(Image::from_bytes(&bytes).is_ok());
                continue;
            }
            let text = error(&bytes);
            assert!(text.contains("(section table): no "), "{keep:?}: {text}");
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

/// The kind of the section that this line of the section table is of.
fn kind_at(bytes: &[u8], line: usize) -> u16 {
    u16_at(bytes, line + 6)
}

#[test]
fn checksums_are_those_of_zip() {
    // The check value that every catalogue of CRCs has.
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    let good = small();
    let mut repaired = good.clone();
    repair(&mut repaired);
    assert!(good == repaired);
}
