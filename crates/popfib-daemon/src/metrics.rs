//! Metrics: counts of the state in, Prometheus's text format out, for HTTP and for `stats` on the socket.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::sync::atomic::Ordering;

use super::files::ServedFile;
use super::state::{FollowState, Health};

/// What each metric is, for those who read them.
const HELP: &str = "\
ready: Whether all tables were complete once.
stale: Whether routes of a source are not known to be current.
uptime_seconds: Time since the process began.
feeds_connected: Sources that are connected.
connections_total: Connections of sources.
transactions_total: Messages with changes that were applied.
announced_total: Paths announced.
withdrawn_total: Paths withdrawn.
swept_total: Paths removed because they were not announced again or their peer was lost.
refused_total: Paths refused because of a limit.
dropped_peers_total: Peers dropped because of too many paths.
failed_total: Changes that could not be published.
paths: Paths in all tables.
stale_paths: Paths that were not announced again since a reconnection or restart.
table_bytes: Heap memory of paths and lookup structures, without values.
client_bytes: Heap memory of the values of clients that ask for packed addresses.
lookups_total: Addresses answered.
longest_hold_microseconds: Longest time for which a thread has held the lock of the tables, as CPU time.
clients: Clients connected to the Unix socket.
table_age_seconds: Time since the file of a table was read.
table_version: Another number each time that the file of a table was read.
table_lookups_total: Addresses answered from the table of a file.
table_errors_total: How often the file of a table could not be read again.
feed_messages_total: Messages or lines.
feed_invalid_total: Invalid messages, lines or parts of them that were left out.
feed_other_total: Messages that do not affect these routes.
feed_unknown_next_hops_total: Routes that name a next-hop object that was not announced.
bpf_behind: Whether BPF programs lack changes that the kernel refused.
bpf_refused_total: Batches of changes that the kernel refused.
bpf_words_total: Words stored in tables of BPF programs.
bpf_tables_total: Tables that BPF programs got as a whole.
bpf_grace_periods_total: How often BPF programs were waited for.
bpf_bytes: Memory of the table of BPF programs.
bpf_unnumbered_values_total: Values that BPF programs get 0 for.
prefixes: Prefixes of a table.
feed_left_out_total: Messages left out by reason.";

/// A count among others of its owner.
type CountOf<T> = fn(&T) -> u64;

/// A text in Prometheus's format.
#[derive(Default)]
struct MetricsText(String);

impl MetricsText {
    /// Begins a metric, whose values follow. Names that end with `_total` are counters.
    fn metric(&mut self, name: &str) {
        let help = HELP
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        debug_assert!(help.is_some());
        let help = help.unwrap_or_default();
        let kind = match name.ends_with("_total") {
            true => "counter",
            false => "gauge",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            self.0,
            "# HELP popfib_{name} {help}\n# TYPE popfib_{name} {kind}"
        );
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.0, "popfib_{name}");
        for (at, (label, value)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}={}", quoted(value));
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {value}");
    }

    /// The counts of each of these, whose names are the values of a label.
    fn counts<'a, T: 'a>(
        &mut self,
        label: &str,
        all: impl Iterator<Item = (&'a str, &'a T)> + Clone,
        counts: &[(&str, CountOf<T>)],
    ) {
        for (name, count) in counts {
            if all.clone().next().is_some() {
                self.metric(name);
            }
            for (named, of) in all.clone() {
                self.value(name, &[(label, named)], count(of));
            }
        }
    }
}

/// Writes all counts, in the text format of Prometheus: in parts, as there may be many tables.
pub(super) fn write(state: &FollowState, to: &mut impl Write) -> io::Result<()> {
    let tables = state.tables();
    let totals = tables.totals();
    let bytes = tables.bytes();
    drop(tables);
    let health = state.health();
    let hold = state.longest_hold().as_micros() as u64;
    let clients = state.clients.load(Ordering::Relaxed) as u64;
    let counts = [
        ("ready", u64::from(health != Health::Loading)),
        ("stale", u64::from(health != Health::Ready)),
        ("uptime_seconds", state.started.elapsed().as_secs()),
        ("feeds_connected", totals.connected as u64),
        ("connections_total", totals.connections),
        ("transactions_total", totals.transactions),
        ("announced_total", totals.announced),
        ("withdrawn_total", totals.withdrawn),
        ("swept_total", totals.swept),
        ("refused_total", totals.refused),
        ("dropped_peers_total", totals.dropped),
        ("failed_total", totals.failed),
        ("paths", totals.paths as u64),
        ("stale_paths", totals.older as u64),
        ("table_bytes", bytes as u64),
        ("client_bytes", state.value_memory.counted() as u64),
        ("lookups_total", state.lookups.load(Ordering::Relaxed)),
        ("longest_hold_microseconds", hold),
        ("clients", clients),
    ];
    let mut text = MetricsText::default();
    for (name, value) in counts {
        text.metric(name);
        text.value(name, &[], value);
    }
    text.metric("prefixes");
    state.each_table(|info| {
        for (family, prefixes) in ["ipv4", "ipv6"].into_iter().zip(info.prefixes) {
            let labels = [("table", &*info.name), ("family", family)];
            text.value("prefixes", &labels, prefixes);
        }
        to.write_all(std::mem::take(&mut text.0).as_bytes())
    })?;
    let files = state.files.list();
    let of_files = files.iter().map(|served| (&*served.name, &**served));
    text.counts(
        "table",
        of_files,
        &[
            ("table_age_seconds", |served| {
                served.current().read.elapsed().as_secs()
            }),
            ("table_version", |served| served.current().version),
            ("table_lookups_total", |served| {
                served.lookups.load(Ordering::Relaxed)
            }),
            ("table_errors_total", ServedFile::errors),
        ],
    );
    let feeds = state.feeds();
    text.counts(
        "feed",
        (feeds.0.iter()).map(|(feed, counts)| (&**feed, &counts.messages)),
        &[
            ("feed_messages_total", |c| c.messages),
            ("feed_invalid_total", |c| c.invalid),
            ("feed_other_total", |c| c.other),
            ("feed_unknown_next_hops_total", |c| c.unknown_next_hops),
        ],
    );
    #[cfg(all(target_os = "linux", feature = "xdp"))]
    text.counts(
        "pin",
        state.bpf().iter().map(|(pin, counts)| (&**pin, counts)),
        &[
            ("bpf_behind", |c| c.is_behind.into()),
            ("bpf_refused_total", |c| c.refused),
            ("bpf_words_total", |c| c.mirror.words),
            ("bpf_tables_total", |c| c.mirror.tables),
            ("bpf_grace_periods_total", |c| c.mirror.graces),
            ("bpf_bytes", |c| c.bytes as u64),
            ("bpf_unnumbered_values_total", |c| c.unnumbered),
        ],
    );
    let name = "feed_left_out_total";
    text.metric(name);
    for (feed, reason, count) in feeds.left_out() {
        text.value(name, &[("feed", feed), ("reason", reason)], count);
    }
    to.write_all(text.0.as_bytes())
}

/// The value of a label, in quotes.
fn quoted(value: &str) -> String {
    let escaped = value
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}
