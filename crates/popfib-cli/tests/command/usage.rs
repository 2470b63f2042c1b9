//! Help, version, completions and manual pages.

use std::fs;

use crate::common::{bad, directory, good, popfib, run};

/// A terminal on which `-h` has its place.
const COLUMNS: usize = 80;
const LINES: usize = 40;

/// What the command prints for `flag` on a terminal of [`COLUMNS`].
fn help(command: &str, flag: &str) -> String {
    let mut args: Vec<&str> = command.split_whitespace().collect();
    args.push(flag);
    let output = popfib(&args).env("COLUMNS", COLUMNS.to_string()).output();
    good(&output.expect("the command runs")).to_owned()
}

/// The commands that the help of another lists.
fn listed(help: &str) -> Vec<&str> {
    let list = help
        .split_once("\nCommands:\n")
        .map_or("", |(_, list)| list);
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    // `help` is clap's own; an empty name goes on with the line before.
    names
        .filter(|name| !name.is_empty() && *name != "help")
        .collect()
}

/// Every command by its words, those below others too; popfib itself is empty.
fn commands() -> Vec<String> {
    let mut found = vec![String::new()];
    let mut at = 0;
    while let Some(command) = found.get(at).cloned() {
        let below = help(&command, "-h");
        let below = listed(&below).into_iter();
        found.extend(below.map(|name| format!("{command} {name}").trim().to_owned()));
        at += 1;
    }
    found
}

/// A document of the project.
fn document(name: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    fs::read_to_string(format!("{path}/{name}")).expect("it is in the tree")
}

#[test]
fn the_page_of_commands_lists_every_one() {
    let page = document("docs/commands.md");
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| `popfib "))
        .filter_map(|line| line[2..].split(" | ").next())
        .collect();
    for command in listed(&help("", "-h")) {
        let is_listed = rows.iter().any(|cell| {
            let words = cell.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            words.into_iter().any(|word| word == command)
        });
        assert!(
            is_listed,
            "docs/commands.md has no row of {command}: scripts/api makes them"
        );
    }
}

#[test]
fn guides_list_every_format() {
    let guides = document("docs/formats.md") + &document("docs/logs.md");
    let list = run(&["formats"]);
    for line in good(&list).lines() {
        let name = line.split_whitespace().nth(1).expect("kind and name");
        assert!(guides.contains(&format!("`{name}`")), "no guide has {name}");
    }
}

#[test]
fn short_help_is_one_screen_and_long_help_is_all() {
    let commands = commands();
    for known in ["grep", "set compare", "draw lookup", "man"] {
        assert!(commands.iter().any(|command| command == known), "{known}");
    }
    let mut wrong = Vec::new();
    for command in commands {
        let name = format!("popfib {command}");
        let name = name.trim();
        let (short, long) = (help(&command, "-h"), help(&command, "--help"));
        let lines = short.lines().count();
        // The list of commands fills the screen of a default build.
        let of_feature = usize::from(cfg!(feature = "xdp") && command.is_empty());
        if lines > LINES + of_feature {
            wrong.push(format!(
                "{name} -h: {lines} lines; `hide_short_help = true` leaves an option to --help, \
                 `after_long_help` an example"
            ));
        }
        let wide = short
            .lines()
            .chain(long.lines())
            .max_by_key(|line| line.len());
        let wide = wide.filter(|line| line.len() > COLUMNS);
        wrong.extend(wide.map(|line| format!("{name}: wider than {COLUMNS}: {line}")));
        let last = format!("\n\nAll options: {name} --help\n");
        if !short.ends_with(&last) || long.contains(&last) {
            wrong.push(format!("{name} -h: the last line says what shows all"));
        }
        // The examples of -h are those that --help begins with.
        let examples = short
            .split_once("Examples:\n  ")
            .map(|(_, examples)| examples);
        let examples = examples.and_then(|examples| examples.strip_suffix(&last));
        match examples {
            Some(examples) if examples.contains("popfib ") && long.contains(examples) => {}
            _ => wrong.push(format!("{name}: no examples (`after_help`)")),
        }
        for option in options(&short) {
            if !options(&long).contains(&option) {
                wrong.push(format!("{name} --help: {option} is missing"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The long names of the options of a help, in order.
fn options(help: &str) -> Vec<&str> {
    let options = help.lines().filter_map(|line| {
        // Texts are indented further.
        let line = line.strip_prefix("  ")?;
        let line = line.strip_prefix("    ").unwrap_or(line);
        let long = match line.strip_prefix("--") {
            Some(long) => long,
            // With a letter before it.
            None => line.strip_prefix('-')?.split_once(", --")?.1,
        };
        long.split([' ', '[']).next()
    });
    options.collect()
}

#[test]
fn manual_pages_and_completions_have_all_options() {
    let directory = directory("man").join("man1");
    assert_eq!(good(&run(&["man", directory.to_str().unwrap()])), "");
    let scripts = ["bash", "zsh", "fish", "elvish", "powershell"];
    let scripts = scripts.map(|shell| good(&run(&["completions", shell])).to_owned());
    for command in commands() {
        let name = format!("popfib {command}").trim().replace(' ', "-");
        let page = fs::read_to_string(directory.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(".TH") && page.contains("Examples"), "{name}");
        for option in options(&help(&command, "--help")) {
            let escaped = option.replace('-', r"\-");
            let option_in_bold = format!(r"\fB\-\-{escaped}\fR");
            // Its name, its text and the next one's.
            let mut entries = page.split("\n.TP\n");
            let entry = entries.find(|entry| {
                let (head, text) = entry.split_once('\n').unwrap_or_default();
                head.contains(&option_in_bold) && !text.is_empty() && !text.starts_with('.')
            });
            assert!(entry.is_some(), "{name}.1: --{option}");
            for script in &scripts {
                assert!(script.contains(option), "{name}: --{option}");
            }
        }
    }
    let file = crate::common::file("man-in-the-way", "");
    assert_eq!(run(&["man", &file]).status.code(), Some(2));
    assert!(good(&run(&["man"])).contains(".TH popfib 1"));
}

#[test]
fn the_version_is_the_packages() {
    let version = format!("popfib {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(good(&run(&["--version"])), version);
}

#[test]
fn bad_usage_is_told_in_one_line() {
    for (args, wanted) in [
        (
            &["compile"][..],
            "arguments were not provided: --output <FILE>",
        ),
        (
            &["info", "--tabel", "x"],
            "a similar argument exists: '--table'",
        ),
        (&["convert", "--to", "tetx"], "[possible values: "),
        (&["verify", "--random", "many"], "invalid value 'many'"),
        (&["frobnicate"], "unrecognized subcommand 'frobnicate'"),
        (&["lookup", "--table"], "a value is required"),
        (
            &["verify", "--seed", "1\n2\x1b[31m\x07"],
            // What could control a terminal is left out.
            "invalid value '1 2'",
        ),
    ] {
        let output = run(args);
        let line = bad(&output);
        assert!(line.contains(wanted), "{line}");
        assert!(
            !line.contains("error:") && !line.contains("Usage:"),
            "{line}"
        );
        assert!(line.ends_with("; try '--help'."), "{line}");
    }
}

#[test]
#[cfg(not(feature = "parquet"))]
fn without_parquet_the_way_to_it_is_told() {
    let parquet = crate::common::file("x.parquet", "PAR1");
    for (args, about) in [
        (&["annotate", &parquet][..], &parquet[..]),
        (&["annotate", "--to", "parquet"], "--to parquet"),
        (&["convert", "--to", "parquet"], "--to parquet"),
        (&["info", &parquet], &format!("{parquet}: cannot open")),
    ] {
        let wanted = format!(
            "{about}: this popfib was built without Parquet; `cargo install popfib-cli --features parquet` builds it in"
        );
        assert_eq!(bad(&run(args)), wanted);
    }
}

#[test]
#[cfg(not(feature = "tls"))]
fn without_tls_the_way_to_it_is_told() {
    let wanted = "https://localhost: this popfib was built without TLS; `--features tls` of `cargo install` builds it in";
    assert_eq!(bad(&run(&["info", "--live", "https://localhost"])), wanted);
}

/// Whoever else writes to the same standard error, a log of several programs, does not come between.
#[test]
#[cfg(unix)]
fn an_error_is_written_in_one_piece() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;

    for (args, wanted) in [
        (
            &["lookup", "--table", "/no\nwhere", "1.2.3.4"][..],
            "popfib: /no\\nwhere: ",
        ),
        (
            &["lookup", "--table", "/nowhere", "1.2.3.4"],
            "popfib: /nowhere: ",
        ),
        (
            &["lookup", "\x1b"],
            "popfib: '\\u{1b}' is not an IP address",
        ),
        (
            &["info", "--direct-bits"],
            "popfib: unexpected argument '--direct-bits' found",
        ),
        (&["draw"], ""),
        (&[], ""),
    ] {
        // Each write to a datagram socket is a datagram.
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        let mut command = popfib(args);
        command.stderr(OwnedFd::from(theirs));
        let status = command.status().unwrap();
        drop(command);
        assert_eq!(status.code(), Some(2), "{args:?}");
        ours.set_nonblocking(true).unwrap();
        let mut datagram = [0; 65_536];
        let len = ours.recv(&mut datagram).unwrap();
        let text = std::str::from_utf8(&datagram[..len]).unwrap();
        assert!(text.starts_with(wanted) && text.ends_with('\n'), "{text:?}");
        assert!(
            !matches!(ours.recv(&mut datagram), Ok(1..)),
            "{args:?}: a second write"
        );
    }
}
