//! Options that several subcommands share.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use popfib::{Kernel, KernelError};
pub(crate) use popfib_eval::Algorithm;
use popfib_formats::{Format, Input, LoadOptions, PeerFilter, RouteValue};

use crate::failure::Failure;

/// Which table to read, and how.
#[derive(Args)]
pub(crate) struct TableArgs {
    /// Routing table to read, compressed or not; `-` is standard input [default: the built-in
    /// table of a tier-1 router, with origin AS numbers as next hops]
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,

    /// Image made by `popfib compile`, used as it is in place of a table
    #[arg(long, value_name = "FILE", conflicts_with = "table")]
    pub(crate) fib: Option<PathBuf>,

    /// Use the image without validating it: only for one that you have made yourself, and that
    /// nobody changes
    #[arg(long, requires = "fib")]
    pub(crate) trust: bool,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}
impl TableArgs {
    /// Whether the table comes from standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        self.table.as_deref().is_some_and(is_stdin)
    }
}
/// Whether `path` stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}
/// How the file of a table is read.
#[derive(Args)]
pub(crate) struct ReadArgs {
    /// Format of the table; `popfib formats` lists them [default: recognised by content]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,

    /// Take the routes of this peer only: index, address or AS (AS64500), as `popfib peers` lists
    /// them [default: the best path of each prefix]
    #[arg(long, value_name = "PEER")]
    pub(crate) peer: Option<PeerFilter>,

    /// What stands for the next hop where a file tells more than one thing: next-hop, origin-as or
    /// peer [default: next-hop]
    #[arg(long, value_name = "WHAT")]
    pub(crate) value: Option<RouteValue>,

    /// Which value of a record: keys in a MaxMind database or a JSON object (country.iso_code), or a
    /// column of a CSV file by name or number [default: the one that tells most]
    #[arg(long, value_name = "PATH")]
    pub(crate) value_path: Option<String>,

    /// Skip and count lines that cannot be read, instead of stopping at the first; keep what there is
    /// of a file that is cut off
    #[arg(long)]
    pub(crate) skip_invalid: bool,

    /// Clear host bits that are set behind a prefix length (10.1.2.3/8 becomes 10.0.0.0/8)
    #[arg(long)]
    pub(crate) mask: bool,

    /// Most bytes that compressed data may grow to
    #[arg(long, value_name = "BYTES", default_value_t = Input::DEFAULT_MAX_SIZE)]
    pub(crate) max_size: u64,
}

impl ReadArgs {
    /// The first option that was given and means nothing without a file.
    pub(crate) fn of_file(&self) -> Option<&'static str> {
        let given = [
            ("--format", self.format.is_some()),
            ("--peer", self.peer.is_some()),
            ("--value", self.value.is_some()),
            ("--value-path", self.value_path.is_some()),
        ];
        given
            .iter()
            .find(|(_, is_given)| *is_given)
            .map(|(name, _)| *name)
    }

    /// The same for the library.
    pub(crate) fn options(&self) -> LoadOptions {
        LoadOptions {
            format: self.format,
            skip_invalid: self.skip_invalid,
            mask: self.mask,
            peer: self.peer,
            value: self.value.unwrap_or_default(),
            value_path: self.value_path.clone(),
        }
    }
}

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

    /// Lookup kernel [default: the fastest that this CPU runs]
    #[arg(long, value_name = "NAME", value_parser = parse_kernel)]
    pub(crate) kernel: Option<Kernel>,
}

impl FormArgs {
    /// The structure that was asked for.
    pub(crate) fn algorithm(&self) -> Result<Algorithm, Failure> {
        match self.algorithms()?[..] {
            [algorithm] => Ok(algorithm),
            _ => Err("--algorithm all is for `popfib bench`: name one".into()),
        }
    }

    /// The structures that were asked for, one or all.
    pub(crate) fn algorithms(&self) -> Result<Vec<Algorithm>, Failure> {
        use Algorithm::{Poptrie, PoptrieBasic};
        match (self.algorithm, self.no_leafvec) {
            (Some(Selection::All), false) => Ok(Algorithm::all().collect()),
            (Some(Selection::One(algorithm)), false) => Ok(vec![algorithm]),
            (None, false) => Ok(vec![Algorithm::Popfib]),
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
        let is_own = algorithm == Algorithm::Popfib;
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
            None => {
                // An error in one line, where `best` would panic.
                Kernel::from_env().map_err(|error| format!("POPFIB_KERNEL: {error}"))?;
                Ok(Kernel::best())
            }
        }
    }
}

/// The kernel that is always there.
pub(crate) fn scalar() -> Result<Kernel, Failure> {
    Ok(Kernel::by_name(SCALAR).map_err(|error| error.to_string())?)
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

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Family {
    /// IPv4
    #[value(name = "ipv4")]
    Ipv4,
    /// IPv6
    #[value(name = "ipv6")]
    Ipv6,
}

impl Family {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
        }
    }
}
