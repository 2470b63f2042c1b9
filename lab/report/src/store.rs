//! Results of finished parts, so that an interrupted run goes on where it was.
//!
//! A part's result is a JSON file in `units/`, with the key that it was measured
//! under: tables, options, machine, version. It is used again where the key is
//! the same, and measured again where it is not.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::files;

/// The directory of the results.
#[derive(Debug)]
pub(crate) struct Store {
    directory: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Stored<T> {
    key: String,
    seconds: f64,
    result: T,
}

impl Store {
    /// The store in `output`.
    pub(crate) fn open(output: &Path) -> Result<Self, ReportError> {
        let directory = output.join("units");
        files::directory(&directory)?;
        Ok(Self { directory })
    }

    /// The result of the part `name` if it was measured under `key`, and how long that took.
    pub(crate) fn get<T: DeserializeOwned>(&self, name: &str, key: &str) -> Option<(T, f64)> {
        // What cannot be read is measured again.
        let text = fs::read(self.path(name)).ok()?;
        let stored: Stored<T> = serde_json::from_slice(&text).ok()?;
        (stored.key == key).then_some((stored.result, stored.seconds))
    }

    /// Keeps the result of the part `name`.
    pub(crate) fn put<T: Serialize>(
        &self,
        name: &str,
        key: &str,
        seconds: f64,
        result: T,
    ) -> Result<(), ReportError> {
        let key = key.to_owned();
        let stored = Stored {
            key,
            seconds,
            result,
        };
        let text = serde_json::to_vec(&stored).expect("results are numbers and text");
        files::write(&self.path(name), &text)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_there_under_its_key_only() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.put("a", "k1", 2.0, vec![1, 2]).unwrap();
        assert_eq!(store.get("a", "k1"), Some((vec![1, 2], 2.0)));
        assert_eq!(store.get::<Vec<i32>>("a", "k2"), None);
        assert_eq!(store.get::<Vec<i32>>("b", "k1"), None);
        // Of another form, or damaged.
        assert_eq!(store.get::<String>("a", "k1"), None);
        fs::write(folder.path().join("units/a.json"), "{\"key\"").unwrap();
        assert_eq!(store.get::<Vec<i32>>("a", "k1"), None);
        fs::write(folder.path().join("units/.popfib-1-0.tmp"), "{").unwrap();
        Store::open(folder.path()).unwrap();
        assert!(!folder.path().join("units/.popfib-1-0.tmp").exists());
    }
}
