//! What holds for the help of each command.

use clap::{Args, Command, CommandFactory};

use crate::args::FileArgs;
use crate::destination::DestinationArgs;
use crate::stream::InputArgs;
use crate::stream::table_column::TableChoice;
use crate::stream::tables::TablesArgs;
use crate::{Cli, help};

fn walk(command: &Command, visit: &mut impl FnMut(&Command)) {
    visit(command);
    command
        .get_subcommands()
        .for_each(|below| walk(below, visit));
}

/// A string that begins with a backslash at the end of its line loses the blanks of the next one.
#[test]
fn all_examples_are_indented() {
    walk(&help::arrange(Cli::command()), &mut |command| {
        let help = command.get_after_long_help().unwrap().to_string();
        let first = help.lines().find(|line| line.starts_with("popfib "));
        assert_eq!(first, None, "{}", command.get_name());
    });
}

/// A heading goes on to the options that are declared after the shared ones.
#[test]
fn no_command_has_its_own_options_under_a_shared_heading() {
    let shared = Command::new("shared");
    let shared = DestinationArgs::augment_args(FileArgs::augment_args(shared));
    let shared = [
        shared,
        TablesArgs::augment_args(InputArgs::augment_args(Command::new(""))),
        TableChoice::augment_args(Command::new("")),
    ];
    let shared: Vec<_> = shared.iter().flat_map(Command::get_arguments).collect();
    walk(&Cli::command(), &mut |command| {
        for arg in command.get_arguments() {
            assert!(
                arg.get_help_heading().is_none()
                    || shared.iter().any(|of| of.get_id() == arg.get_id()),
                "{}: {arg} is under the heading of shared options: it has to stand before `#[command(flatten)]`",
                command.get_name()
            );
        }
    });
}

/// A terminal would break longer ones anywhere.
#[test]
fn lines_after_the_options_are_of_eighty_columns() {
    walk(&Cli::command(), &mut |command| {
        let texts = command
            .get_after_help()
            .into_iter()
            .chain(command.get_after_long_help());
        for text in texts.map(ToString::to_string) {
            let wide = text.lines().find(|line| line.len() > 80);
            assert_eq!(wide, None, "{}", command.get_name());
        }
    });
}

/// What `-h` prints is read on one screen; the rest has `--help`.
#[test]
fn short_helps_are_of_forty_lines() {
    walk(&help::arrange(Cli::command()), &mut |command| {
        let lines = command.clone().render_help().to_string().lines().count();
        assert!(lines <= 40, "{}: {lines} lines", command.get_name());
    });
}
