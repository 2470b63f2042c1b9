//! `popfib.IPSet`: a set of addresses.
//!
//! Sets do not change, so they need no lock, and each is the fewest prefixes with its addresses, so that sets of the same
//! addresses are equal. Rejected: sets that change in place, which would have to keep prefixes that others cover, or forget
//! them.
//!
//! `addresses` is what a set has, `class` the class, `source` what it is made of, `parts` its iterators, and `methods` its
//! methods. `load` reads sets from files, and `overlaps` compares them.

mod addresses;
mod class;
mod load;
mod methods;
mod overlaps;
mod parts;
mod source;

pub(crate) use class::PyIpSet;
pub(crate) use load::load_set;
pub(crate) use overlaps::compare;
pub(crate) use parts::PyIpSetParts;
