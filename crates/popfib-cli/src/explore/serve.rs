//! A page in, and it is served on loopback until the process is ended: a small part of HTTP/1.1, for one browser on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use popfib_program::failure::Failure;

use crate::output::{StandardOutput, note};

/// The longest first line of a request, and the time that a client has for each read and write.
const MAX_LINE: u64 = 8 << 10;
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves `page`, and prints its address on standard output.
pub(super) fn serve(page: &str, what: &str) -> Result<(), Failure> {
    let failed = |error| format!("127.0.0.1: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let mut output = StandardOutput::new();
    output.text(format_args!("http://{address}/\n"))?;
    output.flush()?;
    note(format_args!("serves {what}; Ctrl-C ends it"));
    // Each in a thread: browsers open connections before they ask, and would keep each other waiting.
    thread::scope(|scope| {
        for client in listener.incoming().flatten() {
            scope.spawn(move || {
                // A client that has gone is no error.
                let _ = answer(page, client);
            });
        }
    });
    Ok(())
}

fn answer(page: &str, mut client: TcpStream) -> std::io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(client.try_clone()?.take(MAX_LINE));
    let mut line = String::new();
    reader.read_line(&mut line)?;
    // All of it is read, as what is left unread would make the system reset the connection.
    let (mut header, mut is_ours) = (String::new(), false);
    while reader.read_line(&mut header)? > 2 {
        is_ours |= is_loopback(&header);
        header.clear();
    }
    let (status, body) = match line.split(' ').take(2).collect::<Vec<_>>()[..] {
        ["GET", "/"] if is_ours => ("200 OK", page),
        _ => ("404 Not Found", ""),
    };
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    client.write_all(body.as_bytes())
}

/// Whether a header asks for this machine by its own name. By another, whose address was made to be this one, a web page could read the
/// table.
fn is_loopback(header: &str) -> bool {
    let Some((name, host)) = header.split_once(':') else {
        return false;
    };
    let host = host.trim().split(':').next();
    name.eq_ignore_ascii_case("host") && matches!(host, Some("127.0.0.1" | "localhost"))
}
