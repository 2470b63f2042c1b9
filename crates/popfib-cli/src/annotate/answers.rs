//! A family's answers: a FIB that gives each address the number of its answer.
//!
//! The matched prefix is part of the answer, and a FIB tells next hops only. So
//! one is asked that has a number for each route, in place of its next hop; the
//! RIB would tell the prefix too, at ten times the cost. Where only values are
//! asked for, the FIB is the usual one.

use popfib::{Kernel, NextHop};
use popfib_formats::IPV6_TEXT;

use super::Question;
use super::routes::{Family, spell};
use crate::any_fib::AnyFib;
use crate::failure::Failure;

/// One thing that can be said about an address.
pub(super) struct Answer<'a> {
    /// The matched prefix, if it is asked for.
    pub(super) prefix: Option<&'a str>,
    pub(super) next_hop: &'a str,
    /// The next hop's number among the table's, from 1.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code))]
    pub(super) next_hop_number: u32,
}

/// The answers of one family.
pub(super) struct Answers<A> {
    fib: Box<dyn AnyFib<A>>,
    kernel: Kernel,
    numbers: Vec<u32>,
}

impl<A: Family> Answers<A> {
    /// Has the routes compiled, and hands each answer to `each`, numbered
    /// from 1 in the order of the calls. Number 0 stands for no match.
    pub(super) fn new(
        question: Question<'_>,
        mut each: impl FnMut(Answer<'_>),
    ) -> Result<Self, Failure> {
        let (routes, args) = (question.routes, question.args);
        let fib = if args.value_only {
            for number in 1..=routes.name_count() {
                each(Answer {
                    prefix: None,
                    next_hop: NextHop::new(number).map_or("", |number| routes.name(number)),
                    next_hop_number: number,
                });
            }
            routes.fib(args)?
        } else {
            let mut text = [0; IPV6_TEXT + 4];
            routes.numbered(args, |prefix, next_hop| {
                each(Answer {
                    prefix: Some(spell(prefix, &mut text)),
                    next_hop: routes.name(next_hop),
                    next_hop_number: next_hop.get(),
                });
            })?
        };
        Ok(Self {
            fib,
            kernel: args.fib.form.kernel()?,
            numbers: Vec::new(),
        })
    }

    /// The number of each address's answer, 0 for none.
    pub(super) fn numbers(&mut self, addresses: &[A]) -> &[u32] {
        self.numbers.resize(addresses.len(), 0);
        self.fib
            .lookup_into(self.kernel, addresses, &mut self.numbers);
        &self.numbers
    }
}
