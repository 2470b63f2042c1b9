//! Where a command that makes a table puts it: standard output or a file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use popfib_formats::{OutputFile, RouteTable, WriteError, WriteFormat, write_table};

use crate::failure::Failure;
use crate::output::Output;

/// In what form a table is written, and where.
#[derive(Args)]
pub(crate) struct DestinationArgs {
    /// Form of the table
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = forms())]
    to: WriteFormat,

    /// File to write, in place of an old one once it is complete; compressed if its name ends in
    /// .gz, .bz2 or .zst [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The forms by name.
fn forms() -> impl TypedValueParser<Value = WriteFormat> {
    let values = WriteFormat::all().map(|form| {
        PossibleValue::new(form.name())
            .help(form.description())
            .aliases(form.alias())
    });
    PossibleValuesParser::new(values).try_map(|name| name.parse::<WriteFormat>())
}

impl DestinationArgs {
    /// Opens the destination, before any work is done that an error here would waste.
    pub(crate) fn open(&self) -> Result<Destination, Failure> {
        let sink = match self.output.as_deref() {
            Some(path) if path.as_os_str() != "-" => {
                Sink::File(OutputFile::create(path).map_err(|e| of_file(path, &e))?)
            }
            _ => Sink::Stdout(Output::new()),
        };
        Ok(Destination {
            form: self.to,
            path: self.output.clone().unwrap_or_default(),
            sink,
        })
    }
}

/// A table's way out.
pub(crate) struct Destination {
    form: WriteFormat,
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Stdout(Output),
    File(OutputFile),
}

impl Destination {
    /// Writes the whole table and ends the file.
    pub(crate) fn write(mut self, table: &RouteTable) -> Result<(), Failure> {
        let written = write_table(table, self.form, &mut self.sink);
        let ended = written.and_then(|()| match &mut self.sink {
            Sink::Stdout(output) => Ok(Write::flush(output)?),
            Sink::File(_) => Ok(()),
        });
        match (ended, self.sink) {
            (Ok(()), Sink::Stdout(_)) => Ok(()),
            (Ok(()), Sink::File(file)) => file.finish().map_err(|e| of_file(&self.path, &e)),
            (Err(WriteError::Io(error)), Sink::Stdout(_)) => Err(Failure::Output(error)),
            (Err(WriteError::Io(error)), Sink::File(_)) => Err(of_file(&self.path, &error)),
            // The route is at fault, which is the table's.
            (Err(error), _) => Err(format!("{}: {error}", table.name.escape_debug()).into()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(output) => output.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(output) => Write::flush(output),
            Self::File(file) => file.flush(),
        }
    }
}

fn of_file(path: &Path, error: &io::Error) -> Failure {
    let path = path.display().to_string();
    format!("{}: {error}", path.escape_debug()).into()
}
