//! Arrow data in and out by the Arrow C data interface (PyCapsules): without a copy, and without a library of Arrow for Python.
//!
//! The protocol: an object's `__arrow_c_array__` or `__arrow_c_stream__` returns capsules that hold C structures. Whoever takes
//! a structure out marks the capsule's as released, and releases the own one when done.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use arrow_array::StringArray;
use arrow_array::ffi::{self, FFI_ArrowSchema};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_data::ArrayData;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use super::c_data::{ArrowArray, ArrowSchema, ArrowStream, OwnedArrow};
use super::cells::{ArrowCellKind, ArrowCells};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// An array that was taken over, and what its cells are.
pub(super) struct ArrowPiece {
    array: OwnedArrow<ArrowArray>,
    kind: ArrowCellKind,
}

impl ArrowPiece {
    fn new(array: OwnedArrow<ArrowArray>, kind: ArrowCellKind) -> PyResult<Self> {
        let piece = Self { array, kind };
        piece.cells()?;
        Ok(piece)
    }

    /// The cells of the array.
    ///
    /// # Errors
    /// `ValueError` if its counts and buffers contradict each other; `new` fails then.
    pub(super) fn cells(&self) -> PyResult<ArrowCells<'_>> {
        ArrowCells::of(&self.array, &self.kind)
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
        let schema = unsafe { OwnedArrow::<ArrowSchema>::take(schema.cast()) };
        // SAFETY: the same of a capsule of an array.
        let array = unsafe { OwnedArrow::<ArrowArray>::take(array.cast()) };
        if schema.is_released() || array.is_released() {
            return Err(value_error!("the Arrow array was taken before"));
        }
        return Ok(Some(vec![ArrowPiece::new(array, kind(&schema)?)?]));
    }
    if !object.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let stream = pointer(&capsule, STREAM)?;
    // SAFETY: by the protocol, a capsule of this name holds such a structure, which whoever has the capsule may take.
    let mut stream = unsafe { OwnedArrow::<ArrowStream>::take(stream.cast()) };
    let schema = stream.schema().map_err(PyValueError::new_err)?;
    let kind = kind(&schema)?;
    let mut pieces = Vec::new();
    while let Some(array) = stream.array().map_err(PyValueError::new_err)? {
        pieces.push(ArrowPiece::new(array, kind.clone())?);
    }
    Ok(Some(pieces))
}

fn kind(schema: &ArrowSchema) -> PyResult<ArrowCellKind> {
    ArrowCellKind::of(schema).map_err(|other| {
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
