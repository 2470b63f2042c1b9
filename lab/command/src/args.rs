//! Options of the laboratory's subcommands: the structure that is measured, how it is compiled and looked up.

use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use popfib::kernel::KernelError;
use popfib::{Kernel, Size};
use popfib_eval::Algorithm;

use crate::program::Failure;

/// How the FIB is compiled and looked up.
#[derive(Args)]
pub(crate) struct FormArgs {
    /// Structure that answers [default: popfib]
    #[arg(long, value_name = "NAME", value_enum)]
    pub(crate) algorithm: Option<Selection>,

    /// The paper's basic nodes, without leafvec (paper, section 3.1); the same as
    /// `--algorithm poptrie-basic`
    #[arg(long)]
    pub(crate) no_leafvec: bool,

    /// Compile every route as it is, without route aggregation (paper, section 3)
    #[arg(long)]
    pub(crate) no_aggregation: bool,

    /// Lookup kernel [default: the one that `popfib kernels` shows]
    #[arg(long, value_name = "NAME", value_parser = parse_kernel)]
    pub(crate) kernel: Option<Kernel>,
}

impl FormArgs {
    /// The structure that was asked for.
    pub(crate) fn algorithm(&self) -> Result<Algorithm, Failure> {
        match self.algorithms()?[..] {
            [algorithm] => Ok(algorithm),
            _ => Err("--algorithm all is for `popfib-lab bench`: name one".into()),
        }
    }

    /// The structures that were asked for, one or all.
    pub(crate) fn algorithms(&self) -> Result<Vec<Algorithm>, Failure> {
        use Algorithm::{Poptrie, PoptrieBasic};
        match (self.algorithm, self.no_leafvec) {
            (Some(Selection::All), false) => Ok(Algorithm::all().collect()),
            (Some(Selection::One(algorithm)), false) => Ok(vec![algorithm]),
            (None, false) => Ok(vec![Algorithm::Popfib(Size::Smallest)]),
            (None | Some(Selection::One(Poptrie | PoptrieBasic)), true) => Ok(vec![PoptrieBasic]),
            (Some(_), true) => Err(
                "--no-leafvec is an option of the paper's layout: use --algorithm poptrie".into(),
            ),
        }
    }

    /// The kernel that looks up.
    pub(crate) fn kernel(&self) -> Result<Kernel, Failure> {
        self.kernel_of(self.algorithm()?)
    }

    /// The kernel that looks up in `algorithm`; for another than popfib's own
    /// layout the one that stands for "one after the other".
    pub(crate) fn kernel_of(&self, algorithm: Algorithm) -> Result<Kernel, Failure> {
        let is_own = matches!(algorithm, Algorithm::Popfib(_));
        match self.kernel {
            Some(kernel) if !is_own && kernel.name() != SCALAR => Err(format!(
                "{} is looked up by the kernel scalar only",
                match algorithm {
                    Algorithm::Baseline(baseline) => baseline.name(),
                    _ => "the paper's layout",
                }
            )
            .into()),
            Some(kernel) => Ok(kernel),
            None if !is_own => scalar(),
            None => kernel(),
        }
    }
}

/// The kernel that is always there.
pub(crate) fn scalar() -> Result<Kernel, Failure> {
    Ok(Kernel::by_name(SCALAR)?)
}

/// The kernel that looks up: the one that `POPFIB_KERNEL` names, else this CPU's.
pub(crate) fn kernel() -> Result<Kernel, Failure> {
    // An error in one line, where `best` would panic.
    Kernel::from_env().map_err(|error| format!("POPFIB_KERNEL: {error}"))?;
    Ok(Kernel::best())
}

/// The kernel that looks up one address after the other.
const SCALAR: &str = "scalar";

/// A kernel by its name.
fn parse_kernel(name: &str) -> Result<Kernel, KernelError> {
    Kernel::by_name(name)
}

/// A structure with what help says of it.
pub(crate) fn possible_value(algorithm: Algorithm) -> PossibleValue {
    PossibleValue::new(algorithm.name()).help(algorithm.about())
}

/// One structure, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    One(Algorithm),
    All,
}

impl ValueEnum for Selection {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Selection>> = LazyLock::new(|| {
            let each = Algorithm::all().map(Selection::One);
            each.chain([Selection::All]).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::One(algorithm) => possible_value(*algorithm),
            Self::All => PossibleValue::new("all").help("Each of these, one after the other"),
        })
    }
}

/// [`FormArgs`] for one FIB a family.
#[derive(Args)]
pub(crate) struct FibArgs {
    /// Leading address bits that the direct table resolves, 0 to 24 [default: by table size]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u8).range(0..=24))]
    pub(crate) direct_bits: Option<u8>,

    #[command(flatten)]
    pub(crate) form: FormArgs,
}
