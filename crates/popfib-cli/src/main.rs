//! The command `popfib`: one subcommand a file, the contract in one place.
//!
//! Data goes to standard output, notes and errors to standard error. Exit 0 is
//! success, 1 a negative answer (`verify` found a mismatch, `diff` a difference), 2 bad usage or bad
//! input. A reader that closes standard output early (`popfib lookup | head`)
//! ends the command quietly with exit 0: it has all that it wanted.

mod aggregate;
mod annotate;
mod any_fib;
mod args;
mod bench;
mod compile;
mod completions;
mod convert;
mod destination;
mod diff;
mod draw;
mod evaluate;
mod failure;
mod formats;
mod image;
mod info;
mod lookup;
mod man;
mod output;
mod peers;
mod progress;
mod replay;
mod routes;
mod table;
mod verify;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::Failure;

/// IP longest-prefix match with Poptrie: look up, inspect, compare, verify and measure routing tables.
#[derive(Parser)]
#[command(
    name = "popfib",
    version,
    about,
    arg_required_else_help = true,
    after_help = "\
Examples:
  popfib lookup 8.8.8.8 2001:4860:4860::8888
  popfib annotate addresses.txt > answers.tsv
  popfib info --table routes.txt.gz
  popfib verify --exhaustive
  popfib bench --direct-bits 16,18,20 --traffic random,zipf
  popfib compile --table routes.txt.gz -o routes.fib
  popfib routes --covered-by 8.0.0.0/8 --longer-than 20
  popfib diff --effective yesterday.txt.gz today.txt.gz

Exit status: 0 success, 1 a negative answer (verify found a mismatch, diff a
difference), 2 bad usage or input."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Lookup(lookup::LookupArgs),
    Annotate(annotate::AnnotateArgs),
    Info(info::InfoArgs),
    Verify(verify::VerifyArgs),
    Replay(replay::ReplayArgs),
    Bench(bench::BenchArgs),
    Evaluate(evaluate::EvaluateArgs),
    Compile(compile::CompileArgs),
    Formats(formats::FormatsArgs),
    Routes(routes::RoutesArgs),
    Diff(diff::DiffArgs),
    Aggregate(aggregate::AggregateArgs),
    Convert(convert::ConvertArgs),
    Draw(draw::DrawArgs),
    Peers(peers::PeersArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// What a command that did its work has to say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    /// The answer is no: exit 1.
    Bad,
}

fn run() -> Result<Verdict, Failure> {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match cli.command {
        Command::Lookup(args) => lookup::run(&args),
        Command::Annotate(args) => annotate::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Compile(args) => compile::run(&args),
        Command::Formats(args) => formats::run(&args),
        Command::Routes(args) => routes::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Aggregate(args) => aggregate::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Draw(args) => draw::run(&args),
        Command::Peers(args) => peers::run(&args),
        Command::Completions(args) => completions::run(&args, Cli::command()),
        Command::Man(args) => man::run(&args, Cli::command()),
    }
}

/// Prints what clap has to say: help and version are output, the rest is bad usage.
fn usage(error: &clap::Error) -> Result<Verdict, Failure> {
    let printed = error.print();
    if error.use_stderr() {
        return Err(Failure::Usage);
    }
    printed
        .and_then(|()| io::stdout().flush())
        .map_err(Failure::Output)?;
    Ok(Verdict::Good)
}

fn main() -> ExitCode {
    match run() {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(1),
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            if !matches!(failure, Failure::Usage) {
                output::note(&failure);
            }
            ExitCode::from(2)
        }
    }
}
