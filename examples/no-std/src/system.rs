//! Where the program begins and ends, and what must not happen in between.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::{asm, global_asm};
use core::panic::PanicInfo;

// The stack as a function expects it, then `main`.
global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "and rsp, -16",
    "call {main}",
    "ud2",
    main = sym main,
);

extern "C" fn main() -> ! {
    exit(if crate::run() { 0 } else { 1 })
}

fn exit(status: i32) -> ! {
    // SAFETY: Linux' call 60 ends the process.
    unsafe { asm!("syscall", in("rax") 60, in("rdi") status, options(noreturn, nostack)) }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(2)
}

/// There is none: whoever asks ends the program.
struct NoHeap;

// SAFETY: nothing is ever handed out.
unsafe impl GlobalAlloc for NoHeap {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        exit(3)
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {
        exit(3)
    }
}

#[global_allocator]
static HEAP: NoHeap = NoHeap;
