//! Small files after public bug reports, with the right answers: `tests/reports`, whose README says what a case looks like.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::PROGRAM;
use crate::common::directory;

/// A command of the shell, and what it shall print, its exit status included.
struct Case {
    /// File and line.
    place: String,
    command: String,
    answer: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports")
}

/// The names of all files of the folder.
fn files() -> BTreeSet<String> {
    let entries = fs::read_dir(folder()).expect("the folder");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        name.into_string().expect("UTF-8")
    };
    entries.map(name).collect()
}

fn cases(file: &str) -> Vec<Case> {
    let text = fs::read_to_string(folder().join(file)).expect("UTF-8");
    let mut cases: Vec<Case> = Vec::new();
    let mut is_answer = false;
    for (at, line) in text.lines().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            cases.push(Case {
                place: format!("{file}:{}", at + 1),
                command: command.to_owned(),
                answer: String::new(),
            });
            is_answer = true;
        } else if line.is_empty() {
            is_answer = false;
        } else if is_answer {
            let case = cases.last_mut().expect("a command is before its answer");
            case.answer.push_str(line);
            case.answer.push('\n');
        } else {
            assert!(line.starts_with('#'), "{file}:{}: {line}", at + 1);
        }
    }
    cases
}

/// What the command prints in `folder`, and its exit status.
fn answer(command: &str, folder: &Path) -> String {
    let programs = Path::new(PROGRAM).parent().expect("a folder");
    let path = std::env::var("PATH").expect("a path");
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", programs.display()))
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match output.status.code() {
        Some(0) => {}
        Some(status) => text.push_str(&format!("? {status}\n")),
        None => text.push_str(&format!("? {}\n", output.status)),
    }
    text
}

#[test]
#[cfg(unix)]
fn reports_are_answered_right() {
    let files = files();
    let copy = directory("reports");
    for file in &files {
        fs::copy(folder().join(file), copy.join(file)).expect("a copy");
    }
    let mut wrong = Vec::new();
    let lists = files.iter().filter(|file| file.ends_with(".cases"));
    for case in lists.flat_map(|file| cases(file)) {
        let answer = answer(&case.command, &copy);
        if answer != case.answer {
            let Case { place, command, .. } = &case;
            let expected = &case.answer;
            wrong.push(format!(
                "{place}: {command}\n-- expected\n{expected}-- printed\n{answer}"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
#[test]
fn every_report_has_a_case() {
    let files = files();
    let lists = files.iter().filter(|file| file.ends_with(".cases"));
    let commands: String = lists
        .flat_map(|file| cases(file))
        .map(|case| case.command + "\n")
        .collect();
    for file in &files {
        let is_ours = file.ends_with(".cases") || ["README.md", "live.sh"].contains(&file.as_str());
        assert!(
            is_ours || commands.contains(file.as_str()),
            "{file}: in no case"
        );
    }
}
