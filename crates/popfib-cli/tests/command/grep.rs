//! `popfib grep`: which lines, in which form, with which exit status.

use std::fs;
use std::process::{Command, Output};

use crate::common::{bad, directory, file, run, run_with, stderr, stdout};

const LIST: &str = "10.0.0.0/8\n192.0.2.1\n2001:db8::/32\n";
const LOG: &str = "a 10.1.2.3:80 b\nno\n8.8.8.8 then 2001:db8::1\r\n9.9.9.9\n";

fn grep(name: &str, args: &[&str]) -> Output {
    let list = file(&format!("grep-{name}-list"), LIST);
    run_with(
        &[&["grep", "--table", &list], args].concat(),
        LOG.as_bytes(),
    )
}

#[test]
fn lines_that_hold_an_address_and_those_that_do_not() {
    for (args, expected, status) in [
        (&[][..], "a 10.1.2.3:80 b\n8.8.8.8 then 2001:db8::1\r\n", 0),
        (&["-v"], "no\n9.9.9.9\n", 0),
        (
            &["-n"],
            "1:a 10.1.2.3:80 b\n3:8.8.8.8 then 2001:db8::1\r\n",
            0,
        ),
        (&["-nH", "-v"], "<stdin>:2:no\n<stdin>:4:9.9.9.9\n", 0),
        (&["-o"], "10.1.2.3\n2001:db8::1\n", 0),
        (&["-on"], "1:10.1.2.3\n3:2001:db8::1\n", 0),
        (&["-c"], "2\n", 0),
        (&["-cv"], "2\n", 0),
        (&["-l"], "<stdin>\n", 0),
        (&["-q"], "", 0),
        (&["--address", "1"], "a 10.1.2.3:80 b\n", 0),
        (
            &["--where", "value="],
            "a 10.1.2.3:80 b\n8.8.8.8 then 2001:db8::1\r\n",
            0,
        ),
    ] {
        let output = grep("forms", args);
        assert_eq!(stdout(&output), expected, "{args:?}");
        assert_eq!(stderr(&output), "", "{args:?}");
        assert_eq!(output.status.code(), Some(status), "{args:?}");
    }
    let output = grep("field", &["--field", "3"]);
    assert_eq!(stdout(&output), "8.8.8.8 then 2001:db8::1\r\n");
    assert_eq!(
        stderr(&output),
        "popfib: <stdin>: 2 lines end before field 3\n"
    );
}

#[test]
fn tables_stay_tables_if_a_column_is_asked_for() {
    let table = "ip,n\n10.0.0.1,\"a\nb\"\n8.8.8.8,10.0.0.2\n";
    let list = file("grep-column-list", LIST);
    let args = ["grep", "--table", &list, "--column", "ip"];
    let output = run_with(&args, table.as_bytes());
    assert_eq!(stdout(&output), "ip,n\n10.0.0.1,\"a\nb\"\n");
    // Without, lines are lines.
    let named = file("grep-column.csv", table);
    let output = run(&["grep", "--table", &list, &named]);
    assert_eq!(stdout(&output), "10.0.0.1,\"a\n8.8.8.8,10.0.0.2\n");
}

#[test]
fn files_and_folders() {
    let folder = directory("grep-folder");
    fs::create_dir(folder.join("b")).unwrap();
    fs::write(folder.join("a"), "10.0.0.1\n").unwrap();
    fs::write(folder.join("b/c"), "x\n192.0.2.1").unwrap();
    fs::write(folder.join("d"), "none\n").unwrap();
    let list = file("grep-folder-list", LIST);
    let place = folder.to_str().unwrap();
    let output = run(&["grep", "--table", &list, "-r", place]);
    assert_eq!(
        stdout(&output),
        format!("{place}/a:10.0.0.1\n{place}/b/c:192.0.2.1\n")
    );
    let output = run(&["grep", "--table", &list, "-rl", place]);
    assert_eq!(stdout(&output), format!("{place}/a\n{place}/b/c\n"));
    // What cannot be read is reported, and the rest is searched.
    let [missing, a] = ["missing", "a"].map(|name| format!("{place}/{name}"));
    let output = run(&["grep", "--table", &list, &missing, &a]);
    assert_eq!(stdout(&output), format!("{a}:10.0.0.1\n"));
    assert!(bad(&output).starts_with(&missing));
    let output = run(&["grep", "--table", &list, place]);
    assert!(bad(&output).contains("directory"), "{}", bad(&output));
}

#[test]
fn a_list_and_what_is_none() {
    for (list, reason) in [
        (
            "10.0.0.0/8\n11.0.0.0/8 x\n",
            ":2: a next hop in a list of prefixes",
        ),
        (
            "10.0.0.0/8 x\n11.0.0.0/8\n",
            ":2: no next hop after \"11.0.0.0/8\"",
        ),
        ("10.0.0.1/8\n", ":1: "),
    ] {
        let list = file("grep-bad-list", list);
        let output = run_with(&["grep", "--table", &list], b"10.0.0.1\n");
        assert!(bad(&output).contains(reason), "{}", bad(&output));
    }
}

/// Beside grepcidr, on lines that it reads the same way.
#[test]
fn the_lines_are_those_of_grepcidr() {
    if Command::new("grepcidr").arg("-V").output().is_err() {
        println!("skipped: grep beside grepcidr: not installed");
        return;
    }
    let mut bits = 3u64;
    let mut next = || {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (bits >> 40) as u32
    };
    let list: String = (0..2000)
        .map(|_| {
            format!(
                "{}.{}.{}.0/24\n",
                next() % 4 + 8,
                next() % 256,
                next() % 256
            )
        })
        .collect();
    let log: String = (0..20_000)
        .map(|n| {
            let ip = format!(
                "{}.{}.{}.{}",
                next() % 5 + 8,
                next() % 256,
                next() % 256,
                next() % 256
            );
            match n % 4 {
                0 => format!("{ip}\n"),
                1 => format!("{n} from {ip} port 22\n"),
                2 => format!("[{ip}]:443 GET /\n"),
                _ => format!("nothing {n}\n"),
            }
        })
        .collect();
    let list = file("grep-peer-list", list);
    let log = file("grep-peer-log", log);
    let peer = Command::new("grepcidr")
        .args(["-f", &list, &log])
        .output()
        .unwrap();
    let ours = run(&["grep", "--table", &list, &log]);
    assert!(!peer.stdout.is_empty());
    assert!(ours.stdout == peer.stdout);
}

#[test]
fn lines_around_the_selected_ones() {
    for (args, expected) in [
        (
            &["-A", "1"][..],
            "a 10.1.2.3:80 b\nno\n8.8.8.8 then 2001:db8::1\r\n9.9.9.9\n",
        ),
        (
            &["-A0"],
            "a 10.1.2.3:80 b\n--\n8.8.8.8 then 2001:db8::1\r\n",
        ),
        (
            &["-nB1", "-v"],
            "1-a 10.1.2.3:80 b\n2:no\n3-8.8.8.8 then 2001:db8::1\r\n4:9.9.9.9\n",
        ),
        (&["-c", "-C", "9"], "2\n"),
        (&["-l", "-C", "9"], "<stdin>\n"),
    ] {
        let output = grep("around", args);
        assert_eq!(stdout(&output), expected, "{args:?}");
        assert_eq!(output.status.code(), Some(0));
    }
    let output = grep("around-bad", &["-A", "x"]);
    assert!(stderr(&output).contains("--after-context"));
    assert_eq!(output.status.code(), Some(2));
}

/// Lines that both select: an address on its own in them, in words that have no other.
#[test]
fn lines_around_are_those_of_grep() {
    let grep = |args: &[String]| Command::new("grep").args(args).output();
    let is_gnu = grep(&["--version".to_owned()]).is_ok_and(|it| stdout(&it).contains("GNU grep"));
    if !is_gnu {
        println!("skipped: lines around beside grep: no GNU grep");
        return;
    }
    let list = file("grep-gnu-list", "192.0.2.1\n");
    let mut bits = 7u64;
    let mut next = |below: u64| {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (bits >> 33) % below
    };
    for round in 0..60 {
        let files: Vec<String> = (0..1 + next(3))
            .map(|index| {
                let rare = 1 + next(12);
                let lines = next(60) + if round == 0 { 60_000 } else { 0 };
                let mut text: String = (0..lines)
                    .map(|n| match next(rare) {
                        0 => format!("{n} 192.0.2.1 hit\n"),
                        1 => "\n".to_owned(),
                        _ => format!("{n} 198.51.100.7 miss\n"),
                    })
                    .collect();
                if next(3) == 0 {
                    text.pop();
                }
                file(&format!("grep-gnu-{index}"), &text)
            })
            .collect();
        let mut args: Vec<String> = Vec::new();
        for option in ["-A", "-B", "-C"] {
            if next(2) == 0 {
                args.extend([option.to_owned(), next(5).to_string()]);
            }
        }
        for option in ["-n", "-H", "-v", "-c", "-o"] {
            // Both refuse or pass over -o with -v in ways of their own.
            let is_apart = option == "-o" && args.contains(&"-v".to_owned());
            if next(3) == 0 && !is_apart {
                args.push(option.to_owned());
            }
        }
        let pattern = ["-F".to_owned(), "192.0.2.1".to_owned()];
        let theirs = grep(&[&args[..], &pattern, &files].concat()).unwrap();
        let table = ["grep", "--table", &list].map(str::to_owned);
        let ours: Vec<String> = [&table[..], &args, &files].concat();
        let ours = run(&ours.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(stdout(&ours), stdout(&theirs), "{args:?}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{args:?}");
    }
}
