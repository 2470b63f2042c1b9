//! Addresses of captured packets: pcap in both byte orders, and pcapng. Blocks of a capture in, batches without rows out, with
//! the length of each packet.
//!
//! The blocks are taken apart by pcap-parser's functions on slices. Its own readers are not used: they take a first read that is
//! short for a damaged file, but that of a slow pipe always is.
//!
//! A packet without addresses is no error (ARP, for one): it is counted. A packet that is cut off before its addresses is one, and
//! reading goes on after it; a block that is damaged ends the file, as nobody knows where the next one begins.

use std::collections::BTreeMap;
use std::net::IpAddr;

use pcap_parser::nom::{Err as Nom, IResult};
use pcap_parser::{
    Block, LegacyPcapBlock, PcapError, parse_block_be, parse_block_le, parse_pcap_frame,
    parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};

use super::batch::AddressBatch;
use super::link::{self, NoAddress, PacketEnds, PacketSide};
use super::options::AddressOptions;
use super::source::{AddressEntry, AddressSource};
use super::window::InputWindow;
use crate::error::{FilePlace, ReadError};
use crate::input::Input;
use crate::names::note_left_out;
use crate::registry::Capability::Packets;

/// pcap in both byte orders, with micro- or nanoseconds and Kuznetzov's variant, and pcapng.
pub(super) const MAGICS: [[u8; 4]; 6] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0x34, 0xcd, 0xb2, 0xa1],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

pub(super) static FORMAT: AddressEntry = AddressEntry {
    name: "pcap",
    description: "pcap and pcapng: the destination of each packet, its source, or both",
    can: &[Packets],
    detect: |head| MAGICS.iter().any(|magic| head.starts_with(magic)),
    open: |input, options| Ok(Box::new(PcapAddresses::new(input, options)?)),
};

/// The longest packet or block. Captures cut packets at 256 KiB; other blocks of
/// pcapng may be longer.
const MAX_BLOCK: usize = 16 << 20;

/// What every block of pcapng has: its type, and its length twice.
const MIN_BLOCK: u32 = 12;

/// The type of the block that begins a section of pcapng.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// How many kinds of packets a note names.
const MOST_KINDS: usize = 8;

/// The type of a block of pcapng that is obsolete.
const PACKET_BLOCK: u32 = 2;

/// An [`AddressSource`] of captured packets, one address each or [both](PacketSide::Both).
///
/// Ethernet (VLAN tags, PPPoE and MPLS skipped), bare IP, PPP, Linux's "any" device in both forms,
/// and loopback. Packets that are not IP are counted by their kind and left out.
struct PcapAddresses {
    window: InputWindow,
    side: PacketSide,
    exclude_sources: Vec<IpAddr>,
    kind: CaptureFormat,
    packets: u64,
    /// Packets without addresses, by EtherType.
    not_ip: BTreeMap<Option<u16>, u64>,
    excluded: u64,
}

/// What reads one packet of pcap: pcap-parser has one function for each byte order and variant.
type ParseFrame = fn(&[u8]) -> IResult<&[u8], LegacyPcapBlock<'_>, PcapError<&[u8]>>;

/// Which of the two formats a capture has, and what is known of it so far.
enum CaptureFormat {
    /// pcap: one link type for all packets, which the header of the file names.
    Legacy { link: i32, parse: ParseFrame },
    /// pcapng: sections, each with a byte order and interfaces of its own.
    Ng {
        is_big_endian: bool,
        /// Link types of the section's interfaces.
        interfaces: Vec<i32>,
    },
}

/// What a block holds for us.
enum BlockContent {
    /// And how long it was on the wire.
    Packet(PacketEnds, u32),
    NoAddress(NoAddress),
    /// It comes from where packets are left out.
    Excluded,
    /// It is no packet.
    Other,
}

impl PcapAddresses {
    /// Reads the header of `input`. Takes 256 KiB, and at most 32 MiB for long packets.
    ///
    /// # Errors
    /// If it cannot be read, is no pcap or pcapng file, or of a link type that is not supported.
    fn new(input: Input, options: &AddressOptions) -> Result<Self, ReadError> {
        let mut window = InputWindow::new(input, MAX_BLOCK);
        while window.data().len() < 24 && window.fill(FilePlace::Byte(0))? {}
        let no_pcap = |window: &InputWindow| ReadError::file(window.name(), "this is no pcap file");
        let kind = if window.data().starts_with(&SECTION_HEADER) {
            CaptureFormat::Ng {
                is_big_endian: false,
                interfaces: Vec::new(),
            }
        } else {
            let header = match parse_pcap_header(window.data()) {
                Ok((_, header)) => header,
                Err(Nom::Incomplete(_)) if !window.data().is_empty() => {
                    return Err(ReadError::file(
                        window.name(),
                        "cut off inside the pcap header",
                    ));
                }
                Err(_) => return Err(no_pcap(&window)),
            };
            window.take(header.size());
            // The upper 16 bits are flags about checksums.
            let link = header.network.0 & 0xffff;
            if !link::is_read(link) {
                return Err(ReadError::file(window.name(), unsupported(link)));
            }
            CaptureFormat::Legacy {
                link,
                parse: if header.is_modified_format() {
                    parse_pcap_frame_modified
                } else if header.is_bigendian() {
                    parse_pcap_frame_be
                } else {
                    parse_pcap_frame
                },
            }
        };
        Ok(Self {
            window,
            side: options.side,
            exclude_sources: options.exclude_sources.clone(),
            kind,
            packets: 0,
            not_ip: BTreeMap::new(),
            excluded: 0,
        })
    }

    /// Goes to the next packet that matters, which was so long; `None` at the end, or if `may_wait`
    /// is false and the block is not here yet.
    fn next_packet(&mut self, may_wait: bool) -> Result<Option<(PacketEnds, u32)>, ReadError> {
        loop {
            let data = self.window.data();
            let mut is_whole = false;
            let parsed = match &mut self.kind {
                CaptureFormat::Legacy { link, parse } => parse(data).map(|(rest, frame)| {
                    (
                        rest.len(),
                        packet(*link, frame.data, frame.origlen, &self.exclude_sources),
                    )
                }),
                CaptureFormat::Ng {
                    is_big_endian,
                    interfaces,
                } => {
                    if let Some(len) = block_len(data, *is_big_endian) {
                        // Not checked by the parser, which reckons with it.
                        if len < MIN_BLOCK {
                            return Err(self.damaged());
                        }
                        is_whole = len as usize <= data.len();
                    }
                    let parse = if *is_big_endian {
                        parse_block_be
                    } else {
                        parse_block_le
                    };
                    parse(data).map(|(rest, block)| {
                        (
                            rest.len(),
                            content(&block, is_big_endian, interfaces, &self.exclude_sources),
                        )
                    })
                }
            };
            let place = FilePlace::Byte(self.window.offset());
            match parsed {
                Ok((rest, content)) => {
                    // A block of no length would be read again forever.
                    let len = data.len() - rest;
                    if len == 0 {
                        return Err(self.damaged());
                    }
                    self.window.take(len);
                    self.packets += u64::from(!matches!(content, BlockContent::Other));
                    match content {
                        BlockContent::Packet(ends, length) => return Ok(Some((ends, length))),
                        BlockContent::NoAddress(NoAddress::NotIp(kind)) => {
                            *self.not_ip.entry(kind).or_default() += 1;
                        }
                        BlockContent::Excluded => self.excluded += 1,
                        BlockContent::NoAddress(NoAddress::Damaged(reason)) => {
                            return Err(self.invalid(place, reason));
                        }
                        BlockContent::NoAddress(NoAddress::OfLink(number)) => {
                            return Err(self.invalid(place, &unsupported(number)));
                        }
                        BlockContent::Other => {}
                    }
                }
                // Something in it is longer than itself.
                Err(Nom::Incomplete(_)) if is_whole => return Err(self.damaged()),
                // There are packets to answer: no waiting for more.
                Err(Nom::Incomplete(_)) if !may_wait && !self.window.is_at_end() => {
                    return Ok(None);
                }
                Err(Nom::Incomplete(_)) => {
                    if self.window.fill(place)? {
                        continue;
                    }
                    let rest = self.window.data().len();
                    if !self.window.is_at_end() {
                        return Err(self.damaged());
                    }
                    if rest == 0 {
                        return Ok(None);
                    }
                    self.window.take(rest);
                    self.packets += 1;
                    let reason = format!("the file is cut off, {rest} bytes into it");
                    return Err(self.invalid(place, &reason));
                }
                Err(Nom::Error(_) | Nom::Failure(_)) => return Err(self.damaged()),
            }
        }
    }

    /// An error about the packet at `place`, after which reading goes on.
    #[cold]
    fn invalid(&self, place: FilePlace, reason: &str) -> ReadError {
        let reason = format!("packet {}: {reason}", self.packets);
        ReadError::invalid(self.window.name(), place, reason)
    }

    /// The block at hand cannot be read, so the next can't be found; ends the source.
    #[cold]
    fn damaged(&mut self) -> ReadError {
        let place = FilePlace::Byte(self.window.offset());
        let reason = format!("after packet {}: the block is damaged", self.packets);
        self.window.close();
        ReadError::at(self.window.name(), place, reason)
    }
}

/// The length of the block of pcapng that begins `data`, as it says itself.
fn block_len(data: &[u8], is_big_endian: bool) -> Option<u32> {
    let (block_type, rest) = data.split_first_chunk()?;
    let len = *rest.first_chunk()?;
    // A section says after the length which order that is in.
    (*block_type != SECTION_HEADER).then(|| number(len, is_big_endian))
}

fn number(bytes: [u8; 4], is_big_endian: bool) -> u32 {
    match is_big_endian {
        true => u32::from_be_bytes(bytes),
        false => u32::from_le_bytes(bytes),
    }
}

fn unsupported(link_type: i32) -> String {
    let name = link::unread_link(link_type).map(|name| format!(" ({name})"));
    format!(
        "link type {link_type}{} is not supported",
        name.unwrap_or_default()
    )
}

/// What a packet of a link holds, unless it comes from an address of `exclude`.
fn packet(link: i32, data: &[u8], length: u32, exclude: &[IpAddr]) -> BlockContent {
    match link::ends(link, data) {
        Ok(ends) if exclude.contains(&ends.source) => BlockContent::Excluded,
        Ok(ends) => BlockContent::Packet(ends, length),
        Err(reason) => BlockContent::NoAddress(reason),
    }
}

/// What a block of pcapng holds; one that describes the file is noted.
fn content(
    block: &Block<'_>,
    is_big_endian: &mut bool,
    interfaces: &mut Vec<i32>,
    exclude: &[IpAddr],
) -> BlockContent {
    let (interface, len, length, data) = match block {
        Block::SectionHeader(header) => {
            *is_big_endian = header.big_endian();
            interfaces.clear();
            return BlockContent::Other;
        }
        Block::InterfaceDescription(interface) => {
            interfaces.push(interface.linktype.0);
            return BlockContent::Other;
        }
        // A simple packet is one of the first interface.
        Block::EnhancedPacket(block) => (block.if_id, block.caplen, block.origlen, block.data),
        Block::SimplePacket(block) => (0, block.origlen, block.origlen, block.data),
        // What was before enhanced packets: two bytes of each number in the first word, then the time and both lengths.
        Block::Unknown(block) if block.block_type == PACKET_BLOCK => {
            let word = |at: usize| {
                let bytes = block.data.get(at..)?.first_chunk()?;
                Some(number(*bytes, *is_big_endian))
            };
            let (Some(first), Some(len), Some(length)) = (word(0), word(12), word(16)) else {
                return BlockContent::NoAddress(NoAddress::Damaged("cut off before its data"));
            };
            let interface = if *is_big_endian {
                first >> 16
            } else {
                first & 0xffff
            };
            (interface, len, length, &block.data[20..])
        }
        _ => return BlockContent::Other,
    };
    // The data is padded; a simple packet says how long it was and not how much of it is there.
    let data = data.get(..len as usize).unwrap_or(data);
    match interfaces.get(interface as usize) {
        Some(&link) => packet(link, data, length, exclude),
        None => BlockContent::NoAddress(NoAddress::Damaged("its interface is not described")),
    }
}

impl AddressSource for PcapAddresses {
    fn next_batch(&mut self, batch: &mut AddressBatch) -> Result<bool, ReadError> {
        let side = self.side;
        let each = if side == PacketSide::Both { 2 } else { 1 };
        for _ in 0..AddressBatch::FULL / each {
            let Some((ends, length)) = self.next_packet(batch.is_empty())? else {
                break;
            };
            batch.push_packet_length(length);
            if side != PacketSide::Destination {
                batch.push(ends.source);
            }
            if side != PacketSide::Source {
                batch.push(ends.destination);
            }
            if side == PacketSide::Both {
                batch.push_cell(1);
                batch.push_cell(1);
            }
        }
        Ok(!batch.is_empty())
    }

    fn excluded(&self) -> u64 {
        self.excluded
    }

    fn notes(&self) -> Vec<String> {
        // A damaged file may have any number of kinds.
        let kinds = self.not_ip.iter().take(MOST_KINDS);
        let kinds = kinds.map(|(&kind, count)| format!("{count} {}", link::kind(kind)));
        let others = self.not_ip.values().skip(MOST_KINDS).sum::<u64>();
        let others = (others > 0).then(|| format!("{others} of others"));
        let kinds: Vec<_> = kinds.chain(others).collect();
        let which = format!(" without an IP address ({})", kinds.join(", "));
        note_left_out(self.not_ip.values().sum(), "packet", &which)
    }
}
