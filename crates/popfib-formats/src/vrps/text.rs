//! VRPs as words in lines: configurations and output of routers, and lists, in; the VRP of each line out.
//!
//! ```text
//! roa-set {                                                        OpenBGPD
//!   198.51.100.0/22 maxlen 24 source-as 64501 expires 1765000000
//! }
//! protocol static { roa4 { table r4; };                            BIRD
//!   route 198.51.100.0/22 max 24 as 64501;
//! }
//! Prefix                   Prefix Length  Origin-AS                FRR, `show rpki prefix-table`
//! 198.51.100.0               22 -  24     64501
//! 49.10.0.0/19-24 4910 DTAG                                        lists, and BIRD's `show route` of a table of ROAs
//! 49.10.0.0/19 24 AS4910
//! ```

use super::csv::is_heading;
use super::row::{AnyVrp, VrpEntry, lines, vrp};
use crate::as_path::as_number;
use crate::error::not;
use crate::input::head_lines;
use crate::lines::text;
use crate::origins::without_as;
use crate::words::is_one_of;

pub(super) const FORMAT: VrpEntry = VrpEntry {
    name: "text",
    description: "configurations of OpenBGPD and BIRD, output of BIRD and FRR, lines of PREFIX-MAX ASN",
    can: &[],
    detect: |head| {
        let mut lines = head_lines(head).map(|line| text(line).unwrap_or("?"));
        let found = lines.find_map(|line| match words(line)[..] {
            ["roa-set" | "route" | "roa" | "RPKI/RTR", ..] => Some(true),
            // A prefix and an AS alone are more likely those of a table.
            [prefix, _] if !prefix.contains('-') => None,
            // CSV has its prefix here below a heading alone.
            [prefix, ..] if prefix.contains('/') => Some(true),
            _ if is_heading(line) => Some(false),
            ref words => Some(read(words, false).transpose()?.is_ok()),
        });
        found == Some(true)
    },
    open: |input, options| {
        let mask = options.mask;
        Ok(lines(input, move |line| read(&words(text(line)?), mask)))
    },
};

/// The words of a line, without a comment after them.
fn words(line: &str) -> Vec<&str> {
    let words = line.split([' ', '\t', ',', ';']);
    let words = words
        .map(|word| word.trim_matches('"'))
        .filter(|word| !word.is_empty());
    words.take_while(|word| !word.starts_with('#')).collect()
}

/// The maximum length, empty if there is none, and the AS, which stand after a prefix in either order: `AS` says which is the AS,
/// else that one number alone may be a length.
fn two_numbers<'a>(
    prefix: &str,
    first: &'a str,
    second: Option<&&'a str>,
) -> Result<(&'a str, &'a str), String> {
    let most = if prefix.contains(':') { 128 } else { 32 };
    let is_length = |text: &str| text.parse().is_ok_and(|len: u8| len <= most);
    let is_as = |text: &&&str| as_number(without_as(text)).is_some();
    match second.filter(is_as) {
        None => Ok(("", first)),
        Some(second) if without_as(second) != *second => Ok((first, second)),
        Some(second) if is_length(second) && !is_length(first) => Ok((second, first)),
        Some(second) if is_length(first) != is_length(second) => Ok((first, second)),
        Some(_) if without_as(first) != first => Ok(("", first)),
        Some(second) => Err(format!(
            "{first} or {second}: which is the AS? `AS` before it says so"
        )),
    }
}

/// What begins a line that opens a block, is about a table, or of another kind.
const TITLES: &str = "table roa4 roa6 protocol define aspa aspa-set customer-as BIRD Table RPKI/RTR \
                      Prefix Number host: VRF";

/// The VRP of a line; `None` if there is none to be.
fn read(words: &[&str], mask: bool) -> Result<Option<AnyVrp>, String> {
    let not_a_vrp = |word: &str| not(word, "what should stand here in a VRP");
    match *words {
        [address, length, "-", max_length, asn] => {
            return vrp(&format!("{address}/{length}"), max_length, asn, mask).map(Some);
        }
        [prefix, asn, ref rest @ ..]
            if prefix.contains('/')
                && (prefix.contains('-') || as_number(without_as(asn)).is_some()) =>
        {
            // What comes after that is of no effect, unless it is of another VRP or form.
            let is_vrp = |word: &&&str| word.contains('/') || matches!(**word, "as" | "source-as");
            if let Some(more) = rest.iter().find(is_vrp) {
                return Err(not_a_vrp(more));
            }
            let Some((prefix, max_length)) = prefix.split_once('-') else {
                let (max_length, asn) = two_numbers(prefix, asn, rest.first())?;
                return vrp(prefix, max_length, asn, mask).map(Some);
            };
            return vrp(prefix, max_length, asn, mask).map(Some);
        }
        _ => {}
    }
    let mut words = words;
    while let ["roa-set" | "{" | "route" | "roa", rest @ ..] | [rest @ .., "}"] = words {
        words = rest;
    }
    let [prefix, pairs @ ..] = words else {
        return Ok(None);
    };
    let is_title = is_one_of(TITLES, prefix);
    if is_title {
        return match pairs.iter().find(|word| word.contains('/')) {
            None => Ok(None),
            Some(more) => Err(not_a_vrp(more)),
        };
    }
    let (mut max_length, mut asn) = (None, None);
    let (pairs, more) = pairs.as_chunks::<2>();
    for &[key, value] in pairs {
        let old = match key {
            "maxlen" | "max" => max_length.replace(value),
            "source-as" | "as" => asn.replace(value),
            "expires" if value.parse::<u64>().is_ok() => None,
            _ => Some(key),
        };
        if old.is_some() {
            return Err(not_a_vrp(key));
        }
    }
    match (more, asn) {
        ([more], _) => Err(not_a_vrp(more)),
        (_, None) => Err("no prefix and AS number on this line".to_owned()),
        (_, Some(asn)) => vrp(prefix, max_length.unwrap_or_default(), asn, mask).map(Some),
    }
}
