//! The program `popfibd`: messages of routers, the kernel and files in; out come answers to clients, images, a snapshot and metrics.
//!
//! Each connection of a feed has a thread. It decodes messages, applies them under one lock in short pieces (`feeding.rs`,
//! `lock.rs`), and publishes them without the lock. Each client has a thread that looks up in the live table without that lock, so
//! neither waits for the other. Clients only take the lock to open a table, and for paths and counts. Another thread removes routes
//! that are gone, in steps (`FollowState::tick`). The main loop here writes image and snapshot, and may wait for their disk.

#![cfg(unix)]
#![forbid(unsafe_code)]

mod accept;
mod answers;
mod api;
#[cfg(all(target_os = "linux", feature = "xdp"))]
mod bpf;
#[cfg(all(target_os = "linux", feature = "xdp"))]
mod bpf_counts;
mod bulk;
mod connection_lines;
mod feed_counts;
mod feeding;
mod files;
mod http;
mod http_body;
mod images;
#[cfg(target_os = "linux")]
mod kernel;
mod listen;
mod lock;
mod metrics;
mod protocol;
mod publish;
mod questions;
mod running;
mod session;
mod settings;
mod signals;
mod snapshot;
mod socket;
mod state;
mod threads;
#[cfg(feature = "tls")]
mod tls;
mod updates;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::{Command, CommandFactory, Parser};
use colorchoice_clap::Color;
use popfib_feed::Tables;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::{help, message, note, program};

use publish::Publisher;
use running::RunningParts;
use settings::Settings;
use signals::SignalRequest;
use state::FollowState;

/// Keep live tables that follow routers, and answer lookups
///
/// They also follow streams of updates. A table contains every path of every peer, and lookups use the best. When a
/// connection is lost, its routes stay until the peer has sent its routes again; routes that it did not send again
/// are then removed. The program ends at the end of all files, unless it listens for routers or clients. On SIGTERM
/// and SIGINT it writes the last image and snapshot and exits.
#[derive(Parser)]
#[command(name = "popfibd", version, mut_arg("color", help::color))]
#[command(after_help = "\
Examples:
  popfibd --fpm 127.0.0.1:2620 --socket /run/popfib.sock
  popfibd --bmp 192.0.2.1:11019 --socket popfib.sock
  popfibd --updates updates.gz --publish table.fib
  popfib lookup --live popfib.sock 8.8.8.8")]
#[command(
    after_long_help = "  popfibd --netlink --socket popfib.sock --http 127.0.0.1:9180
  popfibd --config /etc/popfib/popfibd.toml
  echo 8.8.8.8 | nc -NU popfib.sock

The socket answers one query a line: ADDR or `lookup ADDR` (the answer is ADDR,
prefix and value, separated by tabs), `paths PREFIX`, `table NAME`, `tables`,
`stats`, `quit`. docs/popfibd.md describes these, and packed addresses, images,
changes and HTTP."
)]
struct DaemonArgs {
    /// Read the other settings from this TOML file
    ///
    /// Its keys are the names of the options; SIGHUP reads it again.
    #[arg(long, value_name = "FILE", conflicts_with = "Settings")]
    config: Option<PathBuf>,

    /// Only check the settings file
    #[arg(long, requires = "config")]
    check: bool,

    #[command(flatten)]
    settings: Settings,

    #[command(flatten)]
    color: Color,
}

/// The whole of `popfibd`, with the arguments of this process.
pub fn main() -> ExitCode {
    let code = program::main(
        program::arguments(),
        |_| None,
        |args: DaemonArgs| run(&args),
    );
    message::wait_for_lines(Duration::from_millis(300));
    code
}

/// Its options, for manual pages.
pub fn command() -> Command {
    help::arrange(DaemonArgs::command())
}

fn run(args: &DaemonArgs) -> Result<Verdict, Failure> {
    args.color.write_global();
    let mut settings = match &args.config {
        Some(path) => Settings::read(path)?,
        None => args.settings.clone(),
    };
    settings.check()?;
    if args.check {
        return Ok(Verdict::Good);
    }
    message::write_apart();
    // Before everything that takes time, since SIGHUP ends a process that does not handle it.
    let signals = signals::listen(args.config.is_some())?;
    let tables = match &settings.snapshot {
        Some(path) => snapshot::read(path, &settings)?,
        None => Tables::new(settings.limits()),
    };
    let state = Arc::new(FollowState::new(tables));
    // With the routes of a snapshot, tables are whole before any router connects.
    state.health();
    let mut running = RunningParts::new(&state);
    // If something cannot be started, the command ends before it reads any routes.
    running.change(&settings, Err)?;
    let sweeper = state.clone();
    let sweep = threads::start::<()>(move || {
        loop {
            if !sweeper.tick(Instant::now()) {
                sleep(SWEEP);
            }
        }
    })?;
    let mut publisher = Publisher::of(&settings);
    let mut images = RegularWork::begun();
    let mut snapshots = RegularWork::begun();
    let mut request = None;
    loop {
        let has_read_all = !settings.listens() && running.has_read_all();
        let is_ended = request == Some(SignalRequest::End);
        let is_last = is_ended || (has_read_all && !settings.serves());
        if is_last {
            while state.tick(Instant::now()) {}
            state.publish(Instant::now(), false);
        }
        if sweep.is_finished() {
            return Err("the thread that removes lost routes has panicked".into());
        }
        // At the end, the snapshot is written even if the image could not be.
        let mut published = Ok(());
        if let Some(publisher) = &mut publisher {
            let every = Duration::from_millis(settings.publish_every);
            published = images.work(every, is_last, || {
                publisher.publish(&state, is_last, has_read_all)
            });
        }
        if let Some(path) = &settings.snapshot {
            let every = settings.snapshot_every.map(Duration::from_secs);
            let every = every.unwrap_or(Duration::MAX);
            snapshots.work(every, is_last, || snapshot::write(path, &state))?;
        }
        state.note_troubles(is_last);
        #[cfg(all(target_os = "linux", feature = "xdp"))]
        running.follow_tables(false);
        published?;
        if is_ended {
            return Ok(Verdict::Good);
        }
        if is_last {
            break;
        }
        if state.started.elapsed().as_secs() >= settings.idle {
            state.awaited().clear();
        }
        state.health();
        let every = match &settings.publish {
            Some(_) => Duration::from_millis(settings.publish_every).clamp(MIN_TICK, TICK),
            None => TICK,
        };
        request = signals.recv_timeout(every).ok();
        if let (Some(SignalRequest::Reload), Some(path)) = (request, &args.config) {
            match Settings::read(path) {
                Ok(mut new) => {
                    running.change(&new, |failure| {
                        note(failure);
                        Ok(())
                    })?;
                    if new.snapshot != settings.snapshot
                        && let Some(path) = &new.snapshot
                        && let Err(failure) = snapshot::check(path)
                    {
                        note(failure);
                        new.snapshot = None;
                    }
                    let place = |settings: &Settings| {
                        (settings.publish.clone(), settings.publish_table.clone())
                    };
                    if place(&new) != place(&settings) {
                        publisher = Publisher::of(&new);
                        images = RegularWork::default();
                    }
                    settings = new;
                    note!("{}: read again", path.display());
                }
                Err(failure) => note!("{failure}; going on as before"),
            }
        }
    }
    match running.join() {
        Verdict::Good => Ok(Verdict::Good),
        Verdict::Bad => Err("not all updates could be read".into()),
    }
}

/// When work is due that is done regularly, and at the end.
#[derive(Default)]
struct RegularWork {
    /// `None` if it is due at once.
    last: Option<Instant>,
    has_failed: bool,
}

impl RegularWork {
    /// Due after a first interval, which begins now.
    fn begun() -> Self {
        Self {
            last: Some(Instant::now()),
            ..Self::default()
        }
    }

    /// Does the work if it is due. A failure is reported once, not each time that the disk is still full; at the end it is an error.
    fn work(
        &mut self,
        every: Duration,
        is_last: bool,
        work: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), Failure> {
        if self.last.is_some_and(|last| last.elapsed() < every) && !is_last {
            return Ok(());
        }
        match work() {
            Ok(()) => self.has_failed = false,
            Err(reason) if is_last => return Err(reason.into()),
            Err(reason) if !self.has_failed => {
                note(reason);
                self.has_failed = true;
            }
            Err(_) => {}
        }
        self.last = Some(Instant::now());
        Ok(())
    }
}

/// The interval of sweeps while nothing is gone.
const SWEEP: Duration = Duration::from_millis(50);

/// The interval of the main loop, and the shortest one, for images that are published more often.
const TICK: Duration = Duration::from_millis(100);
const MIN_TICK: Duration = Duration::from_millis(5);
