//! [`FamilyTable`]: the routes of one family in, a record's number for each address out, or the matching prefix with it.
//!
//! The routes are in a Rib or in an image. Two Fibs answer for them: one has values alone, the other longest matches. An image has
//! them as it was compiled. Those of a Rib are compiled when they are first asked for, once, however many threads ask: most programs
//! need only one of the two, and one that looks up a few addresses needs none.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

use popfib::family::{Family, PerFamily};
use popfib::image::{ImageFamily, ImageTable};
use popfib::{CompileError, Fib, Kernel, NextHop, Options, Prefix, Rib, longest};

use crate::error::TableError;

/// Makes [`ByFamily`](popfib::family::ByFamily) a Rib for each family.
#[derive(Clone, Copy, Debug)]
pub enum Ribs {}

impl PerFamily for Ribs {
    type Of<A: Family> = Rib<A>;
}

/// The routes of one family of a [`Table`](crate::Table). Threads may share it.
///
/// Answers are numbers of records, from 1 on; 0 is no match.
#[derive(Clone, Debug)]
pub struct FamilyTable<A: Family>(FamilyStorage<A>);

/// Makes of [`ByFamily`](popfib::family::ByFamily) the routes of both families of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FamilyTables {}

impl PerFamily for FamilyTables {
    type Of<A: Family> = FamilyTable<A>;
}

/// Where the routes of a family are, and their Fibs.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant)] // A table has two, and a box would be a step of each lookup.
enum FamilyStorage<A: Family> {
    Rib {
        rib: Rib<A>,
        fib: OnceLock<Result<Fib<A>, CompileError>>,
        longest: OnceLock<Result<Fib<A>, CompileError>>,
    },
    /// The Fibs share the image's memory.
    Image {
        image: ImageTable,
        fib: Option<Fib<A>>,
        longest: Option<Fib<A>>,
    },
}

/// Answers the number of an address's route, where a table answers that of its record. Made by [`FamilyTable::number_routes`].
#[derive(Clone, Debug)]
pub struct RouteNumbers<A: Family>(Fib<A>);

impl<A: Family> RouteNumbers<A> {
    /// Puts the number of each address's route into `numbers`, 0 for no match. `numbers` is as long as `addresses`.
    pub fn numbers(&self, kernel: Kernel, addresses: &[A], numbers: &mut [u32]) {
        self.0.lookup_batch_with(kernel, addresses, numbers);
    }
}

impl<A: Family> From<Rib<A>> for FamilyTable<A> {
    fn from(rib: Rib<A>) -> Self {
        Self(FamilyStorage::Rib {
            rib,
            fib: OnceLock::new(),
            longest: OnceLock::new(),
        })
    }
}

impl<A: Family> FamilyTable<A> {
    /// The routes of a family in an image; none if the image has none of it.
    pub(crate) fn of_image(image: &ImageTable) -> Self {
        let family = image.family::<A>();
        let Some(family) = family.filter(|family| family.route_count() > 0) else {
            return Self::from(Rib::new());
        };
        Self(FamilyStorage::Image {
            image: image.clone(),
            fib: family.fib().cloned(),
            longest: family.longest_fib().cloned(),
        })
    }

    fn image(&self) -> Option<&ImageFamily<A>> {
        match &self.0 {
            FamilyStorage::Rib { .. } => None,
            FamilyStorage::Image { image, .. } => image.family(),
        }
    }

    /// The Fib of values or of matches of an image; `Some(None)` of a table without routes. `None` if it is to be compiled.
    pub(crate) fn fib_of_image(&self, with_prefixes: bool) -> Option<Option<&Fib<A>>> {
        match &self.0 {
            FamilyStorage::Rib { rib, .. } => rib.is_empty().then_some(None),
            FamilyStorage::Image { longest, .. } if with_prefixes => longest.as_ref().map(Some),
            FamilyStorage::Image { fib, .. } => fib.as_ref().map(Some),
        }
    }

    fn own(&self) -> Option<&Rib<A>> {
        match &self.0 {
            FamilyStorage::Rib { rib, .. } => Some(rib),
            FamilyStorage::Image { .. } => None,
        }
    }

    /// The number of routes; an image that was compiled without them knows it, too. O(1).
    pub fn route_count(&self) -> usize {
        let own = self.own().map(Rib::len);
        own.or_else(|| Some(self.image()?.route_count()))
            .unwrap_or(0)
    }

    /// Whether the routes themselves are there: false for an image that was compiled without them.
    pub fn has_routes(&self) -> bool {
        self.image().is_none_or(ImageFamily::has_routes)
    }

    /// Whether longest matches can be asked for: false for an image of values alone.
    pub fn has_prefixes(&self) -> bool {
        match &self.0 {
            FamilyStorage::Rib { .. } => true,
            FamilyStorage::Image { longest, .. } => longest.is_some(),
        }
    }

    /// The Fib of values. The first call compiles it, others wait.
    ///
    /// # Errors
    /// [`TableError::NoValues`], and as [`Fib::compile`].
    #[inline]
    pub fn fib(&self) -> Result<&Fib<A>, TableError> {
        match &self.0 {
            FamilyStorage::Image { fib, .. } => fib.as_ref().ok_or(TableError::NoValues),
            FamilyStorage::Rib { rib, fib, .. } => {
                let fib = fib.get_or_init(|| Fib::compile(rib, &Options::default()));
                fib.as_ref().map_err(|error| error.clone().into())
            }
        }
    }

    /// The Fib of [longest matches](popfib::longest). The first call compiles it, others wait.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`], and as [`longest::compile`].
    #[inline]
    pub fn longest(&self) -> Result<&Fib<A>, TableError> {
        match &self.0 {
            FamilyStorage::Image {
                longest: Some(longest),
                ..
            } => Ok(longest),
            FamilyStorage::Image { .. } => Err(TableError::NoRoutes),
            FamilyStorage::Rib { rib, longest, .. } => {
                let compile = || longest::compile(rib, &Options::default());
                let longest = longest.get_or_init(compile);
                longest.as_ref().map_err(|error| error.clone().into())
            }
        }
    }

    /// The number of the record of the longest prefix that contains `address`; 0 if there is none. It asks the Fib if that is
    /// compiled, otherwise the routes: for a few addresses a compilation takes longer than all of their lookups.
    #[inline]
    pub fn lookup(&self, address: A) -> u32 {
        let compiled = match &self.0 {
            FamilyStorage::Image { fib, longest, .. } => match (fib, longest) {
                (None, Some(longest)) => {
                    return Self::value_of_match(longest.lookup(address));
                }
                (fib, _) => fib.as_ref(),
            },
            FamilyStorage::Rib { fib, .. } => fib.get().and_then(|fib| fib.as_ref().ok()),
        };
        match compiled {
            Some(fib) => fib.lookup(address),
            None => self
                .match_in_rib(address)
                .map_or(0, |(_, number)| number.get()),
        }
    }

    /// The longest prefix that contains `address`, and the number of its record. It compiles nothing, as [`lookup`](Self::lookup).
    ///
    /// # Errors
    /// [`TableError::NoRoutes`].
    #[inline]
    pub fn longest_match(&self, address: A) -> Result<Option<(Prefix<A>, NextHop)>, TableError> {
        let compiled = match &self.0 {
            FamilyStorage::Image { longest, .. } => longest.as_ref(),
            FamilyStorage::Rib { longest, .. } => longest.get().and_then(|fib| fib.as_ref().ok()),
        };
        match compiled {
            Some(longest) => Ok(longest::matched(address, longest.lookup(address))),
            None => match self.has_prefixes() {
                true => Ok(self.match_in_rib(address)),
                false => Err(TableError::NoRoutes),
            },
        }
    }

    /// The longest match in the Rib, if there is one.
    #[inline(never)]
    fn match_in_rib(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        self.own()?.longest_match(address)
    }

    fn with_routes<T>(&self, found: T) -> Result<T, TableError> {
        match self.has_routes() {
            true => Ok(found),
            false => Err(TableError::NoRoutes),
        }
    }

    /// All routes in prefix order.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`].
    pub fn routes(&self) -> Result<impl Iterator<Item = (Prefix<A>, NextHop)> + '_, TableError> {
        let own = self.own().into_iter().flat_map(Rib::iter);
        let image = self.image().into_iter().flat_map(ImageFamily::routes);
        self.with_routes(own.chain(image))
    }

    /// The routes that cover `prefix`, including `prefix` itself, the shortest first.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`].
    pub fn supernets(
        &self,
        prefix: Prefix<A>,
    ) -> Result<impl Iterator<Item = (Prefix<A>, NextHop)> + '_, TableError> {
        let own = self.own().map(|rib| rib.supernets(prefix));
        let image = self.image().map(|table| table.supernets(prefix));
        let image = image.into_iter().flatten();
        self.with_routes(own.into_iter().flatten().chain(image))
    }

    /// The routes as a Rib: the table's own, or one that is made of an image's.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`].
    pub fn rib(&self) -> Result<Cow<'_, Rib<A>>, TableError> {
        self.with_routes(match self.own() {
            Some(rib) => Cow::Borrowed(rib),
            None => Cow::Owned(self.image().map_or_else(Rib::new, ImageFamily::rib)),
        })
    }

    /// Puts the number of each address's record into `numbers`, 0 for no match. `numbers` is as long as `addresses`.
    ///
    /// # Errors
    /// As [`fib`](Self::fib).
    #[inline]
    pub fn value_numbers(
        &self,
        kernel: Kernel,
        addresses: &[A],
        numbers: &mut [u32],
    ) -> Result<(), TableError> {
        match self.fib() {
            Ok(fib) => fib.lookup_batch_with(kernel, addresses, numbers),
            Err(TableError::NoValues) => {
                self.match_numbers(kernel, addresses, numbers)?;
                for number in numbers {
                    *number = Self::value_of_match(*number);
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Puts the number of each address's match into `numbers`, 0 for none; [`matched`](Self::matched) makes prefix and record of it.
    ///
    /// # Errors
    /// As [`longest`](Self::longest).
    #[inline]
    pub fn match_numbers(
        &self,
        kernel: Kernel,
        addresses: &[A],
        numbers: &mut [u32],
    ) -> Result<(), TableError> {
        let fib = self.longest()?;
        fib.lookup_batch_with(kernel, addresses, numbers);
        Ok(())
    }

    /// The prefix of the match of `address` with this number, and the number of its record. O(1).
    #[inline(always)]
    pub fn matched(address: A, number: u32) -> Option<(Prefix<A>, NextHop)> {
        longest::matched(address, number)
    }

    /// The number of the record of the match with this number, 0 for no match. O(1).
    #[inline(always)]
    pub fn value_of_match(number: u32) -> u32 {
        longest::next_hop::<A>(number)
    }

    /// Numbers the routes from 1 on in prefix order, hands each with the number of its record to `each` in this order, and returns
    /// what answers these numbers: for callers that keep something for each route.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`], and as [`Fib::compile`].
    pub fn number_routes(
        &self,
        mut each: impl FnMut(Prefix<A>, NextHop),
    ) -> Result<RouteNumbers<A>, TableError> {
        let mut next = NextHop::MIN;
        let numbered = self.routes()?.map(|(prefix, value)| {
            each(prefix, value);
            let number = next;
            // A Rib holds fewer routes than there are numbers.
            next = number.saturating_add(1);
            (prefix, number)
        });
        let numbered: Rib<A> = numbered.collect();
        let fib = Fib::compile(&numbered, &Options::default())?;
        Ok(RouteNumbers(fib))
    }

    /// How many different records the routes of this family have. O(routes); O(1) in an image.
    pub fn value_count(&self) -> usize {
        match self.own() {
            Some(rib) => {
                let values: HashSet<_> = rib.iter().map(|(_, number)| number).collect();
                values.len()
            }
            None => self.image().map_or(0, ImageFamily::next_hop_count),
        }
    }

    /// The bytes of the Rib and of the Fibs compiled so far, without those of an image.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            FamilyStorage::Image { .. } => 0,
            FamilyStorage::Rib { rib, fib, longest } => {
                let fib = fib.get().and_then(|fib| fib.as_ref().ok());
                let longest = longest.get().and_then(|longest| longest.as_ref().ok());
                rib.bytes() + fib.map_or(0, Fib::bytes) + longest.map_or(0, Fib::bytes)
            }
        }
    }
}
