//! `popfib completions`: the definitions of all options in, a shell's completion script on standard output.

use clap::{Args, Command};
use clap_complete::Shell;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use crate::output::StandardOutput;

/// Print a completion script for a shell.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib completions bash > ~/.local/share/bash-completion/completions/popfib
  popfib completions zsh > ~/.zfunc/_popfib
  popfib completions fish > ~/.config/fish/completions/popfib.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell that the script is for
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, mut command: Command) -> Result<Verdict, Failure> {
    // Into memory first: the generator panics if a write fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "popfib", &mut script);
    let mut output = StandardOutput::new();
    output.bytes(&script)?;
    output.end(Verdict::Good)
}
