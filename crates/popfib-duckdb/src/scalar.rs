//! `lpm` and its kin: a column of names, one of addresses, and a column of answers.
//!
//! The table of a name is found once for a chunk of rows, not for each; a query goes on with the table it has found
//! there when another takes its name.

use core::ffi::CStr;
use std::cell::RefCell;
use std::sync::Arc;

use popfib::{Family, IpPrefix, Kernel};
use popfib_formats::Escaped;
use popfib_table::{FamilyTable, PrefixText};

use crate::addresses::Addresses;
use crate::api::{Handle, TypeId, api};
use crate::border::{border, drop_box, into_raw};
use crate::registry::Registry;
use crate::table::Table;
use crate::vector::{Column, LogicalType, Output, Rows, Text};

/// What a function answers.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Value,
    Integer,
    Prefix,
    Covering,
}

/// What DuckDB keeps for a function.
struct Function {
    answer: Answer,
    registry: Arc<Registry>,
}

const FUNCTIONS: [(&CStr, Answer); 4] = [
    (c"lpm", Answer::Value),
    (c"lpm_int", Answer::Integer),
    (c"lpm_prefix", Answer::Prefix),
    (c"lpm_all", Answer::Covering),
];

/// Registers the functions.
///
/// # Errors
/// The name of one that DuckDB does not take.
///
/// # Safety
/// A connection of the database that loads this library.
pub(crate) unsafe fn register(
    connection: Handle,
    registry: &Arc<Registry>,
) -> Result<(), &'static CStr> {
    for (name, answer) in FUNCTIONS {
        let varchar = LogicalType::new(TypeId::VARCHAR);
        let any = LogicalType::new(TypeId::ANY);
        let returns = match answer {
            Answer::Value | Answer::Prefix => LogicalType::new(TypeId::VARCHAR),
            Answer::Integer => LogicalType::new(TypeId::BIGINT),
            Answer::Covering => {
                let route = [(c"prefix", &varchar), (c"value", &varchar)];
                LogicalType::list(&LogicalType::structure(route))
            }
        };
        // SAFETY: the caller's; handles made here are given back, what is registered is copied.
        let registered = unsafe {
            let mut set = (api().create_scalar_function_set)(name.as_ptr());
            // Without and with what to do about rows that are no addresses.
            for parameters in [&[&varchar, &any][..], &[&varchar, &any, &varchar]] {
                let mut function = (api().create_scalar_function)();
                (api().scalar_function_set_name)(function, name.as_ptr());
                for parameter in parameters {
                    (api().scalar_function_add_parameter)(function, parameter.handle());
                }
                (api().scalar_function_set_return_type)(function, returns.handle());
                let data = into_raw(Function {
                    answer,
                    registry: Arc::clone(registry),
                });
                (api().scalar_function_set_extra_info)(function, data, drop_box::<Function>);
                (api().scalar_function_set_function)(function, run);
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
/// DuckDB calls it for a function of [`register`].
unsafe extern "C" fn run(info: Handle, chunk: Handle, output: Handle) {
    // SAFETY: the caller's: what `register` handed over, two or three columns and one of the answers, all of them as
    // long as the chunk.
    unsafe {
        border(api().scalar_function_set_error, info, || {
            let function = (api().scalar_function_get_extra_info)(info).cast::<Function>();
            let len = (api().data_chunk_get_size)(chunk) as usize;
            let column = |at| Column::new((api().data_chunk_get_vector)(chunk, at), len);
            let invalid = ((api().data_chunk_get_column_count)(chunk) > 2).then(|| column(2));
            let [names, addresses] = [column(0), column(1)];
            SCRATCH.with_borrow_mut(|scratch| {
                let output = Output::new(output);
                scratch.run(&*function, &names, &addresses, invalid.as_ref(), output)
            })
        });
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// What a chunk needs meanwhile, kept by each thread for the next.
#[derive(Default)]
struct Scratch {
    all: Addresses,
    /// Those of the rows that name one table, where there are several names.
    some: Addresses,
    numbers: Vec<u32>,
    answered: Vec<bool>,
    /// The routes that cover an address: of its row, with the value's text.
    covering: Vec<(usize, PrefixText, String)>,
}

impl Scratch {
    /// # Safety
    /// The columns are of texts, of anything and of texts; the output is of the function's type and as long.
    unsafe fn run(
        &mut self,
        function: &Function,
        names: &Column<'_>,
        column: &Column<'_>,
        invalid: Option<&Column<'_>>,
        output: Output,
    ) -> Result<(), String> {
        let len = column.len();
        self.answered.clear();
        self.answered.resize(len, false);
        self.covering.clear();
        self.all.read(column)?;
        // SAFETY: the caller's.
        unsafe {
            if invalid.map_or(Ok(false), |invalid| is_strict(invalid))?
                && let Some(row) = self.all.invalid
            {
                return Err(no_address(column, row));
            }
            let rows = names.rows::<Text>();
            // Without a branch for each name, since nearly always they are one.
            let one_name = rows.first().is_some_and(|first| {
                !names.has_nulls() && rows.iter().fold(true, |same, name| same & (name == first))
            });
            if one_name {
                let table = function.registry.get(names.bytes(0))?;
                let all = std::mem::take(&mut self.all);
                let result = self.answer(function.answer, &table, &all, len, output);
                self.all = all;
                result.map_err(|error| in_table(names.bytes(0), &error))?;
            } else {
                self.each_name(function, names, output)?;
            }
            if let Answer::Covering = function.answer {
                self.write_covering(len, output)?;
            }
            output.set_nulls(&self.answered);
        }
        Ok(())
    }

    /// Asks each table for the rows that name it.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn each_name(
        &mut self,
        function: &Function,
        names: &Column<'_>,
        output: Output,
    ) -> Result<(), String> {
        let mut done = vec![false; names.len()];
        let mut same = vec![false; names.len()];
        for first in 0..names.len() {
            if done[first] || names.is_null(first) {
                continue;
            }
            // SAFETY: the caller's; no row asked for is null.
            let name = unsafe { names.bytes(first) };
            let table = function.registry.get(name)?;
            for row in first..names.len() {
                // SAFETY: as above.
                same[row] = !names.is_null(row) && unsafe { names.bytes(row) } == name;
                done[row] |= same[row];
            }
            let mut some = std::mem::take(&mut self.some);
            some.choose(&self.all, |row| same[row as usize]);
            same.fill(false);
            // SAFETY: the caller's.
            let result =
                unsafe { self.answer(function.answer, &table, &some, names.len(), output) };
            self.some = some;
            result.map_err(|error| in_table(name, &error))?;
        }
        Ok(())
    }

    /// # Safety
    /// The output is of the answer's type, and so long.
    unsafe fn answer(
        &mut self,
        answer: Answer,
        table: &Table,
        addresses: &Addresses,
        len: usize,
        output: Output,
    ) -> Result<(), String> {
        // SAFETY: the caller's.
        unsafe {
            match answer {
                Answer::Value => {
                    let rows = output.rows::<Text>(len);
                    let texts = &*table.texts;
                    if !table.has_long {
                        self.numbers(table, addresses, |row, number| {
                            rows.set(row, texts[number as usize]);
                        })?;
                        return Ok(());
                    }
                    // The rows that have the long texts written last.
                    let mut long = [(0, 0); 256];
                    self.numbers(table, addresses, |row, number| {
                        let text = texts[number as usize];
                        if !text.is_long() {
                            return rows.set(row, text);
                        }
                        let place = &mut long[number as usize % 256];
                        if place.0 == number {
                            return rows.set(row, rows.get(place.1));
                        }
                        output.put_long(row, table.text(number).as_bytes());
                        *place = (number, row);
                    })?;
                }
                Answer::Integer => {
                    let integers = table.integers()?;
                    let rows = output.rows::<i64>(len);
                    self.numbers(table, addresses, |row, number| {
                        rows.set(row, integers[number as usize]);
                    })?;
                }
                Answer::Prefix => {
                    let rows = output.rows::<Text>(len);
                    self.prefixes(table, &addresses.ipv4, output, &rows)?;
                    self.prefixes(table, &addresses.ipv6, output, &rows)?;
                }
                Answer::Covering => {
                    self.covering(table, &addresses.ipv4)?;
                    self.covering(table, &addresses.ipv6)?;
                }
            }
        }
        Ok(())
    }

    /// Looks up every address, and hands out its number, with its row; 0 is none, whatever is written for it.
    #[inline(always)]
    fn numbers(
        &mut self,
        table: &Table,
        addresses: &Addresses,
        mut put: impl FnMut(usize, u32),
    ) -> Result<(), String> {
        let (ipv4, ipv6) = (&addresses.ipv4, &addresses.ipv6);
        self.look_up(table, &ipv4.addresses)?;
        if ipv4.rows.len() == self.answered.len() {
            // Every row is an IPv4 address: the usual case, in which nothing is sorted by families.
            for (row, &number) in self.numbers.iter().enumerate() {
                put(row, number);
            }
            for (answered, &number) in self.answered.iter_mut().zip(&self.numbers) {
                *answered = number != 0;
            }
            return Ok(());
        }
        self.put_back(&ipv4.rows, &mut put);
        self.look_up(table, &ipv6.addresses)?;
        self.put_back(&ipv6.rows, &mut put);
        Ok(())
    }

    /// The numbers of the values of addresses.
    fn look_up<A: Family>(&mut self, table: &Table, addresses: &[A]) -> Result<(), String> {
        self.numbers.resize(addresses.len(), 0);
        let family = table.loaded.table.family::<A>();
        let looked_up = family.value_numbers(Kernel::best(), addresses, &mut self.numbers);
        looked_up.map_err(|error| error.to_string())
    }

    /// Hands out the numbers of these rows.
    #[inline(always)]
    fn put_back(&mut self, rows: &[u32], put: &mut impl FnMut(usize, u32)) {
        for (&number, &row) in self.numbers.iter().zip(rows) {
            self.answered[row as usize] = number != 0;
            put(row as usize, number);
        }
    }

    /// # Safety
    /// The output is of texts, and these are its rows.
    unsafe fn prefixes<A: Family>(
        &mut self,
        table: &Table,
        addresses: &popfib_table::Rows<A>,
        output: Output,
        rows: &Rows<'_, Text>,
    ) -> Result<(), String> {
        if addresses.rows.is_empty() {
            return Ok(());
        }
        let family = table.loaded.table.family::<A>();
        self.numbers.resize(addresses.rows.len(), 0);
        let (numbers, addresses, places) =
            (&mut self.numbers, &addresses.addresses, &addresses.rows);
        let found = family.match_numbers(Kernel::best(), addresses, numbers);
        found.map_err(|error| error.to_string())?;
        for ((&address, &number), &row) in addresses.iter().zip(&*numbers).zip(places) {
            let found = FamilyTable::<A>::matched(address, number);
            self.answered[row as usize] = found.is_some();
            if let Some((prefix, _)) = found {
                let prefix = PrefixText::new(A::ip_prefix(prefix));
                // SAFETY: the caller's.
                unsafe { output.put(rows, row as usize, prefix.as_bytes()) }
            }
        }
        Ok(())
    }

    /// Collects the routes that cover the addresses.
    fn covering<A: Family>(
        &mut self,
        table: &Table,
        addresses: &popfib_table::Rows<A>,
    ) -> Result<(), String> {
        for (&address, &row) in addresses.addresses.iter().zip(&addresses.rows) {
            let before = self.covering.len();
            let covering =
                table
                    .loaded
                    .table
                    .supernets(IpPrefix::host(address.ip()), |(prefix, number)| {
                        let value = table.text(number.get()).into_owned();
                        self.covering
                            .push((row as usize, PrefixText::new(prefix), value));
                    });
            covering.map_err(|error| error.to_string())?;
            self.answered[row as usize] = self.covering.len() > before;
        }
        Ok(())
    }

    /// Writes the lists of routes; those of a row lie side by side.
    ///
    /// # Safety
    /// The output is of lists of two texts, and so long.
    unsafe fn write_covering(&self, len: usize, output: Output) -> Result<(), String> {
        // SAFETY: the caller's.
        unsafe {
            let lists = output.rows::<[u64; 2]>(len);
            (0..len).for_each(|row| lists.set(row, [0, 0]));
            let count = self.covering.len();
            let elements = output.elements(count).ok_or("no memory for the lists")?;
            let fields = [elements.field(0), elements.field(1)];
            let texts = fields.map(|field| field.rows::<Text>(count));
            for (at, (row, prefix, value)) in self.covering.iter().enumerate() {
                fields[0].put(&texts[0], at, prefix.as_bytes());
                fields[1].put(&texts[1], at, value.as_bytes());
                let [start, length] = lists.get(*row);
                let start = if length == 0 { at as u64 } else { start };
                lists.set(*row, [start, length + 1]);
            }
        }
        Ok(())
    }
}

/// Whether rows that are no addresses are errors: `'error'` or `'null'`, the same for all rows.
///
/// # Safety
/// The column is of texts.
unsafe fn is_strict(invalid: &Column<'_>) -> Result<bool, String> {
    let what = "the third argument says what a row is that is no address: 'null' or 'error'";
    let mut strict = false;
    for row in 0..invalid.len() {
        // SAFETY: the caller's; the row is not null.
        strict = match (!invalid.is_null(row)).then(|| unsafe { invalid.bytes(row) }) {
            Some(b"null") => false,
            Some(b"error") => true,
            _ => return Err(what.to_owned()),
        };
    }
    Ok(strict)
}

fn in_table(name: &[u8], error: &str) -> String {
    format!(
        "table '{}': {error}",
        Escaped(&String::from_utf8_lossy(name))
    )
}

/// What to say of a row that is no address.
fn no_address(column: &Column<'_>, row: usize) -> String {
    match column.type_id() {
        TypeId::VARCHAR => {
            // SAFETY: a column of texts; the row is not null.
            let text = String::from_utf8_lossy(unsafe { column.bytes(row) });
            let text: String = text.chars().take(60).collect();
            format!("'{}' is no address", Escaped(&text))
        }
        TypeId::BLOB => "a BLOB that is no address: it has neither 4 bytes nor 16".to_owned(),
        _ => "a number that is no address".to_owned(),
    }
}
