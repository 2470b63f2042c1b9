//! An allocator that counts what is held and refuses on demand, and a global one that refuses.

use std::alloc::{GlobalAlloc, Layout, System, alloc, dealloc};
use std::cell::Cell;
use std::ptr::NonNull;

use popfib::memory::{AllocError, Allocator};

/// Which requests are refused.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refuse {
    Nothing,
    /// One request, after so many that are granted.
    One(usize),
    /// All requests after so many that are granted.
    From(usize),
}

/// Counts requests and says which are refused.
#[derive(Debug)]
struct Gate {
    refuse: Cell<Refuse>,
    /// Requests since `refuse` was set.
    requests: Cell<usize>,
    /// How many of them were refused.
    refused: Cell<usize>,
}

impl Gate {
    const fn new() -> Self {
        Self {
            refuse: Cell::new(Refuse::Nothing),
            requests: Cell::new(0),
            refused: Cell::new(0),
        }
    }

    fn set(&self, refuse: Refuse) {
        self.refuse.set(refuse);
        self.requests.set(0);
        self.refused.set(0);
    }

    fn refuses(&self) -> bool {
        let request = self.requests.replace(self.requests.get() + 1);
        let refused = match self.refuse.get() {
            Refuse::Nothing => false,
            Refuse::One(granted) => request == granted,
            Refuse::From(granted) => request >= granted,
        };
        self.refused.set(self.refused.get() + usize::from(refused));
        refused
    }
}

thread_local! {
    static GATE: Gate = const { Gate::new() };
    /// Bytes that this thread was given and has not given back.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// The global allocator of a test whose memory can come from nowhere else.
pub(crate) struct FailingHeap;

impl FailingHeap {
    /// Runs `operation`, on this thread, with requests refused; also returns how many were.
    pub(crate) fn refusing<T>(refuse: Refuse, operation: impl FnOnce() -> T) -> (T, usize) {
        GATE.with(|gate| gate.set(refuse));
        let result = operation();
        let refused = GATE.with(|gate| gate.refused.get());
        GATE.with(|gate| gate.set(Refuse::Nothing));
        (result, refused)
    }

    /// Bytes of the heap that what `make` returns holds; all of them made on this thread.
    pub(crate) fn held_by<T>(make: impl FnOnce() -> T) -> (T, usize) {
        let before = HELD.get();
        let made = make();
        (made, HELD.get().wrapping_sub(before))
    }
}

// SAFETY: the system's memory, or none.
unsafe impl GlobalAlloc for FailingHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if GATE.with(Gate::refuses) {
            return std::ptr::null_mut();
        }
        HELD.set(HELD.get().wrapping_add(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        HELD.set(HELD.get().wrapping_sub(layout.size()));
        // SAFETY: the caller's promise; `alloc` had it from there.
        unsafe { System.dealloc(start, layout) }
    }
}

/// Hands out the heap's memory, by reference.
#[derive(Debug)]
pub(crate) struct Failing {
    gate: Gate,
    bytes: Cell<usize>,
    only_one: Cell<bool>,
}

impl Failing {
    pub(crate) fn new() -> Self {
        Self {
            gate: Gate::new(),
            bytes: Cell::new(0),
            only_one: Cell::new(false),
        }
    }

    pub(crate) fn refuse(&self, refuse: Refuse) {
        self.gate.set(refuse);
    }

    /// Bytes handed out and not given back.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Runs `operation` with the first request refused, then with the second,
    /// and so on until it succeeds; `after` runs after each failure. Returns
    /// the result and the number of failures. One time all requests that follow
    /// are refused too, the next time only that one: what asks again for less
    /// then gets it.
    pub(crate) fn until_it_succeeds<S, T, E>(
        &self,
        state: &mut S,
        mut operation: impl FnMut(&mut S) -> Result<T, E>,
        mut after: impl FnMut(&mut S, E),
    ) -> (T, usize) {
        let only_one = self.only_one.replace(!self.only_one.get());
        for granted in 0.. {
            self.refuse(if only_one {
                Refuse::One(granted)
            } else {
                Refuse::From(granted)
            });
            let result = operation(state);
            self.refuse(Refuse::Nothing);
            match result {
                Ok(value) => return (value, granted),
                Err(error) => after(state, error),
            }
        }
        unreachable!("there are as many numbers as needed")
    }
}

// SAFETY: the heap's own memory, or an error.
unsafe impl Allocator for Failing {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if self.gate.refuses() || layout.size() == 0 {
            return Err(AllocError);
        }
        // SAFETY: the size is not 0.
        let start = NonNull::new(unsafe { alloc(layout) }).ok_or(AllocError)?;
        // SAFETY: that long; garbage, as memory may hold.
        unsafe { start.write_bytes(0xa5, layout.size()) };
        self.bytes.set(self.bytes.get() + layout.size());
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        self.bytes.set(self.bytes.get() - layout.size());
        // SAFETY: by the caller's promise allocated above with this layout.
        unsafe {
            start.write_bytes(0x5a, layout.size());
            dealloc(start.as_ptr(), layout);
        }
    }
}
