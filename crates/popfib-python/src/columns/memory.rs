//! Memory for large arrays of answers: huge pages, and used again when an array is gone.
//!
//! Ten million answers are 40 MB, which the system hands out zeroed: that alone takes a third of the time of the lookups. So
//! the memory of the last array that was freed is kept for the next one of about its size, as `malloc` does for smaller ones.
//! It is marked as free (`MADV_FREE`): if memory is short, the system takes it, and gives fresh pages when it is written again.
//!
//! Rejected: numpy's own memory (huge pages too, but never kept), telling the system to hand out all pages at once, and
//! keeping more than one piece.

use std::sync::{Mutex, PoisonError};

use memmap2::{Advice, MmapMut, UncheckedAdvice};
use numpy::PyArray1;
use numpy::ndarray::ArrayViewMut1;
use pyo3::prelude::*;

/// A huge page: shorter arrays are numpy's, from memory that `malloc` keeps.
const LEAST: usize = 2 << 20;

/// The memory of the last array that is gone.
static SPARE: Mutex<Option<MmapMut>> = Mutex::new(None);

fn exchange(memory: Option<MmapMut>) -> Option<MmapMut> {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *spare, memory)
}

/// Owns the memory of an array, whose base it is.
#[pyclass(name = "Memory", frozen, module = "popfib")]
struct PyArrayMemory(Option<MmapMut>);

impl Drop for PyArrayMemory {
    fn drop(&mut self) {
        let Some(memory) = self.0.take() else { return };
        // SAFETY: the array is gone, so nobody reads what it held.
        let freed = unsafe { memory.unchecked_advise(UncheckedAdvice::Free) };
        if freed.is_ok() {
            // The one before is unmapped after the lock is released.
            drop(exchange(Some(memory)));
        }
    }
}

/// An array of `count` numbers, which may be any; `None` if numpy makes one as well.
pub(super) fn array(py: Python<'_>, count: usize) -> Option<Bound<'_, PyArray1<u32>>> {
    let bytes = count.checked_mul(size_of::<u32>())?;
    if bytes < LEAST {
        return None;
    }
    // In whole huge pages, so that the system puts it at the beginning of one.
    let bytes = bytes.checked_next_multiple_of(LEAST)?;
    let fits = |memory: &MmapMut| (bytes..=bytes * 2).contains(&memory.len());
    let mut memory = match exchange(None).filter(fits) {
        Some(memory) => memory,
        None => {
            let memory = MmapMut::map_anon(bytes).ok()?;
            // Only a wish: without huge pages it is slower.
            let _ = memory.advise(Advice::HugePage);
            memory
        }
    };
    let start = memory.as_mut_ptr().cast::<u32>();
    let owner = Bound::new(py, PyArrayMemory(Some(memory))).ok()?;
    // SAFETY: the pages are aligned, as long as that, and filled with zeros or with the numbers
    // of an array that is gone. They stay where they are as long as the owner lives, and nobody
    // else has them: the view ends here, and the owner never looks into them.
    unsafe {
        let numbers = ArrayViewMut1::from_shape_ptr(count, start);
        Some(PyArray1::borrow_from_array(&numbers, owner.into_any()))
    }
}
