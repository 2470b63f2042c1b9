//! Memory stays bounded beside the routes, however an input multiplies: each of these would be more than 64 times as long as text, as
//! changes or as what is kept of it. A program of its own, because it counts what the whole process allocates.

#[path = "feed/wire.rs"]
#[expect(dead_code, reason = "the other tests need more")]
mod wire;

use std::io::Cursor;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use peak_alloc::PeakAlloc;
use popfib_feed::files::{FileUpdates, UpdateError};
use popfib_feed::info::MessageCounts;
use popfib_feed::{ConnectionId, DecodeError, Decoder, Limits, Tables, Transaction};
use popfib_formats::{Input, UpdateOptions};
use wire::Peer;

#[global_allocator]
static COUNTED: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;

/// One test at a time: they count the same allocations.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The most that `run` has allocated at a time, and its result.
fn peak<T>(run: impl FnOnce() -> T) -> (usize, T) {
    let before = COUNTED.current_usage();
    COUNTED.reset_peak_usage();
    let result = run();
    (COUNTED.peak_usage().saturating_sub(before), result)
}

/// The tables, and the connection that fills them.
struct Connected {
    tables: Tables,
    id: ConnectionId,
}

impl Connected {
    fn new(limits: Limits) -> Self {
        let mut tables = Tables::new(limits);
        let id = tables.joined("router", Instant::now());
        Self { tables, id }
    }

    /// Gives bytes to a decoder as they are read, and what comes out to the tables.
    fn apply(&mut self, decoder: &mut Decoder, bytes: &[u8]) -> Result<(), DecodeError> {
        let now = Instant::now();
        for bytes in bytes.chunks(64 << 10) {
            decoder.push(bytes, &mut |streams, transaction| {
                while self.tables.take(self.id, streams, transaction, now) {}
            })?;
            self.tables.publish(now, false);
        }
        Ok(())
    }

    /// The same with a file of updates, whose changes are published as soon as more has to be read: the counts of its messages.
    fn read(&mut self, file: Vec<u8>) -> MessageCounts {
        let now = Instant::now();
        let input = Input::from_reader("file", Cursor::new(file));
        let mut updates = FileUpdates::open(input, &UpdateOptions::default()).unwrap();
        let mut transaction = Transaction::default();
        loop {
            match updates.next(&mut transaction) {
                Ok(true) => transaction.settle(),
                Ok(false) => return updates.counts(),
                Err(UpdateError::Read(error)) if error.is_invalid_line() => {}
                Err(error) => panic!("{error}"),
            }
            while (self.tables).take(self.id, updates.streams(), &mut transaction, now) {}
            self.tables.publish(now, !updates.may_wait());
        }
    }
}

fn peer(distinguisher: u64) -> Option<Peer> {
    Some(Peer {
        kind: 1,
        flags: 0,
        address: [192, 0, 2, 1],
        distinguisher,
    })
}

#[test]
fn peers_leave_nothing_when_they_go_down_and_are_no_more_than_streams() {
    let _turn = alone();
    let open = wire::peer_up(false);
    let up = |number| wire::bmp(3, peer(number), &open);
    let down = |number| wire::bmp(2, peer(number), &[1]);
    let mut all = Connected::new(Limits::default());
    let mut decoder = Decoder::bmp(all.tables.memory_budget());
    let (most, result) = peak(|| {
        (0..20_000).try_for_each(|number| {
            let messages = [up(number), down(number), wire::bmp(3, peer(!number), b"x")];
            all.apply(&mut decoder, &messages.concat())
        })
    });
    assert_eq!(result, Ok(()));
    assert_eq!(decoder.counts().invalid, 20_000);
    assert_eq!(all.tables.bytes(), 0);
    assert!(most < MIB, "{most} bytes");

    let (most, result) =
        peak(|| (0..20_000).try_for_each(|number| all.apply(&mut decoder, &up(number))));
    assert_eq!(result.unwrap_err().to_string(), "more than 8192 peers");
    assert!(
        all.tables.bytes() > 8192 * 64 && most < 4 * MIB,
        "{most} bytes"
    );
    drop(decoder);
    assert_eq!(all.tables.bytes(), 0);
}

#[test]
fn unfinished_messages_and_peers_of_all_connections_share_a_limit() {
    let _turn = alone();
    let mut all = Connected::new(Limits::default());
    let budget = all.tables.memory_budget().clone();
    let mut unfinished = b"\x03\x00\x10\x00\x00\x09".to_vec();
    unfinished.resize(MIB - 1, 0);
    let mut decoders = Vec::new();
    let (most, refused) = peak(|| {
        let one = |_| {
            decoders.push(Decoder::bmp(&budget));
            all.apply(decoders.last_mut().unwrap(), &unfinished)
                .is_err()
        };
        (0..100).map(one).filter(|is_refused| *is_refused).count()
    });
    assert!(refused >= 84 && most < 24 * MIB, "{refused} {most}");
    // Others go on.
    let route = [(None, "10.0.0.0/8".parse().unwrap())];
    let update = wire::update(&route, Some(([192, 0, 2, 1].into(), 100, &[64500][..])));
    let mut decoder = Decoder::bmp(&budget);
    let message = wire::bmp(0, peer(1), &update);
    for part in message.chunks(7) {
        all.apply(&mut decoder, part).unwrap();
    }
    assert_eq!(all.tables.totals().paths, 1);
    drop((decoders, decoder));
    let mut whole = unfinished;
    whole.push(0);
    assert_eq!(all.apply(&mut Decoder::bmp(&budget), &whole), Ok(()));
}

#[test]
fn a_command_for_all_neighbors_is_no_change_for_each() {
    let _turn = alone();
    let mut lines = String::new();
    for n in 0..8000 {
        let (neighbor, hop) = (format!("10.1.{}.{}", n >> 8, n & 255), "192.0.2.1");
        let route = if n == 7 {
            "10.0.7.0/24"
        } else {
            "192.0.2.0/24"
        };
        lines += &format!("neighbor {neighbor} announce route {route} next-hop {hop}\n");
    }
    lines += "announce route 10.0.0.0/8 next-hop 192.0.2.9 split /24\nannounce x y\n";
    let mut all = Connected::new(Limits::default());
    let file = lines.clone().into_bytes();
    let (most, counts) = peak(|| all.read(file));
    assert_eq!(counts.invalid, 1);
    // That of neighbor 7 was replaced.
    assert_eq!(all.tables.totals().paths, 7999 + 65_536);
    assert!(most < 48 * MIB, "{most} bytes");
    lines += "withdraw route 192.0.2.0/24\nwithdraw route 10.0.7.0/24\n";
    let mut all = Connected::new(Limits::default());
    all.read(lines.into_bytes());
    assert_eq!(all.tables.totals().paths, 65_535);
}

#[test]
fn lines_share_their_values_in_any_order() {
    let _turn = alone();
    let lines = |order: fn(u32) -> u32| -> String {
        let values = ["a".repeat(1000), "b".repeat(1000)];
        let line = |n| {
            format!(
                "announce 10.{}.{}.0/24 {}\n",
                n >> 8,
                n & 255,
                values[order(n) as usize]
            )
        };
        (0..4000).map(line).collect()
    };
    let mut peaks = Vec::new();
    for order in [|n| n / 2000, |n| n % 2] {
        let lines = lines(order).into_bytes();
        let mut all = Connected::new(Limits::default());
        let (most, counts) = peak(|| all.read(lines));
        assert_eq!((counts.invalid, all.tables.totals().paths), (0, 4000));
        peaks.push(most);
    }
    assert!(peaks.iter().all(|most| *most < 2 * MIB), "{peaks:?}");
}

/// The shortest forms of routes, with what is longest in common, in each protocol.
#[test]
fn short_routes_with_long_attributes_share_these() {
    let _turn = alone();
    let limits = Limits {
        max_bytes: 64 * MIB,
        ..Limits::default()
    };
    // 64 next-hop objects with the most members that they may have, and routes that name these.
    let members: Vec<(u32, u8)> = (0..512).map(|member| (1 + member % 250, 1)).collect();
    let mut fpm = Vec::new();
    for id in 1..=250 {
        fpm.extend(wire::frame(&[wire::object(id, [192, 0, 2, 1].into(), 1)]));
    }
    for id in 1000..1064 {
        fpm.extend(wire::frame(&[wire::group(id, &members)]));
    }
    for n in 0..20_000u32 {
        let prefix = format!("10.{}.{}.0/24", n >> 8, n & 255).parse().unwrap();
        let route = wire::route(prefix, 254, 1, Some(&wire::named(1000 + n % 64)));
        fpm.extend(wire::frame(&[route]));
    }
    // Paths of one prefix, which share a long AS path.
    let path: Vec<u32> = (0..255).collect();
    let mut bmp = wire::bmp(3, peer(1), &wire::peer_up(true));
    for first in (0..60_000).step_by(100) {
        let routes: Vec<_> = (first..first + 100)
            .map(|id| (Some(id), "0.0.0.0/0".parse().unwrap()))
            .collect();
        let update = wire::update(&routes, Some(([192, 0, 2, 1].into(), 100, &path)));
        bmp.extend(wire::bmp(0, peer(1), &update));
    }
    // A line of the shortest prefixes.
    let mut lines = "announce attributes next-hop 192.0.2.1 nlri".to_owned();
    lines += &" ::/0".repeat(65_536);
    lines += &format!(
        "\nannounce attributes next-hop ::1 nlri{}\n",
        " ::/0".repeat(400_000)
    );
    let json = r#"{"data":{"peer":"::1","type":"UPDATE","path":[1],"announcements":[{"next_hop":"::2","prefixes":["::/0"#;
    lines += &format!("{json}{}\"]}}]}}}}\n", r#"","::/0"#.repeat(290_000));
    type Make = fn(&Tables) -> Decoder;
    let inputs: [(&str, Vec<u8>, Option<Make>); 3] = [
        (
            "FPM",
            fpm,
            Some(|tables| Decoder::fpm(tables.memory_budget())),
        ),
        (
            "BMP",
            bmp,
            Some(|tables| Decoder::bmp(tables.memory_budget())),
        ),
        ("lines", lines.into_bytes(), None),
    ];
    for (name, bytes, make) in inputs {
        let length = bytes.len();
        let (most, (invalid, paths)) = peak(|| {
            let mut all = Connected::new(limits);
            let counts = match make {
                None => all.read(bytes),
                Some(make) => {
                    let mut decoder = make(&all.tables);
                    all.apply(&mut decoder, &bytes).unwrap();
                    decoder.counts()
                }
            };
            (counts.invalid, all.tables.totals().paths)
        });
        assert_eq!(invalid, 2 * u64::from(name == "lines"), "{name}");
        assert!(paths > 0, "{name}");
        assert!(most < 64 * MIB, "{name}: {most} bytes of {length}");
    }
}

/// What tables take is counted before they grow, and lookup structures are made in no more than half as much again.
#[test]
fn tables_take_no_more_than_their_limit() {
    let _turn = alone();
    let most_bytes = 12 * MIB;
    for values in [1, 1 << 20] {
        let line = |n: u32| {
            let (a, b, c) = (1 + (n >> 16), n >> 8 & 255, n & 255);
            format!("announce {a}.{b}.{c}.0/24 {}\n", n % values)
        };
        let lines: String = (0..400_000).map(line).collect();
        let (peak, (most, totals)) = peak(|| {
            let mut all = Connected::new(Limits {
                max_bytes: most_bytes,
                ..Limits::default()
            });
            let input = Input::from_reader("file", Cursor::new(lines));
            let mut updates = FileUpdates::open(input, &UpdateOptions::default()).unwrap();
            let mut transaction = Transaction::default();
            let mut most = 0;
            let now = Instant::now();
            let mut count = 0;
            while updates.next(&mut transaction).unwrap() {
                while (all.tables).take(all.id, updates.streams(), &mut transaction, now) {}
                count += 1;
                if count % 1024 == 0 {
                    // More has always arrived.
                    all.tables.publish(now, true);
                    most = most.max(all.tables.bytes());
                }
            }
            all.tables.publish(now, false);
            (most.max(all.tables.bytes()), all.tables.totals())
        });
        assert!(most <= most_bytes, "{most} bytes");
        assert!(peak <= most_bytes * 3 / 2, "{peak} bytes");
        assert!(totals.refused > 0 && totals.paths > 50_000, "{totals:?}");
    }
}
