//! Counts for Prometheus, over HTTP and on the socket.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use super::state::{Health, State};

/// All counts, in the text format of Prometheus.
pub(super) fn text(state: &State) -> String {
    let tables = state.tables();
    let totals = tables.totals();
    let bytes = tables.bytes();
    let health = Health::of(&tables);
    drop(tables);
    let infos = state.table_infos();
    let mut text = String::new();
    let counts = [
        ("ready", "gauge", u64::from(health != Health::Loading)),
        ("stale", "gauge", u64::from(health != Health::Ready)),
        ("uptime_seconds", "gauge", state.started.elapsed().as_secs()),
        ("feeds_connected", "gauge", totals.connected as u64),
        ("connections_total", "counter", totals.connections),
        ("transactions_total", "counter", totals.transactions),
        ("announced_total", "counter", totals.announced),
        ("withdrawn_total", "counter", totals.withdrawn),
        ("swept_total", "counter", totals.swept),
        ("refused_total", "counter", totals.refused),
        ("dropped_peers_total", "counter", totals.dropped),
        ("failed_total", "counter", totals.failed),
        ("paths", "gauge", totals.paths as u64),
        ("stale_paths", "gauge", totals.older as u64),
        ("table_bytes", "gauge", bytes as u64),
        (
            "lookups_total",
            "counter",
            state.lookups.load(Ordering::Relaxed),
        ),
        (
            "longest_hold_microseconds",
            "gauge",
            state.longest_hold().as_micros() as u64,
        ),
        (
            "clients",
            "gauge",
            state.clients.load(Ordering::Relaxed) as u64,
        ),
    ];
    // Writing to a String cannot fail.
    for (name, kind, value) in counts {
        let _ = writeln!(text, "# TYPE popfib_{name} {kind}\npopfib_{name} {value}");
    }
    text.push_str("# TYPE popfib_prefixes gauge\n");
    for info in infos {
        for (family, prefixes) in ["ipv4", "ipv6"].iter().zip(info.prefixes) {
            let table = label(&info.name);
            let _ = writeln!(
                text,
                "popfib_prefixes{{table={table},family=\"{family}\"}} {prefixes}"
            );
        }
    }
    let feeds = state.feeds();
    for name in ["messages", "invalid", "other", "unknown_next_hops"] {
        let _ = writeln!(text, "# TYPE popfib_feed_{name}_total counter");
        for (feed, counts) in &feeds {
            let value = match name {
                "messages" => counts.messages,
                "invalid" => counts.invalid,
                "other" => counts.other,
                _ => counts.unknown_next_hops,
            };
            let feed = label(feed);
            let _ = writeln!(text, "popfib_feed_{name}_total{{feed={feed}}} {value}");
        }
    }
    text
}

/// The value of a label, in quotes.
fn label(value: &str) -> String {
    let escaped = value
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}
