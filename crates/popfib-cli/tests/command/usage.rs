//! Help, version, completions and manual pages.

use std::fs;

use crate::common::{bad, directory, good, popfib, run};

const COMMANDS: [&str; 18] = [
    "annotate",
    "lookup",
    "info",
    "verify",
    "draw",
    "compile",
    "follow",
    "formats",
    "kernels",
    "routes",
    "set",
    "rov",
    "diff",
    "aggregate",
    "convert",
    "peers",
    "completions",
    "man",
];

#[test]
fn every_help_has_examples() {
    let output = run(&["--help"]);
    let help = good(&output);
    assert!(help.contains("Examples:\n  popfib "));
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        for flag in ["--help", "-h"] {
            let output = run(&[command, flag]);
            assert!(good(&output).contains("Examples:\n"), "{command}");
            assert!(stdout_names(good(&output), command));
        }
    }
}

fn stdout_names(help: &str, command: &str) -> bool {
    help.contains(&format!("popfib {command}"))
}

#[test]
fn the_version_is_the_packages() {
    let version = format!("popfib {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(good(&run(&["--version"])), version);
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&["completions", shell]);
        let script = good(&output);
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(script.contains("direct-bits"), "{shell}");
    }
}

#[test]
fn manual_pages_are_written() {
    let output = run(&["man"]);
    assert!(good(&output).contains(".TH popfib 1"));
    let directory = directory("man").join("man1");
    assert_eq!(good(&run(&["man", directory.to_str().unwrap()])), "");
    for command in COMMANDS {
        let page = fs::read_to_string(directory.join(format!("popfib-{command}.1"))).unwrap();
        assert!(
            page.contains(".TH") && page.contains("Examples"),
            "{command}"
        );
    }
    let file = crate::common::file("man-in-the-way", "");
    assert_eq!(run(&["man", &file]).status.code(), Some(2));
}

#[test]
fn bad_usage_is_told_in_one_line() {
    for (args, wanted) in [
        (
            &["compile"][..],
            "arguments were not provided: --output <FILE>",
        ),
        (
            &["info", "--tabel", "x"],
            "a similar argument exists: '--table'",
        ),
        (&["convert", "--to", "tetx"], "[possible values: "),
        (&["verify", "--random", "many"], "invalid value 'many'"),
        (&["frobnicate"], "unrecognized subcommand 'frobnicate'"),
        (&["lookup", "--table"], "a value is required"),
        (
            &["verify", "--seed", "1\n2\x1b[31m\x07"],
            // What could control a terminal is left out.
            "invalid value '1 2'",
        ),
    ] {
        let output = run(args);
        let line = bad(&output);
        assert!(line.contains(wanted), "{line}");
        assert!(
            !line.contains("error:") && !line.contains("Usage:"),
            "{line}"
        );
        assert!(line.ends_with("; try '--help'."), "{line}");
    }
}

/// Whoever else writes to the same standard error, a log of several programs, does not come between.
#[test]
#[cfg(unix)]
fn an_error_is_written_in_one_piece() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;

    for (args, wanted) in [
        (
            &["lookup", "--table", "/no\nwhere", "1.2.3.4"][..],
            "popfib: /no\\nwhere: ",
        ),
        (
            &["lookup", "--table", "/nowhere", "1.2.3.4"],
            "popfib: /nowhere: ",
        ),
        (
            &["lookup", "\x1b"],
            "popfib: '\\u{1b}' is not an IP address",
        ),
        (
            &["info", "--direct-bits"],
            "popfib: unexpected argument '--direct-bits' found",
        ),
        (&["draw"], ""),
        (&[], ""),
    ] {
        // Each write to a datagram socket is a datagram.
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        let mut command = popfib(args);
        command.stderr(OwnedFd::from(theirs));
        let status = command.status().unwrap();
        drop(command);
        assert_eq!(status.code(), Some(2), "{args:?}");
        ours.set_nonblocking(true).unwrap();
        let mut datagram = [0; 65_536];
        let len = ours.recv(&mut datagram).unwrap();
        let text = std::str::from_utf8(&datagram[..len]).unwrap();
        assert!(text.starts_with(wanted) && text.ends_with('\n'), "{text:?}");
        assert!(
            !matches!(ours.recv(&mut datagram), Ok(1..)),
            "{args:?}: a second write"
        );
    }
}
