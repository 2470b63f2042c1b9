//! Counts that programs keep for each value: packets and bytes, a pair for each CPU.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::error::BpfError;
use crate::sys::{self, MAP_TYPE_PERCPU_ARRAY};

/// Bytes of a pair.
const PAIR: usize = 16;

/// The map that POPFIB_COUNTS of the header declares: pinned beside the table.
#[derive(Debug)]
pub struct PinnedCounts {
    map: OwnedFd,
    len: u32,
    cpus: usize,
    path: PathBuf,
}

impl PinnedCounts {
    /// The counts that are pinned at `path`.
    ///
    /// # Errors
    /// [`BpfError::NotPinned`], [`BpfError::OtherMap`] or what the kernel refuses.
    pub fn open(path: &Path) -> Result<Self, BpfError> {
        let map = sys::open_pinned(path)?;
        let info = sys::map_info(&map).unwrap_or_default();
        if info.map_type != MAP_TYPE_PERCPU_ARRAY || info.value_size as usize != PAIR {
            return Err(BpfError::OtherMap {
                path: path.to_owned(),
                reason: "something else than counts for popfib is pinned there".to_owned(),
            });
        }
        Ok(Self {
            map,
            len: info.max_entries,
            cpus: possible_cpus(),
            path: path.to_owned(),
        })
    }

    /// Packets and bytes of each value that had any, in the order of values. O(values * CPUs).
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn read(&self) -> Result<Vec<(u32, u64, u64)>, BpfError> {
        let mut pairs = vec![0; 2 * self.cpus];
        let mut counts = Vec::new();
        for value in 0..self.len {
            sys::element(&self.map, value, &mut pairs).map_err(|error| BpfError::Refused {
                what: "read the counts",
                path: self.path.clone(),
                error,
            })?;
            let sum = |part: usize| pairs.iter().skip(part).step_by(2).sum();
            let (packets, bytes) = (sum(0), sum(1));
            if packets > 0 {
                counts.push((value, packets, bytes));
            }
        }
        Ok(counts)
    }
}

/// How many CPUs the kernel keeps values for: one more than the last of its list, such as `0-3`.
fn possible_cpus() -> usize {
    let list = fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = list.trim().rsplit(['-', ',']).next();
    // Too many are harmless.
    last.and_then(|last| last.parse().ok()).unwrap_or(8191) + 1
}
