//! `popfib count`: how often addresses of each value or prefix come in a stream.

mod json;
mod picture;
mod same;
mod text;
mod weight;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::iter;
use std::path::PathBuf;

use clap::{Arg, Args};
use popfib::{Family, Kernel, NextHop};
use popfib_formats::{AddressBatch, Run};
use popfib_table::Cell;

use crate::args::{ReportArgs, ReportForm, kernel};
use crate::destination::Destination;
use crate::failure::Failure;
use crate::output::{csv_cell, note};
use crate::program::Verdict;
use crate::records::shown;
use crate::screen::Screen;
use crate::stream::answers::{self, Ask, Routes};
use crate::stream::form::text;
use crate::stream::seen::Seen;
use crate::stream::source::Source;
use crate::stream::table::NamedTable;
use crate::stream::tables::TablesArgs;
use crate::stream::{self, Consumer, InputArgs};
use crate::table::counted;

use json::Line;
use same::Same;
use text::Text;
use weight::{Sum, Weight};

/// Count the addresses of a stream by value or prefix.
///
/// The most frequent are first. Columns are the count and the value, separated by a tab, on a terminal also the share and a bar; `-`
/// counts what has no match or no address. With
/// several columns or tables there is one count for each combination of their values.
#[derive(Args)]
#[command(mut_arg("columns", by))]
#[command(after_help = "\
Examples:
  popfib count --top 20 access.log
  popfib count --by prefix --unique access.log
  popfib count -t City.mmdb --by country.iso_code,city.names.en access.log
  popfib count --svg -o top.svg access.log
  popfib count flows.csv --column src --weight bytes --json")]
#[command(after_long_help = "\
  popfib count -t asn=asn.mmdb -t country=country.mmdb --shares access.log
  popfib count --field 1 --weight 10 access.log")]
pub(crate) struct CountArgs {
    /// Print the N most frequent
    ///
    /// The others are added up in one row.
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Add up the numbers in this field, column or path
    ///
    /// Numbers with or without decimals, in a field of a line, column of a table or path of a JSON object, instead of counting
    /// addresses.
    #[arg(long, value_name = "N|NAME|PATH")]
    weight: Option<String>,

    /// Count each distinct address once
    #[arg(long, conflicts_with = "weight")]
    unique: bool,

    /// Also print the share of each count in percent
    #[arg(long)]
    shares: bool,

    #[command(flatten)]
    form: ReportArgs,

    /// Draw the 20 most frequent, or those of --top, as bars in SVG
    #[arg(long, conflicts_with_all = ["to", "json"])]
    svg: bool,

    /// Output file [default: standard output]
    ///
    /// It is compressed if its name ends in .gz, .bz2 or .zst. An old file is replaced when the new one is complete.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    tables: TablesArgs,
}

/// What other commands call `--columns` is what is counted by here.
fn by(columns: Arg) -> Arg {
    let help = "Count by these columns of the table, with commas";
    let rest = "Columns of the table before it, as `popfib info` lists them; * is all, and `prefix` the matched \
                prefix [default: the value of a lookup].";
    columns
        .long("by")
        .value_name("COLUMNS")
        .help_heading(None::<&str>)
        .help(help)
        .long_help(format!("{help}\n\n{rest}"))
}

/// The column that is no part of a record.
const PREFIX: &str = "prefix";

impl CountArgs {
    /// What is counted, as a heading.
    fn counted(&self) -> String {
        match &self.weight {
            Some(weight) => format!("Sum of {weight}"),
            None if self.unique => "Distinct addresses".to_owned(),
            None => "Addresses".to_owned(),
        }
    }
}

pub(crate) fn run(args: &CountArgs) -> Result<Verdict, Failure> {
    args.input
        .check(args.tables.on_stdin(), &args.tables.read)?;
    let is_several = args.input.cells().len() > 1 || args.input.takes_all();
    if args.weight.is_some() && is_several {
        let reason = "the number of a line would be added for each of its addresses; --address N chooses one";
        return Err(format!("--weight: {reason}").into());
    }
    let mut target = Destination::open(args.output.as_deref())?;
    let is_seen = target.screen().is_terminal && args.form.form() == ReportForm::Text;
    let tables = args.tables.load_by(PREFIX, is_seen || args.svg)?;
    let mut count = Count {
        args,
        kernel: kernel()?,
        tables: &tables,
        ipv4: tables.iter().map(|_| Routes::default()).collect(),
        ipv6: tables.iter().map(|_| Routes::default()).collect(),
        numbers: Default::default(),
        routes: tables.iter().map(|_| Vec::new()).collect(),
        crossed: HashMap::new(),
        single: Vec::new(),
        seen: (HashSet::new(), HashSet::new()),
        weight: None,
        weightless: 0,
        weighed: 0,
    };
    let mut seen = Seen::default();
    let read = &args.tables.read;
    for file in args.input.files() {
        stream::read(&file, &args.input, read, &mut count, &mut seen)?;
    }
    seen.finish(false)?;
    if let Some(weight) = args
        .weight
        .as_ref()
        .filter(|_| count.weightless == count.weighed)
    {
        if count.weightless > 0 {
            return Err(format!("no line has a number at {weight} for --weight to add").into());
        }
    } else if count.weightless > 0 {
        let lines = counted(count.weightless, "line");
        note(format_args!(
            "{lines} without a number from 0 to 2^64 - 1, which is taken as 0"
        ));
    }
    let lines = count.lines(target.screen());
    target.bytes(&lines)?;
    target.finish()?;
    Ok(Verdict::Good)
}

struct Count<'t> {
    args: &'t CountArgs,
    kernel: Kernel,
    tables: &'t [NamedTable],
    /// The routes of each table, where prefixes are counted.
    ipv4: Vec<Routes<u32>>,
    ipv6: Vec<Routes<u128>>,
    /// By family and table, the numbers of the answers of the batch at hand.
    numbers: [Vec<Vec<u32>>; 2],
    /// What each number of a table's answers means, from 1, where prefixes are counted; otherwise they are those of records.
    routes: Vec<Vec<Counted>>,
    /// By the numbers of the answers of all tables, 0 for none.
    crossed: HashMap<Box<[u32]>, Sum>,
    /// The same of one table, by its number, where addresses are counted and nothing is added up.
    single: Vec<Option<u64>>,
    seen: (HashSet<u32>, HashSet<u128>),
    /// Where the number stands that is added.
    weight: Option<Weight>,
    /// Rows without a number, and all.
    weightless: u64,
    weighed: u64,
}

impl Consumer for Count<'_> {
    fn writes(&self) -> bool {
        false
    }

    fn open(&mut self, name: &str, source: &Source) -> Result<(), Failure> {
        if let Some(weight) = &self.args.weight {
            let delimiter = self.args.input.delimiter();
            self.weight = Some(Weight::new(weight, delimiter, name, source)?);
        }
        Ok(())
    }

    fn take(&mut self, batch: &AddressBatch, _: &Source) -> Result<bool, Failure> {
        let (tables, kernel, routes) = (self.tables, self.kernel, &mut self.routes);
        // Out of `self` while that adds up.
        let [mut of_4, mut of_6] = std::mem::take(&mut self.numbers);
        look_up(
            batch.ipv4(),
            tables,
            &mut self.ipv4,
            kernel,
            routes,
            &mut of_4,
        )?;
        look_up(
            batch.ipv6(),
            tables,
            &mut self.ipv6,
            kernel,
            routes,
            &mut of_6,
        )?;
        if tables.len() == 1 && self.weight.is_none() && !self.args.unique {
            self.add_ones(&of_4[0]);
            self.add_ones(&of_6[0]);
            let missing = batch.len() - batch.ipv4().len() - batch.ipv6().len();
            if missing > 0 {
                self.single.resize(self.single.len().max(1), None);
                *self.single[0].get_or_insert(0) += missing as u64;
            }
        } else {
            self.add_each(batch, &of_4, &of_6);
        }
        self.numbers = [of_4, of_6];
        Ok(true)
    }
}

/// What a count is of, column by column, and the count.
type Row<'t> = (Sum, Vec<Option<Cell<'t>>>);

/// A route that is counted: its prefix, and the number of its record.
type Counted = (String, NextHop);

/// Looks up `addresses` in all tables: the numbers of their answers, 0 for none.
fn look_up<A: Family>(
    addresses: &[A],
    tables: &[NamedTable],
    numbered: &mut [Routes<A>],
    kernel: Kernel,
    routes: &mut [Vec<Counted>],
    numbers: &mut Vec<Vec<u32>>,
) -> Result<(), Failure> {
    numbers.resize_with(tables.len(), Vec::new);
    for (index, table) in tables.iter().enumerate() {
        let numbers = &mut numbers[index];
        if !table.with_prefixes {
            answers::look_up(&table.table, Ask::Value, kernel, addresses, numbers)?;
            continue;
        }
        let routes = &mut routes[index];
        let before = routes.len();
        let push = |prefix: &str, number| routes.push((prefix.to_owned(), number));
        numbered[index].look_up(&table.table, kernel, addresses, numbers, before, push)?;
    }
    Ok(())
}

/// The answers to the address at this place of the batch.
fn fill(key: &mut [u32], numbers: &[Vec<u32>], at: usize) {
    for (answer, numbers) in key.iter_mut().zip(numbers) {
        *answer = numbers[at];
    }
}

impl Count<'_> {
    /// Counts the addresses of a batch, row by row.
    fn add_each(&mut self, batch: &AddressBatch, of_4: &[Vec<u32>], of_6: &[Vec<u32>]) {
        // One a row, and so one an address.
        let weights = self.weight.as_mut().map(|weight| weight.of_rows(batch));
        let mut weights = weights.iter().flatten();
        let mut key = vec![0; self.tables.len()];
        let (mut at_4, mut at_6) = (0, 0);
        for &run in batch.runs() {
            let (Run::Ipv4(count) | Run::Ipv6(count) | Run::Missing(count)) = run;
            for _ in 0..count {
                let is_new = match run {
                    Run::Ipv4(_) => {
                        fill(&mut key, of_4, at_4);
                        at_4 += 1;
                        self.is_new(|seen| seen.0.insert(batch.ipv4()[at_4 - 1]))
                    }
                    Run::Ipv6(_) => {
                        fill(&mut key, of_6, at_6);
                        at_6 += 1;
                        self.is_new(|seen| seen.1.insert(batch.ipv6()[at_6 - 1]))
                    }
                    Run::Missing(_) => {
                        key.fill(0);
                        !self.args.unique
                    }
                };
                let weight = match weights.next() {
                    Some(weight) => {
                        self.weightless += u64::from(weight.is_none());
                        self.weighed += 1;
                        weight.unwrap_or_default()
                    }
                    None => Sum::of(1),
                };
                // An address that was there before is none of its value's first.
                if is_new {
                    self.add(&key, weight);
                }
            }
        }
    }

    /// The usual case of [`Count::add_each`]: one table, each address once.
    fn add_ones(&mut self, numbers: &[u32]) {
        let table = &self.tables[0];
        let answers = 1 + match table.with_prefixes {
            true => self.routes[0].len(),
            false => table.table.value_count().unwrap_or(0) as usize,
        };
        if self.single.len() < answers {
            self.single.resize(answers, None);
        }
        for &number in numbers {
            *self.single[number as usize].get_or_insert(0) += 1;
        }
    }

    /// Whether an address counts: false for one that was there before, if each counts once.
    fn is_new(&mut self, insert: impl FnOnce(&mut (HashSet<u32>, HashSet<u128>)) -> bool) -> bool {
        !self.args.unique || insert(&mut self.seen)
    }

    /// Adds to what a combination of answers has.
    #[inline]
    fn add(&mut self, key: &[u32], weight: Sum) {
        match self.crossed.get_mut(key) {
            Some(sum) => *sum += weight,
            None => {
                self.crossed.insert(key.into(), weight);
            }
        }
    }

    /// All combinations that came, and what they have.
    fn counts(&self) -> impl Iterator<Item = (Vec<u32>, Sum)> {
        let crossed = self.crossed.iter();
        let crossed = crossed.map(|(key, &sum)| (key.to_vec(), sum));
        let single = (0..).zip(&self.single);
        let single = single.filter_map(|(number, count)| Some((vec![number], Sum::of((*count)?))));
        crossed.chain(single)
    }

    /// The names of the columns after that of the count.
    fn columns(&self) -> Vec<String> {
        self.tables
            .iter()
            .flat_map(|table| table.columns(""))
            .collect()
    }

    /// What a combination of answers says, column by column; none where there is no match.
    fn cells(&self, key: &[u32]) -> Vec<Option<Cell<'_>>> {
        let mut cells = Vec::new();
        for ((&number, table), routes) in key.iter().zip(self.tables).zip(&self.routes) {
            let number = match table.with_prefixes {
                false => NextHop::new(number),
                true => {
                    let route = (number as usize).checked_sub(1).map(|at| &routes[at]);
                    cells.push(route.map(|route| text(&route.0)));
                    route.map(|route| route.1)
                }
            };
            match number {
                Some(number) => cells.extend(table.cells(number)),
                None => cells.extend(iter::repeat_n(None, table.width())),
            }
        }
        cells
    }

    /// The values of each combination of answers, and its count. Records that are equal in all columns that are counted are one
    /// combination.
    fn merged(&self) -> Vec<Row<'_>> {
        let mut same: Vec<_> = self.tables.iter().map(Same::new).collect();
        if same.iter().all(Option::is_none) {
            let counts = self.counts();
            return counts
                .map(|(key, count)| (count, self.cells(&key)))
                .collect();
        }
        let mut merged: HashMap<Vec<u32>, Sum> = HashMap::new();
        for (mut key, count) in self.counts() {
            for (number, same) in key.iter_mut().zip(&mut same) {
                if let Some(same) = same {
                    *number = same.of(*number);
                }
            }
            *merged.entry(key).or_default() += count;
        }
        let merged = merged.into_iter();
        merged
            .map(|(key, count)| (count, self.cells(&key)))
            .collect()
    }

    /// The lines of all counts, with headings, shares and bars on a terminal.
    fn lines(&self, screen: Screen) -> Vec<u8> {
        let mut rows: Vec<Row<'_>> = self.merged();
        rows.sort_unstable_by(|(a, of_a), (b, of_b)| {
            let texts = of_a.iter().map(|cell| cell.map(shown));
            b.cmp(a)
                .then_with(|| texts.cmp(of_b.iter().map(|cell| cell.map(shown))))
        });
        let sum = |rows: &[Row<'_>]| {
            let mut sum = Sum::default();
            rows.iter().for_each(|row| sum += row.0);
            sum
        };
        let total = sum(&rows).as_f64();
        let columns = self.columns();
        if self.args.svg {
            let top = self.args.top.unwrap_or(picture::TOP);
            return picture::draw(&self.args.counted(), &columns, &rows, total, top);
        }
        if let Some(top) = self.args.top
            && rows.len() > top
        {
            let rest = sum(&rows[top..]);
            rows.truncate(top);
            let mut cells = vec![None; columns.len()];
            cells[0] = Some(text("(the rest)"));
            rows.push((rest, cells));
        }
        let mut out = Vec::new();
        let form = self.args.form.form();
        if form == ReportForm::Csv {
            out.extend(b"count");
            if self.args.shares {
                out.extend(b",share");
            }
            for name in &columns {
                out.push(b',');
                csv_cell(name, b',', &mut out);
            }
            out.push(b'\n');
        }
        // A bar is as long as the most frequent has it; the sum of the others may be more.
        let most = rows.first().map_or(0.0, |row| row.0.as_f64());
        let mut text = Text::new(screen, self.args.shares, most);
        if form == ReportForm::Text && !rows.is_empty() {
            text.heading(&columns, &mut out);
        }
        for (count, cells) in &rows {
            let share = ratio(*count, total) * 100.0;
            let cells = cells.iter().copied();
            match form {
                ReportForm::JsonLines => {
                    let rounded = (share * 1000.0).round() / 1000.0;
                    let names = columns.iter().map(String::as_str);
                    let line = Line {
                        count: *count,
                        share: self.args.shares.then_some(rounded),
                        cells: names.zip(cells).collect(),
                    };
                    serde_json::to_writer(&mut out, &line).expect("text is JSON");
                    out.push(b'\n');
                }
                ReportForm::Csv => {
                    let _ = write!(out, "{count}");
                    if self.args.shares {
                        let _ = write!(out, ",{share:.3}");
                    }
                    for cell in cells {
                        out.push(b',');
                        csv_cell(&cell.map_or(Cow::Borrowed(""), shown), b',', &mut out);
                    }
                    out.push(b'\n');
                }
                ReportForm::Text => text.row(*count, share, cells, &mut out),
            }
        }
        text.finish(&mut out);
        out
    }
}

/// A count's part of `all`; nothing of nothing.
fn ratio(count: Sum, all: f64) -> f64 {
    if all == 0.0 {
        0.0
    } else {
        count.as_f64() / all
    }
}
