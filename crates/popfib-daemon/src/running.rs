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
use super::bpf::BpfThread;
use super::files::ServedFile;
use super::listen::{self, RouterListener};
use super::settings::Settings;
use super::socket::{self, SocketFile};
use super::state::FollowState;
use super::{http, updates};

/// The running parts. Dropping this ends all of them, except the reading of files.
pub(super) struct RunningParts {
    state: Arc<FollowState>,
    /// The last settings, without the parts that could not be started.
    now: Settings,
    fpm: Option<RouterListener>,
    bmp: Option<RouterListener>,
    socket: Option<SocketFile>,
    http: Option<((SocketAddr, Arc<HttpAccess>), ListenerThread)>,
    #[cfg(all(target_os = "linux", feature = "xdp"))]
    bpf: Vec<(String, super::bpf::BpfThread)>,
    files: Vec<(PathBuf, JoinHandle<Verdict>)>,
}

impl RunningParts {
    /// Starts nothing yet.
    pub(super) fn new(state: &Arc<FollowState>) -> Self {
        Self {
            state: state.clone(),
            now: Settings::default(),
            fpm: None,
            bmp: None,
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
        let before = std::mem::replace(&mut self.now, to.clone());
        #[cfg(all(target_os = "linux", feature = "xdp"))]
        self.change_programs(&before, to, failed)?;
        let state = &self.state;
        state.tables().set_limits(to.limits());
        // Closing the old parts first frees their addresses.
        if before.fpm != to.fpm {
            self.fpm = None;
            let opened = to.fpm.map(|address| listen::fpm(state, address));
            self.fpm = keep(opened, failed)?;
            self.now.fpm = to.fpm.filter(|_| self.fpm.is_some());
        }
        if before.bmp != to.bmp {
            self.bmp = None;
            let opened = to.bmp.map(|address| listen::bmp(state, address));
            self.bmp = keep(opened, failed)?;
            self.now.bmp = to.bmp.filter(|_| self.bmp.is_some());
        }
        #[cfg(target_os = "linux")]
        if to.netlink && !before.netlink {
            let opened = Some(super::kernel::follow(state));
            self.now.netlink = keep(opened, failed)?.is_some();
        }
        let mut next = Some(0);
        while let Some(from) = next {
            let now = Instant::now();
            next = (state.tables()).retain_feeds(from, now, |feed| to.follows(feed));
        }
        self.change_files(to, failed)?;
        if (&before.socket, before.allowed()) != (&to.socket, to.allowed()) {
            self.socket = None;
            let path = to.socket.as_ref();
            let opened = path.map(|path| socket::listen(state, path, to.allowed()));
            self.socket = keep(opened, failed)?;
            self.now.socket = to.socket.clone().filter(|_| self.socket.is_some());
        }
        // Tokens and certificates are others in the files of before.
        let http = to
            .http
            .map(|address| Ok((address, to.http_access()?.into())));
        match keep(http, failed)? {
            // One that cannot be read leaves the listener as it is.
            None if to.http.is_some() => {}
            None => self.http = None,
            Some(http) if self.http.as_ref().is_some_and(|(now, _)| *now == http) => {}
            Some(http) => {
                self.http = None;
                let opened = Some(http::listen(state, http.0, &http.1));
                self.http = keep(opened, failed)?.map(|listener| (http, listener));
            }
        }
        self.files.retain(|(path, _)| to.updates.contains(path));
        // A file that is named twice is read twice.
        let mut known: Vec<PathBuf> = self.files.iter().map(|(path, _)| path.clone()).collect();
        self.now.updates = known.clone();
        for path in &to.updates {
            if let Some(at) = known.iter().position(|known| known == path) {
                known.swap_remove(at);
            } else if let Some(thread) = keep(Some(updates::follow(state, path)), failed)? {
                self.files.push((path.clone(), thread));
                self.now.updates.push(path.clone());
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

    /// Starts and ends what keeps the tables of BPF programs.
    #[cfg(all(target_os = "linux", feature = "xdp"))]
    fn change_programs(
        &mut self,
        before: &Settings,
        to: &Settings,
        failed: fn(Failure) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let has_same_ids = before.bpf_ids == to.bpf_ids;
        self.bpf
            .retain(|(text, _)| has_same_ids && to.bpf.contains(text));
        self.now.bpf = self.bpf.iter().map(|(text, _)| text.clone()).collect();
        let ids = to.bpf_ids.as_deref().map(popfib_bpf::read_value_ids);
        let ids = ids.map(|ids| ids.map_err(Failure::from));
        let ids = match keep(ids, failed)? {
            None if to.bpf_ids.is_some() => return Ok(()),
            ids => ids,
        };
        for text in &to.bpf {
            if self.now.bpf.contains(text) {
                continue;
            }
            let started = BpfThread::start(&self.state, text, ids.as_ref());
            if let Some(thread) = keep(Some(started), failed)? {
                self.bpf.push((text.clone(), thread));
                self.now.bpf.push(text.clone());
            }
        }
        Ok(())
    }

    /// Whether all files have been read.
    pub(super) fn has_read_all(&self) -> bool {
        self.files.iter().all(|(_, thread)| thread.is_finished())
    }

    /// Waits for all files; returns whether they could be read.
    pub(super) fn join(self) -> Verdict {
        let mut verdict = Verdict::Good;
        for (_, file) in self.files {
            if let Ok(Verdict::Bad) | Err(_) = file.join() {
                verdict = Verdict::Bad;
            }
        }
        #[cfg(all(target_os = "linux", feature = "xdp"))]
        self.bpf.into_iter().for_each(|(_, thread)| thread.finish());
        verdict
    }
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
