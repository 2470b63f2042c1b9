//! The feature `serde`: prefixes, maps and sets.
//!
//! In formats that people read a prefix is its text. In others it is a tuple of bytes, those of
//! the address from the highest on and then the length, as std's addresses are there; one of
//! either family is a tuple of address and length. A map is a sequence of routes and not a map
//! of the format: JSON would take no other key than text, and the order is that of the prefixes.
//! What comes in is checked as text is: host bits and lengths that are too long are errors.

use alloc::borrow::Cow;
use core::fmt;
use core::marker::PhantomData;
use core::net::IpAddr;
use core::str::FromStr;

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::address::Address;
use crate::map::ip_map::IpMap;
use crate::map::set::{IpSet, PrefixSet};
use crate::map::{PrefixMap, Storage, Stores};
use crate::prefix::{IpPrefix, Prefix, PrefixError};

/// The bytes of a key.
const fn address_bytes<A: Address>() -> usize {
    (A::WIDTH as usize).div_ceil(8)
}

impl<A: Address> Serialize for Prefix<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        let bytes = self.address().to_u128().to_be_bytes();
        let count = address_bytes::<A>();
        let mut tuple = serializer.serialize_tuple(count + 1)?;
        for byte in &bytes[bytes.len() - count..] {
            tuple.serialize_element(byte)?;
        }
        tuple.serialize_element(&self.len())?;
        tuple.end()
    }
}

impl<'de, A: Address> Deserialize<'de> for Prefix<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return parsed(deserializer);
        }
        deserializer.deserialize_tuple(address_bytes::<A>() + 1, PrefixVisitor(PhantomData))
    }
}

impl Serialize for IpPrefix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        (self.address(), self.len()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for IpPrefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return parsed(deserializer);
        }
        let (address, len) = Deserialize::deserialize(deserializer)?;
        let prefix = match address {
            IpAddr::V4(address) => Prefix::new(address.into(), len).map(Self::V4),
            IpAddr::V6(address) => Prefix::new(address.into(), len).map(Self::V6),
        };
        prefix.map_err(D::Error::custom)
    }
}

fn parsed<'de, P: FromStr<Err = PrefixError>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<P, D::Error> {
    let text = Cow::<str>::deserialize(deserializer)?;
    let no_prefix = |error| D::Error::custom(format_args!("`{}`: {error}", text.escape_debug()));
    text.parse().map_err(no_prefix)
}

/// Reads a prefix of bytes.
struct PrefixVisitor<A>(PhantomData<A>);

impl<'de, A: Address> Visitor<'de> for PrefixVisitor<A> {
    type Value = Prefix<A>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = address_bytes::<A>();
        write!(f, "{count} bytes of an address and a prefix length")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut bytes: S) -> Result<Prefix<A>, S::Error> {
        let mut next = |at| {
            let byte: Option<u8> = bytes.next_element()?;
            byte.ok_or_else(|| S::Error::invalid_length(at, &self))
        };
        let mut bits = 0;
        let count = address_bytes::<A>();
        for at in 0..count {
            bits = bits << 8 | u128::from(next(at)?);
        }
        Prefix::new(A::truncate(bits), next(count)?).map_err(S::Error::custom)
    }
}

/// Collects a sequence of `T`.
struct SequenceVisitor<T, M>(PhantomData<fn(T) -> M>);

impl<'de, T: Deserialize<'de>, M: FromIterator<T>> Visitor<'de> for SequenceVisitor<T, M> {
    type Value = M;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence of routes or prefixes")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<M, S::Error> {
        let mut error = None;
        let next = || match elements.next_element() {
            Ok(element) => element,
            Err(why) => {
                error = Some(why);
                None
            }
        };
        let collected = core::iter::from_fn(next).collect();
        error.map_or(Ok(collected), Err)
    }
}

/// Collections as sequences of what they iterate over.
macro_rules! sequences {
    ($([$($family:ident)?] [$($value:ident $storage:ident)?] $type:ty, $item:ty;)*) => {$(
        impl<$($family: Address,)? $($value: Serialize, $storage: Storage)?> Serialize for $type {
            fn serialize<Format: Serializer>(
                &self,
                serializer: Format,
            ) -> Result<Format::Ok, Format::Error> {
                serializer.collect_seq(self.iter())
            }
        }

        /// Of two values for one prefix the last stays.
        impl<'de, $($family: Address,)? $($value: Deserialize<'de>, $storage: Stores<$value>)?>
            Deserialize<'de> for $type
        {
            fn deserialize<Format: Deserializer<'de>>(
                deserializer: Format,
            ) -> Result<Self, Format::Error> {
                deserializer.deserialize_seq(SequenceVisitor::<$item, Self>(PhantomData))
            }
        }
    )*};
}
sequences! {
    [A] [V S] PrefixMap<A, V, S>, (Prefix<A>, V);
    [] [V S] IpMap<V, S>, (IpPrefix, V);
    [A] [] PrefixSet<A>, Prefix<A>;
    [] [] IpSet, IpPrefix;
}
