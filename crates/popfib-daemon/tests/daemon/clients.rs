//! Who asks a running daemon: the commands with --live, packed addresses.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Follow;
use crate::common::{bad, file, good, popfib, run, run_with};

/// A follower of lines that this test writes.
fn fed(name: &str, lines: &str) -> Follow {
    let mut follow = Follow::start(name, &["--updates", "-"]);
    feed(&mut follow, lines);
    follow
}

#[test]
fn a_table_that_is_not_there_is_answered_by_no_other() {
    let follow = fed("no-table", "announce 10.0.0.0/8 east");
    let none = "error: \"blue\": no such table\n10.0.0.0\t-\t-\n\n";
    let lines = "table blue\n10.0.0.0\npaths 10.0.0.0/8\ntable main\n10.0.0.0\n";
    let there = "ok\n10.0.0.0\t10.0.0.0/8\teast\n";
    assert_eq!(follow.ask(lines), format!("{none}{there}"));
}

/// More lines, of which the last is an announcement that is waited for.
fn feed(follow: &mut Follow, lines: &str) {
    let stdin = follow.child.stdin.as_mut().expect("a pipe");
    writeln!(stdin, "{lines}").unwrap();
    let last: Vec<&str> = lines.lines().last().unwrap().split(' ').collect();
    let [_, prefix, value] = last[..] else {
        panic!("{lines}");
    };
    let address = prefix.split('/').next().unwrap();
    follow.expect(address, &format!("{address}\t{prefix}\t{value}\n"));
}

#[test]
fn commands_ask_a_running_follow() {
    let mut follow = fed(
        "live",
        "announce 10.0.0.0/8 east\nannounce 2001:db8::/32 north\nannounce 10.1.0.0/16 west",
    );
    let socket = follow.socket.to_str().unwrap().to_owned();
    let live = ["--live", &socket];
    let lookup = |args: &[&str]| run(&[&["lookup"], &live[..], args].concat());
    let answers = "10.1.2.3\t10.1.0.0/16\twest\n10.2.0.1\t10.0.0.0/8\teast\n192.0.2.1\t-\t-\n2001:db8::1\t2001:db8::/32\tnorth\n";
    let addresses = ["10.1.2.3", "10.2.0.1", "192.0.2.1", "2001:db8::1"];
    assert_eq!(good(&lookup(&addresses)), answers);
    // More than are sent ahead.
    let many = addresses.repeat(300);
    assert_eq!(good(&lookup(&many)), answers.repeat(300));
    let json = r#"{"address":"10.1.2.3","prefix":"10.1.0.0/16","next_hop":"west"}"#;
    let none = r#"{"address":"192.0.2.1","prefix":null,"next_hop":null}"#;
    let found = lookup(&["--json", "10.1.2.3", "192.0.2.1"]);
    assert_eq!(good(&found), format!("{json}\n{none}\n"));
    let stream = run_with(&["lookup", "--live", &socket], b"10.1.2.3\n192.0.2.1\n");
    let first = "10.1.2.3\t10.1.0.0/16\twest\n192.0.2.1\t-\t-\n";
    assert_eq!(good(&stream), first);
    let log = b"a 10.1.2.3 b\nno address\n\xff 2001:db8::1";
    let annotated = run_with(&["annotate", "--live", &socket, "--vrf", "main"], log);
    assert_eq!(
        annotated.stdout,
        b"a 10.1.2.3 b\t10.1.0.0/16\twest\nno address\t-\t-\n\xff 2001:db8::1\t2001:db8::/32\tnorth\n"
    );
    // A block of ClickHouse's of one row, and its answer: null or not, and the value.
    let block = b"\x01\x01\x02c1\x06String\x0810.1.2.3";
    let answered = run_with(&["clickhouse", "--live", &socket], block);
    assert!(answered.stdout.ends_with(b"Nullable(String)\x00\x04west"));
    let grep = run_with(&["grep", "--live", &socket, "-c"], log);
    assert_eq!(good(&grep), "2\n");
    let routes = run(&["routes", "--live", &socket, "--covered-by", "10.1.0.0/16"]);
    assert_eq!(good(&routes), "10.1.0.0/16 west\n");

    // What cannot be asked is one line.
    let wrong = lookup(&["--vrf", "blue", "10.1.2.3"]);
    assert!(bad(&wrong).contains("\"blue\": no such table"));
    let wrong = lookup(&["--format", "text", "10.1.2.3"]);
    assert!(bad(&wrong).contains("--format is for files"));
    feed(
        &mut follow,
        "withdraw 10.0.0.0/8\nannounce 10.1.0.0/16 south",
    );
    assert_eq!(
        good(&lookup(&addresses[..2])),
        "10.1.2.3\t10.1.0.0/16\tsouth\n10.2.0.1\t-\t-\n"
    );
    follow.child.kill().unwrap();
    follow.child.wait().unwrap();
    assert!(bad(&lookup(&["10.1.2.3"])).contains("refused"));
}

#[test]
fn annotate_follows_the_table_and_outlives_its_process() {
    let mut follow = fed("tail", "announce 10.0.0.0/8 east");
    let socket = follow.socket.to_str().unwrap().to_owned();
    let mut annotate = popfib(&["annotate", "--live", &socket])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = annotate.stdin.take().unwrap();
    let mut answers = BufReader::new(annotate.stdout.take().unwrap());
    let mut ask = |line: &str| {
        writeln!(lines, "{line}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        answer
    };
    assert_eq!(ask("a 10.0.0.1"), "a 10.0.0.1\t10.0.0.0/8\teast\n");
    feed(&mut follow, "announce 10.0.0.0/8 west");
    let begin = Instant::now();
    while ask("b 10.0.0.1") != "b 10.0.0.1\t10.0.0.0/8\twest\n" {
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(50));
    }
    // Without the process the last state answers, which is said once; another process is found again.
    drop(follow);
    let mut notes = BufReader::new(annotate.stderr.take().unwrap());
    sleep(Duration::from_millis(1100));
    assert_eq!(ask("c 10.0.0.1"), "c 10.0.0.1\t10.0.0.0/8\twest\n");
    let mut note = String::new();
    notes.read_line(&mut note).unwrap();
    assert!(note.ends_with("the routes of before are used\n"), "{note}");
    let again = fed("tail", "announce 10.0.0.0/8 north");
    let begin = Instant::now();
    while ask("d 10.0.0.1") != "d 10.0.0.1\t10.0.0.0/8\tnorth\n" {
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(50));
    }
    drop((again, lines));
    assert_eq!(annotate.wait().unwrap().code(), Some(0));
}

/// A client that sends packed addresses and reads numbers.
struct Packed(BufReader<UnixStream>);

impl Packed {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }

    fn values(&mut self, first: usize) -> Vec<String> {
        let ask = format!("values {first}\n");
        self.0.get_mut().write_all(ask.as_bytes()).unwrap();
        let mut values = Vec::new();
        loop {
            match self.line().trim_end() {
                "" => return values,
                line => values.push(line.to_owned()),
            }
        }
    }

    fn ask<const N: usize>(&mut self, command: &str, addresses: &[[u8; N]]) -> Vec<u32> {
        let mut question = format!("{command} {}\n", addresses.len()).into_bytes();
        question.extend(addresses.as_flattened());
        // The last part by itself: an answer begins when all is there.
        let (head, tail) = question.split_at(question.len() - N.min(addresses.len()));
        self.0.get_mut().write_all(head).unwrap();
        self.0.get_mut().write_all(tail).unwrap();
        assert!(self.line().starts_with("ok "));
        let mut numbers = vec![0; addresses.len() * 4];
        self.0.read_exact(&mut numbers).unwrap();
        let (numbers, _) = numbers.as_chunks();
        numbers.iter().map(|n| u32::from_le_bytes(*n)).collect()
    }
}

#[test]
fn packed_addresses_get_the_numbers_of_values() {
    // Prefixes that nest, of 40 values, and who is the longest match by a scan over all.
    let mut lines = String::new();
    let mut routes = Vec::new();
    for number in 0..600u32 {
        let length = 8 + number % 17;
        let address = (10 << 24 | number.wrapping_mul(0x9E37_79B9) >> 8) >> (32 - length);
        let address = address << (32 - length);
        routes.retain(|&(a, l, _)| (a, l) != (address, length));
        routes.push((address, length, number % 40));
        let [a, b, c, d] = address.to_be_bytes();
        lines += &format!("announce {a}.{b}.{c}.{d}/{length} v{}\n", number % 40);
    }
    lines += "announce 2001:db8::/32 six";
    let mut follow = fed("packed", &lines);
    let mut client = Packed(BufReader::new(UnixStream::connect(&follow.socket).unwrap()));
    let addresses: Vec<[u8; 4]> = (0..50_000u32)
        .map(|n| (10 << 24 | n.wrapping_mul(0x85EB_CA6B) >> 7).to_be_bytes())
        .collect();
    for round in 0..3 {
        let numbers = client.ask("bulk4", &addresses);
        let values = client.values(1);
        assert_eq!(values.len(), 40, "round {round}");
        for (address, number) in addresses.iter().zip(numbers) {
            let address = u32::from_be_bytes(*address);
            let matches = routes
                .iter()
                .filter(|(a, l, _)| (address ^ a) >> (32 - l) == 0);
            let longest = matches.max_by_key(|(_, l, _)| *l);
            let expected = longest.map(|(_, _, value)| format!("{number}\tv{value}"));
            let value = (number > 0).then(|| values[number as usize - 1].clone());
            assert_eq!(value, expected, "{address:x}");
        }
    }
    let six = "2001:db8::1".parse::<std::net::Ipv6Addr>().unwrap();
    assert_eq!(client.ask("bulk6", &[six.octets(), [0; 16]]), [41, 0]);
    assert_eq!(client.values(41), ["41\tsix"]);
    assert!(client.ask::<4>("bulk4", &[]).is_empty());
    // A value that comes again has its number again.
    feed(
        &mut follow,
        "withdraw 2001:db8::/32\nannounce 10.0.0.0/30 seven",
    );
    assert_eq!(client.ask("bulk6", &[six.octets()]), [0]);
    feed(&mut follow, "announce 2001:db8::/48 six");
    assert_eq!(client.ask("bulk6", &[six.octets()]), [41]);
    // Lines and packed addresses in one piece.
    let mut question = b"10.0.0.1.\nbulk6 1\n".to_vec();
    question.extend(six.octets());
    question.extend(b"2001:db8::1\nbulk4 65537\n10.0.0.1\n");
    client.0.get_mut().write_all(&question).unwrap();
    assert!(client.line().starts_with("error: \"10.0.0.1.\""));
    assert_eq!(client.line(), "ok 0000041\n");
    let mut number = [0; 4];
    client.0.read_exact(&mut number).unwrap();
    assert_eq!(u32::from_le_bytes(number), 41);
    assert_eq!(client.line(), "2001:db8::1\t2001:db8::/48\tsix\n");
    // What follows is not known to be lines, so that is the end.
    assert_eq!(client.line(), "error: not a number up to 65536\n");
    assert_eq!(client.line(), "");
}

/// `popfib watch` and its lines.
struct Watch(std::process::Child, Receiver<String>);

impl Watch {
    /// Begins to watch; it does when it has seen a change that is made for it.
    fn start(follow: &mut Follow, args: &[&str]) -> Self {
        let socket = follow.socket.to_str().unwrap().to_owned();
        let mut child = popfib(&[&["watch", &socket], args].concat())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let (send, receive) = channel();
        std::thread::spawn(move || {
            let lines = lines.lines().map(Result::unwrap);
            lines.for_each(|line| drop(send.send(line)));
        });
        let watch = Self(child, receive);
        for number in 0.. {
            assert!(number < 600, "no change was seen");
            feed(follow, &format!("announce 10.1.255.0/24 mark{number}"));
            if watch.1.recv_timeout(Duration::from_millis(100)).is_ok() {
                break;
            }
        }
        watch
    }

    /// The next line but for those marks.
    fn line(&self) -> String {
        let lines = std::iter::from_fn(|| self.1.recv_timeout(Duration::from_secs(60)).ok());
        let mut lines = lines.filter(|line| !line.contains("mark"));
        lines.next().expect("a change in a minute")
    }
}

#[test]
fn watch_prints_changes_as_they_come() {
    let mut follow = fed("watch", "announce 10.0.0.0/8 east");
    let mut all = Watch::start(&mut follow, &[]);
    let mut some = Watch::start(
        &mut follow,
        &["--table", "main", "--covered", "10.1.0.0/16"],
    );
    feed(
        &mut follow,
        "announce 10.0.0.0/8 west\nannounce 10.1.2.0/24 a\nwithdraw 10.1.2.0/24\nannounce 10.1.0.0/16 b\nannounce 2001:db8::/32 six",
    );
    let expected = [
        "announce\t10.0.0.0/8\twest",
        "announce\t10.1.2.0/24\ta",
        "withdraw\t10.1.2.0/24",
        "announce\t10.1.0.0/16\tb",
        // Changes that are made together come family by family.
        "announce\t2001:db8::/32\tsix",
    ];
    assert_eq!([(); 5].map(|()| all.line()), expected);
    let inside = [expected[1], expected[2], expected[3]];
    assert_eq!([(); 3].map(|()| some.line()), inside);
    let socket = follow.socket.to_str().unwrap();
    let wrong = run(&["watch", socket, "--table", "blue"]);
    assert!(bad(&wrong).contains("\"blue\": no such table"));
    assert_eq!(
        follow.ask("watch 10.0.0.1/8"),
        "error: \"10.0.0.1/8\": not a prefix\n"
    );
    // The end of the process is the end of its changes.
    drop(follow);
    assert_eq!(all.0.wait().unwrap().code(), Some(0));
    assert_eq!(some.0.wait().unwrap().code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn users_that_are_not_named_may_not_ask() {
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65534;
    let input = file("follow-users.txt", "announce 10.0.0.0/8 east\n");
    let ask = |follow: &Follow, user| {
        let mut command = popfib(&["lookup", "10.0.0.1", "--live"]);
        command.arg(&follow.socket).uid(user).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).output()
    };
    let east = b"10.0.0.1\t10.0.0.0/8\teast\n";
    for (option, expected) in [
        (&[][..], "Permission denied"),
        (&["--allow-uid", "1234567"], "this user may not ask"),
        (&["--allow-uid", "1234567", "--allow-uid", "65534"], ""),
    ] {
        let args = [&["--updates", &input], option].concat();
        let follow = Follow::start("users", &args);
        follow.expect("10.0.0.1", "10.0.0.1\t10.0.0.0/8\teast\n");
        // Where this user may not be another one, or that may not run the program.
        let Ok(answer) = ask(&follow, NOBODY) else {
            println!("skipped: users_that_are_not_named_may_not_ask: no other user");
            return;
        };
        match expected {
            "" => assert_eq!(answer.stdout, east),
            reason => assert!(bad(&answer).contains(reason), "{answer:?}"),
        }
    }
}
