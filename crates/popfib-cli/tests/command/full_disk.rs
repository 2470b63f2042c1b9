//! A disk that is full while a command writes its file: an error in one line,
//! the old file as it was, and nothing left beside it.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{file, run, stderr};

/// A small disk, gone when this is dropped.
pub(crate) struct SmallDisk(pub(crate) PathBuf);

impl SmallDisk {
    /// Of these options of a tmpfs; `None` where the test may not mount one.
    pub(crate) fn mount(name: &str, options: &str) -> Option<Self> {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&place).ok()?;
        let disk = Self(place);
        let is_mounted = disk.mount_with(&["-t", "tmpfs", "-o", options, "tmpfs"]);
        is_mounted.then_some(disk)
    }

    /// Changes the options.
    pub(crate) fn remount(&self, options: &str) -> bool {
        self.mount_with(&["-o", &format!("remount,{options}")])
    }

    fn mount_with(&self, args: &[&str]) -> bool {
        let mut command = Command::new("mount");
        command.args(args).arg(&self.0).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let Some(disk) = SmallDisk::mount("small-disk", "size=256k") else {
        println!("skipped: a_full_disk_leaves_the_old_file: this user may not mount a tmpfs");
        return;
    };
    let routes = (0..40_000).map(|n| format!("10.{}.{}.0/24 hop-{n}\n", n >> 8, n & 255));
    let table = file("full-disk-table", routes.collect::<String>());
    let addresses = file("full-disk-addresses", "10.0.0.1\n".repeat(100_000));
    let updates = file("full-disk-updates", "A 192.0.2.0/24 east\n");
    let path = disk.0.join("old");
    let place = path.to_str().unwrap();
    let commands: [&[&str]; 10] = [
        &["convert", "-o", place],
        &["convert", "--to", "csv", "-o", place],
        &["convert", "--to", "json-lines", "-o", place],
        &["compile", "-o", place],
        &["compile", "--no-routes", "--direct-bits", "18", "-o", place],
        &["aggregate", "-o", place],
        &["annotate", &addresses, "-o", place],
        &["annotate", &addresses, "--output", "csv", "-o", place],
        &["annotate", &addresses, "--output", "jsonl", "-o", place],
        &["replay", "--updates", &updates, "--write-table", place],
    ];
    for command in commands {
        fs::write(&path, "old").unwrap();
        let output = run(&[command, &["--table", &table]].concat());
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {text}");
        // aggregate also tells how many routes it has saved.
        let line = text.lines().last().unwrap();
        let wanted = format!("popfib: {place}: No space left on device");
        assert!(line.starts_with(&wanted), "{command:?}: {text}");
        let lines = if command[0] == "aggregate" { 2 } else { 1 };
        assert_eq!(text.lines().count(), lines, "{text}");
        assert_eq!(fs::read(&path).unwrap(), b"old", "{command:?}");
        let names: Vec<_> = fs::read_dir(&disk.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["old"], "{command:?}");
        assert_eq!(output.stdout, b"", "{command:?}");
    }
}
