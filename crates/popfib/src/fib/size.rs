//! The sizes of compiled tables.

/// What a compiled table trades memory for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Size {
    /// The fewest bytes. Maps, and IPv6 tables whose routes change, always have this size.
    #[default]
    Smallest,
    /// About three times the bytes, and fewer steps. IPv4 tables with 18 direct bits (65,536 routes or more) and IPv6
    /// tables with 24 (16,384 routes or more) get *flat* blocks, if they take at most 12 MiB with them. All others
    /// are as the smallest. Whether it is quicker depends on the caches (docs/performance.md): measure it.
    Balanced,
    /// 32 MiB for an IPv4 table of 65,536 routes or more, or with 24 direct bits: one entry of 16 bits for each value of
    /// the first 24 bits of an address, as in DIR-24-8, so that a lookup mostly reads one of them. It is 64 MiB if next hops
    /// need more than 16 bits. All others, and tables whose routes change, are as the balanced. Fewest steps, but no
    /// cache near a core holds it whole: measure it.
    Fastest,
}
