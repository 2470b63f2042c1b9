//! Batches of addresses into lines of text, at the speed of copying.
//!
//! The usual case, one address a row, writes texts that are ready for each answer (`answer_texts`). Where a
//! row has several cells or a cell several addresses, columns are put together one by one (`cells`).

use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use popfib::Kernel;
use popfib::family::Family;
use popfib_formats::addresses::AddressRun;
use popfib_formats::{AddressBatch, Anonymizer, Escaped};
use popfib_table::write_ip;

use super::answer_texts::{AHEAD, AnswerTexts, AnyAnswerTexts};
use super::cells::Cells;
use super::form::{AnswerForm, Form, address_name};
use super::members::Members;
use super::page::Page;
use super::rows::{Lead, Row};
use super::table::NamedTable;
use super::written::{Texted, Written, compile, indices, lead, without_texts};
use crate::failure::Failure;

/// What is asked about each address, and of whom.
#[derive(Clone)]
pub(crate) struct Query {
    pub(crate) tables: Arc<[NamedTable]>,
    pub(crate) kernel: Kernel,
    /// What the cells of a row are called; one of no name where there is one.
    pub(crate) cells: Vec<String>,
    /// Whether a cell may have several addresses.
    pub(crate) takes_all: bool,
    /// What stands in place of addresses in what is written.
    pub(crate) anonymizer: Option<Arc<Anonymizer>>,
}

impl Query {
    /// The names of the columns of answers, in order.
    pub(crate) fn columns(&self) -> impl Iterator<Item = String> {
        self.cells.iter().flat_map(|cell| self.columns_of(cell))
    }

    /// The same where lines begin with addresses, and those of the addresses.
    pub(crate) fn address_columns(&self) -> Vec<String> {
        let of_cell = |cell: &String| {
            let address = address_name(cell).to_owned();
            [address].into_iter().chain(self.columns_of(cell))
        };
        self.cells.iter().flat_map(of_cell).collect()
    }

    fn columns_of(&self, cell: &str) -> Vec<String> {
        let tables = self.tables.iter();
        tables.flat_map(|table| table.columns(cell)).collect()
    }

    /// Whether each row has one address or none.
    pub(crate) fn is_single(&self) -> bool {
        self.cells.len() == 1 && !self.takes_all
    }
}

/// Annotates as lines of one form, on any number of threads.
pub(crate) struct Lines {
    query: Query,
    form: Form,
    lead: Lead,
    /// What is written for the answers of each table.
    written: Vec<Written>,
    /// What stands for the answers where there is no address.
    missing: Vec<u8>,
    /// What members are called that are added to the objects of the input, if it is JSON.
    members: Option<Members>,
    /// The file at hand.
    file: String,
    /// Rows that stayed as they were because they are no JSON objects.
    kept: AtomicU64,
}

/// What is needed to annotate a batch, and its lines; the next takes the same memory.
pub(crate) struct Work {
    page: Page,
    ipv4: Vec<Vec<u32>>,
    ipv6: Vec<Vec<u32>>,
    /// The batch as it is written, if with other addresses.
    anonymized: AddressBatch,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            page: Page::new(),
            ipv4: Vec::new(),
            ipv6: Vec::new(),
            anonymized: AddressBatch::new(),
        }
    }
}

impl Work {
    /// The lines made last.
    pub(super) fn bytes(&self) -> &[u8] {
        self.page.bytes()
    }
}

impl Lines {
    pub(crate) fn new(query: Query, form: Form, lead: Lead) -> Self {
        let mut missing = Vec::new();
        for (index, table) in query.tables.iter().enumerate() {
            let form = AnswerForm::new(&form, "", table, lead == Lead::Nothing && index == 0);
            form.prefix(None, &mut missing);
            form.record(iter::empty(), &mut missing);
        }
        let is_added = form == Form::Json && lead == Lead::Row;
        let mut lines = Self {
            members: is_added.then(|| Members::new(query.columns())),
            query,
            form,
            lead,
            written: Vec::new(),
            missing,
            file: String::new(),
            kept: AtomicU64::new(0),
        };
        lines.written = lines.write();
        lines
    }

    /// The file `name` begins.
    pub(crate) fn begin(&mut self, name: &str) {
        name.clone_into(&mut self.file);
    }

    /// The heading of a table as a line of text, with the names of the answers after it.
    pub(crate) fn heading(&self, header: &[u8]) -> Vec<u8> {
        let (Form::Text { .. }, Lead::Row) = (&self.form, self.lead) else {
            return Vec::new();
        };
        let mut line = header.to_vec();
        for name in self.query.columns() {
            line.push(b'\t');
            line.extend_from_slice(Escaped(&name).to_string().as_bytes());
        }
        line.extend_from_slice(self.form.end());
        line
    }

    /// Answers by these tables from now on, which are called as those before.
    pub(crate) fn use_tables(&mut self, tables: Arc<[NamedTable]>) {
        self.query.tables = tables;
        self.written = self.write();
    }

    /// What is written for the answers of each table.
    fn write(&self) -> Vec<Written> {
        let tables = self.query.tables.iter().enumerate();
        let written = tables.map(|(index, table)| {
            let is_first = self.lead == Lead::Nothing && index == 0;
            if !self.query.is_single() {
                return without_texts(table);
            }
            compile(table, &AnswerForm::new(&self.form, "", table, is_first))
        });
        written.collect()
    }

    /// Whether its output goes on as this.
    pub(crate) fn is(&self, form: &Form, lead: Lead) -> bool {
        self.form == *form && self.lead == lead
    }

    /// Whether answers are the last fields of lines, after tabs.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.form, Form::Text { .. })
    }

    /// How many rows stayed as they were because they are no JSON objects.
    pub(crate) fn kept(&self) -> u64 {
        self.kept.load(Ordering::Relaxed)
    }

    /// The lines of `batch`.
    pub(crate) fn lines<'w>(
        &self,
        batch: &AddressBatch,
        work: &'w mut Work,
    ) -> Result<&'w [u8], Failure> {
        let Work {
            page,
            ipv4,
            ipv6,
            anonymized,
        } = work;
        page.clear();
        if let Some(members) = &self.members
            && let Some(name) = members.doubled(batch)
        {
            return Err(there_already(&self.file, "member", name));
        }
        let Query { tables, kernel, .. } = &self.query;
        let mut ipv4 = Texted::new(batch.ipv4(), tables, &self.written, *kernel, ipv4)?;
        let mut ipv6 = Texted::new(batch.ipv6(), tables, &self.written, *kernel, ipv6)?;
        let batch = match &self.query.anonymizer {
            None => batch,
            Some(by) => {
                if !batch.anonymized(by, anonymized) {
                    let reason = "a line with other addresses is longer than 4 GiB";
                    return Err(format!("{}: {reason}", self.file).into());
                }
                let anonymized = &*anonymized;
                // Answers are those to the addresses of before, and have no prefixes.
                (ipv4.addresses, ipv6.addresses) = (anonymized.ipv4(), anonymized.ipv6());
                anonymized
            }
        };
        let kept = if self.query.is_single() {
            self.single(batch, ipv4, ipv6, page)
        } else {
            self.several(batch, ipv4, ipv6, page)
        };
        self.kept.fetch_add(kept, Ordering::Relaxed);
        Ok(page.bytes())
    }

    /// Rows of one address or none. How many stayed as they were.
    fn single(
        &self,
        batch: &AddressBatch,
        ipv4: Texted<'_, u32>,
        ipv6: Texted<'_, u128>,
        page: &mut Page,
    ) -> u64 {
        let mut writer = Writer {
            form: &self.form,
            lead: self.lead,
            rows: batch.rows(),
            page,
            kept: 0,
        };
        let (mut at_4, mut at_6) = (0, 0);
        for &run in batch.runs() {
            match run {
                AddressRun::Ipv4(count) => writer.run(&ipv4, &mut at_4, count),
                AddressRun::Ipv6(count) => writer.run(&ipv6, &mut at_6, count),
                AddressRun::Missing(count) => {
                    for _ in 0..count {
                        writer.line(None::<u32>, |page| page.put(&self.missing));
                    }
                }
            }
        }
        writer.kept
    }

    /// Rows of several cells, or of several addresses in one. How many stayed as they were.
    fn several(
        &self,
        batch: &AddressBatch,
        ipv4: Texted<'_, u32>,
        ipv6: Texted<'_, u128>,
        page: &mut Page,
    ) -> u64 {
        let mut kept = 0;
        let mut cells = Cells::new(batch, ipv4, ipv6, &self.form, self.lead);
        let mut rows = batch.rows();
        // Packets have no text, and so no rows.
        for _ in 0..batch.cells().len() / self.query.cells.len() {
            let row = rows.next().unwrap_or_default();
            let text = cells.row(&self.query.cells, &self.query.tables, self.query.takes_all);
            match (self.lead, Row::new(row, &self.form)) {
                (Lead::Row, Some(row)) => row.write(&self.form, page, |page| page.put(text)),
                (Lead::Row, None) => {
                    page.put(row);
                    page.put(b"\n");
                    kept += 1;
                }
                _ => {
                    page.put(text);
                    message(self.lead, row, page);
                    page.put(self.form.end());
                }
            }
        }
        kept
    }
}

/// What to say of a column or member of the input that is called as one of the answers.
pub(crate) fn there_already(file: &str, what: &str, name: &str) -> Failure {
    let reason = format!("there already; --table NAME=FILE gives {what}s another name");
    format!("{file}: a {what} {name} is {reason}").into()
}

/// Writes lines of one address or none.
struct Writer<'b, R> {
    form: &'b Form,
    lead: Lead,
    rows: R,
    page: &'b mut Page,
    kept: u64,
}

impl<'r, R: Iterator<Item = &'r [u8]>> Writer<'_, R> {
    /// The lines of the `count` addresses from `at` on.
    fn run<A: Family>(&mut self, looked: &Texted<'_, A>, at: &mut usize, count: usize) {
        let start = *at;
        *at += count;
        let Texted {
            addresses,
            written,
            numbers,
        } = looked;
        if let [Written { before, texts }] = written {
            let (addresses, numbers) = (&addresses[start..*at], &numbers[0][start..*at]);
            let before = before.as_deref();
            match texts {
                AnyAnswerTexts::Short(texts) => {
                    return self.one_table(addresses, numbers, before, texts);
                }
                AnyAnswerTexts::Medium(texts) => {
                    return self.one_table(addresses, numbers, before, texts);
                }
                AnyAnswerTexts::Long(_) => {}
            }
        }
        for from in (start..*at).step_by(AHEAD) {
            let to = (from + AHEAD).min(*at);
            for (written, numbers) in written.iter().zip(*numbers) {
                let before = written.before.as_deref();
                written
                    .texts
                    .touch(indices::<A>(&numbers[from..to], before));
            }
            for index in from..to {
                self.line(Some(addresses[index]), |page| {
                    for table in 0..written.len() {
                        looked.write(table, index, page);
                    }
                });
            }
        }
    }

    /// The usual case of [`Writer::run`], without its loops over tables.
    #[inline(never)]
    fn one_table<A: Family, const SIZE: usize>(
        &mut self,
        addresses: &[A],
        numbers: &[u32],
        before: Option<&[u8]>,
        texts: &AnswerTexts<SIZE>,
    ) {
        for (addresses, numbers) in addresses.chunks(AHEAD).zip(numbers.chunks(AHEAD)) {
            texts.touch(indices::<A>(numbers, before));
            for (&address, &number) in addresses.iter().zip(numbers) {
                self.line(Some(address), |page| {
                    let number = lead(address, number, before, page);
                    texts.write(number, page);
                });
            }
        }
    }

    #[inline(always)]
    fn line<A: Family>(&mut self, address: Option<A>, answers: impl FnOnce(&mut Page)) {
        let row = self.rows.next().unwrap_or_default();
        match self.lead {
            Lead::Row => match Row::new(row, self.form) {
                Some(row) => return row.write(self.form, self.page, answers),
                None => {
                    self.page.put(row);
                    self.page.put(b"\n");
                    self.kept += 1;
                    return;
                }
            },
            Lead::Address | Lead::AddressOfLine => {
                let (before, after, none) = self.form.address();
                match address {
                    Some(address) => {
                        self.page.put(before);
                        put(address, self.page);
                        self.page.put(after);
                    }
                    None => self.page.put(none),
                }
            }
            Lead::Nothing => {}
        }
        answers(self.page);
        message(self.lead, row, self.page);
        self.page.put(self.form.end());
    }
}

/// What the line of the input is called in an object.
pub(crate) const MESSAGE: &str = "message";

/// Writes the line of the input as the last member of an object, if that is asked for.
#[inline(always)]
fn message(lead: Lead, row: &[u8], page: &mut Page) {
    if lead == Lead::AddressOfLine {
        let line = row.strip_suffix(b"\r").unwrap_or(row);
        let line = serde_json::to_vec(&String::from_utf8_lossy(line)).expect("text is JSON");
        page.put(b",\"");
        page.put(MESSAGE.as_bytes());
        page.put(b"\":");
        page.put(&line);
    }
}

/// Writes an address as text.
#[inline(always)]
fn put<A: Family>(address: A, page: &mut Page) {
    let text = page.room().first_chunk_mut();
    let len = write_ip(address.ip(), text.expect("there is room for an address"));
    page.fill(len);
}
