//! Runs the command, and keeps files for it.
#![allow(dead_code)] // each test file uses its part

pub(crate) mod cases;
pub(crate) mod comparison;
#[cfg(target_os = "linux")]
pub(crate) mod one_thread;
#[cfg(target_os = "linux")]
pub(crate) mod small_disk;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::program;

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
    let mut command = Command::new(program());
    command.args(args).stdin(Stdio::null());
    command
}

/// The command, with a pipe as standard output that nobody reads.
///
/// A shell makes it: of one made here, a process that another test starts meanwhile has the reading end for a moment.
#[cfg(unix)]
pub(crate) fn without_reader(args: &[&str]) -> Command {
    let script = r#"mkfifo "$0"; exec 3<>"$0" 4>"$0" 3>&-; rm "$0"; exec "$@" >&4 4>&-"#;
    let mut command = Command::new("sh");
    command
        .args(["-c", script, &path("fifo"), program()])
        .args(args);
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

thread_local! {
    /// The folder of this test, whose thread has its name, so that no two tests write the same file.
    static FOLDER: PathBuf = {
        let thread = std::thread::current();
        let test = thread.name().expect("the thread of a test").replace("::", "-");
        // Test programs share the folder above.
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME")).join(test);
        // What an earlier run left.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for the test");
        path
    };
}

/// A path in this test's own folder, where nothing is yet.
pub(crate) fn path(name: &str) -> String {
    let path = FOLDER.with(|folder| folder.join(name));
    path.to_str().expect("UTF-8").to_owned()
}

/// A file in this test's own folder.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = path(name);
    fs::write(&path, content).expect("the file is written");
    path
}

/// An empty folder in this test's own.
pub(crate) fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(path(name));
    fs::create_dir(&path).expect("a folder");
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
    let told = ["popfib: ", "popfibd: "];
    told.iter()
        .find_map(|name| line.strip_prefix(name))
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
