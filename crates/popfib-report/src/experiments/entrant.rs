//! Who is compared: each structure in the forms that the paper measures.

use popfib::{Kernel, Options};
use popfib_baselines::Baseline;
use popfib_eval::Algorithm;

/// A structure in one form, looked up in one way.
#[derive(Clone, Debug)]
pub(crate) struct Entrant {
    /// Its name in tables and figures, the paper's where the paper has one.
    pub(crate) name: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) options: Options,
    /// What looks up batches of a popfib table; the others have a loop of their own.
    pub(crate) kernel: Kernel,
}

impl Entrant {
    /// A structure of another paper.
    pub(crate) fn baseline(baseline: Baseline) -> Self {
        Self {
            name: match baseline {
                Baseline::Radix => "Radix",
                Baseline::Patricia => "Patricia",
                Baseline::TreeBitmap16Basic => "Tree BitMap",
                Baseline::TreeBitmap64Basic => "Tree BitMap (64-ary)",
                Baseline::TreeBitmap16 => "Tree BitMap16",
                Baseline::TreeBitmap64 => "Tree BitMap18 (64-ary)",
                Baseline::Dir24x8 => "DIR-24-8",
                Baseline::Sail => "SAIL",
                Baseline::Dxr16 => "D16R",
                Baseline::Dxr18 => "D18R",
                Baseline::Dxr18Modified => "D18R (modified)",
                other => other.name(),
            }
            .to_owned(),
            algorithm: Algorithm::Baseline(baseline),
            options: Options::default(),
            kernel: scalar(),
        }
    }

    /// The paper's Poptrie with leafvec and route aggregation.
    pub(crate) fn poptrie(direct_bits: u8) -> Self {
        Self {
            name: format!("Poptrie{direct_bits}"),
            algorithm: Algorithm::Poptrie,
            options: Options::default().direct_bits(Some(direct_bits)),
            kernel: scalar(),
        }
    }

    /// popfib's own layout, looked up one address after the other.
    pub(crate) fn popfib(direct_bits: u8) -> Self {
        Self {
            name: format!("popfib{direct_bits}"),
            algorithm: Algorithm::Popfib,
            options: Options::default().direct_bits(Some(direct_bits)),
            kernel: scalar(),
        }
    }

    /// popfib as it is used: its own choice of form, the fastest kernel.
    pub(crate) fn popfib_batch() -> Self {
        let kernel = Kernel::best();
        Self {
            name: format!("popfib ({})", kernel.name()),
            algorithm: Algorithm::Popfib,
            options: Options::default(),
            kernel,
        }
    }

    /// All.
    pub(crate) fn all() -> Vec<Self> {
        let mut all: Vec<Self> = Baseline::ALL.map(Self::baseline).into();
        all.extend([0, 16, 18].map(Self::poptrie));
        all.extend([16, 18].map(Self::popfib));
        all.push(Self::popfib_batch());
        all
    }

    /// Those of the paper's Table 5, and popfib's own.
    pub(crate) fn of_scalability() -> Vec<Self> {
        let mut all: Vec<Self> = [Baseline::Sail, Baseline::Dxr18, Baseline::Dxr18Modified]
            .map(Self::baseline)
            .into();
        all.extend([Self::poptrie(18), Self::popfib(18), Self::popfib_batch()]);
        all
    }

    /// Those whose lookups are timed one by one: the paper's Table 4, and popfib's own.
    pub(crate) fn of_cycles() -> Vec<Self> {
        let mut all: Vec<Self> = [Baseline::Sail, Baseline::Dxr16, Baseline::Dxr18]
            .map(Self::baseline)
            .into();
        all.extend([16, 18].map(Self::poptrie));
        all.push(Self::popfib(18));
        all
    }
}

/// The kernel that looks up one address after the other, which every build has.
fn scalar() -> Kernel {
    Kernel::by_name("scalar").expect("every CPU runs the scalar kernel")
}
