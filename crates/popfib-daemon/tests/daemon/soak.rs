//! A router that changes its mind, breaks off and comes back, for as long as POPFIB_SOAK says, with clients that ask all the time.
//!
//! What the router has is kept in a `Rib`, and after each round lines, packed addresses and the table as `--live` fetches it have
//! to answer as it does. Meanwhile one client asks for routes that never change, which have to be there always, one asks as much
//! as it can, and one asks and never reads.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use popfib::{NextHop, Prefix, Rib};
use rustix::process::Signal;

use crate::common::{good, path, run};
use crate::{Follow, route_frame};

/// Routes that never change: 100.64.N.0/24 for N below this.
const STEADY: u32 = 50;

/// What the router has.
#[derive(Default)]
struct Router {
    routes: BTreeMap<Prefix<u32>, u32>,
    rib: Rib<u32>,
    version: u32,
}

impl Router {
    fn set(&mut self, prefix: Prefix<u32>, version: Option<u32>) -> Vec<u8> {
        match version {
            Some(version) => {
                self.routes.insert(prefix, version);
                self.rib.insert(prefix, NextHop::new(version).unwrap());
            }
            None => {
                self.routes.remove(&prefix);
                self.rib.remove(prefix);
            }
        }
        route_frame(prefix, version.map(gateway))
    }

    /// A route comes, changes or goes.
    fn change(&mut self, random: &mut fastrand::Rng) -> Vec<u8> {
        self.version += 1;
        let bits = 0x0a00_0000 | random.u32(..8) << 20 | random.u32(..8) << 8 | random.u32(..4);
        let prefix = Prefix::new_masked(bits, random.u8(8..=32)).unwrap();
        let version = (random.u8(..3) > 0).then_some(self.version);
        self.set(prefix, version)
    }

    /// A route that nothing else has, to know that all before has been heard.
    fn mark(&mut self) -> Vec<u8> {
        self.version += 1;
        let version = self.version;
        self.set("203.0.113.0/24".parse().unwrap(), Some(version))
    }

    fn everything(&self) -> Vec<u8> {
        let frame =
            |(&prefix, &version): (&Prefix<u32>, &u32)| route_frame(prefix, Some(gateway(version)));
        self.routes.iter().flat_map(frame).collect()
    }

    /// Questions and their answers.
    fn probes(&self, random: &mut fastrand::Rng) -> (Vec<u32>, String, String) {
        let of_route = |prefix: &Prefix<u32>| prefix.address();
        let mut addresses: Vec<u32> = self.routes.keys().map(of_route).collect();
        addresses.extend((0..300).map(|_| 0x0a00_0000 | random.u32(..1 << 24)));
        let (mut questions, mut answers) = (String::new(), String::new());
        for &address in &addresses {
            let shown = Ipv4Addr::from(address);
            questions += &format!("{shown}\n");
            answers += &match self.rib.longest_match(address) {
                Some((prefix, hop)) => format!("{shown}\t{prefix}\t{}\n", gateway(hop.get())),
                None => format!("{shown}\t-\t-\n"),
            };
        }
        (addresses, questions, answers)
    }
}

fn gateway(version: u32) -> Ipv4Addr {
    Ipv4Addr::from(0xc000_0000 | version)
}

/// The third field of each answer, by packed addresses and their values.
fn packed(socket: &Path, addresses: &[u32]) -> Vec<String> {
    let mut client = UnixStream::connect(socket).unwrap();
    let head = format!("bulk4 {}\n", addresses.len());
    client.write_all(head.as_bytes()).unwrap();
    let bytes: Vec<u8> = addresses.iter().flat_map(|a| a.to_be_bytes()).collect();
    client.write_all(&bytes).unwrap();
    client.write_all(b"values 1\nquit\n").unwrap();
    let mut reader = BufReader::new(client);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("ok "), "{line}");
    let mut numbers = vec![0; addresses.len() * 4];
    reader.read_exact(&mut numbers).unwrap();
    let mut values = vec!["-".to_owned()];
    values.extend(reader.lines().map_while(|line| {
        let line = line.unwrap();
        line.split_once('\t').map(|(_, value)| value.to_owned())
    }));
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap()) as usize;
    numbers
        .chunks(4)
        .map(|bytes| values[number(bytes)].clone())
        .collect()
}

/// Asks for what never changes, until it is to stop.
fn ask_steadily(socket: &Path, is_over: &AtomicBool, asked: &AtomicU64) {
    let mut client = BufReader::new(UnixStream::connect(socket).unwrap());
    let mut line = String::new();
    while !is_over.load(Ordering::Relaxed) {
        for number in 0..STEADY {
            let question = format!("100.64.{number}.9\n");
            client.get_mut().write_all(question.as_bytes()).unwrap();
            line.clear();
            client.read_line(&mut line).unwrap();
            let hop = gateway(number + 1);
            assert_eq!(
                line,
                format!("100.64.{number}.9\t100.64.{number}.0/24\t{hop}\n")
            );
            asked.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Asks as much as it can, good and bad, and reads what comes.
fn flood(socket: &Path, is_over: &AtomicBool, asked: &AtomicU64) {
    let client = UnixStream::connect(socket).unwrap();
    let mut questions = client.try_clone().unwrap();
    let lines = "10.1.2.3\nnonsense\npaths 10.0.0.0/8\n\ntables\nstats\n".repeat(100);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) && questions.write_all(lines.as_bytes()).is_ok()
            {
                asked.fetch_add(600, Ordering::Relaxed);
            }
            let _ = questions.shutdown(std::net::Shutdown::Write);
        });
        let _ = std::io::copy(&mut &client, &mut std::io::sink());
    });
}

#[test]
#[ignore = "as long as POPFIB_SOAK says, in seconds, or five"]
fn heavy_soak() {
    let seconds = std::env::var("POPFIB_SOAK")
        .ok()
        .and_then(|text| text.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(5));
    let snapshot = path("soak.snapshot");
    let args = [
        "--fpm",
        "127.0.0.1:0",
        "--idle",
        "1",
        "--snapshot",
        &snapshot,
        "--snapshot-every",
        "1",
    ];
    let mut follow = Follow::start("soak", &args);
    let address = follow.connect("FPM on");
    follow.note("answering");
    let mut random = fastrand::Rng::with_seed(7);
    let mut router = Router {
        version: STEADY,
        ..Router::default()
    };
    for number in 0..STEADY {
        let prefix = Prefix::new(0x6440_0000 | number << 8, 24).unwrap();
        router.set(prefix, Some(number + 1));
    }
    let mut connection = TcpStream::connect(address).unwrap();
    connection.write_all(&router.everything()).unwrap();
    let last = STEADY - 1;
    let hop = gateway(STEADY);
    follow.expect(
        &format!("100.64.{last}.9\n"),
        &format!("100.64.{last}.9\t100.64.{last}.0/24\t{hop}\n"),
    );

    let (is_over, steady, flooded) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let socket = follow.socket.clone();
    let mut silent = UnixStream::connect(&socket).unwrap();
    silent
        .set_write_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    while silent.write_all(&b"10.1.2.3\n".repeat(1000)).is_ok() {}
    let begin = Instant::now();
    let (mut rounds, mut breaks) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| ask_steadily(&socket, &is_over, &steady));
        scope.spawn(|| flood(&socket, &is_over, &flooded));
        // Readers end also when this fails.
        let over = Over(&is_over);
        while begin.elapsed() < time {
            rounds += 1;
            let is_break = rounds % 4 == 0;
            if is_break {
                breaks += 1;
                connection = break_off(connection, address, &mut router, &mut random);
            }
            for _ in 0..random.usize(1..300) {
                connection.write_all(&router.change(&mut random)).unwrap();
            }
            connection.write_all(&router.mark()).unwrap();
            let (version, mark) = (gateway(router.version), "203.0.113.1");
            follow.expect(
                &format!("{mark}\n"),
                &format!("{mark}\t203.0.113.0/24\t{version}\n"),
            );
            let (addresses, questions, answers) = router.probes(&mut random);
            if is_break {
                // What was lost meanwhile has left then.
                while !follow.ask("stats\n").contains("\npopfib_stale 0\n") {
                    thread::sleep(Duration::from_millis(10));
                }
            }
            let seen = follow.ask(&questions);
            let differs = seen.lines().zip(answers.lines()).find(|(a, b)| a != b);
            assert_eq!(differs, None, "round {rounds}");
            assert_eq!(seen.lines().count(), addresses.len(), "round {rounds}");
            let hops: Vec<&str> = answers
                .lines()
                .map(|l| l.rsplit('\t').next().unwrap())
                .collect();
            assert_eq!(packed(&socket, &addresses), hops, "round {rounds}");
            if rounds % 16 == 1 {
                let listed = run(&["routes", "--live", socket.to_str().unwrap()]);
                let line = |(p, v): (&Prefix<u32>, &u32)| format!("{p} {}\n", gateway(*v));
                let mut expected: Vec<String> = router.routes.iter().map(line).collect();
                expected.sort();
                let mut lines: Vec<String> = good(&listed)
                    .split_inclusive('\n')
                    .map(str::to_owned)
                    .collect();
                lines.sort();
                assert_eq!(lines, expected, "round {rounds}");
            }
        }
        drop(over);
    });
    drop(silent);
    crate::restart::signal(&follow.child, Signal::TERM);
    assert_eq!(follow.child.wait().unwrap().code(), Some(0));
    let mut again = Follow::start("soak", &args);
    again.connect("FPM on");
    again.note("answering");
    let (_, questions, answers) = router.probes(&mut random);
    assert_eq!(again.ask(&questions).replace("\tstale\n", "\n"), answers);
    let (steady, flooded) = (steady.into_inner(), flooded.into_inner());
    println!(
        "{rounds} rounds, {breaks} breaks, {steady} lookups of steady routes, {flooded} questions of a flood"
    );
    assert!(breaks > 0 && steady > 0 && flooded > 0);
}

/// Readers stop when this is dropped.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The connection ends in the midst of a frame, or stays open and is silent; the router changes meanwhile, connects again and sends
/// everything.
fn break_off(
    mut old: TcpStream,
    address: SocketAddr,
    router: &mut Router,
    random: &mut fastrand::Rng,
) -> TcpStream {
    let frame = router.mark();
    old.write_all(&frame[..random.usize(1..frame.len())])
        .unwrap();
    let kept = random.bool().then(|| old.try_clone().unwrap());
    drop(old);
    for _ in 0..random.usize(..200) {
        router.change(random);
    }
    let mut new = TcpStream::connect(address).unwrap();
    new.write_all(&router.everything()).unwrap();
    drop(kept);
    new
}
