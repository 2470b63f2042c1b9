//! A column of addresses in place of those of another: numbers of numbers, packed of packed, else text.

use std::net::IpAddr;

use numpy::{PyArray1, PyArrayMethods};
use popfib::family::Family;
use popfib_formats::Anonymizer;
use popfib_table::{IPV6_TEXT, write_ip};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::arrow::{self, ArrowColumn};
use super::input::Column;
use super::lookup::{Invalid, Source};
use crate::keys;

/// What is put in the place of each address.
pub(super) struct Anonymized<'a>(pub(super) &'a Anonymizer);

impl Source for Anonymized<'_> {
    type Answer = Option<IpAddr>;

    fn batch<A: Family>(&self, addresses: &[A], answers: &mut [Self::Answer]) {
        for (address, answer) in addresses.iter().zip(answers) {
            *answer = Some(self.0.ip(address.ip()));
        }
    }
}

/// What a column is made of, and becomes.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Numbers,
    /// Addresses of so many bytes.
    Packed(usize),
    List,
    Arrow,
}

impl Form {
    pub(super) fn of(column: &Column<'_>) -> Self {
        match column {
            Column::Numbers(_) | Column::Integers(..) => Self::Numbers,
            Column::Bytes(_, width) => Self::Packed(*width),
            Column::Addresses(_) => Self::List,
            Column::Arrow(_) => Self::Arrow,
        }
    }

    /// What is done with a row that is no address: arrays of numbers have no null.
    pub(super) fn invalid(self, asked: Invalid) -> Invalid {
        match self {
            Self::Numbers => Invalid::Raise,
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
                Bound::new(py, ArrowColumn::new(&column))?.into_any()
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
