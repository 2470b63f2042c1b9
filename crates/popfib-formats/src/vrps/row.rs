//! One VRP: the texts of a row or an object in, what they mean out. CSV and JSON share it, so that both take the same AS
//! numbers and prefixes and say the same of wrong ones.

use popfib::{Address, IpPrefix, Prefix};
use popfib_table::rpki::Vrp;

use crate::as_path::as_number;
use crate::error::{ReadError, not, quote};
use crate::input::Input;
use crate::lines::Lines;
use crate::origins::without_as;
use crate::registry::FormatEntry;
use crate::table_format::LoadOptions;
use crate::update_text::parse_prefix;

/// One VRP of either family.
pub(crate) enum AnyVrp {
    V4(Vrp<u32>),
    V6(Vrp<u128>),
}

/// VRPs as a file has them.
pub(crate) trait VrpSource {
    /// The next one; `None` at the end.
    fn next(&mut self) -> Result<Option<AnyVrp>, ReadError>;

    /// What was left out, for the user.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A [`VrpSource`] of lines: the VRP that `read` finds in each; `None` where there is none to be.
pub(super) fn lines(
    input: Input,
    read: impl FnMut(&[u8]) -> Result<Option<AnyVrp>, String> + 'static,
) -> Box<dyn VrpSource> {
    let lines = Lines::new(input);
    Box::new(VrpLines { lines, read })
}

struct VrpLines<R> {
    lines: Lines,
    read: R,
}

impl<R: FnMut(&[u8]) -> Result<Option<AnyVrp>, String>> VrpSource for VrpLines<R> {
    fn next(&mut self) -> Result<Option<AnyVrp>, ReadError> {
        while self.lines.advance()? {
            match (self.read)(self.lines.line()) {
                Ok(None) => {}
                Ok(found) => return Ok(found),
                Err(reason) => {
                    // What is no text says so first.
                    self.lines.text()?;
                    return Err(self.lines.invalid(reason));
                }
            }
        }
        Ok(None)
    }
}

/// What the module of a form declares.
pub(crate) type VrpEntry = FormatEntry<LoadOptions, dyn VrpSource>;

/// The VRP of three texts; without a maximum length that of the prefix, whose host bits are cleared if `mask` is set.
pub(super) fn vrp(prefix: &str, max_length: &str, asn: &str, mask: bool) -> Result<AnyVrp, String> {
    let ip = parse_prefix(prefix, mask)?;
    let asn = as_number(without_as(asn)).ok_or_else(|| not(asn, "an AS number"))?;
    Ok(match ip {
        IpPrefix::V4(prefix) => AnyVrp::V4(checked(prefix, max_length, asn)?),
        IpPrefix::V6(prefix) => AnyVrp::V6(checked(prefix, max_length, asn)?),
    })
}

/// A VRP of one family, if the maximum length fits the prefix.
fn checked<A: Address>(prefix: Prefix<A>, max_length: &str, asn: u32) -> Result<Vrp<A>, String> {
    let max_length = match max_length {
        "" => prefix.len(),
        // `from_str` alone would take a sign. What no length holds is beyond any.
        text if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().unwrap_or(u8::MAX),
        text => {
            let text = quote(text);
            return Err(format!("{prefix}: {text}: not a maximum length"));
        }
    };
    Vrp::new(prefix, max_length, asn).map_err(|e| format!("{prefix}: {max_length}: {e}"))
}
