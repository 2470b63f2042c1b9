//! The handles `popfib_groups` and `popfib_group_reader`: groups of next hops and their weights in; ids of groups and hashes
//! of flows in, members out.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::slice;

use popfib::live::{GroupError, GroupReader, LiveGroups};

use crate::border::{border, border_or, free_handle, make_handle, required, required_mut};
use crate::bulk::{array, is_wrong};
use crate::error::{Errno, Result};
use crate::memory::{CAllocator, hand_out, take_back};

/// What a `popfib_groups` points to.
pub(crate) struct CGroups {
    /// Changed by one thread, while others may make readers.
    groups: UnsafeCell<LiveGroups<u32>>,
    /// Cloned to make readers; changes do not touch it.
    model: CGroupReader,
}

/// What a `popfib_group_reader` points to.
type CGroupReader = GroupReader<u32>;

impl From<GroupError> for Errno {
    fn from(error: GroupError) -> Self {
        match error {
            GroupError::Map(error) => error.into(),
            // `Empty`, `Members`.
            _ => Self::INVALID,
        }
    }
}

/// The groups, to be changed.
///
/// # Safety
/// `groups` is null, or live and the caller's alone.
unsafe fn to_change<'a>(groups: *mut CGroups) -> Result<&'a mut LiveGroups<u32>> {
    // SAFETY: null, or live and the caller's alone: other threads use no more of it than `model`.
    unsafe { Ok(&mut *required(groups)?.groups.get()) }
}

/// # Safety
/// `groups` is null or a place for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_groups_create(groups: *mut *mut CGroups) -> c_int {
    let make = || {
        let groups = LiveGroups::new();
        let model = groups.try_reader()?;
        let groups = UnsafeCell::new(groups);
        Ok(hand_out(CAllocator::Heap.own(CGroups { groups, model })?))
    };
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(groups, make) }
}

/// # Safety
/// `groups` is null, or live and the caller's alone, and not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_groups_free(groups: *mut CGroups) {
    free_handle(groups, |groups| {
        // SAFETY: live and the caller's alone, hence from `hand_out`, and not used again.
        drop(unsafe { take_back(groups, CAllocator::Heap) });
    });
}

/// # Safety
/// `groups` is null, or live and the caller's alone; `members` and `weights` are null or arrays of `count` numbers.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_groups_set(
    groups: *mut CGroups,
    id: u32,
    members: *const u32,
    weights: *const u32,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: null, or live and the caller's alone; null or an array of `count` numbers.
        let (groups, members) = unsafe { (to_change(groups)?, array(members, count)?) };
        if members.contains(&0) {
            return Err(Errno::INVALID);
        }
        let weights = match weights.is_null() {
            true => &[],
            // SAFETY: not null, hence an array of `count` numbers.
            false => unsafe { array(weights, count)? },
        };
        let members = members.iter().enumerate();
        groups.set(
            id,
            members.map(|(at, member)| (*member, weights.get(at).copied().unwrap_or(1))),
        )?;
        Ok(0)
    })
}

/// # Safety
/// `groups` is null, or live and the caller's alone.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_groups_remove(groups: *mut CGroups, id: u32) -> c_int {
    border(|| {
        // SAFETY: null, or live and the caller's alone, as the caller promises.
        match unsafe { to_change(groups)? }.remove(id)? {
            true => Ok(0),
            false => Err(Errno::NO_ENTRY),
        }
    })
}

/// # Safety
/// `groups` is null or live; they may be changed meanwhile, but not freed. `reader` is null or a place for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_group_reader_create(
    groups: *const CGroups,
    reader: *mut *mut CGroupReader,
) -> c_int {
    let make = || {
        // SAFETY: null or live, as the caller promises; `model` is nothing that a change writes to.
        let groups = unsafe { required(groups)? };
        Ok(hand_out(CAllocator::Heap.own(groups.model.try_clone()?)?))
    };
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(reader, make) }
}

/// # Safety
/// `reader` is null, or live and the caller's alone, and not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_group_reader_free(reader: *mut CGroupReader) {
    free_handle(reader, |reader| {
        // SAFETY: live and the caller's alone, hence from `hand_out`, and not used again.
        drop(unsafe { take_back(reader, CAllocator::Heap) });
    });
}

/// # Safety
/// `reader` is null, or live and the caller's alone.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_group_reader_select(
    reader: *mut CGroupReader,
    id: u32,
    hash: u64,
) -> u32 {
    border_or(0, || {
        // SAFETY: null, or live and the caller's alone, as the caller promises.
        let reader = unsafe { reader.as_mut() };
        reader.map_or(0, |reader| {
            reader.pin().select(id, hash).copied().unwrap_or(0)
        })
    })
}

/// Flows whose members are chosen at a time, on the stack.
const BURST: usize = 256;

/// # Safety
/// `reader` is null, or live and the caller's alone; `ids` and `hashes` are null or arrays of `count` numbers;
/// `members` is null or `count` places for a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_group_reader_select_bulk(
    reader: *mut CGroupReader,
    ids: *const u32,
    hashes: *const u64,
    members: *mut u32,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: null, or live and the caller's alone; null or arrays of `count` numbers.
        let (reader, all_ids, all_hashes) = unsafe {
            (
                required_mut(reader)?,
                array(ids, count)?,
                array(hashes, count)?,
            )
        };
        let to = members.cast();
        if count == 0 {
            return Ok(0);
        }
        if is_wrong::<u32, u32>(ids.cast(), to, count, align_of::<u32>())
            || is_wrong::<u64, u32>(hashes.cast(), to, count, align_of::<u64>())
        {
            return Err(Errno::INVALID);
        }
        // SAFETY: neither null nor misaligned, `count` places as the caller promises, and apart from the other arrays.
        let members = unsafe { slice::from_raw_parts_mut(members, count) };
        let guard = reader.pin();
        let mut found = [None; BURST];
        let bursts = all_ids.chunks(BURST).zip(all_hashes.chunks(BURST));
        for ((ids, hashes), members) in bursts.zip(members.chunks_mut(BURST)) {
            let found = &mut found[..ids.len()];
            guard.select_batch(ids, hashes, found);
            for (member, found) in members.iter_mut().zip(found) {
                *member = found.copied().unwrap_or(0);
            }
        }
        Ok(0)
    })
}
