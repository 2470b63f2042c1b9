//! `--updates`: files and pipes of updates in, changes of the tables out.

use std::fmt::Display;
use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use popfib_feed::Transaction;
use popfib_feed::files::{FileUpdates, UpdateError};
use popfib_formats::{Input, UpdateOptions};

use popfib_program::failure::Failure;
use popfib_program::files::is_stdin;
use popfib_program::note;
use popfib_program::program::Verdict;

use super::feeding::Feeding;
use super::state::FollowState;
use super::{listen, threads};

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

/// This many lines or records are read before others are told of their changes, if all have arrived at once.
const BATCH: u32 = 1024;

/// Reads a file to its end. What has arrived is never kept back while more has to be waited for.
fn read(state: &FollowState, name: &str, file: File) -> Result<(), String> {
    let source = file.try_clone();
    let source = source.map_err(|error| format!("{name}: {error}"))?;
    // What a regular file has is there.
    let is_whole = source.metadata().is_ok_and(|metadata| metadata.is_file());
    let input = Input::from_reader(name, file);
    let updates = FileUpdates::open(input, &UpdateOptions::default());
    let mut updates = updates.map_err(|error| error.to_string())?;
    let id = state.tables().connected(name, Instant::now());
    let mut transaction = Transaction::default();
    let mut feeding = Feeding::new(state, name, id);
    let (mut is_told, mut unpublished) = (false, 0);
    // The first that is invalid is reported with its place; all are counted.
    let mut tell = |invalid: &dyn Display| {
        if !mem::replace(&mut is_told, true) {
            note(invalid);
        }
    };
    let result = loop {
        match updates.next(&mut transaction) {
            Ok(true) => {
                if let Some((prefix, reason)) = updates.invalid() {
                    tell(&format_args!(
                        "{name}: {prefix}: {reason}; it counts as withdrawn"
                    ));
                }
                transaction.settle();
                feeding.add(updates.streams(), &mut transaction);
            }
            Ok(false) => break Ok(()),
            Err(UpdateError::Read(error)) if error.is_invalid_line() => tell(&error),
            Err(UpdateError::Read(error)) => break Err(error.to_string()),
            Err(error) => break Err(format!("{name}: {error}")),
        }
        unpublished += 1;
        let may_wait = updates.may_wait() && !is_whole;
        if !may_wait && unpublished < BATCH {
            continue;
        }
        unpublished = 0;
        let source = may_wait.then_some(&source);
        let is_current = feeding.publish(updates.streams(), source, (updates.counts(), &[]));
        if !is_current {
            break Ok(());
        }
    };
    feeding.finish(updates.streams());
    state.publish(Instant::now(), false);
    for line in updates.notes() {
        note!("{name}: {line}");
    }
    feeding.count(updates.counts(), &[]);
    result
}
