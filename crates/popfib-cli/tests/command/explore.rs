//! `popfib explore`: the page as a file, and served. What it does in a browser is tested by `scripts/test-explore`.

#[cfg(target_os = "linux")]
use crate::common::one_thread::OneThread;
use crate::common::{TABLE, bad, file, good, path, popfib, run};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
#[cfg(target_os = "linux")]
use std::{
    thread::sleep,
    time::{Duration, Instant},
};

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
    assert!(text.contains("<h1 id=\"title\">routes.txt</h1>"));
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
    let server = Server::start(popfib(&["explore", &table]));
    let (address, path) = (&server.address, &server.path);
    assert!(address.starts_with("127.0.0.1:"));
    // Nobody guesses it.
    assert!(path.len() == 32 && path.bytes().all(|byte| byte.is_ascii_hexdigit()));
    // Those that say nothing keep nobody waiting.
    let _silent = [(); 8].map(|()| TcpStream::connect(address).unwrap());
    let page = server.page();
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
        assert!(
            server.ask(request).starts_with("HTTP/1.1 404 "),
            "{request}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn one_thread_serves_the_page() {
    let Some(user) = OneThread::new("one_thread_serves_the_page") else {
        return;
    };
    let table = user.file("routes.txt", TABLE);
    let server = Server::start(user.command(&["explore", &table]));
    assert_eq!(server.of_threads("stat").len(), 1);
    for _ in 0..3 {
        assert!(server.page().starts_with("HTTP/1.1 200 OK\r\n"));
    }
}

/// Where no descriptor is left for a client, all threads sleep between two tries: one that tried without end would never be found
/// asleep, and one that hardly slept would often have been.
#[cfg(target_os = "linux")]
#[test]
fn without_descriptors_the_server_waits() {
    const DESCRIPTORS: usize = 12;
    let table = file("routes.txt", TABLE);
    let mut command = Command::new("sh");
    command.args([
        "-c",
        &format!("ulimit -n {DESCRIPTORS}; exec \"$@\""),
        "sh",
        crate::program(),
        "explore",
        &table,
    ]);
    let server = Server::start(command);
    let clients: Vec<_> = (0..60)
        .map(|_| TcpStream::connect(&server.address).unwrap())
        .collect();
    // Those that it was started with may be beyond the limit.
    let used = || {
        let there = |n: &usize| fs::exists(format!("/proc/{}/fd/{n}", server.child.id())).unwrap();
        (0..DESCRIPTORS).filter(there).count()
    };
    let begin = Instant::now();
    // A client that says nothing is let go after ten seconds: such times do not count.
    let (asleep, turns, time) = loop {
        assert!(
            begin.elapsed() < Duration::from_secs(100),
            "{} descriptors",
            used()
        );
        let (start, before) = (Instant::now(), server.turns());
        let mut asleep = 0;
        for _ in 0..100 {
            if used() != DESCRIPTORS {
                break;
            }
            // The state follows the name of the thread.
            let is_asleep = |stat: &String| stat.rsplit(") ").next().unwrap().starts_with('S');
            asleep += u32::from(server.of_threads("stat").iter().all(is_asleep));
            sleep(Duration::from_millis(10));
        }
        if used() == DESCRIPTORS {
            break (asleep, server.turns() - before, start.elapsed());
        }
        sleep(Duration::from_millis(10));
    };
    assert!(asleep > 0, "a thread tries without end");
    // Sixteen threads that wait for a tenth of a second; twice as many turns would be none too many.
    let most = 32 * (1 + time.as_millis() / 100);
    assert!(u128::from(turns) <= most, "{turns} turns in {time:?}");
    drop(clients);
    assert!(server.page().starts_with("HTTP/1.1 200 OK\r\n"));
}

/// A server that ends with its test, also where that fails.
struct Server {
    child: Child,
    address: String,
    path: String,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut server = Self {
            child: server.unwrap(),
            address: String::new(),
            path: String::new(),
        };
        let mut line = String::new();
        let mut output = BufReader::new(server.child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("http://").expect("a URL");
        let (address, path) = url.split_once('/').unwrap();
        (server.address, server.path) = (address.into(), path.into());
        server
    }

    fn ask(&self, request: &str) -> String {
        let mut client = TcpStream::connect(&self.address).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    }

    fn page(&self) -> String {
        self.ask(&format!(
            "GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
            self.path
        ))
    }

    /// A file of the system's about each thread.
    #[cfg(target_os = "linux")]
    fn of_threads(&self, file: &str) -> Vec<String> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        threads
            .map(|thread| fs::read_to_string(thread.unwrap().path().join(file)).unwrap())
            .collect()
    }

    /// How often threads have gone to sleep.
    #[cfg(target_os = "linux")]
    fn turns(&self) -> u64 {
        let count = |status: String| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            line.unwrap().trim().parse::<u64>().unwrap()
        };
        self.of_threads("status").into_iter().map(count).sum()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
