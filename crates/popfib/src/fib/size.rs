//! The sizes of compiled tables.

/// What a compiled table trades memory for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Size {
    /// The fewest bytes. Maps, and IPv6 tables whose routes change, always have this size.
    #[default]
    Smallest,
    /// About three times the bytes of a large table, 1 to 3 MiB for a table of some thousands of routes, and fewer
    /// steps: tables of 1,000 routes or more have 18 direct bits (IPv6: 24) and *flat* blocks, if they take at most
    /// 12 MiB with them. All others are as the smallest. A small table answers up to four times as many lookups;
    /// whether a large one is quicker depends on the caches (docs/performance.md): measure it.
    Balanced,
}
