//! Numbered places for values of any type.
//!
//! A value keeps its number until it is taken; the number is a [`NextHop`], so
//! that a Rib can hold it, and has at most 31 bits. Free places are chained through themselves, so that a value takes
//! the place of one that was taken before.

use std::mem;

use popfib::NextHop;

/// The highest number.
const HIGHEST: u32 = u32::MAX >> 1;

pub(super) struct Slab<T> {
    /// Number `n` is place `n - 1`.
    places: Vec<SlabPlace<T>>,
    /// The first free place.
    free: Option<NextHop>,
    len: usize,
}

enum SlabPlace<T> {
    Full(T),
    /// The next free place.
    Free(Option<NextHop>),
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self {
            places: Vec::new(),
            free: None,
            len: 0,
        }
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a value; returns its number.
    pub(super) fn add(&mut self, value: T) -> NextHop {
        self.len += 1;
        if let Some(number) = self.free {
            let place = &mut self.places[index(number)];
            if let SlabPlace::Free(next) = mem::replace(place, SlabPlace::Full(value)) {
                self.free = next;
            }
            return number;
        }
        self.places.push(SlabPlace::Full(value));
        let number = u32::try_from(self.places.len()).ok();
        let number = number.filter(|number| *number <= HIGHEST);
        number.and_then(NextHop::new).expect("fewer than 2^31")
    }

    /// Where there is room for none, makes room for an eighth more values and no more than that, if there is memory.
    pub(super) fn lengthen(&mut self) {
        if self.free.is_none() && self.places.len() == self.places.capacity() {
            let _ = self.places.try_reserve_exact((self.len / 8).max(4));
        }
    }

    /// The value of a number that was not taken.
    #[inline]
    pub(super) fn get(&self, number: NextHop) -> &T {
        match &self.places[index(number)] {
            SlabPlace::Full(value) => value,
            SlabPlace::Free(_) => taken(),
        }
    }

    pub(super) fn get_mut(&mut self, number: NextHop) -> &mut T {
        match &mut self.places[index(number)] {
            SlabPlace::Full(value) => value,
            SlabPlace::Free(_) => taken(),
        }
    }

    /// Takes a value out; the last one gives all memory back.
    pub(super) fn take(&mut self, number: NextHop) -> T {
        let free = SlabPlace::Free(self.free);
        let SlabPlace::Full(value) = mem::replace(&mut self.places[index(number)], free) else {
            taken()
        };
        self.free = Some(number);
        self.len -= 1;
        if self.len == 0 {
            *self = Self::new();
        }
        value
    }

    /// Bytes of the places, spare ones included.
    pub(super) fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<SlabPlace<T>>()
    }
}

#[inline]
fn index(number: NextHop) -> usize {
    number.get() as usize - 1
}

#[cold]
fn taken() -> ! {
    unreachable!("a number leads to its value until that is taken")
}
