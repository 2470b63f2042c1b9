//! A [`Table`] in, the table that programs look up in out: its Fibs, and what programs get for its values.
//!
//! An image is copied as it is; another table is compiled first.

use popfib::family::Family;
use popfib_table::{FamilyTable, Table};

use crate::error::BpfError;
use crate::layout::{FibKind, ValueKind};
use crate::mapped::{FibSource, TableContents};
use crate::pinned::PinnedMap;

/// What programs get for the numbers that lookups in a table answer, and the texts of these.
///
/// A table without records has none: its numbers are what the caller made them.
#[derive(Clone, Debug, Default)]
pub struct ProgramValues {
    /// That of 0, no match, first.
    numbers: Vec<u32>,
    kind: ValueKind,
    text: String,
    text_ends: Vec<u32>,
}

impl ProgramValues {
    /// The values of a table: themselves, if all are [integers](Self::integer), otherwise their numbers. O(bytes of values).
    pub fn of(table: &Table) -> Self {
        let Some(count) = table.record_count() else {
            return Self::default();
        };
        let mut integers = vec![0];
        for text in table.values() {
            let integer = match &*text {
                "" => Some(0),
                text => Self::integer(text),
            };
            integers.extend(integer);
        }
        let are_integers = integers.len() > count as usize && integers.iter().any(|it| *it > 0);
        let (numbers, kind) = match are_integers {
            true => (integers, ValueKind::Integers),
            false => ((0..=count).collect(), ValueKind::Numbers),
        };
        Self::with_texts(numbers, kind, table)
    }

    /// The numbers that `id` gives to the values of a table. O(bytes of values).
    ///
    /// # Errors
    /// The first of `id`.
    pub fn by_id<E>(table: &Table, mut id: impl FnMut(&str) -> Result<u32, E>) -> Result<Self, E> {
        if table.record_count().is_none() {
            return Ok(Self::default());
        }
        let ids = table.values().map(|text| id(&text));
        let numbers = [Ok(0)].into_iter().chain(ids).collect::<Result<_, E>>()?;
        Ok(Self::with_texts(numbers, ValueKind::Ids, table))
    }

    fn with_texts(numbers: Vec<u32>, kind: ValueKind, table: &Table) -> Self {
        let (mut text, mut text_ends) = (String::new(), vec![0]);
        for value in table.values() {
            text.push_str(&value);
            text_ends.push(text.len() as u32);
        }
        Self {
            numbers,
            kind,
            text,
            text_ends,
        }
    }

    /// The number that a text is, an AS number with its letters included.
    pub fn integer(text: &str) -> Option<u32> {
        let digits = text.strip_prefix("AS").unwrap_or(text);
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| is_number)
    }
}

impl PinnedMap {
    /// Lets programs look up in this table from now on; when it returns, none looks up in the previous one any more, if none is
    /// sleepable. With `matches` they also find prefixes, which takes about as much memory again. O(words), and compiling a table that
    /// is no image.
    ///
    /// # Errors
    /// [`BpfError::Table`] for an image that lacks what is asked for, [`BpfError::TooLarge`], [`BpfError::OtherMap`], or what the kernel
    /// refuses: the memory, for example; programs keep the previous table then.
    pub fn load(
        &self,
        table: &Table,
        values: &ProgramValues,
        matches: bool,
    ) -> Result<(), BpfError> {
        let mut contents = TableContents::default();
        contents.set_values(&values.numbers, values.kind);
        contents.set_texts(&values.text, &values.text_ends);
        add(
            &mut contents,
            table.ipv4(),
            matches,
            [FibKind::Ipv4, FibKind::Ipv4Matches],
        )?;
        add(
            &mut contents,
            table.ipv6(),
            matches,
            [FibKind::Ipv6, FibKind::Ipv6Matches],
        )?;
        self.publish(&self.begin(&contents)?)
    }
}

/// Adds the Fibs of one family.
fn add<'t, A: Family>(
    contents: &mut TableContents<'t>,
    table: &'t FamilyTable<A>,
    matches: bool,
    [lookups, longest]: [FibKind; 2],
) -> Result<(), BpfError> {
    let routes = table.route_count();
    let words = table.fib().map_err(BpfError::Table)?.words();
    contents.set(lookups, FibSource::words(words).routes(routes));
    if matches {
        let fib = table.longest().map_err(BpfError::Table)?;
        contents.set(longest, FibSource::words(fib.words()).routes(routes));
    }
    Ok(())
}
