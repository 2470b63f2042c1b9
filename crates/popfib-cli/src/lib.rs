//! The command `popfib`: arguments, tables and addresses in; answers on standard output, notes and errors on standard error, and an
//! exit status out.
//!
//! Each subcommand is a file (and a folder of that name) with its options and a function `run`. The other files are what they share:
//! how the program begins and ends (`program`, `help`), what it says (`output`, `failure`, `progress`) and how that looks (`rows`,
//! `screen`), the options of a table (`args`) and how it is read (`table`, `image`, `live`), how streams of addresses are read and
//! answered (`stream`), where results go (`destination`).

mod aggregate;
mod annotate;
mod args;
mod bgp_lines;
mod calc;
mod clickhouse;
mod compile;
mod completions;
mod condition;
mod convert;
mod count;
mod destination;
mod diff;
mod draw;
mod explore;
mod formats;
mod forms;
mod grep;
#[cfg(test)]
mod help_tests;
mod image;
mod info;
mod join;
mod kernels;
mod live;
mod lookup;
mod man;
mod output;
mod path_conditions;
mod paths;
mod peers;
mod places;
mod records;
mod routes;
mod rov;
mod rows;
mod screen;
mod set;
mod stream;
mod synonyms;
mod table;
#[cfg(feature = "tls")]
mod tls;
mod updates;
mod verify;
mod watch;
#[cfg(all(target_os = "linux", feature = "xdp"))]
mod xdp;

use std::process::ExitCode;

use clap::{ArgAction, CommandFactory, Parser, Subcommand};
use colorchoice_clap::Color;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::{help, program};

/// IP longest-prefix match: look up, annotate, search, count, compare, convert
#[derive(Parser)]
#[command(mut_arg("color", help::color))]
#[command(
    name = "popfib",
    version,
    disable_version_flag = true,
    // Without an empty line above the usage: `-h` is one screen.
    help_template = "{about-with-newline}{usage-heading} {usage}\n\n{all-args}{after-help}",
    arg_required_else_help = true,
    after_help = "\
Examples:
  popfib 8.8.8.8 2001:4860:4860::8888",
    after_long_help = "  popfib grep -f blocklist.txt access.log
  popfib count --top 20 access.log
  popfib annotate access.log > annotated.log
  popfib info routes.txt.gz
  popfib compile --table routes.txt.gz -o routes.fib
  popfib routes --covered-by 8.0.0.0/8 --longer-than 20
  popfib diff --effective yesterday.txt.gz today.txt.gz
  popfib set subtract announced.txt.gz blocked.txt
  popfib rov --table bview.gz --vrps vrps.json

Exit status: 0 success, 1 a negative answer (grep found nothing, set an empty
result, verify a mismatch, diff a difference), 2 bad usage or input, 141 if the
reader of the output left early."
)]
struct Cli {
    #[command(subcommand)]
    command: PopfibCommand,

    // As clap's own, but not in `-h`, which is one screen.
    /// Print version
    #[arg(id = "version", short = 'V', long = "version", action = ArgAction::Version, hide_short_help = true)]
    _version: (),

    #[command(flatten)]
    color: Color,
}

#[derive(Subcommand)]
enum PopfibCommand {
    Lookup(lookup::LookupArgs),
    Annotate(annotate::AnnotateArgs),
    Grep(grep::GrepArgs),
    Count(count::CountArgs),
    Info(info::InfoArgs),
    Routes(routes::RoutesArgs),
    Diff(diff::DiffArgs),
    Set(set::SetArgs),
    Calc(calc::CalcArgs),
    Convert(convert::ConvertArgs),
    Aggregate(aggregate::AggregateArgs),
    Compile(compile::CompileArgs),
    Join(join::JoinArgs),
    Rov(rov::RovArgs),
    Paths(paths::PathsArgs),
    Updates(updates::UpdatesArgs),
    Peers(peers::PeersArgs),
    Watch(watch::WatchArgs),
    Draw(draw::DrawArgs),
    #[cfg(all(target_os = "linux", feature = "xdp"))]
    Xdp(xdp::XdpArgs),
    Explore(explore::ExploreArgs),
    Verify(verify::VerifyArgs),
    Clickhouse(clickhouse::ClickhouseArgs),
    Formats(formats::FormatsArgs),
    Kernels(kernels::KernelsArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

fn run(cli: Cli) -> Result<Verdict, Failure> {
    cli.color.write_global();
    match cli.command {
        PopfibCommand::Lookup(args) => lookup::run(args),
        PopfibCommand::Annotate(args) => annotate::run(args),
        PopfibCommand::Grep(args) => grep::run(args),
        PopfibCommand::Count(args) => count::run(args),
        PopfibCommand::Info(args) => info::run(&args),
        PopfibCommand::Verify(args) => verify::run(&args),
        PopfibCommand::Compile(args) => compile::run(&args),
        PopfibCommand::Join(args) => join::run(&args),
        PopfibCommand::Watch(args) => watch::run(&args),
        PopfibCommand::Formats(args) => formats::run(&args),
        PopfibCommand::Kernels(args) => kernels::run(&args),
        PopfibCommand::Routes(args) => routes::run(args),
        PopfibCommand::Set(args) => set::run(&args),
        PopfibCommand::Calc(args) => calc::run(&args),
        PopfibCommand::Rov(args) => rov::run(&args),
        PopfibCommand::Diff(args) => diff::run(&args),
        PopfibCommand::Aggregate(args) => aggregate::run(&args),
        PopfibCommand::Convert(args) => convert::run(&args),
        PopfibCommand::Draw(args) => draw::run(&args),
        #[cfg(all(target_os = "linux", feature = "xdp"))]
        PopfibCommand::Xdp(args) => xdp::run(args),
        PopfibCommand::Explore(args) => explore::run(args),
        PopfibCommand::Clickhouse(args) => clickhouse::run(&args),
        PopfibCommand::Paths(args) => paths::run(&args),
        PopfibCommand::Updates(args) => updates::run(&args),
        PopfibCommand::Peers(args) => peers::run(&args),
        PopfibCommand::Completions(args) => completions::run(&args, help::arrange(Cli::command())),
        PopfibCommand::Man(args) => man::run(&args, help::arrange(Cli::command())),
    }
}

/// The whole of `popfib`, with the arguments of this process. Addresses without a command, in arguments or a pipe, are looked up.
pub fn main() -> ExitCode {
    let mut arguments = program::arguments();
    let typed = arguments.clone();
    let first = program::first(&arguments);
    let is_lookup = match arguments.get(first) {
        Some(argument) => lookup::is_asked(argument),
        None => args::is_on_stdin("addresses"),
    };
    if is_lookup {
        arguments.insert(first, "lookup".into());
    }
    let meant = |wrong: &str| {
        let told = synonyms::meant(&typed, wrong);
        told.or_else(|| synonyms::meant(&arguments, wrong))
    };
    program::main(arguments.clone(), meant, run)
}
