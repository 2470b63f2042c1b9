//! Tables compiled as images, for files (`publish.rs`) and for clients that look up in their own process.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use popfib::{Address, ImageWriter, NextHop, Options, Rib};
use popfib_feed::{Routes, Target, View};

/// The minimum time between two images for clients, since each takes the time of a compilation.
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
    /// The image of a table as readers see it now. Only one image is made at a time, and one a second, however many clients
    /// request images.
    pub(super) fn of(&self, view: Option<&View>) -> Result<Arc<Compiled>, Failed> {
        let now = view.map_or(0, View::version);
        let table = view.map(View::name);
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last {
            if last.table.as_deref() == table && last.version >= now {
                return Ok(last.clone());
            }
            thread::sleep(EVERY.saturating_sub(last.made.elapsed()));
        }
        let failed = |error: &dyn fmt::Display| error.to_string();
        let (version, writer) = compile(view).map_err(|error| failed(&*error))?;
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

/// Compiles a table. Returns its version and its image, which has no routes if the table does not exist.
pub(super) fn compile(
    view: Option<&View>,
) -> Result<(u64, ImageWriter), Box<dyn std::error::Error>> {
    let name = view.map_or("", View::name);
    let source = format!("popfib follow, table {name}");
    let (version, ipv4, ipv6) = view.map_or((0, Vec::new(), Vec::new()), View::routes);
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
