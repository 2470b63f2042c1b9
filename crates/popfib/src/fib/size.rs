//! The sizes of compiled tables.

/// What a compiled table trades memory for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Size {
    /// The fewest bytes. Maps, and IPv6 tables whose routes change, always have this size.
    #[default]
    Smallest,
    /// About three times the bytes, and fewer steps: IPv4 tables with 18 direct bits, as those of 65,536 routes or more have, and IPv6
    /// tables with 24, as those of 16,384 routes or more have, get *flat* blocks, if they take at most 12 MiB by that. All others
    /// are as the smallest. Whether it is quicker depends on the caches (docs/performance.md): measure it.
    Balanced,
    /// 32 MiB for an IPv4 table of 65,536 routes or more, or for which 24 direct bits are asked: entries of 16 bits, or 64 MiB if the next
    /// hops need more, are numbered by the first 24 bits of an address, as in DIR-24-8, and a lookup mostly reads one
    /// of them. All others, and tables whose routes change, are as the balanced. Fewest steps, but no cache near a core holds it
    /// whole: measure it.
    Fastest,
}
