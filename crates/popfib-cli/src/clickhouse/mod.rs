//! `popfib clickhouse`: a function of SQL in ClickHouse, as the process that ClickHouse starts for it.
//!
//! ClickHouse keeps such a process (`executable_pool`) and hands it a block of rows at a time. Blocks are of its format
//! Native: columns lie in it as they lie in memory, and it says of which type they are, so that one command serves columns
//! of every type of address. (RowBinary would have to be told the type, and each row costs both sides a call.)

mod native;

use std::str::FromStr;

use clap::{Args, ValueEnum};
use popfib::{Family, Kernel};
use popfib_formats::{AddressBatch, Escaped, Run};
use popfib_table::{FamilyTable, PrefixText};

use crate::args::{TableArgs, kernel};
use crate::failure::Failure;
use crate::image::without_routes;
use crate::output::Output;
use crate::program::Verdict;
use crate::stream::answer_texts::{AnyAnswerTexts, Texts};
use crate::stream::answers::{self, Ask};
use crate::stream::follower::Follower;
use crate::stream::page::Page;
use crate::stream::table::NamedTable;
use crate::table;

/// Run as a function of ClickHouse: read blocks of addresses, write blocks of answers, in its format Native.
///
/// ClickHouse starts it as an executable user-defined function, configured with type `executable_pool`,
/// format `Native` and one argument of String, IPv4, UInt32, IPv6 or FixedString(16). Each row gets one
/// answer; it is NULL if the row is null, has no address or nothing matches. If `return_type` is not
/// Nullable, ClickHouse replaces NULL by an empty string or 0.
#[derive(Args)]
#[command(after_help = "\
Example, a file that `user_defined_executable_functions_config` names:
  <functions>
    <function>
      <type>executable_pool</type>
      <name>lpm</name>
      <argument><type>String</type></argument>
      <return_type>Nullable(String)</return_type>
      <format>Native</format>
      <execute_direct>0</execute_direct>
      <command>exec popfib clickhouse --fib /var/lib/clickhouse/origin.fib</command>
    </function>
  </functions>
Then: SELECT lpm('8.8.8.8')")]
pub(crate) struct ClickhouseArgs {
    #[command(flatten)]
    table: TableArgs,

    /// What the function returns
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Answer::Value)]
    answer: Answer,

    /// Look up IPv4-mapped IPv6 addresses (::ffff:192.0.2.1) as IPv4
    #[arg(long)]
    unmap: bool,
}

/// What the function answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Answer {
    /// The value of the longest match, Nullable(String)
    Value,
    /// The matching prefix, Nullable(String)
    Prefix,
    /// The value as a number, for example an AS number, Nullable(UInt32)
    Uint32,
    /// The value as a number, Nullable(Int64)
    Int64,
}

impl Answer {
    /// The type of the column in ClickHouse.
    fn type_name(self) -> &'static str {
        match self {
            Self::Value | Self::Prefix => "Nullable(String)",
            Self::Uint32 => "Nullable(UInt32)",
            Self::Int64 => "Nullable(Int64)",
        }
    }

    /// What lies where a row is null.
    fn null(self) -> &'static [u8] {
        match self {
            Self::Value | Self::Prefix => &[0],
            Self::Uint32 => &[0; 4],
            Self::Int64 => &[0; 8],
        }
    }
}

pub(crate) fn run(args: &ClickhouseArgs) -> Result<Verdict, Failure> {
    if args.table.is_stdin() {
        return Err("standard input has the addresses, so it cannot be the table".into());
    }
    let with_prefixes = args.answer == Answer::Prefix;
    let live = args.table.live.as_deref();
    let mut follower = Follower::of(live, &args.table.read, with_prefixes)?;
    let table = match &mut follower {
        Some(follower) => follower.first()?,
        None => load(&args.table, with_prefixes)?,
    };
    let mut function = Function::new(table, kernel()?, args.answer)?;
    let mut blocks = native::Blocks::new(std::io::stdin().lock(), args.unmap);
    let mut batch = AddressBatch::new();
    let mut output = Output::new();
    while blocks.next(&mut batch)? {
        if let Some(table) = follower.as_mut().and_then(Follower::newer) {
            function = Function::new(table, function.kernel, args.answer)?;
        }
        output.bytes(function.answer(&batch)?)?;
        // ClickHouse waits for these rows before it sends others.
        output.flush()?;
    }
    Ok(Verdict::Good)
}

/// The table of the options.
fn load(args: &TableArgs, with_prefixes: bool) -> Result<NamedTable, Failure> {
    let table = match table::open_image(args)? {
        Some(opened) if with_prefixes && !opened.table.has_prefixes() => {
            return Err(without_routes(&opened.name, "name the matched prefix"));
        }
        Some(opened) => opened.into_table()?,
        None => table::load(args)?.into_table(),
    };
    Ok(NamedTable::only(table, with_prefixes))
}

/// A table as a function of a column.
struct Function {
    table: NamedTable,
    kernel: Kernel,
    answer: Answer,
    /// By the numbers of values, 0 for null, what is written for them; none where prefixes are.
    texts: AnyAnswerTexts,
    /// The numbers of the answers of the block at hand.
    ipv4: Vec<u32>,
    ipv6: Vec<u32>,
    nulls: Vec<u8>,
    page: Page,
}

impl Function {
    fn new(table: NamedTable, kernel: Kernel, answer: Answer) -> Result<Self, Failure> {
        Ok(Self {
            texts: texts(&table, answer)?,
            table,
            kernel,
            answer,
            ipv4: Vec::new(),
            ipv6: Vec::new(),
            nulls: Vec::new(),
            page: Page::new(),
        })
    }

    /// The block of the answers to these addresses.
    fn answer(&mut self, batch: &AddressBatch) -> Result<&[u8], Failure> {
        let (table, kernel, answer) = (&self.table.table, self.kernel, self.answer);
        let ask = match answer {
            Answer::Prefix => Ask::Match,
            _ => Ask::Value,
        };
        answers::look_up(table, ask, kernel, batch.ipv4(), &mut self.ipv4)?;
        answers::look_up(table, ask, kernel, batch.ipv6(), &mut self.ipv6)?;
        let texts = (ask == Ask::Value).then_some(&self.texts);
        let mut ipv4 = Column {
            addresses: batch.ipv4(),
            numbers: &self.ipv4,
            texts,
        };
        let mut ipv6 = Column {
            addresses: batch.ipv6(),
            numbers: &self.ipv6,
            texts,
        };

        let (nulls, page) = (&mut self.nulls, &mut self.page);
        nulls.clear();
        let (mut of_4, mut of_6) = (ipv4.numbers, ipv6.numbers);
        for &run in batch.runs() {
            let is_null = |&number: &u32| u8::from(number == 0);
            match run {
                Run::Ipv4(count) => nulls.extend(first(&mut of_4, count).iter().map(is_null)),
                Run::Ipv6(count) => nulls.extend(first(&mut of_6, count).iter().map(is_null)),
                Run::Missing(count) => nulls.resize(nulls.len() + count, 1),
            }
        }
        page.clear();
        native::begin(nulls.len(), answer.type_name(), page);
        page.put(nulls);
        for &run in batch.runs() {
            match run {
                Run::Ipv4(count) => ipv4.write(count, page),
                Run::Ipv6(count) => ipv6.write(count, page),
                Run::Missing(count) => (0..count).for_each(|_| page.put(answer.null())),
            }
        }
        Ok(page.bytes())
    }
}

/// What is left of the answers of a family.
struct Column<'l, A> {
    addresses: &'l [A],
    numbers: &'l [u32],
    /// The texts of values; prefixes are written if there are none.
    texts: Option<&'l AnyAnswerTexts>,
}

impl<A: Family> Column<'_, A> {
    /// Writes the next `count`.
    fn write(&mut self, count: usize, page: &mut Page) {
        let numbers = first(&mut self.numbers, count);
        let addresses = first(&mut self.addresses, count);
        match self.texts {
            Some(texts) => texts.write_all(numbers, page),
            None => {
                let mut text = [0; PrefixText::ROOM];
                for (&address, &number) in addresses.iter().zip(numbers) {
                    let found = FamilyTable::<A>::matched(address, number);
                    let len = found.map_or(0, |(prefix, _)| {
                        PrefixText::write(A::ip_prefix(prefix), &mut text)
                    });
                    // The length takes one byte.
                    page.put(&[len as u8]);
                    page.put(&text[..len]);
                }
            }
        }
    }
}

/// Takes the next `count` off.
fn first<'n, T>(rest: &mut &'n [T], count: usize) -> &'n [T] {
    let (first, others) = rest.split_at(count);
    *rest = others;
    first
}

/// What is written for each value of the table.
fn texts(table: &NamedTable, form: Answer) -> Result<AnyAnswerTexts, Failure> {
    let mut texts = Texts::default();
    texts.push(|to| to.extend_from_slice(form.null()));
    for value in table.table.values() {
        let mut is_right = true;
        texts.push(|to| match form {
            Answer::Value => native::text(&value, to),
            Answer::Uint32 => is_right = number(&value, u32::to_le_bytes, to),
            Answer::Int64 => is_right = number(&value, i64::to_le_bytes, to),
            Answer::Prefix => {}
        });
        if !is_right {
            let (value, name) = (Escaped(&value), form.type_name());
            return Err(format!("the value '{value}' is no number of the type {name}").into());
        }
    }
    Ok(texts.into_answer_texts())
}

/// Writes a value as a number, or nothing and says so.
fn number<T: FromStr, const N: usize>(
    value: &str,
    bytes: impl FnOnce(T) -> [u8; N],
    to: &mut Vec<u8>,
) -> bool {
    let Ok(number) = value.parse() else {
        return false;
    };
    to.extend_from_slice(&bytes(number));
    true
}
