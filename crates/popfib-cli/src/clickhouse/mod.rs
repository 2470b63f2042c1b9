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
use crate::live::Place;
use crate::output::Output;
use crate::program::Verdict;
use crate::stream::answer_texts::{AnyAnswerTexts, Texts};
use crate::stream::answers::{Lazy, Looked, Numbers};
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
    let place = live.map(|socket| Place::new(socket, &args.table.read));
    let mut follower = place
        .transpose()?
        .map(|place| Follower::new(place, with_prefixes));
    let tables = match &mut follower {
        Some(follower) => follower.fetch()?.unwrap_or_default(),
        None => vec![load(&args.table, with_prefixes)?],
    };
    let mut function = Function::new(tables, kernel()?, args.answer);
    let mut blocks = native::Blocks::new(std::io::stdin().lock(), args.unmap);
    let mut batch = AddressBatch::new();
    let mut output = Output::new();
    while blocks.next(&mut batch)? {
        if let Some(tables) = follower.as_mut().and_then(Follower::newer) {
            function = Function::new(tables, function.kernel, args.answer);
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
        Some(opened) if with_prefixes && !opened.table.has_routes() => {
            return Err(opened.without_routes("name the matched prefix"));
        }
        Some(opened) => opened.into_table()?,
        None => table::load(args)?.into_table(),
    };
    Ok(NamedTable {
        name: None,
        with_prefixes,
        table,
    })
}

/// A table as a function of a column.
struct Function {
    tables: Vec<NamedTable>,
    kernel: Kernel,
    answer: Answer,
    ipv4: Lazy<u32, Texted>,
    ipv6: Lazy<u128, Texted>,
    /// The numbers of the answers of the block at hand.
    ipv4_numbers: Vec<Vec<u32>>,
    ipv6_numbers: Vec<Vec<u32>>,
    nulls: Vec<u8>,
    page: Page,
}

impl Function {
    fn new(tables: Vec<NamedTable>, kernel: Kernel, answer: Answer) -> Self {
        Self {
            tables,
            kernel,
            answer,
            ipv4: Lazy::new(),
            ipv6: Lazy::new(),
            ipv4_numbers: Vec::new(),
            ipv6_numbers: Vec::new(),
            nulls: Vec::new(),
            page: Page::new(),
        }
    }

    /// The block of the answers to these addresses.
    fn answer(&mut self, batch: &AddressBatch) -> Result<&[u8], Failure> {
        let (tables, kernel, answer) = (&self.tables, self.kernel, self.answer);
        let looked = (self.ipv4).look_up(
            batch.ipv4(),
            tables,
            kernel,
            &mut self.ipv4_numbers,
            |(_, table)| compile(table, answer),
        )?;
        let mut ipv4 = Column::new(&looked);
        let looked = (self.ipv6).look_up(
            batch.ipv6(),
            tables,
            kernel,
            &mut self.ipv6_numbers,
            |(_, table)| compile(table, answer),
        )?;
        let mut ipv6 = Column::new(&looked);

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

/// What is written for answers.
enum Texted {
    /// The texts of values by the numbers of next hops, 0 for null.
    Values(AnyAnswerTexts),
    /// The prefix that a number stands for.
    Prefixes,
}

/// What is left of the answers of a family.
struct Column<'l, A: Family> {
    addresses: &'l [A],
    numbers: &'l [u32],
    /// `None` if there are no addresses of the family.
    texted: Option<&'l Texted>,
}

impl<'l, A: Family> Column<'l, A> {
    fn new(looked: &Looked<'l, A, Texted>) -> Self {
        Self {
            addresses: looked.addresses,
            numbers: looked.numbers.first().map_or(&[], Vec::as_slice),
            texted: looked.tables.first().map(|(_, texted)| texted),
        }
    }

    /// Writes the next `count`.
    fn write(&mut self, count: usize, page: &mut Page) {
        let numbers = first(&mut self.numbers, count);
        let addresses = first(&mut self.addresses, count);
        match self.texted {
            Some(Texted::Values(texts)) => texts.write_all(numbers, page),
            Some(Texted::Prefixes) => {
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
            None => {}
        }
    }
}

/// Takes the next `count` off.
fn first<'n, T>(rest: &mut &'n [T], count: usize) -> &'n [T] {
    let (first, others) = rest.split_at(count);
    *rest = others;
    first
}

/// A family of the table, and what is written for each of its answers.
fn compile<A: Family>(table: &NamedTable, form: Answer) -> Result<(Numbers<A>, Texted), Failure> {
    let mut texts = Texts::default();
    texts.push(|to| to.extend_from_slice(form.null()));
    for value in table.table.values() {
        let mut is_right = true;
        texts.push(|to| match form {
            Answer::Value => native::text(value, to),
            Answer::Uint32 => is_right = number(value, u32::to_le_bytes, to),
            Answer::Int64 => is_right = number(value, i64::to_le_bytes, to),
            Answer::Prefix => {}
        });
        if !is_right {
            let (value, name) = (Escaped(value), form.type_name());
            return Err(format!("the value '{value}' is no number of the type {name}").into());
        }
    }
    Ok(match form {
        Answer::Prefix => (Numbers::Matches, Texted::Prefixes),
        _ => {
            let texts = Texted::Values(texts.into_answer_texts());
            (Numbers::Values, texts)
        }
    })
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
