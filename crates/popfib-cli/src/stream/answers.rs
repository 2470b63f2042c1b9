//! A family's answers: a FIB that gives each address a number.

use std::sync::OnceLock;

use popfib::{Address, Fib, Kernel, NextHop};
use popfib_table::IPV6_TEXT;

use super::routes::{Family, Routes, spell};
use super::table::Table;
use crate::failure::Failure;

/// The answers of one family. Number 0 stands for no match.
pub(crate) struct Answers<A: Address> {
    fib: Fib<A, u32>,
    kernel: Kernel,
}

impl<A: Family> Answers<A> {
    /// By the numbers of the next hops.
    pub(crate) fn values(routes: &Routes, kernel: Kernel) -> Result<Self, Failure> {
        let fib = routes.fib()?;
        Ok(Self { fib, kernel })
    }

    /// By the numbers of next hops and lengths, as [`LongestFib::matched`](popfib::LongestFib::matched) takes them apart.
    pub(crate) fn longest(routes: &Routes, kernel: Kernel) -> Result<Self, Failure> {
        let fib = routes.longest()?.into_fib();
        Ok(Self { fib, kernel })
    }

    /// By the numbers of the routes, from 1 on in the order in which prefixes and next hops are handed to `each`.
    pub(crate) fn numbered(
        routes: &Routes,
        kernel: Kernel,
        mut each: impl FnMut(&str, NextHop),
    ) -> Result<Self, Failure> {
        let mut text = [0; IPV6_TEXT + 4];
        let fib = routes.numbered(|prefix, next_hop| each(spell(prefix, &mut text), next_hop))?;
        Ok(Self { fib, kernel })
    }

    /// Puts the number of each address's answer into `numbers`, 0 for none.
    pub(crate) fn numbers(&self, addresses: &[A], numbers: &mut Vec<u32>) {
        numbers.resize(addresses.len(), 0);
        self.fib.lookup_batch_with(self.kernel, addresses, numbers);
    }
}

/// What answers the addresses of one family: its tables, compiled when the first address comes, and with
/// each what its numbers mean. Threads may share it.
pub(crate) struct Lazy<A: Address, T> {
    tables: OnceLock<Result<Compiled<A, T>, String>>,
}

type Compiled<A, T> = Vec<(Answers<A>, T)>;

/// The numbers of the answers to some addresses, table by table.
pub(crate) struct Looked<'l, A: Address, T> {
    pub(crate) addresses: &'l [A],
    /// Empty if there are no addresses, as are the numbers.
    pub(crate) tables: &'l [(Answers<A>, T)],
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
        tables: &[Table],
        numbers: &'l mut Vec<Vec<u32>>,
        compile: impl FnMut((usize, &Table)) -> Result<(Answers<A>, T), Failure>,
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
        let tables = compiled.as_ref().map_err(|reason| reason.clone())?;
        numbers.resize_with(tables.len(), Vec::new);
        for ((answers, _), numbers) in tables.iter().zip(&mut *numbers) {
            answers.numbers(addresses, numbers);
        }
        Ok(Looked {
            addresses,
            tables,
            numbers,
        })
    }
}
