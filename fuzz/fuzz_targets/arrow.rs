//! Arrow columns as Python imports them: structures of the C data interface that say anything about buffers of exact
//! length, so that the address sanitizer sees a read outside of them.
#![no_main]

#[path = "../../crates/popfib-python/src/columns/c_data.rs"]
#[allow(dead_code)]
mod c_data;
#[path = "../../crates/popfib-python/src/columns/cells.rs"]
#[allow(dead_code)]
mod cells;
#[path = "../../crates/popfib-python/src/quote.rs"]
mod quote;

use std::ffi::{CString, c_void};
use std::ptr;

use arbitrary::Arbitrary;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use cells::{ArrowCell, ArrowCells, column_type};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    format: u8,
    column: Column,
    /// What makes a dictionary of the column: the format of its words.
    words: Option<(u8, Column)>,
}

#[derive(Arbitrary, Debug)]
struct Column {
    length: i64,
    null_count: i64,
    offset: i64,
    /// In place of the number of buffers that there are.
    buffer_count: Option<i64>,
    /// Null where there is none.
    buffers: Vec<Option<Vec<u8>>>,
}

const FORMATS: [&str; 20] = [
    "u", "z", "U", "Z", "vu", "vz", "w:4", "w:16", "I", "n", "c", "C", "s", "S", "i", "l", "L",
    "+s", "w:5", "",
];

/// The same as the interface has it; its release is a function that only marks it.
#[repr(C)]
struct RawSchema {
    format: *const i8,
    name: *const i8,
    metadata: *const i8,
    flags: i64,
    n_children: i64,
    children: *mut c_void,
    dictionary: *mut RawSchema,
    release: Option<unsafe extern "C" fn(*mut RawSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct RawArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut c_void,
    dictionary: *mut RawArray,
    release: Option<unsafe extern "C" fn(*mut RawArray)>,
    private_data: *mut c_void,
}

// SAFETY: called with a structure of ours, once.
unsafe extern "C" fn release_schema(schema: *mut RawSchema) {
    // SAFETY: the structure that is released.
    unsafe { (*schema).release = None }
}

// SAFETY: called with a structure of ours, once.
unsafe extern "C" fn release_array(array: *mut RawArray) {
    // SAFETY: the structure that is released.
    unsafe { (*array).release = None }
}

fn schema(format: &CString, dictionary: *mut RawSchema) -> RawSchema {
    RawSchema {
        format: format.as_ptr().cast(),
        name: ptr::null(),
        metadata: ptr::null(),
        flags: 2,
        n_children: 0,
        children: ptr::null_mut(),
        dictionary,
        release: Some(release_schema),
        private_data: ptr::null_mut(),
    }
}

/// How long a buffer has to be for what the array says, which is what a producer promises: `None` where the counts
/// make no sense, so that no promise can be kept.
fn promised(format: &str, index: usize, column: &Column) -> Option<usize> {
    let all = usize::try_from(column.length).ok()?;
    let all = all.checked_add(usize::try_from(column.offset).ok()?)?;
    let bits = match (format, index) {
        (_, 0) => 1,
        ("u" | "z", 1) => return all.checked_add(1)?.checked_mul(4),
        ("U" | "Z", 1) => return all.checked_add(1)?.checked_mul(8),
        ("vu" | "vz" | "w:16", 1) => 128,
        ("c" | "C", 1) => 8,
        ("s" | "S", 1) => 16,
        ("l" | "L", 1) => 64,
        _ => 32,
    };
    Some(all.checked_mul(bits)?.div_ceil(8))
}

/// The column's buffers, each of the length that is promised for it, or nothing where that cannot be.
fn buffers(format: &str, column: &Column) -> Option<Vec<Option<Box<[u8]>>>> {
    const MOST: usize = 1 << 16;
    let sized = |index: usize, len: usize| {
        let mut bytes = column.buffers.get(index)?.clone()?;
        bytes.resize(len, 0);
        Some(bytes.into_boxed_slice())
    };
    let mut all = Vec::new();
    for index in 0..2.min(column.buffers.len()) {
        let len = promised(format, index, column).unwrap_or(0);
        if len > MOST {
            return None;
        }
        all.push(sized(index, len));
    }
    let last = |width: usize| {
        let ends = all.get(1)?.as_deref()?;
        let end = ends.get(ends.len().checked_sub(width)?..)?;
        match width {
            4 => usize::try_from(i32::from_ne_bytes(end.try_into().ok()?)).ok(),
            _ => usize::try_from(i64::from_ne_bytes(end.try_into().ok()?)).ok(),
        }
    };
    match format {
        "u" | "z" | "U" | "Z" => {
            let len = last(if matches!(format, "u" | "z") { 4 } else { 8 }).unwrap_or(0);
            if len > MOST {
                return None;
            }
            all.extend((column.buffers.len() > 2).then(|| sized(2, len)));
        }
        "vu" | "vz" if column.buffers.len() > 2 => {
            // The data as they are, after them their lengths.
            let data = &column.buffers[2..];
            let lens = data
                .iter()
                .map(|data| data.as_ref().map_or(0, Vec::len) as i64);
            let lens: Vec<u8> = lens.flat_map(i64::to_ne_bytes).collect();
            all.extend(
                data.iter()
                    .map(|data| data.clone().map(Vec::into_boxed_slice)),
            );
            all.push(Some(lens.into_boxed_slice()));
        }
        _ => {}
    }
    Some(all)
}

struct Made {
    /// What `raw` points to.
    _buffers: Vec<Option<Box<[u8]>>>,
    _pointers: Vec<*const c_void>,
    raw: RawArray,
}

fn make(format: &str, column: &Column, dictionary: *mut RawArray) -> Option<Made> {
    let buffers = buffers(format, column)?;
    let pointer = |buffer: &Option<Box<[u8]>>| {
        let start = buffer.as_ref().map(|bytes| bytes.as_ptr());
        start.unwrap_or(ptr::null()).cast()
    };
    let mut pointers: Vec<*const c_void> = buffers.iter().map(pointer).collect();
    let count = pointers.len() as i64;
    // Fewer than there are, or any number that is refused before one of them is read.
    let asked = column.buffer_count.filter(|asked| *asked < count);
    let raw = RawArray {
        length: column.length,
        null_count: column.null_count,
        offset: column.offset,
        n_buffers: asked.unwrap_or(count),
        n_children: 0,
        buffers: pointers.as_mut_ptr(),
        children: ptr::null_mut(),
        dictionary,
        release: Some(release_array),
        private_data: ptr::null_mut(),
    };
    // Fewer buffers of views would have other lengths than these.
    let is_view = matches!(format, "vu" | "vz");
    (asked.is_none() || !is_view).then_some(Made {
        _buffers: buffers,
        _pointers: pointers,
        raw,
    })
}

fuzz_target!(|input: Input| {
    let format = FORMATS[usize::from(input.format) % FORMATS.len()];
    let format_text = CString::new(format).unwrap();
    let words = input.words.as_ref();
    let words_format = words.map_or("u", |(format, _)| {
        FORMATS[usize::from(*format) % FORMATS.len()]
    });
    let words_text = CString::new(words_format).unwrap();
    let mut words_schema = schema(&words_text, ptr::null_mut());
    let mut words_array = match words {
        None => None,
        Some((_, column)) => match make(words_format, column, ptr::null_mut()) {
            None => return,
            made => made,
        },
    };
    let dictionary = words.map_or(ptr::null_mut(), |_| &raw mut words_schema);
    let mut schema = schema(&format_text, dictionary);
    let dictionary = words_array
        .as_mut()
        .map_or(ptr::null_mut(), |words| &raw mut words.raw);
    let Some(mut array) = make(format, &input.column, dictionary) else {
        return;
    };
    // SAFETY: structures of the interface over buffers of the lengths that they state, which outlive them.
    let (schema, array) = unsafe {
        (
            FFI_ArrowSchema::from_raw((&raw mut schema).cast()),
            FFI_ArrowArray::from_raw((&raw mut array.raw).cast()),
        )
    };
    let Ok(data_type) = column_type(&schema) else {
        return;
    };
    let Ok(cells) = ArrowCells::of(&array, &data_type) else {
        return;
    };
    let mut sum = 0_u64;
    for row in 0..cells.len().min(1 << 12) {
        let cell = match cells.cell(row) {
            Ok(ArrowCell::Text(bytes) | ArrowCell::Packed(bytes)) => {
                bytes.iter().map(|&b| u64::from(b)).sum()
            }
            Ok(ArrowCell::Number(number)) => u64::from(number),
            Ok(ArrowCell::Null) => 0,
            Err(wrong) => {
                let text = wrong.to_string();
                assert!(!text.contains('\n') && text.len() < 400);
                0
            }
        };
        sum = sum.wrapping_add(cell);
        if let (Ok(Some(index)), Some(words)) = (cells.index(row), cells.words()) {
            assert!(index < words.len());
        }
    }
    if let Some(numbers) = cells.numbers() {
        assert_eq!(numbers.len(), cells.len());
        sum = numbers
            .iter()
            .fold(sum, |sum, &number| sum.wrapping_add(number.into()));
    }
    if let Some(text) = cells.texts() {
        for row in 0..cells.len().min(1 << 12) {
            assert_eq!(text(row), cells.cell(row));
        }
    }
    std::hint::black_box(sum);
});
