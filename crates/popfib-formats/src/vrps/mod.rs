//! VRPs (validated ROA payloads), which RPKI validators write for route origin validation: a file in, its VRPs of both
//! families out.
//!
//! A VRP says that an AS may announce a prefix, and what is inside of it up to a maximum length. rpki-client, routinator
//! and StayRTR write JSON or CSV, with the same names. Routers and lists have other forms ([`text`]).
//!
//! These are no formats of tables, as [`open_routes`](crate::open_routes) has them: unlike the routes of a table, VRPs stay
//! several for a prefix, each with its AS and maximum length.

mod csv;
mod json;
mod row;
mod text;

use popfib::family::ByFamily;
use popfib_table::rpki::FamilyVrps;

use crate::error::ReadError;
use crate::input::Input;
use crate::load::FromFile;
use crate::loaded::Loaded;
use crate::registry::{format_type, formats};
use crate::table_format::LoadOptions;
use row::{AnyVrp, VrpEntry};

format_type! {
    /// A form of VRPs, known by its name.
    VrpFormat: VrpEntry
}

/// Every form, in the order of detection. The last takes what is nothing else.
static FORMATS: &[&VrpEntry] = &[&json::FORMAT, &text::FORMAT, &csv::FORMAT];

formats! { VrpFormat of FORMATS, no_such: "no such form of VRPs" }

/// Its files are JSON with `roas` of `prefix`, `maxLength` and `asn`, or CSV with the
/// columns `ASN`, `IP Prefix` and `Max Length`, as rpki-client, routinator and StayRTR write them; `prefixAssertions` of SLURM (RFC
/// 8416), whose filters are counted in a note; configurations of OpenBGPD and BIRD; FRR's `show rpki prefix-table`; or lines of
/// `PREFIX-MAX ASN`. Of the options, `skip_invalid` and `mask` count.
///
/// A VRP without a maximum length has that of its prefix; the same one twice counts once. O(n log n)
/// time and O(n) memory for n VRPs. With `skip_invalid` a line or object that is no VRP is counted, where
/// it would otherwise end the load, and of a file that is cut off the beginning is kept.
impl FromFile for ByFamily<FamilyVrps> {
    fn from_file(mut input: Input, options: &LoadOptions) -> Result<Loaded<Self>, ReadError> {
        let (name, skip_invalid) = (input.name().to_owned(), options.skip_invalid);
        let form = VrpFormat::detect(input.peek(|_| false));
        let mut source = (form.0.open)(input, options)?;
        let (mut ipv4, mut ipv6) = (Vec::new(), Vec::new());
        let mut table = Loaded::<Self> {
            name,
            ..Loaded::default()
        };
        loop {
            match source.next() {
                Ok(Some(AnyVrp::V4(vrp))) => ipv4.push(vrp),
                Ok(Some(AnyVrp::V6(vrp))) => ipv6.push(vrp),
                Ok(None) => break,
                Err(e) if skip_invalid && e.is_invalid_line() => table.skipped += 1,
                Err(e) if skip_invalid && e.is_cut() => {
                    let what = e.without_file();
                    let note = format!("truncated, read up to the end: {what}");
                    table.notes.push(note);
                    break;
                }
                Err(e) => return Err(e),
            }
        }
        table.notes.extend(source.notes());
        if ipv4.is_empty() && ipv6.is_empty() {
            let reason = "there is no VRP in it; they are read from JSON with \"roas\" of \"prefix\", \"maxLength\" \
                          and \"asn\", from CSV with \"ASN\", \"IP Prefix\" and \"Max Length\", from SLURM, from \
                          configurations of OpenBGPD and BIRD, and from lines of PREFIX-MAX ASN";
            return Err(ReadError::file(&table.name, reason));
        }
        table.ipv4 = ipv4.into_iter().collect();
        table.ipv6 = ipv6.into_iter().collect();
        Ok(table)
    }
}
