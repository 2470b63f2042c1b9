//! The settings of `popfibd`: options or a TOML file in, checked settings out.
//!
//! One struct serves both, so that each option has its key in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Command, FromArgMatches};
use popfib_feed::{DEFAULT_TABLES, Limits};
use popfib_program::failure::{Failure, NO_TLS, NO_XDP, two_tables};
use serde::Deserialize;

use super::api::HttpAccess;
use super::files::FileSettings;
#[cfg(feature = "tls")]
use super::tls::HttpTls;
use super::{listen, updates};

/// The maximum size of a settings file.
const MAX_FILE: u64 = 1 << 20;

/// The settings. The names of the options are the keys of the file.
#[derive(Args, Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Settings {
    /// Listen for FRR's zebra, usually on port 2620
    ///
    /// With its module dplane_fpm_nl or fpm.
    #[arg(long, value_name = "ADDR")]
    pub(super) fpm: Option<SocketAddr>,

    /// Listen for routers' BMP, usually on port 11019
    #[arg(long, value_name = "ADDR")]
    pub(super) bmp: Option<SocketAddr>,

    /// Follow the routes of this machine's kernel
    ///
    /// In all its tables.
    #[arg(long)]
    pub(super) netlink: bool,

    /// Read updates; `-` is standard input
    ///
    /// MRT, bgpdump -m, lines `announce PREFIX VALUE` and `withdraw PREFIX`, ExaBGP's commands, JSON of RIS Live, ExaBGP and popfib updates.
    #[arg(long, value_name = "FILE")]
    pub(super) updates: Vec<PathBuf>,

    /// Serve this file as a table
    ///
    /// Of any format that popfib reads, or a folder of lists. It is read again when another takes its place. [tables.NAME] of a settings
    /// file says more.
    #[arg(short, long, value_name = "[NAME=]FILE")]
    #[serde(skip)]
    pub(super) table: Vec<String>,

    #[arg(skip)]
    pub(super) tables: BTreeMap<String, FileSettings>,

    /// Answer queries on this Unix socket
    ///
    /// One a line. Only this user may open it.
    #[arg(long, value_name = "PATH")]
    pub(super) socket: Option<PathBuf>,

    /// Numeric ids of users that may also use the socket
    ///
    /// Besides this user and root; its permissions then allow everybody, and the user of each client is checked.
    #[arg(hide_short_help = true, long, value_name = "UID", requires = "socket")]
    pub(super) allow_uid: Vec<u32>,

    /// Write the compiled table to this file
    ///
    /// When it has changed, as `popfib compile` does.
    #[arg(long, value_name = "FILE")]
    pub(super) publish: Option<PathBuf>,

    /// Minimum time between two writes of the table, in milliseconds
    #[arg(
        hide_short_help = true,
        long,
        value_name = "MS",
        default_value_t = 1000,
        requires = "publish"
    )]
    pub(super) publish_every: u64,

    /// Table to write
    ///
    /// [default: the first of main, loc-rib, post-policy and pre-policy that exists]
    #[arg(
        hide_short_help = true,
        long,
        value_name = "NAME",
        requires = "publish"
    )]
    pub(super) publish_table: Option<String>,

    /// Keep the table of BPF programs up to date: DIR[=TABLE]
    ///
    /// DIR is a folder of a BPF file system, as that of `popfib xdp load --pin`. Repeat it for other tables.
    #[arg(long, value_name = "DIR")]
    pub(super) bpf: Vec<String>,

    /// File with a number for each value, for programs: VALUE NUMBER
    ///
    /// As that of `popfib xdp load --ids`. Without it a value is the number that it is, or 0.
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "bpf")]
    pub(super) bpf_ids: Option<PathBuf>,

    /// Start with the routes of this file; write it at the end
    ///
    /// They are marked as stale.
    #[arg(long, value_name = "FILE")]
    pub(super) snapshot: Option<PathBuf>,

    /// Also write the snapshot every N seconds
    #[arg(
        hide_short_help = true,
        long,
        value_name = "SECONDS",
        requires = "snapshot"
    )]
    pub(super) snapshot_every: Option<u64>,

    /// Answer by HTTP
    ///
    /// Lookups as JSON, metrics for Prometheus (/metrics) and /health (200 when all routes are loaded).
    #[arg(long, value_name = "ADDR")]
    pub(super) http: Option<SocketAddr>,

    /// Names of this host in requests by HTTP
    ///
    /// Besides its addresses and localhost.
    #[arg(hide_short_help = true, long, value_name = "NAME", requires = "http")]
    pub(super) http_host: Vec<String>,

    /// File with tokens, one a line, of which requests by HTTP need one
    ///
    /// As `Authorization: Bearer TOKEN`; all but /health.
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "http")]
    pub(super) http_tokens: Option<PathBuf>,

    /// File with the certificate of this host: HTTP with TLS
    ///
    /// In PEM, those of its issuers after it. It is for a popfibd with the feature tls.
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "http")]
    pub(super) http_certificate: Option<PathBuf>,

    /// File with the private key of that certificate
    ///
    /// In PEM, without a passphrase.
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "http")]
    pub(super) http_key: Option<PathBuf>,

    /// When routes that a reconnection did not announce go, in seconds
    ///
    /// After a reconnection, routes that were not announced again are removed this many seconds after the last one that was.
    #[arg(hide_short_help = true, long, value_name = "SECONDS", default_value_t = Limits::default().idle.as_secs())]
    pub(super) idle: u64,

    /// Maximum number of paths in all tables
    ///
    /// More are refused and counted.
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = Limits::default().max_paths)]
    pub(super) max_paths: usize,

    /// Maximum number of paths of one peer in one table
    ///
    /// A peer that announces more is dropped until it comes up again.
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = Limits::default().max_peer_paths)]
    pub(super) max_peer_paths: usize,

    /// Maximum memory of tables, in MiB [default: no limit]
    ///
    /// More paths are refused and counted.
    #[arg(hide_short_help = true, long, value_name = "MIB")]
    pub(super) max_memory: Option<usize>,
}

impl Default for Settings {
    /// Those of no option.
    fn default() -> Self {
        let command = Self::augment_args(Command::new("popfibd"));
        let given = command.get_matches_from(["popfibd"]);
        Self::from_arg_matches(&given).expect("no option has to be given")
    }
}

impl Settings {
    /// Reads a file. An error is one line that names the place in the file.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        let failed = |error: &dyn std::fmt::Display| format!("{name}: {error}");
        let length = fs::metadata(path).map_err(|error| failed(&error))?.len();
        if length > MAX_FILE {
            return Err(failed(&"more than 1 MiB of settings").into());
        }
        let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
        let settings: Self = toml::from_str(&text).map_err(|error| {
            let before = error.span().map_or(0, |span| span.start).min(text.len());
            let line = text.as_bytes()[..before].iter().filter(|&&b| b == b'\n');
            let message = error.message().replace('\n', ", ");
            format!("{name}:{}: {message}", line.count() + 1)
        })?;
        settings.check().map_err(|reason| failed(&reason))?;
        Ok(settings)
    }

    /// Checks that the settings make sense; otherwise returns the reason.
    pub(super) fn check(&self) -> Result<(), String> {
        let files = self.files();
        let is_live = self.listens() || !self.updates.is_empty();
        for (name, file) in &files {
            if is_live && DEFAULT_TABLES.contains(&&name[..]) {
                let help = "--table NAME=FILE gives it another";
                return Err(format!(
                    "table {name}: this is the name of a live one; {help}"
                ));
            }
            let check = file.check();
            check.map_err(|reason| format!("table {name}: {reason}"))?;
        }
        let mut names = self
            .table
            .iter()
            .map(|text| FileSettings::of_option(text).0);
        let mut known = BTreeSet::new();
        if let Some(name) = names.find(|name| !known.insert(name.clone())) {
            return Err(two_tables(&name));
        }
        if !self.listens() && self.updates.is_empty() && files.is_empty() {
            return Err(
                "nothing to serve: give --fpm, --bmp, --netlink, --updates or --table".into(),
            );
        }
        let has_readers = self.serves() || files.is_empty() && self.publish.is_some();
        if !has_readers && self.bpf.is_empty() {
            return Err("nobody could read the tables: give --socket, --publish or --http".into());
        }
        if self.snapshot_every == Some(0) {
            return Err("a snapshot every 0 seconds".into());
        }
        if self.http_certificate.is_some() != self.http_key.is_some() {
            return Err("--http-certificate and --http-key need each other".into());
        }
        if self.http_certificate.is_some() && cfg!(not(feature = "tls")) {
            return Err(format!("--http-certificate: this popfibd was {NO_TLS}"));
        }
        if cfg!(not(target_os = "linux")) && (self.netlink || !self.allow_uid.is_empty()) {
            return Err("--netlink and --allow-uid are for Linux".into());
        }
        if cfg!(not(all(target_os = "linux", feature = "xdp"))) && !self.bpf.is_empty() {
            return Err(format!("--bpf: this popfibd was {NO_XDP}"));
        }
        #[cfg(all(target_os = "linux", feature = "xdp"))]
        if super::bpf::is_given_twice(&self.bpf) {
            let reason =
                "--bpf names a folder or a table twice: a map has one table, a table one map";
            return Err(reason.into());
        }
        Ok(())
    }

    /// What the listener of HTTP asks of its clients.
    pub(super) fn http_access(&self) -> Result<HttpAccess, String> {
        let mut tokens = Vec::new();
        if let Some(path) = &self.http_tokens {
            let failed = |reason: &dyn std::fmt::Display| format!("{}: {reason}", path.display());
            let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            tokens.extend(lines.map(str::to_owned));
            if tokens.is_empty() {
                return Err(failed(&"there is no token in it"));
            }
        }
        #[cfg(feature = "tls")]
        let tls = match (&self.http_certificate, &self.http_key) {
            (Some(certificate), Some(key)) => Some(HttpTls::read(certificate, key)?),
            _ => None,
        };
        Ok(HttpAccess {
            hosts: self.http_host.clone(),
            tokens,
            #[cfg(feature = "tls")]
            tls,
        })
    }

    /// The files that are served, by the names of their tables.
    pub(super) fn files(&self) -> BTreeMap<String, FileSettings> {
        let of_options = self.table.iter().map(|text| FileSettings::of_option(text));
        of_options.chain(self.tables.clone()).collect()
    }

    /// Whether routes may arrive as long as the process runs.
    pub(super) fn listens(&self) -> bool {
        self.fpm.is_some() || self.bmp.is_some() || self.netlink
    }

    /// Whether clients may connect as long as the process runs.
    pub(super) fn serves(&self) -> bool {
        self.socket.is_some() || self.http.is_some()
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            idle: Duration::from_secs(self.idle),
            max_paths: self.max_paths,
            max_peer_paths: self.max_peer_paths,
            max_bytes: self
                .max_memory
                .map_or(usize::MAX, |mib| mib.saturating_mul(1 << 20)),
        }
    }

    /// Whether these settings include the feed of this name.
    pub(super) fn follows(&self, feed: &str) -> bool {
        match feed {
            listen::FPM => self.fpm.is_some(),
            super::state::KERNEL => self.netlink,
            _ if listen::is_router(feed) => self.bmp.is_some(),
            _ => self.updates.iter().any(|path| updates::name(path) == feed),
        }
    }
}
