//! The bytes of a netlink datagram in, messages and their attributes out. Each begins with its length, and all numbers are in the byte order
//! of this machine.

/// Why a message is invalid.
pub(crate) type InvalidReason = &'static str;

/// A message: its type, its flags, and the bytes after the header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NetlinkMessage<'a> {
    pub(crate) kind: u16,
    pub(crate) flags: u16,
    pub(crate) body: &'a [u8],
}

/// Removes the first message from `bytes`.
pub(crate) fn message<'a>(bytes: &mut &'a [u8]) -> Result<NetlinkMessage<'a>, InvalidReason> {
    const HEADER: usize = 16;
    let length = u32_of(bytes).ok_or("a netlink message is shorter than its header")? as usize;
    let message = bytes.get(..length).ok_or("a netlink message is cut off")?;
    let body = message
        .get(HEADER..)
        .ok_or("a netlink message is shorter than its header")?;
    let kind = u16::from_ne_bytes([message[4], message[5]]);
    let flags = u16::from_ne_bytes([message[6], message[7]]);
    *bytes = bytes.get(aligned(length)..).unwrap_or_default();
    Ok(NetlinkMessage { kind, flags, body })
}

/// Calls `see` for each attribute: its type without flags, and its value.
pub(crate) fn attributes<'a>(
    mut bytes: &'a [u8],
    mut see: impl FnMut(u16, &'a [u8]) -> Result<(), InvalidReason>,
) -> Result<(), InvalidReason> {
    /// Nested, and in network byte order.
    const FLAGS: u16 = 0xc000;
    const CUT: InvalidReason = "a netlink attribute is cut off";
    while !bytes.is_empty() {
        let head: [u8; 4] = *bytes.first_chunk().ok_or(CUT)?;
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let kind = u16::from_ne_bytes([head[2], head[3]]) & !FLAGS;
        see(kind, bytes.get(4..length).ok_or(CUT)?)?;
        bytes = bytes.get(aligned(length)..).unwrap_or_default();
    }
    Ok(())
}

/// The number that an attribute consists of.
pub(crate) fn number(value: &[u8]) -> Result<u32, InvalidReason> {
    let bytes = value
        .try_into()
        .map_err(|_| "an attribute is not 4 bytes long")?;
    Ok(u32::from_ne_bytes(bytes))
}

fn u32_of(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|&bytes| u32::from_ne_bytes(bytes))
}

/// Messages and attributes begin at multiples of 4.
pub(crate) fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

/// A request of all objects of a kind: a header, and a body that is zero except for the address family.
pub(crate) fn dump(kind: u16, family: u8, body: usize) -> Vec<u8> {
    /// NLM_F_REQUEST and NLM_F_DUMP.
    const FLAGS: u16 = 0x301;
    let length = 16 + body;
    let mut bytes = vec![0; length];
    bytes[..4].copy_from_slice(&(length as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
    bytes[6..8].copy_from_slice(&FLAGS.to_ne_bytes());
    bytes[16] = family;
    bytes
}
