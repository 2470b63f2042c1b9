//! An address in, its place between 0 and 1 in the part of the address space that a picture shows out.

use popfib::{Address, Prefix};

/// The addresses of a prefix as the numbers from 0 to 1.
#[derive(Clone, Copy)]
pub(crate) struct ShownSpan<A> {
    pub(crate) prefix: Prefix<A>,
}

impl<A: Address> ShownSpan<A> {
    /// The addresses of this prefix. Without one they are all of a short key, and of IPv6 the eighth that is given out, 2000::/3.
    pub(crate) fn of(prefix: Option<Prefix<A>>) -> Self {
        let usual = if A::WIDTH == 128 {
            Prefix::new_masked(A::truncate(1 << 125), 3)
        } else {
            Prefix::new_masked(A::MIN, 0)
        };
        Self {
            prefix: prefix.unwrap_or(usual.expect("no key is that short")),
        }
    }

    /// Where `address` is; 0 for the first of the span. It is exact to 53 bits, many more than a picture can show.
    pub(crate) fn at(&self, address: A) -> f64 {
        if self.prefix.len() == A::WIDTH {
            return 0.0;
        }
        // Only bits within the span are left.
        let key = address.skip_bits(self.prefix.len()).to_u128();
        key as f64 / 2f64.powi(i32::from(A::WIDTH))
    }
}
