//! The forms in which answers and reports are printed, by their names in `--to`: the one table of them. What the ends of names of files
//! mean is that of `destination`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, ValueEnum};

/// In what form answers are printed.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FormArgs {
    /// Format of the output [default: what the name of its file means; else text]
    #[arg(long, value_name = "FORM", value_parser = parser(false))]
    to: Option<Form>,

    /// The same as --to json-lines
    #[arg(long, conflicts_with = "to")]
    json: bool,

    /// The same as --to csv
    ///
    /// The columns are the members of the JSON below; what lies inside another member has both names, with a dot.
    #[arg(hide_short_help = true, long, conflicts_with_all = ["to", "json"])]
    csv: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Columns separated by tabs; on a terminal aligned
    Text,
    /// A table with a header
    Csv,
    /// One JSON object a line
    #[value(aliases = ["json", "jsonl"])]
    JsonLines,
    /// A Parquet file
    Parquet,
}

/// Parses the name of a form, of Parquet only where it can be written.
fn parser(takes_parquet: bool) -> impl TypedValueParser<Value = Form> {
    let forms = Form::value_variants().iter();
    let forms = forms.filter(|form| takes_parquet || **form != Form::Parquet);
    let names = forms.filter_map(Form::to_possible_value);
    PossibleValuesParser::from(names.collect::<Vec<_>>())
        .map(|name| Form::from_str(&name, false).expect("one of the names"))
}

/// `--to` of a command that writes Parquet, too.
pub(crate) fn with_parquet(to: Arg) -> Arg {
    to.value_parser(parser(true))
}

impl FormArgs {
    /// Those of a command whose only form besides text is JSON.
    pub(crate) fn of_json(json: bool) -> Self {
        Self {
            to: None,
            json,
            csv: false,
        }
    }

    pub(crate) fn form(self) -> Form {
        self.asked().unwrap_or(Form::Text)
    }

    /// The form that was asked for.
    pub(crate) fn asked(self) -> Option<Form> {
        let json = self.json.then_some(Form::JsonLines);
        self.to.or(json).or(self.csv.then_some(Form::Csv))
    }

    /// Asks for this form.
    pub(crate) fn ask(&mut self, form: Form) {
        self.to = Some(form);
    }
}
