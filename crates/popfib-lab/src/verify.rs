//! `popfib-lab verify`: any structure against the routes that it was built from, or against another.

use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use popfib::Rib;
use popfib_baselines::Key;
use popfib_cli::args::TableArgs;
use popfib_cli::failure::Failure;
use popfib_cli::image::Opened;
use popfib_cli::output::note;
use popfib_cli::program::Verdict;
use popfib_cli::table;
use popfib_cli::verify::{CheckArgs, Count};
use popfib_eval::{Algorithm, Compiled};

use crate::args::{FibArgs, possible_value, scalar};
use crate::structures::{build, compile, of_image};

/// Check a structure against the routes that it was made from, or against another structure.
///
/// First, last and neighbouring addresses of every route are looked up, and random ones: half of
/// them anywhere, half inside a random route. The layout of a Poptrie is checked as well. Exit
/// status 1 if anything is wrong, with the first mismatches on standard error.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib-lab verify --exhaustive --algorithm sail
  popfib-lab verify --against treebitmap-64
  popfib-lab verify --exhaustive --direct-bits 18 --kernel scalar
  popfib-lab verify --table routes.txt.gz --no-leafvec --random 10000000 --seed 7 --json

JSON, one object: ipv4 and ipv6, each with addresses and mismatches.")]
pub(crate) struct VerifyArgs {
    /// What to compare the structure with: the RIB, or another structure built from it. A family that the
    /// other structure cannot hold is left out
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Against::Rib)]
    against: Against,

    #[command(flatten)]
    check: CheckArgs,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    fib: FibArgs,
}

/// What the FIB can be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Against {
    /// Longest match in the route store
    Rib,
    /// Another structure
    Algorithm(Algorithm),
}

impl ValueEnum for Against {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Against>> = LazyLock::new(|| {
            let others = Algorithm::all().map(Against::Algorithm);
            [Against::Rib].into_iter().chain(others).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Rib => PossibleValue::new("rib").help("Longest match in the route store"),
            Self::Algorithm(algorithm) => possible_value(*algorithm),
        })
    }
}

pub(crate) fn run(args: &VerifyArgs) -> Result<Verdict, Failure> {
    let (ipv4, ipv6) = match table::open_image(&args.table)? {
        Some(opened) => (
            image_family::<u32>("IPv4", &opened, args)?,
            image_family::<u128>("IPv6", &opened, args)?,
        ),
        None => {
            let table = table::load(&args.table)?;
            (
                family("IPv4", &table.ipv4, args)?,
                family("IPv6", &table.ipv6, args)?,
            )
        }
    };
    args.check.finish(ipv4, ipv6)
}

fn family<A: Key>(name: &str, rib: &Rib<A>, args: &VerifyArgs) -> Result<Count, Failure> {
    let compiled = compile(rib, args.fib.direct_bits, &args.fib.form)?;
    compared(name, &compiled, rib, args)
}

/// Checks one family of an image against its routes.
fn image_family<A: Key>(name: &str, opened: &Opened, args: &VerifyArgs) -> Result<Count, Failure> {
    if args.fib.form.algorithm()? != Algorithm::Popfib {
        return Err(opened.is_compiled("--algorithm and --no-leafvec are"));
    }
    let compiled = of_image::<A>(opened, args.fib.direct_bits, &args.fib.form)?;
    if opened.lacks_routes::<A>() {
        return Err(opened.without_routes("verify it"));
    }
    compared(name, &compiled, &opened.rib(), args)
}

fn compared<A: Key>(
    name: &str,
    compiled: &Compiled<A>,
    rib: &Rib<A>,
    args: &VerifyArgs,
) -> Result<Count, Failure> {
    let (form, fib) = (&args.fib.form, &compiled.fib);
    // The lookups rely on a sound structure, so an unsound one is not asked.
    if let Err(error) = fib.check() {
        return Ok(Count::broken(name, error));
    }
    let kernel = form.kernel()?;
    let asked = |addresses: &[A], answers: &mut [u32]| fib.lookup_into(kernel, addresses, answers);
    let Against::Algorithm(other) = args.against else {
        return Ok(args.check.with_routes(name, rib, asked));
    };
    let judge = match build(rib, None, other, form) {
        Ok(compiled) => compiled.fib,
        Err(error) => {
            note(format_args!("{name}: {}: {error}", other.name()));
            return Ok(Count::default());
        }
    };
    let scalar = scalar()?;
    let judge = |addresses: &[A], answers: &mut [u32]| {
        judge.lookup_into(scalar, addresses, answers);
    };
    let judge = (other.name(), judge);
    Ok(args.check.with_judge(name, rib, asked, judge))
}
