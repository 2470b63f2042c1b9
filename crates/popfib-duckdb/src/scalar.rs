//! `lpm` and its kin: a column of names of tables, one of addresses, and perhaps one of names of columns in; a column of
//! answers out.
//!
//! The table of a name is found once for a chunk of rows, not for each row, and in a DuckDB that tells which connection calls
//! it is the same for all of a statement (`connections.rs`).

use core::ffi::CStr;
use core::ptr;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

use popfib::family::Family;
use popfib::{IpPrefix, Kernel};
use popfib_table::{Cell, FamilyAddresses, FamilyTable, PrefixText};

use crate::addresses::ColumnAddresses;
use crate::api::{DuckDbHandle, TypeId, api, duckdb};
use crate::border::{border, drop_box, into_raw};
use crate::connections::{Connections, TableCall};
use crate::lpm_arguments::LpmArguments;
use crate::registry::{FindTable, in_table};
use crate::table::SqlTable;
use crate::vector::{InputVector, LogicalType, OutputRows, OutputVector, SqlText};

/// What a function answers.
#[derive(Clone, Copy, Debug)]
enum SqlAnswer {
    Text,
    Integer,
    Float,
    Record,
    Prefix,
    Covering,
}

impl SqlAnswer {
    /// Whether it is a value of a column, which may be named.
    fn is_of_column(self) -> bool {
        matches!(self, Self::Text | Self::Integer | Self::Float)
    }

    /// Whether it is found by the number of the record.
    fn is_by_number(self) -> bool {
        self.is_of_column() || matches!(self, Self::Record)
    }

    fn logical_type(self) -> LogicalType {
        let varchar = LogicalType::new(TypeId::VARCHAR);
        match self {
            Self::Text | Self::Prefix => varchar,
            Self::Integer => LogicalType::new(TypeId::BIGINT),
            Self::Float => LogicalType::new(TypeId::DOUBLE),
            Self::Record => LogicalType::new(TypeId::UINTEGER),
            Self::Covering => {
                let route = [(c"prefix", &varchar), (c"value", &varchar)];
                LogicalType::list(&LogicalType::structure(route))
            }
        }
    }
}

/// What DuckDB keeps for a function, and hands back at each call.
struct ScalarFunction {
    answer: SqlAnswer,
    connections: Arc<Connections>,
}

const FUNCTIONS: [(&CStr, SqlAnswer); 6] = [
    (c"lpm", SqlAnswer::Text),
    (c"lpm_int", SqlAnswer::Integer),
    (c"lpm_float", SqlAnswer::Float),
    (c"lpm_record", SqlAnswer::Record),
    (c"lpm_prefix", SqlAnswer::Prefix),
    (c"lpm_all", SqlAnswer::Covering),
];

/// Registers the functions.
///
/// # Errors
/// The name of one that DuckDB does not take.
///
/// # Safety
/// `connection` is one of the database that loads this library.
pub(crate) unsafe fn register(
    connection: DuckDbHandle,
    connections: &Arc<Connections>,
) -> Result<(), &'static CStr> {
    for (name, answer) in FUNCTIONS {
        let varchar = LogicalType::new(TypeId::VARCHAR);
        let any = LogicalType::new(TypeId::ANY);
        let returns = answer.logical_type();
        // Each function exists with and without its last parameters: the name of a column, if it answers one, and what a row
        // that is no address means.
        let parameters = [&varchar, &any, &varchar, &varchar];
        let most = if answer.is_of_column() { 4 } else { 3 };
        // SAFETY: a connection; handles that are made here are given back, and DuckDB copies what is registered.
        let registered = unsafe {
            let mut set = (api().create_scalar_function_set)(name.as_ptr());
            for count in 2..=most {
                let mut function = (api().create_scalar_function)();
                (api().scalar_function_set_name)(function, name.as_ptr());
                for parameter in &parameters[..count] {
                    (api().scalar_function_add_parameter)(function, parameter.handle());
                }
                (api().scalar_function_set_return_type)(function, returns.handle());
                let data = into_raw(ScalarFunction {
                    answer,
                    connections: Arc::clone(connections),
                });
                (api().scalar_function_set_extra_info)(function, data, drop_box::<ScalarFunction>);
                (api().scalar_function_set_function)(function, run);
                if let Some(api) = &duckdb().files {
                    (api.scalar_function_set_init)(function, begin);
                }
                (api().add_scalar_function_to_set)(set, function);
                (api().destroy_scalar_function)(&raw mut function);
            }
            let registered = (api().register_scalar_function_set)(connection, set);
            (api().destroy_scalar_function_set)(&raw mut set);
            registered
        };
        if registered != 0 {
            return Err(name);
        }
    }
    Ok(())
}

/// # Safety
/// DuckDB calls it before the calls of a thread in a function of [`register`], with the info of the init.
unsafe extern "C" fn begin(info: DuckDbHandle) {
    let Some(api) = &duckdb().files else {
        return;
    };
    // SAFETY: the extra info is what `register` handed over, and the info is that of an init.
    unsafe {
        border(api.scalar_function_init_set_error, info, || {
            let function = (api.scalar_function_init_get_extra_info)(info);
            (*function.cast::<ScalarFunction>()).connections.begin(info);
            Ok(())
        });
    }
}

/// # Safety
/// DuckDB calls it to run a function of [`register`], with the info of the call, a chunk of arguments and the output.
unsafe extern "C" fn run(info: DuckDbHandle, chunk: DuckDbHandle, output: DuckDbHandle) {
    // SAFETY: the extra info is what `register` handed over. The chunk has flat columns of the parameters' types, and the output
    // is of the answers' type; all of them are as long as the chunk says.
    unsafe {
        border(api().scalar_function_set_error, info, || {
            let function = &*(api().scalar_function_get_extra_info)(info).cast::<ScalarFunction>();
            let len = (api().data_chunk_get_size)(chunk) as usize;
            let count = (api().data_chunk_get_column_count)(chunk);
            let column = |at| InputVector::new((api().data_chunk_get_vector)(chunk, at), len);
            let optional = |at| (at < count).then(|| column(at));
            let of_column = function.answer.is_of_column();
            let arguments = LpmArguments {
                tables: column(0),
                addresses: column(1),
                columns: of_column.then(|| optional(2)).flatten(),
                invalid: optional(if of_column { 3 } else { 2 }),
            };
            let call = TableCall::of_scalar(info);
            let table = |name: &[u8]| match call {
                Some(call) => call.get(name),
                None => function.connections.registry.get(name),
            };
            SCRATCH.with_borrow_mut(|scratch| {
                let output = OutputVector::new(output);
                scratch.run(function.answer, &table, &arguments, output)
            })
        });
    }
}

thread_local! {
    static SCRATCH: RefCell<ChunkScratch> = RefCell::default();
}

/// Memory for the answers of a chunk, which each thread keeps for the next chunk.
#[derive(Default)]
struct ChunkScratch {
    all: ColumnAddresses,
    /// The addresses of the rows that name one table, if there are several names.
    some: ColumnAddresses,
    /// The number of each row's record, 0 for none.
    numbers: Vec<u32>,
    /// The table whose numbers these are, if they are those of all addresses.
    known: Weak<SqlTable>,
    /// The numbers of the addresses of one family, or the codes of a column.
    found: Vec<u32>,
    answered: Vec<bool>,
    /// The routes that cover an address: of its row, with the value's text.
    covering: Vec<(usize, PrefixText, Option<String>)>,
}

impl ChunkScratch {
    /// Answers a chunk.
    ///
    /// # Safety
    /// The columns of `arguments` are of texts, but that of addresses; `output` is of the function's type and has as many rows.
    unsafe fn run(
        &mut self,
        answer: SqlAnswer,
        table: FindTable<'_>,
        arguments: &LpmArguments<'_>,
        output: OutputVector,
    ) -> Result<(), String> {
        let len = arguments.addresses.len();
        self.answered.clear();
        self.answered.resize(len, false);
        self.covering.clear();
        if self.all.read(&arguments.addresses)? {
            self.known = Weak::new();
        }
        // SAFETY: the columns are of texts, `output` is of the function's type and as long, as the caller promises.
        unsafe {
            if arguments.is_strict()?
                && let Some(row) = self.all.invalid
            {
                return Err(arguments.no_address(row));
            }
            if arguments.has_one_name() {
                let all = std::mem::take(&mut self.all);
                let result = self.answer(answer, table, arguments, 0, &all, output);
                self.all = all;
                let table = result?;
                if answer.is_by_number() {
                    self.known = Arc::downgrade(&table);
                }
            } else {
                self.each_name(answer, table, arguments, output)?;
            }
            if let SqlAnswer::Covering = answer {
                output.put_pairs(len, &self.covering, PrefixText::as_bytes)?;
            }
            output.set_nulls(&self.answered);
        }
        Ok(())
    }

    /// Answers the rows that name one table and column, for each of these.
    ///
    /// # Safety
    /// The columns of `arguments` are of texts, but that of addresses; `output` is of the function's type and has as many rows.
    unsafe fn each_name(
        &mut self,
        answer: SqlAnswer,
        table: FindTable<'_>,
        arguments: &LpmArguments<'_>,
        output: OutputVector,
    ) -> Result<(), String> {
        let len = arguments.addresses.len();
        let mut done = vec![false; len];
        let mut same = vec![false; len];
        self.known = Weak::new();
        for first in 0..len {
            if done[first] || arguments.is_null(first) {
                continue;
            }
            same.fill(false);
            for row in first..len {
                // SAFETY: columns of texts; neither row is null.
                same[row] = !arguments.is_null(row) && unsafe { arguments.is_same(row, first) };
                done[row] |= same[row];
            }
            let mut some = std::mem::take(&mut self.some);
            some.choose(&self.all, |row| same[row as usize]);
            // SAFETY: as the caller promises; the row is not null.
            let result = unsafe { self.answer(answer, table, arguments, first, &some, output) };
            self.some = some;
            result?;
        }
        Ok(())
    }

    /// Answers the addresses by the table and the column that `row` names.
    ///
    /// # Safety
    /// The columns of `arguments` are of texts, but that of addresses, and not null in `row`; `output` is of the function's type and
    /// has as many rows.
    unsafe fn answer(
        &mut self,
        answer: SqlAnswer,
        table: FindTable<'_>,
        arguments: &LpmArguments<'_>,
        row: usize,
        addresses: &ColumnAddresses,
        output: OutputVector,
    ) -> Result<Arc<SqlTable>, String> {
        // SAFETY: columns of texts, a row that is not null, and such an output, as the caller promises.
        unsafe {
            let name = arguments.tables.bytes(row);
            let table = table(name)?;
            let column = arguments.columns.as_ref().map(|names| names.bytes(row));
            let answered = table
                .column(column)
                .and_then(|column| self.write(answer, &table, column, addresses, output));
            answered.map_err(|error| in_table(name, &error))?;
            Ok(table)
        }
    }

    /// Writes the answers of these addresses, with a column for those that are values.
    ///
    /// # Safety
    /// `output` is of the answer's type and has a row for each of `self.answered`.
    unsafe fn write(
        &mut self,
        answer: SqlAnswer,
        table: &SqlTable,
        column: usize,
        addresses: &ColumnAddresses,
        output: OutputVector,
    ) -> Result<(), String> {
        let len = self.answered.len();
        // SAFETY: each arm takes the rows for what an output of its answer's type has.
        unsafe {
            match answer {
                SqlAnswer::Text => self.texts(table, column, addresses, output)?,
                SqlAnswer::Integer => {
                    let integers = table.integers(column)?;
                    let rows = output.rows::<i64>(len);
                    self.codes(table, Some(column), addresses, |row, code| {
                        rows.set(row, integers[code as usize]);
                    })?;
                }
                SqlAnswer::Float => {
                    let floats = table.floats(column)?;
                    let rows = output.rows::<f64>(len);
                    self.codes(table, Some(column), addresses, |row, code| {
                        rows.set(row, floats[code as usize]);
                    })?;
                }
                SqlAnswer::Record => {
                    let rows = output.rows::<u32>(len);
                    self.codes(table, None, addresses, |row, number| rows.set(row, number))?;
                }
                SqlAnswer::Prefix => {
                    let rows = output.rows::<SqlText>(len);
                    self.prefixes(table, addresses.column.ipv4(), output, &rows)?;
                    self.prefixes(table, addresses.column.ipv6(), output, &rows)?;
                }
                SqlAnswer::Covering => {
                    self.covering(table, addresses.column.ipv4())?;
                    self.covering(table, addresses.column.ipv6())?;
                }
            }
        }
        Ok(())
    }

    /// Writes the values of a column as texts.
    ///
    /// # Safety
    /// `output` is of texts and has a row for each of `self.answered`.
    unsafe fn texts(
        &mut self,
        table: &SqlTable,
        column: usize,
        addresses: &ColumnAddresses,
        output: OutputVector,
    ) -> Result<(), String> {
        // SAFETY: such an output, as the caller promises.
        let rows = unsafe { output.rows::<SqlText>(self.answered.len()) };
        let texts = table.texts(column);
        let short = &texts.texts[..];
        if !texts.has_long {
            return self.codes(table, Some(column), addresses, |row, code| {
                rows.set(row, short[code as usize]);
            });
        }
        let values = &table.records().columns()[column];
        // The rows to which the last long texts were written, by their codes.
        let mut long = [(0, 0); 256];
        self.codes(table, Some(column), addresses, |row, code| {
            let text = short[code as usize];
            if !text.is_long() {
                return rows.set(row, text);
            }
            let place = &mut long[code as usize % 256];
            if place.0 == code {
                return rows.set(row, rows.get(place.1));
            }
            let text = values.value(code).map(Cell::to_text).unwrap_or_default();
            // SAFETY: an output of texts that has this row.
            unsafe { output.put_long(row, text.as_bytes()) }
            *place = (code, row);
        })
    }

    /// Looks up every address, and calls `put` with its row and the code of its record's value in a column, or without one the
    /// record's number. Rows with 0 become null, whatever is written for them.
    #[inline(always)]
    fn codes(
        &mut self,
        table: &SqlTable,
        column: Option<usize>,
        addresses: &ColumnAddresses,
        mut put: impl FnMut(usize, u32),
    ) -> Result<(), String> {
        self.look_up(table, addresses)?;
        let numbers = match column.and_then(|column| table.codes(column)) {
            None => &self.numbers,
            Some(codes) => {
                let code = |&number: &u32| codes.get(number as usize).map_or(0, |&code| code);
                self.found.clear();
                self.found.extend(self.numbers.iter().map(code));
                &self.found
            }
        };
        let (ipv4, ipv6) = (addresses.column.ipv4(), addresses.column.ipv6());
        if ipv4.len() == numbers.len() {
            // Every row is an IPv4 address: the usual case, in which nothing needs sorting by family.
            for (row, &number) in numbers.iter().enumerate() {
                put(row, number);
            }
            for (answered, &number) in self.answered.iter_mut().zip(numbers) {
                *answered = number != 0;
            }
            return Ok(());
        }
        for &row in ipv4.rows().iter().chain(ipv6.rows()) {
            let number = numbers[row as usize];
            self.answered[row as usize] = number != 0;
            put(row as usize, number);
        }
        Ok(())
    }

    /// The numbers of the records of addresses, by their rows.
    fn look_up(&mut self, table: &SqlTable, addresses: &ColumnAddresses) -> Result<(), String> {
        if ptr::eq(self.known.as_ptr(), table) {
            return Ok(());
        }
        self.known = Weak::new();
        let (column, numbers) = (&addresses.column, &mut self.numbers);
        numbers.resize(self.answered.len(), 0);
        if column.ipv4().len() < numbers.len() {
            numbers.fill(0);
        }
        (column.ipv4()).answer(numbers, |some, found| table.find(some, found))?;
        (column.ipv6()).answer(numbers, |some, found| table.find(some, found))
    }

    /// Writes the prefixes that match addresses of one family.
    ///
    /// # Safety
    /// `output` is of texts, and `rows` are its rows.
    unsafe fn prefixes<A: Family>(
        &mut self,
        table: &SqlTable,
        addresses: &FamilyAddresses<A>,
        output: OutputVector,
        rows: &OutputRows<'_, SqlText>,
    ) -> Result<(), String> {
        if addresses.is_empty() {
            return Ok(());
        }
        let family = table.loaded.family::<A>();
        self.found.resize(addresses.len(), 0);
        let (numbers, places) = (&mut self.found, addresses.rows());
        let found = family.match_numbers(Kernel::best(), addresses, numbers);
        found.map_err(|error| error.to_string())?;
        for ((&address, &number), &row) in addresses.iter().zip(&*numbers).zip(places) {
            let found = FamilyTable::<A>::matched(address, number);
            self.answered[row as usize] = found.is_some();
            if let Some((prefix, _)) = found {
                let prefix = PrefixText::new(A::ip_prefix(prefix));
                // SAFETY: an output of texts and its rows, as the caller promises.
                unsafe { output.put(rows, row as usize, prefix.as_bytes()) }
            }
        }
        Ok(())
    }

    /// Collects the routes that cover the addresses.
    fn covering<A: Family>(
        &mut self,
        table: &SqlTable,
        addresses: &FamilyAddresses<A>,
    ) -> Result<(), String> {
        for (&address, &row) in addresses.iter().zip(addresses.rows()) {
            let before = self.covering.len();
            let table = &table.loaded;
            let covering = table.supernets(IpPrefix::host(address.ip()), |(prefix, number)| {
                let value = table.value(number).map(Cow::into_owned);
                self.covering
                    .push((row as usize, PrefixText::new(prefix), value));
            });
            covering.map_err(|error| error.to_string())?;
            self.answered[row as usize] = self.covering.len() > before;
        }
        Ok(())
    }
}
