//! The command `popfib-lab`: what measures, compares and draws for popfib's
//! developers and readers of the papers, one subcommand a file.
//!
//! Whoever looks up addresses needs none of it: `popfib` is without its structures and libraries.

#![forbid(unsafe_code)]

mod args;
mod bench;
mod evaluate;
mod info;
mod live_tables;
mod many;
mod png;
mod program;
mod replay;
mod structures;
mod table;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// popfib's laboratory: lookup rates of algorithms and kernels, the papers' evaluation, timed updates.
#[derive(Parser)]
#[command(
    name = "popfib-lab",
    version,
    about,
    arg_required_else_help = true,
    after_help = "\
Examples:
  popfib-lab bench --direct-bits 16,18,20 --traffic random,zipf
  popfib-lab evaluate --quick -o report
  popfib-lab replay --table rib.mrt.gz --updates updates.mrt.gz
  popfib-lab verify --against treebitmap-64
  popfib-lab png map.svg -o map.png

Exit status: 0 success, 1 a negative answer (a mismatch was found), 2 bad usage
or input, 141 if the reader of the output left early."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::BenchArgs),
    Evaluate(evaluate::EvaluateArgs),
    Many(many::ManyArgs),
    Replay(replay::ReplayArgs),
    Verify(verify::VerifyArgs),
    Info(info::InfoArgs),
    Png(png::PngArgs),
}

fn main() -> ExitCode {
    program::end(run(Cli::parse()))
}

fn run(cli: Cli) -> Result<program::Verdict, program::Failure> {
    // Before anything looks up: where the variable names no kernel, lookups panic.
    args::kernel()?;
    match cli.command {
        Command::Bench(args) => bench::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Many(args) => many::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Png(args) => png::run(&args),
    }
}
