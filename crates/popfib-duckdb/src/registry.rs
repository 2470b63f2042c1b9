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
        let name = String::from_utf8_lossy(name);
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(&*name).cloned().ok_or_else(|| {
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

    /// Gives a name to a table, in place of what had it.
    pub(crate) fn insert(&self, name: String, table: Arc<SqlTable>) {
        let mut tables = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let old = tables.insert(name, table);
        // Dropped after the lock: to free the old table may take long, and others need not wait for it.
        drop(tables);
        drop(old);
    }

    /// Takes the name from a table; whether there was one.
    pub(crate) fn remove(&self, name: &str) -> bool {
        let mut tables = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let old = tables.remove(name);
        drop(tables);
        old.is_some()
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
