//! What becomes of batches of addresses: bytes in the form that was asked for.

use popfib_formats::{AddressBatch, AddressFile};

use super::form::{Form, Table};
use super::lines::Lines;
#[cfg(feature = "parquet")]
use super::parquet::Columns;
use super::source::Source;
use super::{AnnotateArgs, OutputForm, Question};
use crate::failure::Failure;

/// Annotates in one form; all files have to be alike in their columns.
pub(super) enum Sink<'t> {
    Lines {
        lines: Box<Lines<'t>>,
        /// What comes before everything, until it was asked for.
        head: Option<Vec<u8>>,
        taken: Vec<u8>,
    },
    #[cfg(feature = "parquet")]
    Columns(Box<Columns<'t>>),
}

impl<'t> Sink<'t> {
    /// The sink for files like `source`.
    pub(super) fn new(source: &Source, question: Question<'t>) -> Result<Self, Failure> {
        let args = question.args;
        #[cfg(feature = "parquet")]
        if args.output == OutputForm::Parquet {
            return Ok(Self::Columns(Box::new(Columns::new(source, question)?)));
        }
        let form = form(source, args);
        Ok(Self::Lines {
            head: Some(form.head(args.value_only)),
            lines: Box::new(Lines::new(question, form)),
            taken: Vec::new(),
        })
    }

    /// Whether `source` has the columns of the files before.
    pub(super) fn takes(&self, source: &Source, args: &AnnotateArgs) -> bool {
        match self {
            Self::Lines { lines, .. } => *lines.form() == form(source, args),
            #[cfg(feature = "parquet")]
            Self::Columns(columns) => columns.takes(source),
        }
    }

    /// What comes before the first answer; nothing when asked again.
    pub(super) fn head(&mut self) -> &[u8] {
        match self {
            Self::Lines { head, taken, .. } => {
                *taken = head.take().unwrap_or_default();
                taken
            }
            #[cfg(feature = "parquet")]
            Self::Columns(_) => &[],
        }
    }

    /// The answers to `batch`, which came last from `source`; perhaps held back for a while.
    pub(super) fn answer(
        &mut self,
        batch: &AddressBatch,
        source: &Source,
    ) -> Result<&[u8], Failure> {
        let _ = source;
        match self {
            Self::Lines { lines, .. } => lines.lines(batch),
            #[cfg(feature = "parquet")]
            Self::Columns(columns) => columns.answer(batch, source),
        }
    }

    /// What comes behind the last answer.
    pub(super) fn finish(self) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Lines { .. } => Ok(Vec::new()),
            #[cfg(feature = "parquet")]
            Self::Columns(columns) => columns.finish(),
        }
    }
}

/// The form of lines for a file of addresses.
fn form(source: &Source, args: &AnnotateArgs) -> Form {
    match args.output {
        OutputForm::Text => Form::Text,
        OutputForm::JsonLines => Form::JsonLines,
        OutputForm::Csv => Form::Csv(table(source)),
        OutputForm::Parquet => unreachable!("Parquet is no form of lines"),
    }
}

/// The table that the input is, or that its addresses become.
fn table(source: &Source) -> Table {
    if let Source::File(file) = source
        && let AddressFile::Csv(csv) = &**file
    {
        return Table {
            delimiter: csv.delimiter(),
            is_crlf: csv.is_crlf(),
            has_rows: true,
            header: csv.header().map(<[u8]>::to_vec),
        };
    }
    Table::of_addresses()
}
