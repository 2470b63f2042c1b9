//! Several connections of one router at a time.

use std::time::{Duration, Instant};

use popfib::IpPrefix;
use popfib_feed::{
    ConnectionId, PathChange, Stream, StreamEvent, StreamId, Tables, Target, Transaction,
};

use crate::at_once::AtOnce as _;
use crate::{answers, limits};

/// Sends one path of one peer, the only stream of the connection.
fn send(
    tables: &mut Tables,
    id: ConnectionId,
    peer: &str,
    prefix: &str,
    value: &str,
    now: Instant,
) {
    let mut transaction = Transaction::default();
    transaction.change(PathChange {
        stream: StreamId(0),
        prefix: prefix.parse::<IpPrefix>().unwrap(),
        path: 0,
        target: (!value.is_empty()).then(|| Target::name(value)),
    });
    tables.apply(id, &streams(peer), &mut transaction, now);
}

fn stream_event(
    tables: &mut Tables,
    id: ConnectionId,
    peer: &str,
    event: StreamEvent,
    now: Instant,
) {
    let mut transaction = Transaction::default();
    transaction.event(event);
    tables.apply(id, &streams(peer), &mut transaction, now);
}

fn streams(peer: &str) -> [Stream; 1] {
    [Stream {
        table: "pre-policy".to_owned(),
        peer: peer.to_owned(),
    }]
}

fn seen(tables: &Tables) -> Vec<String> {
    let answers = answers(tables, "pre-policy");
    let line = |(prefix, value): (&IpPrefix, &String)| format!("{prefix} {value}");
    answers.iter().map(line).collect()
}

#[test]
fn two_connections_with_other_peers_both_live() {
    let start = Instant::now();
    let mut tables = Tables::new(limits());
    let one = tables.joined("router", start);
    send(&mut tables, one, "a", "10.1.0.0/16", "a", start);
    let other = tables.joined("router", start);
    send(&mut tables, other, "b", "10.2.0.0/16", "b", start);
    assert!(tables.is_current(one) && tables.is_current(other));
    assert_eq!(tables.totals().connected, 1);
    let later = start + Duration::from_secs(1000);
    while tables.tick(later, usize::MAX) {}
    send(&mut tables, one, "a", "10.1.0.0/16", "a2", later);
    assert_eq!(seen(&tables), ["10.1.0.0/16 a2", "10.2.0.0/16 b"]);
    // The routes of a connection that ends stay, however long the other one lives.
    tables.disconnected(one, later);
    assert!(!tables.is_fresh() && tables.is_current(other));
    while tables.tick(later + limits().idle * 9, usize::MAX) {}
    assert_eq!(seen(&tables), ["10.1.0.0/16 a2", "10.2.0.0/16 b"]);
    // It comes again, without one of its routes.
    let again = later + Duration::from_secs(2000);
    let one = tables.joined("router", again);
    send(&mut tables, one, "a", "10.3.0.0/16", "a", again);
    while tables.tick(again + limits().idle, usize::MAX) {}
    assert_eq!(seen(&tables), ["10.2.0.0/16 b", "10.3.0.0/16 a"]);
    tables.disconnected(one, again);
    tables.disconnected(other, again);
    assert_eq!(tables.totals().connected, 0);
}

#[test]
fn a_later_connection_takes_over_the_peers_that_it_sends_and_the_rest_when_the_first_is_noticed_to_be_lost()
 {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut tables = Tables::new(limits());
    let lost = tables.joined("router", start);
    let mut both = Transaction::default();
    for (stream, prefix) in [(0, "10.1.0.0/16"), (1, "10.2.0.0/16")] {
        both.change(PathChange {
            stream: StreamId(stream),
            prefix: prefix.parse().unwrap(),
            path: 0,
            target: Some(Target::name("old")),
        });
    }
    let two = [&streams("a")[..], &streams("b")].concat();
    tables.apply(lost, &two, &mut both, start);
    let new = tables.joined("router", at(10));
    send(&mut tables, new, "a", "10.1.0.0/16", "new", at(10));
    // What the first connection still says about that peer no longer counts, be it a route or that the peer is down.
    let mut late = Transaction::default();
    late.change(PathChange {
        stream: StreamId(0),
        prefix: "10.1.0.0/16".parse().unwrap(),
        path: 0,
        target: Some(Target::name("late")),
    });
    late.event(StreamEvent::Down(StreamId(0)));
    tables.apply(lost, &two, &mut late, start);
    while tables.tick(at(11), usize::MAX) {}
    assert_eq!(seen(&tables), ["10.1.0.0/16 new", "10.2.0.0/16 old"]);
    let end = StreamEvent::EndOfRib {
        stream: StreamId(0),
        is_ipv6: false,
    };
    stream_event(&mut tables, new, "a", end, at(12));
    // The first one was not heard since the new one began, so this is its successor.
    tables.disconnected(lost, at(20));
    while tables.tick(at(21), usize::MAX) {}
    assert_eq!(seen(&tables), ["10.1.0.0/16 new", "10.2.0.0/16 old"]);
    while tables.tick(at(20) + limits().idle, usize::MAX) {}
    assert_eq!(seen(&tables), ["10.1.0.0/16 new"]);
}

#[test]
fn of_two_connections_that_send_the_same_peer_one_is_left_when_the_other_ends() {
    let now = Instant::now();
    let mut tables = Tables::new(limits());
    let one = tables.joined("router", now);
    send(&mut tables, one, "a", "10.1.0.0/16", "one", now);
    let other = tables.joined("router", now);
    send(&mut tables, other, "a", "10.1.0.0/16", "other", now);
    send(&mut tables, one, "a", "10.1.0.0/16", "one", now);
    assert_eq!(seen(&tables), ["10.1.0.0/16 other"]);
    tables.disconnected(other, now);
    send(&mut tables, one, "a", "10.1.0.0/16", "one again", now);
    while tables.tick(now + limits().idle * 9, usize::MAX) {}
    assert_eq!(seen(&tables), ["10.1.0.0/16 one again"]);
}

#[test]
fn the_default_table_is_one_that_is_followed() {
    let now = Instant::now();
    let mut tables = Tables::new(limits());
    let pipe = tables.connected("pipe", now);
    let main = [Stream {
        table: "main".to_owned(),
        peer: String::new(),
    }];
    let mut transaction = Transaction::default();
    transaction.event(StreamEvent::Up(StreamId(0)));
    tables.apply(pipe, &main, &mut transaction, now);
    let router = tables.joined("router", now);
    send(&mut tables, router, "a", "10.1.0.0/16", "a", now);
    assert_eq!(tables.default_table(), Some("main"));
    assert_eq!(tables.retain_feeds(0, now, |feed| feed != "pipe"), None);
    assert_eq!(tables.default_table(), Some("pre-policy"));
    let pipe = tables.connected("pipe", now);
    // Its table is there once it has sent a stream.
    assert_eq!(tables.default_table(), Some("pre-policy"));
    transaction.event(StreamEvent::Up(StreamId(0)));
    tables.apply(pipe, &main, &mut transaction, now);
    assert_eq!(tables.default_table(), Some("main"));
}
