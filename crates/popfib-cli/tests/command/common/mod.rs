//! Runs the command, `popfib` or `popfib-lab`, and keeps files for it.
#![allow(dead_code)] // each test file uses its part

#[cfg(target_os = "linux")]
pub(crate) mod small_disk;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::{NAME, PROGRAM};

/// Both families, nested prefixes, a name as next hop, and a hole in 10.0.0.0/8's neighbourhood.
pub(crate) const TABLE: &str = "\
10.0.0.0/8 east
10.1.0.0/16\t192.0.2.1
10.1.2.3,64500
2001:db8::/32 east ; a comment
2001:db8:0:1::/64 west
";

/// The command, to be run.
pub(crate) fn popfib(args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs the command without input.
pub(crate) fn run(args: &[&str]) -> Output {
    popfib(args).output().expect("the command runs")
}

/// Runs the command with `input` on standard input.
pub(crate) fn run_with(args: &[&str], input: &[u8]) -> Output {
    feed(popfib(args), input)
}

/// Runs `command` with `input` on standard input.
pub(crate) fn feed(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // From a thread, since the command may answer before it has read all.
    let writer = std::thread::spawn(move || {
        // The command may stop reading early.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("the writer ends");
    output
}

/// A file of this test's own, named `name`, which is unique among all tests.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).expect("the file is written");
    path.to_str().expect("UTF-8").to_owned()
}

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

/// Standard output of a run that went well and had nothing to remark.
#[track_caller]
pub(crate) fn good(output: &Output) -> &str {
    assert_eq!(stderr(output), "");
    assert_eq!(output.status.code(), Some(0));
    stdout(output)
}

/// The one line of standard error of a run that gave up with exit 2.
#[track_caller]
pub(crate) fn bad(output: &Output) -> &str {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    let line = text.strip_suffix('\n').expect("a line end");
    assert!(!line.contains('\n'), "one line: {text}");
    line.strip_prefix(NAME)
        .and_then(|line| line.strip_prefix(": "))
        .unwrap_or_else(|| panic!("it names the command: {line}"))
}

/// The keys of a JSON object, in order.
pub(crate) fn keys(value: &serde_json::Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}
