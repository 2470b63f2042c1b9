//! Files that can't be read, or not to their end: one line that says why, and bounded memory.

use std::error::Error;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::common::{COMPRESSIONS, SKIP, STRICT, error, load, load_from, read, routes};
use popfib_formats::Input;

fn table_text(routes: u32) -> String {
    (0..routes)
        .map(|n| {
            let [_, b, c, d] = n.to_be_bytes();
            format!("10.{b}.{c}.{d} hop{}\n", n * 7919 % 251)
        })
        .collect()
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let message = |path: &Path| load(path, &STRICT).unwrap_err().to_string();

    let missing = folder.path().join("missing.txt");
    let name = missing.display();
    assert_eq!(
        message(&missing),
        format!("{name}: cannot open: No such file or directory (os error 2)")
    );
    assert!(load(&missing, &STRICT).unwrap_err().source().is_some());

    let name = folder.path().display();
    assert_eq!(
        message(folder.path()),
        format!("{name}: is a directory, not a file")
    );

    let file = folder.path().join("file");
    fs::write(&file, "10.0.0.0/8 a\n").unwrap();
    assert!(load(&file, &STRICT).is_ok());
    let below = file.join("below");
    assert_eq!(
        message(&below),
        format!(
            "{}: cannot open: Not a directory (os error 20)",
            below.display()
        )
    );

    let empty = folder.path().join("empty");
    fs::write(&empty, "").unwrap();
    assert_eq!(
        message(&empty),
        format!("{}: there is no route in it", empty.display())
    );
}

/// A socket can't be opened as a file by anyone, where a file without
/// permissions could be by root.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let message = load(&socket, &STRICT).unwrap_err().to_string();
    assert!(
        message.starts_with(&format!("{}: cannot open: ", socket.display())),
        "{message}"
    );
}

#[test]
fn a_reader_that_fails() {
    struct Fails(io::Cursor<Vec<u8>>);
    impl Read for Fails {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buf)? {
                0 => Err(io::ErrorKind::PermissionDenied.into()),
                n => Ok(n),
            }
        }
    }
    let fails = |data: Vec<u8>| {
        // Not even --skip-invalid makes half a table of it.
        let error =
            load_from(Input::from_reader("t", Fails(io::Cursor::new(data))), &SKIP).unwrap_err();
        assert!(!error.is_invalid_line());
        assert!(error.source().is_some());
        error.to_string()
    };
    assert_eq!(fails(vec![]), "t:1: cannot read: permission denied");
    let text = "10.0.0.0/8 a\n11.0.0.0/8 b\n12.";
    assert_eq!(
        fails(text.into()),
        "t:3: cannot read after byte 29: permission denied"
    );
    for (format, compress) in COMPRESSIONS {
        let data = compress(text.as_bytes());
        let half = data.len() / 2;
        let message = fails(data[..half].to_vec());
        assert_eq!(
            message,
            format!("t:1: cannot read after byte {half}: permission denied"),
            "{format}"
        );
    }
}

/// No cut of compressed data gives a table: half a table is a wrong one.
#[test]
fn compressed_data_cut_off_anywhere() {
    let text = table_text(300);
    for (format, compress) in COMPRESSIONS {
        let data = compress(text.as_bytes());
        assert_eq!(
            read(data.clone(), &STRICT).unwrap().route_count(),
            300,
            "{format}"
        );
        for cut in 0..data.len() {
            let message = error(&data[..cut], &STRICT);
            if cut >= 4 {
                let reason = format!(": the {format} data is cut off after {cut} bytes");
                assert!(
                    message.starts_with("t:") && message.ends_with(&reason),
                    "{cut}: {message}"
                );
            }
        }
    }
}

#[test]
fn an_error_names_the_line_reached() {
    // Long enough for whole blocks of each format to come out before the cut.
    let text = table_text(30_000);
    for (format, compress) in COMPRESSIONS {
        let data = compress(text.as_bytes());
        let kept = data.len() * 9 / 10;
        let error = read(&data[..kept], &STRICT).unwrap_err();
        let line = error.line().unwrap();
        assert!((1..30_000).contains(&line), "{format}: {error}");
        if format != "zstd" {
            assert!(line > 10_000, "{format}: {error}");
        }
        assert!(
            error
                .to_string()
                .ends_with(&format!("cut off after {kept} bytes")),
            "{error}"
        );
    }
}

#[test]
fn damaged_data() {
    let text = table_text(300);
    for (format, compress) in COMPRESSIONS {
        let data = compress(text.as_bytes());
        let intact = routes(&read(data.clone(), &STRICT).unwrap());
        let mut refused = 0;
        for at in (4..data.len()).step_by(5) {
            let mut damaged = data.clone();
            damaged[at] ^= 0x10;
            match read(damaged, &STRICT) {
                // Bits that mean nothing, such as gzip's time stamp.
                Ok(table) => assert!(routes(&table) == intact, "{format}: byte {at}"),
                Err(e) => {
                    assert!(!e.to_string().contains('\n'), "{e}");
                    refused += 1;
                }
            }
        }
        assert!(refused * 5 > data.len() * 9 / 10, "{format}: {refused}");
    }
}

#[test]
fn garbage_behind_compressed_data() {
    for (format, compress) in COMPRESSIONS {
        let data = [compress(b"10.0.0.0/8 a\n"), b"11.0.0.0/8 b\n".to_vec()].concat();
        let message = error(data, &STRICT);
        assert!(
            message.contains(&format!("the {format} data is ")),
            "{message}"
        );
    }
}

#[test]
fn binary_files() {
    let image: Vec<u8> = (0..200_000u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let message = error(
        [b"\x7fELF\x02\x01\x01\0".to_vec(), image.clone()].concat(),
        &STRICT,
    );
    assert!(message.starts_with("t:1: this is not text: "), "{message}");
    let message = error(image, &SKIP);
    assert!(
        message.starts_with("t: there is no valid route in it ("),
        "{message}"
    );
    let zip = b"PK\x03\x04\x14\0\0\0\x08\0table.txt".to_vec();
    assert_eq!(
        error(zip, &STRICT),
        "t: byte 2: this is a zip archive: unpack it first"
    );
    let xz = b"\xfd7zXZ\0\0\x04".to_vec();
    assert_eq!(
        error(xz, &STRICT),
        "t:1: this is xz data: unpack it first, as by `xz -dc`"
    );
    let utf16: Vec<u8> = "\u{feff}10.0.0.0/8 a\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let wanted =
        "this is text in UTF-16: convert it to UTF-8 first, as by `iconv -f UTF-16 -t UTF-8`";
    assert_eq!(
        error(utf16.clone(), &STRICT),
        format!("t: byte 0: {wanted}")
    );
    assert_eq!(error(&utf16[2..], &STRICT), format!("t: byte 1: {wanted}"));
    for (format, compress) in COMPRESSIONS {
        let twice = compress(&compress(b"10.0.0.0/8 a\n"));
        let message = error(twice, &STRICT);
        assert!(
            message.contains(&format!(
                "this is {format} data where text is expected: unpack it first"
            )),
            "{message}"
        );
    }
}

#[test]
fn a_line_of_100_mb() {
    let long = || io::repeat(b'1').take(100_000_000);
    let head = || io::Cursor::new("10.0.0.0/8 a\n");
    let tail = || io::Cursor::new("\n11.0.0.0/8 b\n");
    let input = || Input::from_reader("t", head().chain(long()).chain(tail()));
    let error = load_from(input(), &STRICT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t:2: the line is longer than 131072 bytes"
    );
    let table = load_from(input(), &SKIP).unwrap();
    assert_eq!(routes(&table), ["10.0.0.0/8 a", "11.0.0.0/8 b"]);
    assert_eq!(table.skipped, 1);
}

#[test]
fn mrt_of_the_last_century_is_named() {
    // Type 5, subtype 1 (an update), in January 1999.
    let mut data = vec![0x36, 0x8c, 0x10, 0x80, 0, 5, 0, 1, 0, 0, 0, 40];
    data.extend([0; 40]);
    let message = error(data, &STRICT);
    assert!(
        message.contains("MRT of a type that RFC 6396 calls deprecated"),
        "{message}"
    );
}
