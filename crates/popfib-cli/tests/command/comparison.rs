//! The comparison of all doors, by the command.

use crate::common::comparison::versions;
use crate::common::{run_with, stdout};

#[test]
fn the_table_of_all_doors() {
    for version in versions("comparison") {
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
}
