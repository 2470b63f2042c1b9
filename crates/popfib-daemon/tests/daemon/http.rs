//! HTTP as its users and its enemies speak it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Follow, file};

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

/// A connection of HTTP.
pub(crate) struct Http(BufReader<Box<dyn ReadWrite>>);

/// An answer: its status, its header fields, its body.
pub(crate) type Answer = (u16, BTreeMap<String, String>, String);

impl Http {
    fn of(stream: impl ReadWrite + 'static) -> Self {
        Self(BufReader::new(Box::new(stream)))
    }

    pub(crate) fn connect(address: SocketAddr) -> Self {
        let client = TcpStream::connect(address).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        Self::of(client)
    }

    /// Sends bytes and reads one answer.
    pub(crate) fn ask(&mut self, request: impl AsRef<[u8]>) -> Answer {
        self.0.get_mut().write_all(request.as_ref()).unwrap();
        self.answer().expect("an answer")
    }

    pub(crate) fn get(&mut self, target: &str) -> Answer {
        self.ask(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    }

    pub(crate) fn post(&mut self, target: &str, body: &str) -> Answer {
        let length = body.len();
        let head = format!(
            "POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
        );
        self.ask(head + body)
    }

    /// The next answer; `None` if the connection was closed before it.
    fn answer(&mut self) -> Option<Answer> {
        let mut line = String::new();
        self.0.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let status = line["HTTP/1.1 ".len()..][..3].parse().unwrap();
        let mut fields = BTreeMap::new();
        loop {
            line.clear();
            self.0.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            fields.insert(name.to_owned(), value.to_owned());
        }
        let mut body = Vec::new();
        let read = |http: &mut Self, length: usize, body: &mut Vec<u8>| {
            (&mut http.0).take(length as u64).read_to_end(body).unwrap()
        };
        if let Some(length) = fields.get("content-length") {
            read(self, length.parse().unwrap(), &mut body);
        }
        while fields.contains_key("transfer-encoding") {
            line.clear();
            self.0.read_line(&mut line).unwrap();
            let length = usize::from_str_radix(line.trim_end(), 16).ok()?;
            read(self, length, &mut body);
            self.0.read_line(&mut line).unwrap();
            if length == 0 {
                break;
            }
        }
        Some((status, fields, String::from_utf8_lossy(&body).into_owned()))
    }
}

/// A daemon with two routes.
fn start(name: &str) -> (Follow, SocketAddr, String) {
    let input = file(
        &format!("http-{name}.txt"),
        "announce 10.0.0.0/8 \"east\"\nannounce 2001:db8::/32 west\n",
    );
    let options = ["--updates", &input, "--http", "127.0.0.1:0"];
    let mut follow = Follow::start(name, &options);
    let address = follow.connect("HTTP on");
    follow.expect("2001:db8::1", "2001:db8::1\t2001:db8::/32\twest\n");
    (follow, address, input)
}

const EAST: &str = r#"{"address":"10.1.2.3","prefix":"10.0.0.0/8","next_hop":"\"east\""}"#;
const NONE: &str = r#"{"address":"::1","prefix":null,"next_hop":null}"#;
const WRONG: &str = r#"{"address":"1.2.3","error":"not an IP address"}"#;

#[test]
fn requests_are_answered_on_a_connection_that_stays() {
    let (follow, address, input) = start("http");
    let path = r#"{"feed":"INPUT","peer":"","path_id":0,"stale":false,"next_hop":"west"}"#;
    let path = path.replace("INPUT", &input);
    let table =
        r#"{"name":"main","ipv4":{"prefixes":1,"paths":1},"ipv6":{"prefixes":1,"paths":1}}"#;
    let error = |text: &str| format!("{{\"error\":\"{text}\"}}\n");
    let cases = [
        ("/v1/lookup?address=10.1.2.3", 200, format!("{EAST}\n")),
        (
            "/v1/lookup?table=main&address=%3A%3a1",
            200,
            format!("{NONE}\n"),
        ),
        (
            "/v1/lookup?table=blue&address=::1",
            404,
            error("no such table"),
        ),
        ("/v1/lookup", 400, error("no address")),
        ("/v1/lookup?address=1.2.3", 400, error("not an IP address")),
        ("/v1/paths?prefix=2001:db8::%2F32", 200, format!("{path}\n")),
        ("/v1/paths?prefix=10.0.0.0/9", 200, String::new()),
        ("/v1/paths?prefix=10.0.0.1/8", 400, error("no prefix")),
        ("/v1/tables", 200, format!("{table}\n")),
        (
            "/v1/lookup?address=::1&tabel=x",
            400,
            error("tabel: no such parameter; there are address, table, columns"),
        ),
        (
            "/v1/lookup?address=::1&address=::2",
            400,
            error("address is given twice"),
        ),
        (
            "/v1/image?columns=x",
            400,
            error("columns: no such parameter; there are table"),
        ),
        (
            "/v1/tables?%22",
            400,
            error("\\\": no such parameter; there are none"),
        ),
        (
            "/lookup",
            404,
            error("no such path; /v1/openapi.json lists them"),
        ),
    ];
    let mut tcp = Http::connect(address);
    let mut unix = Http::of(UnixStream::connect(&follow.socket).unwrap());
    for (target, status, body) in cases {
        for client in [&mut tcp, &mut unix] {
            let (seen, _, answer) = client.get(target);
            assert_eq!((seen, answer), (status, body.clone()), "{target}");
        }
    }
    let (status, _, body) = tcp.ask("PUT /v1/lookup HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    assert_eq!((status, body), (405, error("GET or POST")));
}

#[test]
fn bodies_are_answered_in_their_form() {
    let (_follow, address, _) = start("http-bodies");
    let mut client = Http::connect(address);
    let many = 3000;
    let lines = "10.1.2.3\n::1\n1.2.3\n".repeat(many);
    let (status, fields, body) = client.post("/v1/lookup", &lines);
    let answers =
        "10.1.2.3\t10.0.0.0/8\t\"east\"\n::1\t-\t-\nerror: \"1.2.3\": not an IP address\n";
    assert_eq!((status, body), (200, answers.repeat(many)));
    assert_eq!(fields["content-type"], "text/plain; charset=utf-8");
    let lines = "\"10.1.2.3\"\n{\"address\":\"::1\"}\n\"1.2.3\"\n".repeat(many);
    let (_, fields, body) = client.post("/v1/lookup?table=main", &lines);
    assert_eq!(body, format!("{EAST}\n{NONE}\n{WRONG}\n").repeat(many));
    assert_eq!(fields["content-type"], "application/x-ndjson");
    let list = vec![r#""10.1.2.3","::1","1.2.3""#; many].join(", ");
    let (_, fields, body) = client.post("/v1/lookup", &format!("[{list}]"));
    let answers = vec![format!("{EAST},\n{NONE},\n{WRONG}"); many].join(",\n");
    assert_eq!(body, format!("[{answers}]\n"));
    assert_eq!(fields["content-type"], "application/json");
    assert_eq!(client.post("/v1/lookup", "[]").2, "[]\n");
    assert_eq!(client.post("/v1/lookup", "").2, "");
    let end = r#"[{"error":"the list does not end"}]"#;
    assert_eq!(
        client.post("/v1/lookup", "[\"::1\"").2,
        end.to_owned() + "\n"
    );
    // In chunks, and longer than what is read before the first answer.
    let head = "POST /v1/lookup HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = "10.1.2.3\n::1\n".repeat(100_000);
    let chunked = format!(
        "{head}{:x}\r\n{chunk}\r\n2\r\n::\r\n3\r\n1\n\n\r\n0\r\n\r\n",
        chunk.len()
    );
    let mut sender = TcpStream::connect(address).unwrap();
    let mut reader = Http::of(sender.try_clone().unwrap());
    let sending = std::thread::spawn(move || sender.write_all(chunked.as_bytes()));
    let (status, _, body) = reader.answer().unwrap();
    assert!(sending.join().unwrap().is_ok() && status == 200);
    assert_eq!(body.lines().count(), 200_002);
    assert!(body.ends_with("\n::1\t-\t-\nerror: \"\": not an IP address\n"));
}

#[test]
fn what_a_client_has_is_not_sent_again() {
    let mut follow = Follow::start("http-tags", &["--updates", "-", "--http", "127.0.0.1:0"]);
    let mut client = Http::connect(follow.connect("HTTP on"));
    let mut stdin = follow.child.stdin.take().unwrap();
    stdin.write_all(b"announce 10.0.0.0/8 east\n").unwrap();
    follow.expect("10.1.2.3", "10.1.2.3\t10.0.0.0/8\teast\n");
    for target in ["/v1/lookup?address=10.1.2.3", "/v1/image"] {
        let head = format!("GET {target} HTTP/1.1\r\n");
        let (status, fields, _) = client.ask(format!("{head}\r\n"));
        assert_eq!(status, 200);
        let known = format!("{head}If-None-Match: {}\r\n\r\n", fields["etag"]);
        let (status, again, body) = client.ask(&known);
        assert_eq!(
            (status, &again["etag"], &body[..]),
            (304, &fields["etag"], "")
        );
        stdin
            .write_all(b"announce 11.0.0.0/8 west\nwithdraw 11.0.0.0/8\n")
            .unwrap();
        let begin = Instant::now();
        while client.ask(&known).0 == 304 {
            assert!(begin.elapsed() < Duration::from_secs(60));
            sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn other_sites_are_refused() {
    let (_follow, address, _) = start("http-hosts");
    for (fields, status) in [
        ("", 200),
        ("Host: 127.0.0.1:9180\r\n", 200),
        ("Host: [::1]\r\nOrigin: http://localhost:3000\r\n", 200),
        ("Host: evil.example\r\n", 403),
        ("Host: localhost.evil.example\r\n", 403),
        ("Host: localhost\r\nOrigin: https://evil.example\r\n", 403),
        ("Host: localhost\r\nOrigin: null\r\n", 403),
        ("Host: \r\n", 403),
    ] {
        let request = format!("GET /v1/tables HTTP/1.1\r\n{fields}\r\n");
        assert_eq!(Http::connect(address).ask(request).0, status, "{fields}");
    }
}

/// What hangs, lies or never ends is refused or closed in time; others are answered meanwhile.
#[test]
fn hostile_requests_end_nothing_but_their_connection() {
    let (follow, address, _) = start("http-hostile");
    let long = "x".repeat(20_000);
    for (request, status) in [
        (format!("GET / HTTP/1.1\r\nX: {long}\r\n\r\n"), 431),
        (format!("GET /{long} HTTP/1.1\r\n\r\n"), 431),
        ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n".into(), 400),
        (
            "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n".into(),
            400,
        ),
        (
            "POST /v1/lookup HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n".into(),
            400,
        ),
        ("GET  / HTTP/1.1\r\n\r\n".into(), 400),
        ("\0\r\n\r\n".into(), 400),
        (
            format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(1000)),
            431,
        ),
    ] {
        let mut client = Http::connect(address);
        let _ = client.0.get_mut().write_all(request.as_bytes());
        let answer = client.answer();
        // It may be closed while it still sends.
        assert!(
            answer.is_none_or(|(seen, ..)| seen == status),
            "{}",
            &request[..20]
        );
    }
    // A chunk that is none breaks the answer off.
    let mut client = Http::connect(address);
    let head = "POST /v1/lookup HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (status, _, body) = client.ask(format!("{head}4\r\n::1\n\r\nzz\r\n"));
    let broken = "{\"error\":\"the body is broken off\"}\n";
    assert_eq!((status, &body[..]), (400, broken));
    // Requests one after the other without waiting are answered in their order.
    let mut client = Http::connect(address);
    let one = |last: u8| format!("GET /v1/lookup?address=10.0.0.{last} HTTP/1.1\r\n\r\n");
    let all: String = (0..=255).map(one).collect();
    client.0.get_mut().write_all(all.as_bytes()).unwrap();
    for last in 0..=255 {
        let (_, _, body) = client.answer().unwrap();
        assert!(body.contains(&format!("\"10.0.0.{last}\"")), "{body}");
    }
    // Heads and bodies that do not end.
    let begin = Instant::now();
    let waiting = |request: &str| {
        let mut client = Http::connect(address);
        client.0.get_mut().write_all(request.as_bytes()).unwrap();
        client
    };
    let mut head = waiting("GET / HTTP/1.1\r\nX: ");
    let mut body = waiting("POST /v1/lookup HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n::1\n");
    let mut idle = waiting("GET /v1/tables HTTP/1.1\r\n\r\n");
    assert_eq!(idle.answer().unwrap().0, 200);
    let many: Vec<_> = (0..200)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    assert_eq!(Http::connect(address).get("/v1/tables").0, 200);
    while begin.elapsed() < Duration::from_secs(2) {
        head.0.get_mut().write_all(b"x").unwrap();
        body.0.get_mut().write_all(b"::1\n").unwrap();
        sleep(Duration::from_millis(100));
    }
    drop(many);
    // Ten seconds for a head, and of silence.
    assert!(head.answer().is_none_or(|(status, ..)| status == 408));
    assert!(idle.answer().is_none());
    assert!((8..20).contains(&begin.elapsed().as_secs()));
    assert_eq!(
        follow.ask("2001:db8::1"),
        "2001:db8::1\t2001:db8::/32\twest\n"
    );
}

#[test]
fn the_description_has_what_is_answered_and_documented() {
    let (_follow, address, _) = start("http-described");
    let mut client = Http::connect(address);
    let (_, _, body) = client.get("/v1/openapi.json");
    let described: serde_json::Value = serde_json::from_str(&body).unwrap();
    let paths = described["paths"].as_object().unwrap();
    for path in paths.keys() {
        // No parameters are there, but the path is.
        assert_ne!(client.get(path).0, 404, "{path}");
        let deleted = client.ask(format!("DELETE {path} HTTP/1.1\r\n\r\n"));
        assert_eq!(deleted.0, 405, "{path}");
    }
    let guide = include_str!("../../../../docs/popfibd.md");
    let section = guide.split_once("### HTTP\n").unwrap().1;
    let (table, _) = section.split_once("\n\n`?table").unwrap();
    let mut documented = Vec::new();
    for method in ["GET", "POST"] {
        for rest in table.split(&format!("`{method} ")).skip(1) {
            let path = rest.split(['?', '`']).next().unwrap();
            documented.push(format!("{} {path}", method.to_lowercase()));
        }
    }
    let methods = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().keys();
        methods.map(move |method| format!("{method} {path}"))
    });
    let mut methods: Vec<String> = methods.collect();
    methods.sort();
    documented.sort();
    assert_eq!(methods, documented);
}

#[test]
fn a_listener_may_ask_for_tokens_and_know_names() {
    let tokens = file("http-tokens.txt", "first\n\nsecond\n");
    let options = [
        "--updates",
        "-",
        "--http",
        "127.0.0.1:0",
        "--http-tokens",
        &tokens,
    ];
    let mut follow = Follow::start(
        "http-tokens",
        &[&options[..], &["--http-host", "popfib.example"]].concat(),
    );
    let address = follow.connect("HTTP on");
    for (fields, status) in [
        ("", 401),
        ("Authorization: Bearer firs\r\n", 401),
        ("Authorization: Bearer \r\n", 401),
        ("Authorization: Basic first\r\n", 401),
        ("Authorization: Bearer second\r\n", 200),
        (
            "Authorization: Bearer first\r\nHost: POPFIB.example:80\r\n",
            200,
        ),
        (
            "Authorization: Bearer first\r\nHost: popfib.example.net\r\n",
            403,
        ),
    ] {
        let request = format!("GET /v1/tables HTTP/1.1\r\n{fields}\r\n");
        assert_eq!(Http::connect(address).ask(request).0, status, "{fields}");
    }
    let (_, _, body) = Http::connect(address).get("/v1/tables");
    assert_eq!(body, "{\"error\":\"no token that is known\"}\n");
    assert_eq!(Http::connect(address).get("/health").0, 503);
    assert!(
        follow
            .ask("GET /v1/tables HTTP/1.0\n\n")
            .starts_with("HTTP/1.0 200 OK")
    );
    let empty = file("http-no-tokens.txt", "\n");
    let refused = super::run_daemon(&[
        "--updates",
        "-",
        "--http",
        "127.0.0.1:0",
        "--http-tokens",
        &empty,
    ]);
    assert!(crate::common::bad(&refused).contains("there is no token in it"));
}

#[test]
fn python_asks_with_its_standard_library() {
    let (follow, address, _) = start("http-python");
    let script = r#"
import importlib.util, sys
spec = importlib.util.spec_from_file_location("connect", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["connect"] = module
spec.loader.exec_module(module)
for place in sys.argv[2:]:
    with module.connect(place, table="main") as table:
        assert table.lookup("2001:db8::1") == {"address": "2001:db8::1", "prefix": "2001:db8::/32", "next_hop": "west"}
        answers = table.lookup_many(["10.1.2.3", "::1", "x"] * 7000, ["next_hop"])
        assert len(answers) == 21000 and answers[0]["prefix"] == "10.0.0.0/8" and answers[1]["prefix"] is None
        assert answers[-1]["error"] == "not an IP address"
    try:
        module.connect(place, table="none").lookup("::1")
        sys.exit("no error")
    except LookupError as error:
        assert str(error) == "no such table"
"#;
    let client = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../popfib-python/python/popfib/_connect.py"
    );
    let url = format!("http://{address}");
    let socket = follow.socket.to_str().unwrap();
    let run = std::process::Command::new("python3")
        .args(["-c", script, client, &url, socket])
        .output();
    let run = run.expect("python3");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}
