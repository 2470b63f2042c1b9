//! Addresses in place of others, for data that is handed on: an address in, another out, always the same for the same. By
//! Crypto-PAn, which keeps prefixes, or cut to their first bits.
//!
//! Crypto-PAn (Xu, Fan, Ammar and Moon, 2002) flips each bit of an address by a bit that AES makes of all bits before it. So two
//! addresses have as many first bits in common as before, and nobody without the key can tell which they were. Each bit takes a
//! block of AES; those of the first 16 bits are made once for all addresses, and the others of an address many at a time.

use std::fmt;
use std::net::IpAddr;

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Block};

/// Puts other addresses in the place of addresses, always the same in that of the same.
#[derive(Clone)]
pub struct Anonymizer(AnonymizeMethod);

/// How addresses are replaced.
#[derive(Clone)]
enum AnonymizeMethod {
    CryptoPan(Box<CryptoPan>),
    /// By these masks.
    Cut {
        ipv4: u32,
        ipv6: u128,
    },
}

impl Anonymizer {
    /// The length of a key in bytes.
    pub const KEY_LENGTH: usize = 32;

    /// The key that a file has: its bytes, or hexadecimal digits, after `0x` if that is there. `None` if it is neither, or bytes that are
    /// digits themselves: half a key.
    pub fn parse_key(bytes: &[u8]) -> Option<[u8; Self::KEY_LENGTH]> {
        let is_text = |byte: &u8| byte.is_ascii_hexdigit() || byte.is_ascii_whitespace();
        if let Ok(key) = bytes.try_into()
            && !bytes.iter().all(is_text)
        {
            return Some(key);
        }
        let text = bytes.trim_ascii();
        let digits = text.strip_prefix(b"0x").unwrap_or(text);
        if digits.len() != 2 * Self::KEY_LENGTH {
            return None;
        }
        let mut key = [0; Self::KEY_LENGTH];
        let digit = |byte: u8| char::from(byte).to_digit(16);
        for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
            *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Some(key)
    }

    /// Prefix-preserving by this key: 16 bytes for AES-128 and 16 for what fills its blocks, as other implementations of Crypto-PAn
    /// take it. Takes 65,536 blocks of AES.
    pub fn crypto_pan(key: &[u8; Self::KEY_LENGTH]) -> Self {
        Self(AnonymizeMethod::CryptoPan(Box::new(CryptoPan::new(key))))
    }

    /// Keeps so many first bits of an IPv4 and of an IPv6 address, at most all, and clears the others.
    pub fn cut(ipv4: u8, ipv6: u8) -> Self {
        Self(AnonymizeMethod::Cut {
            ipv4: !u32::MAX.checked_shr(ipv4.into()).unwrap_or(0),
            ipv6: !u128::MAX.checked_shr(ipv6.into()).unwrap_or(0),
        })
    }

    /// The address in place of an IPv4 address; 16 blocks of AES.
    #[inline]
    pub fn ipv4(&self, address: u32) -> u32 {
        match &self.0 {
            AnonymizeMethod::CryptoPan(by) => {
                (by.flipped::<16>(u128::from(address) << 96) >> 96) as u32
            }
            AnonymizeMethod::Cut { ipv4, .. } => address & ipv4,
        }
    }

    /// The address in place of an IPv6 address; 112 blocks of AES. One that stands for an IPv4 address (`::ffff:192.0.2.1`) stands
    /// for the one in its place then.
    #[inline]
    pub fn ipv6(&self, address: u128) -> u128 {
        const MAPPED: u128 = 0xffff << 32;
        if address & !u128::from(u32::MAX) == MAPPED {
            return MAPPED | u128::from(self.ipv4(address as u32));
        }
        match &self.0 {
            AnonymizeMethod::CryptoPan(by) => by.flipped::<112>(address),
            AnonymizeMethod::Cut { ipv6, .. } => address & ipv6,
        }
    }

    /// The address in place of one of either family.
    pub fn ip(&self, address: IpAddr) -> IpAddr {
        match address {
            IpAddr::V4(address) => IpAddr::V4(self.ipv4(address.into()).into()),
            IpAddr::V6(address) => IpAddr::V6(self.ipv6(address.into()).into()),
        }
    }
}

impl fmt::Debug for Anonymizer {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Anonymizer").finish_non_exhaustive()
    }
}

/// For how many first bits the flips are made once for all addresses.
const KNOWN: usize = 16;

/// Crypto-PAn with one key.
#[derive(Clone)]
struct CryptoPan {
    cipher: Aes128,
    /// What fills a block after the bits of an address that count.
    pad: u128,
    /// By the first bits of an address, which of them are flipped.
    known: Vec<u16>,
}

impl CryptoPan {
    fn new(key: &[u8; Anonymizer::KEY_LENGTH]) -> Self {
        let [of_cipher, of_pad] = [0, 16].map(|at| {
            let half: [u8; 16] = key[at..at + 16].try_into().expect("half of a key");
            Block::from(half)
        });
        let cipher = Aes128::new(&of_cipher);
        let mut pad = of_pad;
        cipher.encrypt_block(&mut pad);
        let mut by = Self {
            cipher,
            pad: u128::from_be_bytes(pad.into()),
            known: vec![0; 1 << KNOWN],
        };
        let mut blocks = Vec::new();
        for len in 0..KNOWN {
            let prefixes = 0..1u128 << len;
            blocks.clear();
            // No shift by 128 for the empty prefix.
            blocks.extend(prefixes.map(|prefix| by.block(prefix << 1 << (127 - len), len)));
            by.cipher.encrypt_blocks(&mut blocks);
            for (first, known) in by.known.iter_mut().enumerate() {
                *known |= u16::from(bit(&blocks[first >> (KNOWN - len)])) << (KNOWN - 1 - len);
            }
        }
        by
    }

    /// What is encrypted for the bit after the first `len` of an address, which begins at the highest bit.
    #[inline(always)]
    fn block(&self, address: u128, len: usize) -> Block {
        let rest = u128::MAX >> len;
        Block::from((address & !rest | self.pad & rest).to_be_bytes())
    }

    /// An address of `KNOWN + REST` bits, which begins at the highest bit.
    #[inline]
    fn flipped<const REST: usize>(&self, address: u128) -> u128 {
        let mut blocks: [Block; REST] =
            std::array::from_fn(|index| self.block(address, KNOWN + index));
        self.cipher.encrypt_blocks(&mut blocks);
        let known = u128::from(self.known[(address >> (128 - KNOWN)) as usize]);
        let flips = blocks
            .iter()
            .fold(known, |flips, block| flips << 1 | u128::from(bit(block)));
        address ^ flips << (128 - KNOWN - REST)
    }
}

/// The bit that a block was encrypted for.
#[inline(always)]
fn bit(block: &Block) -> u8 {
    block[0] >> 7
}

#[cfg(test)]
mod tests;
