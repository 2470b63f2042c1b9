//! A terminal that nobody looks at but a test.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::program;

/// How long to wait for what has to come.
const SOON: Duration = Duration::from_secs(60);

/// A command of the shell on a terminal of 80 columns, with xterm's colours.
pub(crate) struct PseudoTerminal {
    child: Child,
    keyboard: File,
    shown: Receiver<Vec<u8>>,
    /// What was shown so far.
    screen: String,
}

impl PseudoTerminal {
    /// Runs `command` in `folder`. What is typed is not shown.
    pub(crate) fn run(command: &str, folder: &Path) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).expect("a terminal");
        unlockpt(&ours).expect("a terminal");
        let name = ptsname(&ours, Vec::new()).expect("its name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs = rustix::fs::open(name, flags, Mode::empty()).expect("the other end");
        let size = Winsize {
            ws_row: 40,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&theirs, size).expect("a size");
        let mut modes = tcgetattr(&theirs).expect("its modes");
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&theirs, OptionalActions::Now, &modes).expect("a terminal without echo");

        let programs = Path::new(program()).parent().expect("a folder");
        let path = std::env::var("PATH").expect("a path");
        let end = || Stdio::from(theirs.try_clone().expect("the other end"));
        let mut command_of_shell = Command::new("sh");
        command_of_shell
            .args(["-c", command])
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("TERM", "xterm")
            .stdin(end())
            .stdout(end())
            .stderr(end());
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "COLUMNS"] {
            command_of_shell.env_remove(variable);
        }
        let child = command_of_shell.spawn().expect("a shell");
        // Its end is known when nobody has the other end.
        drop((command_of_shell, theirs));

        let mut screen = File::from(ours.try_clone().expect("our end"));
        let (sender, shown) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Of a terminal without another end, the end is an error.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            keyboard: File::from(ours),
            shown,
            screen: String::new(),
        }
    }

    /// Types `text`.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.keyboard
            .write_all(text.as_bytes())
            .expect("a keyboard");
    }

    /// Waits until `text` is shown.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        let start = Instant::now();
        while !self.screen.contains(text) {
            let left = SOON.saturating_sub(start.elapsed());
            match self.shown.recv_timeout(left) {
                Ok(bytes) => self.screen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("{text:?} does not come after {:?}", self.screen),
            }
        }
    }

    /// What was shown in all, when it is over, with escapes as `\e`.
    pub(crate) fn end(mut self) -> (String, ExitStatus) {
        let mut shown = self.screen.into_bytes();
        while let Ok(bytes) = self.shown.recv_timeout(SOON) {
            shown.extend(bytes);
        }
        let status = self.child.wait().expect("it ends");
        let text = String::from_utf8(shown).expect("UTF-8");
        let text = text.replace("\r\n", "\n").replace('\x1b', "\\e");
        (text.replace('\r', "\\r"), status)
    }
}
