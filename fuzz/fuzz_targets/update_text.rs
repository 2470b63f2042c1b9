//! Any bytes as updates in either textual form, and in the one that is detected.
#![no_main]

mod readers;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    readers::updates("text", data);
    readers::updates("gobgpdump", data);
    readers::updates("detected", data);
});
