//! Iterators over the prefixes or addresses of a set, one at a time: all of them together may be more than memory holds.

use std::sync::Arc;

use popfib::family::Family;
use popfib::{IpPrefix, Prefix};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::addresses::SetAddresses;
use crate::keys;

/// What an iterator returns.
#[derive(Clone, Copy)]
pub(super) enum SetPart {
    Prefixes,
    /// Prefixes of this length, and longer ones as they are.
    Split(u8),
    /// Prefixes of this length alone.
    Subnets(u8),
    Addresses,
}

impl SetPart {
    /// The length that a prefix of this family is cut to; `None` if it stays.
    fn len<A: Family>(self, prefix: Prefix<A>) -> Option<u8> {
        match self {
            Self::Prefixes => None,
            Self::Split(len) => Some(len.min(A::WIDTH)).filter(|&len| len > prefix.len()),
            Self::Subnets(len) => Some(len),
            Self::Addresses => Some(A::WIDTH),
        }
    }
}

/// What is left of a prefix.
type PrefixRest = Box<dyn Iterator<Item = IpPrefix> + Send + Sync>;

/// The prefixes or addresses of a set, in order, IPv4 before IPv6.
#[pyclass(name = "Parts", module = "popfib")]
pub(crate) struct PyIpSetParts {
    addresses: Arc<SetAddresses>,
    part: SetPart,
    at: usize,
    rest: Option<PrefixRest>,
}

impl PyIpSetParts {
    pub(super) fn new(addresses: &Arc<SetAddresses>, part: SetPart) -> Self {
        Self {
            addresses: Arc::clone(addresses),
            part,
            at: 0,
            rest: None,
        }
    }

    fn next(&mut self) -> Option<IpPrefix> {
        loop {
            if let Some(prefix) = self.rest.as_mut().and_then(Iterator::next) {
                return Some(prefix);
            }
            self.rest = None;
            let prefix = self.addresses.get(self.at)?;
            self.at += 1;
            let rest: Option<PrefixRest> = match prefix {
                IpPrefix::V4(prefix) => (self.part.len(prefix))
                    .map(|len| Box::new(prefix.subnets(len).map(IpPrefix::V4)) as PrefixRest),
                IpPrefix::V6(prefix) => (self.part.len(prefix))
                    .map(|len| Box::new(prefix.subnets(len).map(IpPrefix::V6)) as PrefixRest),
            };
            match rest {
                Some(rest) => self.rest = Some(rest),
                None => return Some(prefix),
            }
        }
    }
}

#[pymethods]
impl PyIpSetParts {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        let Some(prefix) = self.next() else {
            return Ok(None);
        };
        Ok(Some(match self.part {
            SetPart::Addresses => PyString::new(py, &prefix.address().to_string()),
            _ => keys::text(py, prefix)?,
        }))
    }
}
