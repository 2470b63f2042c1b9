use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use popfib::IpPrefix;
use popfib_feed::{
    ConnectionId, Limits, PathChange, Stream, StreamEvent, StreamId, Tables, Target, Transaction,
};

use crate::at_once::AtOnce as _;
use crate::{answers, limits, prefix};

fn streams() -> [Stream; 1] {
    [Stream {
        table: "main".to_owned(),
        peer: String::new(),
    }]
}

fn send(
    tables: &mut Tables,
    id: ConnectionId,
    prefix: IpPrefix,
    value: Option<&str>,
    now: Instant,
) {
    take(tables, id, prefix, value, now);
    tables.publish(now, false);
}

fn take(
    tables: &mut Tables,
    id: ConnectionId,
    prefix: IpPrefix,
    value: Option<&str>,
    now: Instant,
) {
    let mut transaction = Transaction::default();
    transaction.change(PathChange {
        stream: StreamId(0),
        prefix,
        path: 0,
        target: value.map(Target::name),
    });
    tables.take(id, &streams(), &mut transaction, now);
}

fn at(text: &str) -> IpPrefix {
    text.parse().unwrap()
}

#[test]
fn routes_stay_through_a_break_and_leave_when_they_are_not_sent_again() {
    let start = Instant::now();
    let seconds = |n| start + Duration::from_secs(n);
    let mut tables = Tables::new(limits());
    let id = tables.connected("router", start);
    for text in ["10.0.0.0/8", "10.1.0.0/16", "2001:db8::/32"] {
        send(&mut tables, id, at(text), Some("a"), start);
    }
    tables.disconnected(id, Instant::now());
    tables.tick(seconds(10_000), usize::MAX);
    assert_eq!(
        answers(&tables, "main").len(),
        3,
        "nothing leaves while disconnected"
    );
    assert!(!tables.is_fresh());

    let again = tables.connected("router", seconds(10_000));
    send(
        &mut tables,
        again,
        at("10.0.0.0/8"),
        Some("a"),
        seconds(10_030),
    );
    // A change of the connection before comes too late.
    send(
        &mut tables,
        id,
        at("10.9.0.0/16"),
        Some("late"),
        seconds(10_030),
    );
    // A new route does not put off the sweep.
    send(
        &mut tables,
        again,
        at("10.2.0.0/16"),
        Some("b"),
        seconds(10_080),
    );
    // IPv6 waits as long: its turn may come after that of IPv4.
    tables.tick(seconds(10_089), usize::MAX);
    assert_eq!(answers(&tables, "main").len(), 4);
    assert!(tables.paths("main", at("10.1.0.0/16"))[0].is_older);
    while tables.tick(seconds(10_090), 1) {}
    let left: Vec<_> = answers(&tables, "main").into_keys().collect();
    assert_eq!(left, [at("10.0.0.0/8"), at("10.2.0.0/16")]);
    assert_eq!(tables.totals().swept, 2);
    assert_eq!(tables.totals().paths, 2);
    assert!(tables.is_fresh());
}

#[test]
fn the_end_of_rib_ends_the_wait() {
    let now = Instant::now();
    let mut tables = Tables::new(limits());
    let id = tables.connected("router", now);
    send(&mut tables, id, at("10.0.0.0/8"), Some("a"), now);
    tables.disconnected(id, now);
    let id = tables.connected("router", now);
    send(&mut tables, id, at("10.1.0.0/16"), Some("a"), now);
    let mut transaction = Transaction::default();
    transaction.event(StreamEvent::EndOfRib {
        stream: StreamId(0),
        is_ipv6: false,
    });
    tables.apply(id, &streams(), &mut transaction, now);
    tables.tick(now, usize::MAX);
    assert_eq!(answers(&tables, "main").len(), 1);
}

#[test]
fn a_second_connection_takes_over_from_one_that_broke_unnoticed() {
    let now = Instant::now();
    let mut tables = Tables::new(limits());
    let old = tables.connected("router", now);
    let new = tables.connected("router", now);
    assert!(!tables.is_current(old) && tables.is_current(new));
    tables.disconnected(old, Instant::now());
    assert!(tables.is_current(new));
    assert_eq!(tables.totals().connected, 1);
}

#[test]
fn what_comes_faster_than_it_can_be_shown_is_shown_together_within_half_a_second() {
    let start = Instant::now();
    let mut tables = Tables::new(limits());
    let id = tables.connected("router", start);
    let seen = |tables: &Tables| {
        let mut reader = tables.view("main").expect("a table").reader();
        let guard = reader.pin();
        let prefixes: usize = tables
            .tables_after(None)
            .map(|t| t.prefixes.iter().sum::<usize>())
            .sum();
        let count = (0..=255u8)
            .filter(|n| {
                guard
                    .lookup(std::net::IpAddr::from([10, *n, 0, 1]))
                    .is_some()
            })
            .count();
        assert_eq!(count, prefixes);
        count
    };
    for number in 0..200 {
        let prefix = at(&format!("10.{number}.0.0/16"));
        let now = start + Duration::from_millis(number * 5);
        take(&mut tables, id, prefix, Some("a"), now);
        tables.publish(now, true);
        assert_eq!(tables.paths("main", prefix).len(), 1);
        let shown = match number {
            0..100 => 0,
            100..200 => 101,
            _ => unreachable!(),
        };
        assert_eq!(seen(&tables), shown, "after route {number}");
    }
    assert!(!tables.is_whole());
    // The other side pauses.
    tables.publish(start + Duration::from_secs(1), false);
    assert_eq!(seen(&tables), 200);
    // The last of several changes of a route is seen; a tick publishes it when it is late.
    let late = start + Duration::from_secs(2);
    take(&mut tables, id, at("10.0.0.0/16"), None, late);
    take(&mut tables, id, at("10.0.0.0/16"), Some("b"), late);
    take(&mut tables, id, at("10.1.0.0/16"), None, late);
    tables.tick(late, usize::MAX);
    assert_eq!(seen(&tables), 200);
    tables.tick(late + Duration::from_millis(500), usize::MAX);
    assert_eq!(seen(&tables), 199);
    assert_eq!(answers(&tables, "main")[&at("10.0.0.0/16")], "b");
}

#[test]
fn paths_beyond_the_limit_are_refused_and_counted() {
    let now = Instant::now();
    let mut tables = Tables::new(Limits {
        max_paths: 2,
        ..limits()
    });
    let id = tables.connected("router", now);
    for text in ["10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/16"] {
        send(&mut tables, id, at(text), Some("a"), now);
    }
    send(&mut tables, id, at("10.1.0.0/16"), Some("b"), now);
    assert_eq!(answers(&tables, "main").len(), 2);
    assert_eq!(answers(&tables, "main")[&at("10.1.0.0/16")], "b");
    assert_eq!(tables.totals().refused, 1);
    send(&mut tables, id, at("10.0.0.0/8"), None, now);
    send(&mut tables, id, at("10.2.0.0/16"), Some("a"), now);
    assert_eq!(tables.totals().refused, 1);
}

/// Breaks at any moment, also in a sweep: in the end the table is what the last connection sent.
#[test]
fn any_breaks_end_in_what_the_router_has() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut now = Instant::now();
        let mut tables = Tables::new(limits());
        let mut has: BTreeMap<IpPrefix, String> = BTreeMap::new();
        let mut id = tables.connected("router", now);
        for _ in 0..random.usize(1..6) {
            for (prefix, value) in &has {
                send(&mut tables, id, *prefix, Some(value), now);
            }
            for _ in 0..random.usize(..40) {
                let prefix = prefix(&mut random);
                let value = random.bool().then(|| random.u8(..4).to_string());
                take(&mut tables, id, prefix, value.as_deref(), now);
                tables.publish(now, random.bool());
                match value {
                    Some(value) => has.insert(prefix, value),
                    None => has.remove(&prefix),
                };
                now += Duration::from_secs(random.u64(..30));
                tables.tick(now, random.usize(1..4));
            }
            tables.disconnected(id, now);
            // What the router loses and gets meanwhile.
            for _ in 0..random.usize(..10) {
                has.remove(&prefix(&mut random));
                has.insert(prefix(&mut random), random.u8(..4).to_string());
            }
            now += Duration::from_secs(random.u64(..500));
            tables.tick(now, usize::MAX);
            id = tables.connected("router", now);
        }
        for (prefix, value) in &has {
            take(&mut tables, id, *prefix, Some(value), now);
        }
        tables.publish(now, false);
        now += limits().idle;
        while tables.tick(now, random.usize(1..5)) {}
        assert_eq!(answers(&tables, "main"), has, "seed {seed}");
        assert_eq!(tables.totals().paths, has.len());
        assert!(tables.is_fresh() && tables.totals().older == 0);
    }
}

/// A program that has written a table to a file writes it again when the version is another one: so no two may be equal.
#[test]
fn a_table_has_another_version_whenever_readers_see_something_else() {
    let now = Instant::now();
    let mut tables = Tables::new(limits());
    let mut seen = Vec::new();
    let id = tables.connected("router", now);
    let mut look = |tables: &Tables, routes| {
        let view = tables.view("main").unwrap();
        let (version, ipv4, _) = view.routes();
        assert_eq!((ipv4.len(), view.version()), (routes, version));
        assert!(!seen.contains(&version), "{version} of {seen:?}");
        seen.push(version);
    };
    // The table is there before its first routes are.
    take(&mut tables, id, at("10.1.0.0/16"), Some("a"), now);
    look(&tables, 0);
    tables.publish(now, false);
    look(&tables, 1);
    send(&mut tables, id, at("10.2.0.0/16"), Some("a"), now);
    look(&tables, 2);
    // The table of a feed that is removed, and comes again.
    assert_eq!(tables.retain_feeds(0, now, |_| false), None);
    while tables.tick(now, usize::MAX) {}
    tables.tick(now, usize::MAX);
    let id = tables.connected("router", now);
    take(&mut tables, id, at("10.3.0.0/16"), Some("a"), now);
    look(&tables, 0);
    tables.publish(now, false);
    look(&tables, 1);
}
