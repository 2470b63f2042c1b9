//! SHA-256 (FIPS 180-4), by which a content security policy names the script that may run.
//!
//! Written here, as its only use is in twenty kilobytes a page; a crate for it would bring five more.

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const ROUNDS: [u32; 64] = {
    let mut rounds = [0; 64];
    let (mut prime, mut count) = (2u128, 0);
    while count < 64 {
        if is_prime(prime) {
            // The cube root of prime * 2^96 is that of the prime times 2^32.
            rounds[count] = root(prime << 96, 3) as u32;
            count += 1;
        }
        prime += 1;
    }
    rounds
};

/// The same of the square roots of the first 8.
const START: [u32; 8] = {
    let mut start = [0; 8];
    let (mut prime, mut count) = (2u128, 0);
    while count < 8 {
        if is_prime(prime) {
            start[count] = root(prime << 64, 2) as u32;
            count += 1;
        }
        prime += 1;
    }
    start
};

const fn is_prime(number: u128) -> bool {
    let mut divisor = 2;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

/// The highest number whose `power`, 2 or 3, is not above `of`.
const fn root(of: u128, power: u32) -> u128 {
    let (mut low, mut high) = (0u128, 1 << 38);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if middle.pow(power) <= of {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    let mut state = START;
    for block in padded.chunks_exact(64) {
        compress(&mut state, block);
    }
    let mut digest = [0; 32];
    for (to, word) in digest.chunks_exact_mut(4).zip(state) {
        to.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

fn compress(state: &mut [u32; 8], block: &[u8]) {
    let mut words = [0u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    let turned = |word: u32, by: [u32; 3]| by.map(|by| word.rotate_right(by));
    for at in 16..64 {
        let [a, b, _] = turned(words[at - 15], [7, 18, 0]);
        let [c, d, _] = turned(words[at - 2], [17, 19, 0]);
        words[at] = words[at - 16]
            .wrapping_add(a ^ b ^ words[at - 15] >> 3)
            .wrapping_add(words[at - 7])
            .wrapping_add(c ^ d ^ words[at - 2] >> 10);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (round, word) in ROUNDS.iter().zip(words) {
        let [s1, s2, s3] = turned(e, [6, 11, 25]);
        let first = h
            .wrapping_add(s1 ^ s2 ^ s3)
            .wrapping_add(e & f ^ !e & g)
            .wrapping_add(*round)
            .wrapping_add(word);
        let [s1, s2, s3] = turned(a, [2, 13, 22]);
        let second = (s1 ^ s2 ^ s3).wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (sum, value) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *sum = sum.wrapping_add(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let hex = |text: &[u8]| sha256(text).map(|byte| format!("{byte:02x}")).concat();
        for (text, digest) in [
            (
                "",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
            (
                "abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ] {
            assert_eq!(hex(text.as_bytes()), digest);
        }
        assert_eq!(
            hex(&[b'a'; 1_000_000]),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
    }
}
