//! The two OPEN messages of a BMP Peer Up in, the forms that the session's messages then have out (RFC 7854, section 4.10).

use popfib_formats::bgp::BgpForm;

/// Bits of the ADD-PATH capability (RFC 7911, section 4).
const RECEIVE: u8 = 1;
const SEND: u8 = 2;

/// The capabilities that one side announces in its OPEN.
#[derive(Default)]
struct OpenCapabilities {
    /// Whether it receives and sends path identifiers, for IPv4 and for IPv6.
    paths: [u8; 2],
    /// Whether its AS numbers have four bytes (RFC 6793).
    has_long_as: bool,
}

/// The forms of the messages of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SessionForms {
    /// Of those that the router receives, and of those that it sends.
    pub(super) forms: [BgpForm; 2],
    /// Whether AS numbers have two bytes on the session. The router may show them with four all the same.
    pub(super) may_have_two_byte_as: bool,
}

/// What was negotiated; `None` if the message is invalid.
///
/// For the router's own table, both OPENs are fabricated and equal.
pub(super) fn forms(body: &[u8], is_own: bool) -> Option<SessionForms> {
    // The router's address and two ports.
    let mut rest = body.get(20..)?;
    let sent = open(&mut rest)?;
    let received = open(&mut rest)?;
    let form = |receives: &OpenCapabilities, sends: &OpenCapabilities| {
        let agreed = |family: usize| match (is_own, receives.paths[family], sends.paths[family]) {
            (true, a, b) => a != 0 && b != 0,
            (false, a, b) => a & RECEIVE != 0 && b & SEND != 0,
        };
        BgpForm {
            has_two_byte_as: false,
            ipv4_path_ids: agreed(0),
            ipv6_path_ids: agreed(1),
        }
    };
    Some(SessionForms {
        forms: [form(&sent, &received), form(&received, &sent)],
        may_have_two_byte_as: !(is_own || sent.has_long_as && received.has_long_as),
    })
}

/// Removes an OPEN from the front (RFC 4271, section 4.2).
fn open(bytes: &mut &[u8]) -> Option<OpenCapabilities> {
    const HEADER: usize = 19;
    let length = usize::from(u16::from_be_bytes([*bytes.get(16)?, *bytes.get(17)?]));
    let (message, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    let parameters = message.get(HEADER + 9..)?;
    if message[HEADER - 1] != 1 {
        return None;
    }
    let (&length, mut parameters) = parameters.split_first()?;
    // Extended lengths (RFC 9072): 255 twice, then the length in two bytes.
    let is_extended = length == 255 && parameters.first() == Some(&255);
    if is_extended {
        let length = usize::from(u16::from_be_bytes([
            *parameters.get(1)?,
            *parameters.get(2)?,
        ]));
        parameters = parameters.get(3..)?.get(..length)?;
    } else {
        parameters = parameters.get(..usize::from(length))?;
    }
    let mut all = OpenCapabilities::default();
    while let [kind, rest @ ..] = parameters {
        let (length, rest) = match *rest {
            [high, low, ref rest @ ..] if is_extended => (u16::from_be_bytes([high, low]), rest),
            [length, ref rest @ ..] if !is_extended => (length.into(), rest),
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(length.into())?;
        const CAPABILITIES: u8 = 2;
        if *kind == CAPABILITIES {
            capabilities(value, &mut all)?;
        }
        parameters = rest;
    }
    Some(all)
}

fn capabilities(mut bytes: &[u8], all: &mut OpenCapabilities) -> Option<()> {
    const LONG_AS: u8 = 65;
    const ADDITIONAL_PATHS: u8 = 69;
    while let [code, length, ref rest @ ..] = *bytes {
        let (value, rest) = rest.split_at_checked(length.into())?;
        all.has_long_as |= code == LONG_AS;
        if code == ADDITIONAL_PATHS {
            for entry in value.chunks_exact(4) {
                match *entry {
                    [0, 1, 1, bits] => all.paths[0] = bits,
                    [0, 2, 1, bits] => all.paths[1] = bits,
                    _ => {}
                }
            }
        }
        bytes = rest;
    }
    bytes.is_empty().then_some(())
}
