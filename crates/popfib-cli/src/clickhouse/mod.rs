//! `popfib clickhouse`: a SQL function of ClickHouse. Blocks of addresses come in on standard input, and for each a block of
//! answers goes out.
//!
//! ClickHouse starts the process, keeps it (`executable_pool`) and hands it a block of rows at a time, in its format Native.
//! Columns lie in a block as they lie in memory, and the block says of which type they are, so that one command serves columns
//! of every type of address. Rejected: RowBinary, which does not say the type, and costs both sides a call for each row.

mod column;
mod configuration;
mod native;

use std::sync::{Arc, OnceLock};

use clap::{Args, ValueEnum};
use popfib::family::Family;
use popfib::{IpPrefix, Kernel};
use popfib_formats::{LookupTable, quote};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_table::{
    AddressColumn, FamilyAddresses, FamilyTable, PrefixText, Records, Table, TableError,
};

use self::column::{ClickhouseColumn, ClickhouseType};
use crate::args::{TableArgs, kernel};
use crate::image::without_routes;
use crate::output::StandardOutput;
use crate::stream::follower::Follower;
use crate::stream::output_buffer::OutputBuffer;
use crate::stream::table::NamedTable;
use crate::table;

/// Run as a function of ClickHouse.
///
/// Reads blocks of addresses and writes blocks of answers, in its format Native. ClickHouse starts it as an
/// executable user-defined function, configured with type `executable_pool`, format `Native` and one argument of
/// String, IPv4, UInt32, IPv6 or FixedString(16). Each row gets one answer; it is NULL if the row is null, has no
/// address or nothing matches. If `return_type` is not Nullable, ClickHouse replaces NULL by an empty string or 0.
/// With several --columns, or --columns '*', an answer is a tuple of them, each of its own type; lists are arrays,
/// which are empty instead of NULL.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib clickhouse -t /var/lib/origin.fib --xml lpm > lpm_function.xml")]
#[command(after_long_help = "
The file is the configuration of the function, which belongs where
`user_defined_executable_functions_config` of the server says, for example
/etc/clickhouse-server/lpm_function.xml. Then: SELECT lpm('8.8.8.8')")]
pub(crate) struct ClickhouseArgs {
    /// What the function returns
    ///
    /// [default: value, or a tuple of several columns]
    #[arg(long, value_name = "WHAT", value_enum)]
    answer: Option<ClickhouseAnswer>,

    /// Look up IPv4-mapped IPv6 addresses (::ffff:192.0.2.1) as IPv4
    #[arg(long)]
    unmap: bool,

    /// Print the configuration of the function of this name
    ///
    /// With its types and this command, instead of running it. Files need whole paths.
    #[arg(long, value_name = "NAME")]
    xml: Option<String>,

    /// Type of its argument
    #[arg(
        long,
        value_name = "TYPE",
        requires = "xml",
        default_value = "Nullable(String)"
    )]
    argument: String,

    #[command(flatten)]
    table: TableArgs,
}

/// What the function answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClickhouseAnswer {
    /// The value of the longest match, Nullable(String)
    Value,
    /// The matching prefix, Nullable(String)
    Prefix,
    /// All routes that cover the address, the shortest first, Array(Tuple(prefix String, value Nullable(String)))
    Covering,
    /// The value as a number, for example an AS number, Nullable(UInt32)
    Uint32,
    /// The value as a number, Nullable(Int64)
    Int64,
}

pub(crate) fn run(args: &ClickhouseArgs) -> Result<Verdict, Failure> {
    if args.table.is_stdin() {
        return Err("standard input has the addresses, so it cannot be the table".into());
    }
    if args.answer.is_some() && args.table.read.options().columns.are_records() {
        return Err("--answer is for one column; several are a tuple".into());
    }
    let with_prefixes = args.answer == Some(ClickhouseAnswer::Prefix);
    let kernel = kernel()?;
    let type_name = OnceLock::new();
    let make = |table| {
        let function = ClickhouseFunction::new(table, kernel, args)?;
        let before = type_name.get_or_init(|| function.type_name.clone());
        match function.type_name == *before {
            true => Ok(function),
            false => {
                let now = function.type_name;
                Err(format!("the type of the answer is {now} now, which was {before}").into())
            }
        }
    };
    let (mut function, mut follower) = match &args.table.live {
        Some(socket) => {
            let make = |table: NamedTable| make(table.table);
            Follower::of_socket(socket, &args.table.read, with_prefixes, make)?
        }
        // Not of files: of the processes of one query, each would change at its own time.
        None => (make(Arc::new(load(&args.table, args.answer)?))?, None),
    };
    let mut output = StandardOutput::new();
    if let Some(name) = &args.xml {
        native::argument_type(&args.argument).map_err(|reason| format!("--argument: {reason}"))?;
        let xml = configuration::xml(name, &args.argument, &function.type_name)?;
        output.bytes(xml.as_bytes())?;
        return output.end(Verdict::Good);
    }
    let mut blocks = native::NativeReader::new(std::io::stdin().lock(), args.unmap);
    let mut addresses = AddressColumn::new();
    while blocks.next(&mut addresses)? {
        if let Some(newer) = follower.as_mut().and_then(Follower::newer) {
            function = newer;
        }
        output.bytes(function.answer(&addresses)?)?;
        // ClickHouse waits for these rows before it sends others.
        output.flush()?;
    }
    Ok(Verdict::Good)
}

/// Reads the table that the options name, which has what the answer needs.
fn load(args: &TableArgs, answer: Option<ClickhouseAnswer>) -> Result<Table, Failure> {
    let loaded: LookupTable = table::load(args, args.read.options())?;
    let lacks = match answer {
        Some(ClickhouseAnswer::Prefix) if !loaded.has_prefixes() => "name the matched prefix",
        Some(ClickhouseAnswer::Covering) if !loaded.content.has_routes() => "name all that cover",
        _ => return Ok(loaded.named()?.content),
    };
    Err(without_routes(&loaded.name, lacks))
}

/// A table as a function: a column of addresses in, a column of answers out.
struct ClickhouseFunction {
    table: Arc<Table>,
    kernel: Kernel,
    type_name: String,
    is_covering: bool,
    /// The columns of the answer; none if the answer is the prefix.
    columns: Vec<ClickhouseColumn>,
    /// The numbers of the answers of the block at hand.
    numbers: Vec<u32>,
    bytes: Vec<u8>,
    out: OutputBuffer,
}

impl ClickhouseFunction {
    fn new(table: Arc<Table>, kernel: Kernel, args: &ClickhouseArgs) -> Result<Self, Failure> {
        let (columns, type_name) = match table.records() {
            Some(records) if args.answer != Some(ClickhouseAnswer::Prefix) => {
                columns(records, args)?
            }
            _ => (Vec::new(), "Nullable(String)".to_owned()),
        };
        let is_covering = args.answer == Some(ClickhouseAnswer::Covering);
        Ok(Self {
            table,
            kernel,
            type_name: match is_covering {
                true => format!("Array(Tuple(`prefix` String, `value` {type_name}))"),
                false => type_name,
            },
            is_covering,
            columns,
            numbers: Vec::new(),
            bytes: Vec::new(),
            out: OutputBuffer::default(),
        })
    }

    /// The block of the answers to these addresses.
    fn answer(&mut self, addresses: &AddressColumn) -> Result<&[u8], Failure> {
        self.numbers.clear();
        if self.is_covering {
            self.write_covering(addresses)?;
            return Ok(self.out.bytes());
        }
        self.numbers.resize(addresses.len(), 0);
        self.look_up(addresses.ipv4())?;
        self.look_up(addresses.ipv6())?;
        self.out.clear();
        native::begin(addresses.len(), &self.type_name, &mut self.out);
        for column in &self.columns {
            column.write(&self.numbers, &mut self.bytes, &mut self.out);
        }
        if self.columns.is_empty() {
            self.write_prefixes(addresses);
        }
        Ok(self.out.bytes())
    }

    /// Puts the numbers of the answers to addresses of one family into their rows.
    fn look_up<A: Family>(&mut self, addresses: &FamilyAddresses<A>) -> Result<(), TableError> {
        let (family, kernel) = (self.table.family::<A>(), self.kernel);
        let is_value = !self.columns.is_empty();
        addresses.answer(&mut self.numbers, |addresses, numbers| match is_value {
            true => family.value_numbers(kernel, addresses, numbers),
            false => family.match_numbers(kernel, addresses, numbers),
        })
    }

    /// Writes an array of prefixes and values for each address, in the order of their rows.
    fn write_covering(&mut self, addresses: &AddressColumn) -> Result<(), Failure> {
        let (mut ends, mut prefixes) = (Vec::new(), Vec::new());
        let mut text = [0; PrefixText::ROOM];
        for found in addresses.iter() {
            if let Some((address, _)) = found {
                self.table.supernets(address.into(), |(prefix, number)| {
                    let len = PrefixText::write(prefix, &mut text);
                    // The length takes one byte.
                    prefixes.push(len as u8);
                    prefixes.extend_from_slice(&text[..len]);
                    self.numbers.push(number.get());
                })?;
            }
            ends.extend_from_slice(&(self.numbers.len() as u64).to_le_bytes());
        }
        self.out.clear();
        native::begin(addresses.len(), &self.type_name, &mut self.out);
        self.out.put(&ends);
        self.out.put(&prefixes);
        for column in &self.columns {
            column.write(&self.numbers, &mut self.bytes, &mut self.out);
        }
        Ok(())
    }

    /// Writes the column of matched prefixes.
    fn write_prefixes(&mut self, addresses: &AddressColumn) {
        let out = &mut self.out;
        self.bytes.clear();
        let nulls = self.numbers.iter().map(|&number| u8::from(number == 0));
        self.bytes.extend(nulls);
        out.put(&self.bytes);
        let mut text = [0; PrefixText::ROOM];
        for (found, &number) in addresses.iter().zip(&self.numbers) {
            let prefix = found.and_then(|(address, _)| {
                popfib::by_family!(address, |address: A| prefix::<A>(address, number))
            });
            let len = prefix.map_or(0, |prefix| PrefixText::write(prefix, &mut text));
            // The length takes one byte.
            out.put(&[len as u8]);
            out.put(&text[..len]);
        }
    }
}

/// The prefix of the match of `address` with this number.
fn prefix<A: Family>(address: A, number: u32) -> Option<IpPrefix> {
    let (prefix, _) = FamilyTable::<A>::matched(address, number)?;
    Some(A::ip_prefix(prefix))
}

/// The columns of the answer, and its type.
fn columns(
    records: &Records,
    args: &ClickhouseArgs,
) -> Result<(Vec<ClickhouseColumn>, String), Failure> {
    if !args.table.read.options().columns.are_records() {
        let value_type = match args.answer {
            Some(ClickhouseAnswer::Uint32) => ClickhouseType::UInt32,
            Some(ClickhouseAnswer::Int64) => ClickhouseType::Int64,
            Some(_) | None => ClickhouseType::String,
        };
        let column = ClickhouseColumn::nullable(records, records.value_column(), value_type)?;
        let type_name = column.type_name.clone();
        return Ok((vec![column], type_name));
    }
    let names = records.columns().iter().map(|column| column.name());
    for (at, name) in names.clone().enumerate() {
        let reason = match name {
            "" => "without a name",
            name if names.clone().skip(at + 1).any(|other| other == name) => "given twice",
            _ => continue,
        };
        let name = quote(name.as_bytes());
        return Err(format!("--columns: {name} is {reason}, which no tuple has").into());
    }
    let columns =
        (0..records.columns().len()).map(|column| ClickhouseColumn::typed(records, column));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let type_name = column::tuple(names.zip(&columns));
    Ok((columns, type_name))
}
