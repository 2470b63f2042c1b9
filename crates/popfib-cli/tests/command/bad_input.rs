//! Everything that can be wrong with a table: one line that names file, line and reason, exit 2.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::common::{TABLE, bad, directory, file, popfib, run, stderr, stdout, without_reader};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Loads a table that is wrong in line `line` and checks what is said about it.
#[track_caller]
fn wrong(name: &str, content: impl AsRef<[u8]>, line: Option<u32>, reason: &str) {
    let table = file(name, content);
    for command in ["lookup", "info", "verify", "routes", "convert", "aggregate"] {
        let mut args = vec![command, "--table", &table];
        args.extend((command == "lookup").then_some("10.0.0.1"));
        let output = run(&args);
        let said = bad(&output);
        let place = match line {
            Some(line) => format!("{table}:{line}: "),
            None => format!("{table}: "),
        };
        let why = said
            .strip_prefix(&place)
            .unwrap_or_else(|| panic!("{place:?} in {said}"));
        assert!(why.contains(reason), "{reason:?} in {said}");
        assert_eq!(stdout(&output), "", "nothing half done");
    }
}

#[test]
fn lines_that_are_no_routes() {
    wrong("bad-line", "10.0.0.0/8 a\nnonsense b\n", Some(2), "address");
    wrong("bad-length", "# one\n\n10.0.0.0/33 a\n", Some(3), "32");
    wrong("bad-length6", "2001:db8::/129 a\n", Some(1), "128");
    wrong(
        "bad-host-bits",
        "10.0.0.0/8 a\n10.0.0.1/8 b\n",
        Some(2),
        "host bits",
    );
    wrong(
        "bad-no-next-hop",
        "10.0.0.0/8 a\n11.0.0.0/8\n",
        Some(2),
        "next hop",
    );
    wrong(
        "bad-utf8",
        b"10.0.0.0/8 a\n11.0.0.0/8 \xff\xfe\n",
        Some(2),
        "UTF-8",
    );
}

#[test]
fn files_that_are_no_tables() {
    wrong("bad-empty", "", None, "no route");
    wrong("bad-blanks", "\n\n", None, "no route");
    wrong(
        "bad-binary",
        [0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0],
        None,
        "byte 0: this is not text",
    );
}

#[test]
fn a_truncated_gz() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    for n in 0..10_000 {
        writeln!(
            encoder,
            "10.{}.{}.0/24 hop{}",
            n >> 8,
            n & 255,
            n * 7919 % 1000
        )
        .unwrap();
    }
    let mut bytes = encoder.finish().unwrap();
    bytes.truncate(bytes.len() / 2);
    let table = file("bad-truncated.gz", bytes);
    let output = run(&["info", "--table", &table]);
    assert!(bad(&output).starts_with(&format!("{table}:")));
    assert_eq!(stdout(&output), "");
}

#[test]
fn files_that_cannot_be_opened() {
    let directory = directory("d");
    let directory = directory.to_str().unwrap();
    let output = run(&["info", "--table", directory]);
    assert!(bad(&output).starts_with(&format!("{directory}: ")));
    assert!(bad(&output).contains("directory"));
    let output = run(&["info", "--table", "does/not/exist"]);
    assert!(bad(&output).starts_with("does/not/exist: "));
}

#[cfg(unix)]
#[test]
fn an_unreadable_file() {
    use std::os::unix::fs::PermissionsExt;
    let table = file("bad-unreadable", TABLE);
    fs::set_permissions(&table, fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::File::open(&table).is_ok();
    let output = run(&["info", "--table", &table]);
    fs::remove_file(&table).unwrap();
    if readable {
        eprintln!("an_unreadable_file: skipped, this user may read every file");
        return;
    }
    assert!(bad(&output).starts_with(&format!("{table}: ")));
}

/// A line of 100 MB in at most 64 MB of address space.
#[cfg(target_os = "linux")]
#[test]
fn a_line_of_100_megabytes_in_bounded_memory() {
    let long = || {
        let mut command = std::process::Command::new("sh");
        command
            .arg("-c")
            .arg("ulimit -v 65536; exec \"$0\" \"$@\"")
            .arg(env!("CARGO_BIN_EXE_popfib"))
            .args(["lookup", "10.0.0.1", "--table", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let feed = |mut command: std::process::Command| {
        let mut child = command.spawn().expect("the command starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let megabyte = vec![b'1'; 1 << 20];
        for _ in 0..100 {
            // The command stops reading once it has seen enough.
            if stdin.write_all(&megabyte).is_err() {
                break;
            }
        }
        let _ = stdin.write_all(b"\n10.0.0.0/8 a\n");
        drop(stdin);
        child.wait_with_output().expect("the command ends")
    };
    let output = feed(long());
    assert!(bad(&output).contains(":1: "), "{}", stderr(&output));

    let mut skipping = long();
    skipping.arg("--skip-invalid");
    let output = feed(skipping);
    assert_eq!(stdout(&output), "10.0.0.1\t10.0.0.0/8\ta\n");
    assert_eq!(output.status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_quietly_and_is_no_success() {
    let table = file("bad-pipe", TABLE);
    let other = file("bad-pipe-other", "10.0.0.0/8 other\n");
    for args in [
        &["lookup", "--table", &table][..],
        &["info", "--table", &table],
        &["verify", "--random", "10", "--table", &table],
        &["routes", "--table", &table],
        &["convert", "--to", "csv", "--table", &table],
        &["diff", &table, &other],
        &["diff", "--effective", "--json", &table, &other],
        &["completions", "bash"],
        &["man"],
        &["--help"],
        &["--version"],
    ] {
        let mut child = without_reader(args)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        for _ in 0..100_000 {
            if stdin.write_all(b"10.0.0.1\n").is_err() {
                break;
            }
        }
        drop(stdin);
        let output = child.wait_with_output().expect("the command ends");
        assert_eq!(stderr(&output), "", "{args:?}");
        // Neither a success nor an equality: what a shell shows for one that SIGPIPE ended.
        assert_eq!(output.status.code(), Some(141), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let table = file("bad-full", TABLE);
    let other = file("bad-full-other", "10.0.0.0/8 other\n");
    assert!(Path::new("/dev/full").exists());
    for args in [
        &["lookup", "--table", &table, "10.0.0.1"][..],
        &["lookup", "--json", "--table", &table, "10.0.0.1"],
        &["info", "--table", &table],
        &["verify", "--random", "10", "--json", "--table", &table],
        &["routes", "--json", "--table", &table],
        &["convert", "--table", &table],
        &["diff", &table, &other],
        &["diff", "--effective", &table, &other],
        &["completions", "zsh"],
        &["man"],
        &["--help"],
        &["--version"],
    ] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = popfib(args)
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .and_then(|child| child.wait_with_output())
            .expect("the command ends");
        assert!(bad(&output).starts_with("standard output: "), "{args:?}");
    }
}
