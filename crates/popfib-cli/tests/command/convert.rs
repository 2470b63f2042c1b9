//! `popfib convert`: every form, to standard output and to files.

use std::fs;
use std::path::PathBuf;

use crate::common::{TABLE, bad, directory, file, good, run, run_with, stderr, stdout};
use serde_json::Value;

fn names(directory: &PathBuf) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

const TEXT: &str = "\
10.0.0.0/8 east
10.1.0.0/16 192.0.2.1
10.1.2.3/32 64500
2001:db8::/32 east
2001:db8:0:1::/64 west
";

#[test]
fn text_is_the_default() {
    let table = file("convert-text", TABLE);
    for args in [&[][..], &["--to", "text"], &["-o", "-"]] {
        let output = run(&[&["convert", "--table", &table], args].concat());
        assert_eq!(good(&output), TEXT);
    }
    let output = run_with(&["convert", "--table", "-"], TABLE.as_bytes());
    assert_eq!(good(&output), TEXT);
}

#[test]
fn json_lines_and_csv() {
    let table = file("convert-forms", TABLE);
    for form in ["json-lines", "jsonl"] {
        let output = run(&["convert", "--table", &table, "--to", form]);
        let lines: Vec<Value> = good(&output)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let text: Vec<_> = lines
            .iter()
            .map(|line| {
                assert_eq!(crate::common::keys(line), ["next_hop", "prefix"]);
                let field = |key: &str| line[key].as_str().unwrap();
                format!("{} {}\n", field("prefix"), field("next_hop"))
            })
            .collect();
        assert_eq!(text.concat(), TEXT);
    }
    let output = run(&["convert", "--table", &table, "--to", "csv"]);
    let csv = format!("prefix,next_hop\n{}", TEXT.replace(' ', ","));
    assert_eq!(good(&output), csv);
}

#[test]
fn pfx2as_takes_as_numbers_only() {
    let table = file("convert-origins", "10.1.0.0/16 64500\n::/0 64500_64501\n");
    let output = run(&["convert", "--table", &table, "--to", "pfx2as"]);
    assert_eq!(good(&output), "10.1.0.0\t16\t64500\n::\t0\t64500_64501\n");

    let table = file("convert-names", TABLE);
    let output = run(&["convert", "--table", &table, "--to", "pfx2as"]);
    let wanted = format!("{table}: 10.0.0.0/8 \"east\": not an AS number");
    assert_eq!(bad(&output), wanted);
}

#[test]
fn files_take_the_old_ones_place_once_complete() {
    let directory = directory("convert-files");
    let table = file("convert-files-table", TABLE);
    for name in ["t.txt", "t.txt.gz", "t.bz2", "t.zst"] {
        let path = directory.join(name);
        fs::write(&path, "old").unwrap();
        let path = path.to_str().unwrap();
        let output = run(&["convert", "--table", &table, "-o", path]);
        assert_eq!(good(&output), "");
        let output = run(&["convert", "--table", path]);
        assert_eq!(good(&output), TEXT, "{name}");
    }
    // A table may be replaced by its own conversion.
    let own = directory.join("t.txt");
    let own = own.to_str().unwrap();
    assert_eq!(good(&run(&["convert", "--table", own, "-o", own])), "");
    assert_eq!(fs::read_to_string(own).unwrap(), TEXT);
    assert_eq!(names(&directory), ["t.bz2", "t.txt", "t.txt.gz", "t.zst"]);
}

#[test]
fn a_failure_leaves_the_old_file_alone() {
    let directory = directory("convert-failures");
    let path = directory.join("t.txt");
    fs::write(&path, "old").unwrap();
    let path = path.to_str().unwrap();
    let names_only = file("convert-failures-names", TABLE);
    let broken = file("convert-failures-broken", "10.0.0.0/8 a\nnonsense b\n");
    let args = ["convert", "--to", "pfx2as", "-o", path, "--table"];
    let output = run(&[&args[..], &[&names_only]].concat());
    assert!(bad(&output).ends_with("not an AS number"));
    let output = run(&[&args[..], &[&broken]].concat());
    assert!(bad(&output).starts_with(&format!("{broken}:2: ")));
    assert_eq!(fs::read_to_string(path).unwrap(), "old");
    assert_eq!(names(&directory), ["t.txt"]);
}

#[test]
fn outputs_that_cannot_be_written() {
    let table = file("convert-unwritable", TABLE);
    let directory = directory("d");
    for path in [directory.to_str().unwrap(), "does/not/exist/t.txt"] {
        // Told before the table is read.
        let output = run(&["convert", "--table", "does/not/exist", "-o", path]);
        assert!(bad(&output).starts_with(&format!("{path}: ")));
        let output = run(&["aggregate", "--table", &table, "-o", path]);
        assert!(bad(&output).starts_with(&format!("{path}: ")));
    }
    assert_eq!(run(&["convert", "--to", "xml"]).status.code(), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_the_file() {
    let table = file("convert-full", TABLE);
    let output = run(&["convert", "--table", &table, "-o", "/dev/full"]);
    assert!(bad(&output).starts_with("/dev/full: "));
    let output = run(&["aggregate", "--table", &table, "-o", "/dev/full"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("popfib: /dev/full: "));
    assert_eq!(stdout(&output), "");
}

#[test]
fn the_built_in_table_in_every_form() {
    let pfx2as = run(&["convert", "--to", "pfx2as"]);
    assert!(good(&pfx2as).starts_with("1.0.0.0\t24\t13335\n"));
    assert_eq!(good(&pfx2as).lines().count(), 901_899 + 160_147);
    let text = run(&["convert"]);
    let lines = good(&text).lines().zip(good(&pfx2as).lines());
    for (text, pfx2as) in lines {
        let fields: Vec<_> = pfx2as.split('\t').collect();
        assert_eq!(text, format!("{}/{} {}", fields[0], fields[1], fields[2]));
    }
}

#[test]
fn csv_is_read_back() {
    // What needs quotes, and what might be taken for something else.
    let names = [
        "east",
        "a, b",
        "a;b",
        "a \"quoted\" name",
        "Not routed",
        "0",
        "10.0.0.0/8",
        "#1",
        "prefix",
        "\u{fc}ber",
        "-",
        "null",
    ];
    let lines: String = (0..)
        .zip(names)
        .map(|(n, name)| {
            let prefix = format!("10.{n}.0.0/16");
            serde_json::json!({"prefix": prefix, "next_hop": name}).to_string() + "\n"
        })
        .collect();
    let given = file("convert-names", lines);
    let directory = directory("convert-csv");
    let csv = directory.join("routes.csv.gz");
    let csv = csv.to_str().unwrap();
    let jsonl = |table: &str| {
        let output = run(&["convert", "--table", table, "--to", "jsonl"]);
        good(&output).to_owned()
    };
    for table in [&given, &file("convert-csv-table", TABLE)] {
        good(&run(&[
            "convert", "--table", table, "--to", "csv", "-o", csv,
        ]));
        assert_eq!(jsonl(csv), jsonl(table));
    }
    // Each malformed line is reported with file, line and reason.
    for (line, reason) in [
        ("10.0.0.0/33,a", "length"),
        ("10.0.0.1/8,a", "host bits"),
        ("10.0.0.0/8", "fewer fields"),
        ("10.0.0.0/8,\"a", "quote"),
        (",a", "field 1 is missing"),
        ("10.0.0.0/8,a\u{7}", "control character"),
    ] {
        let table = file(
            "convert-bad.csv",
            format!("prefix,next_hop\n10.0.0.0/8,a\n{line}\n"),
        );
        let output = run(&["convert", "--table", &table]);
        let error = bad(&output);
        assert!(
            error.starts_with(&format!("{table}:3: ")),
            "{line}: {error}"
        );
        assert!(error.contains(reason), "{line}: {error}");
    }
}

#[test]
fn values_are_chosen_by_path() {
    let table = file(
        "convert-values.csv",
        "network,asn,country\n10.0.0.0/8,64500,AA\n",
    );
    let with = |column| run(&["convert", "--table", &table, "--columns", column]);
    assert_eq!(good(&with("country")), "10.0.0.0/8 AA\n");
    assert_eq!(good(&with("2")), "10.0.0.0/8 64500\n");
    assert!(bad(&with("city")).starts_with(&format!("{table}:1: no column \"city\"")));
    let output = run(&["convert", "--columns", "country"]);
    assert!(bad(&output).contains("no column \"country\" in \"asn\", \"as_name\""));
}

/// mmdblookup, the program of libmaxminddb, finds what popfib finds.
#[test]
fn databases_are_read_by_libmaxminddb() {
    use std::process::Command;

    let routes = "10.0.0.0/8 64500\n10.1.0.0/16 64501\n192.0.2.1 64502\n2001:db8::/32 64503\n";
    let table = file("convert-mmdb.txt", routes);
    let database = file("convert.mmdb", "");
    good(&run(&[
        "convert", "--table", &table, "--to", "mmdb", "-o", &database,
    ]));
    if Command::new("mmdblookup")
        .arg("--version")
        .output()
        .is_err()
    {
        println!("skipped: databases_are_read_by_libmaxminddb: mmdblookup is not installed");
        return;
    }
    for (address, expected) in [
        ("10.2.3.4", Some("64500")),
        ("10.1.2.3", Some("64501")),
        ("192.0.2.1", Some("64502")),
        ("192.0.2.2", None),
        ("2001:db8:1::", Some("64503")),
        ("2001:db9::", None),
    ] {
        let args = [
            "--file",
            &database,
            "--ip",
            address,
            "autonomous_system_number",
        ];
        let output = Command::new("mmdblookup")
            .args(args)
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let found = text.split_whitespace().next();
        assert_eq!(found, expected, "{address}: {text}");
    }
    let verbose = Command::new("mmdblookup")
        .args(["--verbose", "--file", &database, "--ip", "10.0.0.1"])
        .output()
        .expect("it runs");
    let text = String::from_utf8(verbose.stdout).expect("UTF-8");
    assert!(
        text.contains("popfib-ASN") && text.contains("2.0"),
        "{text}"
    );
}
