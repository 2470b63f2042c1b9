//! Small files after public bug reports, with the right answers: `tests/reports`, whose README says what a case looks like.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::cases::{answer, cases, check};
use crate::common::directory;

pub(crate) fn folder() -> PathBuf {
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

#[test]
#[cfg(unix)]
fn reports_are_answered_right() {
    let files = files();
    let copy = directory("reports");
    for file in &files {
        fs::copy(folder().join(file), copy.join(file)).expect("a copy");
    }
    let lists = files.iter().filter(|file| file.ends_with(".cases"));
    // Those of the daemon are for its own tests.
    let lists = lists.filter(|file| !["daemon.cases", "live.cases"].contains(&file.as_str()));
    check(lists.flat_map(|file| cases(&folder(), file)), |command| {
        answer(command, &copy)
    });
}

#[test]
fn every_report_has_a_case() {
    let files = files();
    let lists = files.iter().filter(|file| file.ends_with(".cases"));
    let commands: String = lists
        .flat_map(|file| cases(&folder(), file))
        .map(|case| case.command + "\n")
        .collect();
    for file in &files {
        let is_ours = file.ends_with(".cases")
            || ["README.md", "live.sh", "untested.txt"].contains(&file.as_str());
        assert!(
            is_ours || commands.contains(file.as_str()),
            "{file}: in no case"
        );
    }
}
