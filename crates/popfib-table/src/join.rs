//! Several tables in, one out, in which each address has the records of all of them.
//!
//! The joined table has every prefix of every table. At each prefix, a table's record is that of its own longest prefix which covers it:
//! for the addresses that match the prefix in the joined table, that is the table's longest match. So one walk over all prefixes in
//! their order is enough, with a stack of those that cover the one at hand. The numbers of the tables' records at a prefix are its key,
//! and each different key becomes a joined record: the tables' codes side by side. The dictionaries of the columns are the tables' own.
//! Time and memory follow the sum of the routes. To look up each address in each table would cost every later lookup the sum of them.
//!
//! The result has one Fib. Rejected: groups of columns with Fibs of their own, each of which a lookup would have to ask. One is faster
//! with every table that was tried, up to two million records, for a quarter more bytes (docs/experiments/images.md, 181).

use popfib::family::{ByFamily, Family, PerFamily};
use popfib::{IpPrefix, NextHop, Prefix, Rib};

use crate::dictionary::Dictionary;
use crate::error::TableError;
use crate::records::{Column, InternedCodeLists, MAX_COLUMNS, Records, VALUE};
use crate::table::Table;

/// Makes [`ByFamily`] lists of prefixes, each with the number of what it leads to.
#[derive(Clone, Debug)]
pub enum NumberedPrefixes {}

impl PerFamily for NumberedPrefixes {
    type Of<A: Family> = Vec<(Prefix<A>, u32)>;
}

/// Joins tables: an address gets the records of all of them.
///
/// The columns of a table called `geo` are called `geo.COLUMN` in the joined one, and the values of a table without columns `geo`.
/// [`Lists`] make one column: the names of all lists that contain the address.
///
/// ```
/// use popfib_table::{Join, Lists, Table};
///
/// let asn: Table = [("192.0.2.0/24".parse()?, "64500")].into_iter().collect();
/// let mut lists = Lists::new();
/// lists.add("drop", ["192.0.2.128/25".parse()?]);
/// let joined = Join::new().table("asn", &asn)?.lists("bad", lists).build()?;
///
/// let number = joined.lookup("192.0.2.200".parse()?).expect("it matches");
/// let [asn, bad] = [0, 1].map(|column| joined.value_in(number, column));
/// assert_eq!((asn.as_deref(), bad.as_deref()), (Some("64500"), Some("drop")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Join {
    tables: Vec<JoinedTable>,
    lengths: bool,
    fill: bool,
}

/// A table that is joined. Its routes are a list in prefix order: a Rib of them would take more memory, and more time to walk.
#[derive(Clone, Debug)]
struct JoinedTable {
    name: String,
    records: Records,
    routes: ByFamily<NumberedPrefixes>,
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

    /// Where a record lacks a value, it gets that of the next shorter prefix of its table that has one.
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
        // If only some columns of a table were selected, many of its records are equal.
        let (records, numbers) = records.clone().distinct();
        self.tables.push(JoinedTable {
            name: name.to_owned(),
            records,
            routes: ByFamily {
                ipv4: routes(table, &numbers)?,
                ipv6: routes(table, &numbers)?,
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
        self.tables.push(JoinedTable {
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
            for table in &mut self.tables {
                table.records.fill(&mut table.routes);
            }
        }
        let columns = self.columns()?;
        let mut keys = InternedCodeLists::default();
        let ribs = ByFamily {
            ipv4: joined::<u32>(&mut self.tables, self.lengths, &mut keys),
            ipv6: joined::<u128>(&mut self.tables, self.lengths, &mut keys),
        };
        let rows = keys.lists().iter().map(|key| {
            let (numbers, lengths) = key.split_at(self.tables.len());
            let codes = self.tables.iter().zip(numbers).enumerate();
            let codes = codes.flat_map(|(index, (table, number))| {
                let codes = table.records.codes(*number);
                codes.chain(lengths.get(index).copied())
            });
            codes.collect::<Vec<_>>()
        });
        let mut records = Records::of_rows(columns, rows);
        if let Some(first) = self.tables.first() {
            records.set_value_column(first.records.value_column());
        }
        Ok(Table::of_records(ribs, records))
    }

    /// The columns of all tables, with their names in the joined one.
    fn columns(&self) -> Result<Vec<Column>, TableError> {
        let mut columns: Vec<Column> = Vec::new();
        for JoinedTable { name, records, .. } in &self.tables {
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
    routes: ByFamily<NumberedPrefixes>,
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
            popfib::by_family!(prefix, |prefix: Prefix<A>| A::of_mut(&mut self.routes)
                .push((prefix, number)))
        }
    }

    /// Whether there is a list of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.number(name).is_some()
    }
}

/// The routes of a family, with these numbers in the place of theirs.
fn routes<A: Family>(table: &Table, numbers: &[u32]) -> Result<Vec<(Prefix<A>, u32)>, TableError> {
    let number = |old: NextHop| numbers.get(old.get() as usize - 1).copied().unwrap_or(0);
    let routes = table.family::<A>().routes()?;
    Ok(routes.map(|(prefix, old)| (prefix, number(old))).collect())
}

/// Gives each different prefix of `routes`, which are in prefix order, a number. `number` finds it from the routes of the prefix and the
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

/// Takes the routes of one family out of all tables, and joins them: each prefix with the number of its key. A key has the number of
/// each table's record, and then, if lengths are wanted, one more than the length of each table's prefix.
fn joined<A: Family>(
    tables: &mut [JoinedTable],
    with_lengths: bool,
    keys: &mut InternedCodeLists,
) -> Rib<A> {
    let count = tables.len();
    let mut routes: Vec<(Prefix<A>, (u32, u32))> = Vec::new();
    for (index, table) in tables.iter_mut().enumerate() {
        let own = std::mem::take(A::of_mut(&mut table.routes));
        routes.extend(
            own.into_iter()
                .map(|(prefix, number)| (prefix, (index as u32, number))),
        );
    }
    // A stable sort, quick for runs that are in order: each table is one.
    routes.sort_by_key(|(prefix, _)| *prefix);
    let mut key = Vec::new();
    let found = numbered(&routes, |routes, outer| {
        key.clear();
        match outer.and_then(|outer| keys.lists().get(outer)) {
            Some(outer) => key.extend_from_slice(outer),
            None => key.resize(count * (1 + usize::from(with_lengths)), 0),
        }
        for (prefix, (table, number)) in routes {
            let table = *table as usize;
            key[table] = *number;
            if with_lengths {
                key[count + table] = u32::from(prefix.len()) + 1;
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

/// Each prefix with the number of the set of lists that cover it.
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

impl Records {
    /// Gives the records of `routes` the values that they lack, from the next shorter prefixes that have them. The routes of each family
    /// are in prefix order; of several for one prefix the last is that of the table. O(routes * columns).
    pub fn fill(&mut self, routes: &mut ByFamily<NumberedPrefixes>) {
        let mut rows = InternedCodeLists::default();
        filled(&mut routes.ipv4, self, &mut rows);
        filled(&mut routes.ipv6, self, &mut rows);
        let rows = rows.lists().iter().map(|row| row.iter().copied());
        let value_column = self.value_column();
        *self = Self::of_rows(self.columns().to_vec(), rows);
        self.set_value_column(value_column);
    }
}

fn filled<A: Family>(
    routes: &mut [(Prefix<A>, u32)],
    records: &Records,
    rows: &mut InternedCodeLists,
) {
    let mut row = Vec::new();
    let mut numbers = Vec::new();
    numbered(routes, |routes, outer| {
        let mut last = 0;
        for (_, number) in routes {
            row.clear();
            row.extend(records.codes(*number));
            if let Some(outer) = outer.and_then(|outer| rows.lists().get(outer)) {
                for (code, outer) in row.iter_mut().zip(outer) {
                    *code = if *code == 0 { *outer } else { *code };
                }
            }
            last = rows.intern(&row);
            numbers.push(last);
        }
        last
    });
    for ((_, number), filled) in routes.iter_mut().zip(numbers) {
        *number = filled;
    }
}
