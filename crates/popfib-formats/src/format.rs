//! The formats of tables: their names, how each is recognised, how it is opened.
//!
//! A format is a module with a [`RouteSource`] and an [`Entry`]; the line in
//! [`FORMATS`] is all that the rest needs to know of it. The content decides
//! which one a file has: the text table takes what begins with one of its
//! routes, then each format is asked in turn, and the text table is left for
//! what nobody claims, so that its errors tell what is wrong with the file.

use crate::input::Input;
use crate::registry::registry;
use crate::{LoadOptions, ReadError, RouteSource};
use crate::{bgpdump, delimited, image, ip_route, json, mmdb, mrt, show, text_table};

/// What a format's module tells about it.
pub(crate) struct Entry {
    /// What `--format` calls it: lower case, words joined by `-`.
    pub(crate) name: &'static str,
    /// One line: what writes it, what the next hops are.
    pub(crate) description: &'static str,
    /// Whether this is the beginning of such a file: decompressed, 64 KiB or
    /// all of it. Must not claim what is another format's.
    pub(crate) detect: fn(&[u8]) -> bool,
    /// Reads the routes.
    pub(crate) open: Open,
}

pub(crate) type Open = fn(Input, &LoadOptions) -> Result<Box<dyn RouteSource>, ReadError>;

/// Every format, in the order of detection. The first is also the last resort.
static FORMATS: &[&Entry] = &[
    &text_table::FORMAT,
    &image::FORMAT,
    &bgpdump::FORMAT,
    &mrt::FORMAT,
    &delimited::pfx2as::FORMAT,
    &delimited::csv::FORMAT,
    &json::records::LINES,
    &json::records::ARRAY,
    &mmdb::FORMAT,
    &ip_route::FORMAT,
    &json::ip_route::FORMAT,
    &json::frr::FORMAT,
    &show::coded::FORMAT,
    &show::bgp::FORMAT,
    &show::bird::FORMAT,
    &show::nxos::FORMAT,
    &show::junos::FORMAT,
    &show::vrp::FORMAT,
    &show::panos::FORMAT,
    &show::routeros::FORMAT,
];

registry! {
    /// A format of tables, known by its name.
    Format of FORMATS: Entry, no_such: "no such format"
}

impl Format {
    /// Whether [`LoadOptions::value_path`] means anything for it.
    fn has_many_values(self) -> bool {
        let many = [
            &delimited::csv::FORMAT,
            &json::records::LINES,
            &json::records::ARRAY,
            &mmdb::FORMAT,
        ];
        many.into_iter().any(|entry| self == Self(entry))
    }

    /// Whether [`LoadOptions::peer`] means anything for it.
    fn has_peers(self) -> bool {
        let several = [&bgpdump::FORMAT, &mrt::FORMAT];
        several.into_iter().any(|entry| self == Self(entry))
    }
}

/// Opens the routes of `input`, in the format of the options or as detected.
///
/// Waits for 64 KiB of the data, unless that is a text table: its first route
/// is enough.
///
/// # Errors
/// As the format's: most find fault with the routes only.
pub fn open_routes(
    mut input: Input,
    options: &LoadOptions,
) -> Result<Box<dyn RouteSource>, ReadError> {
    let format = options
        .format
        .unwrap_or_else(|| Format::detect(input.peek(text_table::FORMAT.detect)));
    if options.value_path.is_some() && !format.has_many_values() {
        let reason = format!("{} has no values to choose from", format.name());
        return Err(ReadError::file(input.name(), reason));
    }
    if options.peer.is_some() && !format.has_peers() {
        let reason = format!("{} tells of no peers", format.name());
        return Err(ReadError::file(input.name(), reason));
    }
    (format.0.open)(input, options)
}

/// The whole lines of a file's head, without their ends; what was cut off in
/// the middle is left out. For `detect` functions.
pub(crate) fn head_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let whole = match memchr::memrchr(b'\n', head) {
        Some(end) if head.len() >= crate::input::HEAD => &head[..end],
        _ => head,
    };
    whole
        .split(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod detection;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::HEAD;

    #[test]
    fn names_are_fit_for_the_command_line_and_differ() {
        let mut names: Vec<_> = Format::all().map(Format::name).collect();
        let is_fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(names.iter().all(|name| name.chars().all(is_fit)));
        assert!(Format::all().all(|f| Format::by_name(f.name()) == Some(f)));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(
            "no-such"
                .parse::<Format>()
                .is_err_and(|e| e.contains("text"))
        );
    }

    #[test]
    fn nobodys_files_are_text() {
        for head in [&b""[..], b"\0\0\0", b"hello world, you\n", b"10.0.0.0/8"] {
            assert_eq!(Format::detect(head).name(), "text", "{head:?}");
        }
    }

    #[test]
    fn lines_of_a_head() {
        let lines = |head: &[u8]| -> Vec<String> {
            let text = |line| String::from_utf8_lossy(line).into_owned();
            head_lines(head).map(text).collect()
        };
        assert_eq!(lines(b"\xef\xbb\xbfa\r\nb\n\nc"), ["a", "b", "", "c"]);
        let mut long = b"a\nb\n".to_vec();
        long.resize(HEAD, b'c');
        assert_eq!(lines(&long), ["a", "b"]);
    }
}
