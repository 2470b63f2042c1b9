//! The handles `popfib_groups` and `popfib_group_reader`: members by the number of a group and the hash of a flow.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::ptr;
use core::slice;

use popfib::live::{GroupError, GroupReader, LiveGroups};

use crate::border::{border, border_or, required, required_mut};
use crate::bulk::{array, is_wrong};
use crate::error::{Errno, Result};
use crate::memory::{Memory, hand_out, take_back};

/// What a `popfib_groups` points to.
pub(crate) struct Groups {
    /// Changed by one thread, while others may make readers.
    groups: UnsafeCell<LiveGroups<u32>>,
    /// What readers are cloned of.
    model: GroupReader<u32>,
}

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
/// Null, or groups of which no other thread uses anything but `model`.
unsafe fn to_change<'a>(groups: *mut Groups) -> Result<&'a mut LiveGroups<u32>> {
    // SAFETY: the caller's.
    unsafe { Ok(&mut *required(groups)?.groups.get()) }
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_groups_create(groups: *mut *mut Groups) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let place = unsafe { required_mut(groups)? };
        *place = ptr::null_mut();
        let groups = LiveGroups::new();
        let model = groups.try_reader()?;
        *place = hand_out(Memory::Heap.own(Groups {
            groups: UnsafeCell::new(groups),
            model,
        })?);
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_groups_free(groups: *mut Groups) {
    border_or((), || {
        if !groups.is_null() {
            // SAFETY: from `hand_out`, and the caller gives it up.
            drop(unsafe { take_back(groups, Memory::Heap) });
        }
    });
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_groups_set(
    groups: *mut Groups,
    id: u32,
    members: *const u32,
    weights: *const u32,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let (groups, members) = unsafe { (to_change(groups)?, array(members, count)?) };
        if members.contains(&0) {
            return Err(Errno::INVALID);
        }
        let weights = match weights.is_null() {
            true => &[],
            // SAFETY: the caller's.
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
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_groups_remove(groups: *mut Groups, id: u32) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        match unsafe { to_change(groups)? }.remove(id)? {
            true => Ok(0),
            false => Err(Errno::NO_ENTRY),
        }
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_group_reader_create(
    groups: *const Groups,
    reader: *mut *mut GroupReader<u32>,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let place = unsafe { required_mut(reader)? };
        *place = ptr::null_mut();
        // SAFETY: the caller's. Nothing is used that the writer changes.
        let groups = unsafe { required(groups)? };
        *place = hand_out(Memory::Heap.own(groups.model.try_clone()?)?);
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_group_reader_free(reader: *mut GroupReader<u32>) {
    border_or((), || {
        if !reader.is_null() {
            // SAFETY: from `hand_out`, and the caller gives it up.
            drop(unsafe { take_back(reader, Memory::Heap) });
        }
    });
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_group_reader_select(
    reader: *mut GroupReader<u32>,
    id: u32,
    hash: u64,
) -> u32 {
    border_or(0, || {
        // SAFETY: the caller's.
        let reader = unsafe { reader.as_mut() };
        reader.map_or(0, |reader| {
            reader.pin().select(id, hash).copied().unwrap_or(0)
        })
    })
}

/// Flows whose members are chosen at a time, on the stack.
const BURST: usize = 256;

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_group_reader_select_bulk(
    reader: *mut GroupReader<u32>,
    ids: *const u32,
    hashes: *const u64,
    members: *mut u32,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let (reader, ids_of, hashes_of) = unsafe {
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
        // SAFETY: aligned, as long as the caller promises, and apart from the others.
        let members = unsafe { slice::from_raw_parts_mut(members, count) };
        let guard = reader.pin();
        let mut found = [None; BURST];
        let bursts = ids_of.chunks(BURST).zip(hashes_of.chunks(BURST));
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
