//! AddressColumn of both families out of one column, each with the row that it has there.

use popfib::family::{ByFamily, Family, PerFamily};

/// Makes of [`ByFamily`] the rows of both families.
#[derive(Clone, Copy, Debug)]
pub enum AddressRowsByFamily {}

impl PerFamily for AddressRowsByFamily {
    type Of<A: Family> = AddressRows<A>;
}

/// The addresses of a column by family, each with its row, as lookups of many want them.
pub type AddressColumn = ByFamily<AddressRowsByFamily>;

/// AddressColumn of one family, and as many rows.
#[derive(Clone, Debug, Default)]
pub struct AddressRows<A> {
    /// The addresses.
    pub addresses: Vec<A>,
    /// The row of each.
    pub rows: Vec<u32>,
}

impl<A: Copy> AddressRows<A> {
    /// Removes all; the memory stays.
    pub fn clear(&mut self) {
        self.addresses.clear();
        self.rows.clear();
    }

    /// Adds an address of this row.
    #[inline]
    pub fn push(&mut self, row: u32, address: A) {
        self.addresses.push(address);
        self.rows.push(row);
    }

    /// Becomes those of `all` whose rows are chosen.
    pub fn choose(&mut self, all: &Self, is_chosen: impl Fn(u32) -> bool) {
        self.clear();
        for (&row, &address) in all.rows.iter().zip(&all.addresses) {
            if is_chosen(row) {
                self.push(row, address);
            }
        }
    }
}
