//! Tables compiled as images, for files (`publish.rs`) and for clients that look up in their own process.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use popfib::{Address, ImageWriter, NextHop, Options, Rib};
use popfib_feed::{Routes, Tables, Target};

use super::lock::Held;

/// The minimum time between two images for clients, since routes are copied under the lock.
const EVERY: Duration = Duration::from_secs(1);

/// An image for clients, and the version of the tables that it was made from.
pub(super) struct Compiled {
    pub(super) version: u64,
    pub(super) bytes: Vec<u8>,
    table: Option<String>,
    made: Instant,
}

/// Why there is no image, as text for clients.
pub(super) type Failed = String;

/// The image that was made last; clients share it.
#[derive(Default)]
pub(super) struct Images(Mutex<Option<Arc<Compiled>>>);

impl Images {
    /// The image of this table as it is now; `None` is the default table, and `tables` locks all. Only one image is made at
    /// a time, and one a second, however many clients request images.
    pub(super) fn of<'t>(
        &self,
        tables: impl Fn() -> Held<'t, Tables>,
        table: Option<&str>,
    ) -> Result<Arc<Compiled>, Failed> {
        let now = tables().version();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last {
            if last.table.as_deref() == table && last.version >= now {
                return Ok(last.clone());
            }
            thread::sleep(EVERY.saturating_sub(last.made.elapsed()));
        }
        let failed = |error: &dyn fmt::Display| error.to_string();
        let (version, writer) = compile(tables(), table).map_err(|error| failed(&*error))?;
        let compiled = Arc::new(Compiled {
            version,
            bytes: writer.to_bytes(),
            table: table.map(str::to_owned),
            made: Instant::now(),
        });
        *last = Some(compiled.clone());
        Ok(compiled)
    }
}

/// Compiles a table; `None` is the default table. Returns its version and its image, which has no routes if the table does not
/// exist. The lock is held while routes are copied, but not while they are compiled.
pub(super) fn compile(
    tables: Held<'_, Tables>,
    table: Option<&str>,
) -> Result<(u64, ImageWriter), Box<dyn std::error::Error>> {
    let version = tables.version();
    let name = table.or_else(|| tables.default_table()).unwrap_or_default();
    let source = format!("popfib follow, table {name}");
    let (ipv4, ipv6) = tables.routes(name);
    drop(tables);
    let created = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut writer = ImageWriter::new(&source, created.map_or(0, |since| since.as_secs()));
    let mut numbers = Numbers::default();
    let ipv4 = rib(ipv4, &mut numbers);
    let ipv6 = rib(ipv6, &mut numbers);
    let mut names: Vec<(&String, &NextHop)> = numbers.names.iter().collect();
    names.sort_by_key(|(_, number)| **number);
    writer.names(names.into_iter().map(|(name, _)| name.as_str()))?;
    let options = Options::default();
    writer.table(&ipv4, &options, true)?;
    writer.table(&ipv6, &options, true)?;
    Ok((version, writer))
}

/// Values numbered from 1 on, by their text.
#[derive(Default)]
struct Numbers {
    names: HashMap<String, NextHop>,
    /// The same by target, so that a value is converted to text only once and not for each of its routes.
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
