//! HTTP: a request in, an answer as JSON or text out, on the listener of `--metrics` and on the Unix socket. A connection has one
//! request.
//!
//! It is written by hand and not with a library: it needs a small part of HTTP/1.1, and limits on time and memory that hold for
//! every client.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use popfib::IpPrefix;
use popfib_feed::Target;
use popfib_program::failure::Failure;
use popfib_program::message::AsText;
use serde::Serialize;

use super::accept::{ListenerThread, accept};
use super::metrics;
use super::session::ClientSession;
use super::state::{CountedClient, FollowState, Health};
use super::threads;

/// The longest request without its body, and the longest body.
const MAX_HEAD: usize = 8 << 10;
const MAX_BODY: usize = 1 << 20;
/// The time that a client has to send a request, and that for the whole exchange.
const PATIENCE: Duration = Duration::from_secs(5);
const EXCHANGE: Duration = Duration::from_secs(30);
/// The maximum number of connections to the listener at a time, and of those that ask for more than `/health`: so clients that read
/// slowly leave places for `/health`.
const MAX_CONNECTIONS: usize = 128;
const MAX_CLIENTS: usize = 64;
/// The size of a part of a long answer.
const PART: usize = 64 << 10;

const TEXT: &str = "text/plain; version=0.0.4";
const JSON: &str = "application/x-ndjson";

/// Who the client may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// A user that may open the Unix socket.
    Own,
    /// Anybody on the network, or a browser that a web page has directed here.
    Network,
}

/// Opens the listener and answers its clients, each in a thread.
pub(super) fn listen(
    state: &Arc<FollowState>,
    address: SocketAddr,
) -> Result<ListenerThread, Failure> {
    let (accepting, state) = (state, state.clone());
    let each = move |client, peer: SocketAddr| {
        let served = state.clone();
        let answer = move || {
            // A client that has gone is no error.
            let _ = answer(&served, client);
        };
        if let Err(reason) = threads::start(answer) {
            let line = format_args!("{peer} was refused: {reason}");
            state.lines.note("metrics", Some(peer.ip()), line);
        }
    };
    let listener = accept(accepting, "metrics", address, each);
    Ok(listener.map_err(|error| format!("--metrics {address}: {error}"))?)
}

fn answer(state: &FollowState, client: TcpStream) -> io::Result<()> {
    let now = Instant::now();
    let mut reader = BufReader::new(DeadlineStream {
        client: client.try_clone()?,
        until: now + PATIENCE,
    });
    let until = now + EXCHANGE;
    let mut client = DeadlineStream { client, until };
    let Some(_counted) = CountedClient::enter(&state.http_connections, MAX_CONNECTIONS) else {
        return busy(&mut client);
    };
    let mut line = Vec::new();
    (&mut reader)
        .take(MAX_HEAD as u64)
        .read_until(b'\n', &mut line)?;
    serve(
        state,
        ClientSession::new(state),
        &line,
        &mut reader,
        &mut client,
        Trust::Network,
    )
}

fn busy(client: &mut impl Write) -> io::Result<()> {
    let status = "503 Service Unavailable";
    respond(client, status, TEXT, b"too many clients\n")
}

/// A connection with one deadline for all reads and writes together, however slowly data moves.
struct DeadlineStream {
    client: TcpStream,
    until: Instant,
}

impl DeadlineStream {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for DeadlineStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.client.set_read_timeout(self.left()?)?;
        self.client.read(buffer)
    }
}

impl Write for DeadlineStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.client.set_write_timeout(self.left()?)?;
        self.client.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.client.flush()
    }
}

/// The parts of a request's head that are used.
struct HttpRequest {
    method: String,
    path: String,
    /// The query parameters, in order.
    query: Vec<(String, String)>,
    host: Option<String>,
    length: Option<usize>,
    expects: bool,
}

impl HttpRequest {
    /// Reads the rest of the head; `None` if it is too long or invalid.
    fn read(line: &[u8], reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut head = Vec::new();
        let mut reader = reader.take(MAX_HEAD as u64);
        loop {
            let start = head.len();
            reader.read_until(b'\n', &mut head)?;
            match &head[start..] {
                b"\r\n" | b"\n" => break,
                line if line.ends_with(b"\n") => {}
                _ => return Ok(None),
            }
        }
        let line = String::from_utf8_lossy(line);
        let mut words = line.trim_end().split(' ');
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Ok(None);
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = query.split('&').filter(|part| !part.is_empty());
        let mut request = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query
                .map(|part| part.split_once('=').unwrap_or((part, "")))
                .map(|(name, value)| (decoded(name), decoded(value)))
                .collect(),
            host: None,
            length: None,
            expects: false,
        };
        for line in String::from_utf8_lossy(&head).lines() {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "host" => request.host = Some(value.to_owned()),
                "content-length" => request.length = value.parse().ok(),
                "expect" => request.expects = true,
                _ => {}
            }
        }
        Ok(Some(request))
    }

    /// The values of a query parameter, which may be there several times.
    fn get(&self, name: &str) -> impl Iterator<Item = &str> {
        let of_name = self.query.iter().filter(move |(key, _)| key == name);
        of_name.map(|(_, value)| value.as_str())
    }
}

/// Decodes a part of a query: `%2F` is a slash, `+` a blank.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        let escaped = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        (rest, _) = match (byte, escaped) {
            (b'%', Some(escaped)) => (&after[2..], bytes.push(escaped)),
            (b'+', _) => (after, bytes.push(b' ')),
            _ => (after, bytes.push(*byte)),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Answers the request that begins with this line.
pub(super) fn serve(
    state: &FollowState,
    mut session: ClientSession,
    line: &[u8],
    reader: &mut impl BufRead,
    client: &mut impl Write,
    trust: Trust,
) -> io::Result<()> {
    let Some(request) = HttpRequest::read(line, reader)? else {
        return refuse(client, "400 Bad Request", "not an HTTP request");
    };
    // A web page of another site may not read this in a visitor's browser by a name of its own that resolves to this host.
    if trust == Trust::Network && !request.host.as_deref().is_none_or(is_own) {
        return refuse(client, "403 Forbidden", "this host name is not allowed");
    }
    let is_small = request.path == "/health";
    let counted = match trust == Trust::Network && !is_small {
        true => Some(CountedClient::enter(&state.http_clients, MAX_CLIENTS)),
        false => None,
    };
    if matches!(counted, Some(None)) {
        return busy(client);
    }
    if let Some(table) = request.get("table").next()
        && !session.choose(state, table)
    {
        return refuse(client, "404 Not Found", "no such table");
    }
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/metrics") => {
            let mut body = HttpBody::new(client, TEXT);
            metrics::write(state, &mut body)?;
            body.finish()
        }
        ("GET", "/health") => {
            let health = state.health();
            let status = match health {
                Health::Loading => "503 Service Unavailable",
                Health::Stale | Health::Ready => "200 OK",
            };
            respond(client, status, TEXT, health.text().as_bytes())
        }
        ("GET", "/tables") => tables(state, client),
        ("GET", "/paths") => paths(state, &session, &request, client),
        ("GET", "/lookup") => {
            let mut addresses = request.get("address").peekable();
            if addresses.peek().is_none() {
                return refuse(client, "400 Bad Request", "no address");
            }
            let mut body = HttpBody::new(client, JSON);
            for address in addresses {
                body.write_all(&lookup(state, &mut session, address))?;
            }
            body.finish()
        }
        ("POST", "/lookup") => lookup_lines(state, &mut session, &request, reader, client),
        ("GET", _) => {
            let paths = "/lookup, /paths, /tables, /metrics or /health";
            refuse(client, "404 Not Found", paths)
        }
        _ => refuse(client, "405 Method Not Allowed", "GET, or POST of /lookup"),
    }
}

fn respond(client: &mut impl Write, status: &str, kind: &str, body: &[u8]) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    client.write_all(head.as_bytes())?;
    client.write_all(body)
}

/// A body that is made as the client reads it, in chunks if it is longer than a part.
struct HttpBody<'c, W> {
    client: &'c mut W,
    kind: &'static str,
    part: Vec<u8>,
    is_begun: bool,
}

impl<'c, W: Write> HttpBody<'c, W> {
    fn new(client: &'c mut W, kind: &'static str) -> Self {
        Self {
            client,
            kind,
            part: Vec::new(),
            is_begun: false,
        }
    }

    fn finish(mut self) -> io::Result<()> {
        if !self.is_begun {
            return respond(self.client, "200 OK", self.kind, &self.part);
        }
        self.flush()?;
        self.client.write_all(b"0\r\n\r\n")
    }
}

impl<W: Write> Write for HttpBody<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.extend_from_slice(bytes);
        if self.part.len() > PART {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    /// Sends a chunk.
    fn flush(&mut self) -> io::Result<()> {
        let kind = self.kind;
        if !std::mem::replace(&mut self.is_begun, true) {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n";
            write!(self.client, "{head}Content-Type: {kind}\r\n\r\n")?;
        }
        // An empty chunk would be the last.
        if !self.part.is_empty() {
            write!(self.client, "{:x}\r\n", self.part.len())?;
            self.part.extend_from_slice(b"\r\n");
            self.client.write_all(&self.part)?;
            self.part.clear();
        }
        Ok(())
    }
}

fn refuse(client: &mut impl Write, status: &str, error: &str) -> io::Result<()> {
    let body = line(&HttpError {
        address: None,
        error,
    });
    respond(client, status, JSON, &body)
}

/// Whether a request's `Host` is an address or `localhost`, and so no name that another site could give this host.
fn is_own(host: &str) -> bool {
    host.parse::<SocketAddr>().is_ok()
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
        || host.split(':').next() == Some("localhost")
}

/// An error as JSON, of a request or of one of its addresses.
#[derive(Serialize)]
struct HttpError<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<&'a str>,
    error: &'a str,
}

/// The answer to an address as JSON, as `popfib lookup --json` prints it.
#[derive(Serialize)]
struct HttpLookup {
    address: IpAddr,
    prefix: Option<AsText<IpPrefix>>,
    next_hop: Option<String>,
    /// Whether the route is from a snapshot and was not confirmed since.
    #[serde(skip_serializing_if = "is_false")]
    stale: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A path as JSON.
#[derive(Serialize)]
struct HttpPath<'a> {
    feed: &'a str,
    peer: &'a str,
    path_id: u32,
    stale: bool,
    next_hop: String,
}

/// A table and its sizes as JSON.
#[derive(Serialize)]
struct HttpTable<'a> {
    name: &'a str,
    ipv4: HttpFamilySize,
    ipv6: HttpFamilySize,
}

#[derive(Serialize)]
struct HttpFamilySize {
    prefixes: usize,
    paths: usize,
}

/// A line of JSON.
fn line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("names are strings");
    line.push(b'\n');
    line
}

fn tables(state: &FollowState, client: &mut impl Write) -> io::Result<()> {
    let mut body = HttpBody::new(client, JSON);
    state.each_table(|table| {
        let [ipv4, ipv6] = [0, 1].map(|family| HttpFamilySize {
            prefixes: table.prefixes[family],
            paths: table.paths[family],
        });
        body.write_all(&line(&HttpTable {
            name: &table.name,
            ipv4,
            ipv6,
        }))
    })?;
    body.finish()
}

fn paths(
    state: &FollowState,
    session: &ClientSession,
    request: &HttpRequest,
    client: &mut impl Write,
) -> io::Result<()> {
    let prefix = request.get("prefix").next();
    let Some(prefix) = prefix.and_then(|prefix| prefix.parse().ok()) else {
        return refuse(client, "400 Bad Request", "no prefix");
    };
    let mut body = HttpBody::new(client, JSON);
    session.each_path(state, prefix, |path| {
        body.write_all(&line(&HttpPath {
            feed: &path.feed,
            peer: &path.peer,
            path_id: path.id,
            stale: path.is_older,
            next_hop: path.target.to_string(),
        }))
    })?;
    body.finish()
}

/// The answer for an address, or the error.
fn lookup(state: &FollowState, session: &mut ClientSession, text: &str) -> Vec<u8> {
    match text.parse::<IpAddr>() {
        Ok(address) => session.look_up(state, address, |found| {
            let (prefix, value) = found.unzip();
            line(&HttpLookup {
                address,
                prefix: prefix.map(AsText),
                next_hop: value.map(ToString::to_string),
                stale: value.is_some_and(Target::is_restored),
            })
        }),
        Err(_) => line(&HttpError {
            address: Some(text),
            error: "not an IP address",
        }),
    }
}

/// Answers the addresses of a body, one line for each line.
fn lookup_lines(
    state: &FollowState,
    session: &mut ClientSession,
    request: &HttpRequest,
    reader: &mut impl BufRead,
    client: &mut impl Write,
) -> io::Result<()> {
    let length = match request.length {
        None => return refuse(client, "411 Length Required", "no Content-Length"),
        Some(length) if length > MAX_BODY => {
            let error = "a body of more than 1 MiB";
            return refuse(client, "413 Content Too Large", error);
        }
        Some(length) => length,
    };
    if request.expects {
        client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut asked = vec![0; length];
    reader.read_exact(&mut asked)?;
    let mut body = HttpBody::new(client, JSON);
    for text in asked.split_inclusive(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(text);
        body.write_all(&lookup(state, session, text.trim()))?;
    }
    body.finish()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn a_client_that_reads_slowly_has_one_deadline_for_its_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut reader = TcpStream::connect(address).unwrap();
        let (client, _) = listener.accept().unwrap();
        let begin = Instant::now();
        let until = begin + Duration::from_millis(300);
        let writing = thread::spawn(move || {
            let mut client = DeadlineStream { client, until };
            let part = [0; PART];
            (0..100_000).try_for_each(|_| client.write_all(&part))
        });
        while !writing.is_finished() {
            // Each read leaves room for a write.
            let _ = reader.read(&mut [0; 100_000]);
            thread::sleep(Duration::from_millis(20));
        }
        let error = writing.join().unwrap().unwrap_err();
        let kinds = [io::ErrorKind::TimedOut, io::ErrorKind::WouldBlock];
        assert!(kinds.contains(&error.kind()), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
}
