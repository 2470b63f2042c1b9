//! One family's live table, the updates that wait for it, and what they took.

use popfib::live::Reader;
use popfib::{Address, Fib, LiveFib, NextHop, Options, Prefix, Rib};
use popfib_eval::{Update, UpdateTimes, check_answers, shuffled};

use crate::program::{Failure, note};

/// Mismatches that are printed; all are counted.
const TOLD: u64 = 10;

/// A live table whose answers are 32 bits wide, so that any next hop fits.
pub(crate) struct Family<A: Address> {
    table: LiveFib<A>,
    options: Options,
    waiting: Vec<Update<A>>,
    pub(crate) counts: UpdateTimes,
    mismatches: u64,
}

impl<A: Address> Family<A> {
    pub(crate) fn new(rib: Rib<A>, options: Options) -> Result<Self, Failure> {
        Ok(Self {
            table: LiveFib::from_rib(rib, options.clone())?,
            options,
            waiting: Vec::new(),
            counts: UpdateTimes::default(),
            mismatches: 0,
        })
    }

    /// An update to apply later; `None` withdraws the route.
    pub(crate) fn push(&mut self, prefix: Prefix<A>, next_hop: Option<NextHop>) {
        self.waiting.push((prefix, next_hop));
    }

    /// Updates to apply later.
    pub(crate) fn waits_for(&mut self, updates: Vec<Update<A>>) {
        self.waiting.extend(updates);
    }

    /// Begins again without routes; announcing them all waits, in random order.
    pub(crate) fn fill(&mut self) -> Result<(), Failure> {
        self.waits_for(shuffled(self.rib()));
        self.table = LiveFib::from_rib(Rib::new(), self.options.clone())?;
        Ok(())
    }

    /// Updates to apply.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn reader(&self) -> Reader<A> {
        self.table.reader()
    }

    pub(crate) fn rib(&self) -> &Rib<A> {
        self.table.rib()
    }

    /// Applies the updates that wait.
    pub(crate) fn apply(&mut self, check_every: Option<u64>) -> Result<(), Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        let stretch = check_every.map_or(waiting.len().max(1), |every| every as usize);
        for updates in waiting.chunks(stretch) {
            self.counts.apply(&mut self.table, updates)?;
            if check_every.is_some() {
                self.compare();
            }
        }
        Ok(())
    }

    /// Compares every answer with the RIB's; returns how many have been wrong so far.
    pub(crate) fn check(&mut self) -> u64 {
        self.compare();
        self.mismatches
    }

    fn compare(&mut self) {
        if let Err(error) = self.table.check() {
            note(format_args!("the FIB is malformed: {error}"));
            // Its lookups can't be trusted to end.
            self.mismatches += 1;
            return;
        }
        let mismatches = &mut self.mismatches;
        check_answers(&self.table, |address, answer, expected| {
            *mismatches += 1;
            if *mismatches <= TOLD {
                let host = Prefix::host(address);
                note(format_args!("{host:?}: next hop {answer}, not {expected}"));
            }
        });
    }

    pub(crate) fn routes(&self) -> usize {
        self.table.rib().len()
    }

    pub(crate) fn fib_bytes(&self) -> usize {
        self.table.bytes().arrays
    }

    /// Bytes of a FIB compiled from the routes as they are.
    pub(crate) fn fresh_bytes(&self) -> Result<usize, Failure> {
        let fresh = Fib::<A>::compile(self.table.rib(), &self.options)?;
        Ok(fresh.bytes())
    }

    pub(crate) fn into_rib(self) -> Rib<A> {
        self.table.rib().clone()
    }
}
