//! Every token counts: for a sample of each format of tables, each token in turn is doubled, dropped, replaced, swapped with the next
//! one, or followed by another prefix, and each member of JSON also renamed, escaped and set to null. What comes of it is the right
//! table, an error or a note: never fewer prefixes in silence, and never a value that is not the text in the value's place.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::common::{STRICT, input, read};
use popfib_formats::{ColumnSelection, Format, LoadOptions, RouteTable};

mod samples;

use samples::{EXCEPTIONS, SAMPLES, Sample};

/// What no sample has, in place of a token or after it.
const JUNK: &str = "junk";
const OTHER: &str = "10.99.0.0/16";

/// What a file gives: the values of its prefixes, and what is noted.
#[derive(Debug, Default, PartialEq)]
struct Read {
    routes: BTreeMap<String, Vec<String>>,
    notes: Vec<String>,
}

impl Read {
    fn of(table: &RouteTable) -> Self {
        let mut routes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (prefix, n) in table.routes() {
            let value = table.value(n).into_owned();
            routes.entry(prefix.to_string()).or_default().push(value);
        }
        Self {
            routes,
            notes: table.remarks(),
        }
    }
}

/// A changed sample.
struct Change {
    /// What was done.
    name: &'static str,
    /// To which token.
    token: String,
    text: String,
    /// What may be in a value that was not there before.
    new: Option<&'static str>,
}

/// What is wrong with the answer of a changed sample, if anything is.
fn fault(before: &Read, after: &Read, change: &Change) -> Option<String> {
    let is_noted = before.notes != after.notes;
    for (prefix, values) in &after.routes {
        let Some(known) = before.routes.get(prefix) else {
            match prefix == OTHER {
                true => continue,
                false => return Some(format!("{prefix} is new")),
            }
        };
        let is_new = |value: &String| change.new.is_some_and(|new| value.contains(new));
        let is_right = |value: &&String| value.is_empty() || known.contains(value) || is_new(value);
        if let Some(value) = values.iter().find(|value| !is_right(value)) {
            return Some(format!("{prefix} has the value {value:?}"));
        }
    }
    // What is not in the file any more is not lost.
    let is_taken_out = ["dropped", "emptied", "null", "set to null"].contains(&change.name);
    let is_there = |prefix: &str| change.text.contains(prefix.trim_end_matches("/32"));
    let lost = before
        .routes
        .keys()
        .find(|prefix| !after.routes.contains_key(*prefix) && (is_there(prefix) || !is_taken_out));
    if let Some(lost) = lost.filter(|_| !is_noted) {
        return Some(format!("{lost} is lost"));
    }
    let has_other = change.text.contains(OTHER) && change.name == "followed by a prefix";
    (has_other && !is_noted && !after.routes.contains_key(OTHER))
        .then(|| format!("{OTHER} is lost"))
}

/// Where the tokens of a text are.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let is_between = |c: char| c.is_whitespace() || ",|;{}[]()=\"".contains(c);
    let mut tokens = Vec::new();
    let mut begin = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match begin {
            Some(start) if is_between(c) => {
                tokens.push(start..at);
                begin = None;
            }
            None if !is_between(c) => begin = Some(at),
            _ => {}
        }
    }
    tokens
}

/// `text` with this in place of what is there.
fn replaced(text: &str, place: &Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..place.start], &text[place.end..])
}

/// All changes of lines of text.
fn changes_of_text(text: &str) -> Vec<Change> {
    let tokens = tokens(text);
    let mut changes = Vec::new();
    for (n, place) in tokens.iter().enumerate() {
        let token = &text[place.clone()];
        let mut change = |name, text, new| {
            changes.push(Change {
                name,
                token: token.to_owned(),
                text,
                new,
            })
        };
        // What separates it from the token before, or after.
        let separator = match (n.checked_sub(1).map(|n| &tokens[n]), tokens.get(n + 1)) {
            (Some(before), _) if !text[before.end..place.start].contains('\n') => {
                before.end..place.start
            }
            (_, Some(after)) => place.end..after.start,
            _ => place.end..place.end,
        };
        let between = &text[separator.clone()];
        let between = if between.contains(['\n', '{', '[', '(']) {
            " "
        } else {
            between
        };
        change(
            "doubled",
            replaced(text, place, &format!("{token}{between}{token}")),
            None,
        );
        let both = separator.start.min(place.start)..separator.end.max(place.end);
        change("dropped", replaced(text, &both, ""), None);
        change("emptied", replaced(text, place, ""), None);
        change("replaced", replaced(text, place, JUNK), Some(JUNK));
        change(
            "followed by junk",
            replaced(text, place, &format!("{token}{between}{JUNK}")),
            None,
        );
        change(
            "followed by a prefix",
            replaced(text, place, &format!("{token}{between}{OTHER}")),
            None,
        );
        if let Some(next) = tokens.get(n + 1) {
            let after = &text[next.clone()];
            let swapped = format!("{after}{}{token}", &text[place.end..next.start]);
            change(
                "swapped with the next",
                replaced(text, &(place.start..next.end), &swapped),
                None,
            );
        }
    }
    changes
}

/// The strings of a JSON document with their quotes, each with whether it is a key, and the members with keys and commas.
fn strings(text: &str) -> Vec<(Range<usize>, bool)> {
    let mut strings = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find('"').map(|at| rest + at) {
        let mut end = start + 1;
        while text.as_bytes()[end] != b'"' {
            end += 1 + usize::from(text.as_bytes()[end] == b'\\');
        }
        rest = end + 1;
        strings.push((start..rest, text[rest..].trim_start().starts_with(':')));
    }
    strings
}

/// Where the value is that begins at `start`.
fn value_at(text: &str, start: usize) -> Range<usize> {
    let mut values =
        serde_json::Deserializer::from_str(&text[start..]).into_iter::<serde_json::Value>();
    values.next().expect("a value").expect("JSON");
    start..start + values.byte_offset()
}

/// All changes of members of JSON.
fn changes_of_json(text: &str) -> Vec<Change> {
    let mut changes = Vec::new();
    for (place, is_key) in strings(text) {
        let token = &text[place.clone()];
        let mut change = |name, text, new| {
            changes.push(Change {
                name,
                token: token.to_owned(),
                text,
                new,
            })
        };
        let escaped = |from: &str, to: &str| replaced(text, &place, &token.replace(from, to));
        change("escaped by a backslash", escaped("/", "\\/"), None);
        change(
            "escaped as a number",
            escaped("0", "\\u0030").replacen("\"n", "\"\\u006e", 0),
            None,
        );
        if !is_key {
            change("replaced", replaced(text, &place, "\"junk\""), Some(JUNK));
            change("set to null", replaced(text, &place, "null"), None);
            change(
                "put into a list",
                replaced(text, &place, &format!("[{token}]")),
                None,
            );
            change(
                "replaced by a number",
                replaced(text, &place, "7"),
                Some("7"),
            );
            continue;
        }
        change("renamed", replaced(text, &place, "\"junk\""), Some(JUNK));
        let colon = place.end + text[place.end..].find(':').expect("a colon") + 1;
        let start = text.len() - text[colon..].trim_start().len();
        let value = value_at(text, start);
        let member = &text[place.start..value.end];
        let both = place.start..value.end;
        change(
            "doubled",
            replaced(text, &both, &format!("{member},{member}")),
            None,
        );
        change("null", replaced(text, &value, "null"), None);
        change(
            "null before",
            replaced(text, &both, &format!("{token}:null,{member}")),
            None,
        );
        change(
            "null after",
            replaced(text, &both, &format!("{member},{token}:null")),
            None,
        );
        change(
            "junk before",
            replaced(text, &both, &format!("\"junk\":\"junk\",{member}")),
            None,
        );
        // With one comma.
        let dropped = match text[value.end..].trim_start().strip_prefix(',') {
            Some(rest) => place.start..text.len() - rest.len(),
            None => text[..place.start].trim_end().trim_end_matches(',').len()..value.end,
        };
        change("dropped", replaced(text, &dropped, ""), None);
    }
    changes
}

/// Whether nothing is wrong with this change, for a reason that the list of exceptions has.
fn is_excepted(sample: &Sample, change: &Change) -> bool {
    let token = change.token.trim_matches('"');
    let is_any = |list: &str, between: &str, one: &str| {
        list == "*" || list.split(between).any(|known| known == one)
    };
    EXCEPTIONS.iter().any(|(format, tokens, changes, _)| {
        *format == sample.format && is_any(tokens, " ", token) && is_any(changes, ", ", change.name)
    })
}

#[test]
fn no_token_is_passed_over() {
    let mut faults = Vec::new();
    let mut count = 0;
    for sample in SAMPLES {
        let format = Format::by_name(sample.format).expect("a format");
        // Never recognised, but asked for.
        let is_found = sample.format != "any";
        let found = Format::detect(sample.text.as_bytes());
        assert!(!is_found || found == format, "{found:?}: {}", sample.text);
        let is_json = sample.text.trim_start().starts_with(['{', '[']);
        let changes = match is_json {
            true => changes_of_json(sample.text),
            false => changes_of_text(sample.text),
        };
        let columns = [ColumnSelection::Value];
        let by = [None, Some(format)]
            .into_iter()
            .skip(usize::from(!is_found));
        for (columns, format) in columns
            .iter()
            .flat_map(|c| by.clone().map(move |by| (c, by)))
        {
            let options = LoadOptions {
                format,
                columns: columns.clone(),
                ..STRICT.clone()
            };
            let before = crate::common::load_from(input(sample.text), &options);
            let before = Read::of(&before.unwrap_or_else(|e| panic!("{}: {e}", sample.format)));
            assert!(before.routes.len() > 1, "{}: {before:?}", sample.format);
            for change in changes.iter().filter(|change| !is_excepted(sample, change)) {
                count += 1;
                let Ok(after) = read(change.text.as_str(), &options) else {
                    continue;
                };
                if let Some(fault) = fault(&before, &Read::of(&after), change) {
                    let by = if options.format.is_some() {
                        "by name"
                    } else {
                        "by content"
                    };
                    let (format, name, token) = (sample.format, change.name, &change.token);
                    faults.push(format!(
                        "{format} {by}: {token} {name}: {fault}\n{}",
                        change.text
                    ));
                }
            }
        }
    }
    // Every format is here.
    for format in Format::all() {
        let of_other_tests = ["image", "mmdb", "mrt"];
        assert!(
            of_other_tests.contains(&format.name())
                || SAMPLES.iter().any(|sample| sample.format == format.name()),
            "no sample of {}",
            format.name()
        );
    }
    println!("{count} changes");
    assert!(
        faults.is_empty(),
        "{} of {count}:\n{}",
        faults.len(),
        faults.join("\n")
    );
}
