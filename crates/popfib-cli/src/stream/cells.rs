//! Rows with several cells, or with several addresses in one: a batch and its answers in, the text of each row out, put together
//! column by column.
//!
//! Ready texts (`answer_texts`) do not serve here: a column is that of a cell and a table, and may have the values of several
//! addresses.

use std::net::IpAddr;

use popfib::NextHop;
use popfib_formats::AddressBatch;
use popfib_formats::addresses::AddressRun;
use popfib_table::{Cell, PrefixText};

use super::form::{LineForm, address_name, text};
use super::rows::LineLead;
use super::table::NamedTable;
use super::table_texts::FamilyAnswers;

/// Goes through a batch, cell by cell.
pub(super) struct BatchCells<'b> {
    batch: &'b AddressBatch,
    ipv4: FamilyAnswers<'b, u32>,
    ipv6: FamilyAnswers<'b, u128>,
    form: &'b LineForm,
    lead: LineLead,
    /// How many addresses each of the cells that follow has.
    counts: std::slice::Iter<'b, u32>,
    runs: std::slice::Iter<'b, AddressRun>,
    /// What is left of the run at hand.
    run: AddressRun,
    next_ipv4: usize,
    next_ipv6: usize,
    /// The addresses of the cell at hand.
    found: Vec<BatchAddress>,
    /// Their answers: the prefixes, and the numbers of the records.
    prefixes: Vec<Option<PrefixText>>,
    numbers: Vec<Option<NextHop>>,
    text: Vec<u8>,
}

/// An address, by its place among those of its family in the batch.
#[derive(Clone, Copy)]
enum BatchAddress {
    Ipv4(usize),
    Ipv6(usize),
}

impl<'b> BatchCells<'b> {
    pub(super) fn new(
        batch: &'b AddressBatch,
        ipv4: FamilyAnswers<'b, u32>,
        ipv6: FamilyAnswers<'b, u128>,
        form: &'b LineForm,
        lead: LineLead,
    ) -> Self {
        Self {
            batch,
            ipv4,
            ipv6,
            form,
            lead,
            counts: batch.cells().iter(),
            runs: batch.runs().iter(),
            run: AddressRun::Missing(0),
            next_ipv4: 0,
            next_ipv6: 0,
            found: Vec::new(),
            prefixes: Vec::new(),
            numbers: Vec::new(),
            text: Vec::new(),
        }
    }

    /// What is written for the next row, whose cells have these names.
    pub(super) fn row(
        &mut self,
        names: &[String],
        tables: &[NamedTable],
        takes_all: bool,
    ) -> &[u8] {
        self.text.clear();
        for name in names {
            self.next_cell();
            if matches!(self.lead, LineLead::Address | LineLead::AddressOfLine) {
                self.addresses(name, takes_all);
            }
            for (index, table) in tables.iter().enumerate() {
                self.answers(name, index, table, takes_all);
            }
        }
        // Each column begins with a separator; the first of a line has none.
        match (self.lead, self.form) {
            (LineLead::Row, _) => &self.text,
            (_, LineForm::Json) => {
                self.text[0] = b'{';
                &self.text
            }
            _ => &self.text[1..],
        }
    }

    /// Takes the addresses of the next cell.
    fn next_cell(&mut self) {
        self.found.clear();
        let count = self.counts.next().map_or(0, |&count| count);
        for _ in 0..count.max(1) {
            while matches!(
                self.run,
                AddressRun::Ipv4(0) | AddressRun::Ipv6(0) | AddressRun::Missing(0)
            ) {
                self.run = *self.runs.next().expect("each cell has a run");
            }
            match &mut self.run {
                AddressRun::Ipv4(left) => {
                    *left -= 1;
                    self.found.push(BatchAddress::Ipv4(self.next_ipv4));
                    self.next_ipv4 += 1;
                }
                AddressRun::Ipv6(left) => {
                    *left -= 1;
                    self.found.push(BatchAddress::Ipv6(self.next_ipv6));
                    self.next_ipv6 += 1;
                }
                AddressRun::Missing(left) => *left -= 1,
            }
        }
    }

    /// Writes the addresses of the cell.
    fn addresses(&mut self, name: &str, takes_all: bool) {
        let show = |&found: &BatchAddress| match found {
            BatchAddress::Ipv4(at) => IpAddr::V4(self.batch.ipv4()[at].into()).to_string(),
            BatchAddress::Ipv6(at) => IpAddr::V6(self.batch.ipv6()[at].into()).to_string(),
        };
        let shown: Vec<String> = self.found.iter().map(show).collect();
        write(
            self.form,
            address_name(name),
            shown.iter().map(|shown| Some(text(shown))),
            takes_all,
            &mut self.text,
        );
    }

    /// Writes the answers of a table to the addresses of the cell.
    fn answers(&mut self, name: &str, index: usize, table: &NamedTable, takes_all: bool) {
        self.prefixes.clear();
        self.numbers.clear();
        for &found in &self.found {
            let answer = match found {
                BatchAddress::Ipv4(at) => self.ipv4.answer(index, at),
                BatchAddress::Ipv6(at) => self.ipv6.answer(index, at),
            };
            let (prefix, number) = answer.unzip();
            self.prefixes.push(prefix.flatten().map(PrefixText::new));
            self.numbers.push(number);
        }
        let mut columns = table.columns(name).into_iter();
        if table.with_prefixes {
            let prefixes = self.prefixes.iter();
            let prefixes = prefixes.map(|prefix| Some(text(prefix.as_ref()?.as_str())));
            let name = columns.next().unwrap_or_default();
            write(self.form, &name, prefixes, takes_all, &mut self.text);
        }
        for (column, name) in columns.enumerate() {
            let numbers = self.numbers.iter();
            let cells = numbers.map(|number| table.cell((*number)?, column));
            write(self.form, &name, cells, takes_all, &mut self.text);
        }
    }
}

/// Writes a column: the value of the only address or none, or those of all addresses of the cell if it may have several.
fn write<'c>(
    form: &LineForm,
    name: &str,
    mut cells: impl ExactSizeIterator<Item = Option<Cell<'c>>>,
    takes_all: bool,
    to: &mut Vec<u8>,
) {
    if takes_all {
        form.columns(name, cells, to);
    } else {
        form.column(name, cells.next().flatten(), to);
    }
}
