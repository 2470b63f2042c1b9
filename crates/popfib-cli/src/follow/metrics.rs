//! Counts for Prometheus, over HTTP and on the socket.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::output::note;

use super::state::State;

/// The longest request, and the time that a client has to send it.
const MAX_REQUEST: usize = 8 << 10;
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens the listener and answers, one client after the other.
pub(super) fn listen(state: &Arc<State>, address: SocketAddr) -> Result<(), Failure> {
    let failed = |error| format!("--metrics {address}: {error}");
    let listener = TcpListener::bind(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    note(format_args!("metrics on http://{address}/metrics"));
    let state = state.clone();
    thread::spawn(move || {
        for client in listener.incoming() {
            match client {
                // A client that has gone is no error.
                Ok(client) => drop(answer(&state, client)),
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        }
    });
    Ok(())
}

fn answer(state: &State, mut client: TcpStream) -> io::Result<()> {
    client.set_write_timeout(Some(PATIENCE))?;
    let until = Instant::now() + PATIENCE;
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || request.len() > MAX_REQUEST {
            return Ok(());
        }
        client.set_read_timeout(Some(left))?;
        match client.read(&mut buffer)? {
            0 => return Ok(()),
            read => request.extend_from_slice(&buffer[..read]),
        }
    }
    let request = String::from_utf8_lossy(&request);
    let (status, body) = respond(state, &request);
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    client.write_all(head.as_bytes())?;
    client.write_all(body.as_bytes())
}

fn respond(state: &State, request: &str) -> (&'static str, String) {
    let mut lines = request.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (words.next(), words.next());
    let host = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    // A page of somebody else's whose name leads here may not read this.
    if !host.is_none_or(is_own) {
        return ("403 Forbidden", "another host\n".to_owned());
    }
    match (method, path) {
        (Some("GET"), Some("/metrics")) => ("200 OK", text(state)),
        (Some("GET"), Some("/health")) if state.tables().is_whole() => ("200 OK", "ready\n".into()),
        (Some("GET"), Some("/health")) => ("503 Service Unavailable", "loading\n".into()),
        (Some("GET"), _) => ("404 Not Found", "/metrics or /health\n".into()),
        _ => ("405 Method Not Allowed", "GET only\n".into()),
    }
}

/// Whether a host's name is an address or `localhost`.
fn is_own(host: &str) -> bool {
    host.parse::<SocketAddr>().is_ok()
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
        || host.split(':').next() == Some("localhost")
}

/// Every count, in the form that Prometheus reads.
pub(super) fn text(state: &State) -> String {
    let tables = state.tables();
    let totals = tables.totals();
    let infos: Vec<_> = tables.tables().collect();
    let bytes = tables.bytes();
    let is_ready = tables.is_whole();
    drop(tables);
    let mut text = String::new();
    let counts = [
        ("ready", "gauge", u64::from(is_ready)),
        ("uptime_seconds", "gauge", state.started.elapsed().as_secs()),
        ("feeds_connected", "gauge", totals.connected as u64),
        ("connections_total", "counter", totals.connections),
        ("transactions_total", "counter", totals.transactions),
        ("announced_total", "counter", totals.announced),
        ("withdrawn_total", "counter", totals.withdrawn),
        ("swept_total", "counter", totals.swept),
        ("refused_total", "counter", totals.refused),
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

/// A label's value in quotes.
fn label(value: &str) -> String {
    let escaped = value
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}
