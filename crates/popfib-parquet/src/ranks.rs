//! A set of numbers in; how many of them come before a number out: the place of its value in a dictionary that is in the order of the
//! numbers.

/// Numbers of a word.
const WORD: usize = 32;

/// A set of numbers from 1 on.
///
/// A place is the count of the words before and a population count, as in a Poptrie. That takes two bits for each number, so that the set
/// stays in the L2 cache, in which it is looked up at random. An array of places would take 16 times as much.
#[derive(Default)]
pub(crate) struct Ranks {
    words: Vec<RankWord>,
}

#[derive(Clone, Copy, Default)]
#[repr(align(8))]
struct RankWord {
    /// A bit for each number of the word.
    has: u32,
    /// How many numbers are in the words before.
    before: u32,
}

impl Ranks {
    /// Replaces the set by those of `numbers` that are not 0. Returns how many different ones there are.
    ///
    /// # Panics
    /// If one is greater than `last`.
    pub(crate) fn replace(&mut self, numbers: &[u32], last: usize) -> usize {
        self.words.clear();
        self.words.resize(last / WORD + 1, RankWord::default());
        for &number in numbers {
            self.words[number as usize / WORD].has |= 1 << (number % WORD as u32);
        }
        self.words[0].has &= !1;
        let mut count = 0;
        for word in &mut self.words {
            word.before = count;
            count += word.has.count_ones();
        }
        count as usize
    }

    /// Replaces what is in `places` by how many numbers are less than each of `numbers`.
    pub(crate) fn places(&self, numbers: &[u32], places: &mut Vec<u32>) {
        const TOGETHER: usize = 64;
        let mut less = [0; TOGETHER];
        places.resize(numbers.len(), 0);
        for (numbers, places) in numbers.chunks(TOGETHER).zip(places.chunks_mut(TOGETHER)) {
            for ((number, place), less) in numbers.iter().zip(&mut *places).zip(&mut less) {
                let word = self.words[*number as usize / WORD];
                *place = word.before;
                *less = word.has & ((1 << (number % WORD as u32)) - 1);
            }
            // A loop of its own, because the compiler makes it vector code, even for CPUs without an instruction that counts bits.
            for (place, less) in places.iter_mut().zip(&less) {
                *place += less.count_ones();
            }
        }
    }

    /// Calls `each` with every number, in order.
    pub(crate) fn for_each(&self, mut each: impl FnMut(usize)) {
        for (index, word) in self.words.iter().enumerate() {
            let mut has = word.has;
            while has != 0 {
                each(index * WORD + has.trailing_zeros() as usize);
                has &= has - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counts_of_what_is_less() {
        let mut ranks = Ranks::default();
        let mut state = 1u64;
        for last in [1, 31, 32, 33, 63, 64, 1000, 5000] {
            for rows in [1, 3, 64, 65, 1000] {
                let numbers: Vec<u32> = (0..rows)
                    .map(|_| {
                        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                        (state >> 33) as u32 % (last + 1)
                    })
                    .collect();
                let mut set: Vec<u32> = numbers.iter().copied().filter(|&n| n != 0).collect();
                set.sort();
                set.dedup();
                assert_eq!(ranks.replace(&numbers, last as usize), set.len());
                let mut all = Vec::new();
                ranks.for_each(|number| all.push(number as u32));
                assert_eq!(all, set);
                let present: Vec<u32> = numbers.into_iter().filter(|&n| n != 0).collect();
                let mut places = vec![7; 3];
                ranks.places(&present, &mut places);
                let found = places.iter().map(|&place| set[place as usize]);
                assert_eq!(found.collect::<Vec<_>>(), present);
            }
        }
    }
}
