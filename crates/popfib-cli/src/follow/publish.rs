//! The compiled table as a file, which other processes open or map.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use popfib::{Address, ImageWriter, NextHop, Options, Rib};
use popfib_feed::{Routes, Target};

use super::state::State;

/// Writes the image of one table.
pub(super) struct Publisher {
    pub(super) path: PathBuf,
    pub(super) table: Option<String>,
    pub(super) every: Duration,
    pub(super) state: Arc<State>,
}

impl Publisher {
    /// Writes the image, unless nothing has changed since `version`; returns the version that was written.
    /// The lock is held while routes are copied, and not while they are compiled and written.
    pub(super) fn publish(&self, version: u64) -> Result<u64, String> {
        let tables = self.state.tables();
        let now = tables.version();
        let name = self.table.as_deref().or_else(|| tables.default_table());
        let Some(name) = name.filter(|_| now != version) else {
            return Ok(version);
        };
        let source = format!("popfib follow, table {name}");
        let (ipv4, ipv6) = tables.routes(name);
        drop(tables);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", self.path.display());
        let created = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut writer = ImageWriter::new(&source, created.map_or(0, |since| since.as_secs()));
        let mut numbers = Numbers::default();
        let ipv4 = rib(ipv4, &mut numbers);
        let ipv6 = rib(ipv6, &mut numbers);
        let mut names: Vec<(&String, &NextHop)> = numbers.names.iter().collect();
        names.sort_by_key(|(_, number)| **number);
        let names = names.into_iter().map(|(name, _)| name.as_str());
        writer.names(names).map_err(|error| failed(&error))?;
        let options = Options::default();
        writer
            .table(&ipv4, &options, true)
            .map_err(|error| failed(&error))?;
        writer
            .table(&ipv6, &options, true)
            .map_err(|error| failed(&error))?;
        writer.save(&self.path).map_err(|error| failed(&error))?;
        Ok(now)
    }
}

/// Values numbered from 1 on, by what they are shown as.
#[derive(Default)]
struct Numbers {
    names: HashMap<String, NextHop>,
    /// The same, so that a value is written as text once and not for each of its routes.
    targets: HashMap<Target, NextHop>,
}

impl Numbers {
    fn number(&mut self, target: Target) -> NextHop {
        let Self { names, targets } = self;
        *targets.entry(target).or_insert_with_key(|target| {
            let next = NextHop::new(names.len() as u32 + 1).expect("fewer values than routes");
            *names.entry(target.to_string()).or_insert(next)
        })
    }
}

fn rib<A: Address>(routes: Routes<A>, numbers: &mut Numbers) -> Rib<A> {
    let mut rib = Rib::new();
    for (prefix, target) in routes {
        rib.insert(prefix, numbers.number(target));
    }
    rib
}
