//! Longest matches in, what the caller asked for out: prefixes as text, alone or with their values.

use std::net::IpAddr;

use popfib::family::Family;
use popfib::{Address, IpPrefix, NextHop, Prefix};
use popfib_table::PrefixText;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::arrow::{self, PyArrowColumn};
use super::lookup::AnswerSource;
use super::room::{ask_for_memory, out_without_indices};
use crate::keys;
use crate::routes::TableRoutes;
use crate::values::Places;

/// A longest match; 24 bytes, as there is one for each row.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RowMatch {
    /// In network order, zeros after those of IPv4.
    address: [u8; 16],
    /// The number of the value; 0 for no match.
    number: u32,
    width: u8,
    len: u8,
}

impl RowMatch {
    pub(super) fn of<A: Address>((prefix, number): (Prefix<A>, NextHop)) -> Self {
        let mut address = [0; 16];
        let bytes = prefix.address().to_be_bytes();
        address[..bytes.as_ref().len()].copy_from_slice(bytes.as_ref());
        Self {
            address,
            number: number.get(),
            width: A::WIDTH,
            len: prefix.len(),
        }
    }

    /// The number of the value; 0 for no match.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The same prefix, with another number.
    pub(super) fn with_number(self, number: u32) -> Self {
        Self { number, ..self }
    }

    fn prefix(&self) -> Option<IpPrefix> {
        let address = match (self.width, self.address) {
            (32, [a, b, c, d, ..]) => IpAddr::from([a, b, c, d]),
            (_, address) => IpAddr::from(address),
        };
        IpPrefix::new(address, self.len)
            .ok()
            .filter(|_| self.number != 0)
    }
}

/// Finds longest matches in the routes of a table.
pub(super) struct RouteMatches<'a>(pub(super) &'a TableRoutes);

impl AnswerSource for RouteMatches<'_> {
    type Answer = RowMatch;

    fn batch<A: Family>(&self, addresses: &[A], answers: &mut [RowMatch]) {
        self.0
            .family::<A>()
            .longest_match_each(addresses, |row, found| {
                answers[row] = found.map_or_else(RowMatch::default, RowMatch::of);
            });
    }
}

/// What matches become.
#[derive(Clone, Copy)]
pub(super) enum MatchOutput {
    /// A list of prefixes.
    Prefixes,
    /// A list of pairs (prefix, value).
    Pairs,
    /// An Arrow column of prefixes.
    Arrow,
}

impl MatchOutput {
    /// Room for the matches of `count` rows.
    pub(super) fn answers(
        self,
        count: usize,
        out: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<RowMatch>> {
        if out.is_some() {
            return Err(out_without_indices());
        }
        ask_for_memory(count, size_of::<RowMatch>() + 2 * size_of::<usize>())?;
        Ok(vec![RowMatch::default(); count])
    }

    pub(super) fn make<'py>(
        self,
        py: Python<'py>,
        found: &[RowMatch],
        places: &Places,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Self::Arrow = self {
            let column = py.detach(|| arrow::texts(found, write))?;
            return Ok(Bound::new(py, PyArrowColumn::new(&column))?.into_any());
        }
        let list = PyList::empty(py);
        let mut texts = PrefixTexts::new();
        for found in found {
            let Some(prefix) = found.prefix() else {
                list.append(py.None())?;
                continue;
            };
            let text = texts.get(py, prefix)?;
            if let Self::Prefixes = self {
                list.append(text)?;
                continue;
            }
            let value = places.get(found.number as usize - 1);
            let value = value.and_then(Option::as_ref).map(|v| v.clone_ref(py));
            list.append((text, value))?;
        }
        Ok(list.into_any())
    }
}

/// Writes the prefix of a match, if there is one.
fn write(found: &RowMatch, text: &mut Vec<u8>) -> bool {
    let prefix = found.prefix();
    if let Some(prefix) = prefix {
        text.extend_from_slice(PrefixText::new(prefix).as_bytes());
    }
    prefix.is_some()
}

/// The texts of prefixes that earlier rows had: rows near each other often have the same prefix, and share its text.
struct PrefixTexts<'py>(Vec<Option<(IpPrefix, Bound<'py, PyString>)>>);

impl<'py> PrefixTexts<'py> {
    fn new() -> Self {
        Self(vec![None; 1 << 10])
    }

    fn get(&mut self, py: Python<'py>, prefix: IpPrefix) -> PyResult<Bound<'py, PyString>> {
        let bits = match prefix {
            IpPrefix::V4(prefix) => u64::from(prefix.address()),
            IpPrefix::V6(prefix) => (prefix.address() >> 64) as u64,
        };
        let place = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 10);
        let place = &mut self.0[place as usize];
        if let Some((known, text)) = place
            && *known == prefix
        {
            return Ok(text.clone());
        }
        let text = keys::text(py, prefix)?;
        *place = Some((prefix, text.clone()));
        Ok(text)
    }
}
