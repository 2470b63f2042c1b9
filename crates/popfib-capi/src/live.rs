//! Tables whose routes change, and their readers: changes in, the compiled table kept up to date, answers out.
//!
//! What the library's `LiveFib` holds for a route is a number. A table's [`NextHopEncoding`] says what it stands for: the
//! next hop, or the next hop and the length of the prefix, from which readers can tell longest matches.

use core::marker::PhantomData;
use core::ptr::NonNull;

use popfib::image::Keep;
use popfib::live::{Guard, Reader};
use popfib::{Address, Fib, ImageWriter, Kernel, LiveFib, NextHop, Options, Prefix, Rib, longest};

use crate::engine::{ReaderEngine, WholeTable};
use crate::error::{Errno, Result};
use crate::memory::{CAllocator, hand_out, take_back};
use crate::reader::{CReader, ReaderFactory};
use crate::typed::{TypedLookups, TypedRoute, TypedTable};

/// What the numbers in a table stand for.
pub(crate) trait NextHopEncoding<A: Address>: 'static {
    /// Whether they stand for lengths of prefixes too.
    const HAVE_LENGTHS: bool;

    /// The number of a route.
    fn number(prefix: Prefix<A>, next_hop: NextHop) -> Result<NextHop>;
    /// The next hop of a number; 0 for 0.
    fn next_hop(number: u32) -> u32;
    /// The longest match of an address for which the table has that number.
    fn matched(address: A, number: u32) -> Result<Option<TypedRoute<A>>>;

    /// The route of a prefix and a number in the table.
    fn route((prefix, number): TypedRoute<A>) -> TypedRoute<A> {
        let next_hop = NextHop::new(Self::next_hop(number.get()));
        (prefix, next_hop.expect("a route has a next hop"))
    }
}

/// Each number is a next hop.
pub(crate) enum PlainNextHops {}

impl<A: Address> NextHopEncoding<A> for PlainNextHops {
    const HAVE_LENGTHS: bool = false;

    fn number(_: Prefix<A>, next_hop: NextHop) -> Result<NextHop> {
        Ok(next_hop)
    }

    #[inline(always)]
    fn next_hop(number: u32) -> u32 {
        number
    }

    fn matched(_: A, _: u32) -> Result<Option<TypedRoute<A>>> {
        Err(Errno::NOT_SUPPORTED)
    }
}

/// Each number stands for a next hop and the length of the prefix.
pub(crate) enum NextHopsAndLengths {}

impl<A: Address> NextHopEncoding<A> for NextHopsAndLengths {
    const HAVE_LENGTHS: bool = true;

    fn number(prefix: Prefix<A>, next_hop: NextHop) -> Result<NextHop> {
        Ok(longest::number(prefix, next_hop)?)
    }

    #[inline(always)]
    fn next_hop(number: u32) -> u32 {
        longest::next_hop::<A>(number)
    }

    #[inline(always)]
    fn matched(address: A, number: u32) -> Result<Option<TypedRoute<A>>> {
        Ok(longest::matched(address, number))
    }
}

/// Puts the next hops that numbers stand for in the places of the numbers.
#[inline(always)]
fn decode<A: Address, N: NextHopEncoding<A>>(numbers: &mut [u32]) {
    if N::HAVE_LENGTHS {
        for number in numbers {
            *number = N::next_hop(*number);
        }
    }
}

/// Addresses whose matches are found at a time, on the stack.
const BURST: usize = 256;

/// Calls `found` with the place and the match of each address, whose number `lookup` finds.
fn matches<A: Address, N: NextHopEncoding<A>>(
    addresses: &[A],
    mut found: impl FnMut(usize, Option<TypedRoute<A>>),
    mut lookup: impl FnMut(&[A], &mut [u32]),
) -> Result<()> {
    let mut numbers = [0; BURST];
    for (burst, addresses) in addresses.chunks(BURST).enumerate() {
        let numbers = &mut numbers[..addresses.len()];
        lookup(addresses, numbers);
        for (at, (address, number)) in addresses.iter().zip(numbers).enumerate() {
            found(burst * BURST + at, N::matched(*address, *number)?);
        }
    }
    Ok(())
}

/// A table and its writer.
pub(crate) struct LiveEngine<A: Address, N> {
    fib: LiveFib<A, CAllocator>,
    /// Compiled when the caller asks for it, dropped by the next change. Rejected: to follow changes, which takes a second Rib
    /// and twice the time of each.
    longest: Option<Fib<A, CAllocator>>,
    options: Options,
    kernel: Kernel,
    numbers: PhantomData<N>,
}

impl<A: Address, N: NextHopEncoding<A>> LiveEngine<A, N> {
    pub(crate) fn new(options: Options, kernel: Kernel, allocator: CAllocator) -> Result<Self> {
        Ok(Self {
            fib: LiveFib::from_rib(Rib::new_in(allocator), options.clone())?,
            longest: None,
            options,
            kernel,
            numbers: PhantomData,
        })
    }

    /// What makes readers of this table.
    pub(crate) fn readers(&self) -> Result<LiveReaders<A, N>> {
        Ok(LiveReaders {
            model: self.fib.try_reader()?,
            kernel: self.kernel,
            allocator: *self.fib.rib().allocator(),
            numbers: PhantomData,
        })
    }
}

impl<A: Address, N: NextHopEncoding<A>> TypedLookups for LiveEngine<A, N> {
    type Address = A;

    fn kernel(&self) -> Kernel {
        self.kernel
    }

    fn lookup(&self, address: A) -> u32 {
        N::next_hop(self.fib.lookup(address))
    }

    fn lookup_batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        self.fib
            .lookup_batch_with(self.kernel, addresses, next_hops);
        decode::<A, N>(next_hops);
    }

    fn longest_match(&self, address: A) -> Result<Option<TypedRoute<A>>> {
        if N::HAVE_LENGTHS {
            return N::matched(address, self.fib.lookup(address));
        }
        Ok(match &self.longest {
            Some(longest) => longest::matched(address, longest.lookup(address)),
            None => self.fib.longest_match(address),
        })
    }

    fn longest_matches(
        &self,
        addresses: &[A],
        mut found: impl FnMut(usize, Option<TypedRoute<A>>),
    ) -> Result<()> {
        if N::HAVE_LENGTHS {
            return matches::<A, N>(addresses, found, |addresses, numbers| {
                self.fib.lookup_batch_with(self.kernel, addresses, numbers);
            });
        }
        match &self.longest {
            Some(longest) => longest::matches_with(longest, self.kernel, addresses, found),
            None => {
                for (at, address) in addresses.iter().enumerate() {
                    found(at, self.fib.longest_match(*address));
                }
            }
        }
        Ok(())
    }
}

impl<A: Address, N: NextHopEncoding<A>> WholeTable for LiveEngine<A, N> {
    fn route_count(&self) -> usize {
        self.fib.rib().len()
    }

    fn bytes(&self) -> usize {
        let longest = self.longest.as_ref().map_or(0, Fib::bytes);
        let fib = self.fib.bytes();
        self.fib.rib().bytes() + fib.arrays + fib.writer + longest
    }

    fn reclaim(&mut self) {
        self.fib.reclaim();
    }

    fn compile_prefixes(&mut self) -> Result<()> {
        if self.longest.is_none() && !N::HAVE_LENGTHS {
            let rib = self.fib.rib();
            let longest = longest::compile_in(rib, &self.options, *rib.allocator())?;
            self.longest = Some(longest);
        }
        Ok(())
    }

    fn save(&self, image: &mut ImageWriter, keep: Keep) -> Result<()> {
        if N::HAVE_LENGTHS {
            let rib: Rib<A> = self.fib.rib().iter().map(N::route).collect();
            image.family(&rib, &self.options, keep)?;
        } else {
            image.family(self.fib.rib(), &self.options, keep)?;
        }
        Ok(())
    }
}

impl<A: Address, N: NextHopEncoding<A>> TypedTable for LiveEngine<A, N> {
    fn announce(&mut self, prefix: Prefix<A>, next_hop: NextHop) -> Result<()> {
        self.fib.announce(prefix, N::number(prefix, next_hop)?)?;
        self.longest = None;
        Ok(())
    }

    fn withdraw(&mut self, prefix: Prefix<A>) -> Result<()> {
        self.fib.withdraw(prefix)?.ok_or(Errno::NO_ENTRY)?;
        self.longest = None;
        Ok(())
    }

    fn apply(&mut self, mut changes: Vec<(Prefix<A>, Option<NextHop>)>) -> Result<()> {
        for (prefix, next_hop) in &mut changes {
            if let Some(next_hop) = next_hop {
                *next_hop = N::number(*prefix, *next_hop)?;
            }
        }
        self.longest = None;
        Ok(self.fib.apply(changes)?)
    }

    fn get(&self, prefix: Prefix<A>) -> Result<Option<NextHop>> {
        let number = self.fib.rib().get(prefix);
        Ok(number.map(|number| N::route((prefix, number)).1))
    }

    fn routes(&self) -> Result<impl Iterator<Item = TypedRoute<A>>> {
        Ok(self.fib.rib().iter().map(N::route))
    }

    fn supernets(&self, of: Prefix<A>) -> Result<impl Iterator<Item = TypedRoute<A>>> {
        Ok(self.fib.rib().supernets(of).map(N::route))
    }

    fn subnets(&self, of: Prefix<A>) -> Result<impl Iterator<Item = TypedRoute<A>>> {
        Ok(self.fib.rib().subnets(of).map(N::route))
    }
}

/// Makes readers: clones of one that never looks up.
pub(crate) struct LiveReaders<A: Address, N> {
    model: Reader<A, CAllocator>,
    kernel: Kernel,
    allocator: CAllocator,
    numbers: PhantomData<N>,
}

impl<A: Address, N: NextHopEncoding<A>> ReaderFactory for LiveReaders<A, N> {
    fn reader(&self) -> Result<*mut CReader> {
        let reader = self.allocator.own(self.model.try_clone()?)?;
        // SAFETY: a box is not null.
        let reader = unsafe { NonNull::new_unchecked(hand_out(reader)) };
        // If `make` fails, it drops this value, which frees the reader.
        let reader = LiveReader {
            guard: None,
            reader,
            kernel: self.kernel,
            allocator: self.allocator,
            numbers: PhantomData::<N>,
        };
        CReader::make(reader, self.allocator)
    }
}

/// A reader, and, while it is online, its guard.
struct LiveReader<A: Address, N> {
    /// Borrows `reader`, which nothing else uses meanwhile.
    guard: Option<Guard<'static, A, CAllocator>>,
    /// From a box; freed after the guard.
    reader: NonNull<Reader<A, CAllocator>>,
    kernel: Kernel,
    allocator: CAllocator,
    numbers: PhantomData<N>,
}

impl<A: Address, N: NextHopEncoding<A>> LiveReader<A, N> {
    /// Uses the reader without a guard.
    #[inline(always)]
    fn with_reader<R>(&self, ask: impl FnOnce(&mut Reader<A, CAllocator>) -> R) -> R {
        assert!(self.guard.is_none());
        let mut reader = self.reader;
        // SAFETY: from a box of `self` that only `drop` frees, no guard borrows it, and whoever asks cannot reach `self`, which is one
        // thread's, so this is the only reference.
        ask(unsafe { reader.as_mut() })
    }

    /// The number that answers an address.
    #[inline(always)]
    fn number(&self, address: A) -> u32 {
        match &self.guard {
            Some(guard) => guard.lookup(address),
            None => self.with_reader(|reader| reader.lookup(address)),
        }
    }

    /// The numbers that answer addresses.
    #[inline(always)]
    fn numbers(&self, addresses: &[A], numbers: &mut [u32]) {
        match &self.guard {
            Some(guard) => guard.lookup_batch_with(self.kernel, addresses, numbers),
            None => self.lookup_batch_offline(addresses, numbers),
        }
    }

    /// A read-side section for these lookups only. A function of its own, so that the registers that it needs
    /// are not saved for a reader that is online.
    #[inline(never)]
    fn lookup_batch_offline(&self, addresses: &[A], next_hops: &mut [u32]) {
        self.with_reader(|reader| {
            let guard = reader.pin();
            guard.lookup_batch_with(self.kernel, addresses, next_hops);
        });
    }
}

impl<A: Address, N: NextHopEncoding<A>> TypedLookups for LiveReader<A, N> {
    type Address = A;

    fn kernel(&self) -> Kernel {
        self.kernel
    }

    #[inline]
    fn lookup(&self, address: A) -> u32 {
        N::next_hop(self.number(address))
    }

    #[inline(always)]
    fn lookup_batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        self.numbers(addresses, next_hops);
        decode::<A, N>(next_hops);
    }

    fn longest_match(&self, address: A) -> Result<Option<TypedRoute<A>>> {
        N::matched(address, self.number(address))
    }

    fn longest_matches(
        &self,
        addresses: &[A],
        found: impl FnMut(usize, Option<TypedRoute<A>>),
    ) -> Result<()> {
        matches::<A, N>(addresses, found, |addresses, numbers| {
            self.numbers(addresses, numbers);
        })
    }
}

impl<A: Address, N: NextHopEncoding<A>> ReaderEngine for LiveReader<A, N> {
    fn quiescent(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.quiescent();
        }
    }

    fn online(&mut self) {
        if self.guard.is_none() {
            let mut reader = self.reader;
            // SAFETY: it lives until `drop` has dropped the guard, and nothing uses it while there is a guard.
            self.guard = Some(unsafe { reader.as_mut() }.pin());
        }
    }

    fn offline(&mut self) {
        self.guard = None;
    }
}

impl<A: Address, N> Drop for LiveReader<A, N> {
    fn drop(&mut self) {
        self.guard = None;
        // SAFETY: made from a box in `reader`, and no guard borrows it any more.
        drop(unsafe { take_back(self.reader.as_ptr(), self.allocator) });
    }
}
