//! Numbered places, which are used again after they are empty.

/// Values by number.
pub(crate) struct Slots<T> {
    places: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slots<T> {
    /// The number of places, those that are empty among them.
    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Adds a value; returns its number.
    pub(crate) fn add(&mut self, value: T) -> usize {
        match self.free.pop() {
            Some(number) => {
                self.places[number] = Some(value);
                number
            }
            None => {
                self.places.push(Some(value));
                self.places.len() - 1
            }
        }
    }

    pub(crate) fn remove(&mut self, number: usize) -> Option<T> {
        let taken = self.places.get_mut(number)?.take();
        if taken.is_some() {
            self.free.push(number);
        }
        taken
    }

    pub(crate) fn get(&self, number: usize) -> Option<&T> {
        self.places.get(number)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.places.get_mut(number)?.as_mut()
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
        let places = self.places.iter_mut().enumerate();
        places.filter_map(|(number, place)| Some((number, place.as_mut()?)))
    }
}
