//! Records in, sections of an image out, and back (docs/image-format.md, "Records"). What is read is checked, so that damaged records
//! are an error here and not a panic in a lookup.

use popfib::image::ImageTable;
use popfib::{Image, ImageError, ImageWriter};

use super::builder::MAX_COLUMNS;
use super::code_lists::CodeLists;
use super::column::{Column, MaxMindType};
use super::packed_rows::{PackedRows, RecordRows};
use super::scalars::ScalarDictionary;
use super::store::Records;
use crate::error::TableError;
use crate::numbered_texts::NumberedTexts;

/// The kinds of sections.
const COLUMNS: u16 = 4;
const ROWS: u16 = 5;
/// The kind of the first column's values. Each column has four kinds: its values, and the three below.
const VALUES: u16 = 64;

/// What these kinds are more than that of the column's values.
const TEXT_ENDS: u16 = 1;
const LIST_ENDS: u16 = 2;
const LIST_CODES: u16 = 3;

/// The types of values.
const TEXT: u8 = 1;
const SIGNED: u8 = 2;
const UNSIGNED: u8 = 3;
const FLOAT: u8 = 4;
const BOOLEAN: u8 = 5;

/// From here on, beside types of a MaxMind database, how many decimals floats are written with at least.
const DECIMALS: u8 = 128;

/// The bytes that describe all columns, and each one.
const HEAD: usize = 16;
const ENTRY: usize = 16;

/// Verifies the records of all tables of an image, those that they have in common once. Of one table alone they are when it is read.
///
/// # Errors
/// [`ImageError::Broken`].
pub fn check_records(image: &Image) -> Result<(), ImageError> {
    let tables = match image.tables() {
        [_] => &[],
        tables => tables,
    };
    let first = tables.iter().find(|table| table.has_common_records());
    let own = tables.iter().filter(|table| !table.has_common_records());
    own.chain(first)
        .try_for_each(|table| Records::of_image(table).map(drop))
}

impl Records {
    /// Puts the records into the table that was begun in an image.
    ///
    /// # Errors
    /// Those of [`ImageWriter::records`], and [`TableError::TooLarge`].
    pub fn write(&self, writer: &mut ImageWriter) -> Result<(), TableError> {
        let (rows, stride) = match &self.rows {
            RecordRows::Codes => (Vec::new(), 0),
            RecordRows::Packed(rows) => {
                // If columns were selected, there may be bits of others between theirs.
                let highest = self.columns.iter().map(|column| column.len() as u32);
                let mut packed = PackedRows::new(highest);
                for row in 0..rows.len() {
                    let codes = (0..self.columns.len()).map(|column| rows.code(row, column));
                    packed.push(codes.map(Option::unwrap_or_default));
                }
                packed.into_parts()
            }
        };
        let mut head = Vec::new();
        for number in [self.len(), self.columns.len(), stride, self.value_column] {
            head.extend(word(number)?);
        }
        let mut names: Vec<u8> = Vec::new();
        let mut sections = Vec::new();
        for (index, column) in self.columns.iter().enumerate() {
            let bits = match &self.rows {
                RecordRows::Codes => 0,
                RecordRows::Packed(_) => PackedRows::bits(column.len() as u32) as u8,
            };
            let (value_type, values) = bytes_of(&column.values);
            let written_as = match (column.maxmind_type, &column.values) {
                (Some(of), _) => of as u8,
                (None, ScalarDictionary::Floats(_, decimals @ 1..)) => DECIMALS + decimals,
                _ => 0,
            };
            let is_list = u8::from(column.lists.is_some());
            head.extend([value_type, is_list, bits, written_as]);
            head.extend(word(column.name().len())?);
            head.extend(word(column.values.len())?);
            head.extend(word(column.lists.as_ref().map_or(0, CodeLists::len))?);
            names.extend(column.name().as_bytes());
            let kind = VALUES + 4 * index as u16;
            sections.push((kind, values));
            if column.values.texts().is_some() {
                let mut end = 0;
                let ends = column.values.texts().into_iter().flatten().map(|text| {
                    end += text.len();
                    end
                });
                sections.push((kind + TEXT_ENDS, words(ends)?));
            }
            if let Some(lists) = &column.lists {
                let codes = lists.codes().iter().map(|&code| code as usize);
                sections.push((kind + LIST_ENDS, words(lists.ends().iter().copied())?));
                sections.push((kind + LIST_CODES, words(codes)?));
            }
        }
        head.extend(names);
        if stride > 0 {
            sections.push((ROWS, rows));
        }
        sections.push((COLUMNS, head));
        Ok(writer.records(self.len() as u32, sections)?)
    }

    /// The records of a table in an image; `None` if it has none. Names of next hops stay in the image, other values are copied.
    /// O(bytes) time.
    ///
    /// # Errors
    /// [`ImageError::Broken`] for what [`write`](Self::write) would not have written.
    pub(crate) fn of_image(image: &ImageTable) -> Result<Option<Self>, ImageError> {
        if image.record_count().is_none() {
            return Ok(None);
        }
        let broken = |at, reason: &str| image.broken_record(COLUMNS, at, reason);
        let head = section(image, COLUMNS)?;
        let numbers = [0, 4, 8, 12].map(|at| word_at(head, at));
        let [Some(records), Some(count), Some(stride), Some(value_column)] = numbers else {
            return Err(broken(0, "it is malformed"));
        };
        let names_at = count
            .checked_mul(ENTRY)
            .and_then(|len| len.checked_add(HEAD));
        let is_count = (1..=MAX_COLUMNS).contains(&count) && value_column < count;
        let names_at = names_at.filter(|&at| is_count && at <= head.len());
        let mut name_at = names_at.ok_or_else(|| broken(4, "it is malformed"))?;
        let mut columns = Vec::new();
        let mut bits = Vec::new();
        for (index, entry) in head[HEAD..name_at].chunks_exact(ENTRY).enumerate() {
            let at = HEAD + ENTRY * index;
            let malformed = || broken(at, "a column is malformed");
            let &[
                value_type,
                is_list @ (0 | 1),
                width @ 0..=32,
                written_as,
                ..,
            ] = entry
            else {
                return Err(malformed());
            };
            let [name_len, values, lists] = [4, 8, 12].map(|at| word_at(entry, at).unwrap_or(0));
            let name = head.get(name_at..name_at.saturating_add(name_len));
            let name = name.and_then(|name| std::str::from_utf8(name).ok());
            let name = name.ok_or_else(malformed)?;
            name_at += name_len;
            let kind = VALUES + 4 * index as u16;
            let values = match image.name_count() {
                Some(names) if names as usize == values => ScalarDictionary::Names(image.clone()),
                _ => scalars(image, kind, [value_type, written_as], values)?,
            };
            let lists = match is_list {
                0 if lists == 0 => None,
                0 => return Err(malformed()),
                _ => Some(lists_of(image, kind, lists, values.len())?),
            };
            let mut column = Column::new(name.to_owned(), values, lists);
            // A type that is not known is left out: a later version may have written it.
            let mut known = MaxMindType::ALL.into_iter();
            column.maxmind_type = known.find(|&of| of as u8 == written_as);
            if columns.iter().any(|known: &Column| known.name() == name) {
                return Err(broken(at, "two columns have one name"));
            }
            let needed = if stride == 0 {
                0
            } else {
                PackedRows::bits(column.len() as u32)
            };
            if u32::from(width) != needed {
                return Err(broken(at, "its codes have other bits than its values need"));
            }
            bits.push(needed);
            columns.push(column);
        }
        if name_at != head.len() {
            return Err(broken(name_at, "more follows after the last name"));
        }
        let rows = if stride == 0 {
            if columns.len() > 1 || columns[0].len() != records {
                return Err(broken(8, "there are no rows"));
            }
            RecordRows::Codes
        } else {
            let highest = columns.iter().map(|column| column.len() as u32);
            let bytes = section(image, ROWS)?;
            let rows = PackedRows::from_parts(bytes, stride, records, highest);
            RecordRows::Packed(rows.map_err(|reason| image.broken_record(ROWS, 0, reason))?)
        };
        Ok(Some(Self {
            columns,
            value_column,
            rows,
        }))
    }
}

/// The type of values, and their bytes.
fn bytes_of(values: &ScalarDictionary) -> (u8, Vec<u8>) {
    fn all<T: Copy>(values: &[T], bytes: impl Fn(T) -> [u8; 8]) -> Vec<u8> {
        values.iter().flat_map(|&value| bytes(value)).collect()
    }
    match values {
        ScalarDictionary::Texts(_) | ScalarDictionary::Names(_) => {
            let texts = values.texts().into_iter().flatten();
            (TEXT, texts.flat_map(str::bytes).collect())
        }
        ScalarDictionary::Signed(numbers) => (SIGNED, all(numbers, i64::to_le_bytes)),
        ScalarDictionary::Unsigned(numbers) => (UNSIGNED, all(numbers, u64::to_le_bytes)),
        ScalarDictionary::Floats(numbers, _) => (FLOAT, all(numbers, f64::to_le_bytes)),
        ScalarDictionary::Booleans(truths) => {
            (BOOLEAN, truths.iter().map(|&truth| truth.into()).collect())
        }
    }
}

/// `count` values of this type, from the sections of a column whose first has this kind.
fn scalars(
    image: &ImageTable,
    kind: u16,
    [value_type, written_as]: [u8; 2],
    count: usize,
) -> Result<ScalarDictionary, ImageError> {
    let bytes = section(image, kind)?;
    let broken = |reason| image.broken_record(kind, 0, reason);
    let numbers = || match bytes.as_chunks::<8>() {
        (numbers, []) if numbers.len() == count => Ok(numbers.iter().copied()),
        _ => Err(broken("it has another number of values than its column")),
    };
    Ok(match value_type {
        TEXT => {
            let text = std::str::from_utf8(bytes).map_err(|_| broken("its texts are not UTF-8"))?;
            let ends = words_of(image, kind + TEXT_ENDS, count)?;
            let texts = NumberedTexts::from_parts(text.to_owned(), ends);
            ScalarDictionary::Texts(texts.map_err(|index| {
                let reason = "a text does not end after its beginning";
                image.broken_record(kind + TEXT_ENDS, 4 * index, reason)
            })?)
        }
        SIGNED => ScalarDictionary::Signed(numbers()?.map(i64::from_le_bytes).collect()),
        UNSIGNED => ScalarDictionary::Unsigned(numbers()?.map(u64::from_le_bytes).collect()),
        FLOAT => {
            let numbers = numbers()?.map(f64::from_le_bytes).collect();
            ScalarDictionary::Floats(numbers, written_as.saturating_sub(DECIMALS))
        }
        BOOLEAN if bytes.len() == count && bytes.iter().all(|&byte| byte <= 1) => {
            ScalarDictionary::Booleans(bytes.iter().map(|&byte| byte == 1).collect())
        }
        BOOLEAN => return Err(broken("it has other values than its column")),
        _ => return Err(broken("its column has an unknown type")),
    })
}

/// `count` lists, whose elements are codes of `values` values.
fn lists_of(
    image: &ImageTable,
    kind: u16,
    count: usize,
    values: usize,
) -> Result<CodeLists, ImageError> {
    let ends = words_of(image, kind + LIST_ENDS, count)?;
    let len = ends.last().copied().unwrap_or(0);
    let codes = words_of(image, kind + LIST_CODES, len)?;
    if let Some(at) = codes.iter().position(|&code| code == 0 || code > values) {
        let reason = "an element has no value";
        return Err(image.broken_record(kind + LIST_CODES, 4 * at, reason));
    }
    let codes = codes.into_iter().map(|code| code as u32).collect();
    CodeLists::from_parts(codes, ends).map_err(|index| {
        let reason = "a list does not end after its beginning";
        image.broken_record(kind + LIST_ENDS, 4 * index, reason)
    })
}

fn section(image: &ImageTable, kind: u16) -> Result<&[u8], ImageError> {
    image
        .record_section(kind)
        .ok_or_else(|| image.broken_record(kind, 0, ""))
}

/// The words of a section, which has `count` of them.
fn words_of(image: &ImageTable, kind: u16, count: usize) -> Result<Vec<usize>, ImageError> {
    match section(image, kind)?.as_chunks::<4>() {
        (words, []) if words.len() == count => {
            let words = words.iter().map(|word| u32::from_le_bytes(*word) as usize);
            Ok(words.collect())
        }
        _ => Err(image.broken_record(kind, 0, "it has another length than its column says")),
    }
}

fn word_at(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*word) as usize)
}

fn word(number: usize) -> Result<[u8; 4], TableError> {
    let word = u32::try_from(number).map_err(|_| TableError::TooLarge)?;
    Ok(word.to_le_bytes())
}

fn words(numbers: impl Iterator<Item = usize>) -> Result<Vec<u8>, TableError> {
    let mut bytes = Vec::new();
    for number in numbers {
        bytes.extend(word(number)?);
    }
    Ok(bytes)
}
