//! Any bytes as a connection of FPM or BMP, as a file of updates, or as datagrams of a kernel, which the first byte chooses.
#![no_main]

use std::io::{Cursor, Read};
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use popfib_feed::files::{FileUpdates, UpdateError};
use popfib_feed::{ConnectionId, Decoder, KernelReader, Limits, Tables, Transaction};
use popfib_formats::{Input, UpdateOptions};

#[path = "../../crates/popfib-feed/tests/feed/at_once.rs"]
#[expect(dead_code, reason = "the tests need more")]
mod at_once;
use at_once::AtOnce as _;

/// What is left in the tables after these pieces, and the error if there was one.
fn run(choice: u8, pieces: &[&[u8]]) -> (Vec<String>, Option<String>) {
    let now = Instant::now();
    let mut tables = Tables::new(Limits::default());
    let id = tables.connected("fuzz", now);
    let error = match choice % 3 {
        0 => push(
            &mut Decoder::fpm(&Default::default()),
            pieces,
            &mut tables,
            id,
        ),
        1 => push(
            &mut Decoder::bmp(&Default::default()),
            pieces,
            &mut tables,
            id,
        ),
        _ => read(pieces, &mut tables, id),
    };
    while tables.tick(now + Duration::from_secs(1_000_000), 3) {}
    let mut left = Vec::new();
    let names: Vec<String> = tables.tables_after(None).map(|table| table.name).collect();
    for name in names {
        let view = tables.view(&name).expect("it has just been listed");
        let mut reader = view.reader();
        let guard = reader.pin();
        let (ipv4, ipv6) = tables.routes(&name);
        for (prefix, target) in ipv4 {
            let (longest, _) = guard.ipv4().longest_match(prefix.first()).expect("a match");
            assert!(prefix.covers(&longest));
            left.push(format!("{name} {prefix} {target}"));
        }
        for (prefix, target) in ipv6 {
            let (longest, _) = guard.ipv6().longest_match(prefix.first()).expect("a match");
            assert!(prefix.covers(&longest));
            left.push(format!("{name} {prefix} {target}"));
        }
    }
    (left, error)
}

/// Gives pieces to a decoder, and returns its error.
fn push(
    decoder: &mut Decoder,
    pieces: &[&[u8]],
    tables: &mut Tables,
    id: ConnectionId,
) -> Option<String> {
    let now = Instant::now();
    let mut commit = |streams: &[_], transaction: &mut _| {
        tables.apply(id, streams, transaction, now);
    };
    let result = pieces
        .iter()
        .try_for_each(|piece| decoder.push(piece, &mut commit));
    result.err().map(|error| error.to_string())
}

/// Reads a file in pieces, past invalid lines, and returns the error that it ends with.
fn read(pieces: &[&[u8]], tables: &mut Tables, id: ConnectionId) -> Option<String> {
    let pieces: Vec<_> = pieces
        .iter()
        .map(|piece| Cursor::new(piece.to_vec()))
        .collect();
    let empty: Box<dyn Read + Send> = Box::new(std::io::empty());
    let file = pieces
        .into_iter()
        .fold(empty, |file, piece| Box::new(file.chain(piece)));
    let input = Input::from_reader("fuzz", file);
    let mut updates = FileUpdates::open(input, &UpdateOptions::default()).expect("no file");
    let mut transaction = Transaction::default();
    loop {
        match updates.next(&mut transaction) {
            Ok(true) => transaction.settle(),
            Ok(false) => return None,
            Err(UpdateError::Read(error)) if error.is_invalid_line() => {}
            Err(error) => return Some(error.to_string()),
        }
        tables.apply(id, updates.streams(), &mut transaction, Instant::now());
    }
}

/// Datagrams of a kernel, each with its length before it.
fn datagrams(mut bytes: &[u8]) {
    let mut tables = Tables::new(Limits::default());
    let mut kernel = KernelReader::within(tables.memory_budget());
    kernel.dump();
    let now = Instant::now();
    let id = tables.connected("fuzz", now);
    while let Some((&length, rest)) = bytes.split_first() {
        let (datagram, rest) = rest.split_at(rest.len().min(length.into()));
        bytes = rest;
        let result = kernel.push(datagram, &mut |streams, transaction| {
            tables.apply(id, streams, transaction, now);
        });
        if result.is_err() {
            break;
        }
    }
    while tables.tick(now, 3) {}
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else {
        return;
    };
    if choice == u8::MAX {
        return datagrams(bytes);
    }
    let whole = run(choice, &[bytes]);
    let step = usize::from(choice / 3) + 1;
    let pieces: Vec<&[u8]> = bytes.chunks(step).collect();
    let in_pieces = run(choice, &pieces);
    // How much a decompressor takes and hands over before it finds damage hangs on what it is given.
    let is_damaged = |error: &Option<String>| {
        let error = error.as_deref();
        error.is_some_and(|error| error.contains(" data is damaged"))
    };
    if !is_damaged(&whole.1) || !is_damaged(&in_pieces.1) {
        assert_eq!(in_pieces, whole);
    }
    assert!(
        whole
            .1
            .is_none_or(|error| !error.contains(char::is_control))
    );
});
