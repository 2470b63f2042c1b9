//! `popfib-lab many`: a line for each contender, on rounds too short to mean anything. The command compares the answers itself.

use crate::common::{TABLE, bad, file, good, run, stderr};

#[test]
fn a_line_for_each_contender_of_both_families() {
    let table = file("many", TABLE);
    for family in ["ipv4", "ipv6"] {
        let args = [
            "--tables", "3", "--routes", "2", "--count", "600", "--rounds", "1",
        ];
        let args = [&["many", "--table", &table, "--family", family][..], &args].concat();
        let output = run(&args);
        let lines: Vec<&str> = good(&output).lines().collect();
        let starting = |word| lines.iter().filter(|line| line.starts_with(word)).count();
        assert_eq!(
            (starting("whole"), starting("all"), starting("a copy")),
            (4, 4, 4)
        );
        assert!(lines.iter().any(|line| line.starts_with("4 tables, ")));
        let output = run(&[&args[..], &["--without-whole"]].concat());
        assert!(good(&output).contains("\n3 tables, "));
    }
}

#[test]
fn a_family_without_routes_is_an_error() {
    let table = file("many-empty", "10.0.0.0/8 1\n");
    let output = run(&["many", "--table", &table, "--family", "ipv6"]);
    bad(&output);
    assert!(stderr(&output).contains("no routes"));
}
