//! Prefixes that have several records: numbers of routes that were counted in, a count for each record of their prefixes out.

use popfib::NextHop;

use super::AddressCounter;
use super::weight::Sum;

impl AddressCounter<'_> {
    /// Gives each record that a counted prefix has besides that of its route a number, too, if it has other values.
    pub(super) fn number_others(&mut self) {
        let tables = self.tables.iter().zip(&mut self.routes);
        for ((table, routes), numbers) in tables.zip(&mut self.others) {
            let Some(records) = table.table.records().filter(|_| !table.others.is_empty()) else {
                continue;
            };
            let codes = |to: NextHop| records.codes(to.get()).collect::<Vec<_>>();
            for at in 0..routes.len() {
                let (text, last) = routes[at].clone();
                let prefix = text.parse().expect("the text of a prefix");
                let mut known = vec![codes(last)];
                for &other in table.others.get(&prefix).into_iter().flatten() {
                    if !known.contains(&codes(other)) {
                        known.push(codes(other));
                        routes.push((text.clone(), other));
                        let number = routes.len() as u32;
                        numbers.entry(at as u32 + 1).or_default().push(number);
                    }
                }
            }
        }
    }

    /// The same as [`came`](Self::came), once for each of the records that the prefixes of a combination have.
    pub(super) fn counts(&self) -> Vec<(Vec<u32>, Sum)> {
        let first = usize::from(self.addresses.is_some());
        let mut counts: Vec<_> = self.came().collect();
        for (at, others) in self
            .others
            .iter()
            .enumerate()
            .filter(|(_, o)| !o.is_empty())
        {
            for cell in 0..self.cells.len() {
                let place = cell * self.width() + first + at;
                for index in 0..counts.len() {
                    for &number in others.get(&counts[index].0[place]).into_iter().flatten() {
                        let (mut key, count) = counts[index].clone();
                        key[place] = number;
                        counts.push((key, count));
                    }
                }
            }
        }
        counts
    }

    /// The sum of what was counted, each once.
    pub(super) fn total(&self) -> f64 {
        let mut total = Sum::default();
        self.came().for_each(|(_, count)| total += count);
        total.as_f64()
    }
}
