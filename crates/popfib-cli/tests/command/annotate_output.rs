//! Where the lines of `popfib annotate` go: at once into pipes, whole into files, an error where nothing can go.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::annotate::{ADDRESSES, annotate, packets};
use crate::common::{TABLE, bad, directory, file, good, popfib, stderr};

#[test]
fn a_slow_pipe_gets_each_answer_at_once() {
    let table = file("annotate-slow-table", TABLE);
    for (args, head, host) in [
        (&[][..], "", ""),
        (&["--to", "csv", "--column", "ip"], "ip,n\n", ",1"),
    ] {
        let args = [&["annotate", "--table", &table, "--value-only"], args].concat();
        let mut child = popfib(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let (sender, receiver) = mpsc::channel();
        let reader = thread::spawn(move || {
            for line in answers.lines() {
                sender.send(line.unwrap()).unwrap();
            }
        });
        let soon = || {
            receiver
                .recv_timeout(Duration::from_secs(30))
                .expect("an answer in time")
        };
        write!(stdin, "{head}").unwrap();
        for address in ["10.0.0.1", "2001:db8::1", "10.0.0.2"] {
            writeln!(stdin, "{address}{host}").unwrap();
            if !head.is_empty() && address == "10.0.0.1" {
                assert_eq!(soon(), "ip,n,next_hop");
            }
            assert!(soon().ends_with("east"));
        }
        drop(stdin);
        assert_eq!(child.wait().unwrap().code(), Some(0));
        reader.join().unwrap();
    }
}

#[test]
fn an_output_file_is_there_as_a_whole_or_not_at_all() {
    let directory = directory("output");
    let path = directory.join("answers.txt");
    let out = path.to_str().unwrap();
    let listed = || fs::read_dir(&directory).unwrap().count();

    assert_eq!(good(&annotate("file", &["-o", out], "10.0.0.1\n")), "");
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "10.0.0.1\t10.0.0.0/8\teast\n"
    );
    assert_eq!(listed(), 1);
    // An error leaves the old file, and nothing beside it.
    let cut = packets(&[[10, 1, 2, 3]]);
    let output = annotate("file", &["-o", out], &cut[..cut.len() - 1]);
    bad(&output);
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "10.0.0.1\t10.0.0.0/8\teast\n"
    );
    assert_eq!(listed(), 1);
    // A symbolic link stays one.
    #[cfg(unix)]
    {
        let link = directory.join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        good(&annotate(
            "file",
            &["-o", link.to_str().unwrap(), "--value-only"],
            "10.0.0.1\n",
        ));
        assert_eq!(fs::read_to_string(&path).unwrap(), "east\n");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
    let missing = directory.join("no/answers.txt");
    let output = annotate("file", &["-o", missing.to_str().unwrap()], "10.0.0.1\n");
    assert!(bad(&output).starts_with(missing.to_str().unwrap()));
    let output = annotate("file", &["-o", directory.to_str().unwrap()], "10.0.0.1\n");
    assert!(bad(&output).contains("directory"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error_and_stays_a_device() {
    use std::os::unix::fs::FileTypeExt;
    let output = annotate("full", &["-o", "/dev/full"], "10.0.0.1\n");
    assert!(bad(&output).starts_with("/dev/full: "));
    assert!(
        fs::metadata("/dev/full")
            .unwrap()
            .file_type()
            .is_char_device()
    );

    let table = file("annotate-full-table", TABLE);
    let addresses = file("annotate-full-addresses", ADDRESSES);
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = popfib(&["annotate", "--table", &table, &addresses])
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .and_then(|child| child.wait_with_output())
        .unwrap();
    assert!(bad(&output).starts_with("standard output: "));
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_quietly() {
    let table = file("annotate-pipe-table", TABLE);
    let addresses = file("annotate-pipe-addresses", "10.0.0.1\n".repeat(100_000));
    for form in ["text", "csv", "jsonl"] {
        let args = ["annotate", "--table", &table, "--to", form, &addresses];
        let output = crate::common::without_reader(&args).output().unwrap();
        assert_eq!(stderr(&output), "", "{form}");
        assert_eq!(output.status.code(), Some(141), "{form}");
    }
}

/// What is open already is written, not replaced: a shell may append to it.
#[cfg(target_os = "linux")]
#[test]
fn an_open_file_is_appended_to() {
    let table = file("annotate-open-table", TABLE);
    let addresses = file("annotate-open-addresses", "10.0.0.1\n");
    let path = file("annotate-open", "before\n");
    for place in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        fs::write(&path, "before\n").unwrap();
        let open = fs::File::options().append(true).open(&path).unwrap();
        let output = popfib(&["annotate", "--table", &table, &addresses, "-o", place])
            .stdout(open)
            .output()
            .unwrap();
        assert_eq!(stderr(&output), "", "{place}");
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "before\n10.0.0.1\t10.0.0.0/8\teast\n", "{place}");
    }
}
