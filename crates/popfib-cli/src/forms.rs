//! The forms in which answers and reports are printed, by their names in `--to`.

use clap::{Args, ValueEnum};

/// In what form rows of a report are printed.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ReportArgs {
    /// Format of the output [default: what the name of its file means; else text]
    #[arg(long, value_name = "FORM", value_enum)]
    to: Option<ReportForm>,

    /// The same as --to json-lines
    #[arg(long, conflicts_with = "to")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportForm {
    /// Columns separated by tabs; on a terminal aligned, with headings
    Text,
    /// A table with a header
    Csv,
    /// One JSON object a line
    #[value(alias = "jsonl")]
    JsonLines,
}

impl ReportArgs {
    pub(crate) fn form(self) -> ReportForm {
        self.asked().unwrap_or(ReportForm::Text)
    }

    /// The form that was asked for.
    pub(crate) fn asked(self) -> Option<ReportForm> {
        self.to.or(self.json.then_some(ReportForm::JsonLines))
    }

    /// Asks for this form.
    pub(crate) fn ask(&mut self, form: ReportForm) {
        self.to = Some(form);
    }
}
