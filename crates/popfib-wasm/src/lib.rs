//! popfib as a WebAssembly module: what `popfib.js` calls.
//!
//! The border is numbers only. JavaScript writes what it asks into memory that this module has, at an offset that it was
//! given (`input`, `cells`, `keys`), calls a function, and reads the answer from `output` or `numbers`; so there is no pointer
//! from outside that could be wrong, and Rust reads nothing but its own vectors. A module has one table and no threads.
//! For another table JavaScript makes another instance, whose memory goes with it.
//!
//! Functions that may fail return less than 0, or false, and leave one line of text in `output`.
//!
//! An address is a key, IPv4 as a number, or a *cell*, of any kind: a byte of its length and so many bytes, a text, or, if
//! the byte's highest bit is set, an address of 4 or 16 bytes in network order.

mod table;

use std::cell::RefCell;
use std::net::IpAddr;

use table::{Matched, Table, Value};

/// Addresses that are looked up by one call: few enough that they stay in the CPU's second cache.
const CHUNK: usize = 4096;

/// Bytes of a cell: no address is longer.
const CELL: usize = 1 + 46;

/// What JavaScript reads and writes, and the table.
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    keys: Vec<u32>,
    numbers: Vec<u32>,
    table: Table,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State {
        input: Vec::new(),
        output: Vec::new(),
        keys: vec![0; CHUNK],
        numbers: vec![0; CHUNK],
        table: Table::default(),
    });
}

fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(act)
}

impl State {
    /// Whether it went well; the bytes or the error's line are in `output`.
    fn put(&mut self, result: Result<Vec<u8>, String>) -> bool {
        let is_ok = result.is_ok();
        self.output = result.unwrap_or_else(String::into_bytes);
        is_ok
    }

    fn matched(&mut self, matched: Matched) -> i32 {
        match matched {
            Matched::NoAddress => -1,
            Matched::NoRoutes => -2,
            Matched::Nothing => 0,
            Matched::Route(prefix, number) => {
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

/// Where cells to look up belong, and packed addresses of [`lookup_packed`], once a table is open: the first bytes of the
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

/// Compiles the text that is the input into an image, the output.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn compile() -> bool {
    with(|state| {
        let text = std::mem::take(&mut state.input);
        let image = table::compile(text);
        state.put(image)
    })
}

/// Takes the image that is the input for the table, and makes room for cells in the input.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> bool {
    with(|state| {
        let opened = Table::open(&state.input);
        state.input = vec![0; CHUNK * CELL];
        let done = opened.map(|table| {
            state.table = table;
            Vec::new()
        });
        state.put(done)
    })
}

/// The number of routes.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn route_count() -> usize {
    with(|state| state.table.route_count())
}

/// The number of an IPv4 address' value; 0 if there is none.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn lookup(address: u32) -> u32 {
    with(|state| state.table.lookup(IpAddr::V4(address.into())))
}

/// The same of the first cell; -1 if that is no address.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn lookup_cell() -> i32 {
    with(|state| match table::cell(&mut &*state.input) {
        Some(address) => state.table.lookup(address) as i32,
        None => -1,
    })
}

/// As [`lookup`], with the prefix as output; -2 if the image has no routes.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn longest_match(address: u32) -> i32 {
    with(|state| state.matched(state.table.longest_match(Some(IpAddr::V4(address.into())))))
}

/// As [`lookup_cell`], with the prefix as output; -2 if the image has no routes.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn longest_match_cell() -> i32 {
    with(|state| {
        let address = table::cell(&mut &*state.input);
        state.matched(state.table.longest_match(address))
    })
}

/// The value of a number, as output: 1 if that is its text, 2 if it is a float, 0 if there is none.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn value(number: u32) -> u32 {
    with(|state| {
        let (kind, output) = match state.table.value(number) {
            Some(Value::Text(text)) => (1, text.into_bytes()),
            Some(Value::Float(number)) => (2, number.to_le_bytes().to_vec()),
            None => (0, Vec::new()),
        };
        state.output = output;
        kind
    })
}

/// Looks up the first `count` keys, at most `chunk()` of them, into as many numbers.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn lookup_many(count: usize) {
    with(|state| {
        let count = count.min(CHUNK);
        let (keys, numbers) = (&state.keys[..count], &mut state.numbers[..count]);
        state.table.lookup_many(keys, numbers);
    });
}

/// Looks up `count` IPv6 addresses of 16 bytes, at most `chunk()` of them.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn lookup_packed(count: usize) {
    with(|state| {
        let numbers = &mut state.numbers[..count.min(CHUNK)];
        state.table.lookup_packed(&state.input, numbers);
    });
}

/// Looks up `count` cells, at most `chunk()` of them. The number of one that is no address has all bits set; returns how
/// many these are.
// SAFETY: as for `input`.
#[unsafe(no_mangle)]
pub extern "C" fn lookup_cells(count: usize) -> usize {
    with(|state| {
        let numbers = &mut state.numbers[..count.min(CHUNK)];
        state.table.lookup_cells(&state.input, numbers)
    })
}
