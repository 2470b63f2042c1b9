//! A value in, its number out: numbered places, which are used again after they are empty. The number stays the same as long as the
//! value is there.

/// The number of places in a block. When all places are in use, another block is added and nothing is moved, so adding takes the same
/// time however many values there are; a vector would sometimes copy all of them under the lock of the tables.
const BLOCK: usize = 256;

/// Values by number.
pub(crate) struct FeedSlots<T> {
    blocks: Vec<Vec<Option<T>>>,
    free: Vec<usize>,
}

impl<T> Default for FeedSlots<T> {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> FeedSlots<T> {
    /// The number of places, those that are empty among them.
    pub(crate) fn places(&self) -> usize {
        match self.blocks.split_last() {
            None => 0,
            Some((last, full)) => full.len() * BLOCK + last.len(),
        }
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.places() - self.free.len()
    }

    /// Adds a value; returns its number.
    pub(crate) fn add(&mut self, value: T) -> usize {
        if let Some(number) = self.free.pop() {
            self.blocks[number / BLOCK][number % BLOCK] = Some(value);
            return number;
        }
        let number = self.places();
        if number.is_multiple_of(BLOCK) {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        self.blocks[number / BLOCK].push(Some(value));
        number
    }

    pub(crate) fn remove(&mut self, number: usize) -> Option<T> {
        let taken = self.place_mut(number)?.take();
        if taken.is_some() {
            self.free.push(number);
        }
        taken
    }

    pub(crate) fn get(&self, number: usize) -> Option<&T> {
        self.blocks
            .get(number / BLOCK)?
            .get(number % BLOCK)?
            .as_ref()
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.place_mut(number)?.as_mut()
    }

    /// The value of a number that is known to be in use.
    pub(crate) fn at(&self, number: usize) -> &T {
        self.get(number).expect("a number in use")
    }

    /// The value of a number that is known to be in use.
    pub(crate) fn at_mut(&mut self, number: usize) -> &mut T {
        self.get_mut(number).expect("a number in use")
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        let places = self.blocks.iter_mut().flatten().enumerate();
        places.filter_map(|(number, place)| Some((number, place.as_mut()?)))
    }

    fn place_mut(&mut self, number: usize) -> Option<&mut Option<T>> {
        self.blocks.get_mut(number / BLOCK)?.get_mut(number % BLOCK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_where_they_are_and_places_are_used_again() {
        let mut slots = FeedSlots::default();
        let all: Vec<usize> = (0..3 * BLOCK + 1).map(|value| slots.add(value)).collect();
        assert!(all.iter().all(|&number| *slots.at(number) == number));
        let first: *const usize = slots.at(0);
        (0..BLOCK).for_each(|value| assert_eq!(slots.add(value), all.len() + value));
        assert_eq!(first, slots.at(0) as *const usize);
        assert_eq!(
            (slots.remove(BLOCK), slots.remove(BLOCK)),
            (Some(BLOCK), None)
        );
        assert_eq!((slots.len(), slots.places()), (4 * BLOCK, 4 * BLOCK + 1));
        assert_eq!((slots.get(BLOCK), slots.get(9 * BLOCK)), (None, None));
        assert_eq!((slots.add(7), slots.places()), (BLOCK, 4 * BLOCK + 1));
        assert_eq!(slots.iter_mut().count(), slots.len());
    }
}
