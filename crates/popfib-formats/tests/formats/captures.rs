//! Captures of packets as sources of addresses.

use std::io::Cursor;
use std::net::IpAddr;
use std::path::Path;

use popfib_formats::addresses::PacketSide;
use popfib_formats::{AddressBatch, AddressFile, AddressOptions, AddressSource, Input};

use crate::addresses::{detected, read};
use crate::packets::{Endian, Ng, ethernet, ipv4, ipv6, pcap, qinq, vlan};

/// Packets of every kind, and what they hold.
fn all_kinds() -> Vec<Vec<u8>> {
    let v4 = ipv4([192, 0, 2, 1], [10, 0, 0, 1], 0);
    // The second fragment: no port in it, but both addresses.
    let fragment = ipv4([192, 0, 2, 1], [10, 0, 0, 2], 0x2001);
    vec![
        ethernet(0x0800, &v4),
        ethernet(0x0800, &fragment),
        vlan(0x0800, &v4),
        qinq(0x86dd, &ipv6("2001:db8::a", "2001:db8::b")),
        ethernet(0x0806, &[0; 28]),
        ethernet(0x86dd, &ipv6("fe80::1", "ff02::1")),
    ]
}

const DESTINATIONS: [&str; 5] = ["10.0.0.1", "10.0.0.2", "10.0.0.1", "2001:db8::b", "ff02::1"];
const SOURCES: [&str; 5] = [
    "192.0.2.1",
    "192.0.2.1",
    "192.0.2.1",
    "2001:db8::a",
    "fe80::1",
];

#[test]
fn packets_of_pcap_in_either_byte_order() {
    for endian in [Endian::Little, Endian::Big] {
        for magic in [0xa1b2_c3d4, 0xa1b2_3c4d] {
            let file = pcap(endian, magic, 1, &all_kinds());
            assert_eq!(detected(&file), DESTINATIONS);
            let options = AddressOptions {
                side: PacketSide::Source,
                ..Default::default()
            };
            assert_eq!(read(&file, None, &options), SOURCES);
            let options = AddressOptions {
                side: PacketSide::Both,
                ..Default::default()
            };
            let both = SOURCES.iter().zip(DESTINATIONS);
            let both: Vec<&str> = both.flat_map(|(source, to)| [*source, to]).collect();
            assert_eq!(read(&file, None, &options), both);
            let input = Input::from_reader("t", Cursor::new(file));
            let mut source = AddressFile::open(input, None, &options).unwrap();
            let mut batch = AddressBatch::new();
            assert!(source.next_batch(&mut batch).unwrap());
            // Two cells of an address each, and no text.
            assert_eq!(batch.cells(), [1; 10]);
            assert_eq!(batch.rows().len(), 0);
        }
    }
}

#[test]
fn packets_are_left_out_by_their_source() {
    let file = pcap(Endian::Little, 0xa1b2_c3d4, 1, &all_kinds());
    let options = AddressOptions {
        exclude_sources: vec!["192.0.2.1".parse().unwrap(), "10.0.0.1".parse().unwrap()],
        ..Default::default()
    };
    let input = Input::from_reader("t", Cursor::new(file.clone()));
    let mut source = AddressFile::open(input, None, &options).unwrap();
    let mut batch = AddressBatch::new();
    let mut count = 0;
    while source.next_batch(&mut batch).unwrap() {
        count += batch.len();
    }
    assert_eq!((count, source.excluded()), (2, 3));
    assert_eq!(read(&file, None, &options), DESTINATIONS[3..]);
    let text = Input::from_reader("t", &b"10.0.0.1\n"[..]);
    let error = AddressFile::open(text, None, &options).unwrap_err();
    assert!(error.to_string().contains("packets only"), "{error}");
}

#[test]
fn packets_of_pcapng_in_either_byte_order() {
    for endian in [Endian::Little, Endian::Big] {
        let mut file = Ng::new(endian);
        file.interface(1);
        for packet in all_kinds() {
            file.packet(0, &packet);
        }
        file.unknown();
        file.simple_packet(&all_kinds()[0]);
        // A second interface, then a second section that begins again.
        file.interface(101);
        file.packet(1, &ipv4([1; 4], [2; 4], 0));
        let mut second = Ng::new(Endian::Little);
        second.interface(101);
        second.packet(0, &ipv6("::1", "::2"));
        let bytes = [file.bytes(), second.bytes()].concat();
        let wanted = [&DESTINATIONS[..], &["10.0.0.1", "2.2.2.2", "::2"]].concat();
        assert_eq!(detected(&bytes), wanted);
    }
}

#[test]
fn interfaces_that_are_not_understood() {
    let mut file = Ng::new(Endian::Little);
    file.packet(0, &[0; 60]);
    file.interface(147);
    file.packet(0, &[0; 60]);
    let seen = detected(file.bytes());
    assert_eq!(
        seen[0],
        "t: byte 28: packet 1: its interface is not described"
    );
    assert!(
        seen[1].ends_with("packet 2: link type 147 is not supported"),
        "{seen:?}"
    );
    assert_eq!(seen.len(), 2);
    assert_eq!(
        detected(&pcap(Endian::Little, 0xa1b2_c3d4, 147, &[])),
        ["t: link type 147 is not supported"]
    );
}

#[test]
fn other_link_types() {
    let v4 = ipv4([192, 0, 2, 1], [10, 0, 0, 1], 0);
    let v6 = ipv6("::1", "::2");
    let with = |head: &[u8], packet: &[u8]| [head, packet].concat();
    let cooked = |kind: u16| [&[0; 14][..], &kind.to_be_bytes()].concat();
    let cooked2 = |kind: u16| [&kind.to_be_bytes()[..], &[0; 18]].concat();
    for (link, packets) in [
        (101, vec![v4.clone(), v6.clone()]),
        (12, vec![v4.clone(), v6.clone()]),
        (
            9,
            vec![with(&[0, 0x21], &v4), with(&[0xff, 3, 0, 0x57], &v6)],
        ),
        (
            50,
            vec![with(&[0xff, 3, 0, 0x21], &v4), with(&[0, 0x57], &v6)],
        ),
        (
            51,
            vec![
                with(&[0x11, 0, 0, 1, 0, 30, 0, 0x21], &v4),
                with(&[0x11, 0, 0, 1, 0, 50, 0, 0x57], &v6),
            ],
        ),
        (
            104,
            vec![with(&[0xf, 0, 8, 0], &v4), with(&[0xf, 0, 0x86, 0xdd], &v6)],
        ),
        (0, vec![with(&[2, 0, 0, 0], &v4), with(&[30, 0, 0, 0], &v6)]),
        (
            108,
            vec![with(&[0, 0, 0, 2], &v4), with(&[0, 0, 0, 24], &v6)],
        ),
        (
            113,
            vec![with(&cooked(0x0800), &v4), with(&cooked(0x86dd), &v6)],
        ),
        (
            276,
            vec![with(&cooked2(0x0800), &v4), with(&cooked2(0x86dd), &v6)],
        ),
    ] {
        let file = pcap(Endian::Little, 0xa1b2_c3d4, link, &packets);
        assert_eq!(detected(&file), ["10.0.0.1", "::2"], "link type {link}");
    }
}

#[test]
fn packets_without_addresses_are_counted_by_kind() {
    let kinds = [0x0806, 0x8864, 0x8847, 0x88cc, 0x0026, 0x1234];
    let packets: Vec<_> = kinds.map(|kind| ethernet(kind, &[0xff; 60])).into();
    let notes = |link: u32, packets: &[Vec<u8>]| {
        let file = pcap(Endian::Little, 0xa1b2_c3d4, link, packets);
        let input = Input::from_reader("t", Cursor::new(file));
        let mut source = AddressFile::open(input, None, &AddressOptions::default()).unwrap();
        assert!(!source.next_batch(&mut AddressBatch::new()).unwrap());
        source.notes()
    };
    assert_eq!(
        notes(1, &packets),
        [
            "6 packets without an IP address (1 802.3 without an EtherType, 1 ARP, 1 EtherType 0x1234, \
          1 MPLS without IP, 1 PPPoE without IP, 1 LLDP) left out"
        ]
    );
    assert_eq!(
        notes(101, &[vec![0; 60]]),
        ["1 packet without an IP address (1 of no IP version) left out"]
    );
    let file = pcap(Endian::Little, 0xa1b2_c3d4, 119, &[]);
    let reason = "t: link type 119 (802.11 with a header of a driver) is not supported";
    assert_eq!(detected(&file), [reason]);
}

#[test]
fn packets_cut_short_are_told_and_skipped() {
    let whole = ethernet(0x0800, &ipv4([1; 4], [2; 4], 0));
    let packets = vec![
        whole[..33].to_vec(),
        whole[..13].to_vec(),
        vec![],
        whole.clone(),
    ];
    let seen = detected(&pcap(Endian::Little, 0xa1b2_c3d4, 1, &packets));
    assert_eq!(
        seen[0],
        "t: byte 24: packet 1: cut off before its addresses"
    );
    assert_eq!(seen[3], "2.2.2.2");
    assert_eq!(seen.len(), 4);
    let wrong = ethernet(0x0800, &ipv6("::1", "::2"));
    let seen = detected(&pcap(Endian::Little, 0xa1b2_c3d4, 1, &[wrong]));
    assert_eq!(seen, ["t: byte 24: packet 1: the IP version is wrong"]);
}

#[test]
fn a_file_cut_off_gives_the_packets_before() {
    let packets = all_kinds();
    let file = pcap(Endian::Little, 0xa1b2_c3d4, 1, &packets[..2]);
    for cut in 25..file.len() {
        let second = 24 + 16 + packets[0].len();
        let seen = detected(&file[..cut]);
        let error = match cut {
            _ if cut < second => format!(
                "t: byte 24: packet 1: the file is cut off, {} bytes into it",
                cut - 24
            ),
            _ if cut == second => String::new(),
            _ => format!(
                "t: byte {second}: packet 2: the file is cut off, {} bytes into it",
                cut - second
            ),
        };
        let mut wanted: Vec<&str> = if cut < second {
            vec![]
        } else {
            vec!["10.0.0.1"]
        };
        wanted.extend((!error.is_empty()).then_some(&error[..]));
        assert_eq!(seen, wanted, "cut at {cut}");
    }
    assert_eq!(detected(&file[..20]), ["t: cut off inside the pcap header"]);
}

#[test]
fn a_block_of_impossible_length_ends_the_file() {
    let mut file = Ng::new(Endian::Little);
    file.interface(101);
    file.packet(0, &ipv4([1; 4], [2; 4], 0));
    let at = file.bytes().len();
    let process_information = 0x8000_0001;
    for (kind, len) in [(6, 3), (process_information, 9), (process_information, 12)] {
        let mut bytes = file.bytes().to_vec();
        bytes.extend_from_slice(&u32::to_le_bytes(kind));
        bytes.extend_from_slice(&u32::to_le_bytes(len));
        bytes.extend_from_slice(&[0; 64]);
        let error = format!("t: byte {at}: after packet 1: the block is damaged");
        assert_eq!(detected(&bytes), ["2.2.2.2", &error], "{kind} {len}");
    }
}

#[test]
fn a_real_capture() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/raw/addrs/snabb-sanitized4k_truncated128.pcap");
    if !file.exists() {
        println!("skipped: a_real_capture: {} is not there", file.display());
        return;
    }
    let data = std::fs::read(file).unwrap();
    let seen = detected(&data);
    let errors = seen.iter().filter(|line| line.contains(' ')).count();
    assert_eq!(errors, 0);
    assert!(seen.len() > 2000, "{}", seen.len());
    // Counted by a walk over the records that shares nothing with the reader.
    let mut at = 24;
    let mut wanted = Vec::new();
    while at < data.len() {
        let len = u32::from_le_bytes(data[at + 8..at + 12].try_into().unwrap()) as usize;
        let packet = &data[at + 16..at + 16 + len];
        at += 16 + len;
        // Most of them have a VLAN tag.
        let tag = if packet[12..14] == [0x81, 0] { 4 } else { 0 };
        let packet = &packet[tag..];
        match packet[12..14] {
            [8, 0] => {
                wanted.push(IpAddr::from(<[u8; 4]>::try_from(&packet[30..34]).unwrap()).to_string())
            }
            [0x86, 0xdd] => wanted
                .push(IpAddr::from(<[u8; 16]>::try_from(&packet[38..54]).unwrap()).to_string()),
            _ => {}
        }
    }
    assert!(seen == wanted);
}
