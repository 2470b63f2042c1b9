//! Tables compiled as images, for files (`publish.rs`) and for clients that look up in their own process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use popfib::family::Family;
use popfib::image::{Keep, Source};
use popfib::{ImageWriter, NextHop, Options};
use popfib_feed::{BestRoutes, TableView, Target};
use popfib_table::{TableBuilder, TableError};

/// The minimum time between two images for clients, since each takes the time of a compilation.
const EVERY: Duration = Duration::from_secs(1);

/// The number of tables whose last image is kept.
const KEPT: usize = 4;

/// An image for clients, and the version of the tables that it was made from.
pub(super) struct Compiled {
    pub(super) version: u64,
    pub(super) bytes: Vec<u8>,
    table: String,
    /// Since when it is no longer the last or the last but one.
    old: OnceLock<Instant>,
}

impl Compiled {
    /// Whether two images were made after it.
    pub(super) fn is_old(&self) -> bool {
        self.old.get().is_some()
    }

    /// Whether that was this long ago.
    pub(super) fn is_old_for(&self, time: Duration) -> bool {
        self.old.get().is_some_and(|old| old.elapsed() >= time)
    }
}

/// Why there is no image, as text for clients.
pub(super) type Failed = String;

/// The images that were made last; clients share them.
#[derive(Default)]
pub(super) struct Images(Mutex<Made>);

#[derive(Default)]
struct Made {
    /// When the last one was made.
    last: Option<Instant>,
    /// The last image of each of the last tables, the one that was used last at the end.
    images: Vec<Arc<Compiled>>,
    /// Images that were replaced; clients may still be reading them.
    replaced: Vec<Weak<Compiled>>,
}

impl Made {
    fn replace(&mut self, at: usize) {
        let old = self.images.remove(at);
        self.replaced.retain(|image| image.strong_count() > 0);
        for image in self.replaced.iter().filter_map(Weak::upgrade) {
            image.old.get_or_init(Instant::now);
        }
        self.replaced.push(Arc::downgrade(&old));
    }
}

impl Images {
    /// The image of a table as readers see it now. Only one image is made at a time, and one a second, however many clients
    /// request images.
    pub(super) fn of(&self, view: Option<&TableView>) -> Result<Arc<Compiled>, Failed> {
        let (name, now) = view.map_or(("", 0), |view| (view.name(), view.version()));
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = made.images.iter().position(|image| image.table == name) {
            if made.images[at].version >= now {
                let image = made.images.remove(at);
                made.images.push(image.clone());
                return Ok(image);
            }
            made.replace(at);
        } else if made.images.len() >= KEPT {
            made.replace(0);
        }
        let wait = made.last.map(|last| EVERY.saturating_sub(last.elapsed()));
        thread::sleep(wait.unwrap_or_default());
        let (version, writer) = compile(view).map_err(|error| error.to_string())?;
        let image = Arc::new(Compiled {
            version,
            bytes: writer.to_bytes(),
            table: name.to_owned(),
            old: OnceLock::new(),
        });
        made.last = Some(Instant::now());
        made.images.push(image.clone());
        Ok(image)
    }
}

/// Compiles a table. Returns its version and its image, which has no routes if the table does not exist.
pub(super) fn compile(view: Option<&TableView>) -> Result<(u64, ImageWriter), TableError> {
    let name = view.map_or("", TableView::name);
    let source = Source::named("popfib follow");
    let (version, ipv4, ipv6) = view.map_or((0, Vec::new(), Vec::new()), TableView::routes);
    let mut collected = Collected::default();
    collected.insert(ipv4);
    collected.insert(ipv6);
    let created = SystemTime::now().duration_since(UNIX_EPOCH);
    let created = created.map_or(0, |since| since.as_secs());
    let mut writer = ImageWriter::new(created);
    writer.table(name, &[source])?;
    let builder = collected.builder;
    builder.write(&mut writer, &Options::default(), Keep::Routes)?;
    Ok((version, writer))
}

#[derive(Default)]
struct Collected {
    builder: TableBuilder,
    /// By target, so that a value is converted to text only once and not for each of its routes.
    numbers: HashMap<Target, NextHop>,
}

impl Collected {
    fn insert<A: Family>(&mut self, routes: BestRoutes<A>) {
        for (prefix, target) in routes {
            let number = self.numbers.entry(target);
            let number = number.or_insert_with_key(|t| self.builder.value(&t.to_string()));
            self.builder.insert_number(prefix, *number);
        }
    }
}
