//! Finds prefixes in one element of a list of JSON: the element's text in, its prefixes out, while serde_json parses it.
//!
//! In an object the member with the best name has the prefix. Others that are called a prefix, too, have to agree with it, or be of
//! the other family. Networks around it are none of its prefixes. What looks like an address and is none of these is kept for an
//! error, in case that nothing is a prefix.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::node::{MemberValue, several};
use super::reason;
use crate::error::quote;
use crate::items::pass_over_scalars;
use crate::masks::Length;
use crate::names::{AROUND, PREFIX, rank};
use crate::ranges::{is_prefix, is_range};
use crate::rows::{RouteRows, RowValue};
use crate::words::{looks_like_prefix, may_be_element};

/// Whether a text can only be meant as a prefix or a range, right or wrong.
pub(super) fn looks_like_addresses(text: &str) -> bool {
    looks_like_prefix(text) || is_range(text)
}

/// Finds the prefixes in an element of a list, at any depth, while it is parsed.
pub(super) struct PrefixFinder<'a> {
    pub(super) rows: &'a mut RouteRows,
    pub(super) value: RowValue<'a>,
    /// What the user calls the members of the prefix and its length.
    pub(super) named: [Option<&'a str>; 2],
    /// Whether the strings of the list are prefixes.
    pub(super) are_prefixes: &'a mut Option<bool>,
    /// Gets the text of a string that is a prefix with its length, or a range, and no element of a list: the object
    /// around it decides whether that is its prefix, once all members are known.
    pub(super) scalar: &'a mut Option<String>,
    /// Gets the first other string in an object that may be a prefix, right or wrong.
    pub(super) lost: &'a mut Option<String>,
    /// Whether such strings count.
    pub(super) is_nameless: bool,
}

impl PrefixFinder<'_> {
    /// Reads an element.
    pub(super) fn read(&mut self, json: &str) -> Result<(), String> {
        let mut parser = serde_json::Deserializer::from_str(json);
        let read = self.deserialize(&mut parser);
        let read = read.and_then(|()| parser.end());
        read.map_err(|e| reason(&e))
    }

    /// The same for what is inside.
    fn inside<'b>(
        &'b mut self,
        are_prefixes: &'b mut Option<bool>,
        scalar: &'b mut Option<String>,
    ) -> PrefixFinder<'b> {
        PrefixFinder {
            rows: self.rows,
            are_prefixes,
            scalar,
            lost: self.lost,
            ..*self
        }
    }

    /// A prefix was found.
    fn found(&mut self, text: &str) -> Result<(), String> {
        self.rows.elements(text, self.value)
    }

    /// One more member that is called a prefix, beside `text`: it is the same or its address, or one of the other family.
    fn lesser(&mut self, text: &str, other: &str) -> Result<(), String> {
        let (Ok(best), Ok(span)) = (self.rows.span(text), self.rows.span(other)) else {
            return Ok(());
        };
        let ((first, last), (start, end)) = (best.ends(), span.ends());
        if first.is_ipv4() != start.is_ipv4() {
            return self.found(other);
        }
        let is_known =
            (start, end) == (first, last) || start == end && first <= start && end <= last;
        match is_known {
            true => Ok(()),
            false => Err(format!(
                "two prefixes in one object, {} and {}; `prefix_column` chooses one",
                quote(text),
                quote(other)
            )),
        }
    }
}

impl<'de> DeserializeSeed<'de> for &mut PrefixFinder<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<(), D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut PrefixFinder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a prefix, or an object with prefixes")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        if *self
            .are_prefixes
            .get_or_insert_with(|| looks_like_addresses(text))
        {
            return self.found(text).map_err(E::custom);
        }
        if self.is_nameless && is_prefix(text) {
            *self.scalar = Some(text.to_owned());
        } else if may_be_element(text) {
            self.lost.get_or_insert_with(|| text.to_owned());
        }
        Ok(())
    }

    /// A list inside of an element tells by its own first string whether it has prefixes.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let (mut are_prefixes, mut scalar) = (None, None);
        let mut inside = self.inside(&mut are_prefixes, &mut scalar);
        while list.next_element_seed(&mut inside)?.is_some() {}
        // In a list of other things.
        if let Some(text) = scalar {
            self.lost.get_or_insert(text);
        }
        Ok(())
    }

    /// An object: the prefix of its best-named member is found once all members have been seen, those of lists and
    /// objects inside as they come.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // The member with the best name for a prefix, and for its length; then those that only look like prefixes.
        let (mut best, mut is_bounded) = (None, false);
        let mut best_length: Option<((usize, Length), String)> = None;
        let mut others: Vec<(String, String)> = Vec::new();
        // Those that are called a prefix, too.
        let mut lesser = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            match prefix_rank(&key, self.named[0]) {
                Some(rank) => {
                    let cell = MemberValue::of(map.next_value::<&RawValue>()?.get());
                    if let MemberValue::Text(text) = cell.map_err(A::Error::custom)? {
                        match &mut best {
                            None => best = Some((rank, text)),
                            Some(known) if rank < known.0 => {
                                lesser.push(std::mem::replace(known, (rank, text)));
                            }
                            Some(_) => lesser.push((rank, text)),
                        }
                    }
                }
                None if let Some(named) = length_of(&key, self.named[1])
                    && best_length.as_ref().is_none_or(|(known, _)| named < *known) =>
                {
                    let cell = MemberValue::of(map.next_value::<&RawValue>()?.get());
                    match cell.map_err(A::Error::custom)? {
                        MemberValue::Text(text) => best_length = Some((named, text)),
                        MemberValue::Null => best_length = Some((named, String::new())),
                        MemberValue::Absent => {}
                    }
                }
                None if rank(&key, AROUND).is_some() => _ = map.next_value::<IgnoredAny>()?,
                None => {
                    // Of bgpq4: the prefix is for some lengths only.
                    is_bounded |= matches!(key.as_str(), "greater-equal" | "less-equal");
                    // Lists and objects in it may hold some, a string may be one only by its content.
                    let (mut are_prefixes, mut scalar) = (Some(false), None);
                    map.next_value_seed(&mut self.inside(&mut are_prefixes, &mut scalar))?;
                    others.extend(scalar.map(|text| (key, text)));
                }
            }
        }
        match &mut others[..] {
            [(_, text)] if best.is_none() => best = Some((0, std::mem::take(text))),
            [_, _, ..] if best.is_none() => {
                let keys = others.iter().map(|(key, _)| &**key);
                return Err(A::Error::custom(several(keys)));
            }
            _ => {}
        }
        if let Some((_, mut text)) = best {
            if let Some(((_, kind), length)) = best_length {
                text = kind.join(&text, &length).map_err(A::Error::custom)?;
            }
            self.found(&text).map_err(A::Error::custom)?;
            for (_, other) in lesser {
                self.lesser(&text, &other).map_err(A::Error::custom)?;
            }
            if is_bounded {
                self.rows.bounded();
            }
        }
        Ok(())
    }

    pass_over_scalars! { () }
}

/// How good a name `key` is for a prefix, 0 the best; only the user's own if there is one. `None` if it is no such name.
fn prefix_rank(key: &str, named: Option<&str>) -> Option<usize> {
    match named {
        Some(name) => (key == name).then_some(0),
        None => rank(key, PREFIX),
    }
}

/// As [`prefix_rank`], for the length or the mask of a prefix, and which of these it is.
fn length_of(key: &str, named: Option<&str>) -> Option<(usize, Length)> {
    match named {
        Some(name) => (key == name).then_some((0, Length::Plain)),
        None => Length::named(key),
    }
}
