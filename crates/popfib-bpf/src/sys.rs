//! The system calls: `bpf` with six of its commands, and the memory of a map.

use std::ffi::CString;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;

use crate::error::BpfError;

const MAP_CREATE: libc::c_long = 0;
const MAP_LOOKUP_ELEM: libc::c_long = 1;
const MAP_UPDATE_ELEM: libc::c_long = 2;
const OBJ_PIN: libc::c_long = 6;
const OBJ_GET: libc::c_long = 7;
#[cfg(test)]
const PROG_TEST_RUN: libc::c_long = 10;
const MAP_GET_FD_BY_ID: libc::c_long = 14;
const OBJ_GET_INFO_BY_FD: libc::c_long = 15;

pub(crate) const MAP_TYPE_ARRAY: u32 = 2;
pub(crate) const MAP_TYPE_PERCPU_ARRAY: u32 = 6;
pub(crate) const MAP_TYPE_ARRAY_OF_MAPS: u32 = 12;
pub(crate) const F_MMAPABLE: u32 = 1 << 10;
pub(crate) const F_INNER_MAP: u32 = 1 << 12;

/// `statfs` of a BPF file system.
const BPF_FS_MAGIC: i64 = 0xcafe_4a11;

/// The attributes of a map that is to be made, as the kernel reads them.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct MapAttributes {
    pub(crate) map_type: u32,
    pub(crate) key_size: u32,
    pub(crate) value_size: u32,
    pub(crate) max_entries: u32,
    pub(crate) map_flags: u32,
    pub(crate) inner_map_fd: u32,
    pub(crate) numa_node: u32,
    pub(crate) name: [u8; 16],
}

/// What the kernel says of a map, as far as it is of interest here.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct MapInfo {
    pub(crate) map_type: u32,
    pub(crate) id: u32,
    pub(crate) key_size: u32,
    pub(crate) value_size: u32,
    pub(crate) max_entries: u32,
    pub(crate) map_flags: u32,
}

#[repr(C)]
struct ElementAttributes {
    map_fd: u32,
    pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct PinAttributes {
    path: u64,
    fd: u32,
    file_flags: u32,
}

#[repr(C)]
struct InfoAttributes {
    fd: u32,
    len: u32,
    info: u64,
}

#[cfg(test)]
#[repr(C)]
#[derive(Default)]
struct RunAttributes {
    program_fd: u32,
    result: u32,
    size_in: u32,
    size_out: u32,
    packet_in: u64,
    packet_out: u64,
    times: u32,
    duration: u32,
}

#[repr(C)]
struct IdAttributes {
    id: u32,
    next_id: u32,
    open_flags: u32,
}

/// Calls `bpf`; what its attributes point to lives while it runs.
///
/// # Safety
/// The addresses in `attributes` are those of memory that the command may read or write, as long as it needs.
unsafe fn bpf<T>(command: libc::c_long, attributes: &mut T) -> io::Result<RawFd> {
    let size = mem::size_of::<T>();
    // SAFETY: the kernel reads `size` bytes of the attributes; the rest is the caller's.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, ptr::from_mut(attributes), size) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result as RawFd)
}

/// The descriptor that a command has returned.
fn owned(fd: RawFd) -> OwnedFd {
    // SAFETY: the kernel has just made it, for this caller.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

pub(crate) fn create_map(attributes: MapAttributes) -> io::Result<OwnedFd> {
    let mut attributes = attributes;
    // SAFETY: there are no addresses in it.
    unsafe { bpf(MAP_CREATE, &mut attributes) }.map(owned)
}

/// The 4 bytes at index 0 of an array; of an array of maps the number of the map.
pub(crate) fn first_element(map: &OwnedFd) -> io::Result<u32> {
    let (key, mut value) = (0u32, 0u32);
    let mut attributes = ElementAttributes {
        map_fd: map.as_raw_fd() as u32,
        pad: 0,
        key: ptr::from_ref(&key) as u64,
        value: ptr::from_mut(&mut value) as u64,
        flags: 0,
    };
    // SAFETY: key and value have 4 bytes, as those of the arrays here; they live until it returns.
    unsafe { bpf(MAP_LOOKUP_ELEM, &mut attributes) }?;
    Ok(value)
}

/// The pairs of all CPUs at an index of an array of them, whose values have 16 bytes. `pairs` has two numbers for each CPU.
pub(crate) fn element(map: &OwnedFd, key: u32, pairs: &mut [u64]) -> io::Result<()> {
    let mut attributes = ElementAttributes {
        map_fd: map.as_raw_fd() as u32,
        pad: 0,
        key: ptr::from_ref(&key) as u64,
        value: pairs.as_mut_ptr() as u64,
        flags: 0,
    };
    // SAFETY: the kernel writes 16 bytes for each CPU that is possible, and there is room for those.
    unsafe { bpf(MAP_LOOKUP_ELEM, &mut attributes) }.map(drop)
}

/// Puts a map into slot 0 of an array of maps. Returns after a grace period.
pub(crate) fn set_first_map(map: &OwnedFd, inner: &OwnedFd) -> io::Result<()> {
    let (key, value) = (0u32, inner.as_raw_fd());
    let mut attributes = ElementAttributes {
        map_fd: map.as_raw_fd() as u32,
        pad: 0,
        key: ptr::from_ref(&key) as u64,
        value: ptr::from_ref(&value) as u64,
        flags: 0,
    };
    // SAFETY: as above.
    unsafe { bpf(MAP_UPDATE_ELEM, &mut attributes) }.map(drop)
}

pub(crate) fn pin(map: &OwnedFd, path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut attributes = PinAttributes {
        path: path.as_ptr() as u64,
        fd: map.as_raw_fd() as u32,
        file_flags: 0,
    };
    // SAFETY: the path ends with a 0 and lives until it returns.
    unsafe { bpf(OBJ_PIN, &mut attributes) }.map(drop)
}

/// The map that is pinned at `path`.
pub(crate) fn open_pinned(path: &Path) -> Result<OwnedFd, BpfError> {
    let folder = path.parent().unwrap_or(path);
    if !is_bpffs(folder) {
        return Err(BpfError::NoBpffs(folder.to_owned()));
    }
    pinned(path).map_err(|error| match error.raw_os_error() {
        Some(libc::ENOENT) => BpfError::NotPinned(path.to_owned()),
        _ => BpfError::Refused {
            what: "open what is pinned there",
            path: path.to_owned(),
            error,
        },
    })
}

fn pinned(path: &Path) -> io::Result<OwnedFd> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut attributes = PinAttributes {
        path: path.as_ptr() as u64,
        fd: 0,
        file_flags: 0,
    };
    // SAFETY: as above.
    unsafe { bpf(OBJ_GET, &mut attributes) }.map(owned)
}

/// Runs a program on a packet of zeros; how long it took.
#[cfg(test)]
pub(crate) fn run_program(program: &OwnedFd) -> io::Result<std::time::Duration> {
    let packet = [0u8; 64];
    let mut attributes = RunAttributes {
        program_fd: program.as_raw_fd() as u32,
        size_in: packet.len() as u32,
        packet_in: packet.as_ptr() as u64,
        times: 1,
        ..RunAttributes::default()
    };
    // SAFETY: the packet has so many bytes and lives until it returns.
    unsafe { bpf(PROG_TEST_RUN, &mut attributes) }?;
    Ok(std::time::Duration::from_nanos(attributes.duration.into()))
}

pub(crate) fn map_of_id(id: u32) -> io::Result<OwnedFd> {
    let mut attributes = IdAttributes {
        id,
        next_id: 0,
        open_flags: 0,
    };
    // SAFETY: there are no addresses in it.
    unsafe { bpf(MAP_GET_FD_BY_ID, &mut attributes) }.map(owned)
}

pub(crate) fn map_info(map: &OwnedFd) -> io::Result<MapInfo> {
    let mut info = MapInfo::default();
    let mut attributes = InfoAttributes {
        fd: map.as_raw_fd() as u32,
        len: mem::size_of::<MapInfo>() as u32,
        info: ptr::from_mut(&mut info) as u64,
    };
    // SAFETY: the kernel writes `len` bytes at most, and `info` has so many.
    unsafe { bpf(OBJ_GET_INFO_BY_FD, &mut attributes) }?;
    Ok(info)
}

/// Whether the folder is in a BPF file system.
fn is_bpffs(folder: &Path) -> bool {
    let Ok(folder) = CString::new(folder.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: zeros are a `statfs`.
    let mut found: libc::statfs = unsafe { mem::zeroed() };
    // SAFETY: the path ends with a 0; the structure is there to be written.
    let result = unsafe { libc::statfs(folder.as_ptr(), &mut found) };
    result == 0 && found.f_type as i64 == BPF_FS_MAGIC
}

/// The memory of an array map, shared with the kernel.
#[derive(Debug)]
pub(crate) struct MapMemory {
    start: NonNull<AtomicU32>,
    words: usize,
}

// SAFETY: atomic words, which any thread may read and store.
unsafe impl Send for MapMemory {}
// SAFETY: as above.
unsafe impl Sync for MapMemory {}

impl MapMemory {
    /// The first `words` words of an array map.
    pub(crate) fn new(map: &OwnedFd, words: usize) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let bytes = words * size_of::<AtomicU32>();
        // SAFETY: a new mapping, wherever the kernel puts it. It refuses lengths beyond the map's.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                protection,
                libc::MAP_SHARED,
                map.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(start.cast()) {
            Some(found) if start != libc::MAP_FAILED => Ok(Self {
                start: found,
                words,
            }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(crate) fn words(&self) -> &[AtomicU32] {
        // SAFETY: the mapping has so many words, page by page from its beginning, and stays until this is dropped.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl Drop for MapMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and nobody borrows its words any more.
        unsafe {
            libc::munmap(
                self.start.as_ptr().cast(),
                self.words * size_of::<AtomicU32>(),
            )
        };
    }
}
