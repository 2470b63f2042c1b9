//! `popfib explore`: the page as a file, and served. What it does in a browser is tested by `scripts/test-explore`.

use crate::common::{TABLE, bad, file, good, path, popfib, run};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

#[test]
fn a_page_is_one_file_with_a_policy() {
    let (table, page) = (file("routes.txt", TABLE), path("page.html"));
    assert_eq!(good(&run(&["explore", "--table", &table, "-o", &page])), "");
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"));
    assert!(
        ["policy", "style", "program", "image", "hidden"]
            .iter()
            .all(|part| !text.contains(&format!("{{{{{part}}}}}")))
    );
    let policy = "content=\"default-src 'none'; script-src 'sha256-";
    assert_eq!(text.matches(policy).count(), 1);
    assert_eq!(text.matches("<script").count(), 3);
    // To standard output, and by the argument alone, it is the same but for the time in the image.
    let output = run(&["explore", &table, "-o", "-"]);
    let written = good(&output);
    let head = |page: &str| page[..page.find("id=\"image\"").unwrap()].to_owned();
    assert_eq!(head(written), head(&text));
}

#[test]
fn a_page_takes_images_with_routes() {
    let (table, image, page) = (file("routes.txt", TABLE), path("t.fib"), path("page.html"));
    good(&run(&["compile", &table, "-o", &image]));
    good(&run(&["explore", &image, "-o", &page]));
    good(&run(&[
        "compile", &table, "--keep", "prefixes", "-o", &image,
    ]));
    let output = run(&["explore", &image, "-o", &page]);
    let reason = bad(&output);
    assert!(reason.contains("compiled without its routes"), "{reason}");
}

#[test]
fn a_page_is_served_on_loopback() {
    let table = file("routes.txt", TABLE);
    let server = popfib(&["explore", &table])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut server = Server(server.unwrap());
    let mut line = String::new();
    let mut output = BufReader::new(server.0.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("http://").unwrap();
    let (address, path) = address.split_once('/').unwrap();
    assert!(address.starts_with("127.0.0.1:"));
    // Nobody guesses it.
    assert!(path.len() == 32 && path.bytes().all(|byte| byte.is_ascii_hexdigit()));
    // Those that say nothing keep nobody waiting.
    let _silent = [(); 8].map(|()| TcpStream::connect(address).unwrap());
    let ask = |request: &str| {
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    };
    let page = ask(&format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())));
    assert!(body.starts_with("<!doctype html>") && body.ends_with("</html>\n"));
    for request in [
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "POST /PATH HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET /PATH HTTP/1.1\r\nHost: example.com\r\n\r\n",
        "GET /PATH HTTP/1.1\r\n\r\n",
        "\r\n\r\n",
    ] {
        let request = &request.replace("PATH", path);
        assert!(ask(request).starts_with("HTTP/1.1 404 "), "{request}");
    }
}

/// A server that ends with its test, also where that fails.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
