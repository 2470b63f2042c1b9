//! How a map keeps its values: one for each route, or one for all routes that share it.
//!
//! A type parameter and not an option of the map, because the two ask for different things.
//! A map of the user's own values asks nothing of them and lends `&mut V`; where routes
//! share a value, it has to be compared, and a changed one is another value with another
//! number. Rejected: an interning constructor alone, which has to carry the comparison as
//! function pointers and can lend nothing but guards, also to those who share nothing.
//! Rejected: sharing wherever `V: Eq + Hash`. Counters for each prefix would be renumbered
//! at each step, silently, and a map would merge values whose identity matters (`Rc`).
//! At the call site it is still one word: `IpMap::shared()`.

use allocator_api2::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::memory;

/// What only maps ask of a [`Storage`]: out of reach of other crates, so that none can add a storage.
pub(super) mod sealed {
    use core::fmt::Debug;

    pub trait Sealed {
        /// Finds a pair by its content, where that is asked for.
        type ValueIndex: Clone + Debug + Default + Send + Sync;

        fn index_bytes(index: &Self::ValueIndex) -> usize;

        /// Gives back what was had for more pairs to come, if there is memory to move to.
        fn shrink(index: &mut Self::ValueIndex);

        /// The pair that was number `n` is number `numbers[n]` now.
        fn renumber(index: &mut Self::ValueIndex, numbers: &[u32]);
    }
}

use sealed::Sealed;

/// How a map keeps values: [`Own`] or [`Shared`].
///
/// ```
/// use popfib::PrefixMap;
/// use popfib::map::Storage;
///
/// fn size<V, S: Storage>(map: &PrefixMap<u32, V, S>) -> usize {
///     map.len() + map.pair_count()
/// }
///
/// assert_eq!(size(&PrefixMap::<u32, u8>::new()), 0);
/// ```
pub trait Storage: Sealed + Clone + Eq + Hash + 'static {}

/// Each route has a value of its own, of any type: the default of all maps.
///
/// A lookup touches one more cache line than with [`Shared`] values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Own;

/// Routes with equal values share one: origin AS, country, tenant, next hop.
///
/// The fastest and smallest map, since what lookups touch stays in the CPU's cache. A value that is removed
/// while other routes have it is returned as a clone, and changing a value in place affects only one route
/// ([`ValueMut`](crate::map::ValueMut)).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shared;

impl Storage for Own {}

impl Sealed for Own {
    type ValueIndex = ();

    fn index_bytes((): &()) -> usize {
        0
    }

    fn shrink((): &mut ()) {}

    fn renumber((): &mut (), _: &[u32]) {}
}

/// Which pairs there are, by content, and how many routes have each.
#[derive(Clone, Debug, Default)]
pub struct ValueIndex {
    pub(super) numbers: HashTable<u32>,
    /// Of pair `n` at `n`.
    pub(super) uses: Vec<ValueUse>,
    pub(super) hasher: DefaultHashBuilder,
}

/// What is known of a pair. The hash is kept so that nothing but a comparison ever calls the
/// user's code: when the table grows or a pair goes, nothing can panic.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ValueUse {
    pub(super) routes: u32,
    pub(super) hash: u32,
}

/// A hash table's hash of the half that is kept: it wants well-mixed bits at both ends.
pub(super) fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Storage for Shared {}

impl Sealed for Shared {
    type ValueIndex = ValueIndex;

    fn index_bytes(index: &ValueIndex) -> usize {
        index.numbers.allocation_size() + index.uses.capacity() * size_of::<ValueUse>()
    }

    fn shrink(index: &mut ValueIndex) {
        let len = index.uses.len();
        memory::shrink(&mut index.uses, len + len / 16);
    }

    fn renumber(index: &mut ValueIndex, numbers: &[u32]) {
        for number in &mut index.numbers {
            *number = numbers[*number as usize];
        }
        // Numbers only become lower, in their order.
        for (old, new) in numbers.iter().enumerate() {
            index.uses[*new as usize] = index.uses[old];
        }
        let highest = numbers.iter().copied().max().unwrap_or(0);
        index.uses.truncate(highest as usize + 1);
    }
}
