//! Whether a column is the one that was seen before it: a query that asks for several columns of records calls a function
//! for each, with the same addresses, which are read and looked up once.
//!
//! What was seen is kept and compared as a whole, since DuckDB uses memory again and so its place says nothing. Numbers are
//! cheap to keep. Texts are kept only if columns come again: if one has the length and the first and last row of that before.

use crate::api::TypeId;
use crate::vector::{Column, Text};

/// The column seen last.
#[derive(Default)]
pub(crate) struct Seen {
    form: Option<Form>,
    validity: Vec<u64>,
    /// Its rows as numbers, or those of its texts that are no [`Key`], one after the other.
    bytes: Vec<u8>,
    keys: Vec<Key>,
    /// The first and the last of its texts, and how many there were.
    edges: Option<(Text, Text, usize)>,
    keeps_texts: bool,
}

/// How the rows of a column lie in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As numbers of so many bytes.
    Numbers(TypeId, usize),
    Texts(TypeId),
}

/// A text: of 8 to 16 bytes, as most addresses have, the first and the last eight of them, else where it is among those kept.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    len: usize,
    halves: [u64; 2],
}

impl Key {
    /// That of a text which tells all of it, if it is one of 8 to 16 bytes.
    #[inline(always)]
    fn of(text: &[u8]) -> Option<Self> {
        if !(8..=16).contains(&text.len()) {
            return None;
        }
        let halves = [text.first_chunk()?, text.last_chunk()?];
        Some(Self {
            len: text.len(),
            halves: halves.map(|half| u64::from_ne_bytes(*half)),
        })
    }
}

impl Form {
    /// That of a column; none of one that is not kept.
    fn of(type_id: TypeId) -> Option<Self> {
        match type_id {
            TypeId::UINTEGER | TypeId::INTEGER => Some(Self::Numbers(type_id, 4)),
            TypeId::BIGINT | TypeId::UBIGINT => Some(Self::Numbers(type_id, 8)),
            TypeId::HUGEINT | TypeId::UHUGEINT => Some(Self::Numbers(type_id, 16)),
            TypeId::VARCHAR | TypeId::BLOB => Some(Self::Texts(type_id)),
            _ => None,
        }
    }
}

impl Seen {
    /// Whether this column has the same type and rows as the one that was kept.
    ///
    /// # Safety
    /// It is of this type.
    pub(crate) unsafe fn is(&mut self, type_id: TypeId, column: &Column<'_>) -> bool {
        let form = Form::of(type_id);
        // SAFETY: the caller's.
        unsafe {
            if let Some(Form::Texts(_)) = form {
                let rows = column.rows::<Text>();
                let edges = rows.first().zip(rows.last());
                let edges = edges.map(|(&first, &last)| (first, last, rows.len()));
                self.keeps_texts |= edges.is_some() && self.edges == edges;
                self.edges = edges;
            }
            if form.is_none() || self.form != form || self.validity != column.validity() {
                return false;
            }
            match form {
                Some(Form::Numbers(_, size)) => self.bytes == column.raw(size),
                _ => {
                    self.keys.len() == column.len()
                        && self.keys.iter().enumerate().all(|(row, key)| {
                            column.is_null(row) || self.is_text(key, column.bytes(row))
                        })
                }
            }
        }
    }

    /// Whether this is the text of a key.
    #[inline(always)]
    fn is_text(&self, key: &Key, text: &[u8]) -> bool {
        match Key::of(text) {
            Some(of) => of == *key,
            None => {
                let start = key.halves[0] as usize;
                let kept = self.bytes.get(start..start + key.len);
                Key::of(kept.unwrap_or(text)).is_none() && kept == Some(text)
            }
        }
    }

    /// Keeps nothing.
    pub(crate) fn forget(&mut self) {
        self.form = None;
    }

    /// Keeps this column.
    ///
    /// # Safety
    /// It is of this type.
    pub(crate) unsafe fn keep(&mut self, type_id: TypeId, column: &Column<'_>) {
        self.form = Form::of(type_id);
        self.bytes.clear();
        self.keys.clear();
        self.validity.clear();
        // SAFETY: the caller's.
        unsafe {
            match self.form {
                None => return,
                Some(Form::Numbers(_, size)) => self.bytes.extend_from_slice(column.raw(size)),
                Some(Form::Texts(_)) if !self.keeps_texts => return self.forget(),
                Some(Form::Texts(_)) => {
                    for row in 0..column.len() {
                        let is_null = column.is_null(row);
                        let text = if is_null { &[] } else { column.bytes(row) };
                        let key = Key::of(text).unwrap_or_else(|| {
                            let start = self.bytes.len();
                            self.bytes.extend_from_slice(text);
                            Key {
                                len: text.len(),
                                halves: [start as u64, 0],
                            }
                        });
                        self.keys.push(key);
                    }
                }
            }
            self.validity.extend_from_slice(column.validity());
        }
    }
}
