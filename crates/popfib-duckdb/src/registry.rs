//! The tables of a database, by their names.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use popfib_formats::Escaped;

use crate::table::Table;

/// The tables of a database. Whoever has got one keeps it, whatever takes its name.
#[derive(Default)]
pub(crate) struct Registry(RwLock<HashMap<String, Arc<Table>>>);

impl Registry {
    /// The table of a name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn get(&self, name: &[u8]) -> Result<Arc<Table>, String> {
        let name = String::from_utf8_lossy(name);
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(&*name).cloned().ok_or_else(|| {
            // As SQL writes it: the statement can be copied.
            let name = Escaped(&name).to_string().replace('\'', "''");
            format!("there is no table '{name}': CALL popfib_table('{name}', 'FILE') makes it")
        })
    }

    /// All tables, by name.
    pub(crate) fn all(&self) -> Vec<(String, Arc<Table>)> {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let named = tables.iter();
        let mut all: Vec<_> = named.map(|(n, table)| (n.clone(), table.clone())).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// Gives a name to a table, in place of what had it.
    pub(crate) fn insert(&self, name: String, table: Arc<Table>) {
        let mut tables = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let old = tables.insert(name, table);
        // The last user of a table frees it, and not while others wait.
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
