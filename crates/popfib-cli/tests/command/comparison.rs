//! The comparison of all doors, by the command.

use crate::common::comparison::{check, versions};
use crate::common::{path, run, run_with, stdout};

#[test]
fn the_table_of_all_doors() {
    let versions = versions("comparison");
    for version in &versions {
        let asked = version.asked();
        let mut tables = vec![&version.image];
        if version.options.is_empty() {
            tables.push(&version.file);
        }
        for table in tables {
            for command in ["lookup", "annotate"] {
                let args = [command, "--table", table, "--columns", "*"];
                version.check(stdout(&run_with(&args, asked.as_bytes())));
            }
        }
    }
    // Both in one: the columns of each, with the length of its prefix, beside the longer of both prefixes.
    let [first, second] = &versions;
    let joined = path("comparison-joined.fib");
    let [a, b] = [("a", first), ("b", second)].map(|(name, of)| format!("{name}={}", of.image));
    let made = run(&["join", "-o", &joined, "--prefixes", &a, &b]);
    assert!(made.status.success());
    let args = ["lookup", "--table", &joined, "--columns", "*"];
    let rows = first.questions.iter().zip(&second.questions);
    let rows = rows.map(|((address, first), (_, second))| {
        let [first, second] = [first, second].map(|row| row.split_once('\t').unwrap());
        let [one, two] = [first, second]
            .map(|(prefix, _)| prefix.split_once('/').map_or("-", |(_, length)| length));
        let number = |length: &str| length.parse::<i16>().unwrap_or(-1);
        let longer = if number(one) < number(two) {
            second.0
        } else {
            first.0
        };
        let row = format!("{longer}\t{}\t{one}\t{}\t{two}", first.1, second.1);
        (address.clone(), row)
    });
    check(
        stdout(&run_with(&args, first.asked().as_bytes())),
        &rows.collect::<Vec<_>>(),
    );
}
