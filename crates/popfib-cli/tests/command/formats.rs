//! `popfib formats`, and `--format` beside `--table`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{TABLE, bad, directory, file, good, popfib, run, stderr};
use crate::reports::folder;

#[test]
fn formats_are_listed() {
    let output = run(&["formats"]);
    for line in [
        "table      text            text, one route a line: PREFIX NEXTHOP",
        "updates    text            text, one update a line: A PREFIX NEXTHOP, W PREFIX",
        "addresses  text            lines of text that hold addresses: logs, lists",
    ] {
        assert!(good(&output).lines().any(|l| l == line), "{line}");
    }
    // What `--input-format` takes is all there.
    let refused = run(&["annotate", "--input-format", "no-such"]);
    let names = crate::common::stderr(&refused)
        .split_once("possible values: ")
        .unwrap()
        .1;
    for name in names.split_once(']').unwrap().0.split(", ") {
        let line = format!("addresses  {name:<16}");
        assert!(good(&output).contains(&line), "{name}");
    }
    let output = run(&["formats", "--json"]);
    let line =
        r#"{"reads":"table","name":"text","description":"text, one route a line: PREFIX NEXTHOP"}"#;
    assert!(good(&output).lines().any(|l| l == line));
}

#[test]
fn a_format_can_be_named() {
    let table = file("formats-named", TABLE);
    let args = ["lookup", "10.1.2.3", "--table", &table, "--format"];
    let output = run(&[&args[..], &["text"]].concat());
    assert_eq!(good(&output), "10.1.2.3\t10.1.2.3/32\t64500\n");
    let output = run(&[&args[..], &["nonsense"]].concat());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no such format; there are: text"));
    assert_eq!(output.status.code(), Some(2));
    // Without a table there is nothing to be in a format.
    let output = run(&["lookup", "10.1.2.3", "--format", "text"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_cut_file_is_kept_only_if_asked_for() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writeln!(encoder, "10.0.0.0/8 a").unwrap();
    encoder.flush().unwrap();
    let table = file("formats-cut.gz", encoder.get_ref());
    let output = run(&["lookup", "10.1.2.3", "--table", &table]);
    assert!(bad(&output).contains("the gzip data is cut off after"));
    let output = run(&["lookup", "10.1.2.3", "--table", &table, "--skip-invalid"]);
    assert_eq!(output.stdout, b"10.1.2.3\t10.0.0.0/8\ta\n");
    let said = crate::common::stderr(&output);
    // Named once, as in every note.
    let wanted =
        format!("popfib: {table}: truncated, read up to the end: line 2: the gzip data is cut");
    assert!(said.starts_with(&wanted), "{said}");
}

#[test]
fn compressed_data_has_a_limit() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&b"10.0.0.0/8 a\n".repeat(1000)).unwrap();
    let table = file("formats-limit.gz", encoder.finish().unwrap());
    let args = ["lookup", "10.1.2.3", "--table", &table, "--max-size"];
    assert_eq!(
        run(&[&args[..], &["13000"]].concat()).status.code(),
        Some(0)
    );
    let output = run(&[&args[..], &["12999"]].concat());
    assert!(bad(&output).contains("more than 12999 bytes"));
}

/// Two peers with a route to one prefix each, and one to the same.
const DUMP: &str = "\
TABLE_DUMP2|1|B|192.0.2.1|64501|10.0.0.0/8|64501 7|IGP|192.0.2.11|0|0||NAG||
TABLE_DUMP2|1|B|192.0.2.2|64502|10.0.0.0/8|64502 3 8|IGP|192.0.2.12|0|0||NAG||
TABLE_DUMP2|1|B|192.0.2.2|64502|2001:db8::/32|64502 9|IGP|2001:db8::1|0|0||NAG||
";

#[test]
fn peers_are_listed_and_chosen() {
    let dump = file("formats-peers", DUMP);
    let output = run(&["peers", "--table", &dump]);
    let wanted = "0\t192.0.2.1\tAS64501\t1\t0\n1\t192.0.2.2\tAS64502\t1\t1\n";
    assert_eq!(good(&output), wanted);
    let output = run(&["peers", "--table", &dump, "--json"]);
    let line = r#"{"index":0,"address":"192.0.2.1","as":64501,"ipv4_routes":1,"ipv6_routes":0}"#;
    assert_eq!(good(&output).lines().next(), Some(line));

    let lookup = |options: &[&str]| {
        let args = ["lookup", "10.1.2.3", "--table", &dump];
        let output = run(&[&args[..], options].concat());
        let answer = good(&output).strip_prefix("10.1.2.3\t10.0.0.0/8\t");
        answer.expect("an answer").trim_end().to_owned()
    };
    assert_eq!(lookup(&[]), "192.0.2.11");
    assert_eq!(lookup(&["--peer", "AS64502"]), "192.0.2.12");
    assert_eq!(lookup(&["--peer", "1", "--value", "origin-as"]), "8");
    assert_eq!(lookup(&["--value", "peer"]), "192.0.2.1");

    // Whose routes they are does not depend on their next hops.
    let bare = file("formats-peers-bare", DUMP.replace("192.0.2.12", ""));
    assert_eq!(good(&run(&["peers", "--table", &bare])), wanted);

    // A table that has no peers is not the table of the one that is asked for.
    let table = file("formats-no-peers", TABLE);
    let output = run(&["lookup", "10.1.2.3", "--table", &table, "--peer", "9"]);
    assert_eq!(bad(&output), format!("{table}: text has no peers"));
    let output = run(&["lookup", "10.1.2.3", "--table", &dump, "--peer", "9"]);
    assert!(bad(&output).ends_with(": there is no route in it from peer 9"));
    let output = run(&["lookup", "10.1.2.3", "--table", &dump, "--value", "colour"]);
    assert_eq!(output.status.code(), Some(2));
    let table = file("formats-no-peers", TABLE);
    let output = run(&["peers", "--table", &table]);
    assert_eq!(bad(&output), format!("{table}: text has no peers"));
}

/// The rows of docs/data.md say where to get what, in which format, and what reads it.
#[test]
fn the_page_of_sources_names_formats_and_commands_that_are_there() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data.md");
    let page = fs::read_to_string(page).expect("the page");
    let samples = fs::read_to_string(folder().join("data.cases")).expect("the samples");
    let samples = samples.lines().filter_map(|line| line.strip_prefix("# "));
    let samples: BTreeSet<&str> = samples.flat_map(|line| line.split(", ")).collect();
    let formats = run(&["formats"]);
    let formats = good(&formats).lines();
    let formats: BTreeSet<&str> = formats
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    let elsewhere = directory("data");
    let quoted = |cell: &str| -> Vec<String> {
        let parts = cell.split('`').skip(1).step_by(2);
        parts.map(str::to_owned).collect()
    };
    let mut sources = 0;
    for row in page.lines().filter_map(|line| line.strip_prefix("| ")) {
        let cells: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
        let &[source, _, format, _, command] = &cells[..] else {
            panic!("{row}");
        };
        if source == "source" {
            continue;
        }
        sources += 1;
        assert!(
            samples.contains(source),
            "{source}: no sample in data.cases"
        );
        for format in quoted(format) {
            assert!(
                formats.contains(&format[..]),
                "{source}: no format {format}"
            );
        }
        // With no file there, all that can be said of a command is that it is right.
        for command in quoted(command) {
            let args: Vec<&str> = command.split(' ').skip(1).collect();
            let output = popfib(&args).current_dir(&elsewhere).output();
            let output = output.expect("the command runs");
            assert!(
                bad(&output).contains(": cannot open: "),
                "{command}: {}",
                stderr(&output)
            );
        }
    }
    assert!(sources > 25, "{sources}");
}
