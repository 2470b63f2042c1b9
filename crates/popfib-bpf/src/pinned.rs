//! The pinned map: made or found, and given one table after the other.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::error::BpfError;
use crate::layout::STORED;
use crate::mapped::{MappedTable, Plan, TableContents};
use crate::sys::{
    self, F_INNER_MAP, F_MMAPABLE, MAP_TYPE_ARRAY, MAP_TYPE_ARRAY_OF_MAPS, MapAttributes,
};

/// The name of the maps, as `bpftool map` lists them.
const NAME: [u8; 16] = *b"popfib\0\0\0\0\0\0\0\0\0\0";

/// A map with one slot for a table, pinned in a BPF file system. It stays there whatever becomes of the process.
#[derive(Debug)]
pub struct PinnedMap {
    map: OwnedFd,
    pub(crate) path: PathBuf,
}

impl PinnedMap {
    /// The map that is pinned at `path`.
    ///
    /// # Errors
    /// [`BpfError::NoBpffs`], [`BpfError::NotPinned`], [`BpfError::OtherMap`] or what the kernel refuses.
    pub fn open(path: &Path) -> Result<Self, BpfError> {
        let map = sys::open_pinned(path)?;
        // An error: it is a program.
        let info = sys::map_info(&map).unwrap_or_default();
        if (info.map_type, info.max_entries) != (MAP_TYPE_ARRAY_OF_MAPS, 1) {
            return Err(BpfError::OtherMap {
                path: path.to_owned(),
                reason: "something else than a map for tables of popfib is pinned there".to_owned(),
            });
        }
        let path = path.to_owned();
        Ok(Self { map, path })
    }

    /// The map that is pinned at `path`, which is made if nothing is.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_or_create(path: &Path) -> Result<Self, BpfError> {
        match Self::open(path) {
            Err(BpfError::NotPinned(_)) => {}
            found => return found,
        }
        let refused = refused("make the map", path);
        let inner = table_map(1).map_err(&refused)?;
        let map = sys::create_map(MapAttributes {
            map_type: MAP_TYPE_ARRAY_OF_MAPS,
            key_size: 4,
            value_size: 4,
            max_entries: 1,
            inner_map_fd: std::os::fd::AsRawFd::as_raw_fd(&inner) as u32,
            name: NAME,
            ..MapAttributes::default()
        })
        .map_err(&refused)?;
        match sys::pin(&map, path) {
            Ok(()) => Ok(Self {
                map,
                path: path.to_owned(),
            }),
            // Somebody else has just made it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::open(path),
            Err(error) => Err(refused(error)),
        }
    }

    /// The table that programs look up in; `None` if there is none yet.
    ///
    /// # Errors
    /// [`BpfError::OtherMap`], or what the kernel refuses: it takes the capability CAP_SYS_ADMIN.
    pub fn current(&self) -> Result<Option<MappedTable>, BpfError> {
        let refused = refused("find the table that is loaded", &self.path);
        let map = match sys::first_element(&self.map) {
            Ok(id) => sys::map_of_id(id).map_err(&refused)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(error)),
        };
        let info = sys::map_info(&map).map_err(&refused)?;
        if info.value_size as usize != 4 * STORED || info.map_flags & F_MMAPABLE == 0 {
            return Err(self.other());
        }
        let table = MappedTable::new(map, info.max_entries as usize).map_err(&refused)?;
        match table.fault() {
            None => Ok(Some(table)),
            Some(reason) => Err(BpfError::OtherMap {
                path: self.path.clone(),
                reason,
            }),
        }
    }

    /// The table that programs look up in.
    ///
    /// # Errors
    /// [`BpfError::NotLoaded`], and as [`Self::current`].
    pub fn table(&self) -> Result<MappedTable, BpfError> {
        let table = self.current()?;
        table.ok_or_else(|| BpfError::NotLoaded(self.path.clone()))
    }

    /// A new table with these contents, which no program looks up in before it is [published](Self::publish). O(words).
    ///
    /// # Errors
    /// [`BpfError::TooLarge`], or what the kernel refuses: the memory, for example.
    pub(crate) fn begin(&self, contents: &TableContents<'_>) -> Result<MappedTable, BpfError> {
        let refused = refused("make a table in the kernel", &self.path);
        let plan = Plan::of(contents)?;
        let map = table_map(plan.rows).map_err(&refused)?;
        let table = MappedTable::new(map, plan.rows as usize).map_err(&refused)?;
        let generation = match self.current() {
            Ok(None) => 1,
            Ok(Some(current)) => current.generation().wrapping_add(1),
            Err(_) => 0,
        };
        table.fill(contents, &plan, generation);
        Ok(table)
    }

    /// Lets programs look up in this table from now on. When it returns, no program looks up in the previous one any more, if
    /// none is sleepable.
    ///
    /// # Errors
    /// [`BpfError::OtherMap`], or what the kernel refuses; programs keep the previous table then.
    pub(crate) fn publish(&self, table: &MappedTable) -> Result<(), BpfError> {
        sys::set_first_map(&self.map, &table.map).map_err(|error| match error.raw_os_error() {
            Some(libc::EINVAL) => self.other(),
            _ => refused("exchange the table", &self.path)(error),
        })
    }

    /// Waits for a grace period: until each lookup has ended that had begun before. `table` is the one that was published last.
    ///
    /// # Errors
    /// As [`Self::publish`].
    pub(crate) fn wait(&self, table: &MappedTable) -> Result<(), BpfError> {
        self.publish(table)
    }

    /// Removes the pin. Programs that have the map keep it and its table, until the last of them is gone.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn unpin(self) -> Result<(), BpfError> {
        fs::remove_file(&self.path).map_err(refused("remove the pin", &self.path))
    }

    fn other(&self) -> BpfError {
        BpfError::OtherMap {
            path: self.path.clone(),
            reason: "the map there is for tables of another layout than this popfib's".to_owned(),
        }
    }
}

/// A map for a table of so many rows.
fn table_map(rows: u32) -> io::Result<OwnedFd> {
    sys::create_map(MapAttributes {
        map_type: MAP_TYPE_ARRAY,
        key_size: 4,
        value_size: 4 * STORED as u32,
        max_entries: rows,
        map_flags: F_MMAPABLE | F_INNER_MAP,
        name: NAME,
        ..MapAttributes::default()
    })
}

fn refused<'a>(what: &'static str, path: &'a Path) -> impl Fn(io::Error) -> BpfError + use<'a> {
    move |error| BpfError::Refused {
        what,
        path: path.to_owned(),
        error,
    }
}
