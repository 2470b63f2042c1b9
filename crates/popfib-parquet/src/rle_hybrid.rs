//! Small numbers in, Parquet's hybrid of run lengths and packed bits out, for levels and for places in dictionaries (Parquet's encodings,
//! "RLE").

/// So many equal values are worth a run of their own among packed ones.
const RUN: usize = 24;

/// The bits that a value up to `max` takes, at least one: a width of zero is allowed, but not every reader knows that.
pub(crate) fn width(max: usize) -> u32 {
    (usize::BITS - max.leading_zeros()).max(1)
}

/// Appends `values`, each of `width` bits, 1 to 32.
pub(crate) fn encode(values: &[u32], width: u32, out: &mut Vec<u8>) {
    let mut at = 0;
    // What is not yet written; only whole eights can be packed before a run.
    let mut start = 0;
    while at + RUN <= values.len() {
        let first = values[at];
        // The last one is compared first, which is enough for nearly all that are no run.
        if values[at + 7] == first && values[at..at + 7].iter().all(|&value| value == first) {
            let run = values[at..].iter().take_while(|&&value| value == first);
            let len = run.count();
            if len >= RUN {
                pack(&values[start..at], width, out);
                repeat(first, len, width, out);
                at += len;
                start = at;
                continue;
            }
        }
        at += 8;
    }
    pack(&values[start..], width, out);
}

/// Appends `value`, `count` times.
pub(crate) fn repeat(value: u32, count: usize, width: u32, out: &mut Vec<u8>) {
    varint((count as u64) << 1, out);
    out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Appends `values` as packed bits, with zeros up to a multiple of eight values.
fn pack(values: &[u32], width: u32, out: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    let eights = values.len().div_ceil(8);
    varint((eights as u64) << 1 | 1, out);
    let end = out.len() + eights * width as usize;
    let (whole, rest) = values.as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    // A constant width, so that shifts and lengths are constants, too.
    macro_rules! pack_each {
        ($($width:literal)*) => {
            match width {
                $($width => {
                    for eight in whole {
                        out.extend_from_slice(&pack_eight::<$width>(eight)[..$width]);
                    }
                    out.extend_from_slice(&pack_eight::<$width>(&last)[..$width]);
                })*
                _ => unreachable!("a value has up to 32 bits"),
            }
        };
    }
    pack_each!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
    // Without the last eight if all eights were whole.
    out.truncate(end);
}

/// The bits of eight values, as many bytes as each has bits.
#[inline(always)]
fn pack_eight<const WIDTH: u32>(values: &[u32; 8]) -> [u8; 32] {
    let two = |at: usize| u64::from(values[at]) | u64::from(values[at + 1]) << WIDTH;
    let four = |at| u128::from(two(at)) | u128::from(two(at + 2)) << (2 * WIDTH);
    let (mut low, mut high) = (four(0), four(4));
    if WIDTH < 32 {
        low |= high << (4 * WIDTH);
        high >>= 128 - 4 * WIDTH;
    }
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&low.to_le_bytes());
    bytes[16..].copy_from_slice(&high.to_le_bytes());
    bytes
}

/// Appends `value` in groups of seven bits, the lowest first.
pub(crate) fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the bytes say by the format's description, value by value.
    fn decode(bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut bytes = bytes.iter().copied();
        let mut values = Vec::new();
        while values.len() < count {
            let (mut header, mut shift) = (0u64, 0);
            loop {
                let byte = bytes.next().unwrap();
                header |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            if header & 1 == 0 {
                let value = (0..width.div_ceil(8))
                    .map(|byte| u32::from(bytes.next().unwrap()) << (8 * byte))
                    .sum();
                values.resize(values.len() + (header >> 1) as usize, value);
            } else {
                let packed: Vec<u8> = bytes
                    .by_ref()
                    .take((header >> 1) as usize * width as usize)
                    .collect();
                for n in 0..(header >> 1) as usize * 8 {
                    let bit = |k| u32::from(packed[k / 8] >> (k % 8) & 1);
                    let first = n * width as usize;
                    values.push((0..width as usize).map(|b| bit(first + b) << b).sum());
                }
            }
        }
        assert_eq!(bytes.next(), None, "nothing after the last run");
        // Only the last eight may be filled up.
        assert!(values.len() < count + 8);
        assert!(values[count..].iter().all(|&value| value == 0));
        values.truncate(count);
        values
    }

    #[test]
    fn runs_and_packed_values_come_back() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            (state >> 33) as u32
        };
        for width in 1..=32 {
            let mask = u32::MAX >> (32 - width);
            for round in 0..60 {
                let mut values = Vec::new();
                for _ in 0..random() % 8 {
                    let value = random() << 1 | random() & 1;
                    match round % 3 {
                        0 => values.extend((0..random() % 100).map(|_| value & mask)),
                        1 => values.extend((0..random() % 100).map(|_| random() & mask)),
                        _ => values.extend((0..random() % 40).map(|_| value & mask)),
                    }
                }
                let mut bytes = Vec::new();
                encode(&values, width, &mut bytes);
                assert_eq!(decode(&bytes, width, values.len()), values, "{width}");
            }
        }
    }

    #[test]
    fn a_run_is_short_and_widths_are_least() {
        let mut bytes = Vec::new();
        encode(&[5; 100_000], 3, &mut bytes);
        assert_eq!(bytes.len(), 4);
        let widths = [0, 1, 2, 3, 4, 255, 256].map(width);
        assert_eq!(widths, [1, 1, 2, 2, 3, 8, 9]);
    }
}
