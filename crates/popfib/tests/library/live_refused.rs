//! The live table where the system refuses `membarrier`, from the start or later, and after `fork`.
//!
//! Each test runs in a process of its own: what is refused once is refused for good. A daemon installs
//! its filter of system calls when all is set up, so when readers are registered already.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::system;
use popfib::{LiveFib, NextHop, Options, Prefix};

/// Runs the test of that name once more, in a process of its own; false in there.
fn is_outside(test: &str) -> bool {
    const INSIDE: &str = "POPFIB_TEST_REFUSED";
    if std::env::var_os(INSIDE).is_some() {
        return false;
    }
    if !system::has_membarrier() {
        println!("skipped: {test}: the system has no membarrier");
        return true;
    }
    let output = Command::new(std::env::current_exe().expect("a program"))
        .args(["--exact", &format!("live_refused::{test}"), "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .expect("a process");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    true
}

/// Next hop 7 for what no change concerns.
const KEPT: u32 = 0xc000_0201;

fn kept() -> Prefix<u32> {
    Prefix::new_masked(KEPT, 24).expect("a length")
}

fn table() -> LiveFib<u32> {
    let mut table = LiveFib::new(Options::default()).expect("no options");
    table
        .announce(kept(), NextHop::new(7).expect("not 0"))
        .expect("fits");
    table
}

/// Routes more, which replace many blocks, and move the table now and then.
fn change(table: &mut LiveFib<u32>, changes: u32) {
    let before = table.rib().len() as u32;
    for n in before..before + changes {
        let bits = 0x0a00_0000 | n.wrapping_mul(2_654_435_761) >> 8;
        let prefix = Prefix::new_masked(bits, 20 + (n % 13) as u8).expect("a length");
        table
            .announce(prefix, NextHop::MIN.saturating_add(n % 500))
            .expect("fits");
        let expected = table.rib().lookup(prefix.first()).map(NextHop::get);
        assert_eq!(table.lookup(prefix.first()), expected.expect("a route"));
    }
    assert_eq!(table.check(), Ok(()));
}

/// Bytes that wait for readers.
fn waiting(table: &mut LiveFib<u32>) -> usize {
    table.reclaim();
    table.bytes().waiting + table.bytes().older
}

#[test]
fn a_refusal_after_the_first_reader_makes_memory_wait_and_no_more() {
    if is_outside("a_refusal_after_the_first_reader_makes_memory_wait_and_no_more") {
        return;
    }
    let mut table = table();
    let (mut old, silent, mut busy) = (table.reader(), table.reader(), table.reader());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Registered before, and comes and goes all the time.
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                assert_eq!(busy.lookup(KEPT), 7);
            }
        });
        change(&mut table, 1000);
        system::refuse_membarrier().expect("a filter");
        change(&mut table, 3000);
        assert!(
            waiting(&mut table) > 0,
            "two readers have not looked up since"
        );
        let mut new = table.reader();
        change(&mut table, 1000);
        assert_eq!(new.lookup(KEPT), 7);
        stop.store(true, Ordering::Relaxed);
    });
    // While it was inside, others need not have been asked for barriers of their own.
    drop(busy);
    assert!(waiting(&mut table) > 0, "two readers were asked");
    assert_eq!(old.lookup(KEPT), 7, "and makes its own barrier from now on");
    assert!(waiting(&mut table) > 0, "one has not");
    drop(silent);
    assert_eq!(waiting(&mut table), 0, "nobody is inside");
    let guard = old.pin();
    change(&mut table, 1000);
    assert_eq!(guard.lookup(KEPT), 7);
    assert!(waiting(&mut table) > 0, "the old reader is inside");
    drop(guard);
    assert_eq!(waiting(&mut table), 0);
}

#[test]
fn a_refusal_from_the_start_makes_readers_fence() {
    if is_outside("a_refusal_from_the_start_makes_readers_fence") {
        return;
    }
    system::refuse_membarrier().expect("a filter");
    let mut table = table();
    let mut reader = table.reader();
    change(&mut table, 3000);
    assert_eq!(reader.lookup(KEPT), 7);
    assert_eq!(waiting(&mut table), 0);
}

/// docs/live.md says what a child may do.
#[test]
fn a_child_looks_up_and_changes_its_copy() {
    if is_outside("a_child_looks_up_and_changes_its_copy") {
        return;
    }
    let mut table = table();
    let mut reader = table.reader();
    change(&mut table, 1000);
    let good = system::forked(|| {
        change(&mut table, 3000);
        table.withdraw(kept()).expect("fits");
        let mut new = table.reader();
        (reader.lookup(KEPT), new.lookup(KEPT)) == (0, 0) && waiting(&mut table) == 0
    });
    assert!(good);
    assert_eq!(reader.lookup(KEPT), 7, "the parent has its own");
    // What another thread had inside at the fork stays inside there, and memory waits.
    let guard = reader.pin();
    assert!(system::forked(|| {
        change(&mut table, 3000);
        waiting(&mut table) > 0
    }));
    drop(guard);
    change(&mut table, 1000);
    assert_eq!(waiting(&mut table), 0);
}
