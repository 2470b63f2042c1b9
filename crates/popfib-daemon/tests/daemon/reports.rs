//! Small inputs after public bug reports, with the right answers: those of `popfib-cli/tests/reports` that are the daemon's; and the
//! metrics that alerts and the dashboard name.

use std::collections::BTreeSet;
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

#[test]
fn alerts_and_the_dashboard_name_metrics_that_there_are() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |name: &str| fs::read_to_string(crate_folder.join(name)).expect("a file");
    let metrics = text("src/metrics.rs");
    let is_of_name = |c: char| c.is_ascii_lowercase() || c == '_';
    for (watcher, at_least) in [
        ("../../packaging/prometheus/popfibd.rules.yml", 8),
        ("../../packaging/grafana/popfibd.json", 15),
    ] {
        let watched = text(watcher);
        let names: BTreeSet<&str> = watched
            .split("popfib_")
            .skip(1)
            .map(|rest| &rest[..rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())])
            .collect();
        assert!(names.len() >= at_least, "{watcher}: {names:?}");
        for name in names {
            assert!(
                metrics.contains(&format!("\"{name}\"")),
                "{watcher}: {name}"
            );
        }
    }
}
