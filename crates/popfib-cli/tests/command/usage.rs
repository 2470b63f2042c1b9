//! Help, version, completions and manual pages.

use std::fs;
use std::path::PathBuf;

use crate::common::{good, run};

const COMMANDS: [&str; 15] = [
    "annotate",
    "lookup",
    "info",
    "verify",
    "replay",
    "bench",
    "compile",
    "formats",
    "routes",
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
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("man/man1");
    let _ = fs::remove_dir_all(&directory);
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
