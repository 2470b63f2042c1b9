//! Any bytes as MRT records: tables and updates.
#![no_main]

mod readers;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    readers::table("mrt", data);
    readers::updates("mrt", data);
});
