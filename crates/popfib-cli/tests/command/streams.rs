//! Streams that go on while the files of their tables are replaced.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{file, good, path, popfib, run, stdout};

/// A command that is given lines one by one.
struct Stream {
    child: Child,
    lines: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
    /// The file of its standard error.
    notes: String,
}

impl Stream {
    fn new(args: &[&str]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let notes = path(&format!("notes-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
        let mut child = popfib(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&notes).unwrap())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            lines: child.stdin.take(),
            child,
            answers,
            notes,
        }
    }

    /// The next line of output after `line`.
    fn ask(&mut self, line: &str) -> String {
        writeln!(self.lines.as_mut().unwrap(), "{line}").unwrap();
        self.answers.next().unwrap().unwrap()
    }

    /// Asks the same until the answer is this one.
    fn becomes(&mut self, line: &str, answer: &str) {
        let begin = Instant::now();
        while self.ask(line) != answer {
            assert!(begin.elapsed() < Duration::from_secs(60), "never {answer}");
            sleep(Duration::from_millis(50));
        }
    }

    /// What it has said on standard error.
    fn said(&self) -> String {
        fs::read_to_string(&self.notes).unwrap()
    }

    /// The same once its input has ended.
    fn end(mut self) -> String {
        drop(self.lines.take());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.said()
    }
}

/// What they say of `10.0.0.1` by the value of 10.0.0.0/8.
fn answer(value: &str) -> String {
    format!("10.0.0.1\t10.0.0.0/8\t{value}")
}

/// Puts a whole file in the place of another.
fn replace(path: &str, content: impl AsRef<[u8]>) {
    fs::write(format!("{path}.new"), content).unwrap();
    fs::rename(format!("{path}.new"), path).unwrap();
}

/// The commands that answer lines, of the table at this path.
fn streams(table: &str) -> Vec<Stream> {
    vec![
        Stream::new(&["annotate", "-t", table]),
        Stream::new(&["annotate", "-t", table, "--threads", "3"]),
        Stream::new(&["lookup", "-t", table]),
    ]
}

#[test]
fn lines_are_answered_by_the_file_that_is_there() {
    let table = file("t.txt", "10.0.0.0/8 east\n");
    let image = path("t.fib");
    for table in [&table, &image] {
        let compile = |value: &str| {
            let text = file("source.txt", format!("10.0.0.0/8 {value}\n"));
            if *table == image {
                good(&run(&["compile", "-t", &text, "-o", &image]));
            } else {
                replace(table, fs::read(text).unwrap());
            }
        };
        compile("east");
        for mut stream in streams(table) {
            compile("east");
            stream.becomes("10.0.0.1", &answer("east"));
            compile("west");
            stream.becomes("10.0.0.1", &answer("west"));
            let said = stream.end();
            assert!(said.ends_with(" read again\n"), "{said}");
            assert!(said.lines().count() <= 2, "{said}");
        }
    }
}

#[test]
fn grep_searches_for_what_the_list_has_now() {
    let list = file("block.txt", "10.0.0.0/8\n");
    let table = file("t.csv", "prefix,country\n198.51.100.0/24,RU\n");
    let args = ["grep", "-f", &list, "-t", &table, "--where", "country=RU"];
    let mut grep = Stream::new(&args);
    assert_eq!(grep.ask("a 10.0.0.1"), "a 10.0.0.1");
    // Written in its place, as an editor may: one that is cut meanwhile is not read.
    fs::write(&list, "192.0.2.0/24\n").unwrap();
    replace(
        &table,
        "prefix,country\n198.51.100.0/24,US\n203.0.113.0/24,RU\n",
    );
    let begin = Instant::now();
    loop {
        // The second line is the answer if the first has none.
        let answer = grep.ask("b 10.0.0.1 192.0.2.1");
        assert_eq!(answer, "b 10.0.0.1 192.0.2.1");
        let answer = grep.ask("c 10.0.0.1\nc 192.0.2.1");
        if answer == "c 192.0.2.1" {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(50));
    }
    let both = "d 198.51.100.1\nd 203.0.113.1";
    assert_eq!(grep.ask(both), "d 203.0.113.1");
    let said = grep.end();
    assert!(
        said.contains("block.txt") && said.contains("t.csv"),
        "{said}"
    );
}

#[test]
fn one_that_cannot_be_read_is_told_once_and_changes_nothing() {
    let table = file("t.txt", "10.0.0.0/8 east\n");
    for (wrong, reason) in [
        ("10.0.0.0/33 west\n", "t.txt:1: "),
        ("prefix,asn,name\n10.0.0.0/8,1,a\n", "the columns are "),
    ] {
        replace(&table, "prefix,asn\n10.0.0.0/8,64500\n");
        let mut annotate = Stream::new(&["annotate", "-t", &table, "--columns", "*"]);
        let before = annotate.ask("10.0.0.1");
        replace(&table, wrong);
        for _ in 0..4 {
            assert_eq!(annotate.ask("10.0.0.1"), before);
            sleep(Duration::from_millis(1100));
        }
        replace(&table, "prefix,asn\n10.0.0.0/8,64501\n");
        annotate.becomes("10.0.0.1", &before.replace("64500", "64501"));
        let said = annotate.end();
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert!(lines[0].contains(reason), "{said}");
        assert!(
            lines[0].ends_with("the routes of before are used"),
            "{said}"
        );
        assert!(lines[1].ends_with("t.txt read again"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn the_signal_reads_again_at_once_and_ends_nothing() {
    let table = file("t.txt", "10.0.0.0/8 east\n");
    for mut stream in streams(&table) {
        assert_eq!(stream.ask("10.0.0.1"), answer("east"));
        let id = stream.child.id().to_string();
        // By the shell's own `kill`: the program of that name is not everywhere.
        let hang_up = ["-c", "kill -HUP \"$0\"", &id];
        let sent = Command::new("sh").args(hang_up).output().unwrap();
        assert!(sent.status.success(), "{}", stdout(&sent));
        // Another thread than the one that waits may get the signal.
        let begin = Instant::now();
        while !stream.said().ends_with("t.txt read again\n") {
            assert_eq!(stream.ask("10.0.0.1"), answer("east"));
            assert!(begin.elapsed() < Duration::from_secs(60));
            sleep(Duration::from_millis(10));
        }
        assert!(stream.end().ends_with("t.txt read again\n"));
    }
}
