//! Rows with several cells, or several addresses in one: their answers, column by column.

use std::net::IpAddr;

use popfib_formats::{AddressBatch, Run};

use super::form::{Form, address_name};
use super::page::Page;
use super::rows::Lead;
use super::table::NamedTable;
use super::written::Texted;

/// Goes through the cells of a batch.
pub(super) struct Cells<'b> {
    batch: &'b AddressBatch,
    ipv4: Texted<'b, u32>,
    ipv6: Texted<'b, u128>,
    form: &'b Form,
    lead: Lead,
    counts: std::slice::Iter<'b, u32>,
    runs: std::slice::Iter<'b, Run>,
    /// What is left of the run at hand.
    run: Run,
    next_ipv4: usize,
    next_ipv6: usize,
    /// The addresses of the cell at hand.
    found: Vec<Found>,
    /// Their answers as they are, one by one.
    page: Page,
    /// Where the text of each ends, and whether there was a match.
    ends: Vec<(usize, bool)>,
    text: Vec<u8>,
}

/// An address by its place in the batch.
#[derive(Clone, Copy)]
enum Found {
    Ipv4(usize),
    Ipv6(usize),
}

impl<'b> Cells<'b> {
    pub(super) fn new(
        batch: &'b AddressBatch,
        ipv4: Texted<'b, u32>,
        ipv6: Texted<'b, u128>,
        form: &'b Form,
        lead: Lead,
    ) -> Self {
        Self {
            batch,
            ipv4,
            ipv6,
            form,
            lead,
            counts: batch.cells().iter(),
            runs: batch.runs().iter(),
            run: Run::Missing(0),
            next_ipv4: 0,
            next_ipv6: 0,
            found: Vec::new(),
            page: Page::new(),
            ends: Vec::new(),
            text: Vec::new(),
        }
    }

    /// The answers of the next row, whose cells have these names.
    pub(super) fn row(
        &mut self,
        names: &[String],
        tables: &[NamedTable],
        takes_all: bool,
    ) -> &[u8] {
        self.text.clear();
        for name in names {
            self.next_cell();
            if self.lead == Lead::Address {
                self.addresses(name, takes_all);
            }
            for (index, table) in tables.iter().enumerate() {
                self.answers(name, index, table, takes_all);
            }
        }
        // Columns begin with what separates them from those before.
        match (self.lead, self.form) {
            (Lead::Row, _) => &self.text,
            (_, Form::Json) => {
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
            while matches!(self.run, Run::Ipv4(0) | Run::Ipv6(0) | Run::Missing(0)) {
                self.run = *self.runs.next().expect("each cell has a run");
            }
            match &mut self.run {
                Run::Ipv4(left) => {
                    *left -= 1;
                    self.found.push(Found::Ipv4(self.next_ipv4));
                    self.next_ipv4 += 1;
                }
                Run::Ipv6(left) => {
                    *left -= 1;
                    self.found.push(Found::Ipv6(self.next_ipv6));
                    self.next_ipv6 += 1;
                }
                Run::Missing(left) => *left -= 1,
            }
        }
    }

    /// Writes the addresses of the cell.
    fn addresses(&mut self, name: &str, takes_all: bool) {
        let show = |&found: &Found| match found {
            Found::Ipv4(at) => IpAddr::V4(self.batch.ipv4()[at].into()).to_string(),
            Found::Ipv6(at) => IpAddr::V6(self.batch.ipv6()[at].into()).to_string(),
        };
        let shown: Vec<String> = self.found.iter().map(show).collect();
        let shown: Vec<_> = shown.iter().map(|text| Some(text.as_str())).collect();
        write(
            self.form,
            address_name(name),
            &shown,
            takes_all,
            &mut self.text,
        );
    }

    /// Writes the answers of a table to the addresses of the cell.
    fn answers(&mut self, name: &str, index: usize, table: &NamedTable, takes_all: bool) {
        self.page.clear();
        self.ends.clear();
        for &found in &self.found {
            let page = &mut self.page;
            let is_match = match found {
                Found::Ipv4(at) => self.ipv4.write(index, at, page),
                Found::Ipv6(at) => self.ipv6.write(index, at, page),
            };
            self.ends.push((self.page.bytes().len(), is_match));
        }
        let (mut prefixes, mut values) = (Vec::new(), Vec::new());
        let mut start = 0;
        for &(end, is_match) in &self.ends {
            let answer = std::str::from_utf8(&self.page.bytes()[start..end]).unwrap_or_default();
            start = end;
            let (prefix, value) = match table.with_prefixes {
                true => answer.split_once('\t').unwrap_or_default(),
                false => ("", answer),
            };
            prefixes.push(is_match.then_some(prefix));
            values.push(is_match.then_some(value));
        }
        let columns = table.columns(name);
        for (name, texts) in columns.iter().rev().zip([&values, &prefixes]).rev() {
            write(self.form, name, texts, takes_all, &mut self.text);
        }
    }
}

/// Writes a column of one text or none, or of all.
fn write(form: &Form, name: &str, texts: &[Option<&str>], takes_all: bool, to: &mut Vec<u8>) {
    if takes_all {
        form.columns(name, texts, to);
    } else {
        form.column(name, texts.first().copied().flatten(), to);
    }
}
