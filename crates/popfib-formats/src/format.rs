//! The formats of tables: their names, how each is recognised, how it is opened.
//!
//! A line in [`FORMATS`] is all that the rest needs to know of one. The content decides
//! which one a file has: the text table takes what begins with one of its
//! routes, then each format is asked in turn, and the text table is left for
//! what nobody claims, so that its errors say what is wrong with the file. No two formats may claim one file; `detection.rs`
//! holds a sample of each against all others.
//!
//! Options that a format knows nothing of are refused here, by what its [`TableEntry`] says that it can do: a filter that did
//! nothing would be taken for one that matched nothing.

use crate::error::ReadError;
use crate::input::{Input, InputKind};
use crate::peers::RouteValue;
use crate::registry::{Capability, formats};
use crate::route::RouteSource;
use crate::table_format::{Format, LoadOptions, TableEntry};
use crate::values::ColumnSelection;
use crate::{
    any, bgpdump, bgpscanner, default_table, delimited, hosts, image, ip_route, json, mmdb, mrt,
    rpsl, sets, show, text_table,
};

/// Every format, in the order of detection. The first is also the last resort.
static FORMATS: &[&TableEntry] = &[
    &text_table::FORMAT,
    &hosts::FORMAT,
    &image::FORMAT,
    &bgpdump::FORMAT,
    &bgpscanner::FORMAT,
    &mrt::FORMAT,
    &delimited::pfx2as::FORMAT,
    &delimited::riswhois::FORMAT,
    &delimited::rir::FORMAT,
    &rpsl::FORMAT,
    &delimited::geofeed::FORMAT,
    &delimited::csv::FORMAT,
    &json::records::LINES,
    &json::records::ARRAY,
    &json::lists::FORMAT,
    &json::nft::FORMAT,
    &mmdb::FORMAT,
    &ip_route::FORMAT,
    &json::ip_route::FORMAT,
    &json::frr::FORMAT,
    &json::routers::FORMAT,
    &show::coded::FORMAT,
    &show::bgp::FORMAT,
    &show::bgpctl::FORMAT,
    &show::bird::FORMAT,
    &show::nxos::FORMAT,
    &show::junos::FORMAT,
    &show::vrp::FORMAT,
    &show::panos::FORMAT,
    &show::routeros::FORMAT,
    &show::route_n::FORMAT,
    &show::netstat::FORMAT,
    &show::route_print::FORMAT,
    &sets::ipset::FORMAT,
    &sets::nft::FORMAT,
    &sets::filters::FORMAT,
    &sets::prefix_lists::FORMAT,
    &sets::iptables::FORMAT,
    &any::FORMAT,
];

formats! { Format of FORMATS, no_such: "no such format" }

/// Opens the routes of `input`, in the format of the options or as detected.
///
/// Waits for 64 KiB of the data, unless that is a text table: its first route
/// is enough.
///
/// # Errors
/// Those of the format; most formats report errors only when routes are read.
pub fn open_routes(input: Input, options: &LoadOptions) -> Result<Box<dyn RouteSource>, ReadError> {
    open_with(input, options, |input, format| {
        let can = |what| format.0.can(what);
        let value = match options.value {
            RouteValue::OriginAs if !can(Capability::Origins) => {
                let why = "has no AS paths, so its routes have no origin-as";
                return Err(refused(&input, format, why));
            }
            RouteValue::Peer if !can(Capability::Peers) => {
                return Err(refused(&input, format, NO_PEERS));
            }
            RouteValue::OriginOrValue if can(Capability::Origins) => RouteValue::OriginAs,
            RouteValue::OriginOrValue => RouteValue::NextHop,
            value => value,
        };
        let columns = match &options.columns {
            // `--columns '*'` of a format without columns asks for its only value.
            ColumnSelection::All if !can(Capability::ManyValues) => ColumnSelection::Value,
            columns => columns.clone(),
        };
        let options = LoadOptions {
            value,
            columns,
            ..options.clone()
        };
        (format.0.open)(input, &options)
    })
}

/// Opens `input` by `open`, which gets the format: that of the options or as detected.
pub(crate) fn open_with<T>(
    mut input: Input,
    options: &LoadOptions,
    open: impl FnOnce(Input, Format) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let given = match input.kind {
        InputKind::Bytes => options.format,
        InputKind::BuiltIn => Some(Format(&default_table::FORMAT)),
        InputKind::Image(_) => Some(Format(&image::FORMAT)),
    };
    let format = match (given, &options.value_regex, &options.prefix_column) {
        (Some(format), ..) => format,
        (None, Some(_), _) => Format(&any::FORMAT),
        (None, None, Some(column)) => with_column(input.peek(|_| false), column),
        (None, None, None) => Format::detect(input.peek(text_table::FORMAT.detect)),
    };
    let can = |what| format.0.can(what);
    if matches!(options.columns, ColumnSelection::Named(_)) && !can(Capability::ManyValues) {
        let why = match json::first_byte(input.peek(|_| false)) {
            Some(b'{' | b'[') => {
                "has no columns to choose from; of JSON `prefix_column` names the member that has the prefix"
            }
            _ => "has no columns to choose from",
        };
        return Err(refused(&input, format, why));
    }
    let refuse = |why| Err(refused(&input, format, why));
    if (options.prefix_column.is_some() || options.length_column.is_some())
        && !can(Capability::PrefixColumn)
    {
        return refuse("has no columns to choose the prefix from");
    }
    if options.value_regex.is_some() && !can(Capability::ValueRegex) {
        return refuse("has values of its own; `value_regex` is for `format` any");
    }
    if options.peer.is_some() && !can(Capability::Peers) {
        return refuse(NO_PEERS);
    }
    if (options.table.is_some() || options.every_table) && !can(Capability::Tables) {
        return refuse("has no tables to choose from");
    }
    open(input, format)
}

/// The format of a file of which the user says where its prefixes are.
fn with_column(head: &[u8], column: &str) -> Format {
    Format(match json::first_byte(head) {
        // The place in an array.
        Some(b'[') if column.starts_with('[') => &json::lists::FORMAT,
        Some(b'[') => &json::records::ARRAY,
        Some(b'{') if json::records::leads_to(head, column) => &json::records::LINES,
        Some(b'{') => &json::lists::FORMAT,
        _ => &delimited::csv::FORMAT,
    })
}

/// The error of an option for a format that has nothing of the kind.
fn refused(input: &Input, format: Format, why: &str) -> ReadError {
    ReadError::file(input.name(), format!("{} {why}", format.name()))
}

const NO_PEERS: &str = "has no peers";

#[cfg(test)]
mod detection;

#[cfg(test)]
mod tests {
    use super::*;

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
}
