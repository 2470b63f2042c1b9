//! `--where`: conditions as text and the records of a table in, the records that meet them all out.
//!
//! A condition is asked of each different value of its column and not of each record. A record then needs no more than a look at the
//! code of its value.
//!
//! All columns of a file are read for it, not only those of the conditions: which of them is the value is known only then.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::str::FromStr;

use clap::{Arg, ArgAction};
use popfib::{IpPrefix, NextHop};
use popfib_formats::text::no_column_message;
use popfib_formats::{Escaped, RouteTable};
use popfib_program::failure::Failure;
use popfib_table::{Cell, Column, ColumnType, Records, Scalar};

use crate::args::ReadArgs;
use crate::output::note;

/// The name that stands for the column with the value of a lookup, whatever that column is called.
const VALUE: &str = "value";

/// A condition on a column: that it has one of several values, or none of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    column: String,
    is_not: bool,
    relation: WantedRelation,
    values: Vec<WantedValue>,
}

/// How a value of the column has to relate to one of the condition.
#[derive(Clone, Copy, Debug, PartialEq)]
enum WantedRelation {
    Is,
    /// It has the text in it, in letters of any case.
    Has,
    /// It is a number on this side of it, or, if that is said, equal to it.
    Comes(Ordering, bool),
}

/// A value of a condition, as a column of each type would have it.
#[derive(Clone, Debug, PartialEq)]
struct WantedValue {
    text: String,
    integer: Option<i128>,
    float: Option<f64>,
    boolean: Option<bool>,
}

impl WantedValue {
    /// The other way to write the number of an AS: with the letters before it, or without them.
    fn other(&self) -> Option<Self> {
        let digits = match self.text.get(..2) {
            Some(letters) if letters.eq_ignore_ascii_case("as") => &self.text[2..],
            _ => &self.text[..],
        };
        let is_number = digits.parse::<u32>().is_ok() && !digits.starts_with('+');
        let with = digits.len() < self.text.len();
        is_number.then(|| match with {
            true => Self::new(digits.to_owned()),
            false => Self::new(format!("AS{digits}")),
        })
    }

    fn new(text: String) -> Self {
        Self {
            integer: text.parse().ok(),
            float: text.parse().ok(),
            boolean: text.parse().ok(),
            text,
        }
    }

    fn is(&self, scalar: Scalar<'_>, relation: WantedRelation) -> bool {
        let text = || Cell::Scalar(scalar).to_string();
        match relation {
            WantedRelation::Is => {}
            WantedRelation::Has => {
                return text().to_lowercase().contains(&self.text.to_lowercase());
            }
            WantedRelation::Comes(side, or_equal) => {
                let number = text().parse::<f64>().ok().zip(self.float);
                let order = number.and_then(|(number, limit)| number.partial_cmp(&limit));
                return order.is_some_and(|at| at == side || or_equal && at.is_eq());
            }
        }
        match scalar {
            Scalar::Text(text) => text == self.text,
            Scalar::Integer(number) => self.integer == Some(number),
            Scalar::Float(number, _) => self.float == Some(number),
            Scalar::Boolean(truth) => self.boolean == Some(truth),
        }
    }

    /// Whether it can be a value of the column.
    fn may_be_in(&self, column: &Column, relation: WantedRelation) -> bool {
        match column.column_type() {
            _ if relation == WantedRelation::Has => true,
            _ if relation != WantedRelation::Is => self.float.is_some(),
            ColumnType::Text | ColumnType::Texts => true,
            ColumnType::Integer | ColumnType::Integers => self.integer.is_some(),
            ColumnType::Float => self.float.is_some(),
            ColumnType::Boolean => self.boolean.is_some(),
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    /// `COLUMN=VALUE,...`, or with one of `!= ~ !~ < <= > >=`; a character after a backslash has no special meaning.
    fn from_str(text: &str) -> Result<Self, String> {
        const SHAPE: &str =
            "a condition is COLUMN=VALUE,... or has !=, ~, !~, <, <=, > or >= in place of =";
        let mut parts = vec![String::new()];
        let mut column = None;
        let mut is_not = false;
        let mut relation = WantedRelation::Is;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let part = parts.last_mut().expect("there is one");
            match c {
                '\\' => part.push(chars.next().unwrap_or('\\')),
                '!' if column.is_none() && matches!(chars.peek(), Some('=' | '~')) => is_not = true,
                '=' | '~' | '<' | '>' if column.is_none() => {
                    let or_equal = "<>".contains(c) && chars.next_if_eq(&'=').is_some();
                    relation = match c {
                        '<' => WantedRelation::Comes(Ordering::Less, or_equal),
                        '>' => WantedRelation::Comes(Ordering::Greater, or_equal),
                        '~' => WantedRelation::Has,
                        _ => WantedRelation::Is,
                    };
                    column = Some(std::mem::take(part));
                }
                ',' if column.is_some() => parts.push(String::new()),
                c => part.push(c),
            }
        }
        match column {
            Some(column) if !column.is_empty() => Ok(Self {
                column,
                is_not,
                relation,
                values: parts.into_iter().map(WantedValue::new).collect(),
            }),
            _ => Err(SHAPE.to_owned()),
        }
    }
}

/// The option; each time that it is given adds a condition.
pub(crate) fn arg() -> Arg {
    Arg::new("where")
        .help_heading(None::<&str>)
        .long("where")
        .value_name("CONDITION")
        .action(ArgAction::Append)
        .value_parser(Condition::from_str)
        .help("Count only matches with values of a column")
        .long_help(
            "Count only matches with values of a column\n\n\
             The record has one of the values (country=RU,BY), or none of them (country!=RU,BY); of a list, an element. With `~` it has \
             the text in it, in letters of any case (name~google); with <, <=, > or >= it is a number that compares so (score>=50). The \
             column `value` is that of a lookup. Of several all have to be met; of several lines for a prefix, the last that meets \
             them counts. A condition is about the table before it, and about all tables if none is before.",
        )
}

/// The columns to read for these conditions, as `--columns` has them. Conditions on others than the value need all columns, of which
/// one is the value.
pub(crate) fn columns(conditions: &[Condition]) -> Vec<String> {
    match conditions.iter().all(|condition| condition.column == VALUE) {
        true => Vec::new(),
        false => vec!["*".to_owned()],
    }
}

/// Asks for the columns of these conditions; an error if `--columns` is given as well.
pub(crate) fn ask(read: &mut ReadArgs, conditions: &[Condition]) -> Result<(), &'static str> {
    if !read.columns.is_empty() {
        return Err("--where names the columns that it needs; --columns has no meaning beside it");
    }
    read.columns = columns(conditions);
    Ok(())
}

/// By their numbers, the records that meet all conditions; 0 is no record. Values that no record has are noted if it `tells`.
/// O(records and values).
pub(crate) fn selected(
    conditions: &[Condition],
    records: &Records,
    tells: bool,
) -> Result<Vec<bool>, Failure> {
    let mut selected = vec![true; records.len() + 1];
    selected[0] = false;
    for condition in conditions {
        let column = column(records, &condition.column);
        let column = column.map_err(|reason| format!("--where: {reason}"))?;
        let has = condition.values_of(&records.columns()[column], tells)?;
        let numbers = (1..).zip(&mut selected[1..]);
        for (number, selected) in numbers {
            let code = records.code(number, column);
            *selected &= has[code as usize] != condition.is_not;
        }
    }
    Ok(selected)
}

/// The records of each prefix besides that of its route, each once, in the order of the file.
pub(crate) type OtherRecords = HashMap<IpPrefix, Vec<NextHop>>;

/// Those of `table`.
pub(crate) fn others(table: &RouteTable) -> OtherRecords {
    let mut others: OtherRecords = HashMap::new();
    let mut known = HashSet::new();
    for &(prefix, to) in &table.others {
        let last = popfib::by_family!(prefix, |prefix: Prefix<A>| A::of(&table.ribs).get(prefix));
        if last != Some(to) && known.insert((prefix, to)) {
            others.entry(prefix).or_default().push(to);
        }
    }
    others
}

/// Leads each prefix to the last of its records that is selected, if one is; the `others` that are not selected are left out. A
/// prefix without any keeps its record, so that no wider one answers for it.
pub(crate) fn choose(table: &mut RouteTable, others: &mut OtherRecords, selected: &[bool]) {
    let is_selected = |to: &NextHop| selected[to.get() as usize];
    for (prefix, others) in others {
        others.retain(is_selected);
        let Some(&last) = others.last() else { continue };
        let mut put = |last| {
            popfib::by_family!(*prefix, |prefix: Prefix<A>| A::of_mut(&mut table.ribs)
                .insert(prefix, last))
        };
        match put(last) {
            Some(later) if is_selected(&later) => put(later),
            _ => others.pop(),
        };
    }
}

/// The index of the column of this name, or why there is none.
pub(crate) fn column(records: &Records, name: &str) -> Result<usize, String> {
    let value = || (name == VALUE).then(|| records.value_column());
    let found = records.column(name).or_else(value);
    found.ok_or_else(|| no_column_message(name, Some(records)))
}

impl Condition {
    /// By the codes of the column, whether it has one of the values; 0 is absent.
    fn values_of(&self, column: &Column, tells: bool) -> Result<Vec<bool>, Failure> {
        let name = Escaped(&self.column);
        // AS64500 is 64500 in a column of bare numbers, and the reverse.
        let fitting = |value: &WantedValue| match value.other() {
            Some(other)
                if self.relation == WantedRelation::Is
                    && !column_has(column, value)
                    && column_has(column, &other) =>
            {
                other
            }
            _ => value.clone(),
        };
        let values: Vec<_> = self.values.iter().map(fitting).collect();
        if let Some(wrong) = values
            .iter()
            .find(|value| !value.may_be_in(column, self.relation))
        {
            let (wrong, kind) = (&wrong.text, column.column_type().name());
            return Err(format!("--where: {name} is of the type {kind}, not {wrong:?}").into());
        }
        let mut is_known = vec![false; values.len()];
        let mut is_one = |scalar| {
            let mut found = false;
            for (value, is_known) in values.iter().zip(&mut is_known) {
                let is_it = value.is(scalar, self.relation);
                found |= is_it;
                *is_known |= is_it;
            }
            found
        };
        let mut has = vec![false];
        has.extend(
            (1..=column.len() as u32).map(|code| match column.value(code) {
                None => false,
                Some(Cell::Scalar(scalar)) => is_one(scalar),
                // All elements, without stopping at the first, so that `is_known` learns of each.
                Some(Cell::List(list)) => list.iter().fold(false, |any, one| is_one(one) | any),
            }),
        );
        for (value, _) in values
            .iter()
            .zip(is_known)
            .filter(|(_, known)| tells && !known && self.relation == WantedRelation::Is)
        {
            let value = Escaped(&value.text);
            note!("--where: no record has {name}={value}");
        }
        Ok(has)
    }
}

/// Whether a value of the column is this one. O(values).
fn column_has(column: &Column, value: &WantedValue) -> bool {
    let cells = (1..=column.len() as u32).filter_map(|code| column.value(code));
    let mut cells = cells.map(|cell| match cell {
        Cell::Scalar(scalar) => value.is(scalar, WantedRelation::Is),
        Cell::List(list) => list
            .iter()
            .any(|scalar| value.is(scalar, WantedRelation::Is)),
    });
    cells.any(|is| is)
}

#[cfg(test)]
mod tests {
    use popfib_table::{CellKind, RecordsBuilder};

    use super::*;

    fn parse(text: &str) -> (String, bool, Vec<String>) {
        let condition: Condition = text.parse().unwrap();
        let values = condition.values.into_iter().map(|value| value.text);
        (condition.column, condition.is_not, values.collect())
    }

    #[test]
    fn conditions_are_read_as_they_are_written() {
        let condition = |column: &str, is_not, values: &[&str]| {
            let values = values.iter().map(|&value| value.to_owned());
            (column.to_owned(), is_not, values.collect())
        };
        assert_eq!(parse("a=b"), condition("a", false, &["b"]));
        assert_eq!(parse("a!=b,c"), condition("a", true, &["b", "c"]));
        assert_eq!(parse("a="), condition("a", false, &[""]));
        assert_eq!(parse("a!b=c=d!=e"), condition("a!b", false, &["c=d!=e"]));
        assert_eq!(parse(r"a=b\,c,d\\"), condition("a", false, &["b,c", "d\\"]));
        assert_eq!(parse(r"a\=b\!=c\"), condition("a=b!", false, &["c\\"]));
        for wrong in ["", "a", "=b", "!=b", r"a\=b"] {
            assert!(wrong.parse::<Condition>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_absent_is_none_of_the_values() {
        let mut builder = RecordsBuilder::new();
        let country = builder.column("country").unwrap();
        let ports = builder.column("ports").unwrap();
        let rate = builder.column("rate").unwrap();
        for (text, numbers, float) in [
            (Some("AT"), &["22", "443"][..], Some("1.5")),
            (Some("DE"), &["443"], None),
            (None, &[], Some("-0.25")),
        ] {
            text.into_iter()
                .for_each(|text| builder.set(country, CellKind::Text, text));
            float
                .into_iter()
                .for_each(|float| builder.set(rate, CellKind::Float, float));
            if !numbers.is_empty() {
                builder.set_list(ports, numbers.iter().map(|n| (CellKind::Integer, n)));
            }
            builder.finish_record();
        }
        let records = builder.build().records;
        let chosen = |conditions: &[&str]| {
            let conditions: Vec<_> = conditions.iter().map(|c| c.parse().unwrap()).collect();
            let selected = selected(&conditions, &records, false).map_err(|e| e.to_string())?;
            let selected = selected.iter().map(|&is| u8::from(is));
            Ok::<Vec<_>, String>(selected.collect())
        };
        let is = |conditions: &[&str], wanted: [u8; 4]| {
            assert_eq!(chosen(conditions), Ok(wanted.to_vec()), "{conditions:?}");
        };
        is(&[], [0, 1, 1, 1]);
        is(&["country=AT,DE"], [0, 1, 1, 0]);
        is(&["country!=AT"], [0, 0, 1, 1]);
        is(&["value!=AT"], [0, 0, 1, 1]);
        is(&["ports=443"], [0, 1, 1, 0]);
        is(&["ports=022"], [0, 1, 0, 0]);
        is(&["ports!=22"], [0, 0, 1, 1]);
        is(&["rate=1.50"], [0, 1, 0, 0]);
        is(&["rate>=1.5"], [0, 1, 0, 0]);
        is(&["rate<1.5"], [0, 0, 0, 1]);
        is(&["rate>-1"], [0, 1, 0, 1]);
        is(&["ports<=22"], [0, 1, 0, 0]);
        is(&["country~a,x"], [0, 1, 0, 0]);
        is(&["country!~a"], [0, 0, 1, 1]);
        is(&["country>1"], [0, 0, 0, 0]);
        is(&["ports=443", "country!=DE"], [0, 1, 0, 0]);
        let wrong = |conditions: &[&str]| chosen(conditions).unwrap_err();
        assert_eq!(
            wrong(&["ports=ssh"]),
            "--where: ports is of the type list of integers, not \"ssh\""
        );
        assert_eq!(
            wrong(&["as=1"]),
            "--where: no column \"as\" in \"country\", \"ports\", \"rate\""
        );
    }
}
