//! `popfib rov PREFIX AS`: an announcement and the VRPs in; out come its state and all VRPs that cover it, each with why it does
//! not allow the announcement.

use popfib::family::{ByFamily, Family};
use popfib::{IpPrefix, Prefix};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_table::rpki::{FamilyVrps, Validity, Vrp, Vrps};
use serde::Serialize;

use super::VrpCell;
use crate::forms::FormArgs;
use crate::output::{AsText, StandardOutput};
use crate::rows::RowForm;
use crate::screen::PREFIX;

/// The announcement and its state as JSON.
#[derive(Serialize)]
struct RovAnnouncement {
    prefix: AsText<IpPrefix>,
    origin: u32,
    state: &'static str,
    reason: Option<&'static str>,
    vrps: Vec<CoveringVrp>,
}

/// A VRP that covers the prefix.
#[derive(Serialize)]
struct CoveringVrp {
    #[serde(flatten)]
    vrp: VrpCell,
    mismatch: Option<&'static str>,
}

/// Prints the state of an announcement and all VRPs that cover it. Good if it is valid.
pub(super) fn print(
    prefix: IpPrefix,
    asn: u32,
    vrps: &ByFamily<FamilyVrps>,
    form: FormArgs,
) -> Result<Verdict, Failure> {
    let (state, vrps) = popfib::by_family!(prefix, |prefix: Prefix<A>| validate(
        prefix,
        asn,
        A::of(vrps)
    ));
    let answer = RovAnnouncement {
        prefix: AsText(prefix),
        origin: asn,
        state: state.name(),
        reason: match state {
            Validity::InvalidAs => Some("as"),
            Validity::InvalidLength => Some("length"),
            Validity::Valid | Validity::NotFound => None,
        },
        vrps,
    };
    let names = "prefix origin state reason vrps";
    let mut output = StandardOutput::of_form(RowForm::TABS, form, names)?;
    if !output.is_text() {
        output.record(&answer)?;
    } else {
        output.led_by(PREFIX, &prefix, &[&format_args!("AS{asn}"), &answer.state])?;
        for CoveringVrp { vrp, mismatch } in &answer.vrps {
            output.led_by(
                PREFIX,
                &format_args!("{}-{}", vrp.prefix.0, vrp.max_length),
                &[
                    &format_args!("AS{}", vrp.asn),
                    &mismatch.map_or("match", |mismatch| match mismatch {
                        "as" => "another AS",
                        _ => "too long",
                    }),
                ],
            )?;
        }
    }
    output.end(Verdict::good_if(state == Validity::Valid))
}

/// The state of an announcement, and the VRPs that cover it.
fn validate<A: Family>(
    prefix: Prefix<A>,
    asn: u32,
    vrps: &Vrps<A>,
) -> (Validity, Vec<CoveringVrp>) {
    let covering = vrps.covering(prefix).map(|vrp| CoveringVrp {
        vrp: VrpCell::of(vrp),
        mismatch: mismatch(prefix, asn, vrp),
    });
    (vrps.validate(prefix, Some(asn)), covering.collect())
}

/// Why a VRP does not allow the announcement; `None` if it does.
fn mismatch<A: Family>(prefix: Prefix<A>, asn: u32, vrp: &Vrp<A>) -> Option<&'static str> {
    // AS 0 is nobody's (RFC 6483, section 4).
    if vrp.asn() != asn || asn == 0 {
        Some("as")
    } else if prefix.len() > vrp.max_length() {
        Some("length")
    } else {
        None
    }
}
