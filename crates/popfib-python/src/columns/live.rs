//! Columns looked up in a live table: rows of addresses in, numbers of objects out, in the order in which they come.
//!
//! The numbers that a live table has are given to other objects when a route leaves, so they mean nothing once its readers are
//! gone. A batch numbers its objects itself, and then the same is made of these numbers as of those of a `Table`.

use hashbrown::HashTable;
use popfib::family::Family;
use popfib::live::IpMapGuard;
use pyo3::prelude::*;

use super::ColumnLookup;
use super::lookup::{AnswerSource, BLOCK};
use super::matches::RowMatch;
use super::room::ask_for_memory;
use crate::live::{LiveObject, LiveRoutes};
use crate::values::{PyValues, ValueSnapshot};

/// Finds the objects of a live table.
struct LiveObjects<'g, 'r>(&'g IpMapGuard<'r, LiveObject>);

impl<'g> AnswerSource for LiveObjects<'g, '_> {
    type Answer = Option<&'g LiveObject>;

    fn batch<A: Family>(&self, addresses: &[A], answers: &mut [Self::Answer]) {
        self.0.family::<A>().lookup_batch(addresses, answers);
    }
}

/// Finds longest matches, and their objects, in a live table.
struct LiveMatches<'g, 'r>(&'g IpMapGuard<'r, LiveObject>);

impl<'g> AnswerSource for LiveMatches<'g, '_> {
    type Answer = (RowMatch, Option<&'g LiveObject>);

    fn batch<A: Family>(&self, addresses: &[A], answers: &mut [Self::Answer]) {
        let mut found = [const { None }; BLOCK];
        for (addresses, answers) in addresses.chunks(BLOCK).zip(answers.chunks_mut(BLOCK)) {
            let found = &mut found[..addresses.len()];
            self.0.family::<A>().longest_match_batch(addresses, found);
            for (found, answer) in found.iter().zip(answers) {
                *answer = found.map_or_else(Default::default, |(prefix, value)| {
                    (RowMatch::of((prefix, value.number())), Some(value))
                });
            }
        }
    }
}

/// The objects of a batch, numbered from 1 on.
struct ObjectNumbering<'py> {
    py: Python<'py>,
    objects: Vec<Py<PyAny>>,
    /// Numbers by identity.
    numbers: HashTable<(usize, u32)>,
}

impl<'py> ObjectNumbering<'py> {
    fn new(py: Python<'py>) -> Self {
        Self {
            py,
            objects: Vec::new(),
            numbers: HashTable::new(),
        }
    }

    /// The number of an object; 0 for none.
    #[inline]
    fn number(&mut self, value: Option<&LiveObject>) -> u32 {
        let Some(object) = value.map(LiveObject::object) else {
            return 0;
        };
        let identity = object.as_ptr() as usize;
        if let Some((_, number)) = self.numbers.find(hash(identity), |(at, _)| *at == identity) {
            return *number;
        }
        self.objects.push(object.clone_ref(self.py));
        let number = self.objects.len() as u32;
        let entry = (identity, number);
        self.numbers
            .insert_unique(hash(identity), entry, |(at, _)| hash(*at));
        number
    }

    /// What the numbers stand for.
    fn known(self, live: &LiveRoutes) -> ValueSnapshot {
        let is_empty = self.objects.is_empty();
        let mut known = PyValues::numbered(self.py, self.objects).known();
        if is_empty {
            // So that all columns of a table have one type, also if nothing is found.
            known.kind = live.kind();
        }
        known
    }
}

fn hash(identity: usize) -> u64 {
    let mixed = (identity as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed.rotate_left(32)
}

impl ColumnLookup<'_, '_> {
    /// Finds the objects of all rows, and numbers them.
    pub(super) fn live_numbers(
        &self,
        live: &LiveRoutes,
        numbers: &mut [u32],
    ) -> PyResult<ValueSnapshot> {
        let mut reader = live.reader()?;
        let mut objects = ObjectNumbering::new(self.py);
        {
            let guard = reader.pin();
            let found = self.find_all(&LiveObjects(&guard), numbers.len())?;
            for (number, value) in numbers.iter_mut().zip(found) {
                *number = objects.number(value);
            }
        }
        live.give_back(reader);
        Ok(objects.known(live))
    }

    /// Finds the longest matches of all rows, and numbers their objects.
    pub(super) fn live_matches(
        &self,
        live: &LiveRoutes,
        matches: &mut [RowMatch],
    ) -> PyResult<ValueSnapshot> {
        let mut reader = live.reader()?;
        let mut objects = ObjectNumbering::new(self.py);
        {
            let guard = reader.pin();
            let found = self.find_all(&LiveMatches(&guard), matches.len())?;
            for (place, (matched, value)) in matches.iter_mut().zip(found) {
                *place = matched.with_number(objects.number(value));
            }
        }
        live.give_back(reader);
        Ok(objects.known(live))
    }

    fn find_all<S: AnswerSource>(&self, source: &S, count: usize) -> PyResult<Vec<S::Answer>> {
        ask_for_memory(count, size_of::<S::Answer>())?;
        let mut found = vec![S::Answer::default(); count];
        self.look_up(source, &mut found)?;
        Ok(found)
    }
}
