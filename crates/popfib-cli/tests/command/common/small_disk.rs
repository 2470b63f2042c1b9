//! A disk that is soon full.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A small disk, gone when this is dropped.
pub(crate) struct SmallDisk(pub(crate) PathBuf);

impl SmallDisk {
    /// Of these options of a tmpfs; `None` where the test may not mount one.
    pub(crate) fn mount(name: &str, options: &str) -> Option<Self> {
        let disk = Self(super::directory(name));
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
