//! Columns of DuckDB, called vectors there: rows out of the columns of a call, and rows into the columns of its answer.
//!
//! They are flat: a row after the other, and a bit for each that is not null. A column's type says what its rows are.

use core::ffi::{c_char, c_void};
use core::marker::PhantomData;
use core::{ptr, slice};

use popfib_formats::addresses::parse_ipv4_at;

use crate::api::{DuckDbHandle, TypeId, api};

/// The longest text that lies inside of a [`SqlText`].
pub(crate) const INLINE: usize = 12;
/// The bytes of a length.
const LENGTH: usize = 4;

/// A text or blob as a column has it: its length in four bytes, and then all of up to [`INLINE`] bytes, or the first four of
/// more and a pointer to all. Unused bytes are zero. Two words, which are copied as such.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct SqlText([u64; 2]);

impl PartialEq for SqlText {
    /// True for short texts that are equal, and for long ones in the same place.
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        (self.0[0] ^ other.0[0]) | (self.0[1] ^ other.0[1]) == 0
    }
}

impl SqlText {
    /// All of a short text; only the length of a long one, which [`OutputVector::put_long`] writes.
    #[inline]
    pub(crate) fn new(text: &[u8]) -> Self {
        // No table has a longer text.
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let mut bytes = [[0; 8]; 2];
        let all = bytes.as_flattened_mut();
        all[..LENGTH].copy_from_slice(&len.to_ne_bytes());
        if text.len() <= INLINE {
            all[LENGTH..LENGTH + text.len()].copy_from_slice(text);
        }
        Self(bytes.map(u64::from_ne_bytes))
    }

    #[inline(always)]
    fn len(&self) -> usize {
        let [a, b, c, d, ..] = self.0[0].to_ne_bytes();
        u32::from_ne_bytes([a, b, c, d]) as usize
    }

    #[inline(always)]
    pub(crate) fn is_long(&self) -> bool {
        self.len() > INLINE
    }
}

/// The first `len` rows of a column of DuckDB's.
pub(crate) struct InputVector<'a> {
    vector: DuckDbHandle,
    data: *const c_void,
    validity: *const u64,
    len: usize,
    rows: PhantomData<&'a [u8]>,
}

impl<'a> InputVector<'a> {
    /// # Safety
    /// `vector` is flat and has `len` rows. It outlives `'a`, and does not change meanwhile.
    pub(crate) unsafe fn new(vector: DuckDbHandle, len: usize) -> Self {
        // SAFETY: a vector of DuckDB's.
        let (data, validity) = unsafe {
            (
                (api().vector_get_data)(vector),
                (api().vector_get_validity)(vector),
            )
        };
        Self {
            vector,
            data,
            validity,
            len,
            rows: PhantomData,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn type_id(&self) -> TypeId {
        self.logical_type().id()
    }

    /// The types of the fields of a column of structures.
    pub(crate) fn field_types(&self) -> Vec<TypeId> {
        self.logical_type().field_ids()
    }

    fn logical_type(&self) -> LogicalType {
        // SAFETY: the vector of `new`, which lives; the type is given back.
        LogicalType(unsafe { (api().vector_get_column_type)(self.vector) })
    }

    /// All rows; those that are null hold anything.
    ///
    /// # Safety
    /// OutputRows of the column's type are `T`, for which every pattern of bits is a value.
    pub(crate) unsafe fn rows<T>(&self) -> &'a [T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: so many rows, of that type; DuckDB aligns them to their size, or to 8 bytes.
        unsafe { slice::from_raw_parts(self.data.cast(), self.len) }
    }

    /// The bytes of a row that is not null.
    ///
    /// # Safety
    /// The column is of texts or blobs, and the row is not null.
    #[inline(always)]
    pub(crate) unsafe fn bytes(&self, row: usize) -> &'a [u8] {
        // SAFETY: a text that is not null is its length and its bytes, or its length, four bytes and a pointer to all of them.
        unsafe {
            let text = self.data.cast::<SqlText>().add(row);
            let len = (*text).len();
            let start = match len <= INLINE {
                true => text.cast::<u8>().add(LENGTH),
                false => text.cast::<*const u8>().add(1).read(),
            };
            slice::from_raw_parts(start, len)
        }
    }

    /// The IPv4 address of a row that is not null, if it is dotted and has no more than 16 bytes; else `None`.
    ///
    /// # Safety
    /// The column is of texts or blobs, and the row is not null.
    #[inline(always)]
    pub(crate) unsafe fn dotted(&self, row: usize) -> Option<u32> {
        // SAFETY: it asks for the same.
        let text = unsafe { self.bytes(row) };
        if !(8..=16).contains(&text.len()) {
            return None;
        }
        // The first and the last eight bytes, put together without a branch on the length or a call.
        let (first, last) = (text.first_chunk()?, text.last_chunk()?);
        let [first, last] = [first, last].map(|half| u128::from(u64::from_le_bytes(*half)));
        let whole = first | last << (8 * (text.len() - 8));
        let mut window = [0; 20];
        window[..16].copy_from_slice(&whole.to_le_bytes());
        parse_ipv4_at(&window, 0, text.len())
    }

    pub(crate) fn has_nulls(&self) -> bool {
        !self.validity.is_null()
    }

    #[inline(always)]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        // SAFETY: if it is not null, there is a bit for each row.
        self.has_nulls() && unsafe { *self.validity.add(row / 64) } >> (row % 64) & 1 == 0
    }

    /// The bits of nulls, one for each row; none if there are no nulls.
    pub(crate) fn validity(&self) -> &'a [u64] {
        match self.has_nulls() {
            // SAFETY: a bit for each row.
            true => unsafe { slice::from_raw_parts(self.validity, self.len.div_ceil(64)) },
            false => &[],
        }
    }

    /// All rows as bytes.
    ///
    /// # Safety
    /// OutputRows of the column's type are numbers of `size` bytes.
    pub(crate) unsafe fn raw(&self, size: usize) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: so many rows, of so many bytes each.
        unsafe { slice::from_raw_parts(self.data.cast(), self.len * size) }
    }

    /// A field of a column of structures.
    ///
    /// # Safety
    /// The column is of structures that have this field.
    pub(crate) unsafe fn field(&self, field: u64) -> InputVector<'a> {
        // SAFETY: there is that field, which is as long and lives as long as the whole.
        unsafe {
            InputVector::new(
                (api().struct_vector_get_child)(self.vector, field),
                self.len,
            )
        }
    }
}

/// A column to be filled.
#[derive(Clone, Copy)]
pub(crate) struct OutputVector(DuckDbHandle);

impl OutputVector {
    /// # Safety
    /// `vector` is one that DuckDB wants filled by this call, and the value is used no longer than the call lasts.
    pub(crate) unsafe fn new(vector: DuckDbHandle) -> Self {
        Self(vector)
    }

    /// The rows, which hold anything before they are written.
    ///
    /// # Safety
    /// The vector has `len` rows, each of which is a `T`.
    pub(crate) unsafe fn rows<'a, T: Copy>(&self, len: usize) -> OutputRows<'a, T> {
        // SAFETY: a vector of DuckDB's.
        let start = unsafe { (api().vector_get_data)(self.0) };
        OutputRows {
            start: start.cast(),
            len,
            rows: PhantomData,
        }
    }

    /// Makes those rows null that are not `filled`.
    ///
    /// # Safety
    /// The vector has as many rows as `filled`.
    pub(crate) unsafe fn set_nulls(&self, filled: &[bool]) {
        for (word, rows) in filled.chunks(64).enumerate() {
            // Without a branch for each, since nearly always all are.
            if rows.iter().fold(true, |all, filled| all & filled) {
                continue;
            }
            let null = |(row, filled): (usize, &bool)| u64::from(!filled) << row;
            let nulls: u64 = rows.iter().enumerate().map(null).sum();
            // SAFETY: the bits are there from then on, one for each row.
            unsafe {
                (api().vector_ensure_validity_writable)(self.0);
                *(api().vector_get_validity)(self.0).add(word) &= !nulls;
            }
        }
    }

    /// Writes a text of any length, of which DuckDB makes a copy.
    ///
    /// # Safety
    /// The vector is of texts and has this row.
    pub(crate) unsafe fn put_long(&self, row: usize, text: &[u8]) {
        let (start, len) = (text.as_ptr().cast::<c_char>(), text.len() as u64);
        // SAFETY: a row of a vector of texts; so many bytes, which DuckDB copies.
        unsafe { (api().vector_assign_string_element_len)(self.0, row as u64, start, len) }
    }

    /// Writes a text of any length to a row of `rows`.
    ///
    /// # Safety
    /// The vector is of texts, `rows` are its rows, and it has this row.
    #[inline]
    pub(crate) unsafe fn put(&self, rows: &OutputRows<'_, SqlText>, row: usize, text: &[u8]) {
        let short = SqlText::new(text);
        match short.is_long() {
            // SAFETY: it asks for the same.
            true => unsafe { self.put_long(row, text) },
            false => rows.set(row, short),
        }
    }

    /// The elements of all lists of a column, `len` in all; `None` if there is no memory for them.
    ///
    /// # Safety
    /// The vector is of lists.
    pub(crate) unsafe fn elements(&self, len: usize) -> Option<OutputVector> {
        // SAFETY: a vector of lists, as the caller promises.
        unsafe {
            let reserved = (api().list_vector_reserve)(self.0, len as u64) == 0
                && (api().list_vector_set_size)(self.0, len as u64) == 0;
            reserved.then(|| OutputVector((api().list_vector_get_child)(self.0)))
        }
    }

    /// Writes lists of pairs of texts to the first `len` rows: each pair with its row, those of a row side by side. `first` is the
    /// first text.
    ///
    /// # Errors
    /// There is no memory for the lists.
    ///
    /// # Safety
    /// The vector is of lists of structures of two texts, and has `len` rows and that of each pair among them.
    pub(crate) unsafe fn put_pairs<T>(
        &self,
        len: usize,
        pairs: &[(usize, T, Option<String>)],
        first: impl Fn(&T) -> &[u8],
    ) -> Result<(), String> {
        // SAFETY: such a vector, as the caller promises; its elements get room for all pairs before they are written.
        unsafe {
            let lists = self.rows::<[u64; 2]>(len);
            (0..len).for_each(|row| lists.set(row, [0, 0]));
            let count = pairs.len();
            let elements = self.elements(count).ok_or("no memory for the lists")?;
            let fields = [elements.field(0), elements.field(1)];
            let texts = fields.map(|field| field.rows::<SqlText>(count));
            for (at, (row, one, other)) in pairs.iter().enumerate() {
                fields[0].put(&texts[0], at, first(one));
                let other = other.as_deref().unwrap_or_default();
                fields[1].put(&texts[1], at, other.as_bytes());
                let [start, length] = lists.get(*row);
                let start = if length == 0 { at as u64 } else { start };
                lists.set(*row, [start, length + 1]);
            }
            let has_other = pairs.iter().map(|(.., other)| other.is_some());
            fields[1].set_nulls(&has_other.collect::<Vec<_>>());
        }
        Ok(())
    }

    /// A field of a column of structures.
    ///
    /// # Safety
    /// The vector is of structures that have this field.
    pub(crate) unsafe fn field(&self, field: u64) -> OutputVector {
        // SAFETY: there is that field, as the caller promises.
        OutputVector(unsafe { (api().struct_vector_get_child)(self.0, field) })
    }
}

/// The rows of an [`OutputVector`]; not a slice, since DuckDB writes to them too (`put_long`).
pub(crate) struct OutputRows<'a, T> {
    start: *mut T,
    len: usize,
    rows: PhantomData<&'a mut [T]>,
}

impl<T: Copy> OutputRows<'_, T> {
    #[inline(always)]
    pub(crate) fn set(&self, row: usize, value: T) {
        assert!(row < self.len);
        // SAFETY: one of the rows, aligned as in `InputVector::rows`.
        unsafe { self.start.add(row).write(value) }
    }

    /// A row that has been written.
    #[inline(always)]
    pub(crate) fn get(&self, row: usize) -> T {
        assert!(row < self.len);
        // SAFETY: one of the rows, aligned as in `InputVector::rows`, and written before.
        unsafe { self.start.add(row).read() }
    }
}

/// A logical type, given back at the end.
pub(crate) struct LogicalType(DuckDbHandle);

impl LogicalType {
    pub(crate) fn new(id: TypeId) -> Self {
        // SAFETY: any number may be given; DuckDB makes an invalid type of one that it does not know.
        Self(unsafe { (api().create_logical_type)(id.0) })
    }

    pub(crate) fn list(element: &Self) -> Self {
        // SAFETY: a type, which DuckDB copies.
        Self(unsafe { (api().create_list_type)(element.0) })
    }

    pub(crate) fn structure<const N: usize>(fields: [(&core::ffi::CStr, &Self); N]) -> Self {
        let mut types = fields.map(|(_, field)| field.0);
        let mut names = fields.map(|(name, _)| name.as_ptr());
        // SAFETY: arrays of `N` types and `N` strings, which DuckDB copies.
        Self(unsafe {
            (api().create_struct_type)(types.as_mut_ptr(), names.as_mut_ptr(), N as u64)
        })
    }

    /// The type of a value of DuckDB's.
    ///
    /// # Safety
    /// `value` is one, not null.
    pub(crate) unsafe fn id_of_value(value: DuckDbHandle) -> TypeId {
        // SAFETY: a value; its type belongs to it and is not given back.
        unsafe { TypeId((api().get_type_id)((api().get_value_type)(value))) }
    }

    pub(crate) fn handle(&self) -> DuckDbHandle {
        self.0
    }

    fn id(&self) -> TypeId {
        // SAFETY: a type that lives.
        TypeId(unsafe { (api().get_type_id)(self.0) })
    }

    fn field_ids(&self) -> Vec<TypeId> {
        // SAFETY: a type that lives, asked for fields only if it is a structure; theirs are given back.
        unsafe {
            let is_structure = self.id() == TypeId::STRUCT;
            let count = if is_structure {
                (api().struct_type_child_count)(self.0)
            } else {
                0
            };
            let field = |at| Self((api().struct_type_child_type)(self.0, at));
            (0..count).map(|at| field(at).id()).collect()
        }
    }
}

impl Drop for LogicalType {
    fn drop(&mut self) {
        // SAFETY: a type that is not used again.
        unsafe { (api().destroy_logical_type)(&raw mut self.0) }
        self.0 = ptr::null_mut();
    }
}
