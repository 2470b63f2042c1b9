//! The Rust half of `lab/bench/peers`: makes the files that all programs
//! read, and measures popfib and the peers written in Rust.

mod algorithms;
mod exchange;
mod maps;
mod neighbour;
mod planb;
mod prepare;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::algorithms::algorithms;
use crate::exchange::Failure;

/// popfib and its peers in Rust, measured alike; lab/bench/peers runs this.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write routes, streams and right answers, and say what was written
    Prepare {
        /// A table file, or `default` for the built-in one
        #[arg(long)]
        table: String,
        /// Addresses of each IPv4 stream
        #[arg(long, default_value_t = 1 << 24)]
        ipv4_count: usize,
        /// Addresses of each IPv6 stream
        #[arg(long, default_value_t = 1 << 23)]
        ipv6_count: usize,
        /// Folder to write to
        #[arg(short)]
        output: PathBuf,
    },
    /// Measure popfib's maps beside those of prefix-trie and treebitmap, whatever a user of one calls
    Maps {
        /// A table file, or `default` for the built-in one
        #[arg(long)]
        table: String,
        /// Addresses to look up
        #[arg(long, default_value_t = 1 << 21)]
        count: usize,
        /// Timed passes
        #[arg(long, default_value_t = 5)]
        passes: usize,
        /// Core to run on
        #[arg(long)]
        cpu: Option<usize>,
    },
    /// Print the bytes that one map takes at most; `maps` starts this and writes the routes to it
    Peak {
        /// ipv4 or ipv6
        family: String,
        /// shared or own
        values: String,
        /// How which map is built
        build: String,
        /// Routes
        count: usize,
    },
    /// Keep the shared cache busy until standard input ends
    Disturb {
        /// Memory that is written to at random
        #[arg(long, default_value_t = 96)]
        mib: usize,
    },
    /// Print the rate of random reads in 24 MiB, each of which waits for the one before: million a second
    Probe,
    /// Print the names of the algorithms
    List,
    /// Measure one algorithm on one family
    Run {
        algorithm: String,
        /// ipv4 or ipv6
        family: String,
        /// Folder of that family
        folder: PathBuf,
        /// Timed passes over each stream
        passes: usize,
    },
}

fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::Prepare {
            table,
            ipv4_count,
            ipv6_count,
            output,
        } => prepare::prepare(&table, &output, (ipv4_count, ipv6_count)),
        Command::Maps {
            table,
            count,
            passes,
            cpu,
        } => {
            cpu.map_or(Ok(()), popfib_eval::pin)?;
            maps::maps(&table, count, passes)
        }
        Command::Peak {
            family,
            values,
            build,
            count,
        } => match family.as_str() {
            "ipv4" => maps::peak::print::<u32>(&values, &build, count),
            "ipv6" => maps::peak::print::<u128>(&values, &build, count),
            _ => Err(format!("there is no family `{family}`").into()),
        },
        Command::Disturb { mib } => neighbour::disturb(mib),
        Command::Probe => {
            neighbour::probe();
            Ok(())
        }
        Command::List => {
            for algorithm in algorithms() {
                println!("{}", algorithm.name);
            }
            Ok(())
        }
        Command::Run {
            algorithm,
            family,
            folder,
            passes,
        } => {
            let algorithm = algorithms()
                .into_iter()
                .find(|known| known.name == algorithm)
                .ok_or_else(|| format!("there is no algorithm `{algorithm}`"))?;
            match family.as_str() {
                "ipv4" => run::run::<u32>(&algorithm, &folder, passes),
                "ipv6" => run::run::<u128>(&algorithm, &folder, passes),
                _ => Err(format!("there is no family `{family}`").into()),
            }
        }
    }
}

fn main() -> ExitCode {
    match execute(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("popfib-peers: {error}");
            ExitCode::from(2)
        }
    }
}
