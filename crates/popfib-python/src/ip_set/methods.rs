//! The methods and operators of `popfib.IPSet`: sets, keys and columns in, sets and answers out.

use std::hash::{DefaultHasher, Hash, Hasher};

use popfib::algebra::Coverage;
use popfib::family::Family;
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple, PyType};

use super::addresses::SetAddresses;
use super::class::PyIpSet;
use super::parts::{PyIpSetParts, SetPart};
use super::source::{self, set_of};
use crate::columns;
use crate::keys;
use crate::table::PyTable;

type PyText<'py> = Bound<'py, PyString>;

/// An operator, both sides of which have to be sets.
fn operator<'py>(
    one: &Bound<'py, PyIpSet>,
    other: &Bound<'py, PyAny>,
    operation: impl FnOnce(&SetAddresses, &SetAddresses) -> SetAddresses + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let py = one.py();
    let Ok(other) = other.cast::<PyIpSet>() else {
        return Ok(py.NotImplemented().into_bound(py));
    };
    let (one, other) = (&one.get().addresses, &other.get().addresses);
    let found = py.detach(|| operation(one, other));
    Ok(Bound::new(py, PyIpSet::from(found))?.into_any())
}

/// A method, whose arguments are made into sets and put together one after the other.
fn method<'py>(
    one: &Bound<'py, PyIpSet>,
    others: impl IntoIterator<Item = Bound<'py, PyAny>>,
    operation: impl Fn(&SetAddresses, &SetAddresses) -> SetAddresses + Send + Sync,
) -> PyResult<Bound<'py, PyIpSet>> {
    let py = one.py();
    others.into_iter().try_fold(one.clone(), |one, other| {
        let other = set_of(&other)?;
        let (one, other) = (&one.get().addresses, &other.get().addresses);
        let found = py.detach(|| operation(one, other));
        Bound::new(py, PyIpSet::from(found))
    })
}

/// A prefix length for either family.
fn length(length: i64) -> PyResult<u8> {
    let known = u8::try_from(length).ok().filter(|length| *length <= 128);
    known.ok_or_else(|| value_error!("a length is from 0 to 128, not {length}"))
}

/// A number of addresses as an int; `None` stands for 2^128.
fn number(py: Python<'_>, count: Option<u128>) -> PyResult<Bound<'_, PyAny>> {
    match count {
        Some(count) => Ok(count.into_pyobject(py)?.into_any()),
        None => 1u8.into_pyobject(py)?.lshift(128),
    }
}

#[pymethods]
impl PyIpSet {
    #[new]
    #[pyo3(signature = (source = None, /, *, r#where = None, mask = false))]
    fn new(
        source: Option<&Bound<'_, PyAny>>,
        r#where: Option<&Bound<'_, PyAny>>,
        mask: bool,
    ) -> PyResult<Self> {
        let table = source.and_then(|source| source.cast::<PyTable>().ok());
        let addresses = match (table, source, r#where) {
            (Some(table), _, test) => source::of_table(table, test)?,
            (None, _, Some(_)) => {
                return Err(type_error!(
                    "where asks for the values of a Table, and this is none"
                ));
            }
            (None, Some(source), None) => source::addresses(source, mask)?,
            (None, None, None) => SetAddresses::default(),
        };
        Ok(addresses.into())
    }

    /// The number of prefixes.
    fn __len__(&self) -> usize {
        self.addresses.len()
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(text) = key.cast::<PyString>()
            && let Ok(prefix) = keys::parse(text.to_str()?)
        {
            return self.addresses.contains(prefix);
        }
        for prefix in source::item(key)? {
            if !self.addresses.contains(prefix)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn __iter__(slf: Bound<'_, Self>) -> PyIpSetParts {
        PyIpSetParts::new(&slf.get().addresses, SetPart::Prefixes)
    }

    fn __richcmp__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        operator: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<Self>() else {
            return Ok(py.NotImplemented().into_bound(py));
        };
        let (one, other) = (&self.addresses, &other.get().addresses);
        let holds = py.detach(|| match operator {
            CompareOp::Eq => one == other,
            CompareOp::Ne => one != other,
            CompareOp::Le => one.is_subset(other),
            CompareOp::Lt => one != other && one.is_subset(other),
            CompareOp::Ge => other.is_subset(one),
            CompareOp::Gt => one != other && other.is_subset(one),
        });
        Ok(holds.into_pyobject(py)?.to_owned().into_any())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.addresses.hash(&mut hasher);
        hasher.finish()
    }

    fn __or__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, SetAddresses::union)
    }

    fn __and__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, SetAddresses::intersection)
    }

    fn __sub__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, SetAddresses::difference)
    }

    fn __xor__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, SetAddresses::symmetric_difference)
    }

    /// Return the addresses of this set or of any of the others. O(prefixes), each time.
    #[pyo3(signature = (*others))]
    fn union<'py>(
        slf: &Bound<'py, Self>,
        others: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, Self>> {
        method(slf, others, SetAddresses::union)
    }

    /// Return the addresses of this set and of all others.
    #[pyo3(signature = (*others))]
    fn intersection<'py>(
        slf: &Bound<'py, Self>,
        others: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, Self>> {
        method(slf, others, SetAddresses::intersection)
    }

    /// Return the addresses of this set that none of the others has.
    #[pyo3(signature = (*others))]
    fn difference<'py>(
        slf: &Bound<'py, Self>,
        others: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, Self>> {
        method(slf, others, SetAddresses::difference)
    }

    /// Return the addresses of this set or of the other, and not of both.
    #[pyo3(signature = (other, /))]
    fn symmetric_difference<'py>(
        slf: &Bound<'py, Self>,
        other: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        method(slf, [other], SetAddresses::symmetric_difference)
    }

    /// Return the addresses of both families that this set does not have.
    fn complement(&self) -> Self {
        self.addresses.complement().into()
    }

    /// Whether the other has every address of this set.
    #[pyo3(signature = (other, /))]
    fn issubset(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.addresses.is_subset(&set_of(other)?.get().addresses))
    }

    /// Whether this set has every address of the other.
    #[pyo3(signature = (other, /))]
    fn issuperset(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(set_of(other)?.get().addresses.is_subset(&self.addresses))
    }

    /// Whether this set and the other have no address in common.
    #[pyo3(signature = (other, /))]
    fn isdisjoint(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.addresses.is_disjoint(&set_of(other)?.get().addresses))
    }

    /// Look up a column of addresses: return an array of bool, whether each is in the set, False for anything that is no
    /// address. In a list or an Arrow column that is None or null.
    #[pyo3(signature = (addresses, /, *, output = "values", invalid = "raise", threads = 1))]
    fn contains<'py>(
        &self,
        addresses: &Bound<'py, PyAny>,
        output: &str,
        invalid: &str,
        threads: isize,
    ) -> PyResult<Bound<'py, PyAny>> {
        columns::contains(self.compiled()?, addresses, output, invalid, threads)
    }

    /// Return each prefix of a table or of an iterable, as it is, with how much of it the set has: "whole", "part" or "none".
    #[pyo3(signature = (prefixes, /))]
    fn coverage<'py>(
        &self,
        prefixes: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<(PyText<'py>, &'static str)>> {
        let py = prefixes.py();
        let prefixes = match prefixes.cast::<PyTable>() {
            Ok(table) => {
                let state = table.get().shared.copy(py)?;
                state
                    .routes
                    .map()
                    .iter()
                    .map(|(prefix, _)| prefix)
                    .collect()
            }
            Err(_) => source::prefixes(prefixes, false)?,
        };
        let covered = prefixes.into_iter().map(|prefix| {
            let how = match self.addresses.coverage(prefix)? {
                Coverage::Whole => "whole",
                Coverage::Part => "part",
                Coverage::None => "none",
            };
            Ok((keys::text(py, prefix)?, how))
        });
        covered.collect()
    }

    /// Return (first, last) of each range of addresses, in order; no range touches the next.
    fn ranges<'py>(&self, py: Python<'py>) -> PyResult<Vec<(PyText<'py>, PyText<'py>)>> {
        fn text<A: Family>(py: Python<'_>, address: A) -> PyText<'_> {
            PyString::new(py, &address.ip().to_string())
        }
        fn of<'py, A: Family>(
            py: Python<'py>,
            addresses: &SetAddresses,
        ) -> impl Iterator<Item = (PyText<'py>, PyText<'py>)> {
            let ranges = addresses.ranges::<A>();
            ranges.map(move |(first, last)| (text(py, first), text(py, last)))
        }
        let ipv4 = of::<u32>(py, &self.addresses);
        Ok(ipv4.chain(of::<u128>(py, &self.addresses)).collect())
    }

    /// Return an iterator of the set's prefixes as prefixes of this length; longer ones stay.
    #[pyo3(signature = (length, /))]
    fn split(slf: Bound<'_, Self>, length: i64) -> PyResult<PyIpSetParts> {
        Ok(PyIpSetParts::new(
            &slf.get().addresses,
            SetPart::Split(self::length(length)?),
        ))
    }

    /// Return an iterator of the prefixes of this length that are in the set whole.
    #[pyo3(signature = (length, /))]
    fn subnets(slf: Bound<'_, Self>, length: i64) -> PyResult<PyIpSetParts> {
        Ok(PyIpSetParts::new(
            &slf.get().addresses,
            SetPart::Subnets(self::length(length)?),
        ))
    }

    /// Return an iterator of the addresses.
    fn addresses(slf: Bound<'_, Self>) -> PyIpSetParts {
        PyIpSetParts::new(&slf.get().addresses, SetPart::Addresses)
    }

    /// The number of addresses of both families.
    #[getter]
    fn address_count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ipv4 = number(py, self.addresses.count::<u32>())?;
        ipv4.add(number(py, self.addresses.count::<u128>())?)
    }

    /// The addresses of IPv4 alone.
    #[getter]
    fn ipv4(&self) -> Self {
        self.addresses.only::<u32>().into()
    }

    /// The addresses of IPv6 alone.
    #[getter]
    fn ipv6(&self) -> Self {
        self.addresses.only::<u128>().into()
    }

    /// Return a set of at most so many prefixes of each family that has all addresses of this one and few others, and how many
    /// others there have to be at least.
    #[pyo3(signature = (at_most, /))]
    fn cover<'py>(&self, py: Python<'py>, at_most: i64) -> PyResult<(Self, Bound<'py, PyAny>)> {
        let number = |count: u128| self::number(py, Some(count));
        let at_most = usize::try_from(at_most).ok().filter(|&at_most| at_most > 0);
        let cover = at_most.and_then(|at_most| py.detach(|| self.addresses.cover(at_most)));
        let (cover, [ipv4, ipv6]) =
            cover.ok_or_else(|| value_error!("at_most is a number from 1 on"))?;
        Ok((cover.into(), number(ipv4)?.add(number(ipv6)?)?))
    }

    /// Bytes of the prefixes, and of the compiled table once something was looked up.
    #[getter]
    fn nbytes(&self) -> usize {
        self.addresses.bytes()
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<String> {
        /// Prefixes that a line has room for.
        const SHOWN: usize = 4;
        let name = slf.get_type().fully_qualified_name()?;
        let addresses = &slf.get().addresses;
        if addresses.len() <= SHOWN {
            let list: Vec<_> = addresses
                .iter()
                .map(|prefix| format!("'{prefix}'"))
                .collect();
            return Ok(format!("{name}([{}])", list.join(", ")));
        }
        let [ipv4, ipv6] = addresses.lens();
        Ok(format!("<{name}: {ipv4} IPv4 and {ipv6} IPv6 prefixes>"))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyList>,))> {
        let py = slf.py();
        let prefixes = slf.get().addresses.iter();
        let prefixes: PyResult<Vec<_>> = prefixes.map(|prefix| keys::text(py, prefix)).collect();
        Ok((slf.get_type(), (PyList::new(py, prefixes?)?,)))
    }
}
