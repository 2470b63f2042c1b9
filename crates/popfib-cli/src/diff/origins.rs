//! `popfib diff --origins`: routes of two tables in; out come changed origins and new routes inside of old ones, as hijacks and
//! leaks make them.
//!
//! Values are read once, as the origins that they stand for. Two are equal if their origins are, however they are written.

use std::borrow::Cow;
use std::collections::HashMap;

use popfib::diff::{self, RouteChange};
use popfib::family::{ByFamily, Family};
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_formats::RouteTable;
use popfib_formats::bgp::{Origin, origins};
use popfib_formats::text::counted;
use popfib_program::failure::Failure;
use popfib_table::Ribs;
use popfib_table::rpki::{FamilyVrps, Vrps};

use crate::output::StandardOutput;
use crate::records::text;
use crate::rov::no_origin;
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

/// The members of a changed origin or a new route.
pub(super) const NAMES: &str = "change prefix old_prefix old new old_state new_state";

/// Prints the changes; returns a summary of them, if there are any.
pub(super) fn print(
    old: &RouteTable,
    new: &RouteTable,
    vrps: Option<&ByFamily<FamilyVrps>>,
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
        output,
        changed: 0,
        inside: 0,
    };
    report.family(&old.ribs, &new.ribs, vrps.map(u32::of))?;
    report.family(&old.ribs, &new.ribs, vrps.map(u128::of))?;
    let (changed, inside) = (report.changed, report.inside);
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
            let states = origins.map(|asn| vrps.validate(prefix, *asn).name());
            Some(states.collect::<Vec<_>>().join("_"))
        };
        let (change, sign, style, count) = match before.0 == prefix {
            true => ("origin", '~', CHANGED, &mut self.changed),
            false => ("more-specific", '+', ADDED, &mut self.inside),
        };
        *count += 1;
        let states = [state(before.0, old), state(prefix, new)];
        let states = states.each_ref().map(|state| state.as_deref().map(text));
        let (route, old_prefix) = (prefix.to_string(), before.0.to_string());
        let rest = [&old_prefix, &old.text, &new.text].map(|cell| Some(text(cell)));
        if !self.output.is_text() {
            let head = [change, &route].map(|cell| Some(text(cell)));
            return (self.output).values(&[], &[&head[..], &rest, &states].concat());
        }
        let route = format!("{sign} {route}");
        let states = states.iter().filter(|state| state.is_some()).copied();
        let cells = [Some(text(&route))].into_iter().chain(rest).chain(states);
        self.output.values(&[style], &cells.collect::<Vec<_>>())
    }
}
