//! A column of addresses as Python has it in (numpy arrays, Arrow, or any iterable of keys); rows that lookups read out.

use std::net::IpAddr;

use numpy::{
    PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::arrow;
use super::cells::{ArrowCells, CellError};
use super::lookup::{ColumnRows, OnInvalid, address};
use crate::keys;
use crate::state::host;

/// Keys read between two looks at signals.
const SIGNALS: usize = 1 << 16;

/// A column, kept alive while its rows are looked up.
pub(super) enum PyAddressColumn<'py> {
    Numbers(PyReadonlyArrayDyn<'py, u32>),
    /// The bytes of other integers, so many for each, with a sign or without.
    Integers(PyReadonlyArrayDyn<'py, u8>, usize, bool),
    /// Rows of 4 or 16 bytes.
    Bytes(PyReadonlyArrayDyn<'py, u8>, usize),
    Addresses(Vec<Option<IpAddr>>),
    Arrow(Vec<arrow::ArrowPiece>),
}

impl<'py> PyAddressColumn<'py> {
    /// # Errors
    /// `TypeError` for a column of another type, `ValueError` for one of another shape.
    pub(super) fn new(column: &Bound<'py, PyAny>, invalid: OnInvalid) -> PyResult<Self> {
        let numpy = numpy(column.py())?;
        if numpy.is_some() && column.is_instance_of::<PyUntypedArray>() {
            return Self::of_numpy(column, invalid);
        }
        for text in [
            column.is_instance_of::<PyString>(),
            column.is_instance_of::<PyBytes>(),
            column.is_instance_of::<PyDict>(),
        ] {
            if text {
                let name = column.get_type().name()?;
                return Err(type_error!(
                    "a column of addresses is asked for, not one {name}"
                ));
            }
        }
        // As a Series of pandas is, unless its type is one of pandas' own. A scalar of numpy has a type, but no length.
        let dtype = column.getattr("dtype").ok();
        if let (Some(numpy), Some(dtype)) = (numpy, &dtype)
            && dtype.is_instance(&numpy.getattr("dtype")?)?
            && column.hasattr("__len__")?
        {
            let array = numpy.call_method1("asarray", (column,))?;
            return Self::of_numpy(&array, invalid);
        }
        let of_integers = match dtype.and_then(|dtype| dtype.getattr("kind").ok()) {
            Some(kind) => kind.eq("i")? || kind.eq("u")?,
            None => false,
        };
        match arrow::import(column) {
            Ok(Some(pieces)) => Ok(Self::Arrow(pieces)),
            Ok(None) => Self::of_objects(column, invalid, of_integers),
            // pandas makes its capsules by pyarrow.
            Err(error) if error.is_instance_of::<PyImportError>(column.py()) => {
                Self::of_objects(column, invalid, of_integers)
            }
            Err(error) => Err(error),
        }
    }

    fn of_numpy(array: &Bound<'py, PyAny>, invalid: OnInvalid) -> PyResult<Self> {
        let py = array.py();
        let dtype = array.getattr("dtype")?;
        let kind: String = dtype.getattr("kind")?.extract()?;
        let size: usize = dtype.getattr("itemsize")?.extract()?;
        let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
        // The array, or a copy of it: in one piece, aligned, and in the byte order of this machine.
        let plain = |dtype: &str| {
            let requirements = ["C_CONTIGUOUS", "ALIGNED", "ENSUREARRAY"];
            py.import("numpy")?
                .call_method1("require", (array, dtype, requirements))
        };
        if array.hasattr("mask")? {
            return Err(type_error!(
                "a masked array: its `filled` makes an array, and pyarrow.array() keeps what is masked as null"
            ));
        }
        let one_dimension = || match shape.len() {
            1 => Ok(()),
            n => Err(value_error!("an array of {n} dimensions: a column has one")),
        };
        match (kind.as_str(), size) {
            ("u", 4) => {
                one_dimension()?;
                let array = plain("=u4")?;
                let array = array.cast::<PyArrayDyn<u32>>()?.try_readonly()?;
                Ok(Self::Numbers(array))
            }
            ("i" | "u", width @ (4 | 8)) => {
                one_dimension()?;
                let bytes = plain(&format!("={kind}{width}"))?.call_method1("view", ("u1",))?;
                let array = bytes.cast::<PyArrayDyn<u8>>()?.try_readonly()?;
                Ok(Self::Integers(array, width, kind == "i"))
            }
            ("u", 1) => match shape[..] {
                [_, width @ (4 | 16)] => {
                    let array = plain("u1")?;
                    let array = array.cast::<PyArrayDyn<u8>>()?.try_readonly()?;
                    Ok(Self::Bytes(array, width))
                }
                _ => Err(value_error!(
                    "bytes of shape {shape:?}: packed addresses have the shape (n, 4) or (n, 16)"
                )),
            },
            // Bytes, not a structure of fields.
            ("S" | "V", width @ (4 | 16)) if dtype.getattr("names")?.is_none() => {
                one_dimension()?;
                let bytes = plain(&dtype.str()?.to_cow()?)?.call_method1("view", ("u1",))?;
                let array = bytes.cast::<PyArrayDyn<u8>>()?.try_readonly()?;
                Ok(Self::Bytes(array, width))
            }
            ("U" | "T" | "O", _) => {
                one_dimension()?;
                Self::of_objects(array, invalid, false)
            }
            _ => Err(type_error!(
                "an array of dtype {}: addresses are integers of 32 or 64 bits (IPv4), uint8 of shape (n, 4) or \
                 (n, 16), S4 or S16 (packed), or text",
                dtype.str()?
            )),
        }
    }

    /// Keys one by one, by the interpreter; integers are IPv4 addresses if the column has a type that says so.
    fn of_objects(
        column: &Bound<'py, PyAny>,
        invalid: OnInvalid,
        of_integers: bool,
    ) -> PyResult<Self> {
        let rows = column.try_iter().map_err(|_| {
            let name = column.get_type().name();
            type_error!(
                "a column is a numpy array, Arrow data, a Series or an iterable of keys, not {}",
                name.map_or_else(|_| "this".to_owned(), |name| name.to_string())
            )
        })?;
        // An object may say any length, so memory is asked for as rows come.
        let mut addresses = Vec::with_capacity(column.len().unwrap_or(0).min(SIGNALS));
        for (row, key) in rows.enumerate() {
            if row % SIGNALS == SIGNALS - 1 {
                column.py().check_signals()?;
            }
            let py = column.py();
            let address = match of_object(&key?, of_integers) {
                Ok(address) => address,
                Err(error) if error.is_instance_of::<PyValueError>(py) => match invalid {
                    OnInvalid::Null => None,
                    OnInvalid::Raise => {
                        let reason = error.value(py);
                        return Err(value_error!("row {row}: {reason}"));
                    }
                },
                Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                    let reason = error.value(py);
                    return Err(type_error!("row {row}: {reason}"));
                }
                Err(error) => return Err(error),
            };
            addresses.push(address);
        }
        Ok(Self::Addresses(addresses))
    }

    /// The rows to look up, in order.
    ///
    /// # Errors
    /// `ValueError` if the array does not lie in memory as it was found or made.
    pub(super) fn rows(&self) -> PyResult<Vec<ColumnRows<'_>>> {
        Ok(match self {
            Self::Numbers(array) => vec![ColumnRows::Numbers(array.as_slice()?)],
            Self::Integers(array, width, is_signed) => {
                let cells = ArrowCells::of_integers(array.as_slice()?, *width, *is_signed);
                vec![ColumnRows::Cells(cells)]
            }
            Self::Bytes(array, width) => {
                let bytes = array.as_slice()?;
                vec![match width {
                    4 => ColumnRows::Bytes4(bytes.as_chunks().0),
                    _ => ColumnRows::Bytes16(bytes.as_chunks().0),
                }]
            }
            Self::Addresses(addresses) => vec![ColumnRows::Addresses(addresses)],
            Self::Arrow(pieces) => {
                let cells = pieces
                    .iter()
                    .map(|piece| piece.cells().map(ColumnRows::Cells));
                cells.collect::<PyResult<_>>()?
            }
        })
    }
}

/// The module, if it is there. Does not import it: an array comes with it.
fn numpy(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    let modules = py.import("sys")?.getattr("modules")?;
    let numpy = modules.call_method1("get", ("numpy",))?;
    Ok((!numpy.is_none()).then_some(numpy))
}

/// The address of one row; `None` for an object that stands for no value.
pub(crate) fn of_object(key: &Bound<'_, PyAny>, of_integers: bool) -> PyResult<Option<IpAddr>> {
    if let Ok(text) = key.cast::<PyString>() {
        return address(text.to_str()?.as_bytes())
            .map(Some)
            .map_err(|wrong| PyValueError::new_err(wrong.to_string()));
    }
    // None, and the NaN, NA and NaT of pandas.
    if key.is_none() || key.extract::<f64>().is_ok_and(f64::is_nan) && !key.hasattr("version")? {
        return Ok(None);
    }
    if matches!(key.get_type().name()?.to_str()?, "NAType" | "NaTType") {
        return Ok(None);
    }
    if of_integers && let Ok(number) = key.extract::<i128>() {
        let fits = u32::try_from(number).map_err(|_| CellError::Number(number));
        let bits = fits.map_err(|wrong| PyValueError::new_err(wrong.to_string()))?;
        return Ok(Some(IpAddr::V4(bits.into())));
    }
    let prefix = keys::prefix(key)?;
    let address = host(prefix);
    address
        .map(Some)
        .ok_or_else(|| value_error!("{prefix} is a prefix, not an address"))
}
