//! Batches of addresses in, bytes of the output out, in the form that was asked for: lines (text, CSV, JSON) or a Parquet file.
//! The form of the first file decides; a file that does not fit is refused.

use std::sync::Arc;

use popfib_formats::text::{counted, csv_field};
use popfib_formats::{AddressBatch, Escaped};
use popfib_program::failure::Failure;

use super::AnnotateArgs;
#[cfg(feature = "parquet")]
use super::parquet::ParquetSink;
use crate::forms::Form;
use crate::output::note;
use crate::records::refuse_doubled;
use crate::stream::LineLead;
use crate::stream::form::{LineForm, OutputDialect};
use crate::stream::lines::{AnswerLines, LineBuffers, MESSAGE, Query, there_already};
use crate::stream::source::StreamSource;
use crate::stream::table::NamedTable;

/// Annotates in one form; all files need the same columns.
pub(super) enum Sink {
    Lines {
        lines: Box<AnswerLines>,
        buffers: Box<LineBuffers>,
    },
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetSink>),
}

impl Sink {
    /// The sink for files like `source`, the first of which is called `name`, and what comes before the first answer.
    pub(super) fn new(
        name: &str,
        source: &StreamSource,
        args: &AnnotateArgs,
        query: &Query,
    ) -> Result<(Self, Vec<u8>), Failure> {
        let is_parquet = args.form.asked() == Some(Form::Parquet);
        if is_parquet && !query.is_single() {
            return Err("--to parquet is for one address a row".into());
        }
        if is_parquet && query.anonymizer.is_some() {
            let reason = "--to parquet copies columns, addresses and all";
            return Err(format!("{reason}; --to csv has other addresses").into());
        }
        #[cfg(feature = "parquet")]
        if is_parquet {
            let parquet = ParquetSink::new(source, args, query)?;
            return Ok((Self::Parquet(Box::new(parquet)), Vec::new()));
        }
        let (form, lead) = form(source, args, query);
        if args.is_named_csv && args.form.asked().is_none() && !matches!(form, LineForm::Csv(_)) {
            let reason = "its lines are no CSV, which the name of the output means";
            let help = "--to csv writes their addresses alone, --to text or json-lines the lines";
            return Err(format!("{name}: {reason}; {help}").into());
        }
        let mut names = match lead {
            LineLead::Address | LineLead::AddressOfLine => query.address_columns(),
            LineLead::Row | LineLead::Nothing => query.columns().collect(),
        };
        names.extend((lead == LineLead::AddressOfLine).then(|| MESSAGE.to_owned()));
        if !matches!(form, LineForm::Text { .. }) {
            refuse_doubled(&names)?;
        }
        let head = head(name, &form, lead, query)?;
        let sink = Self::Lines {
            lines: Box::new(AnswerLines::new(query.clone(), form, lead)),
            buffers: Box::default(),
        };
        Ok((sink, head))
    }

    /// Answers from these tables from now on, if the output is lines. A Parquet file keeps its tables, since its dictionaries are
    /// of theirs.
    pub(super) fn use_tables(&mut self, tables: Arc<[NamedTable]>) {
        if let Some(lines) = self.as_lines() {
            lines.use_tables(tables);
        }
    }

    /// Whether `source` has the columns of the files before.
    pub(super) fn takes(&self, source: &StreamSource, args: &AnnotateArgs, query: &Query) -> bool {
        match self {
            Self::Lines { lines, .. } => {
                let (form, lead) = form(source, args, query);
                lines.is(&form, lead)
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(parquet) => parquet.takes(source),
        }
    }

    /// What comes before the answers to the file `name`: in lines of text, the heading of a table.
    pub(super) fn begin(&mut self, name: &str, source: &StreamSource) -> Vec<u8> {
        let Some(lines) = self.as_lines() else {
            return Vec::new();
        };
        lines.begin(name);
        let header = source.table().and_then(|table| table.header);
        header.map_or_else(Vec::new, |header| lines.heading(header))
    }

    /// The bytes of the answers to `batch`, which came last from `source`. Those of Parquet may come later, with a whole row
    /// group.
    pub(super) fn answer(
        &mut self,
        batch: &AddressBatch,
        source: &StreamSource,
    ) -> Result<&[u8], Failure> {
        let _ = source;
        match self {
            Self::Lines { lines, buffers, .. } => lines.lines(batch, buffers),
            #[cfg(feature = "parquet")]
            Self::Parquet(parquet) => parquet.answer(batch, source),
        }
    }

    /// The lines, which several threads can make; `None` if the output is Parquet.
    pub(super) fn as_lines(&mut self) -> Option<&mut AnswerLines> {
        match self {
            Self::Lines { lines, .. } => Some(lines),
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => None,
        }
    }

    /// What comes after the last answer.
    pub(super) fn finish(self) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Lines { lines, .. } => {
                lines.mapped().note();
                let kept = lines.kept();
                if kept > 0 {
                    let are = if kept == 1 {
                        "is no JSON object and was kept as it is"
                    } else {
                        "are no JSON objects, and were kept as they are"
                    };
                    note!("{} {are}", counted(kept, "line"));
                }
                Ok(Vec::new())
            }
            #[cfg(feature = "parquet")]
            Self::Parquet(parquet) => parquet.finish(),
        }
    }
}

/// The form of the lines for a file of addresses, and what they begin with.
fn form(source: &StreamSource, args: &AnnotateArgs, query: &Query) -> (LineForm, LineLead) {
    let dialect = source.table().map(|table| OutputDialect {
        delimiter: table.delimiter,
        is_crlf: table.is_crlf,
        header: table.header.map(<[u8]>::to_vec),
    });
    let is_crlf = dialect.as_ref().is_some_and(|dialect| dialect.is_crlf);
    let row_or_address = if source.is_text() {
        LineLead::Row
    } else {
        LineLead::Address
    };
    match (args.form.asked(), dialect) {
        (Some(Form::Csv) | None, Some(dialect)) => (LineForm::Csv(dialect), LineLead::Row),
        (None, None) if args.is_named_csv && !source.is_text() => (
            LineForm::Csv(OutputDialect::OF_ADDRESSES),
            LineLead::Address,
        ),
        (Some(Form::Csv), None) => (
            LineForm::Csv(OutputDialect::OF_ADDRESSES),
            LineLead::Address,
        ),
        (Some(Form::JsonLines) | None, _) if source.is_json() => (LineForm::Json, LineLead::Row),
        (Some(Form::JsonLines), _) if source.is_text() && !args.value_only => {
            (LineForm::Json, LineLead::AddressOfLine)
        }
        (Some(Form::JsonLines), _) => (LineForm::Json, LineLead::Address),
        (None, _)
            if !args.value_only
                && !query.tables.is_empty()
                && let Some(heading) = source.heading() =>
        {
            let names = query.columns().map(|name| Escaped(&name).to_string());
            let names: Vec<String> = names.collect();
            let count = names.len();
            let form = LineForm::Headed {
                heading: heading.to_vec(),
                names: format!("\t{}", names.join("\t")).into_bytes(),
                types: b"\tstring".repeat(count),
            };
            (form, LineLead::Row)
        }
        _ if args.value_only => (LineForm::Text { is_crlf: false }, LineLead::Nothing),
        _ => (LineForm::Text { is_crlf }, row_or_address),
    }
}

/// What comes before everything else: the names of CSV columns.
fn head(file: &str, form: &LineForm, lead: LineLead, query: &Query) -> Result<Vec<u8>, Failure> {
    let LineForm::Csv(dialect) = form else {
        return Ok(Vec::new());
    };
    if lead == LineLead::Address {
        let mut head = Vec::new();
        for (index, name) in query.address_columns().iter().enumerate() {
            if index > 0 {
                head.push(b',');
            }
            csv_field(name, b',', &mut head);
        }
        head.extend_from_slice(form.end());
        return Ok(head);
    }
    let Some(mut head) = dialect.header.clone() else {
        return Ok(Vec::new());
    };
    for name in query.columns() {
        let mut names = head.split(|&byte| byte == dialect.delimiter);
        if names.any(|old| old == name.as_bytes()) {
            return Err(there_already(file, "column", &name));
        }
        head.push(dialect.delimiter);
        csv_field(&name, dialect.delimiter, &mut head);
    }
    head.extend_from_slice(form.end());
    Ok(head)
}
