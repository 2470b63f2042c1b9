//! Every refusal has a test: the texts of the sources that may be one are looked for in `tests/reports/refusals.cases`, which has the
//! refusals of the command, and in the tests of the formats and of what needs other programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use popfib_program::failure::{OF_LIBRARIES, know_options, with_options};

use crate::common::cases::cases;
use crate::reports::folder;

const LIST: &str = "refusals.cases";
/// Texts that no test provokes, and why.
const UNTESTED: &str = "untested.txt";

#[test]
fn every_refusal_of_the_list_is_one_line() {
    for case in cases(&folder(), LIST) {
        let place = case.place();
        let mut lines = case.answer.lines().rev();
        assert_eq!(lines.next(), Some("? 2"), "{place}: the exit status");
        // Notes come before it, and answers before these.
        let said: Vec<_> = lines
            .take_while(|line| line.starts_with("popfib: "))
            .collect();
        assert!(!said.is_empty(), "{place}: the line of the refusal is last");
    }
}

#[test]
fn every_refusal_has_a_test() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut said = Vec::new();
    for file in files(&folder(), "cases") {
        let text = fs::read_to_string(file).expect("UTF-8");
        said.extend(text.lines().map(str::to_owned));
    }
    for tests in [
        "popfib-cli/tests",
        "popfib-daemon/tests",
        "popfib-formats/tests",
    ] {
        for file in files(&crates.join(tests), "rs") {
            let text = fs::read_to_string(file).expect("UTF-8");
            said.extend(literals(&text).map(|literal| literal.text));
        }
    }
    let mut texts = Vec::new();
    for of in [
        "popfib-cli",
        "popfib-daemon",
        "popfib-program",
        "popfib-formats",
    ] {
        for file in files(&crates.join(of).join("src"), "rs") {
            let text = fs::read_to_string(&file).expect("UTF-8");
            let (code, tests) = text
                .split_once("#[cfg(test)]\nmod tests {")
                .unwrap_or((&text, ""));
            said.extend(literals(tests).map(|literal| literal.text));
            let name = file
                .strip_prefix(&crates)
                .expect("below")
                .display()
                .to_string();
            if name.ends_with("tests.rs") {
                said.extend(literals(code).map(|literal| literal.text));
                continue;
            }
            let literals = literals(code).filter(Literal::may_be_said);
            texts
                .extend(literals.map(|literal| (format!("{name}:{}", literal.line), literal.text)));
        }
    }
    let untested = fs::read_to_string(folder().join(UNTESTED)).expect("a list");
    let untested: BTreeSet<&str> = untested
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    // As a command says it that has all options.
    know_options(OF_LIBRARIES.map(|name| name.replace('_', "-")).into());
    let mut missing = Vec::new();
    for (place, text) in &texts {
        let own = with_options(text);
        let is_said = said.iter().any(|line| says(line, text) || says(line, &own));
        if is_said == untested.contains(&text[..]) {
            let but = if is_said { " (has a test)" } else { "" };
            missing.push(format!("{place}: {text}{but}"));
        }
    }
    let gone = |listed: &&&str| texts.iter().all(|(_, text)| text != **listed);
    let gone = untested.iter().filter(gone);
    missing.extend(gone.map(|text| format!("{UNTESTED}: no source has: {text}")));
    assert!(
        missing.is_empty(),
        "a refusal needs a command of {LIST} that provokes it, or a test; another text a line in {UNTESTED}:\n{}",
        missing.join("\n")
    );
}

/// Whether `line` is this text, with something in place of what is in braces; a test may have a part of it.
fn says(line: &str, text: &str) -> bool {
    let mut rest = line;
    let is_it = parts(text).all(|part| {
        let found = rest.split_once(part);
        rest = found.map_or("", |(_, rest)| rest);
        found.is_some()
    });
    is_it || line.trim().contains(' ') && line.len() > 9 && text.contains(line.trim())
}

/// What is outside of braces.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split('{').enumerate();
    let parts = parts.map(|(at, part)| match at {
        0 => part,
        _ => part.split_once('}').map_or("", |(_, part)| part),
    });
    parts.filter(|part| part.trim().len() > 1)
}

/// A text in quotes.
struct Literal {
    line: usize,
    text: String,
    /// What stands before it.
    before: String,
}

impl Literal {
    /// Whether people may get to read it as a sentence: three words, for no programmer.
    fn may_be_said(&self) -> bool {
        const FOR_PROGRAMMERS: [&str; 8] = [
            "expect(",
            "assert!(",
            "assert_eq!(",
            "unreachable!(",
            "panic!(",
            "description: ",
            "name: ",
            "write_str(",
        ];
        let words = parts(&self.text).flat_map(str::split_whitespace);
        let words = words.filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 1);
        // Templates of lists have places for names.
        words.count() >= 3
            && !self.text.contains("%n")
            && !self.text.contains('\n')
            && !self.text.starts_with('#')
            && !FOR_PROGRAMMERS
                .iter()
                .any(|end| self.before.trim_end().ends_with(end.trim_end()))
    }
}

/// The texts in quotes of a source file that are in no comment and no attribute.
fn literals(source: &str) -> impl Iterator<Item = Literal> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '/', '#', 'r']) {
        let here = source.len() - rest.len() + at;
        rest = &rest[at..];
        let before = &source[..here];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("#[") {
            attribute(rest)
        } else if let Some(character) = rest.strip_prefix('\'') {
            // A lifetime has no second quote.
            let escape = usize::from(character.starts_with('\\'));
            let ends = character.char_indices().skip(1 + escape).take(8);
            let mut ends = ends.filter(|&(_, c)| {
                c == '\'' && (escape == 1 || character.chars().nth(1) == Some('\''))
            });
            ends.next().map_or(1, |(end, _)| end + 2)
        } else if let Some(raw) =
            raw(rest).filter(|_| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        {
            raw
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let length = text(quoted);
            let spoken = spoken(&quoted[..length]);
            // What `not(text, what)` and `parsed(text, what)` say.
            let call = before.rsplit(['"', ';', '{']).next().unwrap_or_default();
            let is_denied = call.contains("not(") || call.contains("parsed(");
            let is_denied = is_denied && call.trim_end().ends_with(',');
            found.push(Literal {
                line: before.matches('\n').count() + 1,
                text: match is_denied {
                    true => format!("{{}}: not {spoken}"),
                    false => spoken,
                },
                before: before[before.len().saturating_sub(40)..].to_owned(),
            });
            length + 2
        } else {
            1
        };
        rest = &rest[length..];
    }
    found.into_iter()
}

/// The length of the text up to the quote that ends it.
fn text(rest: &str) -> usize {
    let mut is_escaped = false;
    let end = rest.find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    end.expect("an end of the text")
}

/// The length of a raw text, if one begins here.
fn raw(rest: &str) -> Option<usize> {
    let hashes = rest.strip_prefix('r')?;
    let count = hashes.len() - hashes.trim_start_matches('#').len();
    let text = hashes[count..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(count));
    Some(2 + count + text.find(&end)? + end.len())
}

/// The length of an attribute, which may have brackets in texts.
fn attribute(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while let Some(next) = rest[at..].find(['[', ']', '"']) {
        at += next;
        match rest.as_bytes()[at] {
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => at += 1 + text(&rest[at + 1..]),
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// A text as the compiler reads it, in one line.
fn spoken(text: &str) -> String {
    let mut lines = text.split("\\\n").map(str::trim_start);
    let first = lines.next().unwrap_or_default().to_owned();
    let joined = lines.fold(first, |joined, line| joined + line);
    joined
        .replace("\\\"", "\"")
        .replace("\\n", " ")
        .replace("\\t", "\t")
        .replace("\\\\", "\\")
        .trim()
        .to_owned()
}

/// All files below `folder` whose names end like this.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|end| end == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}
