//! A page in, and it is served on loopback until the process is ended: a small part of HTTP/1.1, for one browser on this machine.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use popfib_formats::threads;

use popfib_program::failure::Failure;

use crate::output::{StandardOutput, note};

/// The longest request, and the time that a client has for it and for each write.
const MAX_REQUEST: usize = 16 << 10;
const PATIENCE: Duration = Duration::from_secs(10);

/// How many clients are served at a time: browsers open some connections before they ask, which would keep each other waiting.
const CLIENTS: usize = 16;

/// Serves `page`, and prints its address on standard output.
pub(super) fn serve(page: &str, what: &str) -> Result<(), Failure> {
    let failed = |error| format!("127.0.0.1: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    // Whoever does not know the path, as other users of this machine, gets nothing. Keys of hashes are random.
    let random = || RandomState::new().build_hasher().finish();
    let path = format!("/{:016x}{:016x}", random(), random());
    let mut output = StandardOutput::new();
    output.text(format_args!("http://{address}{path}\n"))?;
    output.flush()?;
    note!("serves {what}; Ctrl-C ends it");
    threads::share(CLIENTS, || {
        loop {
            match listener.accept() {
                // A client that has gone is no error.
                Ok((client, _)) => drop(answer(page, &path, client)),
                // Too many open files, or a connection that is closed already.
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        }
    });
    Ok(())
}

fn answer(page: &str, path: &str, mut client: TcpStream) -> std::io::Result<()> {
    client.set_write_timeout(Some(PATIENCE))?;
    // All of it is read, as what is left unread would make the system reset the connection.
    let (mut request, end) = (Vec::new(), Instant::now() + PATIENCE);
    while !request.ends_with(b"\r\n\r\n") && request.len() < MAX_REQUEST {
        let left = end.saturating_duration_since(Instant::now());
        // No time at all would be an error.
        client.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        let mut piece = [0; 1 << 10];
        match client.read(&mut piece)? {
            0 => break,
            length => request.extend(&piece[..length]),
        }
        if left.is_zero() {
            return Ok(());
        }
    }
    let request = String::from_utf8_lossy(&request);
    let mut lines = request.lines();
    let asked: Vec<_> = lines.next().unwrap_or("").split(' ').take(2).collect();
    let (status, body) = match lines.any(is_loopback) && asked == ["GET", path] {
        true => ("200 OK", page),
        false => ("404 Not Found", ""),
    };
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
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
