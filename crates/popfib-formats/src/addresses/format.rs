//! The formats of address files, and how they are recognised.

use memchr::{memchr, memchr_iter};

use super::text;
use crate::Input;

/// A format of address files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFormat {
    /// One address a line.
    Text,
    /// A column of cells separated by commas or semicolons.
    Csv,
    /// A column of cells separated by tabs.
    Tsv,
    /// Packets: pcap or pcapng.
    Pcap,
    /// IPv4 addresses of 4 bytes each, in network order.
    RawIpv4,
    /// IPv6 addresses of 16 bytes each, in network order.
    RawIpv6,
    /// A column of a Parquet file.
    Parquet,
}

impl AddressFormat {
    /// All formats.
    pub const ALL: [Self; 7] = [
        Self::Text,
        Self::Csv,
        Self::Tsv,
        Self::Pcap,
        Self::RawIpv4,
        Self::RawIpv6,
        Self::Parquet,
    ];

    /// The format's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Pcap => "pcap",
            Self::RawIpv4 => "raw-ipv4",
            Self::RawIpv6 => "raw-ipv6",
            Self::Parquet => "parquet",
        }
    }

    /// What it is, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Text => "text, one address a line",
            Self::Csv => "a column of a CSV file, by name or number; commas or semicolons",
            Self::Tsv => "a column of a TSV file",
            Self::Pcap => "pcap and pcapng: the destination of each packet, or its source",
            Self::RawIpv4 => {
                "records of 4 bytes in network order; never recognised, has to be named"
            }
            Self::RawIpv6 => {
                "records of 16 bytes in network order; never recognised, has to be named"
            }
            Self::Parquet => "a column of a Parquet file, where popfib was built with Parquet",
        }
    }

    /// What one address stands in, as error messages call it.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Text => "line",
            Self::Csv | Self::Tsv | Self::Parquet => "row",
            Self::Pcap => "packet",
            Self::RawIpv4 | Self::RawIpv6 => "record",
        }
    }

    /// The format of `input`, by its first bytes: those of a binary format, or
    /// the first line with something on it. Waits for no more than these.
    pub fn detect(input: &mut Input) -> Self {
        let head = input.peek(|head| binary(head) != Binary::Undecided && has_line(head));
        match binary(head) {
            Binary::Pcap => return Self::Pcap,
            Binary::Parquet => return Self::Parquet,
            Binary::No | Binary::Undecided => {}
        }
        match first_line(head) {
            Some(line) if text::is_address(line) => Self::Text,
            Some(line) => Self::by_delimiters(line),
            None => Self::Text,
        }
    }

    /// The format of `input` where a column was asked for: any but text.
    pub(super) fn detect_table(input: &mut Input) -> Self {
        match Self::detect(input) {
            Self::Text => Self::Csv,
            other => other,
        }
    }

    fn by_delimiters(line: &[u8]) -> Self {
        if memchr(b'\t', line).is_some() {
            Self::Tsv
        } else if memchr::memchr2(b',', b';', line).is_some() {
            Self::Csv
        } else {
            Self::Text
        }
    }

    /// What separates the cells of this format in `input`: for CSV a semicolon if
    /// the first line has more of them than commas, as spreadsheets write it
    /// where the comma is the decimal point.
    pub(super) fn delimiter(self, input: &mut Input) -> u8 {
        if self == Self::Tsv {
            return b'\t';
        }
        let line = first_line(input.peek(has_line)).unwrap_or_default();
        let count = |byte| memchr_iter(byte, line).count();
        if count(b';') > count(b',') {
            b';'
        } else {
            b','
        }
    }
}

#[derive(PartialEq, Eq)]
enum Binary {
    No,
    Undecided,
    Pcap,
    Parquet,
}

/// pcap in both byte orders, with micro- or nanoseconds and Kuznetzov's variant, and pcapng.
const PCAP: [[u8; 4]; 6] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0x34, 0xcd, 0xb2, 0xa1],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

/// Which binary format `head` begins.
fn binary(head: &[u8]) -> Binary {
    let starts = |magic: &[u8; 4]| magic.iter().zip(head).all(|(a, b)| a == b);
    if PCAP.iter().any(starts) {
        if head.len() < 4 {
            Binary::Undecided
        } else {
            Binary::Pcap
        }
    } else if starts(b"PAR1") {
        if head.len() < 4 {
            Binary::Undecided
        } else {
            Binary::Parquet
        }
    } else {
        Binary::No
    }
}

/// Whether `head` has all that is needed to tell the formats apart.
fn has_line(head: &[u8]) -> bool {
    matches!(binary(head), Binary::Pcap | Binary::Parquet)
        || lines(head).any(|(line, is_whole)| is_whole && is_content(line))
}

/// The first line that is neither empty nor a comment.
fn first_line(head: &[u8]) -> Option<&[u8]> {
    lines(head)
        .map(|(line, _)| line)
        .find(|line| is_content(line))
}

/// The lines of `head`, and whether each has its end there.
fn lines(head: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let is_whole = line.ends_with(b"\n");
        (line.trim_ascii_end(), is_whole)
    })
}

fn is_content(line: &[u8]) -> bool {
    !matches!(line.trim_ascii_start(), [] | [b'#' | b';', ..])
}
