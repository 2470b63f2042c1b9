//! The running parts of the process: settings in, listeners, threads that read, and sockets out. New settings only start and end
//! the parts that differ.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use super::accept::ListenerThread;
use super::api::HttpAccess;
#[cfg(all(target_os = "linux", feature = "xdp"))]
use super::bpf::BpfTable;
use super::files::ServedFile;
use super::listen::{self, RouterListener};
use super::settings::Settings;
use super::socket::{self, SocketFile};
use super::state::FollowState;
use super::{http, updates};

/// The running parts. Dropping this ends all of them, except the reading of files.
pub(super) struct RunningParts {
    state: Arc<FollowState>,
    fpm: RunningPart<SocketAddr, RouterListener>,
    bmp: RunningPart<SocketAddr, RouterListener>,
    #[cfg(target_os = "linux")]
    netlink: RunningPart<(), ()>,
    socket: RunningPart<(PathBuf, Vec<u32>), SocketFile>,
    http: RunningPart<(SocketAddr, Arc<HttpAccess>), ListenerThread>,
    /// By folder and table, and the numbers of values.
    #[cfg(all(target_os = "linux", feature = "xdp"))]
    bpf: Vec<((String, Option<PathBuf>), BpfTable)>,
    files: Vec<(PathBuf, JoinHandle<Verdict>)>,
}

impl RunningParts {
    /// Starts nothing yet.
    pub(super) fn new(state: &Arc<FollowState>) -> Self {
        Self {
            state: state.clone(),
            fpm: None,
            bmp: None,
            #[cfg(target_os = "linux")]
            netlink: None,
            socket: None,
            http: None,
            #[cfg(all(target_os = "linux", feature = "xdp"))]
            bpf: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Starts the parts that are new in these settings, and ends those that were removed, with their routes. Failures are passed
    /// to `failed`; if it returns no error, everything else is started, and a later call tries again.
    pub(super) fn change(
        &mut self,
        to: &Settings,
        failed: fn(Failure) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        #[cfg(all(target_os = "linux", feature = "xdp"))]
        self.change_programs(to, failed)?;
        let state = &self.state;
        state.tables().set_limits(to.limits());
        let fpm = |address: &SocketAddr| listen::fpm(state, *address);
        change(&mut self.fpm, to.fpm, failed, fpm)?;
        let bmp = |address: &SocketAddr| listen::bmp(state, *address);
        change(&mut self.bmp, to.bmp, failed, bmp)?;
        #[cfg(target_os = "linux")]
        {
            let netlink = to.netlink.then_some(());
            change(&mut self.netlink, netlink, failed, |()| {
                super::kernel::follow(state)
            })?;
        }
        let mut next = Some(0);
        while let Some(from) = next {
            let now = Instant::now();
            next = (state.tables()).retain_feeds(from, now, |feed| to.follows(feed));
        }
        self.change_files(to, failed)?;
        let socket = to.socket.clone().map(|path| (path, to.allow_uid.clone()));
        change(&mut self.socket, socket, failed, |(path, allowed)| {
            socket::listen(state, path, allowed)
        })?;
        // Tokens and certificates are others in the files of before.
        let http = to
            .http
            .map(|address| Ok((address, to.http_access()?.into())));
        let http = keep(http, failed)?;
        // A file that cannot be read leaves the listener as it is.
        if http.is_some() == to.http.is_some() {
            change(&mut self.http, http, failed, |(address, access)| {
                http::listen(state, *address, access)
            })?;
        }
        self.files.retain(|(path, _)| to.updates.contains(path));
        // A file that is named twice is read twice.
        let mut known: Vec<PathBuf> = self.files.iter().map(|(path, _)| path.clone()).collect();
        for path in &to.updates {
            if let Some(at) = known.iter().position(|known| known == path) {
                known.swap_remove(at);
            } else if let Some(thread) = keep(Some(updates::follow(state, path)), failed)? {
                self.files.push((path.clone(), thread));
            }
        }
        Ok(())
    }

    /// Serves the files of these settings: those that are new or are read in another way are read now.
    fn change_files(
        &self,
        to: &Settings,
        failed: fn(Failure) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut files = BTreeMap::new();
        for (name, settings) in to.files() {
            let known = self.state.files.get(&name);
            let known = known.filter(|served| served.settings == settings);
            let started = match known {
                Some(served) => Some(served),
                None => keep(Some(ServedFile::start(&name, &settings)), failed)?.map(Arc::new),
            };
            // One that cannot be read leaves the table before.
            files.extend(
                started
                    .or_else(|| self.state.files.get(&name))
                    .map(|served| (name, served)),
            );
        }
        self.state.files.set(files);
        Ok(())
    }

    /// Opens and ends the tables of BPF programs.
    #[cfg(all(target_os = "linux", feature = "xdp"))]
    fn change_programs(
        &mut self,
        to: &Settings,
        failed: fn(Failure) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let wanted = to.bpf.iter().map(|text| (text.clone(), to.bpf_ids.clone()));
        let wanted: Vec<_> = wanted.collect();
        self.bpf.retain(|(known, _)| wanted.contains(known));
        let ids = to.bpf_ids.as_deref().map(popfib_bpf::read_value_ids);
        let ids = ids.map(|ids| ids.map_err(Failure::from));
        let ids = match keep(ids, failed)? {
            None if to.bpf_ids.is_some() => return Ok(()),
            ids => ids,
        };
        for wanted in wanted {
            if self.bpf.iter().any(|(known, _)| *known == wanted) {
                continue;
            }
            let opened = BpfTable::open(&self.state, &wanted.0, ids.as_ref());
            let opened = keep(Some(opened), failed)?;
            self.bpf.extend(opened.map(|table| (wanted, table)));
        }
        Ok(())
    }

    /// Whether all files have been read.
    pub(super) fn has_read_all(&self) -> bool {
        self.files.iter().all(|(_, thread)| thread.is_finished())
    }

    /// Has the tables of BPF programs follow those that there are by now; with `has_all`, all routes are there, even if it is not known
    /// of some feed that it has sent all.
    #[cfg(all(target_os = "linux", feature = "xdp"))]
    pub(super) fn follow_tables(&mut self, has_all: bool) {
        self.bpf
            .iter_mut()
            .for_each(|(_, table)| table.follow(has_all));
    }

    /// Waits for all files; returns whether they could be read.
    pub(super) fn join(mut self) -> Verdict {
        let mut verdict = Verdict::Good;
        for (_, file) in self.files.drain(..) {
            if let Ok(Verdict::Bad) | Err(_) = file.join() {
                verdict = Verdict::Bad;
            }
        }
        #[cfg(all(target_os = "linux", feature = "xdp"))]
        self.follow_tables(true);
        verdict
    }
}

/// A part that runs, and by which settings.
type RunningPart<S, T> = Option<(S, T)>;

/// Ends a part and starts it again if these are other settings than its own; it fails as in [`RunningParts::change`].
fn change<S: PartialEq, T>(
    part: &mut RunningPart<S, T>,
    to: Option<S>,
    failed: fn(Failure) -> Result<(), Failure>,
    start: impl FnOnce(&S) -> Result<T, Failure>,
) -> Result<(), Failure> {
    if part.as_ref().map(|(settings, _)| settings) == to.as_ref() {
        return Ok(());
    }
    // Closing the old one first frees its address.
    *part = None;
    let started = to.map(|settings| start(&settings).map(|started| (settings, started)));
    *part = keep(started, failed)?;
    Ok(())
}

/// The started part; `None` if it failed and `failed` accepts that.
fn keep<T>(
    started: Option<Result<T, Failure>>,
    failed: fn(Failure) -> Result<(), Failure>,
) -> Result<Option<T>, Failure> {
    match started {
        None => Ok(None),
        Some(Ok(started)) => Ok(Some(started)),
        Some(Err(failure)) => failed(failure).map(|()| None),
    }
}
