//! Any bytes as a connection of FPM or BMP, as lines, or as datagrams of a kernel, which the first byte chooses.
#![no_main]

use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use popfib_feed::{
    BmpDecoder, Decoder, FpmDecoder, KernelReader, Limits, Tables, UpdateLinesDecoder,
};

/// What is left in the tables after these pieces, and the error if there was one.
fn run(choice: u8, pieces: &[&[u8]]) -> (Vec<String>, Option<String>) {
    let mut decoder: Box<dyn Decoder> = match choice % 3 {
        0 => Box::new(FpmDecoder::new()),
        1 => Box::new(BmpDecoder::new()),
        _ => Box::new(UpdateLinesDecoder::new()),
    };
    let now = Instant::now();
    let mut tables = Tables::new(Limits::default());
    let id = tables.connected("fuzz", now);
    let mut error = None;
    for piece in pieces {
        let result = decoder.push(piece, &mut |streams, transaction| {
            tables.apply(id, streams, transaction, now);
        });
        if let Err(reason) = result {
            error = Some(reason.to_string());
            break;
        }
    }
    while tables.tick(now + Duration::from_secs(1_000_000), 3) {}
    let mut left = Vec::new();
    let names: Vec<String> = tables.tables().map(|table| table.name).collect();
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

/// Datagrams of a kernel, each with its length before it.
fn datagrams(mut bytes: &[u8]) {
    let mut kernel = KernelReader::new();
    kernel.dump();
    let mut tables = Tables::new(Limits::default());
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
    assert_eq!(run(choice, &pieces), whole);
    assert!(
        whole
            .1
            .is_none_or(|error| !error.contains(char::is_control))
    );
});
