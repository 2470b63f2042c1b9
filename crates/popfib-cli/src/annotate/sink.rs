//! What becomes of batches of addresses: bytes in the form that was asked for.

use std::sync::Arc;

use popfib_formats::text::csv_field;
use popfib_formats::{AddressBatch, Escaped};

#[cfg(feature = "parquet")]
use super::parquet::Columns;
use super::{AnnotateArgs, OutputForm};
use crate::failure::Failure;
use crate::output::note;
use crate::stream::Lead;
use crate::stream::form::{Dialect, Form};
use crate::stream::lines::{Lines, MESSAGE, Query, Work, there_already};
use crate::stream::source::Source;
use crate::stream::table::NamedTable;
use crate::table::counted;

/// Annotates in one form; all files have to be alike in their columns.
pub(super) enum Sink {
    Lines {
        lines: Box<Lines>,
        work: Box<Work>,
        /// What comes before everything.
        head: Vec<u8>,
    },
    #[cfg(feature = "parquet")]
    Columns(Box<Columns>),
}

impl Sink {
    /// The sink for files like `source`, the first of which is called `name`.
    pub(super) fn new(
        name: &str,
        source: &Source,
        args: &AnnotateArgs,
        query: &Query,
    ) -> Result<Self, Failure> {
        let is_parquet = args.form() == Some(OutputForm::Parquet);
        if is_parquet && !query.is_single() {
            return Err("--to parquet is for one address a row".into());
        }
        if is_parquet && query.anonymizer.is_some() {
            let reason = "--to parquet copies columns, addresses and all";
            return Err(format!("{reason}; --to csv has other addresses").into());
        }
        #[cfg(feature = "parquet")]
        if is_parquet {
            return Ok(Self::Columns(Box::new(Columns::new(source, args, query)?)));
        }
        let (form, lead) = form(source, args, query);
        if lead == Lead::AddressOfLine && query.columns().any(|name| name == MESSAGE) {
            return Err(there_already(name, "member", MESSAGE));
        }
        Ok(Self::Lines {
            head: head(name, &form, lead, query)?,
            lines: Box::new(Lines::new(query.clone(), form, lead)),
            work: Box::new(Work::default()),
        })
    }

    /// Answers by these tables from now on, if it is lines that it makes.
    pub(super) fn use_tables(&mut self, tables: Arc<[NamedTable]>) {
        match self {
            Self::Lines { lines, .. } => lines.use_tables(tables),
            #[cfg(feature = "parquet")]
            Self::Columns(_) => {}
        }
    }

    /// Whether `source` has the columns of the files before.
    pub(super) fn takes(&self, source: &Source, args: &AnnotateArgs, query: &Query) -> bool {
        match self {
            Self::Lines { lines, .. } => {
                let (form, lead) = form(source, args, query);
                lines.is(&form, lead)
            }
            #[cfg(feature = "parquet")]
            Self::Columns(columns) => columns.takes(source),
        }
    }

    /// What comes before the answers to the file `name`: in lines of text, the heading of a table is one.
    pub(super) fn begin(&mut self, name: &str, source: &Source) -> Vec<u8> {
        match self {
            Self::Lines { lines, .. } => {
                lines.begin(name);
                let header = source.table().and_then(|table| table.header);
                header.map_or_else(Vec::new, |header| lines.heading(header))
            }
            #[cfg(feature = "parquet")]
            Self::Columns(_) => Vec::new(),
        }
    }

    /// What comes before the first answer.
    pub(super) fn head(&self) -> &[u8] {
        match self {
            Self::Lines { head, .. } => head,
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
            Self::Lines { lines, work, .. } => lines.lines(batch, work),
            #[cfg(feature = "parquet")]
            Self::Columns(columns) => columns.answer(batch, source),
        }
    }

    /// What annotates on several threads, if it is lines that it makes.
    pub(super) fn as_lines(&mut self) -> Option<&mut Lines> {
        match self {
            Self::Lines { lines, .. } => Some(lines),
            #[cfg(feature = "parquet")]
            Self::Columns(_) => None,
        }
    }

    /// What comes after the last answer.
    pub(super) fn finish(self) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Lines { lines, .. } => {
                let kept = lines.kept();
                if kept > 0 {
                    let are = if kept == 1 {
                        "is no JSON object and was kept as it is"
                    } else {
                        "are no JSON objects, and were kept as they are"
                    };
                    note(format_args!("{} {are}", counted(kept, "line")));
                }
                Ok(Vec::new())
            }
            #[cfg(feature = "parquet")]
            Self::Columns(columns) => columns.finish(),
        }
    }
}

/// The form of lines for a file of addresses, and what they begin with.
fn form(source: &Source, args: &AnnotateArgs, query: &Query) -> (Form, Lead) {
    let dialect = source.table().map(|table| Dialect {
        delimiter: table.delimiter,
        is_crlf: table.is_crlf,
        header: table.header.map(<[u8]>::to_vec),
    });
    let is_crlf = dialect.as_ref().is_some_and(|dialect| dialect.is_crlf);
    let row_or_address = if source.is_text() {
        Lead::Row
    } else {
        Lead::Address
    };
    match (args.form(), dialect) {
        (Some(OutputForm::Csv) | None, Some(dialect)) => (Form::Csv(dialect), Lead::Row),
        (Some(OutputForm::Csv), None) => (Form::Csv(Dialect::OF_ADDRESSES), Lead::Address),
        (Some(OutputForm::JsonLines) | None, _) if source.is_json() => (Form::Json, Lead::Row),
        (Some(OutputForm::JsonLines), _) if source.is_text() && !args.value_only => {
            (Form::Json, Lead::AddressOfLine)
        }
        (Some(OutputForm::JsonLines), _) => (Form::Json, Lead::Address),
        (None, _)
            if !args.value_only
                && !query.tables.is_empty()
                && let Some(heading) = source.heading() =>
        {
            let names = query.columns().map(|name| Escaped(&name).to_string());
            let names: Vec<String> = names.collect();
            let count = names.len();
            let form = Form::Headed {
                heading: heading.to_vec(),
                names: format!("\t{}", names.join("\t")).into_bytes(),
                types: b"\tstring".repeat(count),
            };
            (form, Lead::Row)
        }
        _ if args.value_only => (Form::Text { is_crlf: false }, Lead::Nothing),
        _ => (Form::Text { is_crlf }, row_or_address),
    }
}

/// What comes before everything: the names of the columns.
fn head(file: &str, form: &Form, lead: Lead, query: &Query) -> Result<Vec<u8>, Failure> {
    let Form::Csv(dialect) = form else {
        return Ok(Vec::new());
    };
    if lead == Lead::Address {
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
