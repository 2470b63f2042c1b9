//! `popfib lookup`: answers, forms of output, streaming.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::{TABLE, bad, file, good, popfib, run, run_with, stderr, stdout};

#[test]
fn answers_are_address_prefix_and_next_hop() {
    let table = file("lookup-text", TABLE);
    let args = [
        "lookup", "--table", &table, "10.1.2.3", "10.1.2.4", "10.9.0.0", "11.0.0.0",
    ];
    assert_eq!(
        good(&run(&args)),
        "10.1.2.3\t10.1.2.3/32\t64500\n\
         10.1.2.4\t10.1.0.0/16\t192.0.2.1\n\
         10.9.0.0\t10.0.0.0/8\teast\n\
         11.0.0.0\t-\t-\n"
    );
    let args = [
        "lookup",
        "--table",
        &table,
        "2001:DB8:0:1:0::5",
        "2001:db8::",
        "::ffff:10.1.2.3",
    ];
    assert_eq!(
        stdout(&run(&args)),
        "2001:db8:0:1::5\t2001:db8:0:1::/64\twest\n\
         2001:db8::\t2001:db8::/32\teast\n\
         ::ffff:10.1.2.3\t-\t-\n"
    );
}

#[test]
fn json_is_one_object_a_line() {
    let table = file("lookup-json", "10.0.0.0/8 \"quoted\\\n");
    let args = ["lookup", "--table", &table, "--json", "10.1.2.3", "::1"];
    assert_eq!(
        good(&run(&args)),
        "{\"address\":\"10.1.2.3\",\"prefix\":\"10.0.0.0/8\",\"next_hop\":\"\\\"quoted\\\\\"}\n\
         {\"address\":\"::1\",\"prefix\":null,\"next_hop\":null}\n"
    );
}

#[test]
fn the_default_table_is_the_internet() {
    let output = run(&["lookup", "8.8.8.8", "2001:4860:4860::8888", "10.0.0.1"]);
    assert_eq!(
        good(&output),
        "8.8.8.8\t8.8.8.0/24\t15169\n\
         2001:4860:4860::8888\t2001:4860::/32\t15169\n\
         10.0.0.1\t-\t-\n"
    );
}

#[test]
fn addresses_come_from_standard_input() {
    let table = file("lookup-stdin", TABLE);
    let output = run_with(
        &["lookup", "--table", &table],
        b"10.0.0.1\r\n# a comment\n\n  2001:db8::1  \n11.0.0.1",
    );
    assert_eq!(
        good(&output),
        "10.0.0.1\t10.0.0.0/8\teast\n2001:db8::1\t2001:db8::/32\teast\n11.0.0.1\t-\t-\n"
    );
    assert_eq!(good(&run(&["lookup", "--table", &table])), "");
}

#[test]
fn the_table_may_come_from_standard_input() {
    let output = run_with(&["lookup", "--table", "-", "10.0.0.1"], TABLE.as_bytes());
    assert_eq!(good(&output), "10.0.0.1\t10.0.0.0/8\teast\n");
    // Not the table and the addresses.
    let output = run_with(&["lookup", "--table", "-"], TABLE.as_bytes());
    assert!(bad(&output).contains("standard input"));
}

#[test]
fn many_addresses_are_all_answered() {
    let table = file("lookup-many", TABLE);
    let input: String = (0..200_000)
        .map(|i| format!("10.1.{}.{}\n", i >> 8 & 255, i & 255))
        .collect();
    let output = run_with(&["lookup", "--table", &table], input.as_bytes());
    let lines: Vec<&str> = good(&output).lines().collect();
    assert_eq!(lines.len(), 200_000);
    assert_eq!(lines[0x0203], "10.1.2.3\t10.1.2.3/32\t64500");
    assert_eq!(lines[0x0204], "10.1.2.4\t10.1.0.0/16\t192.0.2.1");
}

#[test]
fn a_bad_address_argument_is_told_before_anything_is_answered() {
    let table = file("lookup-argument", TABLE);
    for address in [
        "10.0.0",
        "10.0.0.256",
        "10.0.0.0/33",
        "10.0.0.1.example",
        "\x1b[31m",
        "",
    ] {
        let output = run(&["lookup", "--table", &table, "10.0.0.1", address]);
        let wrong = [
            " is not an IP address",
            ": the prefix length is more than 32",
        ];
        assert!(wrong.iter().any(|wrong| bad(&output).contains(wrong)));
        assert!(!stderr(&output).contains('\x1b'));
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn a_bad_line_of_input_ends_the_answers() {
    let table = file("lookup-line", TABLE);
    let input = b"10.0.0.1\nnonsense\n10.0.0.2\n";
    let output = run_with(&["lookup", "--table", &table], input);
    assert!(bad(&output).contains(":2: "), "{}", stderr(&output));
    assert_eq!(stdout(&output), "10.0.0.1\t10.0.0.0/8\teast\n");

    let output = run_with(&["lookup", "--table", &table, "--skip-invalid"], input);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output).lines().count(), 2);
    assert!(
        stderr(&output).contains("1 invalid line skipped"),
        "{}",
        stderr(&output)
    );
}

/// A child whose lines of output arrive in time or make the test fail.
fn slowly(table: &str) -> (std::process::Child, impl Write, mpsc::Receiver<String>) {
    let mut child = popfib(&["lookup", "--table", table])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let stdin = child.stdin.take().expect("a pipe");
    let answers = BufReader::new(child.stdout.take().expect("a pipe"));
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in answers.lines() {
            if sender.send(line.expect("UTF-8")).is_err() {
                return;
            }
        }
    });
    (child, stdin, receiver)
}

const SOON: Duration = Duration::from_secs(30);

#[test]
fn a_slow_pipe_gets_each_answer_at_once() {
    let table = file("lookup-slow", TABLE);
    let (mut child, mut stdin, answers) = slowly(&table);
    for host in 1..5 {
        writeln!(stdin, "10.0.0.{host}").unwrap();
        let answer = answers
            .recv_timeout(SOON)
            .expect("an answer before the next question");
        assert_eq!(answer, format!("10.0.0.{host}\t10.0.0.0/8\teast"));
    }
    // Several at once, the last of them not whole yet.
    write!(stdin, "10.0.0.5\n10.0.0.6\n10.0.").unwrap();
    assert!(
        answers
            .recv_timeout(SOON)
            .unwrap()
            .starts_with("10.0.0.5\t")
    );
    assert!(
        answers
            .recv_timeout(SOON)
            .unwrap()
            .starts_with("10.0.0.6\t")
    );
    write!(stdin, "0.7").unwrap();
    drop(stdin);
    assert!(
        answers
            .recv_timeout(SOON)
            .unwrap()
            .starts_with("10.0.0.7\t")
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_comment_behind_an_address_does_not_hold_its_answer() {
    let table = file("lookup-comment", TABLE);
    let (mut child, mut stdin, answers) = slowly(&table);
    for rest in ["\n", "# comment\n", "  \n; more\n\n"] {
        write!(stdin, "10.0.0.1\n{rest}").unwrap();
        answers
            .recv_timeout(SOON)
            .expect("an answer before the next question");
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
