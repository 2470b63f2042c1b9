//! Options that several subcommands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Which table to read, and how strictly.
#[derive(Args)]
pub(crate) struct TableArgs {
    /// Routing table to read, compressed or not; `-` is standard input [default: the built-in
    /// table of a tier-1 router, with origin AS numbers as next hops]
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,

    /// Skip and count lines that cannot be read, instead of stopping at the first
    #[arg(long)]
    pub(crate) skip_invalid: bool,

    /// Clear host bits that are set behind a prefix length (10.1.2.3/8 becomes 10.0.0.0/8)
    #[arg(long)]
    pub(crate) mask: bool,
}

impl TableArgs {
    /// Whether the table comes from standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        self.table
            .as_deref()
            .is_some_and(|path| path.as_os_str() == "-")
    }
}

/// How the FIB is compiled and looked up.
#[derive(Args)]
pub(crate) struct FormArgs {
    /// Basic nodes of 16 bytes instead of leafvec nodes of 24 bytes (paper, section 3)
    #[arg(long)]
    pub(crate) no_leafvec: bool,

    /// Compile every route as it is, without route aggregation (paper, section 3)
    #[arg(long)]
    pub(crate) no_aggregation: bool,

    /// Lookup kernel
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Kernel::Scalar)]
    pub(crate) kernel: Kernel,
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

/// The lookup kernels by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kernel {
    /// One address at a time (paper, Algorithms 1 to 3)
    Scalar,
}

impl Kernel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
        }
    }
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
