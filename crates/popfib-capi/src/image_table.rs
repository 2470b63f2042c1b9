//! Tables of images: what C asks of a table, answered from the arrays and routes of an image. They are read-only, and open to
//! all threads at once, so that one type is the table, its readers, and what makes them.

use std::sync::Arc;

use popfib::image::{ImageFamily, ImageTable, Keep};
use popfib::{Address, Fib, ImageWriter, Kernel, NextHop, Prefix, Size};

use crate::engine::{ReaderEngine, WholeTable};
use crate::error::{Errno, Result};
use crate::memory::CAllocator;
use crate::reader::{CReader, ReaderFactory};
use crate::typed::{TypedLookups, TypedRoute, TypedTable};

/// The table of one family of an image: also its own reader, since nobody changes it, and what makes readers.
#[derive(Clone)]
pub(crate) struct ImageEngine<A: Address> {
    image: ImageTable,
    /// Shares the image's memory and keeps it.
    fib: Arc<Fib<A>>,
    kernel: Kernel,
}

impl<A: Address> ImageEngine<A> {
    /// With the image's compiled table, or one of another size, compiled from the routes.
    pub(crate) fn new(image: &ImageTable, kernel: Kernel, size: Size) -> Result<Self> {
        let table = image.family::<A>().ok_or(Errno::NO_ENTRY)?;
        // An image of prefixes alone has no Fib of next hops, which is what C looks up in.
        let fib = table.fib().ok_or(Errno::NO_DATA)?;
        let fib = match size {
            size if size == Size::Smallest || size == fib.size() => fib.try_clone()?,
            _ if !table.has_routes() => return Err(Errno::NO_DATA),
            size => Fib::compile(&table.rib(), &table.options().size(size))?,
        };
        Ok(Self {
            image: image.clone(),
            fib: Arc::new(fib),
            kernel,
        })
    }

    /// The table, if it has its routes.
    fn with_routes(&self) -> Result<&ImageFamily<A>> {
        self.image
            .family()
            .filter(|table| table.has_routes())
            .ok_or(Errno::NO_DATA)
    }
}

impl<A: Address> TypedLookups for ImageEngine<A> {
    type Address = A;

    fn kernel(&self) -> Kernel {
        self.kernel
    }

    #[inline(always)]
    fn lookup(&self, address: A) -> u32 {
        self.fib.lookup(address)
    }

    #[inline(always)]
    fn lookup_batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        self.fib
            .lookup_batch_with(self.kernel, addresses, next_hops);
    }

    fn longest_match(&self, address: A) -> Result<Option<TypedRoute<A>>> {
        Ok(self.with_routes()?.longest_match(address))
    }

    fn longest_matches(
        &self,
        addresses: &[A],
        found: impl FnMut(usize, Option<TypedRoute<A>>),
    ) -> Result<()> {
        let longest = self.with_routes()?.longest_fib().ok_or(Errno::NO_DATA)?;
        popfib::longest::matches_with(longest, self.kernel, addresses, found);
        Ok(())
    }
}

impl<A: Address> WholeTable for ImageEngine<A> {
    fn route_count(&self) -> usize {
        self.image.family::<A>().map_or(0, ImageFamily::route_count)
    }

    fn bytes(&self) -> usize {
        self.image.image_bytes()
    }

    fn reclaim(&mut self) {}

    /// Nothing to do: an image has what longest matches need, if it has its routes.
    fn compile_prefixes(&mut self) -> Result<()> {
        self.with_routes().map(drop)
    }

    fn save(&self, image: &mut ImageWriter, keep: Keep) -> Result<()> {
        let table = self.with_routes()?;
        image.family(&table.rib(), &table.options(), keep)?;
        Ok(())
    }
}

impl<A: Address> TypedTable for ImageEngine<A> {
    fn announce(&mut self, _: Prefix<A>, _: NextHop) -> Result<()> {
        Err(Errno::READ_ONLY)
    }

    fn withdraw(&mut self, _: Prefix<A>) -> Result<()> {
        Err(Errno::READ_ONLY)
    }

    fn apply(&mut self, _: Vec<(Prefix<A>, Option<NextHop>)>) -> Result<()> {
        Err(Errno::READ_ONLY)
    }

    fn get(&self, prefix: Prefix<A>) -> Result<Option<NextHop>> {
        Ok(self.with_routes()?.get(prefix))
    }

    fn routes(&self) -> Result<impl Iterator<Item = TypedRoute<A>>> {
        Ok(self.with_routes()?.routes())
    }

    fn supernets(&self, of: Prefix<A>) -> Result<impl Iterator<Item = TypedRoute<A>>> {
        Ok(self.with_routes()?.supernets(of))
    }

    fn subnets(&self, of: Prefix<A>) -> Result<impl Iterator<Item = TypedRoute<A>>> {
        Ok(self.with_routes()?.subnets(of))
    }
}

impl<A: Address> ReaderFactory for ImageEngine<A> {
    fn reader(&self) -> Result<*mut CReader> {
        CReader::make(self.clone(), CAllocator::Heap)
    }
}

impl<A: Address> ReaderEngine for ImageEngine<A> {}
