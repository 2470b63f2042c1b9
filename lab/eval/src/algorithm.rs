//! What is compared, by name: popfib's own Poptrie, the paper's, and all baselines.

use popfib::Size;
use popfib_baselines::Baseline;

/// A structure that answers lookups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// popfib's own layout of Poptrie, of this size.
    Popfib(Size),
    /// Poptrie in the paper's layout.
    Poptrie,
    /// Poptrie in the paper's layout without leafvec.
    PoptrieBasic,
    /// Another structure, from its paper.
    Baseline(Baseline),
}

impl Algorithm {
    /// All of them, the Poptries first.
    pub fn all() -> impl Iterator<Item = Self> {
        let poptries = [
            Self::Popfib(Size::Smallest),
            Self::Popfib(Size::Balanced),
            Self::Poptrie,
            Self::PoptrieBasic,
        ];
        poptries
            .into_iter()
            .chain(Baseline::ALL.map(Self::Baseline))
    }

    /// The name by which it is asked for.
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    /// The paper's name, without what says the direct bits of a Poptrie.
    pub const fn title(self) -> &'static str {
        self.names().1
    }

    /// What it is, in a few words.
    pub const fn about(self) -> &'static str {
        self.names().2
    }

    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Popfib(Size::Balanced) => (
                "popfib-balanced",
                "popfib balanced",
                "popfib's own layout with flat blocks",
            ),
            Self::Popfib(_) => ("popfib", "popfib", "popfib's own layout of Poptrie"),
            Self::Poptrie => ("poptrie", "Poptrie", "Poptrie in the paper's layout"),
            Self::PoptrieBasic => (
                "poptrie-basic",
                "Poptrie (basic)",
                "Poptrie in the paper's layout without leafvec",
            ),
            Self::Baseline(baseline) => baseline.names(),
        }
    }
}
