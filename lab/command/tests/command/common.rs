//! Runs the command, and keeps files for it.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// What the tests run.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_popfib-lab");

/// Both families, nested prefixes, a name as next hop, and a hole in 10.0.0.0/8's neighbourhood.
pub(crate) const TABLE: &str = "\
10.0.0.0/8 east
10.1.0.0/16\t192.0.2.1
10.1.2.3,64500
2001:db8::/32 east ; a comment
2001:db8:0:1::/64 west
";

/// Runs the command without input.
pub(crate) fn run(args: &[&str]) -> Output {
    run_with(args, b"")
}

/// Runs the command with `input`, which is short, on standard input.
pub(crate) fn run_with(args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(args).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    // It may end before it has read it.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("the command ends")
}

/// A path in the folder of this test, whose thread has its name, where nothing is yet.
pub(crate) fn path(name: &str) -> String {
    let thread = std::thread::current();
    let test = thread
        .name()
        .expect("the thread of a test")
        .replace("::", "-");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("popfib-lab")
        .join(test);
    fs::create_dir_all(&folder).expect("a folder for the test");
    let path = folder.join(name);
    // What an earlier run left.
    let _ = fs::remove_file(&path);
    let _ = fs::remove_dir_all(&path);
    path.to_str().expect("UTF-8").to_owned()
}

/// A file in this test's own folder.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = path(name);
    fs::write(&path, content).expect("the file is written");
    path
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
    line.strip_prefix("popfib-lab: ")
        .unwrap_or_else(|| panic!("it names the command: {line}"))
}

/// The keys of a JSON object, in order.
pub(crate) fn keys(value: &serde_json::Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
