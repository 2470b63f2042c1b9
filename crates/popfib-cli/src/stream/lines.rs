//! Batches of addresses into lines of text, at the speed of copying.
//!
//! The usual case, one address a row, writes texts that are ready for each answer (`tails`). Where a
//! row has several cells or a cell several addresses, columns are put together one by one (`cells`).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use popfib::{Address, Kernel};
use popfib_formats::{AddressBatch, Run};

use super::answers::Answers;
use super::cells::Cells;
use super::form::{AnswerForm, Form};
use super::page::Page;
use super::routes;
use super::rows::{Lead, Row};
use super::tables::Table;
use super::tails::{AnyTails, Texts};
use crate::failure::Failure;

/// Answers whose texts are fetched together: more misses than a core has under way at a time.
const AHEAD: usize = 64;

/// Names up to this length are copied for each route that has them.
const SHARED: usize = 64;

/// What is asked about each address, and of whom.
#[derive(Clone)]
pub(crate) struct Query<'t> {
    pub(crate) tables: &'t [Table],
    pub(crate) kernel: Kernel,
    /// What the cells of a row are called; one of no name where there is one.
    pub(crate) cells: Vec<String>,
    /// Whether a cell may have several addresses.
    pub(crate) takes_all: bool,
}

impl Query<'_> {
    /// The names of the columns of answers, in order.
    pub(crate) fn columns(&self) -> impl Iterator<Item = String> {
        let of_cell = |cell| {
            self.tables
                .iter()
                .flat_map(move |table: &Table| table.columns(cell))
        };
        self.cells
            .iter()
            .flat_map(move |cell| of_cell(cell.as_str()))
    }

    /// Whether each row has one address or none.
    pub(crate) fn is_single(&self) -> bool {
        self.cells.len() == 1 && !self.takes_all
    }
}

/// Annotates as lines of one form, on any number of threads. A family is compiled when its first
/// address comes.
pub(crate) struct Lines<'t> {
    query: Query<'t>,
    form: Form,
    lead: Lead,
    ipv4: OnceLock<Result<Family<u32>, String>>,
    ipv6: OnceLock<Result<Family<u128>, String>>,
    /// What stands for the answers where there is no address.
    missing: Vec<u8>,
    /// Rows that stayed as they were because they are no JSON objects.
    kept: AtomicU64,
}

/// What one thread needs to annotate batches, one after the other.
pub(crate) struct Work {
    page: Page,
    ipv4: Vec<Vec<u32>>,
    ipv6: Vec<Vec<u32>>,
}

impl Work {
    pub(crate) fn new() -> Self {
        Self {
            page: Page::new(),
            ipv4: Vec::new(),
            ipv6: Vec::new(),
        }
    }
}

/// A family's answers to a batch: the numbers of all addresses, table by table.
pub(super) struct Looked<'f, A: Address> {
    family: &'f Family<A>,
    numbers: &'f [Vec<u32>],
}

impl<A: routes::Family> Looked<'_, A> {
    /// Writes the text of an answer of the table of this index; whether there is a match.
    pub(super) fn write(&self, table: usize, at: usize, page: &mut Page) -> bool {
        let number = self.numbers[table][at];
        self.family.tables[table].1.write(number, page);
        number != 0
    }
}

impl<'t> Lines<'t> {
    pub(crate) fn new(query: Query<'t>, form: Form, lead: Lead) -> Self {
        let mut missing = Vec::new();
        for (index, table) in query.tables.iter().enumerate() {
            let form = AnswerForm::new(&form, "", table, lead == Lead::Nothing && index == 0);
            form.prefix(None, &mut missing);
            form.value(None, &mut missing);
        }
        Self {
            query,
            form,
            lead,
            ipv4: OnceLock::new(),
            ipv6: OnceLock::new(),
            missing,
            kept: AtomicU64::new(0),
        }
    }

    /// Whether its output goes on as this.
    pub(crate) fn is(&self, form: &Form, lead: Lead) -> bool {
        self.form == *form && self.lead == lead
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
        let Work { page, ipv4, ipv6 } = work;
        page.clear();
        let ipv4 = self.look_up(&self.ipv4, batch.ipv4(), ipv4)?;
        let ipv6 = self.look_up(&self.ipv6, batch.ipv6(), ipv6)?;
        let kept = if self.query.is_single() {
            self.single(batch, ipv4, ipv6, page)
        } else {
            self.several(batch, ipv4, ipv6, page)
        };
        self.kept.fetch_add(kept, Ordering::Relaxed);
        Ok(page.bytes())
    }

    /// Looks up `addresses` in all tables; `None` if there are none.
    fn look_up<'w, A: routes::Family>(
        &'w self,
        family: &'w OnceLock<Result<Family<A>, String>>,
        addresses: &[A],
        numbers: &'w mut Vec<Vec<u32>>,
    ) -> Result<Option<Looked<'w, A>>, Failure> {
        if addresses.is_empty() {
            return Ok(None);
        }
        let compile = || Family::new(&self.query, &self.form, self.lead);
        let family = family.get_or_init(|| compile().map_err(|failure| failure.to_string()));
        let family = family.as_ref().map_err(|reason| reason.clone())?;
        numbers.resize_with(family.tables.len(), Vec::new);
        for ((answers, _), numbers) in family.tables.iter().zip(&mut *numbers) {
            answers.numbers(addresses, numbers);
        }
        Ok(Some(Looked { family, numbers }))
    }

    /// Rows of one address or none. How many stayed as they were.
    fn single(
        &self,
        batch: &AddressBatch,
        ipv4: Option<Looked<'_, u32>>,
        ipv6: Option<Looked<'_, u128>>,
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
                Run::Ipv4(count) => writer.run(batch.ipv4(), &ipv4, &mut at_4, count),
                Run::Ipv6(count) => writer.run(batch.ipv6(), &ipv6, &mut at_6, count),
                Run::Missing(count) => {
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
        ipv4: Option<Looked<'_, u32>>,
        ipv6: Option<Looked<'_, u128>>,
        page: &mut Page,
    ) -> u64 {
        let mut kept = 0;
        let mut cells = Cells::new(batch, ipv4, ipv6, &self.form, self.lead);
        for row in batch.rows() {
            let text = cells.row(&self.query.cells, self.query.tables, self.query.takes_all);
            match (self.lead, Row::new(row, &self.form)) {
                (Lead::Row, Some(row)) => row.write(&self.form, page, |page| page.put(text)),
                (Lead::Row, None) => {
                    page.put(row);
                    page.put(b"\n");
                    kept += 1;
                }
                _ => {
                    page.put(text);
                    page.put(self.form.end());
                }
            }
        }
        kept
    }
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
    fn run<A: routes::Family>(
        &mut self,
        addresses: &[A],
        looked: &Option<Looked<'_, A>>,
        at: &mut usize,
        count: usize,
    ) {
        let start = *at;
        *at += count;
        let Some(Looked { family, numbers }) = looked else {
            return;
        };
        if let [(_, AnyTails::Short(tails))] = &family.tables[..] {
            return self.one_table(&addresses[start..*at], &numbers[0][start..*at], tails);
        }
        if let [(_, AnyTails::Medium(tails))] = &family.tables[..] {
            return self.one_table(&addresses[start..*at], &numbers[0][start..*at], tails);
        }
        for from in (start..*at).step_by(AHEAD) {
            let to = (from + AHEAD).min(*at);
            for ((_, tails), numbers) in family.tables.iter().zip(*numbers) {
                tails.touch(&numbers[from..to]);
            }
            for index in from..to {
                self.line(Some(addresses[index]), |page| {
                    for ((_, tails), numbers) in family.tables.iter().zip(*numbers) {
                        tails.write(numbers[index], page);
                    }
                });
            }
        }
    }

    /// The usual case of [`Writer::run`], without its loops over tables.
    #[inline(never)]
    fn one_table<A: routes::Family, const SIZE: usize>(
        &mut self,
        addresses: &[A],
        numbers: &[u32],
        tails: &super::tails::Tails<SIZE>,
    ) {
        for (addresses, numbers) in addresses.chunks(AHEAD).zip(numbers.chunks(AHEAD)) {
            tails.touch(numbers);
            for (&address, &number) in addresses.iter().zip(numbers) {
                self.line(Some(address), |page| tails.write(number, page));
            }
        }
    }

    #[inline(always)]
    fn line<A: routes::Family>(&mut self, address: Option<A>, answers: impl FnOnce(&mut Page)) {
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
            Lead::Address => {
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
        self.page.put(self.form.end());
    }
}

/// Writes an address as text.
#[inline(always)]
fn put<A: routes::Family>(address: A, page: &mut Page) {
    let text = page.room().first_chunk_mut();
    let len = address.write(text.expect("there is room for an address"));
    page.fill(len);
}

/// The answers of one family, table by table, and their texts.
pub(super) struct Family<A: Address> {
    tables: Vec<(Answers<A>, AnyTails)>,
}

impl<A: routes::Family> Family<A> {
    fn new(query: &Query<'_>, form: &Form, lead: Lead) -> Result<Self, Failure> {
        let mut tables = Vec::new();
        for (index, table) in query.tables.iter().enumerate() {
            let form = match query.is_single() {
                true => AnswerForm::new(form, "", table, lead == Lead::Nothing && index == 0),
                false => AnswerForm::raw(table),
            };
            tables.push(compile(table, query.kernel, &form)?);
        }
        Ok(Self { tables })
    }
}

/// The answers of a table and the text of each.
fn compile<A: routes::Family>(
    table: &Table,
    kernel: Kernel,
    form: &AnswerForm<'_>,
) -> Result<(Answers<A>, AnyTails), Failure> {
    let mut texts = Texts::default();
    texts.push(|to| {
        form.prefix(None, to);
        form.value(None, to);
    });
    let with_prefixes = table.with_prefixes && table.routes.have_prefixes();
    let answers = Answers::new(&table.routes, kernel, with_prefixes, |answer| {
        if answer.next_hop.len() > SHARED {
            // A long name is there once, however many routes have it.
            texts.share(answer.next_hop_number, |to| {
                form.value(Some(answer.next_hop), to)
            });
            texts.push(|to| form.prefix(answer.prefix, to));
        } else {
            texts.push(|to| {
                form.prefix(answer.prefix, to);
                form.value(Some(answer.next_hop), to);
            });
        }
    })?;
    Ok((answers, texts.into_tails()))
}
