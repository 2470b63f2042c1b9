//! `popfib diff --origins`: routes of two tables in; out come changed origins and new routes inside of old ones, as hijacks and
//! leaks make them.
//!
//! Values are read once, as the origins that they stand for. Two are equal if their origins are, however they are written.

use std::borrow::Cow;
use std::collections::HashMap;

use popfib::diff::{self, RouteChange};
use popfib::family::{ByFamily, Family};
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_formats::bgp::{Origin, origins};
use popfib_formats::text::counted;
use popfib_formats::{Escaped, RouteTable};
use popfib_program::failure::Failure;
use popfib_table::Ribs;
use popfib_table::rpki::{FamilyVrps, Vrps};
use serde::Serialize;

use crate::output::{AsText, StandardOutput};
use crate::rov::{RovState, no_origin};
use crate::rows::RowField;
use crate::screen::{ADDED, CHANGED};

/// The origins that a value stands for: as text, and each AS, `None` for a set.
struct OriginsOfValue {
    text: String,
    origins: Vec<Option<u32>>,
}

/// The origins of all values of a table, in the order of their numbers.
fn read(table: &RouteTable) -> Result<Vec<OriginsOfValue>, Failure> {
    let of_value = |(number, name): (usize, Cow<'_, str>)| {
        let Some(all) = origins(&name) else {
            let is_absent = name.is_empty() && table.absent.is_some();
            let is_it = |(_, value): &(IpPrefix, NextHop)| value.get() as usize == number + 1;
            let Some((prefix, value)) = table.routes().find(is_it).filter(|_| !is_absent) else {
                // It is absent, or no route has it any more: a later route replaced that which had it.
                return Ok(OriginsOfValue {
                    text: name.into_owned(),
                    origins: Vec::new(),
                });
            };
            let help = "--columns chooses AS numbers in CSV, JSON and MaxMind databases";
            return Err(no_origin(table, prefix, value, help).into());
        };
        let text = |(origin, text): &(Origin, String)| match origin {
            Origin::As(asn) => asn.to_string(),
            Origin::Set => text.clone(),
        };
        let asn = |(origin, _): &(Origin, String)| match origin {
            Origin::As(asn) => Some(*asn),
            Origin::Set => None,
        };
        let texts: Vec<_> = all.iter().map(text).collect();
        Ok(OriginsOfValue {
            text: texts.join("_"),
            origins: all.iter().map(asn).collect(),
        })
    };
    let values = table.records.values().enumerate();
    values.map(of_value).collect()
}

/// A changed origin or a new route as JSON.
#[derive(Serialize)]
struct OriginLine<'a> {
    change: &'static str,
    prefix: AsText<IpPrefix>,
    old_prefix: AsText<IpPrefix>,
    old: &'a str,
    new: &'a str,
    old_state: Option<String>,
    new_state: Option<String>,
}

/// Prints the changes; returns a summary of them, if there are any.
pub(super) fn print(
    old: &RouteTable,
    new: &RouteTable,
    vrps: Option<&ByFamily<FamilyVrps>>,
    json: bool,
    output: &mut StandardOutput,
) -> Result<Option<String>, Failure> {
    let values = [read(old)?, read(new)?];
    let numbers = (1..).filter_map(NextHop::new);
    let of_old: HashMap<&str, NextHop> = values[0]
        .iter()
        .map(|value| &value.text[..])
        .zip(numbers)
        .collect();
    let in_old: Vec<_> = values[1]
        .iter()
        .map(|value| of_old.get(&value.text[..]).copied())
        .collect();
    let mut report = OriginReport {
        values: &values,
        in_old: &in_old,
        json,
        output,
        changed: 0,
        inside: 0,
    };
    report.family(&old.ribs, &new.ribs, vrps.map(u32::of))?;
    report.family(&old.ribs, &new.ribs, vrps.map(u128::of))?;
    let OriginReport {
        changed, inside, ..
    } = report;
    Ok((changed + inside > 0).then(|| {
        let routes = counted(inside, "more-specific route");
        format!("{} changed, {routes} added", counted(changed, "origin"))
    }))
}

/// Prints and counts changes.
struct OriginReport<'a> {
    values: &'a [Vec<OriginsOfValue>; 2],
    /// For each value of the new table, the number of the equal one of the old.
    in_old: &'a [Option<NextHop>],
    json: bool,
    output: &'a mut StandardOutput,
    changed: u64,
    inside: u64,
}

impl OriginReport<'_> {
    fn family<A: Family>(
        &mut self,
        old: &ByFamily<Ribs>,
        new: &ByFamily<Ribs>,
        vrps: Option<&Vrps<A>>,
    ) -> Result<(), Failure> {
        let (old, new) = (A::of(old), A::of(new));
        let in_old = self.in_old;
        let same = |a, b: NextHop| in_old[b.get() as usize - 1] == Some(a);
        for RouteChange {
            prefix,
            old: before,
            new: after,
        } in diff::routes(old, new, same)
        {
            let before = before.map(|value| (prefix, value));
            let covering = || old.supernets(prefix).last();
            if let (Some(before), Some(after)) = (before.or_else(covering), after) {
                self.change(prefix, before, after, vrps)?;
            }
        }
        Ok(())
    }

    /// Prints a route: it had the value of `before`, or is new and inside of that route.
    fn change<A: Family>(
        &mut self,
        prefix: Prefix<A>,
        before: (Prefix<A>, NextHop),
        after: NextHop,
        vrps: Option<&Vrps<A>>,
    ) -> Result<(), Failure> {
        let [old, new] = self.values;
        let (old, new) = (
            &old[before.1.get() as usize - 1],
            &new[after.get() as usize - 1],
        );
        let state = |prefix, value: &OriginsOfValue| {
            let vrps = vrps?;
            let origins = value.origins.iter();
            let states = origins.map(|asn| RovState(vrps.validate(prefix, *asn)).name());
            Some(states.collect::<Vec<_>>().join("_"))
        };
        let is_inside = before.0 != prefix;
        let line = OriginLine {
            change: if is_inside { "more-specific" } else { "origin" },
            prefix: AsText(A::ip_prefix(prefix)),
            old_prefix: AsText(A::ip_prefix(before.0)),
            old: &old.text,
            new: &new.text,
            old_state: state(before.0, old),
            new_state: state(prefix, new),
        };
        *(if is_inside {
            &mut self.inside
        } else {
            &mut self.changed
        }) += 1;
        if self.json {
            return self.output.json(&line);
        }
        let (sign, style) = if is_inside {
            ('+', ADDED)
        } else {
            ('~', CHANGED)
        };
        let states = line.old_state.iter().chain(&line.new_state);
        let route = format!("{sign} {prefix}");
        let [old, new] = [Escaped(line.old), Escaped(line.new)];
        let fields = [
            RowField::styled(style, &route),
            RowField::new(&line.old_prefix.0),
            RowField::new(&old),
            RowField::new(&new),
        ];
        let states = states.map(|state| RowField::new(state));
        self.output.row(fields.into_iter().chain(states))
    }
}
