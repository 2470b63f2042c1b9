//! Conditions on the attributes of a path: its AS path, origin AS and communities. Options of `popfib paths` and `popfib updates` in;
//! whether a path meets all of them out.

use std::str::FromStr;

use clap::Args;
use popfib_formats::bgp::BgpPath;
use popfib_program::failure::parse_asn;
use regex_lite::Regex;

#[derive(Args)]
pub(crate) struct PathConditions {
    /// Paths whose AS path matches this regular expression
    ///
    /// `_` is what is between two AS or at an end: `^3356_` begins with AS3356, `_15169$` comes from AS15169, `_174_` goes
    /// through AS174. Sets stand in braces, as {64500,64501}.
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    as_path: Option<AsPathPattern>,

    /// Paths from one of these origin AS, with commas
    ///
    /// An AS set comes from each of its AS. `!64500` is paths from any other.
    #[arg(long, value_name = "AS", value_delimiter = ',')]
    origin: Vec<OriginAsn>,

    /// Paths with one of these communities, with commas
    ///
    /// As they are printed, 64500:1 or 64500:1:2 or by name; `*` stands for any part, 64500:*.
    #[arg(long, value_name = "COMMUNITY", value_delimiter = ',')]
    community: Vec<CommunityPattern>,
}

impl PathConditions {
    /// Whether there are any.
    pub(crate) fn are_given(&self) -> bool {
        self.as_path.is_some() || !self.origin.is_empty() || !self.community.is_empty()
    }

    /// Whether all that are given are met.
    pub(crate) fn hold(&self, path: &BgpPath) -> bool {
        let has_path = |as_path: &AsPathPattern| as_path.0.is_match(&path.as_path);
        let comes_from = || {
            let origin = path.origin_as();
            let is_from = |wanted: &&OriginAsn| {
                let mut all = origin.split(['{', '}', ',', ' ']);
                all.any(|number| number == wanted.number)
            };
            let (mut not, mut of) = (self.origin.iter(), self.origin.iter());
            !not.any(|wanted| wanted.is_not && is_from(&wanted))
                && (self.origin.iter().all(|wanted| wanted.is_not)
                    || of.any(|wanted| !wanted.is_not && is_from(&wanted)))
        };
        let has_community = || {
            let mut all = path.communities.split_ascii_whitespace();
            all.any(|community| self.community.iter().any(|wanted| wanted.is(community)))
        };
        self.as_path.as_ref().is_none_or(has_path)
            && (self.origin.is_empty() || comes_from())
            && (self.community.is_empty() || has_community())
    }
}

/// A regular expression in which `_` is what is between two AS.
#[derive(Clone)]
struct AsPathPattern(Regex);

impl FromStr for AsPathPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pattern = text.replace('_', r"(?:^|$|[ ,{}()\[\]])");
        let regex = Regex::new(&pattern);
        // The message has no place in the pattern, which is not what was typed.
        regex.map(Self).map_err(|error| error.to_string())
    }
}

/// The number of an AS, as text, and whether it is one that paths must not come from.
#[derive(Clone)]
struct OriginAsn {
    number: String,
    is_not: bool,
}

impl FromStr for OriginAsn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let other = text.strip_prefix('!');
        Ok(Self {
            number: parse_asn(other.unwrap_or(text))?.to_string(),
            is_not: other.is_some(),
        })
    }
}

/// A community, in which `*` stands for any part.
#[derive(Clone)]
struct CommunityPattern(String);

impl FromStr for CommunityPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Err("a community, please: 64500:1, 64500:* or 64500:1:2".to_owned()),
            text => Ok(Self(text.to_owned())),
        }
    }
}

impl CommunityPattern {
    fn is(&self, community: &str) -> bool {
        let (mut wanted, mut parts) = (self.0.split(':'), community.split(':'));
        loop {
            match (wanted.next(), parts.next()) {
                (None, None) => return true,
                (Some("*"), Some(_)) => {}
                (Some(wanted), Some(part)) if wanted == part => {}
                _ => return false,
            }
        }
    }
}
