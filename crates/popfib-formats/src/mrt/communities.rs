//! Communities (RFC 1997) and large communities (RFC 8092): from bytes to text and back.
//!
//! `fd e8 00 01` is `65000:1`; a large one is three numbers of 4 bytes, `4200000000:1:2`. A few have names.

use super::bytes::WireFlaw;

/// Those that `bgpdump` writes by name.
const WRITTEN: [(u32, &str); 3] = [
    (0xffff_ff01, "no-export"),
    (0xffff_ff02, "no-advertise"),
    (0xffff_ff03, "local-AS"),
];

/// Further names that other programs have (IANA's registry, ExaBGP).
const READ: [(u32, &str); 5] = [
    (0xffff_ff03, "no-export-subconfed"),
    (0xffff_ff04, "nopeer"),
    (0xffff_ff04, "no-peer"),
    (0xffff_029a, "blackhole"),
    (0xffff_0000, "graceful-shutdown"),
];

/// Writes communities as `bgpdump` does, with blanks between them.
pub(super) fn write(value: &[u8], to: &mut String) -> Result<(), WireFlaw> {
    let (all, []) = value.as_chunks::<4>() else {
        return Err(LENGTH);
    };
    for &bytes in all {
        let number = u32::from_be_bytes(bytes);
        blank(to);
        match WRITTEN.iter().find(|(known, _)| *known == number) {
            Some((_, name)) => to.push_str(name),
            None => join([number >> 16, number & 0xffff], to),
        }
    }
    Ok(())
}

/// Writes large communities, with blanks between them.
pub(super) fn write_large(value: &[u8], to: &mut String) -> Result<(), WireFlaw> {
    let (numbers, []) = value.as_chunks::<4>() else {
        return Err(LENGTH);
    };
    let (all, []) = numbers.as_chunks::<3>() else {
        return Err(LENGTH);
    };
    for parts in all {
        blank(to);
        join(parts.map(u32::from_be_bytes), to);
    }
    Ok(())
}

const LENGTH: WireFlaw = "communities of a length that does not fit";

fn blank(to: &mut String) {
    if !to.is_empty() {
        to.push(' ');
    }
}

/// Writes numbers with colons between them. Formatted as other texts are, they would take most of the time of a path.
fn join<const N: usize>(numbers: [u32; N], to: &mut String) {
    for (index, number) in numbers.into_iter().enumerate() {
        to.push_str(if index > 0 { ":" } else { "" });
        to.push_str(itoa::Buffer::new().format(number));
    }
}

/// Adds the bytes of a community as text to `plain`, or to `large` if it is one of three numbers.
pub(super) fn read(word: &str, plain: &mut Vec<u8>, large: &mut Vec<u8>) -> Result<(), WireFlaw> {
    const NONE: WireFlaw = "not a community";
    let mut names = WRITTEN.iter().chain(&READ);
    if let Some((number, _)) = names.find(|(_, name)| *name == word) {
        plain.extend(number.to_be_bytes());
        return Ok(());
    }
    let parts: Vec<u32> = word
        .split(':')
        .map(|part| part.parse().map_err(|_| NONE))
        .collect::<Result<_, _>>()?;
    match parts[..] {
        [high @ ..=0xffff, low @ ..=0xffff] => plain.extend((high << 16 | low).to_be_bytes()),
        [a, b, c] => large.extend([a, b, c].map(u32::to_be_bytes).as_flattened()),
        _ => return Err(NONE),
    }
    Ok(())
}
