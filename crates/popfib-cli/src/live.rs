//! A running `popfibd` as its clients see it (`--live`): queries go to its Unix socket; matches, images of the current table and
//! changes of its routes come back. `follow/protocol.rs` answers them, and says how.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use popfib::IpPrefix;
use popfib_program::failure::Failure;

use crate::args::ReadArgs;
use crate::image::OpenedImage;
use crate::output::note;

/// How many queries are sent before the first answer is read: their answers fit into a socket's buffer.
const AHEAD: usize = 64;

/// A connection's two directions. The trait stands for a Unix socket, so that all of this compiles where there are none.
trait ReadWrite: Read + Write + Send {}
impl<T: Read + Write + Send> ReadWrite for T {}

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
    socket: PathBuf,
    table: Option<String>,
}

/// A connection to a `popfibd`.
pub(crate) struct FollowClient {
    name: String,
    stream: BufReader<Box<dyn ReadWrite>>,
}

/// A match: the prefix, and its value.
pub(crate) type LiveMatch = Option<(IpPrefix, String)>;

impl FollowSocket {
    /// The socket at this path and the table of `--vrf`; an error if other options of tables are given.
    pub(crate) fn new(socket: &Path, read: &ReadArgs) -> Result<Self, Failure> {
        let mut of_file = read.clone();
        let table = of_file.vrf.take();
        if let Some(option) = of_file.of_file() {
            return Err(format!(
                "--live asks a table that is there already; {option} is for files"
            )
            .into());
        }
        Ok(Self::of_table(socket, table))
    }

    /// The table of that name at this socket.
    pub(crate) fn of_table(socket: &Path, table: Option<String>) -> Self {
        let socket = socket.to_owned();
        Self { socket, table }
    }

    /// Connects, and chooses the table.
    pub(crate) fn connect(&self) -> Result<FollowClient, Failure> {
        let name = self.socket.display().to_string().escape_debug().to_string();
        let stream =
            connect(&self.socket).map_err(|error| format!("{name}: {error}; {ANSWERS}"))?;
        let stream = BufReader::new(stream);
        let mut live = FollowClient { name, stream };
        if let Some(table) = &self.table {
            if table.contains('\n') {
                return Err("the name of a table is one line".into());
            }
            live.send(&format!("table {table}\n"))?;
            live.line()?;
        }
        Ok(live)
    }
}

impl FollowClient {
    fn failed(&self, reason: impl std::fmt::Display) -> Failure {
        format!("{}: {reason}", self.name).into()
    }

    fn send(&mut self, lines: &str) -> Result<(), Failure> {
        let sent = self.stream.get_mut().write_all(lines.as_bytes());
        sent.map_err(|error| match self.line() {
            // The other side closed it, and sent the reason before.
            Err(reason) if error.kind() == io::ErrorKind::BrokenPipe => reason,
            _ => self.failed(error),
        })
    }

    /// The next line of an answer.
    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line);
        read.map_err(|error| self.failed(error))?;
        match line.strip_suffix('\n') {
            None => Err(self.failed("it closed the connection within an answer")),
            Some(line) => match line.strip_prefix("error: ") {
                Some(reason) => Err(self.failed(reason)),
                None => Ok(line.to_owned()),
            },
        }
    }

    /// The longest match of each address.
    pub(crate) fn look_up(&mut self, addresses: &[IpAddr]) -> Result<Vec<LiveMatch>, Failure> {
        let mut matches = Vec::with_capacity(addresses.len());
        let mut stale = 0;
        for addresses in addresses.chunks(AHEAD) {
            let lines: Vec<String> = addresses.iter().map(|a| format!("lookup {a}\n")).collect();
            self.send(&lines.concat())?;
            for _ in addresses {
                let line = self.line()?;
                let mut parts = line.split('\t').skip(1);
                let found = match (parts.next(), parts.next()) {
                    (Some("-"), Some(_)) => None,
                    (Some(prefix), Some(value)) => {
                        let prefix = prefix.parse().map_err(|_| self.failed(NO_ANSWER))?;
                        Some((prefix, value.to_owned()))
                    }
                    _ => return Err(self.failed(NO_ANSWER)),
                };
                stale += usize::from(parts.next() == Some("stale"));
                matches.push(found);
            }
        }
        if stale > 0 {
            note(format_args!(
                "{}: {stale} answers are of routes that their source has not confirmed since a restart",
                self.name
            ));
        }
        Ok(matches)
    }

    /// Hands all lines of changes to `each` as they come, until the other process ends.
    pub(crate) fn watch(
        &mut self,
        covered: Option<IpPrefix>,
        mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let covered = covered.map(|prefix| prefix.to_string());
        self.send(&format!("watch {}\n", covered.unwrap_or_default()))?;
        self.line()?;
        loop {
            let lines = self.stream.fill_buf();
            let lines = lines.map_err(|error| format!("{}: {error}", self.name))?;
            if lines.is_empty() {
                return Ok(());
            }
            let length = lines.len();
            each(lines)?;
            self.stream.consume(length);
        }
    }

    /// The table as it is now, compiled, and its version among those of the same process; `None` if it is still of this version.
    pub(crate) fn image(
        &mut self,
        version: Option<u64>,
    ) -> Result<Option<(u64, OpenedImage)>, Failure> {
        let start = Instant::now();
        let known = version.map(|version| version.to_string());
        self.send(&format!("image {}\n", known.unwrap_or_default()))?;
        let line = self.line()?;
        if line == "same" {
            return Ok(None);
        }
        let words: Vec<&str> = line.split(' ').collect();
        let (Some("image"), Some(Ok(version)), Some(Ok(length))) = (
            words.first().copied(),
            words.get(1).map(|word| word.parse::<u64>()),
            words.get(2).map(|word| word.parse::<u64>()),
        ) else {
            return Err(self.failed(NO_ANSWER));
        };
        let mut bytes = Vec::new();
        let read = (&mut self.stream).take(length).read_to_end(&mut bytes);
        match read {
            Ok(read) if read as u64 == length => {}
            Ok(_) => return Err(self.failed("it closed the connection within an image")),
            Err(error) => return Err(self.failed(error)),
        }
        let opened = OpenedImage::of_bytes(self.name.clone(), &bytes, start)?;
        Ok(Some((version, opened)))
    }
}

/// What helps if nobody answers at the socket.
const ANSWERS: &str = "`popfibd --socket FILE` answers there";

const NO_ANSWER: &str = "this is no answer of popfibd";

/// The table as it is now.
pub(crate) fn open(socket: &Path, read: &ReadArgs) -> Result<OpenedImage, Failure> {
    let mut live = FollowSocket::new(socket, read)?.connect()?;
    let current = live.image(None)?;
    let opened = current.map(|(_, opened)| opened);
    opened.ok_or_else(|| live.failed(NO_ANSWER))
}
