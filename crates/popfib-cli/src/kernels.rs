//! `popfib kernels`: the list of the kernels, the ways to look up many addresses at a time, and which of them is chosen.

use clap::Args;
use popfib::Kernel;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_table::{Cell, Scalar};

use crate::args;
use crate::forms::FormArgs;
use crate::output::StandardOutput;
use crate::records::text;
use crate::rows::RowForm;

/// List the kernels, which look up many addresses at a time.
///
/// Columns are the name, and whether it is chosen, available or unavailable on this CPU. The last one that this CPU
/// can run is chosen, unless the environment variable POPFIB_KERNEL names another. All give the same answers.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib kernels
  popfib kernels --json
  POPFIB_KERNEL=avx2 popfib lookup 8.8.8.8")]
#[command(after_long_help = "
JSON, one object a line: kernel, available, chosen.")]
pub(crate) struct KernelsArgs {
    #[command(flatten)]
    form: FormArgs,
}

pub(crate) fn run(args: &KernelsArgs) -> Result<Verdict, Failure> {
    let best = args::kernel()?;
    let mut output = StandardOutput::of_form(RowForm::TABS, args.form, "kernel available chosen")?;
    for &name in Kernel::ALL_NAMES {
        let kernel = Kernel::by_name(name).ok();
        let (available, chosen) = (kernel.is_some(), kernel == Some(best));
        if !output.is_text() {
            let is = |truth| Some(Cell::Scalar(Scalar::Boolean(truth)));
            output.values(&[], &[Some(text(name)), is(available), is(chosen)])?;
        } else {
            let state = match (available, chosen) {
                (_, true) => "chosen",
                (true, false) => "available",
                (false, false) => "unavailable",
            };
            output.cells(&[&name, &state])?;
        }
    }
    output.end(Verdict::Good)
}
