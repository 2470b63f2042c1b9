//! Tables from images (`--fib`): opened once, then asked as they are.

use std::path::Path;
use std::time::{Duration, Instant};

use popfib::{Address, Fib, Image, Options, Rib};
use popfib_formats::{RouteTable, image_table};

use crate::args::{ReadArgs, is_stdin};
use crate::failure::Failure;

/// An image and how long it took to open.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Its file, as messages name it.
    pub(crate) name: String,
    /// What is in it.
    pub(crate) image: Image,
    /// From the call to an image that can be asked.
    pub(crate) open_time: Duration,
}

/// The image at `path`, if there is a path; without validating it if it is trusted.
pub(crate) fn open_file(
    path: Option<&Path>,
    trust: bool,
    read: &ReadArgs,
) -> Result<Option<Opened>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    let name = path.display().to_string();
    if let Some(option) = read.of_file() {
        let name = name.escape_debug();
        return Err(format!("{name}: an image is compiled already; {option} is for tables").into());
    }
    if is_stdin(path) {
        return Err("--fib takes a file; `--table -` reads an image from standard input".into());
    }
    let start = Instant::now();
    let opened = if trust {
        // SAFETY: whoever says `--trust` promises what `Image::map_trusted` asks for.
        unsafe { Image::map_trusted(path) }
    } else {
        Image::open(path)
    };
    let image = opened.map_err(|error| format!("{}: {error}", name.escape_debug()))?;
    let open_time = start.elapsed();
    Ok(Some(Opened {
        name,
        image,
        open_time,
    }))
}

impl Opened {
    /// All routes of the image, for what needs more than lookups.
    pub(crate) fn into_table(self) -> Result<RouteTable, Failure> {
        Ok(image_table(&self.name, self.image)?)
    }

    /// The Fib of the image, which is not compiled here; an empty one for a family that is not in it.
    pub(crate) fn fib<A: Address>(&self) -> Result<Fib<A, u32>, Failure> {
        Ok(match self.image.table::<A>() {
            Some(table) => table.fib().clone(),
            None => Fib::compile(&Rib::new(), &Options::default())?,
        })
    }

    /// The routes of the image with their next hops as the Fib answers them;
    /// none if it was compiled without.
    pub(crate) fn rib<A: Address>(&self) -> Rib<A> {
        self.image
            .table::<A>()
            .map_or_else(Rib::new, |table| table.rib())
    }

    /// Whether the image has no routes of a family because it was compiled without.
    pub(crate) fn lacks_routes<A: Address>(&self) -> bool {
        let table = self.image.table::<A>();
        table.is_some_and(|table| !table.has_routes())
    }

    /// Why this image does not do `to` something.
    pub(crate) fn without_routes(&self, to: &str) -> Failure {
        let name = self.name.escape_debug();
        format!("{name}: the image was compiled without the routes to {to}").into()
    }
}
