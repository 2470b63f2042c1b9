//! What a report was measured on: figures mean nothing without it.

use std::fs;

use serde::{Deserialize, Serialize};

/// Machine, system and build.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Machine {
    /// The CPU's name.
    pub cpu: String,
    /// Cores that this process may run on.
    pub cores: usize,
    /// Caches of a core, as the system tells them.
    pub caches: Vec<String>,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Whether the machine is a virtual one.
    pub is_virtual: bool,
    /// Operating system and its version.
    pub system: String,
    /// Transparent huge pages.
    pub huge_pages: String,
    /// The compiler.
    pub compiler: String,
    /// What was compiled for.
    pub target: String,
    /// Version of popfib.
    pub version: String,
    /// The commit of the tree.
    pub commit: String,
    /// The kernel that popfib chooses on this CPU.
    pub kernel: String,
}

impl Machine {
    /// This one.
    pub fn this() -> Self {
        let cpuinfo = read("/proc/cpuinfo");
        let field = |name: &str| {
            let mut lines = cpuinfo.lines();
            let line = lines.find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let flags = field("flags").unwrap_or_default();
        let thp = read("/sys/kernel/mm/transparent_hugepage/enabled");
        let chosen = thp.split(['[', ']']).nth(1).unwrap_or("unknown").to_owned();
        Self {
            cpu: field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            caches: caches(),
            memory_mib: memory_kib("MemTotal").unwrap_or(0) / 1024,
            is_virtual: flags.split(' ').any(|flag| flag == "hypervisor"),
            system: system(),
            huge_pages: chosen,
            compiler: env!("POPFIB_COMPILER").to_owned(),
            target: env!("POPFIB_TARGET").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("POPFIB_COMMIT").to_owned(),
            kernel: popfib::Kernel::best().name().to_owned(),
        }
    }
}

/// Memory that can be had without pushing anything out, if the system says so.
pub(crate) fn available_bytes() -> Option<u64> {
    memory_kib("MemAvailable").map(|kib| kib * 1024)
}

/// The most memory that this process has taken, if the system says so.
pub(crate) fn peak_bytes() -> Option<u64> {
    kib("/proc/self/status", "VmHWM").map(|kib| kib * 1024)
}

fn memory_kib(name: &str) -> Option<u64> {
    kib("/proc/meminfo", name)
}

fn kib(path: &str, name: &str) -> Option<u64> {
    let info = read(path);
    let line = info.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn system() -> String {
    let release = read("/proc/sys/kernel/osrelease");
    match release.trim() {
        "" => std::env::consts::OS.to_owned(),
        release => format!("{} {release}", std::env::consts::OS),
    }
}

fn caches() -> Vec<String> {
    let of = |index: usize, what: &str| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}");
        read(&path).trim().to_owned()
    };
    (0..8)
        .map(|index| (of(index, "level"), of(index, "type"), of(index, "size")))
        .filter(|(level, _, size)| !level.is_empty() && !size.is_empty())
        .map(|(level, kind, size)| format!("L{level} {} {size}", kind.to_lowercase()))
        .collect()
}

/// A file of the system's; empty where there is none.
fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
