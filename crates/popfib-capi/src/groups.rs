//! The handles `popfib_groups` and `popfib_group_reader`: groups of next hops and their weights in; ids of groups and hashes
//! of flows in, members out.
//!
//! The next hop of a route is the id of a group, and the group has members. So a member that fails is one
//! change, however many routes lead to its groups. Groups with equal members stay two groups: each is changed by its id.
//!
//! Groups lie in a [`LiveMap`] whose keys are their ids, so readers see a group as a whole, before a change or
//! after it.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::slice;

use popfib::live::MapReader;
use popfib::{LiveMap, Prefix};

use crate::border::{border, border_or, make_handle, required, required_mut};
use crate::bulk::{array, is_wrong};
use crate::error::{Errno, Result};
use crate::group::Group;
use crate::memory::{free_on_heap, make_on_heap};

/// What a `popfib_groups` points to.
pub(crate) struct CGroups {
    /// Changed by one thread, while others may make readers.
    groups: UnsafeCell<LiveMap<u32, Group>>,
    /// Cloned to make readers; changes do not touch it.
    model: CGroupReader,
}

/// What a `popfib_group_reader` points to.
type CGroupReader = MapReader<u32, Group>;

/// The groups, to be changed.
///
/// # Safety
/// `groups` is null, or live and the caller's alone.
unsafe fn to_change<'a>(groups: *mut CGroups) -> Result<&'a mut LiveMap<u32, Group>> {
    // SAFETY: null, or live and the caller's alone: other threads use no more of it than `model`.
    unsafe { Ok(&mut *required(groups)?.groups.get()) }
}

/// # Safety
/// `groups` is null or a place for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_groups_create(groups: *mut *mut CGroups) -> c_int {
    let make = || {
        let groups = LiveMap::new();
        let model = groups.try_reader()?;
        let groups = UnsafeCell::new(groups);
        make_on_heap(CGroups { groups, model })
    };
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(groups, make) }
}

/// # Safety
/// `groups` is null, or live and the caller's alone, and not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_groups_free(groups: *mut CGroups) {
    // SAFETY: null, or from `make_on_heap`, live and not used again, as the caller promises.
    unsafe { free_on_heap(groups) }
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
        let members = members.map(|(at, member)| (*member, weights.get(at).copied().unwrap_or(1)));
        let group = Group::new(members, groups.get(Prefix::host(id)))?;
        groups.announce(Prefix::host(id), group)?;
        Ok(())
    })
}

/// # Safety
/// `groups` is null, or live and the caller's alone.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_groups_remove(groups: *mut CGroups, id: u32) -> c_int {
    border(|| {
        // SAFETY: null, or live and the caller's alone, as the caller promises.
        match unsafe { to_change(groups)? }.withdraw(Prefix::host(id))? {
            true => Ok(()),
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
        make_on_heap(groups.model.try_clone()?)
    };
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(reader, make) }
}

/// # Safety
/// `reader` is null, or live and the caller's alone, and not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_group_reader_free(reader: *mut CGroupReader) {
    // SAFETY: null, or from `make_on_heap`, live and not used again, as the caller promises.
    unsafe { free_on_heap(reader) }
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
            let guard = reader.pin();
            guard.lookup(id).map_or(0, |group| group.select(hash))
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
            return Ok(());
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
            guard.lookup_batch(ids, found);
            for ((member, group), hash) in members.iter_mut().zip(found).zip(hashes) {
                *member = group.map_or(0, |group| group.select(*hash));
            }
        }
        Ok(())
    })
}
