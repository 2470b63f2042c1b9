//! Tables from images (`--fib`): opened once, then asked as they are.

use std::time::{Duration, Instant};

use popfib::{Address, Image, Rib};
use popfib_formats::{RouteTable, image_table};

use crate::any_fib::{Compiled, compile};
use crate::args::{Algorithm, FormArgs, TableArgs};
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
    let start = Instant::now();
    let name = path.display().to_string();
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
    pub(crate) fn compiled<A: Address>(
        &self,
        direct_bits: Option<u8>,
        form: &FormArgs,
    ) -> Result<Compiled<A>, Failure> {
        if direct_bits.is_some() || form.no_aggregation || form.algorithm()? != Algorithm::Popfib {
            let name = self.name.escape_debug();
            return Err(format!(
                "{name}: an image is compiled already; --direct-bits, --no-aggregation and \
                 --algorithm are for tables"
            )
            .into());
        }
        let Some(table) = self.image.table::<A>() else {
            return compile(&Rib::new(), None, form);
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
}
