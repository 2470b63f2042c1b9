//! Tables in images: as those whose routes change, but read-only and open to all threads at once.

use std::sync::Arc;

use popfib::image::{ImageFamily, ImageTable, Keep};
use popfib::{Address, Fib, ImageWriter, Kernel, Leaf, NextHop, Prefix, Size};

use crate::error::{Errno, Result};
use crate::memory::Memory;
use crate::reader::{Reader, Readers};
use crate::typed::{Answers, Route, Routes};

/// The width of answers, with the image's Fib for it.
pub(crate) trait ImageLeaf: Leaf {
    fn fib<A: Address>(table: &ImageFamily<A>) -> Option<&Fib<A, Self>>;
}

impl ImageLeaf for u16 {
    fn fib<A: Address>(table: &ImageFamily<A>) -> Option<&Fib<A, Self>> {
        table.narrow_fib()
    }
}

impl ImageLeaf for u32 {
    fn fib<A: Address>(table: &ImageFamily<A>) -> Option<&Fib<A, Self>> {
        table.fib()
    }
}

/// The table of one family of an image: also a reader, since nobody changes it, and what makes more of them.
#[derive(Clone)]
pub(crate) struct Frozen<A: Address, L: Leaf> {
    image: ImageTable,
    /// Shares the image's memory and keeps it.
    fib: Arc<Fib<A, L>>,
    kernel: Kernel,
}

impl<A: Address, L: ImageLeaf> Frozen<A, L> {
    /// With the image's compiled table, or one of another size, compiled from the routes.
    pub(crate) fn new(image: &ImageTable, kernel: Kernel, size: Size) -> Result<Self> {
        let table = image.family::<A>().ok_or(Errno::NO_ENTRY)?;
        // C looks up next hops by a Fib of theirs, which an image of prefixes alone lacks.
        table.fib().ok_or(Errno::NO_DATA)?;
        let fib = L::fib(table).ok_or(Errno::RANGE)?;
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
}

impl<A: Address, L: Leaf> Frozen<A, L> {
    /// The table, if it has its routes.
    fn with_routes(&self) -> Result<&ImageFamily<A>> {
        self.image
            .family()
            .filter(|table| table.has_routes())
            .ok_or(Errno::NO_DATA)
    }
}

impl<A: Address, L: ImageLeaf> Routes for Frozen<A, L> {
    type Address = A;
    type NextHop = L;

    fn kernel(&self) -> Kernel {
        self.kernel
    }

    fn route_count(&self) -> usize {
        self.image.family::<A>().map_or(0, ImageFamily::route_count)
    }

    fn bytes(&self) -> usize {
        self.image.image_bytes()
    }

    fn announce(&mut self, _: Prefix<A>, _: NextHop) -> Result<()> {
        Err(Errno::READ_ONLY)
    }

    fn withdraw(&mut self, _: Prefix<A>) -> Result<()> {
        Err(Errno::READ_ONLY)
    }

    fn apply(&mut self, _: Vec<(Prefix<A>, Option<NextHop>)>) -> Result<()> {
        Err(Errno::READ_ONLY)
    }

    fn reclaim(&mut self) {}

    /// An image has what longest matches need.
    fn compile_prefixes(&mut self) -> Result<()> {
        self.with_routes().map(drop)
    }

    #[inline(always)]
    fn lookup(&self, address: A) -> L {
        self.fib.lookup(address)
    }

    #[inline(always)]
    fn lookup_batch(&self, addresses: &[A], next_hops: &mut [L]) {
        self.fib
            .lookup_batch_with(self.kernel, addresses, next_hops);
    }

    fn get(&self, prefix: Prefix<A>) -> Result<Option<NextHop>> {
        Ok(self.with_routes()?.get(prefix))
    }

    fn longest_match(&self, address: A) -> Result<Option<Route<A>>> {
        Ok(self.with_routes()?.longest_match(address))
    }

    fn longest_matches(
        &self,
        addresses: &[A],
        found: impl FnMut(usize, Option<Route<A>>),
    ) -> Result<()> {
        let longest = self.with_routes()?.longest_fib().ok_or(Errno::NO_DATA)?;
        longest.longest_matches_with(self.kernel, addresses, found);
        Ok(())
    }

    fn routes(&self) -> Result<impl Iterator<Item = Route<A>>> {
        Ok(self.with_routes()?.routes())
    }

    fn supernets(&self, of: Prefix<A>) -> Result<impl Iterator<Item = Route<A>>> {
        Ok(self.with_routes()?.supernets(of))
    }

    fn subnets(&self, of: Prefix<A>) -> Result<impl Iterator<Item = Route<A>>> {
        Ok(self.with_routes()?.subnets(of))
    }

    fn save(&self, image: &mut ImageWriter, keep: Keep) -> Result<()> {
        let table = self.with_routes()?;
        image.family(&table.rib(), &table.options(), keep)?;
        Ok(())
    }
}

impl<A: Address, L: ImageLeaf> Readers for Frozen<A, L> {
    fn reader(&self) -> Result<*mut Reader> {
        Reader::make(self.clone(), Memory::Heap)
    }
}

impl<A: Address, L: ImageLeaf> Answers for Frozen<A, L> {
    type Address = A;
    type NextHop = L;

    fn kernel(&self) -> Kernel {
        Routes::kernel(self)
    }

    #[inline(always)]
    fn lookup(&mut self, address: A) -> L {
        Routes::lookup(self, address)
    }

    #[inline(always)]
    fn lookup_batch(&mut self, addresses: &[A], next_hops: &mut [L]) {
        Routes::lookup_batch(self, addresses, next_hops);
    }

    fn longest_match(&mut self, address: A) -> Result<Option<Route<A>>> {
        Routes::longest_match(self, address)
    }

    fn longest_matches(
        &mut self,
        addresses: &[A],
        found: impl FnMut(usize, Option<Route<A>>),
    ) -> Result<()> {
        Routes::longest_matches(self, addresses, found)
    }
}
