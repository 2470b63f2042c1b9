//! `popfib formats`, and `--format` beside `--table`.

mod common;

use common::{TABLE, bad, file, good, run};

#[test]
fn formats_are_listed() {
    let output = run(&["formats"]);
    assert!(
        good(&output).contains("table    text            text, one route a line: PREFIX NEXTHOP\n")
    );
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
    let said = common::stderr(&output);
    assert!(
        said.contains("cut off, what comes before was read"),
        "{said}"
    );
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
