//! Where routes have to be: options of `popfib routes`, `paths` and `updates` in (`--covering PREFIX`, `--exact @FILE`); out come their
//! prefixes, each with the relation that a route must have to it.

use std::path::Path;

use clap::Args;
use popfib::family::{ByFamily, Family};
use popfib::{IpPrefix, NextHop, Prefix, PrefixError};
use popfib_formats::bgp::PrefixFilter;
use popfib_program::failure::{Failure, MASKS};
use popfib_table::Ribs;

use crate::args::{ReadArgs, is_stdin};
use crate::table;

/// The options that name prefixes.
#[derive(Args)]
pub(crate) struct PlaceArgs {
    /// Routes that cover PREFIX, including PREFIX itself
    #[arg(long, value_name = "PREFIX")]
    covering: Vec<String>,

    /// Routes inside PREFIX, including PREFIX itself
    #[arg(long, value_name = "PREFIX")]
    covered_by: Vec<String>,

    /// Routes that overlap PREFIX: that cover it or are inside it
    #[arg(long, value_name = "PREFIX")]
    overlapping: Vec<String>,

    /// The route for exactly PREFIX
    #[arg(long, value_name = "PREFIX")]
    exact: Vec<String>,
}

impl PlaceArgs {
    /// Whether there are any.
    pub(crate) fn are_given(&self) -> bool {
        self.given().iter().any(|(.., texts)| !texts.is_empty())
    }

    /// What each option is called and has. The narrowest relation first: a Rib is searched by the first, and the others are tests of
    /// what was found.
    fn given(&self) -> [(Relation, &'static str, &[String]); 4] {
        [
            (Relation::Exact, "--exact", &self.exact),
            (Relation::Covering, "--covering", &self.covering),
            (Relation::CoveredBy, "--covered-by", &self.covered_by),
            (Relation::Overlapping, "--overlapping", &self.overlapping),
        ]
    }

    /// The test whether a prefix meets all of the options.
    pub(crate) fn wanted(
        &self,
        read: &ReadArgs,
        is_stdin_taken: bool,
    ) -> Result<PrefixFilter, Failure> {
        let places = self.read(read, is_stdin_taken)?;
        let places: Vec<_> = places.iter().map(|(r, p)| (*r, set_of(p))).collect();
        Ok(Box::new(move |prefix| {
            popfib::by_family!(prefix, |prefix| places
                .iter()
                .all(|(r, set)| r.holds(prefix, set)))
        }))
    }

    /// The prefixes of each option that was given, as they came: a PREFIX, or those of an @FILE.
    pub(crate) fn read(
        &self,
        read: &ReadArgs,
        mut is_stdin_taken: bool,
    ) -> Result<Vec<(Relation, Vec<IpPrefix>)>, Failure> {
        let mut places = Vec::new();
        for (relation, option, texts) in self.given() {
            if texts.is_empty() {
                continue;
            }
            let mut prefixes = Vec::with_capacity(texts.len());
            for text in texts {
                if let Some(file) = text.strip_prefix('@') {
                    let path = Path::new(file);
                    if is_stdin(path) && std::mem::replace(&mut is_stdin_taken, true) {
                        return Err(format!("{option}: standard input is already in use").into());
                    }
                    prefixes.extend(prefixes_of(path, read)?);
                    continue;
                }
                let prefix = if read.mask {
                    IpPrefix::parse_masked(text)
                } else {
                    text.parse()
                };
                let named = |error| {
                    let help = match error {
                        PrefixError::HostBits => format!("; {MASKS}"),
                        _ => String::new(),
                    };
                    format!("{option}: '{}': {error}{help}", text.escape_debug())
                };
                prefixes.push(prefix.map_err(named)?);
            }
            places.push((relation, prefixes));
        }
        Ok(places)
    }
}

/// Where a route has to be, seen from one of the prefixes.
#[derive(Clone, Copy)]
pub(crate) enum Relation {
    Exact,
    Covering,
    CoveredBy,
    Overlapping,
}

impl Relation {
    /// Whether `route` is where it has to be, seen from one of `places`.
    pub(crate) fn holds<A: Family>(self, route: Prefix<A>, places: &ByFamily<Ribs>) -> bool {
        let places = A::of(places);
        match self {
            Self::Exact => places.contains_key(route),
            Self::Covering => places.subnets(route).next().is_some(),
            Self::CoveredBy => places.supernets(route).next().is_some(),
            Self::Overlapping => places.overlaps(route),
        }
    }

    /// The routes of `ribs` that are there, seen from `place`, in prefix order.
    pub(crate) fn find<A: Family>(
        self,
        ribs: &ByFamily<Ribs>,
        place: Prefix<A>,
    ) -> Vec<(Prefix<A>, NextHop)> {
        let rib = A::of(ribs);
        match self {
            Self::Exact => rib.get(place).map(|to| (place, to)).into_iter().collect(),
            Self::Covering => rib.supernets(place).collect(),
            Self::CoveredBy => rib.subnets(place).collect(),
            Self::Overlapping => rib
                .supernets(place)
                .filter(|(prefix, _)| *prefix != place)
                .chain(rib.subnets(place))
                .collect(),
        }
    }
}

/// `prefixes` as a Rib. Not as a `PrefixSet`: that has a Fib, too, and nobody looks up addresses here.
pub(crate) fn set_of(prefixes: &[IpPrefix]) -> ByFamily<Ribs> {
    let mut set = ByFamily::<Ribs>::default();
    for &prefix in prefixes {
        popfib::by_family!(prefix, |prefix: Prefix<A>| A::of_mut(&mut set)
            .insert(prefix, NextHop::MIN));
    }
    set
}

/// The prefixes of the list or table in the file at `path`, IPv4 before IPv6, each in prefix order.
fn prefixes_of(path: &Path, read: &ReadArgs) -> Result<Vec<IpPrefix>, Failure> {
    // The options for values and peers are meant for the table, not for this list.
    let read = ReadArgs {
        format: None,
        peer: None,
        value: None,
        columns: Vec::new(),
        ..read.clone()
    };
    let mut prefixes = table::prefixes_of_file(path, &read)?;
    prefixes.sort_unstable();
    prefixes.dedup();
    Ok(prefixes)
}
