//! What was done to the tables of BPF programs, for metrics.

use std::collections::BTreeMap;
use std::sync::Arc;

use popfib_bpf::MirrorCounts;

/// Counts of a table for programs, for metrics.
#[derive(Clone, Copy, Default)]
pub(super) struct BpfCounts {
    pub(super) mirror: MirrorCounts,
    /// Batches that the kernel refused, and whether programs lack changes for that.
    pub(super) refused: u64,
    pub(super) is_behind: bool,
    pub(super) bytes: usize,
    /// Values that programs get 0 for.
    pub(super) unnumbered: u64,
}

/// The counts of all, by their pins.
pub(super) type AllBpfCounts = BTreeMap<Arc<str>, BpfCounts>;
