//! Which objects may be made: none that the garbage collector tracks while a table is locked, since the collector may run then, and with
//! it any Python code, which may come back to this table.

#[cfg(debug_assertions)]
thread_local! {
    /// How many locks this thread holds.
    static HELD: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Runs `f`, which a table's lock is held for.
#[inline]
pub(crate) fn holding<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(debug_assertions)]
    HELD.set(HELD.get() + 1);
    let result = f();
    #[cfg(debug_assertions)]
    HELD.set(HELD.get() - 1);
    result
}

/// For what makes objects that the garbage collector tracks: a build with debug assertions fails where a lock is held.
#[inline]
pub(crate) fn expect_no_lock() {
    #[cfg(debug_assertions)]
    assert_eq!(HELD.get(), 0, "an object is made while a table is locked");
}
