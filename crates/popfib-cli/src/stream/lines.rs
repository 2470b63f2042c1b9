//! Batches of addresses in, lines with their answers out, at the speed of copying.
//!
//! If each row has one address, as usual, the texts of all answers are made before (`answer_texts`) and only copied here. If a row
//! has several cells, or a cell several addresses, columns are put together one by one (`cells`).

use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use popfib::Kernel;
use popfib::family::{ByFamily, Family};
use popfib_formats::{AddressBatch, Anonymizer, Escaped};
use popfib_program::failure::Failure;
use popfib_table::{AddressRun, Table, write_ip};

use super::answer_texts::{AHEAD, AnswerTexts, AnyAnswerTexts};
use super::cells::BatchCells;
use super::form::{AnswerForm, LineForm, address_name};
use super::mapped::MappedMisses;
use super::members::AddedMembers;
use super::output_buffer::OutputBuffer;
use super::rows::{LineLead, SplitRow};
use super::table::NamedTable;
use super::table_column::{TableChoice, TableNumbers, asked};
use super::table_texts::{FamilyAnswers, TableTexts, indices, lead, no_texts, texts_of};

/// What is looked up for each address, and where.
#[derive(Clone)]
pub(crate) struct Query {
    pub(crate) tables: Arc<[NamedTable]>,
    pub(crate) kernel: Kernel,
    /// What says which of several tables each row is looked up in.
    pub(crate) table_column: Arc<TableChoice>,
    /// The names of the cells of a row; a single cell has an empty name.
    pub(crate) cells: Vec<String>,
    /// Whether a cell may have several addresses.
    pub(crate) takes_all: bool,
    /// What replaces the addresses in the output, if anything does.
    pub(crate) anonymizer: Option<Arc<Anonymizer>>,
}

impl Query {
    /// The names of the columns of answers, in order.
    pub(crate) fn columns(&self) -> impl Iterator<Item = String> {
        self.cells.iter().flat_map(|cell| self.columns_of(cell))
    }

    /// The names of the columns of lines that begin with addresses: of the addresses and of the answers, in order.
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

    /// The number of the table of each address of a batch, if there are several tables.
    pub(crate) fn table_numbers(&self, batch: &AddressBatch) -> ByFamily<TableNumbers> {
        let set = self.tables.first().and_then(|table| table.table.set());
        self.table_column.numbers(batch, set)
    }

    /// Whether each row has one address or none.
    pub(crate) fn is_single(&self) -> bool {
        self.cells.len() == 1 && !self.takes_all
    }
}

/// Makes the lines of answers in one form, on any number of threads.
pub(crate) struct AnswerLines {
    query: Query,
    form: LineForm,
    lead: LineLead,
    /// The texts of the answers of each table, if rows have one address or none and `has_texts`.
    texts: Vec<TableTexts>,
    has_texts: bool,
    /// What stands for the answers in a row without an address.
    missing: Vec<u8>,
    /// The names of the members that are added to the objects of the input, if it is JSON.
    members: Option<AddedMembers>,
    /// The name of the file at hand.
    file: String,
    /// Rows that stayed as they were because they are no JSON objects.
    kept: AtomicU64,
    mapped: MappedMisses,
}

/// Memory for the lines of a batch and for what they are made from; batches share it.
#[derive(Default)]
pub(crate) struct LineBuffers {
    out: OutputBuffer,
    ipv4: Vec<Vec<u32>>,
    ipv6: Vec<Vec<u32>>,
    /// The batch with other addresses, if they are replaced.
    anonymized: AddressBatch,
}

impl LineBuffers {
    /// The lines made last.
    pub(super) fn bytes(&self) -> &[u8] {
        self.out.bytes()
    }
}

impl AnswerLines {
    pub(crate) fn new(query: Query, form: LineForm, lead: LineLead) -> Self {
        let mut missing = Vec::new();
        for (index, table) in query.tables.iter().enumerate() {
            let form = AnswerForm::new(&form, "", table, lead == LineLead::Nothing && index == 0);
            form.prefix(None, &mut missing);
            form.record(iter::empty(), &mut missing);
        }
        let is_added = form == LineForm::Json && lead == LineLead::Row;
        let mut lines = Self {
            members: is_added.then(|| AddedMembers::new(query.columns())),
            query,
            form,
            lead,
            texts: Vec::new(),
            has_texts: false,
            missing,
            file: String::new(),
            kept: AtomicU64::new(0),
            mapped: MappedMisses::default(),
        };
        lines.make_texts();
        lines
    }

    /// The file `name` begins.
    pub(crate) fn begin(&mut self, name: &str) {
        name.clone_into(&mut self.file);
    }

    /// The heading of a table as a line of text, with the names of the answers after it.
    pub(crate) fn heading(&self, header: &[u8]) -> Vec<u8> {
        let (LineForm::Text { .. }, LineLead::Row) = (&self.form, self.lead) else {
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

    /// Answers from these tables from now on, which have the names of those before.
    pub(crate) fn use_tables(&mut self, tables: Arc<[NamedTable]>) {
        self.query.tables = tables;
        self.make_texts();
    }

    /// The first table.
    pub(crate) fn table(&self) -> &Table {
        &self.query.tables[0].table
    }

    /// Makes the texts of the answers of each table.
    fn make_texts(&mut self) {
        let tables = self.query.tables.iter().enumerate();
        let texts = tables.map(|(index, table)| {
            let is_first = self.lead == LineLead::Nothing && index == 0;
            texts_of(table, &AnswerForm::new(&self.form, "", table, is_first))
        });
        let texts = (self.query.is_single().then_some(texts)).and_then(Iterator::collect);
        self.has_texts = texts.is_some();
        self.texts = texts.unwrap_or_else(|| self.query.tables.iter().map(no_texts).collect());
    }

    /// Whether its lines are of this form and begin with this.
    pub(crate) fn is(&self, form: &LineForm, lead: LineLead) -> bool {
        self.form == *form && self.lead == lead
    }

    /// Whether answers are the last fields of lines, after tabs.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.form, LineForm::Text { .. })
    }

    /// How many rows stayed as they were because they are no JSON objects.
    pub(crate) fn kept(&self) -> u64 {
        self.kept.load(Ordering::Relaxed)
    }

    /// The IPv4-mapped addresses without an answer.
    pub(crate) fn mapped(&self) -> &MappedMisses {
        &self.mapped
    }

    /// The lines of `batch`.
    pub(crate) fn lines<'w>(
        &self,
        batch: &AddressBatch,
        buffers: &'w mut LineBuffers,
    ) -> Result<&'w [u8], Failure> {
        let LineBuffers {
            out,
            ipv4,
            ipv6,
            anonymized,
        } = buffers;
        out.clear();
        if let Some(members) = &self.members
            && let Some(name) = members.doubled(batch)
        {
            return Err(there_already(&self.file, "member", name));
        }
        let Query { tables, kernel, .. } = &self.query;
        let of_tables = self.query.table_numbers(batch);
        let (asked_4, asked_6) = asked(batch, &of_tables);
        let mut ipv4 = FamilyAnswers::new(asked_4, tables, &self.texts, *kernel, ipv4)?;
        let mut ipv6 = FamilyAnswers::new(asked_6, tables, &self.texts, *kernel, ipv6)?;
        self.mapped
            .add_of_tables(batch, &of_tables.ipv6, ipv6.numbers, tables, *kernel)?;
        let batch = match &self.query.anonymizer {
            None => batch,
            Some(by) => {
                if !batch.anonymized(by, anonymized) {
                    let reason = "a line with other addresses is longer than 4 GiB";
                    return Err(format!("{}: {reason}", self.file).into());
                }
                let anonymized = &*anonymized;
                // The numbers are those of the answers to the addresses before; these answers have no prefixes.
                (ipv4.addresses, ipv6.addresses) = (anonymized.ipv4(), anonymized.ipv6());
                anonymized
            }
        };
        let kept = if self.has_texts {
            self.single(batch, ipv4, ipv6, out)
        } else {
            self.several(batch, ipv4, ipv6, out)
        };
        self.kept.fetch_add(kept, Ordering::Relaxed);
        Ok(out.bytes())
    }

    /// Writes rows of one address or none. Returns how many stayed as they were.
    fn single(
        &self,
        batch: &AddressBatch,
        ipv4: FamilyAnswers<'_, u32>,
        ipv6: FamilyAnswers<'_, u128>,
        out: &mut OutputBuffer,
    ) -> u64 {
        let mut writer = SingleAddressWriter {
            form: &self.form,
            lead: self.lead,
            rows: batch.rows(),
            out,
            kept: 0,
        };
        let (mut at_4, mut at_6) = (0, 0);
        for run in batch.runs() {
            match run {
                AddressRun::Ipv4(count) => writer.run(&ipv4, &mut at_4, count),
                AddressRun::Ipv6(count) => writer.run(&ipv6, &mut at_6, count),
                AddressRun::Missing(count) => {
                    for _ in 0..count {
                        writer.line(None::<u32>, |out| out.put(&self.missing));
                    }
                }
            }
        }
        writer.kept
    }

    /// Writes rows of several cells, or of several addresses in one, or without texts. Returns how many stayed as they were.
    fn several(
        &self,
        batch: &AddressBatch,
        ipv4: FamilyAnswers<'_, u32>,
        ipv6: FamilyAnswers<'_, u128>,
        out: &mut OutputBuffer,
    ) -> u64 {
        let mut kept = 0;
        let mut cells = BatchCells::new(
            batch.iter(),
            batch.cells(),
            ipv4,
            ipv6,
            &self.form,
            self.lead,
        );
        let mut rows = batch.rows();
        // Packets have no text, and so no rows.
        let count = match self.query.is_single() {
            true => batch.len(),
            false => batch.cells().len() / self.query.cells.len(),
        };
        for _ in 0..count {
            let row = rows.next().unwrap_or_default();
            let text = cells.row(&self.query.cells, &self.query.tables, self.query.takes_all);
            match (self.lead, SplitRow::new(row, &self.form)) {
                (LineLead::Row, Some(row)) => row.write(&self.form, out, |out| out.put(text)),
                (LineLead::Row, None) => {
                    out.put(row);
                    out.put(b"\n");
                    kept += 1;
                }
                _ => {
                    out.put(text);
                    message(self.lead, row, out);
                    out.put(self.form.end());
                }
            }
        }
        kept
    }
}

/// The error of a column or member of the input that has the name of one of the answers.
pub(crate) fn there_already(file: &str, what: &str, name: &str) -> Failure {
    let reason = format!("there already; --table NAME=FILE gives {what}s another name");
    format!("{file}: a {what} {name} is {reason}").into()
}

/// Writes lines of rows that have one address or none.
struct SingleAddressWriter<'b, R> {
    form: &'b LineForm,
    lead: LineLead,
    rows: R,
    out: &'b mut OutputBuffer,
    kept: u64,
}

impl<'r, R: Iterator<Item = &'r [u8]>> SingleAddressWriter<'_, R> {
    /// Writes the lines of the `count` addresses from `at` on.
    fn run<A: Family>(&mut self, answers: &FamilyAnswers<'_, A>, at: &mut usize, count: usize) {
        let start = *at;
        *at += count;
        let FamilyAnswers {
            addresses,
            texts,
            numbers,
        } = answers;
        if let [TableTexts { before, texts }] = texts {
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
            for (of_table, numbers) in texts.iter().zip(*numbers) {
                let before = of_table.before.as_deref();
                of_table
                    .texts
                    .touch(indices::<A>(&numbers[from..to], before));
            }
            for index in from..to {
                self.line(Some(addresses[index]), |out| {
                    for table in 0..texts.len() {
                        answers.write(table, index, out);
                    }
                });
            }
        }
    }

    /// The usual case of [`run`](Self::run), without its loops over tables.
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
                self.line(Some(address), |out| {
                    let number = lead(address, number, before, out);
                    texts.write(number, out);
                });
            }
        }
    }

    #[inline(always)]
    fn line<A: Family>(&mut self, address: Option<A>, answers: impl FnOnce(&mut OutputBuffer)) {
        let row = self.rows.next().unwrap_or_default();
        match self.lead {
            LineLead::Row => match SplitRow::new(row, self.form) {
                Some(row) => return row.write(self.form, self.out, answers),
                None => {
                    self.out.put(row);
                    self.out.put(b"\n");
                    self.kept += 1;
                    return;
                }
            },
            LineLead::Address | LineLead::AddressOfLine => {
                let (before, after, none) = self.form.address();
                match address {
                    Some(address) => {
                        self.out.put(before);
                        put(address, self.out);
                        self.out.put(after);
                    }
                    None => self.out.put(none),
                }
            }
            LineLead::Nothing => {}
        }
        answers(self.out);
        message(self.lead, row, self.out);
        self.out.put(self.form.end());
    }
}

/// The name of the member that has the line of the input.
pub(crate) const MESSAGE: &str = "message";

/// Writes the line of the input as the last member of an object, if that is asked for.
#[inline(always)]
fn message(lead: LineLead, row: &[u8], out: &mut OutputBuffer) {
    if lead == LineLead::AddressOfLine {
        let line = row.strip_suffix(b"\r").unwrap_or(row);
        let line = serde_json::to_vec(&String::from_utf8_lossy(line)).expect("text is JSON");
        out.put(b",\"");
        out.put(MESSAGE.as_bytes());
        out.put(b"\":");
        out.put(&line);
    }
}

/// Writes an address as text.
#[inline(always)]
fn put<A: Family>(address: A, out: &mut OutputBuffer) {
    let text = out.room().first_chunk_mut();
    let len = write_ip(address.ip(), text.expect("there is room for an address"));
    out.fill(len);
}
