//! Words of other programs: what was typed that is no command or option of popfib in, one line out with the command as it would be
//! typed. `synonyms.txt` is the table.
//!
//! They are no aliases, which scripts would come to depend on: whoever types one learns the command.

use std::cmp::Reverse;
use std::ffi::OsString;

use popfib_formats::{LoadOptions, prefixes_of_text};
use popfib_program::failure::as_number;

/// A way to type something, and what to type in place of it.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("synonyms.txt").lines();
    let rows = lines.filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|line| line.split_once(": "));
    rows.flat_map(|(ways, command)| ways.split(", ").map(move |way| (way, command)))
}

/// The line for `typed`, in which there is no command or option called `wrong`; `None` if no row of the table has it.
pub(crate) fn meant(typed: &[OsString], wrong: &str) -> Option<String> {
    // As an error of clap's has it: an option and what it takes.
    let wrong = wrong.split([' ', '=']).next()?;
    let typed = typed.iter().map(|word| word.to_str());
    let typed: Vec<&str> = typed.skip(1).collect::<Option<_>>()?;
    let ways = rows().filter_map(|(way, command)| {
        let (command, unfilled) = filled(command, &typed, rest(way, &typed, wrong)?);
        Some((
            (Reverse(way.len()), unfilled),
            (way.ends_with('*'), command),
        ))
    });
    let (_, (is_one_more, command)) = ways.min_by_key(|(order, _)| *order)?;
    if command.contains('`') {
        return Some(format!("{wrong}: {command}"));
    }
    let what = match wrong.starts_with('-') {
        true => "option",
        false if is_one_more => "argument",
        false => "command",
    };
    Some(format!("no {what} '{wrong}' here; type `popfib {command}`"))
}

/// The words that were typed beside those of `way`, those of its last one first; `None` if that is not what was typed.
fn rest<'t>(way: &str, typed: &[&'t str], wrong: &str) -> Option<Vec<&'t str>> {
    let words: Vec<&str> = way.split(' ').collect();
    if let Some(command) = way.strip_suffix(" *") {
        let is_one_more = typed.first() == Some(&command) && !wrong.starts_with(['-', '[']);
        return is_one_more.then(|| typed[1..].to_vec());
    }
    let is_wrong = |word: &&str| *word == wrong;
    if typed.starts_with(&words) {
        return words
            .iter()
            .any(is_wrong)
            .then(|| typed[words.len()..].to_vec());
    }
    let [command, option] = words[..] else {
        return None;
    };
    let is_option = option.starts_with('-') && is_wrong(&option) && typed.first() == Some(&command);
    let typed = is_option.then_some(typed)?;
    // Among others, as in -vx, it is no word of its own.
    let at = typed
        .iter()
        .position(|word| word.split('=').next() == Some(wrong));
    let (before, after) = typed.split_at(at.map_or(typed.len(), |at| at + 1));
    let value = at.and_then(|at| Some(typed[at].split_once('=')?.1));
    Some(
        value
            .into_iter()
            .chain(after.iter().copied())
            .chain(before[1..].iter().copied())
            .collect(),
    )
}

/// The command with words of `rest` in its places, and how many of these it left as they are.
fn filled(command: &str, typed: &[&str], mut rest: Vec<&str>) -> (String, usize) {
    let mut unfilled = 0;
    rest.retain(|word| !word.starts_with('-'));
    let mut text = String::new();
    let mut left = command;
    while let Some((before, after)) = left.split_once('<') {
        let place = after
            .split_once('>')
            .filter(|(place, _)| !place.starts_with(' '));
        let Some((place, after)) = place else {
            text.push_str(&left[..=before.len()]);
            left = after;
            continue;
        };
        let name = place.trim_end_matches("...");
        let mut is_more = true;
        let mut taken: Vec<_> = match name {
            "TYPED" => typed.iter().map(|word| shell_word(word)).collect(),
            _ => Vec::new(),
        };
        rest.retain(|word| {
            let takes = is_more && fits(name, word);
            if takes {
                taken.push(shell_word(word));
                is_more = name != place;
            }
            !takes
        });
        if taken.is_empty() {
            unfilled += 1;
            taken.push(name.to_owned());
        }
        text.push_str(before);
        text.push_str(&taken.join(" "));
        left = after;
    }
    (text + left, unfilled)
}

/// Whether a word may stand in the place of this name.
fn fits(name: &str, word: &str) -> bool {
    let options = LoadOptions {
        mask: true,
        ..LoadOptions::new()
    };
    let is_prefix = || prefixes_of_text(word, &options).is_ok();
    let is_length = |word: &str| {
        word.strip_prefix('/')
            .is_some_and(|bits| bits.parse::<u8>().is_ok())
    };
    match name {
        "ADDRESS" | "PREFIX" => is_prefix(),
        "AS" => as_number(word).is_some() || word.parse::<u32>().is_ok(),
        "TYPED" => false,
        "FILE" => !is_prefix() && !is_length(word),
        _ => is_length(name) == is_length(word),
    }
}

/// The word as a shell has to get it.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/.:_-,=@+%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::Cli;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    /// Each way leads to a command that there is, and is none itself.
    #[test]
    fn every_row_leads_to_a_command() {
        for (way, command) in rows() {
            let wrong = way.split(' ').rfind(|word| word.starts_with(['-', '*']));
            let is_set = way.starts_with("set ");
            let word = wrong.or(way.split(' ').nth(usize::from(is_set))).unwrap();
            let above = Cli::command();
            let above = if is_set {
                above.find_subcommand("set").unwrap()
            } else {
                &above
            };
            assert!(above.find_subcommand(word).is_none(), "{way}: a command");
            let line = meant(&words(&format!("popfib {way}")), word);
            let line = line.unwrap_or_else(|| panic!("{way}: leads nowhere"));
            let told = filled(command, &[], Vec::new()).0;
            assert!(line.contains("popfib"), "{way}: {line}");
            if !told.contains('`') && told != "--version" {
                let told = told
                    .replace("\u{27}", "")
                    .replace(" AS ", " 64500 ")
                    .replace(" N ", " 5 ");
                let parsed = Cli::try_parse_from(words(&format!("popfib {told}")));
                assert!(parsed.is_ok(), "{way}: {told}: {}", parsed.err().unwrap());
            }
        }
    }

    #[test]
    fn what_was_typed_is_kept() {
        for (typed, wrong, told) in [
            ("get 8.8.8.8", "get", "`popfib lookup 8.8.8.8`"),
            (
                "whois -h whois.radb.net 8.8.8.8",
                "whois",
                "`popfib lookup 8.8.8.8`",
            ),
            ("whois", "whois", "`popfib lookup ADDRESS`"),
            (
                "mmdblookup --file a.mmdb --ip 1.1.1.1",
                "mmdblookup",
                "`popfib lookup -t a.mmdb 1.1.1.1`",
            ),
            (
                "split 10.0.0.0/8 /9",
                "split",
                "`popfib set split /9 10.0.0.0/8`",
            ),
            (
                "split 10.0.0.0/8",
                "split",
                "`popfib set split /24 10.0.0.0/8`",
            ),
            (
                "union a 'b c'",
                "union",
                r"`popfib set union a ''\''b' 'c'\'''`",
            ),
            (
                "grep a.log --origin=15169",
                "--origin",
                "`popfib grep --where value=15169 a.log`",
            ),
            (
                "grep --origin AS15169 a.log",
                "--origin <AS>",
                "`popfib grep --where value=AS15169 a.log`",
            ),
            ("grep -vx 8.8.8.8", "-x", "`popfib grep` without it"),
            (
                "convert a.txt b.csv",
                "b.csv",
                "`popfib convert a.txt -o b.csv`",
            ),
        ] {
            let line = meant(&words(&format!("popfib {typed}")), wrong).unwrap();
            assert!(line.ends_with(told), "{typed}: {line}");
        }
        for (typed, wrong) in [
            ("frobnicate", "frobnicate"),
            ("get --foo", "--foo"),
            ("lookup get", "-Q"),
        ] {
            assert_eq!(meant(&words(&format!("popfib {typed}")), wrong), None);
        }
    }
}
