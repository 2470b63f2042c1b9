//! Addresses that were anonymized in, a column like the one they came from out: numbers for numbers, packed addresses for
//! packed ones, else text.

use std::net::IpAddr;

use numpy::{PyArray1, PyArrayMethods};
use popfib::family::Family;
use popfib_formats::Anonymizer;
use popfib_table::{IPV6_TEXT, write_ip};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::arrow::{self, PyArrowColumn};
use super::input::PyAddressColumn;
use super::lookup::{AnswerSource, OnInvalid};
use crate::keys;

/// Finds the address that comes in the place of another.
pub(super) struct AnonymizedAddresses<'a>(pub(super) &'a Anonymizer);

impl AnswerSource for AnonymizedAddresses<'_> {
    type Answer = Option<IpAddr>;

    fn batch<A: Family>(&self, addresses: &[A], answers: &mut [Self::Answer]) {
        for (address, answer) in addresses.iter().zip(answers) {
            *answer = Some(self.0.ip(address.ip()));
        }
    }
}

/// What a column consists of, and its answers become.
#[derive(Clone, Copy)]
pub(super) enum AnonymizedForm {
    Numbers,
    /// Addresses of so many bytes.
    Packed(usize),
    List,
    Arrow,
}

impl AnonymizedForm {
    pub(super) fn of(column: &PyAddressColumn<'_>) -> Self {
        match column {
            PyAddressColumn::Numbers(_) | PyAddressColumn::Integers(..) => Self::Numbers,
            PyAddressColumn::Bytes(_, width) => Self::Packed(*width),
            PyAddressColumn::Addresses(_) => Self::List,
            PyAddressColumn::Arrow(_) => Self::Arrow,
        }
    }

    /// What a row that is no address means: arrays of numbers have no null.
    pub(super) fn invalid(self, asked: OnInvalid) -> OnInvalid {
        match self {
            Self::Numbers => OnInvalid::Raise,
            _ => asked,
        }
    }

    pub(super) fn make<'py>(
        self,
        py: Python<'py>,
        found: Vec<Option<IpAddr>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Numbers => {
                let numbers = found.into_iter().map(|found| match found {
                    Some(IpAddr::V4(address)) => address.to_bits(),
                    _ => unreachable!("each number is an IPv4 address"),
                });
                PyArray1::from_vec(py, numbers.collect()).into_any()
            }
            Self::Packed(width) => {
                let mut bytes = Vec::with_capacity(width * found.len());
                for address in found.iter().flatten() {
                    match address {
                        IpAddr::V4(address) => bytes.extend_from_slice(&address.octets()),
                        IpAddr::V6(address) => bytes.extend_from_slice(&address.octets()),
                    }
                }
                let array = PyArray1::from_vec(py, bytes);
                array.reshape([found.len(), width])?.into_any()
            }
            Self::List => {
                let list = PyList::empty(py);
                for found in found {
                    list.append(
                        found
                            .map(|address| keys::address_text(py, address))
                            .transpose()?,
                    )?;
                }
                list.into_any()
            }
            Self::Arrow => {
                let column = py.detach(|| arrow::texts(&found, write))?;
                Bound::new(py, PyArrowColumn::new(&column))?.into_any()
            }
        })
    }
}

/// Writes an address, if there is one.
fn write(found: &Option<IpAddr>, text: &mut Vec<u8>) -> bool {
    if let Some(address) = found {
        let mut room = [0; IPV6_TEXT];
        let len = write_ip(*address, &mut room);
        text.extend_from_slice(&room[..len]);
    }
    found.is_some()
}
