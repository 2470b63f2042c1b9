//! A family's answers: a FIB that gives each address the number of its answer.
//!
//! The matched prefix is part of the answer, and a FIB tells next hops only. So
//! one is asked that has a number for each route, in place of its next hop; the
//! RIB would tell the prefix too, at ten times the cost. Where only values are
//! asked for, the FIB is the usual one.

use std::sync::OnceLock;

use popfib::{Address, Fib, Kernel, NextHop};
use popfib_formats::IPV6_TEXT;

use super::routes::{Family, Routes, spell};
use super::tables::Table;
use crate::failure::Failure;

/// One thing that can be said about an address.
pub(crate) struct Answer<'a> {
    /// The matched prefix, if it is asked for.
    pub(crate) prefix: Option<&'a str>,
    pub(crate) next_hop: &'a str,
    /// The next hop's number among the table's, from 1.
    pub(crate) next_hop_number: u32,
}

/// The answers of one family.
pub(crate) struct Answers<A: Address> {
    fib: Fib<A, u32>,
    kernel: Kernel,
}

impl<A: Family> Answers<A> {
    /// Has the routes compiled, and hands each answer to `each`, numbered
    /// from 1 in the order of the calls. Number 0 stands for no match.
    pub(crate) fn new(
        routes: &Routes,
        kernel: Kernel,
        with_prefixes: bool,
        mut each: impl FnMut(Answer<'_>),
    ) -> Result<Self, Failure> {
        let fib = if !with_prefixes {
            for number in 1..=routes.name_count() {
                each(Answer {
                    prefix: None,
                    next_hop: NextHop::new(number).map_or("", |number| routes.name(number)),
                    next_hop_number: number,
                });
            }
            routes.fib()?
        } else {
            let mut text = [0; IPV6_TEXT + 4];
            routes.numbered(|prefix, next_hop| {
                each(Answer {
                    prefix: Some(spell(prefix, &mut text)),
                    next_hop: routes.name(next_hop),
                    next_hop_number: next_hop.get(),
                });
            })?
        };
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
        addresses: &[A],
        tables: &[Table],
        numbers: &'l mut Vec<Vec<u32>>,
        compile: impl FnMut((usize, &Table)) -> Result<(Answers<A>, T), Failure>,
    ) -> Result<Looked<'l, A, T>, Failure> {
        if addresses.is_empty() {
            return Ok(Looked {
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
        Ok(Looked { tables, numbers })
    }
}
