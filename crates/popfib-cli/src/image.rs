//! Tables from images (`--fib`): opened once, then asked as they are.

use std::time::{Duration, Instant};

use popfib::{Address, Fib, Image, Options, Rib};
use popfib_baselines::Key;
use popfib_formats::{RouteTable, image_table};

use crate::any_fib::Compiled;
use crate::args::{Algorithm, FormArgs, TableArgs, is_stdin};
use crate::failure::Failure;

/// An image and how long it took to open.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) image: Image,
    pub(crate) open_time: Duration,
}

/// The image of `args`; `None` if they ask for a table.
pub(crate) fn open(args: &TableArgs) -> Result<Option<Opened>, Failure> {
    let Some(path) = &args.fib else {
        return Ok(None);
    };
    let name = path.display().to_string();
    if let Some(option) = args.read.of_file() {
        let name = name.escape_debug();
        return Err(format!("{name}: an image is compiled already; {option} is for tables").into());
    }
    if is_stdin(path) {
        return Err("--fib takes a file; `--table -` reads an image from standard input".into());
    }
    let start = Instant::now();
    let opened = if args.trust {
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

    /// The Fib of the image, which is not compiled here.
    pub(crate) fn compiled<A: Key>(
        &self,
        direct_bits: Option<u8>,
        form: &FormArgs,
    ) -> Result<Compiled<A>, Failure> {
        if form.algorithm()? != Algorithm::Popfib {
            return Err(self.is_compiled("--algorithm and --no-leafvec are"));
        }
        self.own_fib(direct_bits, form)
    }

    /// The Fib of the image, whatever other algorithms are asked for beside it.
    pub(crate) fn own_fib<A: Key>(
        &self,
        direct_bits: Option<u8>,
        form: &FormArgs,
    ) -> Result<Compiled<A>, Failure> {
        if direct_bits.is_some() || form.no_aggregation {
            return Err(self.is_compiled("--direct-bits and --no-aggregation are"));
        }
        let Some(table) = self.image.table::<A>() else {
            return Ok(Compiled {
                fib: Box::new(Fib::<A, u16>::compile(&Rib::new(), &Options::default())?),
                compile_time: Duration::ZERO,
            });
        };
        Ok(Compiled {
            fib: match table.narrow_fib() {
                Some(fib) => Box::new(fib.clone()),
                None => Box::new(table.fib().clone()),
            },
            compile_time: Duration::ZERO,
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

    pub(crate) fn without_routes(&self, to: &str) -> Failure {
        let name = self.name.escape_debug();
        format!("{name}: the image was compiled without the routes to {to}").into()
    }

    fn is_compiled(&self, options: &str) -> Failure {
        let name = self.name.escape_debug();
        format!("{name}: an image is compiled already; {options} for tables").into()
    }
}
