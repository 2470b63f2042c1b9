//! Makes packets and the files that hold them.

use std::net::Ipv6Addr;

pub(crate) fn ipv4(source: [u8; 4], destination: [u8; 4], fragment: u16) -> Vec<u8> {
    let mut header = vec![0x45, 0, 0, 28, 0, 1];
    header.extend(fragment.to_be_bytes());
    header.extend([64, 17, 0, 0]);
    header.extend(source);
    header.extend(destination);
    header.extend([0; 8]);
    header
}

pub(crate) fn ipv6(source: &str, destination: &str) -> Vec<u8> {
    let mut header = vec![0x60, 0, 0, 0, 0, 8, 17, 64];
    for text in [source, destination] {
        header.extend(text.parse::<Ipv6Addr>().expect("an address").octets());
    }
    header.extend([0; 8]);
    header
}

pub(crate) fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend(ether_type.to_be_bytes());
    frame.extend(payload);
    frame
}

pub(crate) fn vlan(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut tagged = vec![0, 7];
    tagged.extend(ether_type.to_be_bytes());
    tagged.extend(payload);
    ethernet(0x8100, &tagged)
}

pub(crate) fn qinq(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut tagged = vec![0, 7, 0x81, 0, 0, 8];
    tagged.extend(ether_type.to_be_bytes());
    tagged.extend(payload);
    ethernet(0x88a8, &tagged)
}

#[derive(Clone, Copy)]
pub(crate) enum Endian {
    Little,
    Big,
}

impl Endian {
    fn u16(self, value: u16) -> [u8; 2] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    fn u32(self, value: u32) -> [u8; 4] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }
}

pub(crate) fn pcap(endian: Endian, magic: u32, link_type: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = endian.u32(magic).to_vec();
    file.extend(endian.u16(2));
    file.extend(endian.u16(4));
    for value in [0, 0, 65_535, link_type] {
        file.extend(endian.u32(value));
    }
    for packet in packets {
        for value in [1, 2, packet.len() as u32, packet.len() as u32 + 100] {
            file.extend(endian.u32(value));
        }
        file.extend(packet);
    }
    file
}

/// A section of a pcapng file.
pub(crate) struct Ng {
    endian: Endian,
    bytes: Vec<u8>,
}

impl Ng {
    pub(crate) fn new(endian: Endian) -> Self {
        let mut section = Self {
            endian,
            bytes: Vec::new(),
        };
        let mut body = endian.u32(0x1a2b_3c4d).to_vec();
        body.extend(endian.u16(1));
        body.extend(endian.u16(0));
        body.extend([0xff; 8]);
        section.block(0x0a0d_0d0a, &body);
        section
    }

    fn block(&mut self, kind: u32, body: &[u8]) {
        let padded = body.len().next_multiple_of(4);
        let len = self.endian.u32(padded as u32 + 12);
        self.bytes.extend(self.endian.u32(kind));
        self.bytes.extend(len);
        self.bytes.extend(body);
        self.bytes.extend(&[0; 3][..padded - body.len()]);
        self.bytes.extend(len);
    }

    pub(crate) fn interface(&mut self, link_type: u16) {
        let mut body = self.endian.u16(link_type).to_vec();
        body.extend([0; 2]);
        body.extend(self.endian.u32(65_535));
        self.block(1, &body);
    }

    pub(crate) fn packet(&mut self, interface: u32, packet: &[u8]) {
        let mut body = Vec::new();
        for value in [interface, 0, 0, packet.len() as u32, packet.len() as u32] {
            body.extend(self.endian.u32(value));
        }
        body.extend(packet);
        self.block(6, &body);
    }

    pub(crate) fn simple_packet(&mut self, packet: &[u8]) {
        let mut body = self.endian.u32(packet.len() as u32).to_vec();
        body.extend(packet);
        self.block(3, &body);
    }

    /// A block of a kind that nobody knows.
    pub(crate) fn unknown(&mut self) {
        self.block(0x0bad_beef, &[1, 2, 3, 4, 5]);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
