//! Small inputs after public bug reports, with the right answers: those of `popfib-cli/tests/reports` that are the daemon's.

use std::fs;
use std::path::Path;

use crate::common::cases::{answer, cases, check};
use crate::common::directory;

#[test]
fn reports_are_answered_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../popfib-cli/tests/reports");
    let copy = directory("reports");
    for entry in fs::read_dir(&folder).expect("the folder") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), copy.join(entry.file_name())).expect("a copy");
    }
    let lists = ["daemon.cases", "live.cases"].into_iter();
    check(lists.flat_map(|list| cases(&folder, list)), |command| {
        answer(command, &copy)
    });
}
