//! Columns of DuckDB: those that it hands over, flat, and those that it wants filled.

use core::ffi::{c_char, c_void};
use core::marker::PhantomData;
use core::{ptr, slice};

use popfib_formats::addresses::parse_ipv4_at;

use crate::api::{Handle, TypeId, api};

/// The longest text that lies inside of a [`Text`].
pub(crate) const INLINE: usize = 12;
/// The bytes of a length.
const LENGTH: usize = 4;

/// A text or blob as a column holds it: its length in four bytes and, up to [`INLINE`] bytes, the bytes, else the
/// first four and a pointer. Its unused bytes are zero. Two words, which are copied as such.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Text([u64; 2]);

impl PartialEq for Text {
    /// Short texts that are equal, or long ones in the same place.
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        (self.0[0] ^ other.0[0]) | (self.0[1] ^ other.0[1]) == 0
    }
}

impl Text {
    /// The text itself, if it is short, else only its length: such a one is written by [`Output::put_long`].
    #[inline]
    pub(crate) fn new(text: &[u8]) -> Self {
        // Longer ones are refused where tables are made.
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
pub(crate) struct Column<'a> {
    vector: Handle,
    data: *const c_void,
    validity: *const u64,
    len: usize,
    rows: PhantomData<&'a [u8]>,
}

impl<'a> Column<'a> {
    /// # Safety
    /// A flat vector of so many rows, which outlives `'a` and does not change meanwhile.
    pub(crate) unsafe fn new(vector: Handle, len: usize) -> Self {
        // SAFETY: the caller's.
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
        // SAFETY: the vector of `new`.
        LogicalType(unsafe { (api().vector_get_column_type)(self.vector) })
    }

    /// The rows as what they are; those that are null hold anything.
    ///
    /// # Safety
    /// The column is of a type that DuckDB keeps as a `T`, for which every pattern of bits is a value.
    pub(crate) unsafe fn rows<T>(&self) -> &'a [T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the caller's; DuckDB aligns the rows of a column to their size, or to 8 bytes.
        unsafe { slice::from_raw_parts(self.data.cast(), self.len) }
    }

    /// The bytes of a row that is not null.
    ///
    /// # Safety
    /// The column is of texts or blobs, and the row is not null.
    #[inline(always)]
    pub(crate) unsafe fn bytes(&self, row: usize) -> &'a [u8] {
        // SAFETY: the caller's: a length and the bytes, or a length, four bytes and a pointer to all of them.
        unsafe {
            let text = self.data.cast::<Text>().add(row);
            let len = (*text).len();
            let start = match len <= INLINE {
                true => text.cast::<u8>().add(LENGTH),
                false => text.cast::<*const u8>().add(1).read(),
            };
            slice::from_raw_parts(start, len)
        }
    }

    /// The dotted IPv4 address that a row is which is not null, for nearly all of them; else `None`.
    ///
    /// # Safety
    /// As for `bytes`.
    #[inline(always)]
    pub(crate) unsafe fn dotted(&self, row: usize) -> Option<u32> {
        // SAFETY: the caller's.
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
        // SAFETY: a bit for each row, if there are any.
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

    /// The rows as bytes.
    ///
    /// # Safety
    /// The column is of a type that DuckDB keeps as numbers of `size` bytes.
    pub(crate) unsafe fn raw(&self, size: usize) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the caller's.
        unsafe { slice::from_raw_parts(self.data.cast(), self.len * size) }
    }

    /// A field of a column of structures.
    ///
    /// # Safety
    /// It is one, with so many fields.
    pub(crate) unsafe fn field(&self, field: u64) -> Column<'a> {
        // SAFETY: the caller's; fields are as long as the whole.
        unsafe {
            Column::new(
                (api().struct_vector_get_child)(self.vector, field),
                self.len,
            )
        }
    }
}

/// A column to be filled.
#[derive(Clone, Copy)]
pub(crate) struct Output(Handle);

impl Output {
    /// # Safety
    /// A vector that DuckDB wants filled, used only as long as the call lasts.
    pub(crate) unsafe fn new(vector: Handle) -> Self {
        Self(vector)
    }

    /// Its rows, so many, whose old contents are anything.
    ///
    /// # Safety
    /// The vector has so many, each a `T`.
    pub(crate) unsafe fn rows<'a, T: Copy>(&self, len: usize) -> Rows<'a, T> {
        // SAFETY: the caller's.
        let start = unsafe { (api().vector_get_data)(self.0) };
        Rows {
            start: start.cast(),
            len,
            rows: PhantomData,
        }
    }

    /// Makes those rows null that are not `filled`.
    ///
    /// # Safety
    /// The vector has so many rows.
    pub(crate) unsafe fn set_nulls(&self, filled: &[bool]) {
        for (word, rows) in filled.chunks(64).enumerate() {
            // Without a branch for each, since nearly always all are.
            if rows.iter().fold(true, |all, filled| all & filled) {
                continue;
            }
            let null = |(row, filled): (usize, &bool)| u64::from(!filled) << row;
            let nulls: u64 = rows.iter().enumerate().map(null).sum();
            // SAFETY: the caller's; once there is a map it has a bit for each row.
            unsafe {
                (api().vector_ensure_validity_writable)(self.0);
                *(api().vector_get_validity)(self.0).add(word) &= !nulls;
            }
        }
    }

    /// Writes a text of any length, of which DuckDB makes a copy.
    ///
    /// # Safety
    /// The column is of texts and has this row.
    pub(crate) unsafe fn put_long(&self, row: usize, text: &[u8]) {
        let (start, len) = (text.as_ptr().cast::<c_char>(), text.len() as u64);
        // SAFETY: the caller's.
        unsafe { (api().vector_assign_string_element_len)(self.0, row as u64, start, len) }
    }

    /// Writes a text of any length to a row of `rows`, which are this column's.
    ///
    /// # Safety
    /// The column is of texts.
    #[inline]
    pub(crate) unsafe fn put(&self, rows: &Rows<'_, Text>, row: usize, text: &[u8]) {
        let short = Text::new(text);
        match short.is_long() {
            // SAFETY: the caller's.
            true => unsafe { self.put_long(row, text) },
            false => rows.set(row, short),
        }
    }

    /// The elements of a column of lists, so many in all.
    ///
    /// # Safety
    /// It is one.
    pub(crate) unsafe fn elements(&self, len: usize) -> Option<Output> {
        // SAFETY: the caller's.
        unsafe {
            let reserved = (api().list_vector_reserve)(self.0, len as u64) == 0
                && (api().list_vector_set_size)(self.0, len as u64) == 0;
            reserved.then(|| Output((api().list_vector_get_child)(self.0)))
        }
    }

    /// A field of a column of structures.
    ///
    /// # Safety
    /// It is one, with so many fields.
    pub(crate) unsafe fn field(&self, field: u64) -> Output {
        // SAFETY: the caller's.
        Output(unsafe { (api().struct_vector_get_child)(self.0, field) })
    }
}

/// The rows of an [`Output`]; not a slice, for DuckDB writes to them too.
pub(crate) struct Rows<'a, T> {
    start: *mut T,
    len: usize,
    rows: PhantomData<&'a mut [T]>,
}

impl<T: Copy> Rows<'_, T> {
    #[inline(always)]
    pub(crate) fn set(&self, row: usize, value: T) {
        assert!(row < self.len);
        // SAFETY: one of the rows, aligned as in `Column::rows`.
        unsafe { self.start.add(row).write(value) }
    }

    /// A row that has been written.
    #[inline(always)]
    pub(crate) fn get(&self, row: usize) -> T {
        assert!(row < self.len);
        // SAFETY: as above.
        unsafe { self.start.add(row).read() }
    }
}

/// A logical type, given back at the end.
pub(crate) struct LogicalType(Handle);

impl LogicalType {
    pub(crate) fn new(id: TypeId) -> Self {
        // SAFETY: a number.
        Self(unsafe { (api().create_logical_type)(id.0) })
    }

    pub(crate) fn list(element: &Self) -> Self {
        // SAFETY: a type, which is copied.
        Self(unsafe { (api().create_list_type)(element.0) })
    }

    pub(crate) fn structure<const N: usize>(fields: [(&core::ffi::CStr, &Self); N]) -> Self {
        let mut types = fields.map(|(_, field)| field.0);
        let mut names = fields.map(|(name, _)| name.as_ptr());
        // SAFETY: arrays of as many types and strings, which are copied.
        Self(unsafe {
            (api().create_struct_type)(types.as_mut_ptr(), names.as_mut_ptr(), N as u64)
        })
    }

    /// The type of a value of DuckDB's.
    ///
    /// # Safety
    /// It is one. The type is the value's, and not given back.
    pub(crate) unsafe fn id_of_value(value: Handle) -> TypeId {
        // SAFETY: the caller's.
        unsafe { TypeId((api().get_type_id)((api().get_value_type)(value))) }
    }

    pub(crate) fn handle(&self) -> Handle {
        self.0
    }

    fn id(&self) -> TypeId {
        // SAFETY: its own.
        TypeId(unsafe { (api().get_type_id)(self.0) })
    }

    fn field_ids(&self) -> Vec<TypeId> {
        // SAFETY: its own, asked for fields only if it is a structure.
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
        // SAFETY: its own.
        unsafe { (api().destroy_logical_type)(&raw mut self.0) }
        self.0 = ptr::null_mut();
    }
}
