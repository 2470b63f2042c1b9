//! Any order of events of feeds (connect, routes, peer up and down, end of RIB, close, limit, reload, restart, sweep), beside a
//! model that knows which routes must answer. The tests of popfib-feed have the same driver.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/popfib-feed/tests/feed/at_once.rs"]
#[expect(dead_code, reason = "the tests need more")]
mod at_once;
#[path = "../../crates/popfib-feed/tests/feed/orders.rs"]
mod orders;

fuzz_target!(|data: &[u8]| orders::play(data));
