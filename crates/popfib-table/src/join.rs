//! Several tables as one: each address gets the records of all.
//!
//! The joined table has every prefix of every table. At each of them a table's record is that of its longest prefix which covers
//! it: for the addresses that match it in the joined table, that is the table's longest match. So one walk over all prefixes in their
//! order is enough, with a stack of those that cover the one at hand. What each of the tables has there is a key, and different keys are
//! the joined records: rows of the tables' codes side by side, whose dictionaries are the tables' own. Time and memory are those of the
//! sum of the routes.

use popfib::family::{ByFamily, Family, PerFamily};
use popfib::{IpPrefix, NextHop, Prefix, Rib};

use crate::dictionary::Dictionary;
use crate::error::TableError;
use crate::records::{Column, InternedCodeLists, MAX_COLUMNS, Records, VALUE};
use crate::table::Table;

/// Makes of [`ByFamily`] routes in prefix order, with the numbers of what they lead to.
#[derive(Clone, Debug)]
enum NumberedRoutes {}

impl PerFamily for NumberedRoutes {
    type Of<A: Family> = Vec<(Prefix<A>, u32)>;
}

/// Joins tables: an address gets the records of all of them.
///
/// The columns of a table called `geo` are called `geo.COLUMN` in the joined one, and the values of a table without columns `geo`.
/// [`Lists`] make one column: the names of all lists that contain the address.
///
/// ```
/// use popfib_table::{TableBuilder, Join, Lists};
///
/// let mut asn = TableBuilder::new();
/// asn.insert("192.0.2.0/24".parse()?, "64500");
/// let mut lists = Lists::new();
/// lists.add("drop", ["192.0.2.128/25".parse()?]);
/// let joined = Join::new().table("asn", &asn.build())?.lists("bad", lists).build()?;
///
/// let number = joined.lookup("192.0.2.200".parse()?).expect("it matches");
/// let [asn, bad] = [0, 1].map(|column| joined.value_in(number, column));
/// assert_eq!((asn.as_deref(), bad.as_deref()), (Some("64500"), Some("drop")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Join {
    parts: Vec<JoinedTable>,
    lengths: bool,
    fill: bool,
}

/// A table that is joined. Its routes are kept in their order, as a Rib of them takes more memory, and time to go through.
#[derive(Clone, Debug)]
struct JoinedTable {
    name: String,
    records: Records,
    routes: ByFamily<NumberedRoutes>,
}

impl Join {
    /// No tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps the length of each table's matched prefix, as the column `NAME.length`.
    pub fn lengths(mut self, lengths: bool) -> Self {
        self.lengths = lengths;
        self
    }

    /// Gives a value that a record lacks that of the next shorter prefix in its table which has one.
    pub fn fill(mut self, fill: bool) -> Self {
        self.fill = fill;
        self
    }

    /// Adds a table. O(routes).
    ///
    /// # Errors
    /// [`TableError::NoRoutes`] and [`TableError::NoNames`] of an image without routes or names.
    pub fn table(mut self, name: &str, table: &Table) -> Result<Self, TableError> {
        let records = table.records().ok_or(TableError::NoNames)?;
        // Of some columns of a table many records are equal.
        let firsts = firsts(records);
        self.parts.push(JoinedTable {
            name: name.to_owned(),
            records: records.clone(),
            routes: ByFamily {
                ipv4: routes::<u32>(table, &firsts)?,
                ipv6: routes::<u128>(table, &firsts)?,
            },
        });
        Ok(self)
    }

    /// Adds lists, as one column of the names of those that contain an address.
    pub fn lists(mut self, name: &str, lists: Lists) -> Self {
        let mut sets = InternedCodeLists::default();
        let routes = ByFamily {
            ipv4: of_sets(lists.routes.ipv4, &mut sets),
            ipv6: of_sets(lists.routes.ipv6, &mut sets),
        };
        self.parts.push(JoinedTable {
            name: name.to_owned(),
            records: Records::of_lists(VALUE, lists.names, sets),
            routes,
        });
        self
    }

    /// The joined table, its columns in the order of the tables. O(routes of all + different records * columns).
    ///
    /// # Errors
    /// [`TableError::TooManyColumns`] for more than 4096, [`TableError::DuplicateColumn`] for two of one name.
    pub fn build(mut self) -> Result<Table, TableError> {
        if self.fill {
            self.parts.iter_mut().for_each(fill);
        }
        let columns = self.columns()?;
        let mut keys = InternedCodeLists::default();
        let ribs = ByFamily {
            ipv4: joined::<u32>(&mut self.parts, self.lengths, &mut keys),
            ipv6: joined::<u128>(&mut self.parts, self.lengths, &mut keys),
        };
        let rows = keys.lists().iter().map(|key| {
            let (numbers, lengths) = key.split_at(self.parts.len());
            let codes = self.parts.iter().zip(numbers).enumerate();
            let codes = codes.flat_map(|(index, (part, number))| {
                let codes = part.records.codes(*number);
                codes.chain(lengths.get(index).copied())
            });
            codes.collect::<Vec<_>>()
        });
        let mut records = Records::of_rows(columns, rows);
        if let Some(first) = self.parts.first() {
            records.set_value_column(first.records.value_column());
        }
        Ok(Table::of_records(ribs, records))
    }

    /// The columns of all tables, with their names in the joined one.
    fn columns(&self) -> Result<Vec<Column>, TableError> {
        let mut columns: Vec<Column> = Vec::new();
        for JoinedTable { name, records, .. } in &self.parts {
            let own = records.columns();
            for column in own {
                let is_value = column.name() == VALUE;
                columns.push(column.renamed(match own.len() {
                    1 if is_value => name.clone(),
                    _ => format!("{name}.{}", column.name()),
                }));
            }
            if self.lengths {
                columns.push(Column::of_lengths(&format!("{name}.length")));
            }
        }
        if columns.len() > MAX_COLUMNS {
            return Err(TableError::TooManyColumns);
        }
        let mut names: Vec<_> = columns.iter().map(Column::name).collect();
        names.sort_unstable();
        match names.windows(2).find(|names| names[0] == names[1]) {
            Some(twice) => Err(TableError::DuplicateColumn(
                twice[0].escape_debug().to_string(),
            )),
            None => Ok(columns),
        }
    }
}

/// Lists of prefixes, each with a name.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    names: Dictionary,
    /// The prefixes of all lists, list by list, with the lists' numbers.
    routes: ByFamily<NumberedRoutes>,
}

impl Lists {
    /// No lists.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds prefixes in any order as a list, or to the list that has this name already. O(prefixes).
    pub fn add(&mut self, name: &str, prefixes: impl IntoIterator<Item = IpPrefix>) {
        let number = self.names.intern(name).get();
        for prefix in prefixes {
            match prefix {
                IpPrefix::V4(prefix) => self.routes.ipv4.push((prefix, number)),
                IpPrefix::V6(prefix) => self.routes.ipv6.push((prefix, number)),
            }
        }
    }

    /// Whether there is a list of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.number(name).is_some()
    }
}

/// By the number of a record, from 0 on, that of the first record which is equal.
fn firsts(records: &Records) -> Vec<u32> {
    let mut rows = InternedCodeLists::default();
    let mut firsts: Vec<u32> = Vec::new();
    let mut row = Vec::new();
    let first = |number| {
        row.clear();
        row.extend(records.codes(number));
        let index = rows.intern(&row) as usize - 1;
        if index == firsts.len() {
            firsts.push(number);
        }
        firsts[index]
    };
    (0..=records.len() as u32).map(first).collect()
}

fn routes<A: Family>(table: &Table, firsts: &[u32]) -> Result<Vec<(Prefix<A>, u32)>, TableError> {
    let first = |number: NextHop| firsts.get(number.get() as usize).copied().unwrap_or(0);
    let routes = table.family::<A>().routes()?;
    Ok(routes
        .map(|(prefix, number)| (prefix, first(number)))
        .collect())
}

/// Gives each different prefix of `routes`, which are in prefix order, the number that `number` finds for it, of its routes and of the
/// number of the next shorter prefix that covers it.
fn numbered<A: Family, V>(
    routes: &[(Prefix<A>, V)],
    mut number: impl FnMut(&[(Prefix<A>, V)], Option<u32>) -> u32,
) -> Vec<(Prefix<A>, u32)> {
    let mut stack: Vec<(Prefix<A>, u32)> = Vec::new();
    let of_one = routes.chunk_by(|a, b| a.0 == b.0);
    let found = of_one.map(|routes| {
        let prefix = routes[0].0;
        while stack
            .last()
            .is_some_and(|(outer, _)| !outer.covers(&prefix))
        {
            stack.pop();
        }
        let number = number(routes, stack.last().map(|(_, number)| *number));
        stack.push((prefix, number));
        (prefix, number)
    });
    found.collect()
}

/// The prefixes of all parts in one family, which are taken, with the numbers of their keys: the number of each part's record, then, if
/// they are wanted, the length of its prefix and 1.
fn joined<A: Family>(
    parts: &mut [JoinedTable],
    with_lengths: bool,
    keys: &mut InternedCodeLists,
) -> Rib<A> {
    let count = parts.len();
    let mut routes: Vec<(Prefix<A>, (u32, u32))> = Vec::new();
    for (index, part) in parts.iter_mut().enumerate() {
        let own = std::mem::take(A::of_mut(&mut part.routes));
        routes.extend(
            own.into_iter()
                .map(|(prefix, number)| (prefix, (index as u32, number))),
        );
    }
    // Stable and quick with runs that are in order, of which there is one a part.
    routes.sort_by_key(|(prefix, _)| *prefix);
    let mut key = Vec::new();
    let found = numbered(&routes, |routes, outer| {
        key.clear();
        match outer.and_then(|outer| keys.lists().get(outer)) {
            Some(outer) => key.extend_from_slice(outer),
            None => key.resize(count * (1 + usize::from(with_lengths)), 0),
        }
        for (prefix, (part, number)) in routes {
            let part = *part as usize;
            key[part] = *number;
            if with_lengths {
                key[count + part] = u32::from(prefix.len()) + 1;
            }
        }
        keys.intern(&key)
    });
    drop(routes);
    let routes = found.into_iter();
    routes
        .filter_map(|(prefix, number)| Some((prefix, NextHop::new(number)?)))
        .collect()
}

/// The prefixes with the number of the set of the lists that contain them.
fn of_sets<A: Family>(
    mut routes: Vec<(Prefix<A>, u32)>,
    sets: &mut InternedCodeLists,
) -> Vec<(Prefix<A>, u32)> {
    routes.sort_by_key(|(prefix, _)| *prefix);
    let mut set = Vec::new();
    numbered(&routes, |routes, outer| {
        set.clear();
        let outer = outer.and_then(|outer| sets.lists().get(outer));
        set.extend_from_slice(outer.unwrap_or_default());
        set.extend(routes.iter().map(|(_, list)| *list));
        set.sort_unstable();
        set.dedup();
        sets.intern(&set)
    })
}

/// Takes the values that records lack from the next shorter prefixes that have them.
fn fill(part: &mut JoinedTable) {
    let mut rows = InternedCodeLists::default();
    let routes = ByFamily {
        ipv4: filled(&part.routes.ipv4, &part.records, &mut rows),
        ipv6: filled(&part.routes.ipv6, &part.records, &mut rows),
    };
    part.routes = routes;
    let rows = rows.lists().iter().map(|row| row.iter().copied());
    let value_column = part.records.value_column();
    part.records = Records::of_rows(part.records.columns().to_vec(), rows);
    part.records.set_value_column(value_column);
}

fn filled<A: Family>(
    routes: &[(Prefix<A>, u32)],
    records: &Records,
    rows: &mut InternedCodeLists,
) -> Vec<(Prefix<A>, u32)> {
    let mut row = Vec::new();
    numbered(routes, |routes, outer| {
        row.clear();
        row.extend(records.codes(routes[0].1));
        if let Some(outer) = outer.and_then(|outer| rows.lists().get(outer)) {
            for (code, outer) in row.iter_mut().zip(outer) {
                *code = if *code == 0 { *outer } else { *code };
            }
        }
        rows.intern(&row)
    })
}
