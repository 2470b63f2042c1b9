//! A column of addresses of either family in, an array of addresses for each family out, with the row of each address: lookups of
//! many addresses take arrays of one family, and their answers have to find their rows again.

use popfib::family::{ByFamily, Family, PerFamily};

/// Makes [`ByFamily`] the [`FamilyAddresses`] of each family.
#[derive(Clone, Copy, Debug)]
pub enum EachFamilyAddresses {}

impl PerFamily for EachFamilyAddresses {
    type Of<A: Family> = FamilyAddresses<A>;
}

/// The addresses of a column by family, each with its row.
pub type AddressesByFamily = ByFamily<EachFamilyAddresses>;

/// The addresses of one family in a column, and the row of each.
#[derive(Clone, Debug, Default)]
pub struct FamilyAddresses<A> {
    /// The addresses.
    pub addresses: Vec<A>,
    /// The row of each.
    pub rows: Vec<u32>,
}

impl<A: Copy> FamilyAddresses<A> {
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

    /// Replaces what is there by the addresses of `all` whose rows are chosen.
    pub fn choose(&mut self, all: &Self, is_chosen: impl Fn(u32) -> bool) {
        self.clear();
        for (&row, &address) in all.rows.iter().zip(&all.addresses) {
            if is_chosen(row) {
                self.push(row, address);
            }
        }
    }
}
