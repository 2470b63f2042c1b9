//! `popfib count`: how often addresses of each value or prefix come in a stream.

use std::collections::{HashMap, HashSet};
use std::io::{self, IsTerminal};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use popfib::{Address, Kernel};
use popfib_formats::{AddressBatch, CsvRecord, Escaped, Part, Run, part_of};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::args::kernel;
use crate::failure::Failure;
use crate::output::{Output, note};
use crate::program::Verdict;
use crate::stream::answers::{Answers, Lazy, Looked};
use crate::stream::routes::Family;
use crate::stream::source::Source;
use crate::stream::table::Table;
use crate::stream::tables::TablesArgs;
use crate::stream::{self, Consumer, InputArgs};
use crate::table::counted;

/// Count the addresses of a stream by value or prefix, the most frequent first.
///
/// Columns are the count and the value, separated by a tab; `-` counts what has no match or no address. With
/// several tables there is one count for each combination of their values.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib count --top 20 access.log
  popfib count --by prefix --unique access.log
  popfib count --table asn=asn.mmdb --table country=country.mmdb --shares access.log
  popfib count --field 1 --weight 10 access.log
  popfib count flows.csv --column src --weight bytes --json")]
pub(crate) struct CountArgs {
    /// What to count by
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = By::Value)]
    by: By,

    /// Print the N most frequent; the others are added up in one row
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Add up the numbers in this field of a line, column of a table or path of a JSON object instead of
    /// counting addresses
    #[arg(long, value_name = "N|NAME|PATH")]
    weight: Option<String>,

    /// Count each distinct address once
    #[arg(long, conflicts_with = "weight")]
    unique: bool,

    /// Also print the share of each count in percent
    #[arg(long)]
    shares: bool,
    /// Format of the output
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
    /// Columns separated by tabs, with bars on a terminal
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
        ipv4: Arc::new(Lazy::new()),
        ipv6: Arc::new(Lazy::new()),
        numbers: Default::default(),
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
    /// With each table, how many of its labels come before those of the family.
    ipv4: Arc<Lazy<u32, u32>>,
    ipv6: Arc<Lazy<u128, u32>>,
    numbers: [Vec<Vec<u32>>; 2],
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

enum Weight {
    Part(Part),
    /// A column of a table, by its place from 0, and what takes rows apart.
    Column(usize, Box<CsvRecord>),
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
            let mut record = CsvRecord::new(table.delimiter);
            record.split(table.header.unwrap_or_default());
            let named = record.cells().position(|cell| cell == weight.as_bytes());
            let column = named.or(number.map(|number| number - 1));
            let missing = || format!("{name}: no column {weight} for --weight");
            Weight::Column(column.ok_or_else(missing)?, Box::new(record))
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
        // Out of `self` while that adds up.
        let [mut numbers_4, mut numbers_6] = std::mem::take(&mut self.numbers);
        let labels = &mut self.labels;
        let (lazy_4, lazy_6) = (Arc::clone(&self.ipv4), Arc::clone(&self.ipv6));
        let of_4 = look_up(
            batch.ipv4(),
            &lazy_4,
            tables,
            kernel,
            labels,
            &mut numbers_4,
        )?;
        let of_6 = look_up(
            batch.ipv6(),
            &lazy_6,
            tables,
            kernel,
            labels,
            &mut numbers_6,
        )?;
        if tables.len() == 1 && self.weight.is_none() && !self.args.unique {
            self.add_ones(&of_4);
            self.add_ones(&of_6);
            let missing = batch.len() - batch.ipv4().len() - batch.ipv6().len();
            if missing > 0 {
                self.add(&[0], missing as u64);
            }
        } else {
            self.add_each(batch, &of_4, &of_6);
        }
        self.numbers = [numbers_4, numbers_6];
        Ok(true)
    }
}

/// Looks up `addresses` in all tables: the numbers of their labels within the family, 0 for none.
fn look_up<'l, A: Family>(
    addresses: &'l [A],
    family: &'l Lazy<A, u32>,
    tables: &[Table],
    kernel: Kernel,
    labels: &mut [Vec<(String, String)>],
    numbers: &'l mut Vec<Vec<u32>>,
) -> Result<Looked<'l, A, u32>, Failure> {
    family.look_up(addresses, tables, numbers, |(index, table)| {
        let labels = &mut labels[index];
        // Values have the same numbers in both families, prefixes don't.
        let before = if table.with_prefixes {
            labels.len() as u32
        } else {
            0
        };
        let routes = &table.routes;
        let answers = if table.with_prefixes {
            Answers::numbered(routes, kernel, |prefix, next_hop| {
                labels.push((prefix.to_owned(), routes.name(next_hop).to_owned()));
            })?
        } else {
            if labels.is_empty() {
                labels.extend(routes.names().map(|name| (String::new(), name.to_owned())));
            }
            Answers::values(routes, kernel)?
        };
        Ok((answers, before))
    })
}

/// The labels of the address at this place of the batch.
fn fill<A: Address>(key: &mut [u32], looked: &Looked<'_, A, u32>, at: usize) {
    let tables = looked.tables.iter().zip(looked.numbers);
    for (label, ((_, before), numbers)) in key.iter_mut().zip(tables) {
        *label = label_of(numbers[at], *before);
    }
}

#[inline]
fn label_of(number: u32, before: u32) -> u32 {
    if number == 0 { 0 } else { number + before }
}

impl Count<'_> {
    /// Counts the addresses of a batch, row by row.
    fn add_each(
        &mut self,
        batch: &AddressBatch,
        of_4: &Looked<'_, u32, u32>,
        of_6: &Looked<'_, u128, u32>,
    ) {
        let weights = self.weights(batch);
        let mut weights = weights.iter();
        let mut key = vec![0; self.tables.len()];
        let (mut at_4, mut at_6) = (0, 0);
        for &run in batch.runs() {
            let (Run::Ipv4(count) | Run::Ipv6(count) | Run::Missing(count)) = run;
            for _ in 0..count {
                let mut weight = weights.next().copied().unwrap_or(1);
                match run {
                    Run::Ipv4(_) => {
                        weight *= self.is_new(|seen| seen.0.insert(batch.ipv4()[at_4]));
                        fill(&mut key, of_4, at_4);
                        at_4 += 1;
                    }
                    Run::Ipv6(_) => {
                        weight *= self.is_new(|seen| seen.1.insert(batch.ipv6()[at_6]));
                        fill(&mut key, of_6, at_6);
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
    }

    /// The usual case of [`Count::add_each`]: one table, each address once.
    fn add_ones<A: Address>(&mut self, looked: &Looked<'_, A, u32>) {
        for ((_, before), numbers) in looked.tables.iter().zip(looked.numbers) {
            let labels = self.labels[0].len() + 1;
            if self.single.len() < labels {
                self.single.resize(labels, None);
            }
            for &number in numbers {
                *self.single[label_of(number, *before) as usize].get_or_insert(0) += 1;
            }
        }
    }

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
        let Some(weight) = &mut self.weight else {
            return Vec::new();
        };
        let cells_a_row = batch.cells().len() / batch.rows().len().max(1);
        let mut counts = batch.cells().iter();
        let mut weights = Vec::new();
        for row in batch.rows() {
            let text = match weight {
                Weight::Part(part) => part_of(row, part),
                Weight::Column(index, record) => {
                    record.split(row);
                    record.cell(*index)
                }
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
