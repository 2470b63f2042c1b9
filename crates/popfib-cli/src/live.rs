//! A running `popfibd` as its clients see it (`--live`): HTTP to its Unix socket or its address; matches and images of the current table
//! come back. Changes of routes come as lines of the socket.
//!
//! It speaks HTTP/1.0, whose answers end with their connection, so that a few lines are a client.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Instant;

use popfib::IpPrefix;
use popfib_program::failure::{Failure, NO_TLS};
use popfib_program::files::shown;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::args::ReadArgs;
use crate::image::OpenedImage;
use crate::output::note;
#[cfg(feature = "tls")]
use crate::tls;

/// How many addresses are asked for at a time.
const AHEAD: usize = 10_000;

/// A connection's two directions. The trait stands for a Unix socket, so that all of this compiles where there are none.
trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

#[cfg(unix)]
fn connect(path: &Path) -> io::Result<Box<dyn ReadWrite>> {
    Ok(Box::new(std::os::unix::net::UnixStream::connect(path)?))
}

#[cfg(not(unix))]
fn connect(_: &Path) -> io::Result<Box<dyn ReadWrite>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Where a `popfibd` answers, and which of its tables is meant.
#[derive(Clone, Debug)]
pub(crate) struct FollowSocket {
    /// The path of its socket, or `http://HOST:PORT`, or `https:`.
    place: PathBuf,
    table: Option<String>,
    /// All, if there are none.
    columns: Vec<String>,
}

/// An answer: whether the client has it already, the tag of its table, and what it says.
struct LiveAnswer {
    is_known: bool,
    tag: Option<String>,
    body: BufReader<Box<dyn ReadWrite>>,
}

/// An object of JSON, its members in their order.
struct LiveMembers(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for LiveMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = LiveMembers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LiveMembers, A::Error> {
                let members = std::iter::from_fn(|| map.next_entry().transpose());
                members.collect::<Result<_, _>>().map(LiveMembers)
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl FollowSocket {
    /// The socket or address, and the table of `--vrf`; an error if other options of tables are given.
    pub(crate) fn new(place: &Path, read: &ReadArgs) -> Result<Self, Failure> {
        let mut of_file = read.clone();
        let table = of_file.vrf.take();
        let mut columns = std::mem::take(&mut of_file.columns);
        columns.retain(|column| column != "*");
        if let Some(option) = of_file.of_file() {
            return Err(format!(
                "--live asks a table that is there already; {option} is for files"
            )
            .into());
        }
        let socket = Self::of_table(place, table);
        Ok(Self { columns, ..socket })
    }

    /// The table of that name there.
    pub(crate) fn of_table(place: &Path, table: Option<String>) -> Self {
        Self {
            place: place.to_owned(),
            table,
            columns: Vec::new(),
        }
    }

    fn failed(&self, reason: impl fmt::Display) -> Failure {
        Failure::of_file(&self.place, reason)
    }

    fn connect(&self) -> Result<BufReader<Box<dyn ReadWrite>>, Failure> {
        let url = self
            .place
            .to_str()
            .and_then(|place| place.split_once("://"));
        let nobody = |error| self.failed(format_args!("{error}; {ANSWERS}"));
        let stream: Box<dyn ReadWrite> = match url {
            None => connect(&self.place).map_err(nobody)?,
            Some(("https", _)) if cfg!(not(feature = "tls")) => {
                return Err(self.failed(format_args!("this popfib was {NO_TLS}")));
            }
            Some((scheme @ ("http" | "https"), host)) => {
                let host = host.trim_end_matches('/');
                let has_port = host
                    .rsplit_once(':')
                    .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
                let port = if scheme == "https" { 443 } else { 80 };
                let address = if has_port {
                    host.to_owned()
                } else {
                    format!("{host}:{port}")
                };
                let stream = TcpStream::connect(&address).map_err(nobody)?;
                match scheme {
                    #[cfg(feature = "tls")]
                    "https" => {
                        let name = address.rsplit_once(':').map_or("", |(name, _)| name);
                        let secured = tls::connect(name.trim_matches(['[', ']']), stream);
                        Box::new(secured.map_err(|reason| self.failed(reason))?)
                    }
                    _ => Box::new(stream),
                }
            }
            Some(_) => return Err(self.failed("only http://, https:// and sockets are asked")),
        };
        Ok(BufReader::new(stream))
    }

    /// Asks for a path, with these fields and this body.
    fn ask(
        &self,
        method: &str,
        path: &str,
        fields: &str,
        body: &str,
    ) -> Result<LiveAnswer, Failure> {
        // An image has all.
        let is_some = method == "POST" && !self.columns.is_empty();
        let columns = is_some.then(|| self.columns.join(","));
        let mut query = String::from("?");
        for (name, value) in [("table", &self.table), ("columns", &columns)] {
            for byte in value.iter().flat_map(|value| value.bytes()) {
                if query.ends_with(['?', '&']) {
                    query += &format!("{name}=");
                }
                query += &format!("%{byte:02x}");
            }
            query += "&";
        }
        let length = body.len();
        let token = std::env::var("POPFIB_TOKEN").ok();
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
        let fields = fields.to_owned() + &token.unwrap_or_default();
        let request = format!(
            "{method} {path}{query} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {length}\r\n{fields}\r\n{body}"
        );
        let mut stream = self.connect()?;
        // The other side may have closed it, and sent the reason before.
        let sent = stream.get_mut().write_all(request.as_bytes());
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            let read = stream.read_line(&mut line);
            read.map_err(|error| self.failed(error))?;
            match line.trim_end() {
                "" if line.is_empty() => {
                    sent.map_err(|error| self.failed(error))?;
                    return Err(self.failed("it closed the connection within an answer"));
                }
                "" => break,
                line => match line.strip_prefix("error: ") {
                    Some(reason) => return Err(self.failed(reason)),
                    None => head.push(line.to_owned()),
                },
            }
        }
        let status = head.first().and_then(|line| line.split(' ').nth(1));
        let is_known = status == Some("304");
        if !is_known && status != Some("200") {
            let error = serde_json::from_reader(stream).unwrap_or(Value::Null);
            return Err(self.failed(match error["error"].as_str() {
                Some("no such table") => format!(
                    "{:?}: no such table",
                    self.table.as_deref().unwrap_or_default()
                ),
                reason => reason.unwrap_or(NO_ANSWER).to_owned(),
            }));
        }
        let tag = head.iter().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("etag").then(|| value.to_owned())
        });
        Ok(LiveAnswer {
            is_known,
            tag,
            body: stream,
        })
    }

    /// The answer to each address, an object of JSON.
    pub(crate) fn look_up(&self, addresses: &[IpAddr]) -> Result<Vec<String>, Failure> {
        let mut answers = Vec::with_capacity(addresses.len());
        for addresses in addresses.chunks(AHEAD) {
            let lines: String = addresses.iter().map(|a| format!("\"{a}\"\n")).collect();
            let answer = self.ask("POST", "/v1/lookup", "", &lines)?;
            let before = answers.len();
            for line in answer.body.lines() {
                answers.push(line.map_err(|error| self.failed(error))?);
            }
            if answers.len() - before != addresses.len() {
                return Err(self.failed("it closed the connection within an answer"));
            }
        }
        let is_stale = |line: &&String| line.ends_with(",\"stale\":true}");
        let stale = answers.iter().filter(is_stale).count();
        if stale > 0 {
            note!(
                "{}: {stale} answers are of routes that their source has not confirmed since a restart",
                shown(&self.place)
            );
        }
        Ok(answers)
    }

    /// The names of an answer's members, and their texts.
    pub(crate) fn texts(&self, line: &str) -> Result<Vec<(String, Option<String>)>, Failure> {
        let members = serde_json::from_str::<LiveMembers>(line);
        let LiveMembers(members) = members.map_err(|_| self.failed(NO_ANSWER))?;
        let texts = members.into_iter().filter(|(name, _)| name != "stale");
        Ok(texts.map(|(name, value)| (name, text_of(&value))).collect())
    }

    /// Hands all lines of changes to `each` as they come, until the other process ends.
    pub(crate) fn watch(
        &self,
        covered: Option<IpPrefix>,
        mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut stream = self.connect()?;
        let line = |stream: &mut BufReader<Box<dyn ReadWrite>>, query: String| {
            let sent = stream.get_mut().write_all(query.as_bytes());
            let mut line = String::new();
            let read = sent.and_then(|()| stream.read_line(&mut line));
            read.map_err(|error| self.failed(error))?;
            match line.trim_end().strip_prefix("error: ") {
                Some(reason) => Err(self.failed(reason)),
                None if line != "ok\n" => {
                    Err(self.failed("the changes of a table are at the socket of `popfibd`"))
                }
                None => Ok(()),
            }
        };
        if let Some(table) = &self.table {
            if table.contains('\n') {
                return Err("the name of a table is one line".into());
            }
            line(&mut stream, format!("table {table}\n"))?;
        }
        let covered = covered.map(|prefix| prefix.to_string());
        line(
            &mut stream,
            format!("watch {}\n", covered.unwrap_or_default()),
        )?;
        loop {
            let lines = stream.fill_buf();
            let lines = lines.map_err(|error| self.failed(error))?;
            if lines.is_empty() {
                return Ok(());
            }
            let length = lines.len();
            each(lines)?;
            stream.consume(length);
        }
    }

    /// The table as it is now, compiled, and its tag; `None` if it still has this one.
    pub(crate) fn image(
        &self,
        tag: Option<&str>,
    ) -> Result<Option<(Option<String>, OpenedImage)>, Failure> {
        let start = Instant::now();
        let known = tag.map(|tag| format!("If-None-Match: {tag}\r\n"));
        let all = Self::of_table(&self.place, self.table.clone());
        let mut answer = all.ask("GET", "/v1/image", &known.unwrap_or_default(), "")?;
        if answer.is_known {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let read = answer.body.read_to_end(&mut bytes);
        read.map_err(|error| self.failed(error))?;
        let opened = OpenedImage::of_bytes(shown(&self.place), &bytes, start)?;
        Ok(Some((answer.tag, opened)))
    }
}

/// A value of a live table as text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => Some(
            list.iter()
                .filter_map(text_of)
                .collect::<Vec<_>>()
                .join(","),
        ),
        value => Some(value.to_string()),
    }
}

/// What helps if nobody answers there.
const ANSWERS: &str = "`popfibd --socket FILE` answers there";

const NO_ANSWER: &str = "this is no answer of popfibd";

/// The table as it is now.
pub(crate) fn open(place: &Path, read: &ReadArgs) -> Result<OpenedImage, Failure> {
    let live = FollowSocket::new(place, read)?;
    let current = live.image(None)?;
    let opened = current.map(|(_, opened)| opened);
    opened.ok_or_else(|| live.failed(NO_ANSWER))
}
