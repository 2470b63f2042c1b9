//! `--table-column`: rows that name the table of their addresses in, the number of a table for each address out.
//!
//! The addresses of a batch are looked up in all of the tables in one call, however many these are
//! ([`TableSet`]).

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use clap::Args;
use popfib::family::{ByFamily, Family, PerFamily};
use popfib_formats::AddressBatch;
use popfib_formats::addresses::ColumnId;
use popfib_formats::text::counted;
use popfib_program::failure::Failure;
use popfib_table::TableSet;

use super::row_part::RowPart;
use super::source::StreamSource;
use super::{InputArgs, parse_column};
use crate::args::ReadArgs;
use crate::output::note;

/// Which table each row is looked up in.
#[derive(Args, Default)]
#[command(next_help_heading = "Tables")]
pub(crate) struct TableChoice {
    /// Look up each line in the table that it names in this field, column or path
    ///
    /// The number of a field, the name or number of a column, or the path of a JSON object, where the name of a table stands. The
    /// tables are all of an image or router's output with several; that without a name is also called main. A line that
    /// names none of them has no match, which a note counts.
    #[arg(
        hide_short_help = true,
        long = "table-column",
        value_name = "N|NAME|PATH",
        conflicts_with_all = ["vrf", "live"]
    )]
    asked: Option<String>,

    /// Where it stands in the file at hand.
    #[arg(skip)]
    part: RwLock<Option<RowPart>>,

    /// How many lines named no table, and what the first of them said.
    #[arg(skip)]
    unknown: AtomicU64,
    #[arg(skip)]
    first: OnceLock<String>,
}

/// Makes [`ByFamily`] the number of the table of each address; empty if there is one table.
pub(crate) enum TableNumbers {}

impl PerFamily for TableNumbers {
    type Of<A: Family> = Vec<u32>;
}

/// Addresses, and the number of the table of each if there are several.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a, A> {
    pub(crate) addresses: &'a [A],
    pub(crate) tables: &'a [u32],
}

/// The addresses of a batch, with the numbers of their tables.
pub(crate) fn asked<'a>(
    batch: &'a AddressBatch,
    tables: &'a ByFamily<TableNumbers>,
) -> (Asked<'a, u32>, Asked<'a, u128>) {
    let ipv4 = Asked {
        addresses: batch.ipv4(),
        tables: &tables.ipv4[..],
    };
    let ipv6 = Asked {
        addresses: batch.ipv6(),
        tables: &tables.ipv6[..],
    };
    (ipv4, ipv6)
}

impl TableChoice {
    /// Whether it is asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Asks for every table of a file, if a column says which is meant.
    pub(crate) fn ask(&self, read: &mut ReadArgs) {
        read.every_table = self.is_asked();
    }

    /// As what a column of a Parquet file is called.
    fn column(&self) -> Result<Option<ColumnId>, Failure> {
        Ok(self.asked.as_deref().map(parse_column).transpose()?)
    }

    /// Asks for the column as the text of rows, where nothing else is.
    pub(crate) fn ask_rows(&self, input: &mut InputArgs) -> Result<(), Failure> {
        input.row_text = input.row_text.take().or(self.column()?);
        Ok(())
    }

    /// The file `name` begins.
    pub(crate) fn open(
        &self,
        name: &str,
        source: &StreamSource,
        input: &InputArgs,
    ) -> Result<(), Failure> {
        if source.is_parquet() && self.is_asked() && input.row_text != self.column()? {
            let reason = "a Parquet file has --weight or --table-column";
            return Err(format!("{name}: {reason}").into());
        }
        let delimiter = input.delimiter;
        let part = |asked: &String| RowPart::new("--table-column", asked, delimiter, name, source);
        let part = self.asked.as_ref().map(part).transpose()?;
        *self.part.write().unwrap_or_else(PoisonError::into_inner) = part;
        Ok(())
    }

    /// The number of the table of each address of `batch`, [`TableSet::NONE`] if there is no such table.
    pub(crate) fn numbers(
        &self,
        batch: &AddressBatch,
        set: Option<&TableSet>,
    ) -> ByFamily<TableNumbers> {
        let mut numbers = ByFamily::<TableNumbers>::default();
        let part = self.part.read().unwrap_or_else(PoisonError::into_inner);
        let (Some(part), Some(set)) = (&*part, set) else {
            return numbers;
        };
        let mut addresses = batch.iter();
        // Of each row, if rows have several addresses.
        let cells = batch.cells().len() / batch.rows().len().max(1);
        let mut cells = batch.cells().chunks(cells.max(1));
        part.each(batch, |name| {
            let count = cells.next().map_or(1, |cells| {
                cells.iter().map(|&count| count.max(1) as usize).sum()
            });
            let id = set.id(name);
            let mut is_any = false;
            for (address, _) in addresses.by_ref().take(count).flatten() {
                is_any = true;
                match address {
                    IpAddr::V4(_) => numbers.ipv4.push(id.unwrap_or(TableSet::NONE)),
                    IpAddr::V6(_) => numbers.ipv6.push(id.unwrap_or(TableSet::NONE)),
                }
            }
            if id.is_none() && is_any {
                self.unknown.fetch_add(1, Ordering::Relaxed);
                self.first.get_or_init(|| name.to_owned());
            }
        });
        numbers
    }

    /// Says how many lines named none of the tables.
    pub(crate) fn note(&self) {
        if let Some(first) = self.first.get() {
            let lines = counted(self.unknown.load(Ordering::Relaxed), "line");
            note!("{lines} of unknown tables, the first of {first:?}");
        }
    }
}
