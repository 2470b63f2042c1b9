//! Reports on tables so small that a run takes no time: their structure, the
//! data behind figures, and what happens to a run that is repeated.

use std::fs;
use std::path::Path;
use std::time::Duration;

use popfib::family::ByFamily;
use popfib::{NextHop, Prefix};
use popfib_eval::{Counter, Counters, Event, Trace};
use popfib_formats::RouteTable;
use popfib_report::{
    Effort, Machine, NamedTrace, NamedUpdates, Plan, ReportError, Table, Watcher, evaluate,
};
use serde_json::Value;

/// Counts what is measured.
#[derive(Default)]
struct Seen {
    parts: usize,
    reused: usize,
    begun: Vec<String>,
    notes: Vec<String>,
}

impl Watcher for Seen {
    fn planned(&mut self, parts: usize, reused: usize, _: Duration) {
        (self.parts, self.reused) = (parts, reused);
    }

    fn begins(&mut self, title: &str, _: Duration) {
        self.begun.push(title.to_owned());
    }

    fn note(&mut self, line: &str) {
        self.notes.push(line.to_owned());
    }
}

/// A table with routes of both families, nested.
fn table(name: &str, routes: u32) -> Table {
    let mut table = RouteTable::default();
    for i in 0..routes {
        let next_hop = NextHop::new(i % 7 + 1).unwrap();
        let len = [8, 12, 16, 20, 24, 28][i as usize % 6];
        let bits = i.wrapping_mul(0x9e37_79b9) & (u32::MAX << (32 - len));
        table
            .ribs
            .ipv4
            .insert(Prefix::new(bits, len).unwrap(), next_hop);
        let len = [32, 40, 48][i as usize % 3];
        let bits = (0x2001u128 << 112 | u128::from(i.wrapping_mul(0x9e37_79b9)) << 80)
            & (u128::MAX << (128 - len));
        table
            .ribs
            .ipv6
            .insert(Prefix::new(bits, len).unwrap(), next_hop);
    }
    Table {
        name: name.into(),
        routes: table,
    }
}

fn plan(tables: Vec<Table>) -> Plan {
    let prefix: Prefix<u32> = "198.51.100.0/24".parse().unwrap();
    Plan {
        tables,
        traces: vec![NamedTrace {
            name: "v4 only".into(),
            trace: Trace {
                addresses: ByFamily {
                    ipv4: vec![0x0a00_0001; 3],
                    ipv6: Vec::new(),
                },
                excluded: 2,
            },
        }],
        updates: vec![NamedUpdates {
            name: "two".into(),
            ipv4: vec![(prefix, Some(NextHop::MIN)), (prefix, None)],
            ipv6: Vec::new(),
        }],
        effort: Effort::tiny(),
    }
}

fn run(plan: &Plan, output: &Path) -> Seen {
    let mut seen = Seen::default();
    let page = evaluate(plan, output, &mut seen).unwrap();
    assert_eq!(page, output.join("report.html"));
    seen
}

fn results(output: &Path) -> Value {
    serde_json::from_slice(&fs::read(output.join("results.json")).unwrap()).unwrap()
}

/// What the parts of one experiment found.
fn found<'a>(results: &'a Value, experiment: &str) -> Vec<&'a Value> {
    let parts = results["parts"].as_array().unwrap();
    parts
        .iter()
        .filter(|part| part["outcome"]["experiment"] == experiment)
        .map(|part| &part["outcome"]["found"])
        .collect()
}

/// Names of the files in a directory, sorted.
fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Headings, tables with their columns and the names of their rows, and figures: all that does
/// not change from run to run or from machine to machine.
fn outline(output: &Path) -> String {
    let page = fs::read_to_string(output.join("report.html")).unwrap();
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let page = roxmltree::Document::parse_with_options(&page, options).unwrap();
    let kernel = Machine::this().kernel;
    let mut lines = Vec::new();
    let text = |node: roxmltree::Node<'_, '_>| {
        let parts: String = node
            .descendants()
            .filter(|node| node.is_text())
            .map(|node| node.text().unwrap_or(""))
            .collect();
        parts.replace(&format!(" ({kernel})"), " (KERNEL)")
    };
    for node in page.descendants().filter(roxmltree::Node::is_element) {
        match (node.tag_name().name(), node.attribute("class")) {
            ("h2", _) => lines.push(format!("## {}", text(node))),
            ("figure", Some("picture")) => {
                lines.push(format!("figure {}", node.attribute("id").unwrap()));
            }
            ("figure", Some("sheet")) => {
                let id = node.attribute("id").unwrap();
                let rows = || {
                    node.descendants()
                        .filter(|node| node.has_tag_name("tr"))
                        .skip(1)
                };
                let columns: Vec<String> = node
                    .descendants()
                    .filter(|node| node.has_tag_name("th"))
                    .map(text)
                    .collect();
                // Whether it is there depends on the machine or on figures.
                if ["counters", "not-ahead"]
                    .iter()
                    .any(|what| id.starts_with(what))
                {
                    continue;
                }
                lines.push(format!("table {id}: {}", columns.join(" | ")));
                // Which exist depends on the number of cores, on luck, or on figures.
                if ["fig8", "fig11", "heat", "ratios"]
                    .iter()
                    .any(|what| id.starts_with(what))
                {
                    continue;
                }
                let names: Vec<String> = rows()
                    .map(|row| text(row.first_element_child().unwrap()))
                    .collect();
                lines.push(format!("  {}", names.join("; ")));
            }
            _ => {}
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_report_is_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let seen = run(
        &plan(vec![table("one", 120), table("two & <more>", 30)]),
        folder.path(),
    );
    assert_eq!(seen.begun.len(), seen.parts);
    assert_eq!(
        seen.notes,
        [
            "trace v4 only: no IPv6 address",
            "trace v4 only: 2 packets left out by source"
        ]
    );
    let outline = outline(folder.path());
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/report.txt");
    if std::env::var_os("POPFIB_UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &outline).unwrap();
    }
    // Where single lookups cannot be timed, and where there is one core, parts are missing.
    if Counter::new().is_ok() && Machine::this().cores > 1 {
        assert_eq!(outline, fs::read_to_string(&golden).unwrap());
    }
    // Everything that the page leads to is there, and nothing is asked of the network.
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    // Hardware counters have a table each, or a note why there are none.
    let has_counters = Counters::new(&Event::HARDWARE).is_ok();
    assert_eq!(page.contains("id=\"counters-ipv4-1\""), has_counters);
    assert_eq!(
        page.contains("Left out: cycles, instructions"),
        !has_counters
    );
    assert!(!page.contains("src=") && !page.contains("@import"));
    for link in page
        .split("href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
    {
        match link.strip_prefix('#') {
            Some(id) => assert!(page.contains(&format!("id=\"{id}\"")), "{link}"),
            None => assert!(folder.path().join(link).is_file(), "{link}"),
        }
    }
    for name in files(&folder.path().join("figures")) {
        let bytes = fs::read(folder.path().join("figures").join(&name)).unwrap();
        let starts: &[u8] = if name.ends_with(".png") {
            b"\x89PNG"
        } else {
            b"<svg"
        };
        assert!(bytes.starts_with(starts), "{name}");
    }
}

#[test]
fn figures_have_the_data_that_they_must() {
    let folder = tempfile::tempdir().unwrap();
    run(&plan(vec![table("one", 120)]), folder.path());
    let results = results(folder.path());
    let heat = found(&results, "heat");
    let total: u64 = heat[0]["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell[2].as_u64().unwrap())
        .sum();
    assert_eq!(total, 1 << 32);
    for cycles in found(&results, "cycles") {
        if cycles["unavailable"].is_string() {
            continue;
        }
        for row in cycles["rows"].as_array().unwrap() {
            if row["cannot_build"].is_string() {
                continue;
            }
            let cdf = row["found"]["cdf"].as_array().unwrap();
            assert_eq!(cdf.last().unwrap()[1], 1.0, "{row}");
            assert!(cdf.is_sorted_by_key(|point| (point[1].as_f64(), point[0].as_u64())));
        }
    }
    let contests = found(&results, "contest");
    assert_eq!(contests.len(), 2);
    for (contest, width) in contests.iter().zip([32, 128]) {
        for row in contest["rows"].as_array().unwrap() {
            let is_for_ipv4 =
                ["DIR-24-8", "SAIL", "D18R (modified)"].contains(&row["name"].as_str().unwrap());
            if width == 128 && is_for_ipv4 {
                // A structure that cannot be built has a row that says why; the rest goes on.
                let reason = row["cannot_build"].as_str().unwrap();
                assert!(reason.contains("IPv4 only"), "{reason}");
                assert_eq!(row["found"], Value::Null);
                continue;
            }
            let row = &row["found"];
            assert_eq!(row["mismatches"], 0, "{row}");
            assert!(row["verified"].as_u64().unwrap() > 120, "{row}");
            for rates in row["rates"].as_object().unwrap().values() {
                let rates = rates.as_array().unwrap();
                assert_eq!(rates.len(), 2);
                assert!(rates.iter().all(|rate| rate.as_f64().unwrap() > 0.0));
            }
        }
    }
    let table3 =
        fs::read_to_string(folder.path().join("tables/table3-structures-ipv6-1.csv")).unwrap();
    assert!(
        table3.contains("DIR-24-8,cannot build: keys have 128 bits"),
        "{table3}"
    );
    let updates = found(&results, "updates");
    assert_eq!(updates[0][0]["name"], "two");
    assert!(
        updates
            .iter()
            .flat_map(|found| found.as_array().unwrap())
            .all(|stream| stream["mismatches"] == 0)
    );
}

#[test]
fn a_second_run_measures_what_is_missing_only() {
    let folder = tempfile::tempdir().unwrap();
    let first = run(&plan(vec![table("one", 60)]), folder.path());
    assert_eq!((first.reused, first.begun.len()), (0, first.parts));
    let before = results(folder.path());
    let again = run(&plan(vec![table("one", 60)]), folder.path());
    assert_eq!((again.reused, again.begun.len()), (again.parts, 0));
    assert_eq!(results(folder.path()), before);
    // As if it had been interrupted in the middle of a part.
    let lost = folder.path().join("units/forms-ipv4-0.json");
    fs::remove_file(&lost).unwrap();
    fs::write(lost.with_file_name(".popfib-1-0.tmp"), "{\"key\":").unwrap();
    let resumed = run(&plan(vec![table("one", 60)]), folder.path());
    assert_eq!(resumed.begun.len(), 1, "{:?}", resumed.begun);
    assert!(resumed.begun[0].contains("IPv4: what leafvec"));
    assert!(
        !files(&folder.path().join("units"))
            .iter()
            .any(|name| name.starts_with(".popfib-"))
    );
    // Another table is another run, a second table is one in addition.
    let more = run(
        &plan(vec![table("one", 60), table("two", 61)]),
        folder.path(),
    );
    assert_eq!((more.reused, more.begun.len()), (first.parts, 2));
    let other = run(&plan(vec![table("one", 62)]), folder.path());
    assert_eq!(other.reused, 0);
    // Another effort, too.
    let mut longer = plan(vec![table("one", 62)]);
    longer.effort.runs = 3;
    assert_eq!(run(&longer, folder.path()).reused, 0);
}

#[test]
fn a_table_with_one_route() {
    let folder = tempfile::tempdir().unwrap();
    let mut routes = RouteTable::default();
    routes
        .ribs
        .ipv4
        .insert("192.0.2.0/24".parse().unwrap(), NextHop::MIN);
    let table = Table {
        name: "one route".into(),
        routes,
    };
    let plan = Plan {
        tables: vec![table],
        traces: Vec::new(),
        updates: Vec::new(),
        effort: Effort::tiny(),
    };
    run(&plan, folder.path());
    let results = results(folder.path());
    for row in found(&results, "contest")[0]["rows"].as_array().unwrap() {
        assert_eq!(
            (&row["cannot_build"], &row["found"]["mismatches"]),
            (&Value::Null, &Value::from(0)),
            "{row}"
        );
    }
    assert_eq!(
        found(&results, "contest").len(),
        1,
        "there is no IPv6 route"
    );
}

#[test]
fn a_run_out_of_time_says_what_it_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut hurried = plan(vec![table("one", 60)]);
    hurried.effort.budget = Some(Duration::ZERO);
    let seen = run(&hurried, folder.path());
    assert!(seen.begun.is_empty());
    let told = seen
        .notes
        .iter()
        .filter(|note| note.starts_with("left out, for time: "))
        .count();
    assert_eq!(told, seen.parts);
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert_eq!(page.matches("left out, for time").count(), seen.parts);
}

#[test]
fn what_cannot_be_written_is_told_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let mut seen = Seen::default();
    let error = evaluate(&plan(vec![table("one", 5)]), &file, &mut seen).unwrap_err();
    assert!(matches!(error, ReportError::Output { .. }));
    assert!(
        error.to_string().starts_with(&file.display().to_string()),
        "{error}"
    );
    assert!(seen.begun.is_empty(), "nothing is measured for nothing");
    let none = Plan {
        tables: Vec::new(),
        ..plan(Vec::new())
    };
    let error = evaluate(&none, folder.path(), &mut seen).unwrap_err();
    assert!(matches!(error, ReportError::Nothing), "{error}");
}
