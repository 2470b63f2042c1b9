//! `popfib follow`: live tables fed by routers, and who asks them.
//!
//! Each connection of a feed has a thread, which decodes what comes and applies it under one lock (`state.rs`). Each client has
//! a thread that looks up in the live table without that lock, so neither waits for the other; clients take the lock only
//! for a first look at a table, paths and counts. `tick` lets stale routes leave in steps.

mod bulk;
mod http;
mod images;
#[cfg(target_os = "linux")]
mod kernel;
mod listen;
mod metrics;
mod protocol;
mod publish;
mod session;
mod signals;
mod socket;
mod state;
mod updates;
mod watch;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use popfib_feed::{Bmp, Decoder, Fpm, Limits};

use crate::failure::Failure;
use crate::output::note;
use crate::program::Verdict;
use state::State;

/// Keep live tables that follow routers and streams of updates, and answer lookups in them.
///
/// A table holds every path of every peer, and lookups find the best. After a break of a connection routes stay
/// until the other side has sent its routes again; those that it did not send leave then. Ends when all
/// files have ended, unless it listens; SIGTERM and SIGINT end it with the last image written.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib follow --fpm 127.0.0.1:2620 --socket /run/popfib.sock
  popfib follow --bmp 192.0.2.1:11019 --socket popfib.sock --metrics 127.0.0.1:9100
  popfib follow --netlink --socket popfib.sock
  popfib follow --updates updates.gz --publish table.fib
  echo 8.8.8.8 | nc -NU popfib.sock

Lines to the socket: ADDR or `lookup ADDR`, answered by ADDR, prefix and value between tabs; `paths PREFIX`,
`table NAME`, `tables`, `stats`, `quit`; packed addresses, images, changes and HTTP: docs/follow.md.")]
pub(crate) struct FollowArgs {
    /// Listen for FRR's zebra with the module dplane_fpm_nl or fpm; its port is 2620
    #[arg(long, value_name = "ADDR")]
    fpm: Option<SocketAddr>,

    /// Listen for routers that speak BMP; its port is 11019
    #[arg(long, value_name = "ADDR")]
    bmp: Option<SocketAddr>,

    /// Follow the routes of this machine's kernel, of all its tables
    #[cfg(target_os = "linux")]
    #[arg(long)]
    netlink: bool,

    /// Read updates: MRT, bgpdump -m, lines `announce PREFIX VALUE` and `withdraw PREFIX`, ExaBGP's commands,
    /// RIS Live's JSON; `-` is standard input
    #[arg(long, value_name = "FILE")]
    updates: Vec<PathBuf>,

    /// Answer lines on this Unix socket, which only this user may open
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Write the compiled table to this file when it has changed, as `popfib compile` does
    #[arg(long, value_name = "FILE")]
    publish: Option<PathBuf>,

    /// Write it at most once in this many milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1000, requires = "publish")]
    publish_every: u64,

    /// The table of the file [default: main, loc-rib, post-policy or pre-policy, the first there is]
    #[arg(long, value_name = "NAME", requires = "publish")]
    publish_table: Option<String>,

    /// Answer HTTP: Prometheus at /metrics, /health by 200 once all routes are there, /lookup, /paths and /tables by JSON
    #[arg(long, value_name = "ADDR")]
    metrics: Option<SocketAddr>,

    /// After a reconnection, remove what was not sent again, this many seconds after the last route that was
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().idle.as_secs())]
    idle: u64,

    /// The most paths in all tables; more are refused and counted
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_paths)]
    max_paths: usize,
}

pub(crate) fn run(args: &FollowArgs) -> Result<Verdict, Failure> {
    #[cfg(target_os = "linux")]
    let netlink = args.netlink;
    #[cfg(not(target_os = "linux"))]
    let netlink = false;
    let listens = args.fpm.is_some() || args.bmp.is_some() || netlink;
    if !listens && args.updates.is_empty() {
        return Err("nothing to follow: give --fpm, --bmp, --netlink or --updates".into());
    }
    let serves = args.socket.is_some() || args.metrics.is_some();
    if !serves && args.publish.is_none() {
        return Err("nobody would see the tables: give --socket, --publish or --metrics".into());
    }
    let state = Arc::new(State::new(Limits {
        idle: Duration::from_secs(args.idle),
        max_paths: args.max_paths,
    }));
    let signals = signals::listen()?;
    // What cannot work ends the command before anything is read.
    if let Some(address) = args.fpm {
        let make = || -> Box<dyn Decoder + Send> { Box::new(Fpm::new()) };
        listen::listen(&state, "FPM", address, 1, make)?;
    }
    if let Some(address) = args.bmp {
        let make = || -> Box<dyn Decoder + Send> { Box::new(Bmp::new()) };
        listen::listen(&state, "BMP", address, 1024, make)?;
    }
    #[cfg(target_os = "linux")]
    if netlink {
        kernel::follow(&state)?;
    }
    // Takes the socket away at the end.
    let _socket = match &args.socket {
        Some(path) => Some(socket::listen(&state, path)?),
        None => None,
    };
    if let Some(address) = args.metrics {
        http::listen(&state, address)?;
    }
    let mut files = Vec::new();
    for path in &args.updates {
        files.push(updates::follow(&state, path)?);
    }
    let publisher = args.publish.as_ref().map(|path| publish::Publisher {
        path: path.clone(),
        table: args.publish_table.clone(),
        every: Duration::from_millis(args.publish_every),
        state: state.clone(),
    });
    let mut published = Instant::now();
    let mut version = 0;
    let mut failed = false;
    let mut is_ended = false;
    loop {
        let has_more = state.tables().tick(Instant::now(), 4096);
        let has_read_all = !listens && files.iter().all(thread::JoinHandle::is_finished);
        let is_last = is_ended || (has_read_all && !serves);
        if let Some(publisher) = &publisher
            && (published.elapsed() >= publisher.every || is_last)
        {
            match publisher.publish(version) {
                Ok(now) => {
                    version = now;
                    failed = false;
                }
                Err(reason) if is_last => return Err(reason.into()),
                // Once for a full disk, and not each time.
                Err(reason) if !failed => {
                    note(reason);
                    failed = true;
                }
                Err(_) => {}
            }
            published = Instant::now();
        }
        if is_ended {
            return Ok(Verdict::Good);
        }
        if is_last {
            break;
        }
        state.note_troubles();
        let every = match &publisher {
            _ if has_more => Duration::ZERO,
            Some(publisher) => publisher.every.clamp(MIN_TICK, TICK),
            None => TICK,
        };
        is_ended = signals.recv_timeout(every).is_ok();
    }
    let mut verdict = Verdict::Good;
    for file in files {
        if let Ok(Verdict::Bad) | Err(_) = file.join() {
            verdict = Verdict::Bad;
        }
    }
    match verdict {
        Verdict::Good => Ok(Verdict::Good),
        Verdict::Bad => Err("not all updates could be read".into()),
    }
}

/// How often stale routes are looked for.
const TICK: Duration = Duration::from_millis(100);
const MIN_TICK: Duration = Duration::from_millis(5);
