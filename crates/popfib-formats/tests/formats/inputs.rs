//! Inputs: compression by content, several members, slow pipes; and addresses, one a line.

use std::fs;
use std::io::{self, Read};
use std::net::IpAddr;
use std::sync::mpsc;

use crate::common::{COMPRESSIONS, STRICT, bzip2, gzip, input, read, routes, zstd};
use popfib_formats::{AddressReader, Input, load};

#[test]
fn content_decides_and_names_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let text = b"10.0.0.0/8 a\n2001:db8::/32 b\n";
    let wanted = ["10.0.0.0/8 a", "2001:db8::/32 b"];
    for name in ["t", "t.txt", "t.gz", "t.bz2", "t.zst"] {
        let path = folder.path().join(name);
        for data in [text.to_vec(), gzip(text), bzip2(text), zstd(text)] {
            fs::write(&path, data).unwrap();
            let table = load(&path, &STRICT).unwrap();
            assert_eq!(routes(&table), wanted);
            assert_eq!(table.name, path.display().to_string());
        }
    }
}

#[test]
fn several_members_are_one_file() {
    let (a, b) = (b"10.0.0.0/8 a\n11.0", b".0.0/8 b\n");
    for (format, compress) in COMPRESSIONS {
        // Members end anywhere in a line, and may be empty.
        let data = [compress(a), compress(b""), compress(b)].concat();
        let table = read(data, &STRICT).unwrap();
        assert_eq!(routes(&table), ["10.0.0.0/8 a", "11.0.0.0/8 b"], "{format}");
    }
    // zstd has frames to be skipped, too, at the start as anywhere.
    let skippable = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let data = [
        skippable.clone(),
        zstd(a),
        skippable.clone(),
        zstd(b),
        skippable.clone(),
    ]
    .concat();
    assert_eq!(read(data, &STRICT).unwrap().ipv4.len(), 2);
    let data = [zstd(a), skippable[..9].to_vec()].concat();
    let message = crate::common::error(data, &STRICT);
    assert!(
        message.contains("the zstd data is cut off after"),
        "{message}"
    );
}

#[test]
fn an_empty_compressed_file_has_no_route() {
    for (_, compress) in COMPRESSIONS {
        assert_eq!(
            crate::common::error(compress(b""), &STRICT),
            "t: there is no route in it"
        );
    }
}

fn addresses(data: impl Into<Vec<u8>>) -> Vec<Result<IpAddr, String>> {
    AddressReader::new(input(data))
        .map(|item| item.map_err(|e| e.to_string()))
        .collect()
}

#[test]
fn reads_addresses() {
    let text = "\u{feff}1.2.3.4\r\n# comment\n\n  2001:db8::1\t; why\n; x\n::ffff:1.2.3.4\n255.255.255.255";
    let wanted: Vec<IpAddr> = [
        "1.2.3.4",
        "2001:db8::1",
        "::ffff:1.2.3.4",
        "255.255.255.255",
    ]
    .map(|a| a.parse().unwrap())
    .to_vec();
    for data in [
        text.into(),
        gzip(text.as_bytes()),
        bzip2(text.as_bytes()),
        zstd(text.as_bytes()),
    ] {
        let seen: Vec<IpAddr> = addresses(data).into_iter().map(Result::unwrap).collect();
        assert_eq!(seen, wanted);
    }
    assert!(addresses("# none").is_empty());
}

#[test]
fn refuses_what_is_no_address_and_goes_on() {
    let cases: &[(&[u8], &str)] = &[
        (b"1.2.3", "\"1.2.3\": not an address"),
        (b"1.2.3.4.5", "\"1.2.3.4.5\": not an address"),
        (b"01.2.3.4", "\"01.2.3.4\": not an address"),
        (b"1.2.3.4 5.6.7.8", "\"1.2.3.4 5.6.7.8\": not an address"),
        (b"10.0.0.0/8", "\"10.0.0.0/8\": not an address"),
        (b"1.2.3.4,x # y", "\"1.2.3.4,x\": not an address"),
        (b"fe80::1%1", "\"fe80::1%1\": not an address"),
        (b"1.2.3.4\0", "this is not text: control character U+0000"),
        (b"\xc3\x28", "this is not text: invalid UTF-8"),
    ];
    for (line, reason) in cases {
        let data = [b"1.1.1.1\n", *line, b"\n2.2.2.2\n"].concat();
        let seen = addresses(data);
        let address = |a: &str| Ok(a.parse().unwrap());
        assert_eq!(
            seen,
            [
                address("1.1.1.1"),
                Err(format!("t:2: {reason}")),
                address("2.2.2.2")
            ]
        );
    }
    let cut = gzip(b"1.1.1.1\n2.2.2.2\n");
    let seen = addresses(&cut[..cut.len() - 4]);
    assert_eq!(seen.len(), 3);
    assert!(
        seen[2]
            .as_ref()
            .is_err_and(|e| e.starts_with("t:3: the gzip data is cut off"))
    );
}

/// A pipe that stays open: data comes when the test sends it, and a read with
/// none on the way fails instead of waiting for ever.
struct SlowPipe(mpsc::Receiver<Vec<u8>>);

impl Read for SlowPipe {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let data = self
            .0
            .try_recv()
            .map_err(|_| io::Error::other("would wait"))?;
        buf[..data.len()].copy_from_slice(&data);
        Ok(data.len())
    }
}

#[test]
fn a_slow_pipe_gets_its_answers_at_once() {
    let (sender, receiver) = mpsc::channel();
    let mut reader = AddressReader::new(Input::from_reader("pipe", SlowPipe(receiver)));
    let send = |text: &str| {
        // No more than the reader asks for at a time, four bytes at the start.
        for piece in text.as_bytes().chunks(4) {
            sender.send(piece.to_vec()).unwrap();
        }
    };
    let next = |reader: &mut AddressReader| reader.next().unwrap().unwrap().to_string();
    assert!(!reader.is_buffered());
    send("1\u{3a}:1\n");
    assert_eq!(next(&mut reader), "1::1");
    send("1.1.1.1\n");
    assert_eq!(next(&mut reader), "1.1.1.1");
    assert!(!reader.is_buffered());
    sender
        .send(b"2.2.2.2\n3.3.3.3\n# comment\n".to_vec())
        .unwrap();
    assert_eq!(next(&mut reader), "2.2.2.2");
    assert!(reader.is_buffered());
    assert_eq!(next(&mut reader), "3.3.3.3");
    // What is left in the buffer is a comment: the next address has to be waited for.
    assert!(!reader.is_buffered());
    send("x\n");
    assert!(
        reader
            .next()
            .unwrap()
            .is_err_and(|e| e.to_string() == "pipe:6: \"x\": not an address")
    );
    assert!(
        reader
            .next()
            .unwrap()
            .is_err_and(|e| e.to_string().contains("would wait"))
    );
    assert!(reader.next().is_none());
}

#[test]
fn a_slow_gzip_pipe_gets_its_answers_at_every_flush() {
    use std::io::Write;
    let (sender, receiver) = mpsc::channel();
    let mut reader = AddressReader::new(Input::from_reader("pipe", SlowPipe(receiver)));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for n in 1..20 {
        writeln!(encoder, "10.0.0.{n}").unwrap();
        encoder.flush().unwrap();
        for piece in std::mem::take(encoder.get_mut()).chunks(4) {
            sender.send(piece.to_vec()).unwrap();
        }
        assert_eq!(
            reader.next().unwrap().unwrap().to_string(),
            format!("10.0.0.{n}")
        );
    }
}
