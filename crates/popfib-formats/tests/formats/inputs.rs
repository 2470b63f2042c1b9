//! Inputs: compression by content, several members, slow pipes; prefixes alone; and addresses, one a line.

use std::fs;
use std::io::{self, Read};
use std::net::IpAddr;
use std::sync::mpsc;

use crate::common::{
    COMPRESSIONS, STRICT, bzip2, gzip, input, load, load_from, read, routes, zstd,
};
use popfib_formats::{
    AddressBatch, AddressFile, AddressFormat, AddressOptions, AddressSource, Input, LoadOptions,
};

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
    assert_eq!(read(data, &STRICT).unwrap().route_count(), 2);
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
    let mut source = AddressFile::open(
        input(data),
        Some(AddressFormat::TEXT),
        &AddressOptions::default(),
    )
    .unwrap();
    let mut seen = Vec::new();
    loop {
        match next(&mut source) {
            Ok(batch) if batch.is_empty() => return seen,
            Ok(batch) => seen.extend(batch.into_iter().map(Ok)),
            Err(error) => seen.push(Err(error)),
        }
    }
}

/// The addresses of the next batch, which are all of one family or in this order; empty at the end.
fn next(source: &mut AddressFile) -> Result<Vec<IpAddr>, String> {
    let mut batch = AddressBatch::new();
    loop {
        if !source.next_batch(&mut batch).map_err(|e| e.to_string())? {
            return Ok(Vec::new());
        }
        let ipv4 = batch.ipv4().iter().map(|&bits| IpAddr::V4(bits.into()));
        let ipv6 = batch.ipv6().iter().map(|&bits| IpAddr::V6(bits.into()));
        let all: Vec<IpAddr> = ipv4.chain(ipv6).collect();
        if !all.is_empty() {
            return Ok(all);
        }
    }
}

#[test]
fn reads_addresses() {
    let text = "\u{feff}1.2.3.4\r\n# comment\n\n\t; why\n; x\n255.255.255.255\n  2001:db8::1\n::ffff:1.2.3.4";
    let wanted: Vec<IpAddr> = [
        "1.2.3.4",
        "255.255.255.255",
        "2001:db8::1",
        "::ffff:1.2.3.4",
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
fn lines_before_a_cut_are_read() {
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
/// none on the way fails instead of waiting forever.
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
    let input = Input::from_reader("pipe", SlowPipe(receiver));
    let mut source =
        AddressFile::open(input, Some(AddressFormat::TEXT), &AddressOptions::default()).unwrap();
    let send = |text: &str| {
        for piece in text.as_bytes().chunks(4) {
            sender.send(piece.to_vec()).unwrap();
        }
    };
    let next = |source: &mut AddressFile| -> Vec<String> {
        let next = next(source).unwrap();
        next.iter().map(ToString::to_string).collect()
    };
    send("1\u{3a}:1\n");
    assert_eq!(next(&mut source), ["1::1"]);
    send("1.1.1.1\n");
    assert_eq!(next(&mut source), ["1.1.1.1"]);
    // The last of them is not whole yet.
    sender
        .send(b"2.2.2.2\n3.3.3.3\n# comment\n4.4.4".to_vec())
        .unwrap();
    assert_eq!(next(&mut source), ["2.2.2.2", "3.3.3.3"]);
    send(".4\n");
    assert_eq!(next(&mut source), ["4.4.4.4"]);
    // A failure ends it.
    let mut batch = AddressBatch::new();
    let error = source.next_batch(&mut batch).unwrap_err().to_string();
    assert!(
        error.starts_with("pipe:7: ") && error.ends_with("would wait"),
        "{error}"
    );
    assert!(!source.next_batch(&mut batch).unwrap());
}

#[test]
fn a_slow_gzip_pipe_gets_its_answers_at_every_flush() {
    use std::io::Write;
    let (sender, receiver) = mpsc::channel();
    let input = Input::from_reader("pipe", SlowPipe(receiver));
    let mut source =
        AddressFile::open(input, Some(AddressFormat::TEXT), &AddressOptions::default()).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for n in 1..20 {
        writeln!(encoder, "10.0.0.{n}").unwrap();
        encoder.flush().unwrap();
        for piece in std::mem::take(encoder.get_mut()).chunks(4) {
            sender.send(piece.to_vec()).unwrap();
        }
        let address: IpAddr = format!("10.0.0.{n}").parse().unwrap();
        assert_eq!(next(&mut source), Ok(vec![address]));
    }
}

#[test]
fn prefixes_alone_are_those_of_the_table() {
    let options = LoadOptions::new();
    for text in [
        "10.0.0.0/8 a\n11.0.0.0/8 b\n",
        "10.0.0.0/8 a\n10.0.0.0-10.0.0.255 b\n10.0.0.16-10.0.0.31 c\n",
        "prefix,value\n10.0.0.0/8,a\n11.0.0.0/8,\n",
    ] {
        let table = load_from(input(text), &options).unwrap();
        let list = popfib_formats::load::<Vec<_>>(input(text), &options).unwrap();
        assert!(
            table.routes().map(|(prefix, _)| prefix).eq(list.content),
            "{text}"
        );
    }
    // Values do not count, but where ranges overlap they say whether that is an error.
    for (value, is_error) in [("b", false), ("c", true)] {
        let rows = format!("10.0.0.0 10.0.0.9 b\n10.0.0.5 10.0.0.19 {value}\n");
        for text in [
            rows.replacen(" 10.", "-10.", 1).replace("5 10.", "5-10."),
            rows.replace(' ', "\t"),
        ] {
            let (table, list) = (
                load_from(input(&*text), &options),
                popfib_formats::load::<Vec<_>>(input(&*text), &options),
            );
            assert_eq!(table.is_err(), is_error, "{text}");
            assert_eq!(
                list.map(|_| ()).map_err(|e| e.to_string()),
                table.map(|_| ()).map_err(|e| e.to_string())
            );
        }
    }
}
