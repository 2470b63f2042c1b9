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
}
