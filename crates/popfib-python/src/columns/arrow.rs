//! Arrow data in and out by the Arrow C data interface (PyCapsules): without a copy, and without a library of Arrow for Python.
//!
//! The protocol: an object's `__arrow_c_array__` or `__arrow_c_stream__` returns capsules that hold C structures. Whoever takes
//! a structure out marks the capsule's as released, and releases the own one when done.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use arrow_array::StringArray;
use arrow_array::ffi::{self, FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::c_data::of_stream;
use super::cells::{ArrowCells, column_type};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// An array that was taken over, and its type.
pub(super) struct ArrowPiece {
    array: FFI_ArrowArray,
    data_type: DataType,
}

impl ArrowPiece {
    fn new(array: FFI_ArrowArray, data_type: DataType) -> PyResult<Self> {
        let piece = Self { array, data_type };
        piece.cells()?;
        Ok(piece)
    }

    /// The cells of the array.
    ///
    /// # Errors
    /// `ValueError` if its counts and buffers contradict each other; `new` fails then.
    pub(super) fn cells(&self) -> PyResult<ArrowCells<'_>> {
        ArrowCells::of(&self.array, &self.data_type)
            .map_err(|wrong| PyValueError::new_err(wrong.to_string()))
    }
}

/// The arrays that an object exports; `None` if it does not speak Arrow.
pub(super) fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<ArrowPiece>>> {
    if object.hasattr("__arrow_c_array__")? {
        let capsules = object.call_method0("__arrow_c_array__")?;
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = capsules.extract()?;
        let (schema, array) = (pointer(&schema, SCHEMA)?, pointer(&array, ARRAY)?);
        // SAFETY: by the protocol, a capsule of this name holds such a structure, which whoever has the capsule may take.
        let schema = unsafe { FFI_ArrowSchema::from_raw(schema.as_ptr().cast()) };
        // SAFETY: the same of a capsule of an array.
        let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr().cast()) };
        if schema.release().is_none() || array.is_released() {
            return Err(value_error!("the Arrow array was taken before"));
        }
        return Ok(Some(vec![ArrowPiece::new(array, addresses(&schema)?)?]));
    }
    if !object.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let stream = pointer(&capsule, STREAM)?;
    // SAFETY: by the protocol, a capsule of this name holds such a structure, which whoever has the capsule may take.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr().cast()) };
    let (schema, next) = (stream.get_schema(), stream.get_next());
    let schema = of_stream(&mut stream, schema, FFI_ArrowSchema::empty());
    let data_type = addresses(&schema.map_err(PyValueError::new_err)?)?;
    let mut pieces = Vec::new();
    loop {
        let array = of_stream(&mut stream, next, FFI_ArrowArray::empty());
        let array = array.map_err(PyValueError::new_err)?;
        if array.is_released() {
            return Ok(Some(pieces));
        }
        pieces.push(ArrowPiece::new(array, data_type.clone())?);
    }
}

fn addresses(schema: &FFI_ArrowSchema) -> PyResult<DataType> {
    column_type(schema).map_err(|other| {
        type_error!("a column of {other}: addresses are text, integers of 32 or 64 bits (IPv4) or binary of 4 or 16 bytes")
    })
}

/// What a capsule of this name points to.
fn pointer(object: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<c_void>> {
    let capsule = object
        .cast::<PyCapsule>()
        .map_err(|_| type_error!("the object's Arrow method did not return capsules"))?;
    capsule.pointer_checked(Some(name))
}

/// A column of texts: `write` writes one text, or returns that it is null.
pub(super) fn texts<T>(
    found: &[T],
    write: impl Fn(&T, &mut Vec<u8>) -> bool,
) -> PyResult<StringArray> {
    let mut bytes = Vec::with_capacity(16 * found.len());
    let mut ends = Vec::with_capacity(found.len() + 1);
    ends.push(0);
    let mut nulls = NullBufferBuilder::new(found.len());
    for found in found {
        nulls.append(write(found, &mut bytes));
        let end = i32::try_from(bytes.len());
        ends.push(end.map_err(|_| value_error!("more than 2 GiB of text"))?);
    }
    StringArray::try_new(OffsetBuffer::new(ends.into()), bytes.into(), nulls.finish())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A column of answers, for anything that takes Arrow: `pyarrow.array(column)`,
/// `polars.Series(column)`.
#[pyclass(name = "ArrowColumn", frozen, module = "popfib")]
pub(crate) struct PyArrowColumn(ArrayData);

impl PyArrowColumn {
    pub(super) fn new(array: &dyn arrow_array::Array) -> Self {
        Self(array.to_data())
    }
}

#[pymethods]
impl PyArrowColumn {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "<popfib.ArrowColumn of {} rows: {}>",
            self.0.len(),
            self.0.data_type()
        )
    }

    /// Return capsules of the schema and the array (Arrow PyCapsule interface).
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // A request is a wish by the protocol; there is one form only.
        let _ = requested_schema;
        let (array, schema) =
            ffi::to_ffi(&self.0).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
        let array = PyCapsule::new_with_value(py, array, ARRAY)?;
        (schema, array).into_pyobject(py)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.data_type())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }
}
