//! Batches of addresses into lines of text, at the speed of copying.

use popfib_formats::{AddressBatch, Run, write_ipv4, write_ipv6};

use super::Question;
use super::answers::Answers;
use super::form::Form;
use super::page::Page;
use super::routes;
use super::tails::{AnyTails, Tails, Texts};
use crate::failure::Failure;

/// Answers whose texts are fetched together: more misses than a core has under way at a time.
const AHEAD: usize = 64;

/// Annotates as lines of one form. A family is compiled when its first address comes.
pub(super) struct Lines<'t> {
    question: Question<'t>,
    form: Form,
    before: Before,
    missing: Vec<u8>,
    ipv4: Option<Family<u32>>,
    ipv6: Option<Family<u128>>,
    page: Page,
}

/// What stands in a line before the answer.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    /// The address, and these bytes before it.
    Address(&'static [u8]),
    Row,
}

impl<'t> Lines<'t> {
    pub(super) fn new(question: Question<'t>, form: Form) -> Self {
        let before = match &form {
            Form::Text if question.args.value_only => Before::Nothing,
            Form::Csv(table) if table.has_rows => Before::Row,
            form => Before::Address(form.lead()),
        };
        Self {
            question,
            before,
            missing: form.missing(question.args.value_only),
            form,
            ipv4: None,
            ipv6: None,
            page: Page::new(),
        }
    }

    pub(super) fn form(&self) -> &Form {
        &self.form
    }

    /// The lines of `batch`.
    pub(super) fn lines(&mut self, batch: &AddressBatch) -> Result<&[u8], Failure> {
        let (question, form) = (self.question, &self.form);
        let mut ipv4 = FamilyRuns::new(batch.ipv4(), &mut self.ipv4, question, form)?;
        let mut ipv6 = FamilyRuns::new(batch.ipv6(), &mut self.ipv6, question, form)?;
        let page = &mut self.page;
        page.clear();
        let mut rows = batch.rows();
        for &run in batch.runs() {
            match run {
                Run::Ipv4(count) => ipv4.write(count, self.before, &mut rows, page),
                Run::Ipv6(count) => ipv6.write(count, self.before, &mut rows, page),
                Run::Missing(count) => {
                    for _ in 0..count {
                        if let Before::Row = self.before {
                            page.put(rows.next().unwrap_or_default());
                        }
                        page.put(&self.missing);
                    }
                }
            }
        }
        Ok(self.page.bytes())
    }
}

/// A key that is shown as an IP address.
trait Shown: routes::Family {
    fn put(self, page: &mut Page);
}

impl Shown for u32 {
    #[inline(always)]
    fn put(self, page: &mut Page) {
        let text = page
            .room()
            .first_chunk_mut()
            .expect("there is room for an address");
        let len = write_ipv4(self, text);
        page.fill(len);
    }
}

impl Shown for u128 {
    #[inline(always)]
    fn put(self, page: &mut Page) {
        let text = page
            .room()
            .first_chunk_mut()
            .expect("there is room for an address");
        let len = write_ipv6(self, text);
        page.fill(len);
    }
}

/// The answers of one family and their texts.
struct Family<A> {
    answers: Answers<A>,
    tails: AnyTails,
}

impl<A: Shown> Family<A> {
    fn new(question: Question<'_>, form: &Form) -> Result<Self, Failure> {
        let mut texts = Texts::default();
        let value_only = question.args.value_only;
        texts.push(|to| form.tail(None, value_only, to));
        let answers = Answers::new(question, |answer| {
            texts.push(|to| form.tail(Some(&answer), value_only, to));
        })?;
        Ok(Self {
            answers,
            tails: texts.into_tails(),
        })
    }
}

/// What is left of a batch's addresses of one family, with their answers' numbers.
struct FamilyRuns<'b, A> {
    addresses: &'b [A],
    numbers: &'b [u32],
    tails: Option<&'b AnyTails>,
}

impl<'b, A: Shown> FamilyRuns<'b, A> {
    fn new(
        addresses: &'b [A],
        family: &'b mut Option<Family<A>>,
        question: Question<'_>,
        form: &Form,
    ) -> Result<Self, Failure> {
        if addresses.is_empty() {
            return Ok(Self {
                addresses,
                numbers: &[],
                tails: None,
            });
        }
        let family = match family {
            Some(family) => family,
            empty => empty.insert(Family::new(question, form)?),
        };
        Ok(Self {
            addresses,
            numbers: family.answers.numbers(addresses),
            tails: Some(&family.tails),
        })
    }

    /// Writes the lines of the next `count` addresses.
    fn write<'r>(
        &mut self,
        count: usize,
        before: Before,
        rows: &mut impl Iterator<Item = &'r [u8]>,
        page: &mut Page,
    ) {
        let (addresses, more) = self.addresses.split_at(count);
        let (numbers, more_numbers) = self.numbers.split_at(count);
        (self.addresses, self.numbers) = (more, more_numbers);
        match self.tails {
            Some(AnyTails::Short(tails)) => {
                write_run(addresses, numbers, tails, before, rows, page)
            }
            Some(AnyTails::Medium(tails)) => {
                write_run(addresses, numbers, tails, before, rows, page)
            }
            Some(AnyTails::Long(tails)) => write_run(addresses, numbers, tails, before, rows, page),
            None => {}
        }
    }
}

#[inline(never)]
fn write_run<'r, A: Shown, const SIZE: usize>(
    addresses: &[A],
    numbers: &[u32],
    tails: &Tails<SIZE>,
    before: Before,
    rows: &mut impl Iterator<Item = &'r [u8]>,
    page: &mut Page,
) {
    for (addresses, numbers) in addresses.chunks(AHEAD).zip(numbers.chunks(AHEAD)) {
        tails.touch(numbers);
        for (&address, &number) in addresses.iter().zip(numbers) {
            match before {
                Before::Nothing => {}
                Before::Address(lead) => {
                    if !lead.is_empty() {
                        page.put(lead);
                    }
                    address.put(page);
                }
                Before::Row => page.put(rows.next().unwrap_or_default()),
            }
            tails.write(number, page);
        }
    }
}
