//! Numbered places for values of any type.
//!
//! A value keeps its number until it is taken; the number is a [`NextHop`], so
//! that a Rib can hold it, and has at most 31 bits. Free places are chained through themselves: taking
//! a value never needs memory, and neither does adding one where another was.

use core::mem;

use allocator_api2::vec::Vec;

use crate::memory::{self, Allocator, Global, OutOfMemory};
use crate::next_hop::NextHop;

/// The highest number.
const HIGHEST: u32 = u32::MAX >> 1;

#[derive(Clone, Debug)]
pub(crate) struct Slab<T, Al: Allocator = Global> {
    /// Number `n` is place `n - 1`.
    places: Vec<SlabPlace<T>, Al>,
    /// The first free place.
    free: Option<NextHop>,
    len: usize,
}

#[derive(Clone, Debug)]
enum SlabPlace<T> {
    Full(T),
    /// The next free place.
    Free(Option<NextHop>),
}

impl<T, Al: Allocator + Clone> Slab<T, Al> {
    pub(crate) const fn new_in(alloc: Al) -> Self {
        Self {
            places: Vec::new_in(alloc),
            free: None,
            len: 0,
        }
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a value; returns its number.
    pub(crate) fn try_add(&mut self, value: T) -> Result<NextHop, OutOfMemory> {
        let number = match self.free {
            Some(number) => {
                let place = &mut self.places[index(number)];
                if let SlabPlace::Free(next) = *place {
                    self.free = next;
                }
                *place = SlabPlace::Full(value);
                number
            }
            None => self.try_append(value)?,
        };
        self.len += 1;
        Ok(number)
    }

    fn try_append(&mut self, value: T) -> Result<NextHop, OutOfMemory> {
        let len = self.places.len();
        let number = u32::try_from(len + 1).ok().and_then(NextHop::new);
        let number = number.filter(|number| number.get() <= HIGHEST);
        let number = number.ok_or(OutOfMemory::new(usize::MAX))?;
        memory::grow(&mut self.places, 1)?;
        self.places.push(SlabPlace::Full(value));
        Ok(number)
    }

    /// Where there is room for none, makes room for an eighth more values and no more than that.
    pub(crate) fn lengthen(&mut self) -> Result<(), OutOfMemory> {
        match self.free.is_none() && self.places.len() == self.places.capacity() {
            true => memory::reserve(&mut self.places, (self.len / 8).max(4)),
            false => Ok(()),
        }
    }

    #[inline]
    pub(crate) fn get(&self, number: NextHop) -> Option<&T> {
        match self.places.get(index(number))? {
            SlabPlace::Full(value) => Some(value),
            SlabPlace::Free(_) => None,
        }
    }

    pub(crate) fn get_mut(&mut self, number: NextHop) -> Option<&mut T> {
        match self.places.get_mut(index(number))? {
            SlabPlace::Full(value) => Some(value),
            SlabPlace::Free(_) => None,
        }
    }

    /// Takes a value out; the last one gives all memory back.
    pub(crate) fn take(&mut self, number: NextHop) -> Option<T> {
        let place = self.places.get_mut(index(number))?;
        if let SlabPlace::Free(_) = place {
            return None;
        }
        let taken = mem::replace(place, SlabPlace::Free(self.free));
        self.free = Some(number);
        self.len -= 1;
        if self.len == 0 {
            // Not by `shrink_to_fit`, which asks the allocator for 0 bytes.
            *self = Self::new_in(self.places.allocator().clone());
        }
        match taken {
            SlabPlace::Full(value) => Some(value),
            SlabPlace::Free(_) => None,
        }
    }

    /// Bytes of the places, spare ones included.
    pub(crate) fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<SlabPlace<T>>()
    }
}

#[inline]
fn index(number: NextHop) -> usize {
    number.get() as usize - 1
}
