//! A family's answers: a number for each address, and what the numbers of each table mean.

use std::sync::OnceLock;

use popfib::{Family, Kernel, NextHop};
use popfib_table::{PrefixText, RouteNumbers, Table, TableError};

use super::table::NamedTable;
use crate::failure::Failure;

/// Which numbers a table answers for the addresses of a family. Number 0 stands for no match.
pub(crate) enum Numbers<A: Family> {
    /// Those of values.
    Values,
    /// Those of matches, as [`FamilyTable::matched`](popfib_table::FamilyTable::matched) takes them apart.
    Matches,
    /// Those of routes.
    Routes(RouteNumbers<A>),
}

impl<A: Family> Numbers<A> {
    /// By the numbers of the routes, from 1 on in the order in which prefixes and values are handed to `each`.
    pub(crate) fn of_routes(
        table: &Table,
        mut each: impl FnMut(&str, NextHop),
    ) -> Result<Self, Failure> {
        let numbered = table.family::<A>().number_routes(|prefix, value| {
            each(PrefixText::new(A::ip_prefix(prefix)).as_str(), value);
        });
        Ok(Self::Routes(numbered?))
    }

    /// Puts the number of each address's answer into `numbers`, 0 for none.
    fn put(
        &self,
        table: &Table,
        kernel: Kernel,
        addresses: &[A],
        numbers: &mut Vec<u32>,
    ) -> Result<(), TableError> {
        numbers.resize(addresses.len(), 0);
        let family = table.family::<A>();
        match self {
            Self::Values => family.value_numbers(kernel, addresses, numbers),
            Self::Matches => family.match_numbers(kernel, addresses, numbers),
            Self::Routes(routes) => {
                routes.numbers(kernel, addresses, numbers);
                Ok(())
            }
        }
    }
}

/// What the numbers of the tables mean for the addresses of one family: made when the first address comes.
/// Threads may share it.
pub(crate) struct Lazy<A: Family, T> {
    tables: OnceLock<Result<Compiled<A, T>, String>>,
}

type Compiled<A, T> = Vec<(Numbers<A>, T)>;

/// The numbers of the answers to some addresses, table by table.
pub(crate) struct Looked<'l, A: Family, T> {
    pub(crate) addresses: &'l [A],
    /// Empty if there are no addresses, as are the numbers.
    pub(crate) tables: &'l [(Numbers<A>, T)],
    pub(crate) numbers: &'l [Vec<u32>],
}

impl<A: Family, T> Lazy<A, T> {
    pub(crate) fn new() -> Self {
        Self {
            tables: OnceLock::new(),
        }
    }

    /// Looks up `addresses` in all `tables`; `compile` is called for each in order, the first time. The
    /// numbers are put into `numbers`.
    pub(crate) fn look_up<'l>(
        &'l self,
        addresses: &'l [A],
        tables: &[NamedTable],
        kernel: Kernel,
        numbers: &'l mut Vec<Vec<u32>>,
        compile: impl FnMut((usize, &NamedTable)) -> Result<(Numbers<A>, T), Failure>,
    ) -> Result<Looked<'l, A, T>, Failure> {
        if addresses.is_empty() {
            return Ok(Looked {
                addresses,
                tables: &[],
                numbers: &[],
            });
        }
        let compile = || tables.iter().enumerate().map(compile).collect();
        let compiled = self.tables.get_or_init(|| {
            let compiled: Result<_, Failure> = compile();
            compiled.map_err(|failure| failure.to_string())
        });
        let compiled = compiled.as_ref().map_err(|reason| reason.clone())?;
        numbers.resize_with(tables.len(), Vec::new);
        for ((table, (asked, _)), numbers) in tables.iter().zip(compiled).zip(&mut *numbers) {
            asked.put(&table.table, kernel, addresses, numbers)?;
        }
        Ok(Looked {
            addresses,
            tables: compiled,
            numbers,
        })
    }
}
