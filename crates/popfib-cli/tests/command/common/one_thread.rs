//! The command as a user who may have no other thread.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program;

/// A folder that everybody may read, with a copy of the command in it; it goes with this.
pub(crate) struct OneThread(PathBuf);

impl OneThread {
    /// `None`, and a line that says so, if this user may not become the other.
    pub(crate) fn new(test: &str) -> Option<Self> {
        let name = format!("popfib-{test}-{}", std::process::id());
        let this = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(&this.0).expect("a folder");
        fs::set_permissions(&this.0, Permissions::from_mode(0o755)).expect("an open folder");
        fs::copy(program(), this.0.join("popfib")).expect("a copy of the command");
        let try_one = this.command(&["--version"]).output();
        if !try_one.is_ok_and(|output| output.status.success()) {
            println!("skipped: {test}: this user may not become another");
            return None;
        }
        Some(this)
    }

    /// A file that the user may read.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, content).expect("the file is written");
        path.to_str().expect("UTF-8").to_owned()
    }

    /// The command with a single thread. A limit of processes does not bind root: for root it is another user's, who has no others.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let script = r#"[ "$(id -u)" != 0 ] || set -- setpriv --reuid=64533 --clear-groups "$@"; exec prlimit --nproc=1:1 "$@""#;
        let mut command = Command::new("sh");
        command
            .args(["-c", script, "sh"])
            .arg(self.0.join("popfib"))
            .args(args)
            .current_dir(Path::new("/"))
            .stdin(Stdio::null());
        command
    }
}

impl Drop for OneThread {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
