//! `count --by address` and `--by /24`: addresses in, numbers of the addresses or of their networks out, counted from 1 in the
//! order in which they first come. So they are counted as the records of a table are.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use popfib::Prefix;
use popfib::family::{ByFamily, Family, PerFamily};
use popfib_program::failure::Failure;
use popfib_table::{Cell, PrefixText};

use crate::args::PrefixLengths;
use crate::records::text;

/// The name that stands for the addresses themselves in `--by`.
const ADDRESS: &str = "address";

/// Whether a name in `--by` stands for addresses, or is a length of networks.
pub(super) fn is_of_addresses(name: &str) -> bool {
    name == ADDRESS || name.starts_with('/')
}

/// The number of each address or network.
struct AddressNumbers;

impl PerFamily for AddressNumbers {
    type Of<A: Family> = HashMap<A, u32, RandomState>;
}

/// The addresses or networks that came, numbered.
pub(super) struct CountedAddresses {
    /// `Some` if networks of these lengths are counted in place of addresses.
    lengths: Option<PrefixLengths>,
    number_of: ByFamily<AddressNumbers>,
    /// The texts of the numbers from 1 on.
    texts: Vec<Box<str>>,
}

impl CountedAddresses {
    /// For the names in `--by` that [are of addresses](is_of_addresses); `None` if there are none.
    pub(super) fn new(columns: &[String]) -> Result<Option<Self>, Failure> {
        let lengths = match columns {
            [] => return Ok(None),
            [one] if one == ADDRESS => None,
            lengths => {
                let lengths = lengths.join(",");
                let parsed = lengths.parse();
                let parsed = parsed.map_err(|reason| format!("--by {lengths}: {reason}"))?;
                Some(parsed)
            }
        };
        Ok(Some(Self {
            lengths,
            number_of: ByFamily::default(),
            texts: Vec::new(),
        }))
    }

    /// The name of their column for this cell; the name of the cell is empty if a row has only one.
    pub(super) fn column<'n>(&self, cell: &'n str) -> &'n str {
        match (cell, self.lengths) {
            ("", None) => ADDRESS,
            ("", Some(_)) => "network",
            _ => cell,
        }
    }

    /// How many came.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn cell(&self, number: u32) -> Option<Cell<'_>> {
        let at = (number as usize).checked_sub(1)?;
        Some(text(&self.texts[at]))
    }

    /// Puts the number of each address into `numbers`.
    pub(super) fn number<A: Family>(&mut self, addresses: &[A], numbers: &mut Vec<u32>) {
        let lengths = self.lengths;
        let length = lengths.map_or(A::WIDTH, |lengths| lengths.of::<A>());
        let number_of = A::of_mut(&mut self.number_of);
        let texts = &mut self.texts;
        numbers.clear();
        numbers.extend(addresses.iter().map(|&address| {
            let network = Prefix::new_masked(address, length).expect("a length of the family");
            *number_of.entry(network.address()).or_insert_with(|| {
                let text = PrefixText::new(A::ip_prefix(network));
                let (address_alone, _) = text.as_str().split_once('/').unwrap_or_default();
                texts.push(match lengths {
                    Some(_) => text.as_str().into(),
                    None => address_alone.into(),
                });
                // More than 2^32 take more memory than there is.
                texts.len() as u32
            })
        }));
    }
}
