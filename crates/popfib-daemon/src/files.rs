//! Tables of files: their settings in, the newest table of each out, also while others look up. A [`Watcher`] reads a file again when
//! another takes its place; one that cannot be read leaves the table before.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use popfib_formats::{
    ColumnSelection, Input, JoinFiles, LoadOptions, LookupTable, ReadError, load,
};
use popfib_program::failure::Failure;
use popfib_program::note;
use popfib_table::{Column, Table, Watcher};
use serde::Deserialize;

use super::answers::NEXT_HOP;
use super::threads;

/// How a table of a file is read, as the settings say.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FileSettings {
    pub(super) file: Option<PathBuf>,
    /// A folder of lists, in place of a file.
    pub(super) lists: Option<PathBuf>,
    format: Option<String>,
    /// All, if none are named.
    columns: Vec<String>,
    /// The name of the table in a file of several.
    table: Option<String>,
    skip_invalid: bool,
    mask: bool,
    fill: bool,
    /// How often to look whether it is another file, in milliseconds.
    watch_every: Option<u64>,
}

impl FileSettings {
    /// Those of `[NAME=]FILE`; a folder has lists.
    pub(super) fn of_option(text: &str) -> (String, Self) {
        let (name, path) = match text.split_once('=') {
            Some((name, path)) => (name, PathBuf::from(path)),
            None => ("", PathBuf::from(text)),
        };
        let stem = path.file_name().map(|name| name.to_string_lossy());
        let stem = stem.unwrap_or_default();
        let name = match name {
            "" => stem.split('.').next().unwrap_or_default(),
            name => name,
        };
        let name = name.to_owned();
        let (file, lists) = match path.is_dir() {
            true => (None, Some(path)),
            false => (Some(path), None),
        };
        let settings = Self {
            file,
            lists,
            ..Self::default()
        };
        (name, settings)
    }

    fn path(&self) -> Result<&PathBuf, &'static str> {
        match (&self.file, &self.lists) {
            (Some(path), None) | (None, Some(path)) => Ok(path),
            _ => Err("a table has a `file`, or a folder of `lists`"),
        }
    }

    /// Checks that the settings make sense; otherwise returns the reason.
    pub(super) fn check(&self) -> Result<(), String> {
        self.path()?;
        self.options().map(drop)
    }

    fn options(&self) -> Result<LoadOptions, String> {
        let format = self.format.as_deref().map(str::parse).transpose();
        Ok(LoadOptions {
            format: format.map_err(|error| format!("`format`: {error}"))?,
            columns: match &self.columns[..] {
                [] => ColumnSelection::All,
                names => ColumnSelection::Named(names.to_vec()),
            },
            table: self.table.clone(),
            skip_invalid: self.skip_invalid,
            mask: self.mask,
            fill: self.fill,
            ..LoadOptions::new()
        })
    }

    fn read(&self, options: &LoadOptions) -> Result<LookupTable, ReadError> {
        let tell = |name: &str, remarks: &[String]| {
            for remark in remarks {
                note!("{name}: {remark}");
            }
        };
        let Some(lists) = &self.lists else {
            let path = self.file.as_deref().unwrap_or("".as_ref());
            let loaded = load(Input::open(path)?, options).and_then(LookupTable::named)?;
            tell(&loaded.name, &loaded.remarks());
            return Ok(loaded);
        };
        let join = JoinFiles {
            tables: vec![("lists".to_owned(), lists.clone())],
            skip_invalid: self.skip_invalid,
            mask: self.mask,
            ..JoinFiles::default()
        };
        join.read(&mut |path| Input::open(path), &mut |name, remarks| {
            tell(name, remarks);
        })
    }
}

/// The table of a file as it was read once.
pub(super) struct FileTable {
    pub(super) table: Table,
    /// The names of its columns, in their order.
    pub(super) columns: Vec<String>,
    /// No other table of a file has it, nor had one before.
    pub(super) version: u64,
    pub(super) read: Instant,
}

impl FileTable {
    fn of(table: Table) -> Result<Self, String> {
        static VERSION: AtomicU64 = AtomicU64::new(0);
        // So that no client waits for it.
        let compiled = table.ipv4().longest().map(drop);
        let compiled = compiled.and_then(|()| table.ipv6().longest().map(drop));
        compiled.map_err(|error| error.to_string())?;
        let columns = table.records().map_or(&[][..], |records| records.columns());
        let is_only = columns.len() == 1;
        let name = |column: &Column| match column.name() {
            // That of a table without names of columns.
            "value" if is_only => NEXT_HOP.to_owned(),
            name => name.to_owned(),
        };
        // Answers in JSON have these members.
        let is_taken = |column: &&Column| ["address", "prefix"].contains(&column.name());
        if let Some(column) = columns.iter().find(is_taken) {
            let name = column.name();
            return Err(format!(
                "a column is called {name}, as what is asked or matches; [tables.NAME] of a settings file chooses others"
            ));
        }
        Ok(Self {
            columns: columns.iter().map(name).collect(),
            table,
            version: VERSION.fetch_add(1, Ordering::Relaxed) + 1,
            read: Instant::now(),
        })
    }
}

impl Drop for FileTable {
    /// The last who lets go of it may be answering a client.
    fn drop(&mut self) {
        let table = std::mem::take(&mut self.table);
        let _ = threads::start(move || drop(table));
    }
}

/// A file that is served as a table.
pub(super) struct ServedFile {
    pub(super) name: String,
    pub(super) settings: FileSettings,
    watcher: Watcher<FileTable, Failure>,
    /// Addresses that were answered.
    pub(super) lookups: AtomicU64,
    /// How often it could not be read again.
    errors: Arc<AtomicU64>,
}

impl ServedFile {
    /// Reads the file, and follows it.
    pub(super) fn start(name: &str, settings: &FileSettings) -> Result<Self, Failure> {
        let failed = |reason: String| Failure::from(format!("table {name}: {reason}"));
        let options = settings.options().map_err(failed)?;
        let paths = vec![
            settings
                .path()
                .map_err(|reason| failed(reason.into()))?
                .clone(),
        ];
        let every = Duration::from_millis(settings.watch_every.unwrap_or(500).max(1));
        let file = paths[0].display().to_string();
        let (of_load, of_news, of_name) = (settings.clone(), file.clone(), name.to_owned());
        let load = move || {
            let loaded = of_load.read(&options)?;
            let table = FileTable::of(loaded.content);
            table.map_err(|reason| Failure::from(format!("{file}: {reason}")))
        };
        let errors = Arc::<AtomicU64>::default();
        let count = errors.clone();
        let tell = move |news: Result<(), Failure>| match news {
            Ok(()) => note!("{of_news}: read again"),
            Err(error) => {
                count.fetch_add(1, Ordering::Relaxed);
                note!("table {of_name} stays as it was: {error}");
            }
        };
        Ok(Self {
            name: name.to_owned(),
            settings: settings.clone(),
            watcher: Watcher::start(paths, every, load, tell)?,
            lookups: AtomicU64::new(0),
            errors,
        })
    }

    pub(super) fn current(&self) -> Arc<FileTable> {
        self.watcher.current()
    }

    pub(super) fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }
}

/// All files that are served, by the names of their tables.
#[derive(Default)]
pub(super) struct ServedFiles {
    files: RwLock<BTreeMap<String, Arc<ServedFile>>>,
    version: AtomicU64,
}

impl ServedFiles {
    fn all(&self) -> RwLockReadGuard<'_, BTreeMap<String, Arc<ServedFile>>> {
        self.files.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<ServedFile>> {
        self.all().get(name).cloned()
    }

    /// The first by name.
    pub(super) fn first(&self) -> Option<Arc<ServedFile>> {
        self.all().values().next().cloned()
    }

    pub(super) fn list(&self) -> Vec<Arc<ServedFile>> {
        self.all().values().cloned().collect()
    }

    /// Replaces all.
    pub(super) fn set(&self, files: BTreeMap<String, Arc<ServedFile>>) {
        let mut all = self.files.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *all, files);
        self.version.fetch_add(1, Ordering::Relaxed);
        drop(all);
        // Not under the lock, since a file may be being read.
        drop(before);
    }

    /// Another number after each change of the settings.
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }
}
