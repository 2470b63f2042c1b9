//! Rows with several cells, or with several addresses in one: a batch and its answers in, the text of each row out, put together
//! column by column.
//!
//! Ready texts (`answer_texts`) do not serve here: a column is that of a cell and a table, and may have the values of several
//! addresses.

use std::net::IpAddr;

use popfib::NextHop;
use popfib_table::{Cell, PrefixText};

use super::form::{LineForm, address_name};
use super::rows::LineLead;
use super::table::NamedTable;
use super::table_texts::FamilyAnswers;
use crate::records::text;

/// Goes through a batch, cell by cell.
pub(super) struct BatchCells<'b, I> {
    /// The addresses that follow, each with its place among those of its family.
    addresses: I,
    ipv4: FamilyAnswers<'b, u32>,
    ipv6: FamilyAnswers<'b, u128>,
    form: &'b LineForm,
    lead: LineLead,
    /// How many addresses each of the cells that follow has.
    counts: std::slice::Iter<'b, u32>,
    /// The addresses of the cell at hand.
    found: Vec<(IpAddr, usize)>,
    /// Their answers: the prefixes, and the numbers of the records.
    prefixes: Vec<Option<PrefixText>>,
    numbers: Vec<Option<NextHop>>,
    text: Vec<u8>,
}

impl<'b, I: Iterator<Item = Option<(IpAddr, usize)>>> BatchCells<'b, I> {
    /// Goes through cells that have so many of `addresses` each.
    pub(super) fn new(
        addresses: I,
        counts: &'b [u32],
        ipv4: FamilyAnswers<'b, u32>,
        ipv6: FamilyAnswers<'b, u128>,
        form: &'b LineForm,
        lead: LineLead,
    ) -> Self {
        Self {
            addresses,
            ipv4,
            ipv6,
            form,
            lead,
            counts: counts.iter(),
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
        let rows = self.addresses.by_ref().take(count.max(1) as usize);
        self.found.extend(rows.flatten());
    }

    /// Writes the addresses of the cell.
    fn addresses(&mut self, name: &str, takes_all: bool) {
        let found = self.found.iter();
        let shown: Vec<String> = found.map(|(address, _)| address.to_string()).collect();
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
        for &(address, at) in &self.found {
            let answer = match address {
                IpAddr::V4(_) => self.ipv4.answer(index, at),
                IpAddr::V6(_) => self.ipv6.answer(index, at),
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
