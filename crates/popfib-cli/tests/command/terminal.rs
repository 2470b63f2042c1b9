//! What people see on a terminal: `tests/terminal`, whose README says what a case looks like.

use std::fs;
use std::path::Path;

use crate::common::cases::{cases, check, status};
use crate::common::directory;
use crate::pseudo_terminal::PseudoTerminal;

/// What the command shows in `folder` in the end, an empty line as `\`, and its exit status. On a busy machine a bar was there before.
fn answer(command: &str, folder: &Path) -> String {
    let (shown, code) = PseudoTerminal::run(command, folder).end();
    let mut text = String::new();
    for line in final_lines(&shown) {
        text.push_str(if line.is_empty() { "\\" } else { &line });
        text.push('\n');
    }
    text + &status(code)
}

#[test]
fn goldens_are_shown() {
    let goldens = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/terminal");
    let mut files: Vec<String> = Vec::new();
    for entry in fs::read_dir(&goldens).expect("a folder") {
        let name = entry.expect("an entry").file_name();
        files.push(name.into_string().expect("UTF-8"));
    }
    files.retain(|file| file.ends_with(".cases"));
    assert!(!files.is_empty());
    let folder = directory("terminal");
    for file in files {
        let folder = folder.join(&file);
        fs::create_dir(&folder).expect("a folder");
        check(cases(&goldens, &file).into_iter(), |command| {
            answer(command, &folder)
        });
    }
}

#[test]
fn columns_of_fixed_width_are_those_of_a_pipe() {
    let folder = directory("fixed");
    for command in [
        "popfib formats",
        "popfib verify -t t",
        "popfib rov -t t --vrps v",
    ] {
        fs::write(folder.join("t"), "10.0.0.0/8 64500\n").unwrap();
        fs::write(
            folder.join("v"),
            r#"{"roas":[{"asn":64500,"prefix":"10.0.0.0/8","maxLength":8}]}"#,
        )
        .unwrap();
        let piped = answer(&format!("{command} | cat"), &folder);
        assert!(piped.lines().count() > 2, "{piped}");
        assert_eq!(answer(&format!("{command} --color never"), &folder), piped);
    }
    // Which kernels there are depends on the processor.
    let text = answer("popfib kernels --color never", &folder);
    let starts: Vec<_> = text.lines().map(|line| line.rfind("  ")).collect();
    assert!(
        starts.len() > 1 && starts.windows(2).all(|two| two[0] == two[1]),
        "{text}"
    );
}

#[test]
fn a_long_name_of_a_column_widens_it() {
    let folder = directory("names");
    let table =
        "network,asn,the_name_of_the_organisation\n10.0.0.0/8,64500,a\n10.1.0.0/16,64500,b\n";
    fs::write(folder.join("t.csv"), table).unwrap();
    let text = answer("popfib info t.csv --columns '*'", &folder);
    let (_, columns) = text.split_once("\\\n").expect("an empty line");
    let expected = "\
\\e[1mcolumn\\e[0m                              \\e[1mvalues\\e[0m  \\e[1mtype\\e[0m
asn                                      1  integer
the_name_of_the_organisation             2  text
";
    assert_eq!(columns, expected);
}

#[test]
fn each_typed_line_is_answered_and_a_wrong_one_ends_nothing() {
    let folder = directory("typed");
    fs::write(folder.join("t"), "10.0.0.0/8 east\n2001:db8::/32 west\n").unwrap();
    let mut terminal = PseudoTerminal::run("popfib --color never lookup -t t", &folder);
    terminal.type_text("10.1.2.3\n");
    terminal.wait_for("10.1.2.3         10.0.0.0/8          east\r\n");
    terminal.type_text("10.1.2\n");
    terminal.wait_for("popfib: \"10.1.2\": no address\r\n");
    terminal.type_text("2001:db8:1:2:3:4:5:6\n");
    terminal.wait_for("2001:db8:1:2:3:4:5:6  2001:db8::/32       west\r\n");
    // There is room from now on.
    terminal.type_text("11.0.0.1\n");
    terminal.wait_for("11.0.0.1              -                   -\r\n");
    terminal.type_text("\x04");
    let (shown, status) = terminal.end();
    assert_eq!(shown.lines().count(), 4, "{shown}");
    assert!(status.success());
}

#[test]
fn a_bar_is_gone_before_the_answer() {
    let folder = directory("bar");
    fs::write(folder.join("t"), "10.0.0.0/8 east\n").unwrap();
    // More than is read to see what it is, so that reading has begun, and then nothing for a while.
    let lines = "seq -f '10.0.%.0f.1' 0 255; seq -f '10.1.%.0f.1' 0 255";
    let command = format!("({lines}; sleep 1.5; echo 11.0.0.1) | popfib count -t t");
    let mut terminal = PseudoTerminal::run(&command, &folder);
    terminal.wait_for("reading");
    let (shown, status) = terminal.end();
    assert!(status.success());
    let (bar, after) = shown.rsplit_once("reading").expect("a bar");
    assert!(!bar.contains("east"), "{shown}");
    // The line is cleared, and the answer begins at its beginning.
    let (_, after) = after.split_once("\\r\\e[2K").expect("it is erased");
    assert_eq!(after.lines().count(), 3, "{shown}");
    assert!(after.starts_with("\\e[1mcount\\e[0m"), "{shown}");
}

#[test]
fn a_bar_takes_nothing_of_what_is_printed() {
    let folder = directory("turn");
    let row = |n: u32| {
        format!(
            "TABLE_DUMP2|1|B|192.0.2.1|1|10.{}.{}.0/24|1 2|IGP|192.0.2.1|0|0||NAG||",
            n >> 8,
            n & 255
        )
    };
    let rows: Vec<String> = (0..40_000).map(row).collect();
    let (first, last) = rows.split_at(20_000);
    fs::write(folder.join("first"), first.join("\n") + "\n").unwrap();
    fs::write(folder.join("last"), last.join("\n") + "\n").unwrap();
    // The first rows end in the midst of a line, since there are more than the buffer holds.
    let command = "mkfifo f; (cat first; sleep 1.2; cat last; sleep 1.2) > f & popfib --color never paths --table f";
    let (shown, status) = PseudoTerminal::run(command, &folder).end();
    assert!(status.success());
    let lines = final_lines(&shown);
    let row = |n: u32| {
        let prefix = format!("10.{}.{}.0/24", n >> 8, n & 255);
        format!("TABLE_DUMP2  1  B  192.0.2.1  1  {prefix:14}  1 2  IGP  192.0.2.1  0  0    NAG")
    };
    assert_eq!(lines.len(), 40_000);
    for (n, line) in (0..).zip(lines) {
        // The first thousand knows of no longer prefix.
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&line), words(&row(n)));
    }
}

/// What stays of what was shown, where lines are erased and written again.
fn final_lines(shown: &str) -> Vec<String> {
    let last = |line: &str| {
        let erased = line.rsplit("\\e[2K").next().unwrap_or_default();
        erased.trim_start_matches("\\r").to_owned()
    };
    shown.lines().map(last).collect()
}

#[test]
fn there_is_no_bar_beside_lines_that_come_now_and_then() {
    let folder = directory("now-and-then");
    let lines = "echo a 10.0.0.1; sleep 1.2; echo b 10.0.0.1; sleep 1.2";
    let command = format!("({lines}) | popfib --color never grep 10.0.0.0/8");
    let (shown, _) = PseudoTerminal::run(&command, &folder).end();
    assert_eq!(shown, "a 10.0.0.1\nb 10.0.0.1\n");
    // What reads a pipe may write to the same terminal.
    let (shown, _) = PseudoTerminal::run(&format!("{command} | cat"), &folder).end();
    assert_eq!(shown, "a 10.0.0.1\nb 10.0.0.1\n");
    let command = format!("({lines}) | popfib grep 10.0.0.0/8 > hits; cat hits");
    let (shown, _) = PseudoTerminal::run(&command, &folder).end();
    assert!(shown.contains("reading"), "{shown}");
    assert_eq!(final_lines(&shown), ["a 10.0.0.1", "b 10.0.0.1"]);
}
