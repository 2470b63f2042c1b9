//! popfib as a WebAssembly module: calls of `popfib.js` in, numbers and bytes in the module's memory out.
//!
//! Only numbers cross the border. JavaScript writes a question into the module's memory, at an offset that it was given (`input`,
//! `cells`, `keys`), calls a function, and reads the answer from `output` or `numbers`. So no pointer from outside can be wrong, and
//! Rust reads nothing but its own vectors. An instance has one table and no threads. For another table JavaScript makes another
//! instance, whose memory goes with it.
//!
//! Functions that may fail return less than 0, or false, and leave one line of text in `output`.
//!
//! An address is a *key* (IPv4 as a number) or a *cell* of either family: a byte with its length, and so many bytes. They are the text
//! of an IPv6 address or, if the highest bit of the first byte is set, an address of 4 or 16 bytes in network order. Rejected: cells
//! of IPv4 as text. JavaScript takes longer to write these than to read the text itself.

mod columns;
mod table;

use std::cell::RefCell;
use std::net::IpAddr;

use popfib_table::{Column, Records};

use table::{JsMatch, JsTable};

/// Addresses that are looked up by one call: few enough that they stay in the CPU's second cache.
const CHUNK: usize = 4096;

/// Bytes of a cell: no address is longer.
const CELL: usize = 1 + 46;

/// What JavaScript reads and writes, and the table, once it is open.
struct ModuleState {
    input: Vec<u8>,
    output: Vec<u8>,
    keys: Vec<u32>,
    numbers: Vec<u32>,
    table: Option<JsTable>,
}

thread_local! {
    // A constant, since otherwise each function would first ask whether it has been made.
    static STATE: RefCell<ModuleState> = const {
        RefCell::new(ModuleState {
            input: Vec::new(),
            output: Vec::new(),
            keys: Vec::new(),
            numbers: Vec::new(),
            table: None,
        })
    };
}

fn with<T>(act: impl FnOnce(&mut ModuleState) -> T) -> T {
    STATE.with_borrow_mut(act)
}

/// What `act` says of the table; 0 as long as there is none.
fn ask<T: Default>(act: impl FnOnce(&JsTable) -> T) -> T {
    with(|state| state.table.as_ref().map(act).unwrap_or_default())
}

impl ModuleState {
    /// Puts the bytes, or the line of the error, into `output`; returns whether there is no error.
    fn put(&mut self, result: Result<Vec<u8>, String>) -> bool {
        let is_ok = result.is_ok();
        self.output = result.unwrap_or_else(String::into_bytes);
        is_ok
    }

    fn longest_match(&mut self, address: Option<IpAddr>) -> i32 {
        let Some(table) = &self.table else { return 0 };
        match table.longest_match(address) {
            JsMatch::NoAddress => -1,
            JsMatch::NoRoutes => -2,
            JsMatch::Nothing => 0,
            JsMatch::Route(prefix, number) => {
                self.output = prefix.into_bytes();
                number as i32
            }
        }
    }
}

/// Where `len` bytes of input belong; 0 if there is no memory for them.
// SAFETY: nothing else of the module has this name, nor those below.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> usize {
    with(|state| {
        state.input = Vec::new();
        if state.input.try_reserve_exact(len).is_err() {
            return 0;
        }
        state.input.resize(len, 0);
        state.input.as_mut_ptr().expose_provenance()
    })
}

/// Where cells to look up belong, and packed addresses of [`lookup_packed`], once a table is open: at the beginning of the
/// input.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn cells() -> usize {
    with(|state| state.input.as_mut_ptr().expose_provenance())
}

/// Where [`lookup_many`] takes addresses from.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn keys() -> usize {
    with(|state| state.keys.as_mut_ptr().expose_provenance())
}

/// Where [`lookup_many`], [`lookup_packed`] and [`lookup_cells`] put numbers.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn numbers() -> usize {
    with(|state| state.numbers.as_ptr().expose_provenance())
}

/// The most addresses of one call.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn chunk() -> usize {
    CHUNK
}

/// Where the output is.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> usize {
    with(|state| state.output.as_ptr().expose_provenance())
}

/// How long the output is.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn output_len() -> usize {
    with(|state| state.output.len())
}

/// Compiles the text that is the input into an image, the output. `mapped`: IPv4-mapped addresses have the routes of IPv4.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn compile(mapped: bool) -> bool {
    with(|state| {
        let text = std::mem::take(&mut state.input);
        let image = table::compile(text, mapped);
        state.put(image)
    })
}

/// Opens a table of the image that is the input, and then makes room for cells in the input. The last `name_len` bytes of the
/// input are the table's name; a number below 0 is for an image with one table.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn open(name_len: isize) -> bool {
    with(|state| {
        let mut image = std::mem::take(&mut state.input);
        let name = usize::try_from(name_len).ok().map(|len| {
            let name = image.split_off(image.len().saturating_sub(len));
            String::from_utf8(name).unwrap_or_default()
        });
        let opened = JsTable::open(image, name.as_deref());
        state.input = vec![0; CHUNK * CELL];
        state.keys = vec![0; CHUNK];
        state.numbers = vec![0; CHUNK];
        let done = opened.map(|table| {
            state.table = Some(table);
            Vec::new()
        });
        state.put(done)
    })
}

/// The number of routes.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn route_count() -> usize {
    ask(JsTable::route_count)
}

/// The number of the record of an IPv4 address; 0 if there is none.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn lookup(address: u32) -> u32 {
    ask(|table| table.lookup(IpAddr::V4(address.into())))
}

/// The number of the record of the address in the first cell; 0 if there is none, -1 if it holds no address.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn lookup_cell() -> i32 {
    with(
        |state| match (table::cell(&mut &*state.input), &state.table) {
            (Some(address), Some(table)) => table.lookup(address) as i32,
            _ => -1,
        },
    )
}

/// As [`lookup`], with the prefix as output; -2 if the image has no routes.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn longest_match(address: u32) -> i32 {
    with(|state| state.longest_match(Some(IpAddr::V4(address.into()))))
}

/// As [`lookup_cell`], with the prefix as output; -2 if the image has no routes.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn longest_match_cell() -> i32 {
    with(|state| {
        let address = table::cell(&mut &*state.input);
        state.longest_match(address)
    })
}

/// Puts all routes that cover the address in the first cell into the output, as `JsTable::supernets` has them; returns what
/// [`longest_match_cell`] does, or 0.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn supernets_cell() -> i32 {
    with(
        |state| match (table::cell(&mut &*state.input), &state.table) {
            (Some(address), Some(table)) => match table.supernets(address) {
                Ok(lines) => {
                    state.output = lines.into_bytes();
                    0
                }
                Err(_) => -2,
            },
            _ => -1,
        },
    )
}

/// The number of records, which is also the highest of their numbers; 0 if the image has none.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn record_count() -> usize {
    ask(|table| table.records().map_or(0, Records::len))
}

/// The index of the column that is the value of a record.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn value_column() -> usize {
    ask(|table| table.records().map_or(0, Records::value_column))
}

/// The type of the column of this index, as `columns.rs` numbers types, with its name as output; 0 after the last column.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn column(index: usize) -> u32 {
    with(|state| {
        let column = state.table.as_ref().and_then(|table| table.column(index));
        let Some(column) = column else { return 0 };
        state.output = column.name().into();
        columns::type_of(column)
    })
}

/// The number of different values of a column, which is also the highest of their codes.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn code_count(column: usize) -> usize {
    ask(|table| table.column(column).map_or(0, Column::len))
}

/// The code of a record's value in a column that there is; 0 if it is absent.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn code(number: u32, column: usize) -> u32 {
    ask(|table| match table.records() {
        Some(records) if column < records.columns().len() => records.code(number, column),
        _ => 0,
    })
}

/// Puts the value of a code into the output, as `columns::put` does.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn value(column: usize, code: u32) {
    with(|state| {
        let column = state.table.as_ref().and_then(|table| table.column(column));
        if let Some(column) = column {
            columns::put(column, code, &mut state.output);
        }
    });
}

/// Looks up the first `count` keys, at most `chunk()` of them, into as many numbers.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn lookup_many(count: usize) {
    with(|state| {
        let count = count.min(state.keys.len());
        let (keys, numbers) = (&state.keys[..count], &mut state.numbers[..count]);
        if let Some(table) = &state.table {
            table.lookup_many(keys, numbers);
        }
    });
}

/// Looks up `count` IPv6 addresses of 16 bytes, at most `chunk()` of them.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn lookup_packed(count: usize) {
    with(|state| {
        if let Some(table) = &mut state.table {
            let count = count.min(state.numbers.len());
            table.lookup_packed(&state.input, &mut state.numbers[..count]);
        }
    });
}

/// Looks up `count` cells, at most `chunk()` of them. A cell that holds no address gets a number with all bits set; returns how
/// many these are.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn lookup_cells(count: usize) -> usize {
    with(|state| match &mut state.table {
        None => 0,
        Some(table) => {
            let count = count.min(state.numbers.len());
            table.lookup_cells(&state.input, &mut state.numbers[..count])
        }
    })
}
