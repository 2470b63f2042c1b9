//! Which files `popfib grep` searches: arguments in, files out, those of folders in the order of their names.

use std::fs;
use std::path::{Path, PathBuf};

use popfib_program::failure::Failure;
use popfib_program::files::shown;
use regex_lite::Regex;

use super::GrepArgs;
use crate::args::is_stdin;
use crate::output::note;
use crate::stream::{InputArgs, is_stdout};

/// A pattern of names of files.
pub(super) fn parse_glob(text: &str) -> Result<Regex, String> {
    let part = |c: char| match c {
        '*' => ".*".to_owned(),
        '?' => ".".to_owned(),
        '[' | ']' | '-' => c.to_string(),
        c => regex_lite::escape(c.encode_utf8(&mut [0; 4])),
    };
    let pattern: String = text.chars().map(part).collect();
    Regex::new(&format!("(?s)^{pattern}$")).map_err(|error| error.to_string())
}

/// Whether a file is one of those with the names that are asked for; standard input has none.
fn is_included(args: &GrepArgs, file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    args.include.is_empty()
        || is_stdin(file)
        || args.include.iter().any(|glob| glob.is_match(&name))
}

/// The files to search, with `--recursive` also those in folders.
pub(super) fn files(args: &GrepArgs, input: &InputArgs) -> Result<Vec<PathBuf>, Failure> {
    let mut files = match args.recursive {
        true => in_folders(input)?,
        false => input.files(),
    };
    files.retain(|file| is_included(args, file));
    Ok(files)
}

/// The files that are given, and those in folders.
fn in_folders(input: &InputArgs) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut left = match &input.files[..] {
        [] => vec![PathBuf::from(".")],
        files => files.to_vec(),
    };
    left.reverse();
    while let Some(path) = left.pop() {
        if !path.is_dir() {
            found.push(path);
            continue;
        }
        let failed = |error| Failure::of_file(&path, error);
        let entries = fs::read_dir(&path).map_err(failed)?;
        let mut inside = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            // Links could lead back, or anywhere: only those that are named are followed.
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_file() && is_stdout(&entry.path()) {
                let name = shown(&entry.path());
                note!("{name}: left out, standard output is written to it");
            } else if kind.is_file() || kind.is_dir() {
                inside.push(entry.path());
            }
        }
        inside.sort_unstable_by(|a, b| b.cmp(a));
        left.extend(inside);
    }
    Ok(found)
}
