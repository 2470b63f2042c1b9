//! A table in, its bytes out: in any [`WriteFormat`], or by a [`Template`] of the user's.
//!
//! A form of routes, a file of its own here, appends the bytes of one route to a buffer and does no input or
//! output of its own, so that it serves a file, standard output and memory
//! alike. [`write_table`] puts a whole table through it, in prefix order, IPv4
//! first, with a buffer of 64 KiB. Lists for routers and firewalls are templates (`lists.rs`), in the language of the
//! user's.

mod blocks;
mod bytes;
mod csv;
mod error;
mod form;
mod geofeed;
mod json_lines;
mod list;
mod lists;
mod mmdb;
mod options;
mod output_file;
mod pfx2as;
mod pieces;
mod ranges;
mod template;
mod text;

use std::io::Write;
use std::str::FromStr;

use popfib::{IpPrefix, NextHop};
use popfib_table::Column;

use crate::load::RouteTable;
use crate::name_rule::check;
use crate::registry::format_type;
use crate::values::ColumnSelection;

use blocks::write_blocks;
use bytes::push;
pub use csv::csv_field;
pub use error::WriteError;
use form::{ColumnsForm, WriteEntry, WriteMethod};
use list::ListChanges;
pub use options::WriteOptions;
pub use output_file::OutputFile;
pub use template::{Template, write_template};

format_type! {
    /// A form in which tables are written.
    WriteFormat: WriteEntry
}

/// Every form. The descriptions say what each is.
static FORMS: &[&WriteEntry] = &[
    &text::FORM,
    &json_lines::FORM,
    &csv::FORM,
    &pfx2as::FORM,
    &geofeed::FORM,
    &mmdb::FORM,
    &lists::PLAIN,
    &ranges::RANGES,
    &ranges::ADDRESSES,
    &lists::CISCO_PREFIX_LIST,
    &lists::CISCO_ACL,
    &lists::JUNOS_PREFIX_LIST,
    &lists::JUNOS_ROUTE_FILTER,
    &lists::BIRD,
    &lists::FRR,
    &lists::NFTABLES,
    &lists::IPSET,
    &lists::IPTABLES,
    &lists::PF,
    &lists::OPENBGPD,
];

impl WriteFormat {
    /// All forms.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMS.iter().copied().map(Self)
    }

    /// Whether it holds the values of routes, and not their prefixes alone.
    pub fn has_values(self) -> bool {
        matches!(
            self.0.method,
            WriteMethod::Routes { .. } | WriteMethod::Columns(_) | WriteMethod::Whole(_)
        )
    }

    /// Another, shorter name.
    pub fn aliases(self) -> &'static [&'static str] {
        self.0.aliases
    }
}

impl FromStr for WriteFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let is_it = |f: &Self| f.name() == name || f.aliases().contains(&name);
        Self::all().find(is_it).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            format!("no such form; there are: {}", names.join(", "))
        })
    }
}

/// Writes `table` to `out`: the IPv4 routes, then the IPv6 routes, each in prefix order.
///
/// Time and bytes follow the table; memory stays the same, except for a MaxMind database, whose tree is
/// built first (8 bytes a node, two or three nodes a route). `out` is not flushed.
///
/// # Errors
/// Those of `out`; a next hop that the form cannot hold: what came before it may have been
/// written. Before anything is: options that the form does not have or its language forbids,
/// and what a list in it cannot hold.
pub fn write_table(
    table: &RouteTable,
    format: WriteFormat,
    options: &WriteOptions,
    mut out: impl Write,
) -> Result<(), WriteError> {
    let method = &format.0.method;
    let has_names = matches!(method, WriteMethod::List(_) | WriteMethod::Whole(_));
    let is_list = matches!(method, WriteMethod::List(_));
    // A form that cannot do what an option asks for refuses it: to ignore it would write another list than the user meant.
    let unknown = [
        (options.name.is_some() && !has_names, "name"),
        (
            options.ge.or(options.le).is_some() && !is_list,
            "bounds of length (ge, le)",
        ),
        (
            options.description.is_some() && (is_list || !has_names),
            "description",
        ),
    ];
    if let Some((_, what)) = unknown.iter().find(|(is_unknown, _)| *is_unknown) {
        return Err(WriteError::Form(format!("the form has no {what}")));
    }
    let (needed, append, absent) = match *method {
        WriteMethod::List(ref list) => {
            return list::write(list, &[("", table)], options, &mut out);
        }
        WriteMethod::Whole(write) => return write(table, options, &mut out),
        WriteMethod::Addresses(write) => return write(table, &mut out),
        WriteMethod::Columns(ref form) => return write_columns(table, form, &mut out),
        WriteMethod::Routes { .. } if table.columns.are_records() => {
            let reason =
                "the form has one value for each prefix; csv, json-lines and mmdb have all columns";
            return Err(WriteError::Form(reason.to_owned()));
        }
        WriteMethod::Routes {
            needed,
            append,
            absent,
        } => (needed, append, absent),
    };
    let routes = table.routes().map(|(p, n)| (p, table.value(n)));
    let is_list = table.is_list();
    if let (true, Some(needed)) = (is_list, needed) {
        return Err(WriteError::Form(format!(
            "the form needs {needed} for each prefix, and this is a list without values, which plain, \
             text, csv and json-lines hold"
        )));
    }
    check_values(table)?;
    write_blocks(b"", routes, &mut out, |block, (prefix, next_hop)| {
        if next_hop.is_empty() && !is_list {
            let Some(absent) = absent else {
                let needed = needed.unwrap_or("a value");
                let reason =
                    format!("the form needs {needed} for each prefix, and {prefix} has none");
                return Err(WriteError::Form(reason));
            };
            push(block, format_args!("{prefix}{absent}"));
            return Ok(());
        }
        let written = append(block, prefix, &next_hop);
        written.map_err(|reason| refused(prefix, &next_hop, reason))
    })
}

/// Writes to `out` what changes a list in use: takes the prefixes of `removed` away, then adds those of `added`; nothing if there
/// are none.
///
/// # Errors
/// As [`write_table`]'s; a form without such changes.
pub fn write_changes(
    [removed, added]: [&RouteTable; 2],
    format: WriteFormat,
    options: &WriteOptions,
    mut out: impl Write,
) -> Result<(), WriteError> {
    let changes = match &format.0.method {
        WriteMethod::List(list) => list.changes.as_ref(),
        _ => None,
    };
    let Some(ListChanges { actions, list }) = changes else {
        let reason = "a list in use cannot be changed in this form, but replaced by that of `convert`; there are ipset, iptables and templates with {action}";
        return Err(WriteError::Form(reason.to_owned()));
    };
    let mut tables = vec![(actions[0], removed), (actions[1], added)];
    tables.retain(|(_, table)| table.route_count() > 0);
    match &tables[..] {
        [] => Ok(()),
        tables => list::write(list, tables, options, &mut out),
    }
}

/// Refuses values that no form holds: each once, and not for each route.
fn check_values(table: &RouteTable) -> Result<(), WriteError> {
    let values = (1..).filter_map(NextHop::new).zip(table.records.values());
    for (number, value) in values.filter(|(_, value)| !value.is_empty()) {
        if let Err(reason) = check(&value)
            && let Some((prefix, _)) = table.routes().find(|(_, to)| *to == number)
        {
            return Err(refused(prefix, &value, reason));
        }
    }
    Ok(())
}

/// The error of a route whose next hop no form, or not this one, holds.
fn refused(prefix: IpPrefix, next_hop: &str, reason: &'static str) -> WriteError {
    WriteError::NextHop {
        prefix,
        next_hop: next_hop.to_owned(),
        reason,
    }
}

/// Writes all columns of the record of each route; none of a list.
fn write_columns(
    table: &RouteTable,
    form: &ColumnsForm,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let records = &table.records;
    let names: Vec<&str> = match &table.columns {
        ColumnSelection::Value if table.is_list() => Vec::new(),
        ColumnSelection::Value => vec!["next_hop"],
        _ => records.columns().iter().map(Column::name).collect(),
    };
    if names.contains(&"prefix") {
        let reason = "a column is called \"prefix\", as the prefix is";
        return Err(WriteError::Form(reason.to_owned()));
    }
    let header = (form.header)(&names);
    if table.columns == ColumnSelection::Value {
        check_values(table)?;
    }
    write_blocks(&header, table.routes(), out, |block, (prefix, number)| {
        (form.append)(block, prefix, &names, records, number);
        Ok(())
    })
}
