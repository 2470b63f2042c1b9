//! Memory stays bounded beside the table, however much data comes in. A program
//! of its own, because it counts what the whole process allocates.

mod common;

use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use common::rounds::rounds;
use common::{SKIP, STRICT, gzip, load_from};
use peak_alloc::PeakAlloc;
use popfib_formats::{
    AddressBatch, AddressFile, AddressFormat, AddressOptions, AddressSource, ColumnSelection,
    Format, Input, LoadOptions, UpdateFormat, UpdateOptions, open_routes, open_updates,
};

#[global_allocator]
static COUNTED: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;

/// One test at a time: they count the same allocations.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The most that `run` has allocated at a time.
fn peak(run: impl FnOnce()) -> usize {
    let before = COUNTED.current_usage();
    COUNTED.reset_peak_usage();
    run();
    COUNTED.peak_usage().saturating_sub(before)
}

/// `piece`, `times` over.
struct Repeated {
    piece: Vec<u8>,
    times: usize,
    at: usize,
}

impl Repeated {
    fn input(piece: Vec<u8>, times: usize) -> Input {
        Input::from_reader(
            "t",
            Self {
                piece,
                times,
                at: 0,
            },
        )
    }
}

impl Read for Repeated {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            self.at = 0;
            self.times -= 1;
        }
        if self.times == 0 {
            return Ok(0);
        }
        let n = buf.len().min(self.piece.len() - self.at);
        buf[..n].copy_from_slice(&self.piece[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[test]
fn memory_is_bounded() {
    let _turn = alone();
    let megabyte = gzip(&vec![b'x'; MIB]);
    let lines = b"10.0.0.0/8 some-next-hop\n".repeat(10_000);
    let grown = peak(|| {
        // One line of 200 MiB out of a few hundred kilobytes of gzip.
        let error = load_from(Repeated::input(megabyte, 200), &SKIP).unwrap_err();
        assert_eq!(
            error.to_string(),
            "t: there is no valid route in it (1 invalid line skipped)"
        );

        // A line of 2 GB, by default 500 MB, without compression.
        let error =
            load_from(Repeated::input(vec![b'x'; MIB], rounds(500, 2000)), &STRICT).unwrap_err();
        assert_eq!(
            error.to_string(),
            "t:1: the line is longer than 131072 bytes"
        );

        // 10 million lines (250 MB), by default 2 million, for one prefix: the table stays small, and so must the rest.
        let times = rounds(200, 1000);
        let table = load_from(Repeated::input(lines, times), &STRICT).unwrap();
        assert_eq!(
            (table.ribs.ipv4.len(), table.replaced),
            (1, times as u64 * 10_000 - 1)
        );
    });
    assert!(grown < 16 * MIB, "{grown} bytes");
}

/// Inputs of which a byte may become more than 64, made here, as those that are kept multiply little: a name or value that stands once
/// and belongs to thousands, ranges and commands that are many prefixes, records of absent values. Of what `run` makes of each, so
/// many must be there; without sharing or a bound each would take more than 100 MB.
#[test]
fn what_multiplies_is_shared_or_bounded() {
    let _turn = alone();
    let check = |name: &str, data: String, run: &dyn Fn(Input) -> usize, count: usize| {
        assert!(data.len() < MIB, "{name}: {} bytes", data.len());
        let input = Input::from_reader("t", Cursor::new(data));
        let mut found = 0;
        let grown = peak(|| found = run(input));
        assert_eq!(found, count, "{name}");
        assert!(grown < 48 * MIB, "{name}: {grown} bytes");
    };
    let routes = |input| load_from(input, &STRICT).unwrap().routes().count();
    let columns = |input| {
        let options = LoadOptions {
            columns: ColumnSelection::All,
            ..STRICT.clone()
        };
        load_from(input, &options).unwrap().records.columns().len()
    };
    let changes = |input| {
        let mut source = open_updates(input, &UpdateOptions::default()).unwrap();
        let mut count = 0;
        while source.next_update().unwrap().is_some() {
            count += 1;
        }
        count
    };
    let members = |first: usize, count: usize| {
        let members = (first..count).map(|n| format!(r#""m{n}":{n}"#));
        members.collect::<Vec<_>>().join(",")
    };
    let key = "k".repeat(50_000);
    let below = format!(
        r#"{{"prefix":"10.0.0.0/8","v":1,"{key}":{{{}}}}}"#,
        members(0, 4000)
    );
    check("names of columns", below, &columns, 1);
    let first = format!(r#"{{"prefix":"11.0.0.0/8",{}}}"#, members(0, 4000));
    let others = (0..4000).map(|n| {
        let (high, low) = (n >> 8, n & 255);
        format!("\n{{\"prefix\":\"10.0.{high}.{low}\",\"m0\":{n}}}")
    });
    check(
        "absent values",
        others.fold(first, |all, line| all + &line),
        &columns,
        4000,
    );
    let value = "x".repeat(50_000);
    let list = (0..4000).map(|n| format!("\"10.{}.{}.0/24\"", n >> 8, n & 255));
    let list = format!(r#"{{"{value}":[{}]}}"#, list.collect::<Vec<_>>().join(","));
    check("a value of a list", list, &routes, 4000);
    let ranges = (1..16).map(|n| {
        let last = "ffff:".repeat(6);
        format!("{n:x}000::1-{n:x}fff:{last}fffe {n}{value}\n")
    });
    check("ranges", ranges.collect(), &routes, 15 * 246);
    let path = (0..3000).map(|n| format!("{} ", 100_000 + n));
    let path: String = path.collect();
    let split =
        format!("announce route 10.0.0.0/8 next-hop 192.0.2.1 as-path [ {path}] split /24\n");
    check("a route that is split", split.repeat(4), &changes, 4 << 16);
}

/// The files below `folder`, with what is in them.
fn files(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            let data = fs::read(&path).unwrap();
            found.push((path, data));
        }
    }
}

/// The largest window that zstd frames of these bytes state, 8 MiB for those with a length instead.
fn window(data: &[u8]) -> usize {
    match *data {
        [0x28, 0xb5, 0x2f, 0xfd, descriptor, _, ..] if descriptor & 0x20 != 0 => 8 * MIB,
        [0x28, 0xb5, 0x2f, 0xfd, _, size, ..] => 2 << (10 + (size >> 3)),
        _ => 0,
    }
}

/// Any reader on any input of 1 MB takes at most 64 MiB beside the table and the window of the
/// compressed data: all kept inputs, in every format, detected and by name.
#[test]
fn every_kept_input_in_every_format() {
    check_kept_inputs(rounds(1 << 10, 64 << 10), |name| {
        !name.ends_with("-bomb.zst")
    });
}

#[test]
#[ignore = "a minute"]
fn heavy_every_bomb_in_every_format() {
    check_kept_inputs(64 << 10, |name| name.ends_with("-bomb.zst"));
}

fn check_kept_inputs(large: usize, wanted: impl Fn(&str) -> bool) {
    let _turn = alone();
    let mut inputs = Vec::new();
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    files(&top.join("tests/data"), &mut inputs);
    files(&top.join("../../fuzz/regressions"), &mut inputs);
    assert!(inputs.len() > 100);
    let formats = [None].into_iter().chain(Format::all().map(Some));
    let formats: Vec<_> = formats.collect();
    let updates = [None].into_iter().chain(UpdateFormat::all().map(Some));
    let updates: Vec<_> = updates.collect();
    let addresses = [None].into_iter().chain(AddressFormat::all().map(Some));
    let addresses: Vec<_> = addresses.collect();
    inputs.retain(|(path, _)| wanted(&path.to_string_lossy()));
    // The largest ones would take all formats minutes; each of these has small samples.
    for (path, data) in &inputs {
        let is_large = data.len() > large && !path.to_string_lossy().contains("-bomb");
        let count = if is_large { 1 } else { usize::MAX };
        let formats = &formats[..formats.len().min(count)];
        let updates = &updates[..updates.len().min(count)];
        let addresses = &addresses[..addresses.len().min(count)];
        let bound = 64 * MIB + window(data);
        let data = &data[..data.len().min(MIB)];
        let input = || Input::from_reader("t", Cursor::new(data.to_vec())).max_size(72 << 20);
        let check = |what: &str, run: &mut dyn FnMut()| {
            let grown = peak(run);
            assert!(
                grown <= bound,
                "{} as {what}: {grown} bytes",
                path.display()
            );
        };
        for &format in formats {
            let options = LoadOptions {
                format,
                ..LoadOptions::new()
            };
            check(&format!("table {format:?}"), &mut || {
                let Ok(mut source) = open_routes(input(), &options) else {
                    return;
                };
                loop {
                    match source.next_route() {
                        Ok(None) => break,
                        Err(error) if !error.is_invalid_line() => break,
                        _ => {}
                    }
                }
            });
        }
        for &format in updates {
            let options = UpdateOptions {
                format,
                ..UpdateOptions::default()
            };
            check(&format!("updates {format:?}"), &mut || {
                let mut source = open_updates(input(), &options).unwrap();
                loop {
                    match source.next_update() {
                        Ok(None) => break,
                        Err(error) if !error.is_invalid_line() => break,
                        _ => {}
                    }
                }
            });
        }
        for &format in addresses {
            check(&format!("addresses {format:?}"), &mut || {
                let options = AddressOptions::default();
                let Ok(mut source) = AddressFile::open(input(), format, &options) else {
                    return;
                };
                let mut batch = AddressBatch::new();
                loop {
                    match source.next_batch(&mut batch) {
                        Ok(false) => break,
                        Err(error) if !error.is_invalid_line() => break,
                        _ => {}
                    }
                }
            });
        }
    }
}
