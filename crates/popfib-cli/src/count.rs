//! `popfib count`: streams of addresses in; out comes how often each address, or each value or prefix of tables, came.
//!
//! A batch is turned into numbers: those of distinct addresses or networks, of records, or of the routes that matched. Counts are
//! kept by these numbers, and texts are made at the end, once for each count and not for each address.

mod addresses;
mod picture;
mod print;
mod same;
mod several;
mod text;
mod weight;

use std::collections::{HashMap, HashSet};
use std::iter;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Arg, Args};
use popfib::family::{ByFamily, Family, PerFamily};
use popfib::{Kernel, NextHop};
use popfib_formats::AddressBatch;
use popfib_formats::text::counted;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_table::Cell;

use crate::args::kernel;
use crate::condition;
use crate::destination::{Destination, form_by_name};
use crate::forms::{Form, FormArgs};
use crate::output::note;
use crate::records::text;
use crate::stream::answers::{Ask, LazyRouteNumbers};
use crate::stream::mapped::MappedMisses;
use crate::stream::seen::FilesSeen;
use crate::stream::source::StreamSource;
use crate::stream::table::NamedTable;
use crate::stream::table_column::{Asked, TableChoice, asked};
use crate::stream::tables::TablesArgs;
use crate::stream::{self, Consumer, InputArgs, parse_column};

use addresses::{CountedAddresses, is_of_addresses};
use same::EqualRecords;
use weight::{Sum, Weight};

/// Count the addresses of a stream by value or prefix.
///
/// The most frequent are first. Columns are the count and the value, separated by a tab, on a terminal also the share and a bar; `-`
/// counts what has no match or no address, `(no value)` what matches a route without a value. With
/// several columns or tables there is one count for each combination of their values.
#[derive(Args)]
#[command(mut_arg("columns", by))]
#[command(arg(condition::arg()))]
#[command(after_help = "\
Examples:
  popfib count --top 20 access.log
  popfib count --by prefix --unique access.log
  popfib count --by address --top 10 access.log
  popfib count -t City.mmdb --by country.iso_code,city.names.en access.log
  popfib count flows.csv --column src --weight bytes --json")]
#[command(after_long_help = "  popfib count -o top.svg access.log
  popfib count -t asn=asn.mmdb -t country=country.mmdb --shares access.log
  popfib count --field 1 --weight 10 access.log
  popfib count --by /24,/48 access.log
  popfib count flows.csv --column src --column dst --pairs --by address
  popfib count capture.pcap --sources --by address --weight bytes")]
pub(crate) struct CountArgs {
    /// Print the N most frequent
    ///
    /// The others are added up in one row.
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Add up the numbers in this field, column or path
    ///
    /// Numbers with or without decimals, in a field of a line, column of a table or path of a JSON object, instead of counting
    /// addresses. Of a capture `packets`, or `bytes` as they were on the wire.
    #[arg(long, value_name = "N|NAME|PATH")]
    weight: Option<String>,

    /// Count each distinct address once
    #[arg(long, conflicts_with = "weight")]
    unique: bool,

    /// Count rows, by what all of their addresses are
    ///
    /// Those of several --column, --field or --path, or of --sources and --destinations, in place of each address by itself.
    #[arg(long, conflicts_with = "unique")]
    pairs: bool,

    /// Also print the share of each count in percent
    #[arg(long)]
    shares: bool,

    #[command(flatten)]
    form: FormArgs,

    /// Draw the 20 most frequent, or those of --top, as bars in SVG
    #[arg(long, conflicts_with_all = ["to", "json", "csv"])]
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

    #[command(flatten)]
    table_column: TableChoice,
}

/// What other commands call `--columns` is what is counted by here.
fn by(columns: Arg) -> Arg {
    let help = "Columns of the table, `address` or /24, with commas";
    let rest = "Columns of the table before it, as `popfib info` lists them; * is all, and `prefix` the matched \
                prefix [default: the value of a lookup]. `address` counts by the addresses themselves, /24 or /24,/48 by their \
                networks, the length of IPv6 being /48 unless it is given; both without a table, unless one is named or \
                columns of it.";
    columns
        .long("by")
        .value_name("COLUMNS")
        .help_heading(None::<&str>)
        .help(help)
        .long_help(format!("{help}\n\n{rest}"))
}

/// The column of matched prefixes, which no record has.
const PREFIX: &str = "prefix";

impl CountArgs {
    /// What is counted, as a heading.
    fn counted(&self) -> String {
        match &self.weight {
            Some(weight) => format!("Sum of {weight}"),
            None if self.pairs => "Rows".to_owned(),
            None if self.unique => "Distinct addresses".to_owned(),
            None => "Addresses".to_owned(),
        }
    }
}

pub(crate) fn run(mut args: CountArgs) -> Result<Verdict, Failure> {
    let is_form = args.form.asked().is_some() || args.svg;
    let asked = is_form.then_some(if args.svg { "svg" } else { "text" });
    match form_by_name(args.output.as_deref(), asked, &["csv", "json-lines", "svg"])? {
        Some("csv") => args.form.ask(Form::Csv),
        Some("json-lines") => args.form.ask(Form::JsonLines),
        named => args.svg |= named.is_some(),
    }
    args.input
        .check(args.tables.on_stdin(), &args.tables.read)?;
    let mut cells = args.input.cells();
    if args.pairs && (cells.len() < 2 || args.input.takes_all()) {
        let reason = "for rows of several addresses, of two --column, --field or --path, or --sources --destinations";
        return Err(format!("--pairs is {reason}").into());
    }
    let is_several = !args.pairs && cells.len() > 1 || args.input.takes_all();
    if args.weight.is_some() && is_several {
        let reason = "the number of a line would be added for each of its addresses; --address N chooses one";
        return Err(format!("--weight: {reason}").into());
    }
    args.input.row_text = args.weight.as_deref().map(parse_column).transpose()?;
    args.tables.choose_by(&args.table_column, &mut args.input)?;
    let mut target = Destination::open(args.output.as_deref())?;
    let is_seen = target.screen().is_terminal && args.form.form() == Form::Text;
    if is_seen || args.svg {
        args.tables.name_numbers();
    }
    let args = &args;
    if !args.pairs {
        cells = vec![String::new()];
    }
    let columns = args.tables.columns().iter().cloned();
    let of_addresses: Vec<_> = columns.filter(|column| is_of_addresses(column)).collect();
    let addresses = CountedAddresses::new(&of_addresses)?;
    let tables = args.tables.load_by(PREFIX, is_of_addresses)?;
    let mut count = AddressCounter {
        args,
        kernel: kernel()?,
        cells,
        addresses,
        tables: &tables,
        numbered: ByFamily {
            ipv4: tables.iter().map(|_| LazyRouteNumbers::default()).collect(),
            ipv6: tables.iter().map(|_| LazyRouteNumbers::default()).collect(),
        },
        numbers: Default::default(),
        routes: tables.iter().map(|_| Vec::new()).collect(),
        others: tables.iter().map(|_| HashMap::new()).collect(),
        crossed: HashMap::new(),
        single: Vec::new(),
        seen: (HashSet::new(), HashSet::new()),
        weight: None,
        mapped: MappedMisses::default(),
        weightless: 0,
        weighed: 0,
        has_empty: false,
    };
    count.refuse_doubled()?;
    let mut seen = FilesSeen::default();
    let read = &args.tables.read;
    for file in args.input.files() {
        stream::read(&file, &args.input, read, &mut count, &mut seen)?;
    }
    seen.finish(false)?;
    count.mapped.note();
    args.table_column.note();
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
        note!("{lines} without a number from 0 to 2^64 - 1, which is taken as 0");
    }
    count.number_others();
    let lines = count.lines(target.screen());
    target.bytes(&lines)?;
    target.finish()?;
    Ok(Verdict::Good)
}

/// By family, the routes of each table that matched so far.
struct RoutesOfTables;

impl PerFamily for RoutesOfTables {
    type Of<A: Family> = Vec<LazyRouteNumbers<A>>;
}

struct AddressCounter<'t> {
    args: &'t CountArgs,
    kernel: Kernel,
    /// The names of the addresses that are counted together (`--pairs`); one without a name if each is counted by itself.
    cells: Vec<String>,
    /// The numbers of addresses or networks, if these are counted; their column comes before those of tables.
    addresses: Option<CountedAddresses>,
    tables: &'t [NamedTable],
    /// The routes of each table, if prefixes are counted.
    numbered: ByFamily<RoutesOfTables>,
    /// By family, the numbers of the addresses of the batch at hand if they are counted, and those of the answers of each table.
    numbers: [Vec<Vec<u32>>; 2],
    /// What each number of a table's answers means, from 1, if prefixes are counted; otherwise they are those of records.
    routes: Vec<Vec<CountedRoute>>,
    /// By the number of a route, those of the other records of its prefix.
    others: Vec<HashMap<u32, Vec<u32>>>,
    /// By the numbers of the address and the answers of all tables, 0 for none, cell by cell.
    crossed: HashMap<Box<[u32]>, Sum>,
    /// The same if the key is one number and each address counts 1.
    single: Vec<Option<u64>>,
    seen: (HashSet<u32>, HashSet<u128>),
    /// Where the number stands that is added up.
    weight: Option<Weight>,
    mapped: MappedMisses,
    /// Rows without such a number, and all rows.
    weightless: u64,
    weighed: u64,
    /// Whether a row had no address.
    has_empty: bool,
}

impl Consumer for AddressCounter<'_> {
    fn writes(&self) -> bool {
        false
    }

    fn open(&mut self, name: &str, source: &StreamSource) -> Result<(), Failure> {
        let input = &self.args.input;
        self.args.table_column.open(name, source, input)?;
        if let Some(weight) = &self.args.weight {
            let delimiter = input.delimiter;
            self.weight = Some(Weight::new(weight, delimiter, name, source)?);
        }
        Ok(())
    }

    fn take(&mut self, batch: &AddressBatch, _: &StreamSource) -> Result<bool, Failure> {
        // Taken out of `self`, which counts meanwhile.
        let [mut of_4, mut of_6] = std::mem::take(&mut self.numbers);
        let set = self.tables.first().and_then(|table| table.table.set());
        let of_set = self.args.table_column.numbers(batch, set);
        let (ipv4, ipv6) = asked(batch, &of_set);
        self.number(ipv4, &mut of_4)?;
        self.number(ipv6, &mut of_6)?;
        let of_tables = &of_6[usize::from(self.addresses.is_some())..];
        self.mapped
            .add_of_tables(batch, &of_set.ipv6, of_tables, self.tables, self.kernel)?;
        let missing = batch.len() - batch.ipv4().len() - batch.ipv6().len();
        self.has_empty |= missing > 0;
        let is_one = self.width() == 1 && !self.args.pairs;
        if is_one && self.weight.is_none() && !self.args.unique {
            self.add_ones(&of_4[0]);
            self.add_ones(&of_6[0]);
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
type CountRow<'t> = (Sum, Vec<Option<Cell<'t>>>);

/// A route that is counted: its prefix, and the number of its record.
type CountedRoute = (String, NextHop);

/// Copies the numbers of the address at this place of the batch.
fn fill(key: &mut [u32], numbers: &[Vec<u32>], at: usize) {
    for (answer, numbers) in key.iter_mut().zip(numbers) {
        *answer = numbers[at];
    }
}

impl AddressCounter<'_> {
    /// Whether texts say what programs see by null.
    fn is_for_people(&self) -> bool {
        self.args.svg || self.args.form.form() == Form::Text
    }

    /// How many numbers an address has.
    fn width(&self) -> usize {
        usize::from(self.addresses.is_some()) + self.tables.len()
    }

    /// The numbers of `addresses`: their own, and those of their answers in all tables, 0 for none.
    fn number<A: Family>(
        &mut self,
        asked: Asked<'_, A>,
        numbers: &mut Vec<Vec<u32>>,
    ) -> Result<(), Failure> {
        numbers.resize_with(self.width(), Vec::new);
        let mut numbers = numbers.iter_mut();
        if let Some(own) = &mut self.addresses {
            own.number(
                asked.addresses,
                numbers.next().expect("one more than tables"),
            );
        }
        let numbered = A::of_mut(&mut self.numbered).iter_mut();
        let routes = self.routes.iter_mut();
        let tables = self.tables.iter().zip(numbers);
        for (((table, numbers), numbered), routes) in tables.zip(numbered).zip(routes) {
            if !table.is_by_routes() {
                table.look_up(Ask::Value, self.kernel, asked, numbers)?;
                continue;
            }
            let before = routes.len();
            let push = |prefix: &str, number| routes.push((prefix.to_owned(), number));
            numbered.look_up(table, self.kernel, asked, numbers, before, push)?;
        }
        Ok(())
    }

    /// Counts the addresses of a batch, row by row.
    fn add_each(&mut self, batch: &AddressBatch, of_4: &[Vec<u32>], of_6: &[Vec<u32>]) {
        // One weight a row, which has one address or is counted as a whole: `run` refuses anything else.
        let weights = self.weight.as_ref().map(|weight| weight.of_rows(batch));
        let mut weights = weights.iter().flatten();
        let width = self.width();
        let mut key = vec![0; width * self.cells.len()];
        let mut filled = 0;
        for found in batch.iter() {
            let part = &mut key[filled..filled + width];
            let is_new = match found {
                Some((IpAddr::V4(address), at)) => {
                    fill(part, of_4, at);
                    self.is_new(|seen| seen.0.insert(address.into()))
                }
                Some((IpAddr::V6(address), at)) => {
                    fill(part, of_6, at);
                    self.is_new(|seen| seen.1.insert(address.into()))
                }
                None => {
                    part.fill(0);
                    !self.args.unique
                }
            };
            filled += width;
            if filled < key.len() {
                continue;
            }
            filled = 0;
            let weight = match weights.next() {
                Some(weight) => {
                    self.weightless += u64::from(weight.is_none());
                    self.weighed += 1;
                    weight.unwrap_or_default()
                }
                None => Sum::of(1),
            };
            // With --unique, an address that came before counts no more.
            if is_new {
                self.add(&key, weight);
            }
        }
    }

    /// The usual case of [`AddressCounter::add_each`]: one number, and each address counts 1.
    fn add_ones(&mut self, numbers: &[u32]) {
        let answers = 1 + match (&self.addresses, self.tables) {
            (Some(own), _) => own.len(),
            (None, [table, ..]) if !table.is_by_routes() => {
                table.table.record_count().unwrap_or(0) as usize
            }
            _ => self.routes[0].len(),
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

    /// Adds to the count of a combination of numbers.
    #[inline]
    fn add(&mut self, key: &[u32], weight: Sum) {
        match self.crossed.get_mut(key) {
            Some(sum) => *sum += weight,
            None => {
                self.crossed.insert(key.into(), weight);
            }
        }
    }

    /// All combinations of numbers that came, and their counts.
    fn came(&self) -> impl Iterator<Item = (Vec<u32>, Sum)> {
        let crossed = self.crossed.iter();
        let crossed = crossed.map(|(key, &sum)| (key.to_vec(), sum));
        let single = (0..).zip(&self.single);
        let single = single.filter_map(|(number, count)| Some((vec![number], Sum::of((*count)?))));
        crossed.chain(single)
    }

    /// The names of the columns after that of the count.
    fn columns(&self) -> Vec<String> {
        let of_cell = |cell: &String| {
            let own = self.addresses.iter();
            let mut names: Vec<_> = own.map(|own| own.column(cell).to_owned()).collect();
            names.extend(self.tables.iter().flat_map(|table| table.columns(cell)));
            names
        };
        self.cells.iter().flat_map(of_cell).collect()
    }

    /// What a combination of numbers stands for, column by column; none without a match.
    fn cells(&self, key: &[u32]) -> Vec<Option<Cell<'_>>> {
        let mut cells = Vec::new();
        for key in key.chunks(self.width()) {
            let mut key = key.iter();
            if let Some(own) = &self.addresses {
                cells.extend(key.next().map(|&number| own.cell(number)));
            }
            for ((&number, table), routes) in key.zip(self.tables).zip(&self.routes) {
                let number = match table.is_by_routes() {
                    false => NextHop::new(number),
                    true => {
                        let route = (number as usize).checked_sub(1).map(|at| &routes[at]);
                        if table.with_prefixes {
                            cells.push(route.map(|route| text(&route.0)));
                        }
                        route.map(|route| route.1)
                    }
                };
                let first = cells.len();
                match number {
                    Some(number) => cells.extend(table.cells(number)),
                    None => cells.extend(iter::repeat_n(None, table.width())),
                }
                let is_blank = cells[first..].iter().all(Option::is_none);
                if number.is_some() && is_blank && !table.with_prefixes && self.is_for_people() {
                    cells[first] = Some(text("(no value)"));
                }
            }
        }
        cells
    }

    /// Each combination of values, and its count. Records that are equal in all columns that are counted are one combination.
    fn merged(&self) -> Vec<CountRow<'_>> {
        let own = self.addresses.iter().map(|_| None);
        let of_table = |table| EqualRecords::new(table, self.is_for_people());
        let mut same: Vec<_> = own
            .chain(self.tables.iter().zip(&self.routes).map(of_table))
            .collect();
        if same.iter().all(Option::is_none) {
            let counts = self.counts();
            return counts
                .into_iter()
                .map(|(key, count)| (count, self.cells(&key)))
                .collect();
        }
        let mut merged: HashMap<Vec<u32>, Sum> = HashMap::new();
        for (mut key, count) in self.counts() {
            for part in key.chunks_mut(self.width()) {
                for (number, same) in part.iter_mut().zip(&mut same) {
                    if let Some(same) = same {
                        *number = same.of(*number);
                    }
                }
            }
            *merged.entry(key).or_default() += count;
        }
        let merged = merged.into_iter();
        merged
            .map(|(key, count)| (count, self.cells(&key)))
            .collect()
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
