//! Tables of files: what is served of them, and what happens when another file takes their place.

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::http::Http;
use super::{Follow, run_daemon};
use crate::common::{bad, directory, good, run};

const PLACES: &str = "network,country,asn\n10.0.0.0/8,\"east, far\",64500\n10.1.0.0/16,west,\n";

/// A daemon with these settings beside its socket and listener.
fn start(name: &str, settings: &str) -> (Follow, SocketAddr, PathBuf) {
    let folder = directory(name);
    let socket = Follow::socket(name);
    let file = folder.join("popfibd.toml");
    let head = format!("socket = {socket:?}\nhttp = \"127.0.0.1:0\"\n");
    fs::write(
        &file,
        head + &settings.replace("FOLDER", folder.to_str().unwrap()),
    )
    .unwrap();
    fs::write(folder.join("places.csv"), PLACES).unwrap();
    fs::write(folder.join("updates"), "announce 10.0.0.0/8 router\n").unwrap();
    fs::create_dir(folder.join("lists")).unwrap();
    fs::write(folder.join("lists/spam.txt"), "10.1.2.0/24\n").unwrap();
    fs::write(folder.join("lists/bots.txt"), "10.1.0.0/16\n").unwrap();
    let mut follow = Follow::of(name, &["--config", file.to_str().unwrap()]);
    follow.note("answering");
    let address = follow.connect("HTTP on");
    (follow, address, folder)
}

/// Puts a file in the place of another.
fn replace(file: &Path, content: &str) {
    let new = file.with_extension("new");
    fs::write(&new, content).unwrap();
    fs::rename(new, file).unwrap();
}

#[test]
fn files_are_served_in_every_way() {
    let settings = "updates = [\"FOLDER/updates\"]\n[tables.geo]\nfile = \"FOLDER/places.csv\"\n[tables.bad]\nlists = \"FOLDER/lists\"\n[tables.asn]\nfile = \"FOLDER/places.csv\"\ncolumns = [\"asn\"]\nformat = \"csv\"\n";
    let (follow, address, _) = start("files", settings);
    follow.expect("10.1.2.3", "10.1.2.3\t10.0.0.0/8\trouter\n");
    assert_eq!(
        follow.ask("tables"),
        "main\t1\t0\nasn\t2\t0\nbad\t2\t0\ngeo\t2\t0\n\n"
    );
    let asked = "table geo\n10.1.2.3\n10.2.0.1\n::1\npaths 10.0.0.0/8\nwatch\ntable bad\n10.1.2.3\ntable asn\n10.2.0.1\nwatch";
    let answers = "ok\n10.1.2.3\t10.1.0.0/16\twest\t-\n10.2.0.1\t10.0.0.0/8\teast, far\t64500\n::1\t-\t-\t-\nNONENONEok\n10.1.2.3\t10.1.2.0/24\tbots,spam\nok\n10.2.0.1\t10.0.0.0/8\t64500\nNONE";
    let none = "the table of a file has neither paths nor changes";
    let answers = answers.replace("NONE", &format!("error: {none}\n"));
    assert_eq!(follow.ask(asked), answers);
    let mut client = Http::connect(address);
    for (query, answer) in [
        (
            "table=geo&address=10.2.0.1",
            r#""prefix":"10.0.0.0/8","country":"east, far","asn":64500}"#,
        ),
        (
            "table=geo&address=10.1.2.3&columns=asn,country",
            r#""prefix":"10.1.0.0/16","asn":null,"country":"west"}"#,
        ),
        (
            "table=geo&address=::1&columns=asn",
            r#""prefix":null,"asn":null}"#,
        ),
        (
            "table=bad&address=10.1.2.3",
            r#""prefix":"10.1.2.0/24","lists":["bots","spam"]}"#,
        ),
        (
            "table=geo&address=::1&columns=x",
            r#"{"error":"no such column"}"#,
        ),
        ("address=::1&columns=asn", r#"{"error":"no such column"}"#),
        (
            "address=::1&columns=next_hop",
            r#""prefix":null,"next_hop":null}"#,
        ),
    ] {
        let (_, _, body) = client.get(&format!("/v1/lookup?{query}"));
        assert!(body.trim_end().ends_with(answer), "{query}: {body}");
    }
    let (status, _, body) = client.get("/v1/paths?prefix=10.0.0.0/8&table=geo");
    assert_eq!((status, body), (404, format!("{{\"error\":\"{none}\"}}\n")));
    // Packed: a number stands for a line of all columns.
    let mut packed = UnixStream::connect(&follow.socket).unwrap();
    packed
        .write_all(
            b"table geo\nbulk4 3\n\x0a\x01\x02\x03\x0a\x02\x00\x01\x01\x01\x01\x01values 1\nquit\n",
        )
        .unwrap();
    let mut answer = Vec::new();
    packed.read_to_end(&mut answer).unwrap();
    let expected =
        b"ok\nok 0000002\n\x01\0\0\0\x02\0\0\0\0\0\0\x001\twest\t-\n2\teast, far\t64500\n\n";
    assert_eq!(answer, expected);
    // The command, by the socket and by HTTP.
    let url = format!("http://{address}");
    for place in [follow.socket.to_str().unwrap(), &url] {
        let lookup = ["lookup", "--live", place, "--vrf", "geo", "10.2.0.1", "::1"];
        let rows = "10.2.0.1\t10.0.0.0/8\teast, far\t64500\n::1\t-\t-\t-\n";
        assert_eq!(good(&run(&lookup)), rows, "{place}");
        let chosen = [&lookup[..], &["--columns", "asn", "--json"]].concat();
        let object = r#"{"address":"10.2.0.1","prefix":"10.0.0.0/8","asn":64500}"#;
        assert!(good(&run(&chosen)).starts_with(object), "{place}");
        let routes = run(&[
            "routes",
            "--live",
            place,
            "--vrf",
            "geo",
            "--columns",
            "country",
        ]);
        assert!(
            good(&routes).contains("10.0.0.0/8 east, far\n"),
            "{routes:?}"
        );
        let wrong = run(&["lookup", "--live", place, "--vrf", "\u{1b}no", "::1"]);
        let reason = r#": "\u{1b}no": no such table"#;
        assert!(bad(&wrong).trim_end().ends_with(reason), "{}", bad(&wrong));
    }
    let stats = follow.ask("stats");
    for line in [
        "popfib_table_lookups_total{table=\"geo\"} 17\n",
        "popfib_table_errors_total{table=\"bad\"} 0\n",
        "popfib_prefixes{table=\"geo\",family=\"ipv4\"} 2\n",
    ] {
        assert!(stats.contains(line), "{line}: {stats}");
    }
}

#[test]
fn one_file_needs_no_settings() {
    let folder = directory("one-file");
    let file = folder.join("places.csv");
    fs::write(&file, PLACES).unwrap();
    let file = file.to_str().unwrap();
    let follow = Follow::start("one-file", &["--table", file]);
    assert_eq!(follow.ask("10.1.2.3\n"), "10.1.2.3\t10.1.0.0/16\twest\t-\n");
    assert!(follow.ask("GET /health HTTP/1.0\n\n").ends_with("ready\n"));
    let missing = run_daemon(&["--table", "geo=/no/such", "--socket", "x"]);
    assert!(
        bad(&missing).contains("/no/such: cannot open"),
        "{}",
        bad(&missing)
    );
    assert!(bad(&run_daemon(&["--table", file])).contains("nobody could read"));
    let main = format!("main={file}");
    for (tables, reason) in [
        ([file, file], "two tables are called places"),
        ([&main, "main=/no/such"], "two tables are called main"),
    ] {
        let [one, two] = tables;
        let twice = run_daemon(&["--table", one, "--table", two, "--socket", "x"]);
        assert!(bad(&twice).contains(reason), "{}", bad(&twice));
    }
    let live = run_daemon(&["--table", &main, "--updates", file, "--socket", "x"]);
    assert!(
        bad(&live).contains(
            "table main: this is the name of a live one; --table NAME=FILE gives it another"
        ),
        "{}",
        bad(&live)
    );
    let named = folder.join("named.csv");
    fs::write(&named, "network,address\n10.0.0.0/8,x\n").unwrap();
    let named = run_daemon(&["--table", named.to_str().unwrap(), "--socket", "x"]);
    let reason = "a column is called address, as what is asked or matches; [tables.NAME] of a settings file chooses others";
    assert!(bad(&named).contains(reason), "{}", bad(&named));
}

#[test]
fn a_file_that_takes_its_place_is_answered_and_a_broken_one_told_once() {
    let settings = "[tables.geo]\nfile = \"FOLDER/places.csv\"\nwatch-every = 50\n";
    let (mut follow, address, folder) = start("replaced", settings);
    let file = folder.join("places.csv");
    let mut client = Http::connect(address);
    let target = "/v1/lookup?address=10.2.0.1";
    let (_, before, _) = client.get(target);
    replace(&file, "network,country\n10.0.0.0/8,north\n");
    follow.note("places.csv: read again");
    let (_, after, body) = client.get(target);
    assert!(
        body.contains(r#""country":"north"}"#) && before["etag"] != after["etag"],
        "{body}"
    );
    let mut line = UnixStream::connect(&follow.socket).unwrap();
    let mut ask = |expected: &str| {
        line.write_all(b"10.2.0.1\n").unwrap();
        let mut answer = vec![0; expected.len()];
        line.read_exact(&mut answer).unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), expected);
    };
    ask("10.2.0.1\t10.0.0.0/8\tnorth\n");
    replace(&file, "network,country\n10.0.0.1/8,south\n");
    let told = follow.note("table geo stays as it was");
    assert!(told.contains("places.csv:2: "), "{told}");
    ask("10.2.0.1\t10.0.0.0/8\tnorth\n");
    fs::remove_file(&file).unwrap();
    follow.note("table geo stays as it was");
    sleep(Duration::from_millis(300));
    assert!(
        follow
            .ask("stats")
            .contains("popfib_table_errors_total{table=\"geo\"} 2\n")
    );
    replace(&file, "network,country\n10.0.0.0/8,south\n");
    follow.note("places.csv: read again");
    // A client that stays gets the new one.
    ask("10.2.0.1\t10.0.0.0/8\tsouth\n");
    // Settings are read again: other columns, and the table is gone.
    let config = folder.join("popfibd.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        text.replace("[tables.geo]", "[tables.other]\ncolumns = [\"country\"]"),
    )
    .unwrap();
    super::restart::signal(&follow.child, Signal::HUP);
    follow.note("read again");
    assert_eq!(
        follow.ask("table geo\n10.2.0.1\n"),
        "error: \"geo\": no such table\n10.2.0.1\t-\t-\n"
    );
    ask("10.2.0.1\t10.0.0.0/8\tsouth\n");
}

/// 20 clients ask for many addresses at a time while the file is replaced so often: each answer is of one state, and states do not go
/// back.
fn replaced_under_clients(name: &str, times: u32, clients: usize) {
    let settings = "[tables.geo]\nfile = \"FOLDER/places.csv\"\nwatch-every = 1\n";
    let (follow, address, folder) = start(name, settings);
    let file = folder.join("places.csv");
    let content = |state: u32| {
        let routes = (0..256).map(|n| format!("10.{n}.0.0/16,{state}\n"));
        "network,state\n".to_owned() + &routes.collect::<String>()
    };
    let asked: String = (0..2560)
        .map(|n| format!("\"10.{}.7.7\"\n", n % 256))
        .collect();
    let is_over = AtomicBool::new(false);
    replace(&file, &content(0));
    let state_of = |client: &mut Http| {
        let (status, fields, body) = client.post("/v1/lookup?table=geo&columns=state", &asked);
        assert_eq!((status, body.lines().count()), (200, 2560));
        let states = body.lines().map(|line| {
            let state = line.rsplit_once("\"state\":").expect("a state").1;
            state
                .trim_end_matches('}')
                .parse::<u32>()
                .expect("a number")
        });
        let states: Vec<u32> = states.collect();
        assert!(states.iter().all(|state| *state == states[0]), "{states:?}");
        (states[0], fields["etag"].clone())
    };
    let begin = Instant::now();
    while Http::connect(address)
        .get("/v1/lookup?address=10.0.0.1&columns=state")
        .0
        != 200
    {
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
    let seen = scope(|scope| {
        let ask = || {
            let mut client = Http::connect(address);
            let (mut seen, mut last) = (HashMap::new(), 0);
            while !is_over.load(Ordering::Relaxed) {
                let (state, tag) = state_of(&mut client);
                assert!(state >= last);
                last = state;
                assert_eq!(*seen.entry(state).or_insert(tag.clone()), tag);
            }
            seen.len()
        };
        let asking: Vec<_> = (0..clients).map(|_| scope.spawn(ask)).collect();
        for state in 1..=times {
            replace(&file, &content(state));
            sleep(Duration::from_millis(5));
        }
        let begin = Instant::now();
        let mut client = Http::connect(address);
        while state_of(&mut client).0 != times {
            assert!(begin.elapsed() < Duration::from_secs(60));
        }
        is_over.store(true, Ordering::Relaxed);
        let seen = asking.into_iter().map(|client| client.join().unwrap());
        seen.max().unwrap()
    });
    assert!(seen > 2, "{seen} states");
    let unread = "popfib_table_errors_total{table=\"geo\"} 0\n";
    assert!(follow.ask("stats").contains(unread));
}

#[test]
fn a_file_replaced_under_clients_answers_with_one_state_each() {
    replaced_under_clients("replaced-often", 60, 6);
}

#[test]
#[ignore = "it takes a minute"]
fn heavy_a_file_replaced_a_thousand_times_under_twenty_clients() {
    replaced_under_clients("replaced-heavy", 1000, 20);
}
