//! The tables of a database by their names: names in, shared tables out.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use popfib_formats::Escaped;

use crate::table::SqlTable;

/// The tables of a database. A query that has got a table keeps it, also if another table takes its name meanwhile.
#[derive(Default)]
pub(crate) struct Registry(RwLock<HashMap<String, Arc<SqlTable>>>);

impl Registry {
    /// The table of a name.
    ///
    /// # Errors
    /// There is no table of this name; the error says how to make one.
    pub(crate) fn get(&self, name: &[u8]) -> Result<Arc<SqlTable>, String> {
        self.find(name, Arc::clone)
    }

    /// What the table of a name gives before another one may take its name.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub(crate) fn find<T>(
        &self,
        name: &[u8],
        give: impl FnOnce(&Arc<SqlTable>) -> T,
    ) -> Result<T, String> {
        let name = String::from_utf8_lossy(name);
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(&*name).map(give).ok_or_else(|| {
            // As SQL writes it, so that the statement can be copied.
            let name = Escaped(&name).to_string().replace('\'', "''");
            format!("there is no table '{name}': CALL popfib_table('{name}', 'FILE') makes it")
        })
    }

    /// All tables, by name.
    pub(crate) fn all(&self) -> Vec<(String, Arc<SqlTable>)> {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let named = tables.iter();
        let mut all: Vec<_> = named.map(|(n, table)| (n.clone(), table.clone())).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// Gives a name to a table, or to none; what had it before.
    ///
    /// # Errors
    /// A statement holds the table that has it.
    pub(crate) fn replace(
        &self,
        name: &str,
        table: Option<Arc<SqlTable>>,
    ) -> Result<Option<Arc<SqlTable>>, String> {
        let mut tables = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let old = tables.get(name);
        if old.is_some_and(|old| Arc::strong_count(&old.held) > 1) {
            return Err(format!(
                "a statement that runs or is prepared reads records of table '{}', and DuckDB before 1.5.6 does not tell which: \
                 end it first",
                Escaped(name)
            ));
        }
        let old = match table {
            Some(table) => tables.insert(name.to_owned(), table),
            None => tables.remove(name),
        };
        // The old one is dropped after the lock: to free it may take long, and others need not wait for it.
        drop(tables);
        Ok(old)
    }
}

/// Finds the table of a name.
pub(crate) type FindTable<'f> = &'f dyn Fn(&[u8]) -> Result<Arc<SqlTable>, String>;

/// An error of what is done with the table of this name.
pub(crate) fn in_table(name: &[u8], error: &str) -> String {
    format!(
        "table '{}': {error}",
        Escaped(&String::from_utf8_lossy(name))
    )
}
