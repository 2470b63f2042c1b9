//! Any bytes as lines of bgpdump -m: tables and updates.
#![no_main]

mod readers;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    readers::table("bgpdump", data);
    readers::updates("bgpdump", data);
});
