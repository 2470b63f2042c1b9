//! Commands of the shell with all that they print, from files that people can read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::program;

/// A command of the shell, and what it shall print, its exit status included.
pub(crate) struct Case {
    /// Where the command is, its line counted from 1.
    file: PathBuf,
    line: usize,
    pub(crate) command: String,
    pub(crate) answer: String,
}

impl Case {
    /// File and line.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.file.display(), self.line)
    }
}

/// The cases of a file: `$` and the command, what it prints, and an empty line; before each any number of comments.
pub(crate) fn cases(folder: &Path, file: &str) -> Vec<Case> {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).expect("UTF-8");
    let mut cases: Vec<Case> = Vec::new();
    let mut is_answer = false;
    for (at, line) in text.lines().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            cases.push(Case {
                file: path.clone(),
                line: at + 1,
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

/// Fails if a command does not get its answer from `run`, and tells all of them. With `ACCEPT=1` what they print becomes
/// the answer instead, for a reader of the difference.
#[track_caller]
pub(crate) fn check(cases: impl Iterator<Item = Case>, run: impl Fn(&str) -> String) {
    let answered = cases.map(|case| (run(&case.command), case));
    let wrong: Vec<_> = answered
        .filter(|(text, case)| *text != case.answer)
        .collect();
    if std::env::var_os("ACCEPT").is_some() {
        // From the last one, so that the lines of those before stay what they are.
        for (text, case) in wrong.iter().rev() {
            accept(case, text);
        }
        return;
    }
    let told = wrong.iter().map(|(text, case)| {
        let (place, command, answer) = (case.place(), &case.command, &case.answer);
        format!("{place}: {command}\n-- expected\n{answer}-- printed\n{text}\n")
    });
    assert!(wrong.is_empty(), "\n{}", told.collect::<String>());
}

fn accept(case: &Case, printed: &str) {
    let text = fs::read_to_string(&case.file).expect("UTF-8");
    let mut lines: Vec<&str> = text.lines().collect();
    let end = case.line + case.answer.lines().count();
    lines.splice(case.line..end, printed.lines());
    fs::write(&case.file, lines.join("\n") + "\n").expect("a file that may be written");
}

/// The last line of an answer: the exit status, if it is not 0.
pub(crate) fn status(status: ExitStatus) -> String {
    match status.code() {
        Some(0) => String::new(),
        Some(status) => format!("? {status}\n"),
        None => format!("? {status}\n"),
    }
}

/// What the command prints in `folder`, and its exit status.
pub(crate) fn answer(command: &str, folder: &Path) -> String {
    // Beside the command, or above it, is the daemon.
    let mut programs = Path::new(program()).ancestors().skip(1);
    let mut folder_of_programs = || programs.next().expect("a folder").display();
    let (beside, above) = (folder_of_programs(), folder_of_programs());
    let path = std::env::var("PATH").expect("a path");
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env("PATH", format!("{beside}:{above}:{path}"))
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + &status(output.status)
}
