//! The command `popfib`.

fn main() {}
