//! Arrow data in and out by the Arrow C data interface (PyCapsules): no copy, and
//! no library of Arrow for Python needed on this side.
//!
//! The protocol: an object's `__arrow_c_array__` or `__arrow_c_stream__` gives
//! capsules that hold C structures; who takes a structure out marks the capsule's
//! as released, and releases his own when done.

use std::ffi::CStr;
use std::ptr::NonNull;

use arrow_array::ffi::{self, FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::ArrayStreamReader;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::ArrayData;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The arrays behind an object; `None` if it does not speak Arrow.
pub(super) fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<ArrayRef>>> {
    let error = |error: arrow_schema::ArrowError| PyValueError::new_err(error.to_string());
    if object.hasattr("__arrow_c_array__")? {
        let capsules = object.call_method0("__arrow_c_array__")?;
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = capsules.extract()?;
        let schema = pointer(&schema, SCHEMA)?.cast::<FFI_ArrowSchema>();
        let array = pointer(&array, ARRAY)?.cast::<FFI_ArrowArray>();
        // SAFETY: a capsule of that name holds such a structure, says the protocol; the
        // one in the capsule is marked as released.
        let schema = unsafe { FFI_ArrowSchema::from_raw(schema.as_ptr()) };
        // SAFETY: as above.
        let array = unsafe { FFI_ArrowArray::from_raw(array.as_ptr()) };
        if array.is_released() {
            return Err(PyValueError::new_err("the Arrow array was taken before"));
        }
        // SAFETY: the schema came with the array, by the same call.
        let data = unsafe { ffi::from_ffi(array, &schema) }.map_err(error)?;
        return Ok(Some(vec![make_array(data)]));
    }
    if !object.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let stream = pointer(&capsule, STREAM)?;
    // SAFETY: a capsule of that name holds such a structure; it is marked as released.
    let reader = unsafe { ArrayStreamReader::from_raw(stream.cast().as_ptr()) };
    let arrays: Result<_, _> = reader.map_err(error)?.collect();
    arrays.map(Some).map_err(error)
}

/// What a capsule of that name points to.
fn pointer(object: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<std::ffi::c_void>> {
    let capsule = object
        .cast::<PyCapsule>()
        .map_err(|_| PyTypeError::new_err("the object's Arrow method did not return capsules"))?;
    capsule.pointer_checked(Some(name))
}

/// A column of answers, for anything that takes Arrow: `pyarrow.array(column)`,
/// `polars.Series(column)`.
#[pyclass(frozen, module = "popfib")]
pub(crate) struct ArrowColumn(ArrayData);

impl ArrowColumn {
    pub(super) fn new(array: &dyn Array) -> Self {
        Self(array.to_data())
    }
}

#[pymethods]
impl ArrowColumn {
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
