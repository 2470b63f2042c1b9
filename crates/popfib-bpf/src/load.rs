//! A [`Table`] in, the table that programs look up in out: its Fibs, and what programs get for its values.
//!
//! An image is copied as it is; another table is compiled first.

use popfib::family::Family;
use popfib::{Fib, FibSet};
use popfib_table::{FamilyTable, Table, TableError};

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
    /// sleepable. A table that has the records of [several](Table::set) is these tables. With `matches` they also find prefixes, which
    /// takes about as much memory again. O(words), and compiling a table that is no image.
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
        let mut roots: [Vec<u32>; 4] = Default::default();
        let (ipv4_roots, ipv6_roots) = roots.split_at_mut(2);
        let mut contents = TableContents::default();
        contents.set_values(&values.numbers, values.kind);
        contents.set_texts(&values.text, &values.text_ends);
        let ipv4 = [FibKind::Ipv4, FibKind::Ipv4Matches];
        let ipv6 = [FibKind::Ipv6, FibKind::Ipv6Matches];
        let count = 1 + usize::from(matches);
        add::<u32>(&mut contents, table, &ipv4[..count], ipv4_roots)?;
        add::<u128>(&mut contents, table, &ipv6[..count], ipv6_roots)?;
        self.publish(&self.begin(&contents)?)
    }
}

/// Adds the Fibs of one family: that of values, and that of longest matches.
fn add<'t, A: Family>(
    contents: &mut TableContents<'t>,
    table: &'t Table,
    kinds: &[FibKind],
    roots: &'t mut [Vec<u32>],
) -> Result<(), BpfError> {
    let family = table.family::<A>();
    for ((kind, with_prefixes), roots) in kinds.iter().zip([false, true]).zip(roots) {
        let source = match (table.set(), with_prefixes) {
            (Some(set), _) => {
                let tables = set.fibs::<A>(with_prefixes).map_err(BpfError::Table)?;
                *roots = by_id(set.names(), tables.words().root());
                let source = FibSource::of_tables(tables.words(), roots);
                source.routes(set.route_count::<A>())
            }
            (None, false) => of_fib(family, family.fib())?,
            (None, true) => of_fib(family, family.longest())?,
        };
        contents.set(*kind, source);
    }
    Ok(())
}

fn of_fib<'t, A: Family>(
    family: &FamilyTable<A>,
    fib: Result<&'t Fib<A>, TableError>,
) -> Result<FibSource<'t>, BpfError> {
    let words = fib.map_err(BpfError::Table)?.words();
    Ok(FibSource::words(words).routes(family.route_count()))
}

/// The pointers of tables by their ids: the numbers that their names are, if all are below [`FibSet::MAX_TABLES`], otherwise their order.
fn by_id(names: &[String], pointers: impl Iterator<Item = u32>) -> Vec<u32> {
    let number = |name: &String| {
        let number: usize = name.parse().ok()?;
        let is_id = number < FibSet::<u32>::MAX_TABLES && number.to_string() == *name;
        is_id.then_some(number)
    };
    let ids = names.iter().map(number).collect::<Option<Vec<_>>>();
    let ids = ids.unwrap_or_else(|| (0..names.len()).collect());
    let len = ids.iter().max().map_or(0, |last| last + 1);
    let mut roots = vec![0; len];
    for (id, pointer) in ids.into_iter().zip(pointers) {
        roots[id] = pointer;
    }
    roots
}
