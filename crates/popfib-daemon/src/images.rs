//! Views of live tables in, compiled images out: for files (`publish.rs`) and for clients that look up in their own process.
//!
//! An image is compiled on demand and not with each change, since compiling takes as long as a table is large. Clients share the
//! last image of a table, so many of them take the memory of one. Images for clients are made in one thread: an allocator keeps what a
//! compilation took for the thread that had it.

use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use popfib::family::{ByFamily, Family};
use popfib::image::{Keep, Source};
use popfib::{ImageWriter, NextHop, Options, Rib};
use popfib_feed::{BestRoutes, TableView, Target};
use popfib_table::{Dictionary, Table, TableError};

use super::files::{FileTable, ServedFile};
use super::threads;

/// The minimum time between two images for clients, since each takes the time of a compilation.
const EVERY: Duration = Duration::from_secs(1);

/// The number of tables whose last image is kept.
const KEPT: usize = 4;

/// An image for clients, and the version of the tables that it was made from.
pub(super) struct ClientImage {
    pub(super) version: u64,
    pub(super) bytes: Vec<u8>,
    table: String,
    /// When it was no longer the last image or the last but one.
    old: OnceLock<Instant>,
}

impl ClientImage {
    /// Whether two later images have been made.
    pub(super) fn is_old(&self) -> bool {
        self.old.get().is_some()
    }

    /// Whether that was this long ago.
    pub(super) fn is_old_for(&self, time: Duration) -> bool {
        self.old.get().is_some_and(|old| old.elapsed() >= time)
    }
}

/// Why there is no image, as text for clients.
pub(super) type NoImage = String;

/// A table that is open for a client, or to be made an image.
#[derive(Clone)]
pub(super) enum OpenTable {
    Live(Arc<TableView>),
    /// A file, and its table.
    File(Arc<ServedFile>, Arc<FileTable>),
}

impl OpenTable {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Live(view) => view.name(),
            Self::File(served, _) => &served.name,
        }
    }

    pub(super) fn version(&self) -> u64 {
        match self {
            Self::Live(view) => view.version(),
            Self::File(_, now) => now.version,
        }
    }
}

/// A table, and where its image goes.
type ImageRequest = (Option<OpenTable>, Sender<Result<Arc<ClientImage>, NoImage>>);

/// The images that were made last, and the thread that makes them; clients share them.
#[derive(Default)]
pub(super) struct Images(Mutex<Option<Sender<ImageRequest>>>);

/// The last images, and those before them that clients still read.
#[derive(Default)]
struct LastImages {
    /// When the last one was made.
    last: Option<Instant>,
    /// The last image of each of a few tables, in the order of their last use.
    images: Vec<Arc<ClientImage>>,
    /// Images that were replaced; clients may still be reading them.
    replaced: Vec<Weak<ClientImage>>,
}

impl LastImages {
    /// Takes out the image at this place. Those that were taken out before it are old from now on.
    fn replace(&mut self, at: usize) {
        let old = self.images.remove(at);
        self.replaced.retain(|image| image.strong_count() > 0);
        for image in self.replaced.iter().filter_map(Weak::upgrade) {
            image.old.get_or_init(Instant::now);
        }
        self.replaced.push(Arc::downgrade(&old));
    }

    /// As [`Images::of`].
    fn of(&mut self, table: Option<&OpenTable>) -> Result<Arc<ClientImage>, NoImage> {
        let name = table.map_or("", OpenTable::name);
        let now = table.map_or(0, OpenTable::version);
        if let Some(at) = self.images.iter().position(|image| image.table == name) {
            if self.images[at].version >= now {
                let image = self.images.remove(at);
                self.images.push(image.clone());
                return Ok(image);
            }
            self.replace(at);
        } else if self.images.len() >= KEPT {
            self.replace(0);
        }
        let wait = self.last.map(|last| EVERY.saturating_sub(last.elapsed()));
        thread::sleep(wait.unwrap_or_default());
        let (version, writer) = compile(table).map_err(|error| error.to_string())?;
        let image = Arc::new(ClientImage {
            version,
            bytes: writer.to_bytes(),
            table: name.to_owned(),
            old: OnceLock::new(),
        });
        self.last = Some(Instant::now());
        self.images.push(image.clone());
        Ok(image)
    }
}

impl Images {
    /// The image of a table as readers see it now. Only one image is made at a time, and one a second, however many clients
    /// request images.
    pub(super) fn of(&self, table: Option<OpenTable>) -> Result<Arc<ClientImage>, NoImage> {
        let (to, image) = channel();
        let mut maker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let maker = match &mut *maker {
            Some(maker) => maker,
            none => {
                let (maker, requests) = channel::<ImageRequest>();
                threads::start(move || {
                    let mut kept = LastImages::default();
                    // A client that has gone needs none.
                    requests
                        .iter()
                        .for_each(|(table, to)| drop(to.send(kept.of(table.as_ref()))));
                })?;
                none.insert(maker)
            }
        };
        let ended = "images are no longer made";
        maker.send((table, to)).map_err(|_| ended)?;
        image.recv().map_err(|_| ended)?
    }
}

/// Compiles a table. Returns its version and its image, which has no routes if the table does not exist.
pub(super) fn compile(table: Option<&OpenTable>) -> Result<(u64, ImageWriter), TableError> {
    let created = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut writer = ImageWriter::new(created.map_or(0, |since| since.as_secs()));
    let name = table.map_or("", OpenTable::name);
    writer.table(name, &[Source::named("popfibd")])?;
    let (options, keep) = (Options::default(), Keep::Routes);
    let (version, ipv4, ipv6) = match table {
        Some(OpenTable::File(_, now)) => {
            now.table.write(&mut writer, &options, keep)?;
            return Ok((now.version, writer));
        }
        Some(OpenTable::Live(view)) => view.routes(),
        None => Default::default(),
    };
    let mut texts = TargetTexts::default();
    let (ipv4, ipv6) = (texts.rib(ipv4), texts.rib(ipv6));
    let table = Table::of_texts(ByFamily { ipv4, ipv6 }, texts.texts);
    table.write(&mut writer, &options, keep)?;
    Ok((version, writer))
}

/// The texts of targets, and the number of each, so that it is made once and not for each route.
#[derive(Default)]
struct TargetTexts {
    texts: Dictionary,
    numbers: HashMap<Target, NextHop>,
}

impl TargetTexts {
    fn rib<A: Family>(&mut self, routes: BestRoutes<A>) -> Rib<A> {
        let number = |(prefix, target)| {
            let number = self.numbers.entry(target);
            let text = |target: &Target| self.texts.intern(&target.to_string());
            (prefix, *number.or_insert_with_key(text))
        };
        routes.into_iter().map(number).collect()
    }
}
