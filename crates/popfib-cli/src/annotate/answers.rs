//! A family's answers: a FIB that gives each address the number of its answer.
//!
//! The matched prefix is part of the answer, and a FIB tells next hops only. So
//! it is compiled from the same routes with a number of its own for each, in
//! place of its next hop; the RIB would tell the prefix too, at ten times the
//! cost. Where only values are asked for, the FIB is the usual one.

use popfib::{IpPrefix, Kernel, NextHop, Prefix, Rib};
use popfib_baselines::Key;

use super::Question;
use crate::any_fib::{AnyFib, compile};
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

impl<A: Key> Answers<A> {
    /// Compiles the routes of `rib`, and hands each answer to `each`, numbered
    /// from 1 in the order of the calls. Number 0 stands for no match.
    pub(super) fn new(
        rib: &Rib<A>,
        question: &Question<'_>,
        mut each: impl FnMut(Answer<'_>),
    ) -> Result<Self, Failure>
    where
        Prefix<A>: Into<IpPrefix>,
    {
        let (names, args) = (&question.table.next_hops, question.fib);
        let name = |next_hop| names.name(next_hop).unwrap_or("-");
        let compiled = if question.value_only {
            for number in 1..=names.len() as u32 {
                let next_hop = NextHop::new(number).map_or("-", name);
                each(Answer {
                    prefix: None,
                    next_hop,
                    next_hop_number: number,
                });
            }
            compile(rib, args.direct_bits, &args.form)?
        } else {
            let mut numbered = Rib::new();
            for (number, (prefix, next_hop)) in (1..).zip(rib.iter()) {
                each(Answer {
                    prefix: Some(&prefix.into().to_string()),
                    next_hop: name(next_hop),
                    next_hop_number: next_hop.get(),
                });
                numbered.insert(prefix, NextHop::new(number).expect("numbers begin with 1"));
            }
            compile(&numbered, args.direct_bits, &args.form)?
        };
        Ok(Self {
            fib: compiled.fib,
            kernel: args.form.kernel()?,
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
