//! The comparison of all doors: what the programs should print. engines/vectors/comparison.py says what is in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{path, run, stderr};

/// A version of the table, as a file and as an image, and what is asked of it.
pub(crate) struct Version {
    /// Which options of `compile` it is read with.
    pub options: &'static [&'static str],
    pub file: String,
    pub image: String,
    /// Addresses, and the rows for them: prefix and columns.
    pub questions: Vec<(String, String)>,
}

fn folder() -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Command::new("python3")
        .arg(top.join("engines/vectors/generate.py"))
        .status();
    assert!(made.expect("python3").success());
    top.join("target/vectors")
}

pub(crate) fn versions(name: &str) -> [Version; 2] {
    let folder = folder();
    let read = |file| fs::read_to_string(folder.join(file)).unwrap();
    let asked = read("questions.tsv");
    let version = |number: usize, file, rows, options: &'static [&str]| {
        let file = folder.join(file).display().to_string();
        let image = path(&format!("{name}-{number}.fib"));
        let compile = ["compile", &file, "--columns", "*", "-o", &image];
        let compiled = run(&[&compile, options].concat());
        assert!(compiled.status.success(), "{}", stderr(&compiled));
        // An absent value and no match are `-` in rows.
        let rows: Vec<String> = read(rows).lines().map(shown).collect();
        let question = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            let row: usize = fields[number].parse().ok()?;
            let row = rows.get(row.wrapping_sub(1));
            let row = row.map_or("-\t-\t-\t-\t-\t-", |row| row);
            Some((fields[0].to_owned(), row.to_owned()))
        };
        let questions: Vec<_> = asked.lines().filter_map(question).collect();
        assert!(questions.len() > 99_000);
        Version {
            options,
            file,
            image,
            questions,
        }
    };
    [
        version(1, "first.csv", "first.tsv", &[]),
        version(2, "second.jsonl", "second.tsv", &["--mapped"]),
    ]
}

fn shown(row: &str) -> String {
    let fields = row.split('\t');
    let fields = fields.map(|field| if field == "~" { "-" } else { field });
    fields.collect::<Vec<_>>().join("\t")
}

impl Version {
    /// The addresses, one a line.
    pub(crate) fn asked(&self) -> String {
        let lines = self.questions.iter();
        lines.map(|(address, _)| format!("{address}\n")).collect()
    }

    #[track_caller]
    pub(crate) fn check(&self, found: &str) {
        check(found, &self.questions);
    }
}

/// Compares lines of an address and a row; addresses may be spelled in another way.
#[track_caller]
pub(crate) fn check(found: &str, questions: &[(String, String)]) {
    assert_eq!(found.lines().count(), questions.len());
    for (line, (address, row)) in found.lines().zip(questions) {
        let (_, found) = line.split_once('\t').unwrap();
        assert_eq!(found, row, "{address}");
    }
}
