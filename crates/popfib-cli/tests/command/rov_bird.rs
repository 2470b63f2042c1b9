//! `popfib rov` beside BIRD, whose `roa_check` says of each route what the VRPs in its tables do.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{file, run, stderr, stdout};

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// A prefix of `width` bits between two lengths, which begins as others do.
fn prefix(random: &mut Random, is_ipv6: bool, [shortest, longest]: [u64; 2]) -> (String, u64) {
    let length = shortest + random.below(longest - shortest + 1);
    let text = if is_ipv6 {
        // All that varies lies in the 32 bits after the first.
        let bits = (random.below(1 << 20) << 12) >> (64 - length) << (64 - length);
        let bits = 0x2001_0db8_u128 << 96 | u128::from(bits) << 64;
        std::net::Ipv6Addr::from(bits).to_string()
    } else {
        let bits = (10 << 24 | random.below(1 << 24)) >> (32 - length) << (32 - length);
        std::net::Ipv4Addr::from(bits as u32).to_string()
    };
    (format!("{text}/{length}"), length)
}

/// The files that both read: a table and VRPs, and these as BIRD has them.
struct Files {
    table: String,
    vrps: String,
    bird: String,
}

/// Few enough ASes and bits that all states are met often.
fn files() -> Files {
    let mut random = Random(17);
    let (mut table, mut vrps) = (String::new(), "ASN,IP Prefix,Max Length\n".to_owned());
    let mut bird = "router id 192.0.2.1;\nlog stderr all;\nattribute int from_as;\n".to_owned();
    for (family, is_ipv6, lengths) in [("4", false, [12, 28]), ("6", true, [36, 60])] {
        let width = if is_ipv6 { 128 } else { 32 };
        let _ = writeln!(
            bird,
            "roa{family} table r{family};\nipv{family} table t{family};"
        );
        let _ = writeln!(
            bird,
            "protocol static {{ roa{family} {{ table r{family}; }};"
        );
        for _ in 0..4_000 {
            let (prefix, length) = prefix(&mut random, is_ipv6, [lengths[0] + 6, lengths[1] - 2]);
            let more = if random.below(2) == 0 {
                0
            } else {
                random.below(8)
            };
            let max = (length + more).min(width);
            let asn = random.below(6);
            let _ = writeln!(vrps, "AS{asn},{prefix},{max}");
            let _ = writeln!(bird, "route {prefix} max {max} as {asn};");
        }
        let _ = writeln!(
            bird,
            "}}\nprotocol static {{ ipv{family} {{ table t{family}; import all; }};"
        );
        let mut routes = BTreeMap::new();
        for _ in 0..20_000 {
            routes.insert(prefix(&mut random, is_ipv6, lengths).0, random.below(6));
        }
        for (prefix, asn) in routes {
            let _ = writeln!(table, "{prefix} {asn}");
            let _ = writeln!(bird, "route {prefix} blackhole {{ from_as = {asn}; }};");
        }
        bird.push_str("}\n");
    }
    Files {
        table: file("rov-bird-table", table),
        vrps: file("rov-bird-vrps", vrps),
        bird: file("rov-bird.conf", bird),
    }
}

/// A BIRD of its own, which ends with it.
struct Bird {
    child: Child,
    client: PathBuf,
    socket: PathBuf,
}

impl Drop for Bird {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.socket);
    }
}

impl Bird {
    /// None where it is not installed.
    fn start(config: &str) -> Option<Self> {
        // Short: addresses of sockets have some hundred bytes.
        let socket = std::env::temp_dir().join(format!("popfib-bird-{}", std::process::id()));
        let _ = fs::remove_file(&socket);
        let program = |name: &str| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let mut folders: Vec<_> = std::env::split_paths(&path).collect();
            folders.push("/usr/sbin".into());
            folders
                .iter()
                .map(|folder| folder.join(name))
                .find(|path| path.is_file())
        };
        let (Some(daemon), Some(client)) = (program("bird"), program("birdc")) else {
            println!("skipped: rov beside BIRD: it is not installed");
            return None;
        };
        let child = Command::new(daemon)
            .args(["-f", "-c", config, "-s"])
            .arg(&socket)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Some(Self {
            child,
            client,
            socket,
        })
    }

    /// What it answers, once it does.
    fn ask(&self, question: &str) -> String {
        let output = Command::new(&self.client)
            .arg("-s")
            .arg(&self.socket)
            .args(question.split(' '))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until a table has this many routes.
    fn wait(&self, table: &str, routes: usize) {
        let start = Instant::now();
        let wanted = format!("{routes} of {routes} routes");
        while !self
            .ask(&format!("show route table {table} count"))
            .contains(&wanted)
        {
            let waited = start.elapsed();
            assert!(
                waited < Duration::from_secs(60),
                "BIRD has not {wanted} in {table}"
            );
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// The prefixes of a family's routes that are in this state.
    fn routes(&self, family: &str, state: &str) -> Vec<String> {
        let answer = self.ask(&format!(
            "show route table t{family} where roa_check(r{family}, net, from_as) = {state}"
        ));
        let words = answer.lines().filter_map(|line| line.split(' ').next());
        let mut found: Vec<_> = words
            .filter(|word| word.contains('/'))
            .map(str::to_owned)
            .collect();
        found.sort();
        found
    }
}

#[test]
fn every_route_is_in_the_state_that_bird_says() {
    let files = files();
    let Some(bird) = Bird::start(&files.bird) else {
        return;
    };
    let table = fs::read_to_string(&files.table).unwrap();
    for (family, is_ipv6) in [("4", false), ("6", true)] {
        let routes = table.lines().filter(|line| line.contains(':') == is_ipv6);
        bird.wait(&format!("t{family}"), routes.count());
        for (ours, theirs) in [
            ("valid", "ROA_VALID"),
            ("invalid-as,invalid-length", "ROA_INVALID"),
            ("not-found", "ROA_UNKNOWN"),
        ] {
            let output = run(&[
                "rov",
                "--table",
                &files.table,
                "--vrps",
                &files.vrps,
                "--state",
                ours,
            ]);
            assert_eq!(stderr(&output), "");
            let lines = stdout(&output).lines();
            let words = lines.filter_map(|line| line.split('\t').next());
            let mut found: Vec<_> = words.filter(|word| word.contains(':') == is_ipv6).collect();
            found.sort_unstable();
            assert!(found.len() > 100, "{ours}: {}", found.len());
            assert_eq!(bird.routes(family, theirs), found, "IPv{family}, {ours}");
        }
    }
}
