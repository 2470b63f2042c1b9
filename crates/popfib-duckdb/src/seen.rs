//! A column of addresses in; whether it is the same as the last one out. A query that asks for several columns of records
//! calls a function for each, with the same addresses, which are then read and looked up once.
//!
//! A column is kept and compared as a whole: DuckDB uses memory again, so that its place says nothing. Numbers are cheap
//! to keep. Texts are kept only if columns come again: if one has the length and the first and last row of the one before.

use crate::api::TypeId;
use crate::vector::{InputVector, SqlText};

/// The column seen last.
#[derive(Default)]
pub(crate) struct SeenColumn {
    layout: Option<RowLayout>,
    validity: Vec<u64>,
    /// Its rows as numbers, or those of its texts that do not fit into a [`TextKey`], one after the other.
    bytes: Vec<u8>,
    keys: Vec<TextKey>,
    /// The first and the last text of the last column of texts, and how many it had.
    edges: Option<(SqlText, SqlText, usize)>,
    keeps_texts: bool,
}

/// How the rows of a column lie in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowLayout {
    /// As numbers of so many bytes.
    Numbers(TypeId, usize),
    Texts(TypeId),
}

/// A text. For one of 8 to 16 bytes, as most addresses have, the first and the last eight of them; for another one where
/// it begins in [`SeenColumn::bytes`], and 0.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TextKey {
    len: usize,
    halves: [u64; 2],
}

impl TextKey {
    /// The key of a text of 8 to 16 bytes, which has all of it.
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

impl RowLayout {
    /// The layout of a column of this type; `None` for types that are not kept.
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

impl SeenColumn {
    /// Whether this column has the same type and rows as the one that was kept.
    ///
    /// # Safety
    /// `type_id` is the type of `column`.
    pub(crate) unsafe fn is(&mut self, type_id: TypeId, column: &InputVector<'_>) -> bool {
        let layout = RowLayout::of(type_id);
        // SAFETY: the layout is that of the column's type; rows that are null are not read.
        unsafe {
            if let Some(RowLayout::Texts(_)) = layout {
                let rows = column.rows::<SqlText>();
                let edges = rows.first().zip(rows.last());
                let edges = edges.map(|(&first, &last)| (first, last, rows.len()));
                self.keeps_texts |= edges.is_some() && self.edges == edges;
                self.edges = edges;
            }
            if layout.is_none() || self.layout != layout || self.validity != column.validity() {
                return false;
            }
            match layout {
                Some(RowLayout::Numbers(_, size)) => self.bytes == column.raw(size),
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
    fn is_text(&self, key: &TextKey, text: &[u8]) -> bool {
        match TextKey::of(text) {
            Some(of) => of == *key,
            None => {
                let start = key.halves[0] as usize;
                let kept = self.bytes.get(start..start + key.len);
                TextKey::of(kept.unwrap_or(text)).is_none() && kept == Some(text)
            }
        }
    }

    /// Keeps nothing.
    pub(crate) fn forget(&mut self) {
        self.layout = None;
    }

    /// Keeps this column.
    ///
    /// # Safety
    /// `type_id` is the type of `column`.
    pub(crate) unsafe fn keep(&mut self, type_id: TypeId, column: &InputVector<'_>) {
        self.layout = RowLayout::of(type_id);
        self.bytes.clear();
        self.keys.clear();
        self.validity.clear();
        // SAFETY: the layout is that of the column's type; rows that are null are not read.
        unsafe {
            match self.layout {
                None => return,
                Some(RowLayout::Numbers(_, size)) => self.bytes.extend_from_slice(column.raw(size)),
                Some(RowLayout::Texts(_)) if !self.keeps_texts => return self.forget(),
                Some(RowLayout::Texts(_)) => {
                    for row in 0..column.len() {
                        let is_null = column.is_null(row);
                        let text = if is_null { &[] } else { column.bytes(row) };
                        let key = TextKey::of(text).unwrap_or_else(|| {
                            let start = self.bytes.len();
                            self.bytes.extend_from_slice(text);
                            TextKey {
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
