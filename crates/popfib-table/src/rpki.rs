//! Route origin validation (RFC 6811): is this AS allowed to originate this prefix?
//!
//! A *VRP* (validated ROA payload) allows an AS to originate a prefix, and the prefixes inside it up to a
//! maximum length. A route is **valid** if a VRP that covers its prefix has its AS and at least its length as the maximum. It is
//! **invalid** if VRPs cover it and none of them makes it valid, else **not found**.
//!
//! The VRPs of a prefix lie side by side in one array, and a Rib holds which part of it is whose. To
//! validate a route is to walk the covering prefixes of a Rib, O(key width / 6 + VRPs there).

use popfib::family::{Family, PerFamily};
use popfib::{Address, NextHop, Prefix, Rib};
use thiserror::Error;

/// A validated ROA payload: an AS that may originate a prefix, and the prefixes inside it up to a maximum
/// length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vrp<A: Address> {
    // The order of the fields is the order of VRPs.
    prefix: Prefix<A>,
    asn: u32,
    max_length: u8,
}

/// A maximum length that a VRP cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VrpError {
    /// It is shorter than the prefix itself.
    #[error("the maximum length is less than the prefix length {length}")]
    Below {
        /// The length of the prefix.
        length: u8,
    },
    /// It is beyond the width of the address.
    #[error("the maximum length is more than {max}")]
    Beyond {
        /// The longest length there is for this kind of address.
        max: u8,
    },
}

impl<A: Address> Vrp<A> {
    /// `asn` may originate `prefix`, and the prefixes inside it with a length of at most `max_length`.
    ///
    /// AS 0 makes no route valid: such a VRP means that no AS may originate the prefix (RFC 6483, section 4).
    ///
    /// # Errors
    /// A `max_length` below the prefix's length or beyond the address.
    pub fn new(prefix: Prefix<A>, max_length: u8, asn: u32) -> Result<Self, VrpError> {
        if max_length > A::WIDTH {
            return Err(VrpError::Beyond { max: A::WIDTH });
        }
        if max_length < prefix.len() {
            return Err(VrpError::Below {
                length: prefix.len(),
            });
        }
        Ok(Self {
            prefix,
            asn,
            max_length,
        })
    }

    /// The prefix.
    pub fn prefix(&self) -> Prefix<A> {
        self.prefix
    }

    /// The longest prefix length that it allows.
    pub fn max_length(&self) -> u8 {
        self.max_length
    }

    /// The AS that may originate.
    pub fn asn(&self) -> u32 {
        self.asn
    }

    /// Whether it makes a route valid whose prefix it covers.
    fn matches(&self, length: u8, origin: Option<u32>) -> bool {
        self.is_of(origin) && length <= self.max_length
    }

    /// Whether `origin` is its AS, which AS 0 is of nobody.
    fn is_of(&self, origin: Option<u32>) -> bool {
        self.asn != 0 && origin == Some(self.asn)
    }
}

/// The state of a route (RFC 6811). As in other validators there are two kinds of invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Validity {
    /// A covering VRP has the route's origin, and its maximum length allows the prefix.
    Valid,
    /// VRPs cover the prefix, and none has the route's origin.
    InvalidAs,
    /// Covering VRPs have the route's origin, but the prefix is longer than any of them allows.
    InvalidLength,
    /// No VRP covers the prefix.
    NotFound,
}

impl Validity {
    /// All states.
    pub const ALL: [Self; 4] = [
        Self::Valid,
        Self::InvalidAs,
        Self::InvalidLength,
        Self::NotFound,
    ];

    /// What the state is called: `valid`, `invalid-as`, `invalid-length`, `not-found`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::InvalidAs => "invalid-as",
            Self::InvalidLength => "invalid-length",
            Self::NotFound => "not-found",
        }
    }
}

/// Makes [`ByFamily`](popfib::family::ByFamily) the VRPs of both families.
#[derive(Clone, Copy, Debug)]
pub enum FamilyVrps {}

impl PerFamily for FamilyVrps {
    type Of<A: Family> = Vrps<A>;
}

/// VRPs of one family, any number for one prefix.
///
/// ```
/// use popfib::Prefix;
/// use popfib_table::rpki::{Validity, Vrp, Vrps};
///
/// let prefix = |text: &str| -> Prefix<u32> { text.parse().unwrap() };
/// let vrps: Vrps<u32> = [
///     Vrp::new(prefix("192.0.2.0/24"), 24, 64500)?,
///     Vrp::new(prefix("192.0.2.0/24"), 26, 64501)?,
/// ]
/// .into_iter()
/// .collect();
/// assert_eq!(vrps.validate(prefix("192.0.2.0/24"), Some(64500)), Validity::Valid);
/// assert_eq!(vrps.validate(prefix("192.0.2.0/26"), Some(64500)), Validity::InvalidLength);
/// assert_eq!(vrps.validate(prefix("192.0.2.0/24"), Some(64502)), Validity::InvalidAs);
/// assert_eq!(vrps.validate(prefix("192.0.0.0/16"), Some(64500)), Validity::NotFound);
/// # Ok::<(), popfib_table::rpki::VrpError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Vrps<A: Address> {
    /// For each prefix the number of its run.
    runs: Rib<A>,
    /// Where run `number - 1` begins; it ends where the next one does.
    starts: Vec<u32>,
    /// In order.
    vrps: Vec<Vrp<A>>,
}

impl<A: Address> Vrps<A> {
    /// The number of VRPs, each counted once.
    pub fn len(&self) -> usize {
        self.vrps.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.vrps.is_empty()
    }

    /// The VRPs in order: by prefix, AS, maximum length.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Vrp<A>> + Clone {
        self.vrps.iter()
    }

    /// The VRPs that cover `prefix`, those of the shortest prefix first.
    pub fn covering(&self, prefix: Prefix<A>) -> impl Iterator<Item = &Vrp<A>> + Clone {
        let runs = self.runs.supernets(prefix);
        runs.flat_map(|(_, number)| self.run(number))
    }

    /// The state of a route of `prefix` from `origin`. `None` is an origin that is not a single AS, such as an
    /// AS set, which no VRP can match.
    pub fn validate(&self, prefix: Prefix<A>, origin: Option<u32>) -> Validity {
        let mut found = Validity::NotFound;
        for vrp in self.covering(prefix) {
            if vrp.matches(prefix.len(), origin) {
                return Validity::Valid;
            }
            if vrp.is_of(origin) {
                found = Validity::InvalidLength;
            } else if found == Validity::NotFound {
                found = Validity::InvalidAs;
            }
        }
        found
    }

    /// The VRPs that made [`validate`](Self::validate) say `validity` of the same route: those that
    /// match if it is valid, those of its AS if it is too long, else all that cover it.
    pub fn deciding(
        &self,
        prefix: Prefix<A>,
        origin: Option<u32>,
        validity: Validity,
    ) -> impl Iterator<Item = &Vrp<A>> + Clone {
        self.covering(prefix).filter(move |vrp| match validity {
            Validity::Valid => vrp.matches(prefix.len(), origin),
            Validity::InvalidLength => vrp.is_of(origin),
            Validity::InvalidAs | Validity::NotFound => true,
        })
    }

    fn run(&self, number: NextHop) -> &[Vrp<A>] {
        let index = number.get() as usize - 1;
        let end = self.starts.get(index + 1).copied();
        let end = end.map_or(self.vrps.len(), |end| end as usize);
        &self.vrps[self.starts[index] as usize..end]
    }
}

impl<A: Address> FromIterator<Vrp<A>> for Vrps<A> {
    /// O(n log n) for n VRPs, in any order; duplicates count once.
    ///
    /// # Panics
    /// From 2^32 VRPs on.
    fn from_iter<I: IntoIterator<Item = Vrp<A>>>(vrps: I) -> Self {
        let mut vrps: Vec<_> = vrps.into_iter().collect();
        vrps.sort_unstable();
        vrps.dedup();
        vrps.shrink_to_fit();
        assert!(u32::try_from(vrps.len()).is_ok(), "fewer than 2^32 VRPs");
        let mut starts = Vec::new();
        let mut start = 0;
        let runs = vrps.chunk_by(|a, b| a.prefix == b.prefix);
        let runs = runs.filter_map(|run| {
            starts.push(start as u32);
            start += run.len();
            Some((run[0].prefix, NextHop::new(starts.len() as u32)?))
        });
        let runs = runs.collect();
        Self { runs, starts, vrps }
    }
}
