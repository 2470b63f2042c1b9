//! A disk that is full while a command writes its file: an error in one line,
//! the old file as it was, and nothing left beside it.
#![cfg(target_os = "linux")]

use std::fs;

use crate::common::small_disk::SmallDisk;
use crate::common::{file, run, stderr};

#[test]
fn a_full_disk_leaves_the_old_file() {
    let Some(disk) = SmallDisk::mount("small-disk", "size=256k") else {
        println!("skipped: a_full_disk_leaves_the_old_file: this user may not mount a tmpfs");
        return;
    };
    let routes = (0..40_000).map(|n| format!("10.{}.{}.0/24 hop-{n}\n", n >> 8, n & 255));
    let table = file("full-disk-table", routes.collect::<String>());
    let addresses = file("full-disk-addresses", "10.0.0.1\n".repeat(100_000));
    let path = disk.0.join("old");
    let place = path.to_str().unwrap();
    let commands: [&[&str]; 9] = [
        &["convert", "-o", place],
        &["convert", "--to", "csv", "-o", place],
        &["convert", "--to", "json-lines", "-o", place],
        &["compile", "-o", place],
        &[
            "compile",
            "--keep=prefixes",
            "--direct-bits",
            "18",
            "-o",
            place,
        ],
        &["aggregate", "-o", place],
        &["annotate", &addresses, "-o", place],
        &["annotate", &addresses, "--to", "csv", "-o", place],
        &["annotate", &addresses, "--to", "jsonl", "-o", place],
    ];
    for command in commands {
        fs::write(&path, "old").unwrap();
        let output = run(&[command, &["--table", &table]].concat());
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {text}");
        // aggregate also tells how many routes it has saved.
        let line = text.lines().last().unwrap();
        let wanted = format!("popfib: {place}: No space left on device");
        assert!(line.starts_with(&wanted), "{command:?}: {text}");
        let lines = if command[0] == "aggregate" { 2 } else { 1 };
        assert_eq!(text.lines().count(), lines, "{text}");
        assert_eq!(fs::read(&path).unwrap(), b"old", "{command:?}");
        let names: Vec<_> = fs::read_dir(&disk.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["old"], "{command:?}");
        assert_eq!(output.stdout, b"", "{command:?}");
    }
}
