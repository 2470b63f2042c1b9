//! `popfib count`: how often addresses of each value or prefix come in a stream.

use std::collections::{HashMap, HashSet};
use std::io::{self, IsTerminal};

use clap::{Args, ValueEnum};
use popfib::{Address, Kernel};
use popfib_formats::{AddressBatch, Escaped, Part, Run, part_of};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::args::kernel;
use crate::failure::Failure;
use crate::output::{Output, note};
use crate::program::Verdict;
use crate::stream::answers::Answers;
use crate::stream::routes::Family;
use crate::stream::source::Source;
use crate::stream::tables::{Table, TablesArgs};
use crate::stream::{self, Consumer, InputArgs};
use crate::table::counted;

/// Count the addresses of a stream by value or prefix, the most frequent first.
///
/// Columns are the count and the value, separated by a tab; `-` is what has no match, or no address.
/// Several tables are crossed: one count for each combination of their values.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib count --top 20 access.log
  popfib count --by prefix --unique access.log
  popfib count --table asn=asn.mmdb --table country=country.mmdb --shares access.log
  popfib count --field 1 --weight 10 access.log
  popfib count flows.csv --column src --weight bytes --json")]
pub(crate) struct CountArgs {
    /// What is counted
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = By::Value)]
    by: By,

    /// The first N only; the rest is added up as one
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Add up the numbers of this field of a line, column of a table or path of a JSON object, in place of ones
    #[arg(long, value_name = "N|NAME|PATH")]
    weight: Option<String>,

    /// Count each address once
    #[arg(long, conflicts_with = "weight")]
    unique: bool,

    /// Print the share of each in percent, too
    #[arg(long)]
    shares: bool,

    /// Form of the output
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Text)]
    output: Form,

    /// The same as --output json-lines
    #[arg(long, conflicts_with = "output")]
    json: bool,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    tables: TablesArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// The value of the matched route
    Value,
    /// The matched prefix, with its value
    Prefix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Columns after tabs, with bars on a terminal
    Text,
    /// A table with a header
    Csv,
    /// One JSON object a line
    #[value(alias = "jsonl")]
    JsonLines,
}

pub(crate) fn run(args: &CountArgs) -> Result<Verdict, Failure> {
    args.input.check(&args.tables)?;
    let with_prefixes = args.by == By::Prefix;
    let tables = args.tables.load(with_prefixes)?;
    let mut count = Count {
        args,
        kernel: kernel()?,
        tables: &tables,
        ipv4: None,
        ipv6: None,
        labels: vec![vec![]; tables.len()],
        crossed: HashMap::new(),
        single: Vec::new(),
        seen: (HashSet::new(), HashSet::new()),
        weight: None,
        weightless: 0,
    };
    for file in args.input.files() {
        stream::read(&file, &args.input, &args.tables.read, &mut count)?;
    }
    if count.weightless > 0 {
        let lines = counted(count.weightless, "line");
        note(format_args!(
            "{lines} without a number to add, which is taken as 0"
        ));
    }
    count.print()?;
    Ok(Verdict::Good)
}

struct Count<'t> {
    args: &'t CountArgs,
    kernel: Kernel,
    tables: &'t [Table],
    ipv4: Option<Counted<u32>>,
    ipv6: Option<Counted<u128>>,
    /// What each number of a table means, from 1.
    labels: Vec<Vec<(String, String)>>,
    /// By the numbers of the answers of all tables, 0 for none.
    crossed: HashMap<Box<[u32]>, u64>,
    /// The same of one table, by its number.
    single: Vec<Option<u64>>,
    seen: (HashSet<u32>, HashSet<u128>),
    /// Where the number stands that is added.
    weight: Option<Weight>,
    weightless: u64,
}

/// The tables of one family.
struct Counted<A: Address> {
    /// Answers, and how many labels of the table come before those of this family.
    tables: Vec<(Answers<A>, u32)>,
    numbers: Vec<Vec<u32>>,
}

enum Weight {
    Part(Part),
    /// A column of a table, by its place from 0, and what separates columns.
    Column(usize, u8),
}

impl Consumer for Count<'_> {
    fn open(&mut self, name: &str, source: &Source) -> Result<(), Failure> {
        let Some(weight) = &self.args.weight else {
            return Ok(());
        };
        if !source.is_text() {
            return Err(format!("{name} is no text, and so has nothing for --weight").into());
        }
        let number: Option<usize> = weight.parse().ok().filter(|&number| number > 0);
        self.weight = Some(if let Some(table) = source.table() {
            let header = table.header.unwrap_or_default();
            let named = cells(header, table.delimiter).position(|cell| cell == weight.as_bytes());
            let column = named.or(number.map(|number| number - 1));
            let missing = || format!("{name}: no column {weight} for --weight");
            Weight::Column(column.ok_or_else(missing)?, table.delimiter)
        } else if source.is_json() {
            Weight::Part(Part::Path(weight.split('.').map(str::to_owned).collect()))
        } else {
            let missing = || format!("{name}: --weight is the number of a field, from 1 on");
            Weight::Part(Part::Field(
                number.ok_or_else(missing)?,
                self.args.input.delimiter(),
            ))
        });
        Ok(())
    }

    fn take(&mut self, batch: &AddressBatch, _: &Source) -> Result<bool, Failure> {
        let (tables, kernel) = (self.tables, self.kernel);
        look_up(
            batch.ipv4(),
            &mut self.ipv4,
            &mut self.labels,
            tables,
            kernel,
        )?;
        look_up(
            batch.ipv6(),
            &mut self.ipv6,
            &mut self.labels,
            tables,
            kernel,
        )?;
        let weights = self.weights(batch);
        let mut weights = weights.iter();
        let mut key = vec![0; tables.len()];
        let (mut at_4, mut at_6) = (0, 0);
        for &run in batch.runs() {
            let (Run::Ipv4(count) | Run::Ipv6(count) | Run::Missing(count)) = run;
            for _ in 0..count {
                let mut weight = weights.next().copied().unwrap_or(1);
                match run {
                    Run::Ipv4(_) => {
                        weight *= self.is_new(|seen| seen.0.insert(batch.ipv4()[at_4]));
                        fill(&mut key, &self.ipv4, at_4);
                        at_4 += 1;
                    }
                    Run::Ipv6(_) => {
                        weight *= self.is_new(|seen| seen.1.insert(batch.ipv6()[at_6]));
                        fill(&mut key, &self.ipv6, at_6);
                        at_6 += 1;
                    }
                    Run::Missing(_) => {
                        weight *= u64::from(!self.args.unique);
                        key.fill(0);
                    }
                }
                // An address that was there before is none of its value's first.
                if weight > 0 || self.args.weight.is_some() {
                    self.add(&key, weight);
                }
            }
        }
        Ok(true)
    }
}

/// Looks up `addresses` in all tables, which are compiled at the first.
fn look_up<A: Family>(
    addresses: &[A],
    family: &mut Option<Counted<A>>,
    labels: &mut [Vec<(String, String)>],
    tables: &[Table],
    kernel: Kernel,
) -> Result<(), Failure> {
    if addresses.is_empty() {
        return Ok(());
    }
    if family.is_none() {
        let mut compiled = Vec::new();
        for (table, labels) in tables.iter().zip(labels) {
            // Values have the same numbers in both families, prefixes don't.
            let before = if table.with_prefixes {
                labels.len() as u32
            } else {
                0
            };
            let is_known = !table.with_prefixes && !labels.is_empty();
            let answers = Answers::new(&table.routes, kernel, table.with_prefixes, |answer| {
                if !is_known {
                    let prefix = answer.prefix.unwrap_or_default();
                    labels.push((prefix.to_owned(), answer.next_hop.to_owned()));
                }
            })?;
            compiled.push((answers, before));
        }
        *family = Some(Counted {
            numbers: vec![Vec::new(); compiled.len()],
            tables: compiled,
        });
    }
    if let Some(Counted { tables, numbers }) = family {
        for ((answers, before), numbers) in tables.iter().zip(numbers) {
            answers.numbers(addresses, numbers);
            for number in numbers.iter_mut().filter(|number| **number != 0) {
                *number += before;
            }
        }
    }
    Ok(())
}

/// The numbers of the answers to the address at this place of the batch.
fn fill<A: Address>(key: &mut [u32], family: &Option<Counted<A>>, at: usize) {
    if let Some(family) = family {
        for (number, numbers) in key.iter_mut().zip(&family.numbers) {
            *number = numbers[at];
        }
    }
}

impl Count<'_> {
    /// 1, or 0 for an address that was there before, if each counts once.
    fn is_new(&mut self, insert: impl FnOnce(&mut (HashSet<u32>, HashSet<u128>)) -> bool) -> u64 {
        u64::from(!self.args.unique || insert(&mut self.seen))
    }

    /// Adds to what a combination of answers has.
    #[inline]
    fn add(&mut self, key: &[u32], weight: u64) {
        let count = match *key {
            // Of one table the number says where: no hashing.
            [number] => {
                let index = number as usize;
                if self.single.len() <= index {
                    self.single.resize(index + 1, None);
                }
                self.single[index].get_or_insert(0)
            }
            _ => match self.crossed.get_mut(key) {
                Some(count) => count,
                None => self.crossed.entry(key.into()).or_insert(0),
            },
        };
        *count = count.saturating_add(weight);
    }

    /// All combinations that came, and what they have.
    fn counts(&self) -> impl Iterator<Item = (Vec<u32>, u64)> {
        let crossed = self
            .crossed
            .iter()
            .map(|(key, &count)| (key.to_vec(), count));
        let single = (0..).zip(&self.single);
        let single = single.filter_map(|(number, count)| Some((vec![number], (*count)?)));
        crossed.chain(single)
    }

    /// The weight of each address or row without one; empty if all are 1.
    fn weights(&mut self, batch: &AddressBatch) -> Vec<u64> {
        let Some(weight) = &self.weight else {
            return Vec::new();
        };
        let cells_a_row = batch.cells().len() / batch.rows().len().max(1);
        let mut counts = batch.cells().iter();
        let mut weights = Vec::new();
        for row in batch.rows() {
            let text = match weight {
                Weight::Part(part) => part_of(row, part).map(<[u8]>::to_vec),
                Weight::Column(index, delimiter) => cells(row, *delimiter).nth(*index),
            };
            let number = text.and_then(|text| {
                let text = text.trim_ascii();
                let text = text.strip_prefix(b"\"").unwrap_or(text);
                let text = text.strip_suffix(b"\"").unwrap_or(text);
                std::str::from_utf8(text).ok()?.parse().ok()
            });
            self.weightless += u64::from(number.is_none());
            let many = match cells_a_row {
                0 => 1,
                cells => counts
                    .by_ref()
                    .take(cells)
                    .map(|&n| n.max(1) as usize)
                    .sum(),
            };
            weights.extend(std::iter::repeat_n(number.unwrap_or(0), many));
        }
        weights
    }

    /// The names of the columns after that of the count.
    fn columns(&self) -> Vec<String> {
        self.tables
            .iter()
            .flat_map(|table| table.columns(""))
            .collect()
    }

    /// What a combination of answers says, column by column; none where there is no match.
    fn cells(&self, key: &[u32]) -> Vec<Option<&str>> {
        let mut cells = Vec::new();
        for ((&number, table), labels) in key.iter().zip(self.tables).zip(&self.labels) {
            let label = (number as usize).checked_sub(1).map(|index| &labels[index]);
            if table.with_prefixes {
                cells.push(label.map(|label| label.0.as_str()));
            }
            cells.push(label.map(|label| label.1.as_str()));
        }
        cells
    }

    fn print(&self) -> Result<(), Failure> {
        let counts = self.counts();
        let mut rows: Vec<(u64, Vec<Option<&str>>)> = counts
            .map(|(key, count)| (count, self.cells(&key)))
            .collect();
        rows.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let total: u64 = rows.iter().map(|row| row.0).fold(0, u64::saturating_add);
        let columns = self.columns();
        if let Some(top) = self.args.top
            && rows.len() > top
        {
            let rest = rows
                .drain(top..)
                .map(|row| row.0)
                .fold(0, u64::saturating_add);
            let mut cells = vec![None; columns.len()];
            cells[0] = Some("(the rest)");
            rows.push((rest, cells));
        }
        let mut output = Output::new();
        let form = if self.args.json {
            Form::JsonLines
        } else {
            self.args.output
        };
        if form == Form::Csv {
            let share = if self.args.shares { "share," } else { "" };
            output.text(format_args!("count,{share}{}\n", columns.join(",")))?;
        }
        let most = rows.iter().map(|row| row.0).max().unwrap_or(0);
        let with_bars = form == Form::Text && io::stdout().is_terminal();
        for (count, cells) in &rows {
            let share = *count as f64 / total.max(1) as f64 * 100.0;
            match form {
                Form::JsonLines => {
                    let rounded = (share * 1000.0).round() / 1000.0;
                    let names = columns.iter().map(String::as_str);
                    output.json(&Row {
                        count: *count,
                        share: self.args.shares.then_some(rounded),
                        cells: names.zip(cells.iter().copied()).collect(),
                    })?;
                }
                Form::Csv => {
                    output.text(count)?;
                    if self.args.shares {
                        output.text(format_args!(",{share:.3}"))?;
                    }
                    for cell in cells {
                        let cell = cell.unwrap_or_default();
                        let is_special = cell.contains([',', '"']);
                        match is_special {
                            true => {
                                output.text(format_args!(",\"{}\"", cell.replace('"', "\"\"")))?
                            }
                            false => output.text(format_args!(",{cell}"))?,
                        }
                    }
                    output.text("\n")?;
                }
                Form::Text => {
                    output.text(count)?;
                    if self.args.shares {
                        output.text(format_args!("\t{share:.3}"))?;
                    }
                    for cell in cells {
                        output.text(format_args!("\t{}", Escaped(cell.unwrap_or("-"))))?;
                    }
                    if with_bars {
                        let len = (*count as f64 / most.max(1) as f64 * 40.0).ceil() as usize;
                        output.text(format_args!("\t{}", "#".repeat(len)))?;
                    }
                    output.text("\n")?;
                }
            }
        }
        output.flush()
    }
}

/// A row as JSON, its members in the order of the columns.
struct Row<'r> {
    count: u64,
    share: Option<f64>,
    cells: Vec<(&'r str, Option<&'r str>)>,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("count", &self.count)?;
        if let Some(share) = self.share {
            object.serialize_entry("share", &share)?;
        }
        for (name, cell) in &self.cells {
            object.serialize_entry(name, cell)?;
        }
        object.end()
    }
}

/// The cells of a row, without the quotes around them.
fn cells(row: &[u8], delimiter: u8) -> impl Iterator<Item = Vec<u8>> {
    let mut rest = Some(row);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut in_quotes = false;
        let end = text.iter().position(|&byte| {
            in_quotes ^= byte == b'"';
            byte == delimiter && !in_quotes
        });
        let cell = &text[..end.unwrap_or(text.len())];
        rest = end.map(|end| &text[end + 1..]);
        let quoted = cell
            .strip_prefix(b"\"")
            .and_then(|cell| cell.strip_suffix(b"\""));
        Some(quoted.unwrap_or(cell).to_vec())
    })
}
