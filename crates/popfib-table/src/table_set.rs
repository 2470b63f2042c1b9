//! [`TableSet`]: the tables of a file with several in, answers to addresses out, each of which says in which table it is looked up.
//!
//! The routes of all tables lead to records of one numbering. So equal parts of tables are equal blocks, which a
//! [`FibSet`] stores once, and a door makes its form of each value once, whatever table an answer is from.

use std::borrow::Cow;
use std::sync::OnceLock;

use hashbrown::HashMap;
use popfib::family::{ByFamily, Family, PerFamily};
use popfib::image::Keep;
use popfib::{CompileError, FibSet, ImageWriter, Kernel, Options, Rib, longest};

use crate::error::TableError;
use crate::family::{FamilyTable, FamilyTables};

/// Tables by name, which a [`Table`](crate::Table) has [beside](crate::Table::set) its records. Each is compiled when something is first looked up.
#[derive(Debug)]
pub struct TableSet {
    names: Vec<String>,
    ids: HashMap<String, u32>,
    families: ByFamily<FamilySets>,
}

/// Makes [`ByFamily`] the routes of all tables.
#[derive(Debug)]
enum FamilySets {}

impl PerFamily for FamilySets {
    type Of<A: Family> = FamilySet<A>;
}

type LazySet<A> = OnceLock<Result<FibSet<A>, CompileError>>;

#[derive(Debug)]
struct FamilySet<A: Family> {
    tables: Vec<FamilyTable<A>>,
    /// Of values, and of matches.
    sets: [LazySet<A>; 2],
}

impl<A: Family> FamilySet<A> {
    fn compile(&self, with_prefixes: bool) -> Result<FibSet<A>, CompileError> {
        let fibs = self.tables.iter();
        let fibs = fibs.map(|table| table.fib_of_image(with_prefixes));
        if let Some(fibs) = fibs.collect::<Option<Vec<_>>>()
            && let Some(set) = FibSet::of_fibs(&fibs)?
        {
            return Ok(set);
        }
        let options = Options::default();
        // Of images they were asked for when these were read.
        let ribs = self.tables.iter().filter_map(|table| table.rib().ok());
        let ribs: Vec<_> = ribs.collect();
        if !with_prefixes {
            return FibSet::compile(ribs.iter().map(Cow::as_ref), &options);
        }
        let number = |(prefix, number)| Ok((prefix, longest::number(prefix, number)?));
        let ribs = ribs.iter();
        let ribs = ribs.map(|rib| rib.iter().map(number).collect::<Result<_, CompileError>>());
        let ribs = ribs.collect::<Result<Vec<Rib<A>>, _>>()?;
        FibSet::compile(&ribs, &options)
    }
}

impl TableSet {
    /// The table that no table is.
    pub const NONE: u32 = u32::MAX;

    /// Names by which the table without a name can be called, too, as routers and kernels call it.
    pub const MAIN: [&str; 3] = ["main", "default", "254"];

    pub(crate) fn new(tables: Vec<(String, ByFamily<FamilyTables>)>) -> Self {
        let (mut names, mut ids) = (Vec::new(), HashMap::new());
        let (mut ipv4, mut ipv6) = (Vec::new(), Vec::new());
        for (id, (name, table)) in (0..).zip(tables) {
            ids.entry(name.clone()).or_insert(id);
            names.push(name);
            ipv4.push(table.ipv4);
            ipv6.push(table.ipv6);
        }
        if let Some(&main) = ids.get("") {
            for name in Self::MAIN {
                ids.entry(name.to_owned()).or_insert(main);
            }
        }
        let ipv4 = FamilySet {
            tables: ipv4,
            sets: Default::default(),
        };
        let ipv6 = FamilySet {
            tables: ipv6,
            sets: Default::default(),
        };
        let families = ByFamily { ipv4, ipv6 };
        Self {
            names,
            ids,
            families,
        }
    }

    /// The names of the tables, in the order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of the table of this name: tables are numbered from 0 in the order of the file. Expected constant time.
    #[inline]
    pub fn id(&self, name: &str) -> Option<u32> {
        self.ids.get(name).copied()
    }

    /// Puts the routes of the table of this number into the one that was [begun](ImageWriter::table) in an image.
    ///
    /// # Errors
    /// Those of [`ImageWriter::family`].
    ///
    /// # Panics
    /// If there is no such table, or none was begun.
    pub fn write(
        &self,
        id: usize,
        writer: &mut ImageWriter,
        options: &Options,
        keep: Keep,
    ) -> Result<(), TableError> {
        let ByFamily { ipv4, ipv6 } = &self.families;
        writer.family(&*ipv4.tables[id].rib()?, options, keep)?;
        writer.family(&*ipv6.tables[id].rib()?, options, keep)?;
        Ok(())
    }

    /// Puts the number of each address's record in the table of this number into `numbers`, 0 for no match or no such table; with
    /// prefixes the number of its match, as [`FamilyTable::matched`](crate::FamilyTable::matched) takes it apart. The slices are of
    /// one length. The first call of each kind compiles the tables, others wait.
    ///
    /// # Errors
    /// As [`FibSet::compile`] and [`longest::number`].
    pub fn numbers<A: Family>(
        &self,
        with_prefixes: bool,
        kernel: Kernel,
        (tables, addresses): (&[u32], &[A]),
        numbers: &mut [u32],
    ) -> Result<(), TableError> {
        let set = self.fibs(with_prefixes)?;
        set.lookup_batch_with(kernel, tables, addresses, numbers);
        Ok(())
    }

    /// The tables of a family as [`numbers`](Self::numbers) looks up in them, with its errors.
    ///
    /// # Errors
    /// As [`FibSet::compile`] and [`longest::number`].
    pub fn fibs<A: Family>(&self, with_prefixes: bool) -> Result<&FibSet<A>, TableError> {
        let family = A::of(&self.families);
        let set = &family.sets[usize::from(with_prefixes)];
        let set = set.get_or_init(|| family.compile(with_prefixes));
        Ok(set.as_ref().map_err(CompileError::clone)?)
    }

    /// The number of routes of a family in all tables.
    pub fn route_count<A: Family>(&self) -> usize {
        let tables = A::of(&self.families).tables.iter();
        tables.map(FamilyTable::route_count).sum()
    }
}
