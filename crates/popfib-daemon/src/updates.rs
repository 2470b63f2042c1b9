//! `--updates`: files and pipes of updates in, changes of the tables out.
//!
//! Lines of live streams have a decoder of their own (`popfib_feed::UpdateLinesDecoder`), which takes what has arrived and never waits for
//! the rest of a line; the other formats are read by popfib-formats.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use popfib_feed::files::{FileUpdates, UpdateError};
use popfib_feed::info::MessageCounts;
use popfib_feed::{Decoder, Transaction, UpdateLinesDecoder};
use popfib_formats::{Escaped, Input, UpdateOptions, open_updates};

use popfib_program::failure::Failure;
use popfib_program::files::is_stdin;
use popfib_program::message::note;
use popfib_program::program::Verdict;

use super::feeding::Feeding;
use super::state::FollowState;
use super::{catch_up, listen, threads};

const BUFFER: usize = 64 << 10;

/// Opens the file and follows it in a thread, which ends at the end of the file. Its result is `Bad` if the file could not be read
/// completely. The thread opens a named pipe, since that waits for a writer.
pub(super) fn follow(
    state: &Arc<FollowState>,
    path: &Path,
) -> Result<JoinHandle<Verdict>, Failure> {
    let name = name(path);
    let open = |path: &Path| {
        let file = match is_stdin(path) {
            true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            false => File::open(path),
        };
        file.map_err(|error| format!("{}: {error}", self::name(path)))
    };
    let is_pipe = path.metadata().is_ok_and(|m| m.file_type().is_fifo());
    let file = (!is_pipe).then(|| open(path)).transpose()?;
    let (state, place) = (state.clone(), path.to_owned());
    let read = move || {
        let file = file.map_or_else(|| open(&place), Ok);
        match file.and_then(|file| read(&state, &name, file)) {
            Ok(()) => Verdict::Good,
            Err(reason) => {
                note(reason);
                Verdict::Bad
            }
        }
    };
    let thread = threads::start(read);
    Ok(thread.map_err(|reason| format!("{}: {reason}", self::name(path)))?)
}

/// The name of the feed of the standard input.
const STDIN: &str = "standard input";

/// The name of the feed of the file. No other feed has it.
pub(super) fn name(path: &Path) -> String {
    let name = path.display().to_string();
    let is_other =
        [STDIN, super::state::KERNEL, listen::FPM].contains(&&*name) || listen::is_router(&name);
    match (is_stdin(path), is_other) {
        (true, _) => STDIN.to_owned(),
        (_, true) => format!("./{name}"),
        _ => name,
    }
}

/// The first bytes of a file, and the file after them.
type UpdatesFile = BufReader<io::Chain<Cursor<Vec<u8>>, File>>;

/// Reads a file to its end, as what its first bytes show.
fn read(state: &FollowState, name: &str, mut file: File) -> Result<(), String> {
    let failed = |error: io::Error| format!("{name}: {error}");
    let mut head = Vec::new();
    let is_lines = loop {
        let mut more = [0; 512];
        let read = file.read(&mut more).map_err(failed)?;
        head.extend(&more[..read]);
        match is_lines(&head) {
            Some(is_lines) => break is_lines,
            None if read == 0 || head.len() > BUFFER => break read > 0,
            None => {}
        }
    };
    let reader = BufReader::with_capacity(BUFFER, Cursor::new(head).chain(file));
    match is_lines {
        true => read_lines(state, name, reader).map_err(failed),
        false => read_format(state, name, reader),
    }
}

/// Whether a file that begins like this contains lines for [`UpdateLinesDecoder`]; `None` if what has arrived does not show it yet.
fn is_lines(head: &[u8]) -> Option<bool> {
    const WORDS: [&[u8]; 4] = [b"{", b"announce ", b"withdraw ", b"neighbor "];
    let mut lines = head
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii_start);
    let first = lines.find(|line| !line.is_empty() && line[0] != b'#')?;
    let is_lines = WORDS.iter().any(|word| first.starts_with(word));
    let is_part = lines.next().is_none() && WORDS.iter().any(|word| word.starts_with(first));
    (is_lines || !is_part).then_some(is_lines)
}

/// Reads lines, as they arrive.
fn read_lines(state: &FollowState, name: &str, mut reader: UpdatesFile) -> io::Result<()> {
    let file = reader.get_ref().get_ref().1.try_clone()?;
    let id = state.tables().connected(name, Instant::now());
    let mut decoder = UpdateLinesDecoder::new();
    let mut counts = MessageCounts::default();
    loop {
        let bytes = reader.fill_buf()?;
        let length = bytes.len();
        let mut feeding = Feeding::new(state, id);
        let mut commit = |streams: &[_], transaction: &mut _| feeding.add(streams, transaction);
        let result = match length {
            0 => decoder.finish(&mut commit),
            _ => decoder.push(bytes, &mut commit),
        };
        feeding.finish(decoder.streams());
        let is_current = state.tables().is_current(id);
        if length == 0 || result.is_err() {
            state.publish(Instant::now(), false);
        } else {
            catch_up::publish(state, &file);
        }
        // The first invalid line is reported with its place; all are counted.
        if counts.invalid == 0
            && let Some((number, reason)) = decoder.first_invalid()
        {
            let reason = Escaped(reason);
            note(format_args!("{name}:{number}: {reason}"));
        }
        state.count(name, &mut counts, decoder.counts());
        result.map_err(io::Error::other)?;
        if length == 0 || !is_current {
            for line in decoder.notes() {
                note(format_args!("{name}: {line}"));
            }
            return Ok(());
        }
        reader.consume(length);
    }
}

/// Reads any other format, update by update.
fn read_format(state: &FollowState, name: &str, reader: UpdatesFile) -> Result<(), String> {
    let file = (reader.get_ref().get_ref().1)
        .try_clone()
        .map_err(|error| format!("{name}: {error}"))?;
    let options = UpdateOptions::default();
    let mut source = open_updates(Input::from_reader(name, reader), &options)
        .map_err(|error| error.to_string())?;
    let id = state.tables().connected(name, Instant::now());
    let mut updates = FileUpdates::new();
    let mut transaction = Transaction::default();
    let mut feeding = Feeding::new(state, id);
    let mut counts = MessageCounts::default();
    let mut now = counts;
    loop {
        match updates.next(&mut *source, &mut transaction) {
            Ok(true) => {
                now.messages += 1;
                if let Some((prefix, reason)) = updates.invalid() {
                    if now.invalid == 0 {
                        note(format_args!(
                            "{name}: {prefix}: {reason}; it counts as withdrawn"
                        ));
                    }
                    now.invalid += 1;
                }
                feeding.add(updates.streams(), &mut transaction);
                feeding.finish(updates.streams());
                let is_current = state.tables().is_current(id);
                catch_up::publish(state, &file);
                if !is_current {
                    break;
                }
            }
            Ok(false) => break,
            Err(UpdateError::Read(error)) if error.is_invalid_line() => {
                // The first invalid line is reported with its place; all are counted.
                if now.invalid == 0 {
                    note(&error);
                }
                now.invalid += 1;
            }
            Err(UpdateError::Read(error)) => return Err(error.to_string()),
            Err(error) => return Err(format!("{name}: {error}")),
        }
        if now.messages.is_multiple_of(1024) {
            state.count(name, &mut counts, now);
        }
    }
    state.publish(Instant::now(), false);
    state.count(name, &mut counts, now);
    for line in source.notes() {
        note(format_args!("{name}: {line}"));
    }
    Ok(())
}
