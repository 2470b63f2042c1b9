//! The two helps of each command: `-h` is one screen of what people need, `--help` is all.
//!
//! The first paragraph of an option's comment is its line in `-h`, the others follow in `--help`. A command's own options
//! have no heading, come first and are in `-h` unless they say `hide_short_help = true`. The options that commands
//! share have a heading, come after and are not in `-h` but for a few. `after_help` has the first examples, and
//! `after_long_help` what follows them in `--help`.

use clap::{Arg, Command};

/// The shared options that `-h` shows.
const SHOWN: [&str; 7] = [
    "column", "columns", "output", "path", "table", "tables", "to",
];

/// `command` and those below it with the help of both lengths.
pub fn arrange(command: Command) -> Command {
    let name = command.get_name().to_owned();
    arrange_as(command, &name)
}

/// The same; `name` is that of the command with those above it (`popfib set union`).
fn arrange_as(command: Command, name: &str) -> Command {
    let examples = command.get_after_help().map(ToString::to_string);
    let rest = command.get_after_long_help().map(ToString::to_string);
    let last = format!("All options: {name} --help");
    let short = examples.iter().chain([&last]);
    let short: Vec<&str> = short.map(|text| &text[..]).collect();
    let long: Vec<&str> = examples.iter().chain(&rest).map(|text| &text[..]).collect();
    let (short, long) = (short.join("\n\n"), long.join("\n"));
    let command = command.after_help(short).after_long_help(long);
    let command = command.mut_args(visible);
    command.mut_subcommands(|below| {
        let name = format!("{name} {}", below.get_name());
        arrange_as(below, &name)
    })
}

/// The option, with a line in `-h` or without one.
fn visible(arg: Arg) -> Arg {
    let is_shared = arg.get_help_heading().is_some();
    let hides = is_shared && !SHOWN.contains(&arg.get_id().as_str());
    let arg = match hides {
        true => arg.hide_short_help(true),
        false => arg,
    };
    match (arg.get_help().cloned(), arg.get_long_help()) {
        // Manual pages leave out the short text of an option that `-h` does not show.
        (Some(help), None) if arg.is_hide_short_help_set() => arg.long_help(help),
        _ => arg,
    }
}

/// `--color` with our own help text, which `-h` leaves out.
pub fn color(color: Arg) -> Arg {
    color.hide_short_help(true).help(
        "Use colours: on a terminal (auto), always or never. In auto, NO_COLOR and CLICOLOR_FORCE in the environment decide first",
    )
}
