//! Prints the manual page of `popfibd`.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(popfib_daemon::command()).render(&mut page)?;
    io::stdout().write_all(&page)
}
