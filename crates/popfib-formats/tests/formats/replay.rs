//! The table of a dump after updates, against a replay of the same lines in a map.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::rounds::rounds;
use crate::common::{SKIP, STRICT, error, named, read, routes};
use crate::mrt_file::{as_path, next_hop, path_attribute, session, update};
use popfib_formats::{ColumnSelection, LoadOptions, RouteValue, UpdateFiles};

/// Files of updates that are gone with it.
struct Files(PathBuf, Vec<PathBuf>);

impl Files {
    fn new(name: &str, files: &[Vec<u8>]) -> Self {
        let name = format!("popfib-replay-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        let write = |(at, bytes): (usize, &Vec<u8>)| {
            let path = folder.join(at.to_string());
            fs::write(&path, bytes).expect("a file");
            path
        };
        let paths = files.iter().enumerate().map(write).collect();
        Self(folder, paths)
    }

    /// The options that apply them.
    fn with(&self, until: Option<u64>, options: &LoadOptions) -> LoadOptions {
        LoadOptions {
            updates: Some(UpdateFiles {
                files: self.1.clone(),
                until: until.map(|seconds| seconds * 1_000_000),
                max_size: 1 << 20,
            }),
            ..options.clone()
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn one(name: &str, updates: impl Into<Vec<u8>>) -> Files {
    Files::new(name, &[updates.into()])
}

/// xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Peer and path identifier to the length of the AS path and the next hop, with the number of the line that announced it.
type Paths = BTreeMap<(u64, u64), (u64, String, usize)>;

/// What is the best: the shortest, then that of the first peer, then the last that was announced.
fn best(paths: &Paths) -> Option<&str> {
    let rank = |(key, path): &(&(u64, u64), &(u64, String, usize))| {
        (path.0, key.0, std::cmp::Reverse(path.2))
    };
    let best = paths.iter().min_by_key(rank);
    best.map(|(_, (_, hop, _))| hop.as_str())
}

const BEGIN: usize = 1_700_000_000;

/// Random messages after a random dump, in one file or in several whose times lie between each other, up to any time.
#[test]
fn as_a_replay_in_a_map() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..rounds(40, 400) {
        let mut state: BTreeMap<String, Paths> = BTreeMap::new();
        let mut dump = String::new();
        let mut line = 0;
        let mut announce = |random: &mut Random, paths: &mut Paths, peer: u64| {
            let (id, length) = (random.below(2), random.below(4));
            let hop = format!("192.0.2.{}", random.below(200));
            line += 1;
            let path = ["64500"; 4][..length as usize].join(" ");
            paths.insert((peer, id), (length, hop.clone(), line));
            (id, format!("{path}|IGP|{hop}|0|0||NAG||"))
        };
        let prefixes = ["10.0.0.0/8", "10.1.0.0/16", "10.128.0.0/9", "2001:db8::/32"];
        // In the order of the peers' addresses, as the peers are numbered as they come.
        for peer in 0..4 {
            writeln!(dump, "TABLE_DUMP2|{BEGIN}|B|192.0.2.{peer}|6450{peer}|0.0.0.0/0||IGP|192.0.2.250|0|0||NAG||").unwrap();
            let paths = state.entry("0.0.0.0/0".to_owned()).or_default();
            paths.insert((peer, 0), (0, "192.0.2.250".to_owned(), 0));
        }
        for prefix in prefixes {
            for peer in 0..4 {
                if random.below(3) == 0 {
                    let paths = state.entry(prefix.to_owned()).or_default();
                    let (id, rest) = announce(&mut random, paths, peer);
                    writeln!(
                        dump,
                        "TABLE_DUMP2_AP|{BEGIN}|B|192.0.2.{peer}|6450{peer}|{prefix}|{id}|{rest}"
                    )
                    .unwrap();
                }
            }
        }
        let count = 60;
        let until = BEGIN + random.below(count) as usize;
        let mut files = vec![String::new(); 1 + random.below(4) as usize];
        for at in 0..count as usize {
            let time = BEGIN - 5 + at;
            let is_applied = (BEGIN..=until).contains(&time);
            // The last one is not in the dump.
            let peer = random.below(5);
            let head =
                |kind: &str, what: &str| format!("{kind}|{time}|{what}|192.0.2.{peer}|6450{peer}|");
            let prefix = prefixes[random.below(4) as usize];
            let mut paths = Paths::new();
            let known = match is_applied {
                true => state.entry(prefix.to_owned()).or_default(),
                false => &mut paths,
            };
            let text = match random.below(10) {
                0 => {
                    let states = ["6|1", "5|6", "1|2"][random.below(3) as usize];
                    if is_applied && states != "1|2" {
                        for paths in state.values_mut() {
                            paths.retain(|key, _| key.0 != peer);
                        }
                    }
                    head("BGP4MP", "STATE") + states
                }
                1..4 => {
                    let id = random.below(2);
                    known.remove(&(peer, id));
                    format!("{}{prefix}|{id}", head("BGP4MP_AP", "W"))
                }
                _ => {
                    let (id, rest) = announce(&mut random, known, peer);
                    format!("{}{prefix}|{id}|{rest}", head("BGP4MP_ET_AP", "A"))
                }
            };
            let file = random.below(files.len() as u64) as usize;
            writeln!(files[file], "{text}").unwrap();
        }
        let files: Vec<_> = files.into_iter().map(String::into_bytes).collect();
        let files = Files::new("map", &files);
        let options = files.with(Some(until as u64), &STRICT);
        let table = read(dump, &options).unwrap_or_else(|e| panic!("{round}: {e}"));
        let expected = prefixes.iter().chain(&["0.0.0.0/0"]).filter_map(|prefix| {
            let best = best(state.get(*prefix)?)?;
            Some(format!("{prefix} {best}"))
        });
        let mut expected: Vec<_> = expected.collect();
        let mut seen = routes(&table);
        expected.sort_unstable();
        seen.sort_unstable();
        assert_eq!(seen, expected, "{round}");
    }
}

const DUMP: &str = "\
TABLE_DUMP2|1000000000|B|192.0.2.1|64501|10.0.0.0/8|64501 7|IGP|192.0.2.11|0|0|64501:1|NAG||
TABLE_DUMP2|1000000000|B|192.0.2.2|64502|10.0.0.0/8|64502 8 7|IGP|192.0.2.12|0|0||NAG||
TABLE_DUMP2|1000000000|B|192.0.2.2|64502|10.1.0.0/16|64502|IGP|192.0.2.12|0|0||NAG||
";

#[test]
fn mrt_updates_and_sessions() {
    let path = |hop| {
        [
            path_attribute(1, &[0]),
            as_path(&[(2, &[64501, 9])]),
            next_hop(hop),
        ]
        .concat()
    };
    let better = update([192, 0, 2, 3], &[], &path([192, 0, 2, 13]), &[8, 10]);
    let withdrawn = update([192, 0, 2, 1], &[8, 10], &[], &[]);
    let down = session([192, 0, 2, 2], 6, 1);
    for (updates, expected) in [
        (
            vec![],
            &["10.0.0.0/8 192.0.2.11", "10.1.0.0/16 192.0.2.12"][..],
        ),
        // As short, but of a peer that came later.
        (
            vec![&better],
            &["10.0.0.0/8 192.0.2.11", "10.1.0.0/16 192.0.2.12"],
        ),
        (
            vec![&better, &withdrawn],
            &["10.0.0.0/8 192.0.2.13", "10.1.0.0/16 192.0.2.12"],
        ),
        (
            vec![&withdrawn],
            &["10.0.0.0/8 192.0.2.12", "10.1.0.0/16 192.0.2.12"],
        ),
        (vec![&down], &["10.0.0.0/8 192.0.2.11"]),
        (vec![&down, &withdrawn, &better], &["10.0.0.0/8 192.0.2.13"]),
    ] {
        let bytes: Vec<u8> = updates.into_iter().flatten().copied().collect();
        let files = one("mrt", bytes);
        let table = read(DUMP, &files.with(None, &STRICT)).expect("a table");
        assert_eq!(routes(&table), expected);
    }
    // All other values, too.
    let files = one("values", better);
    let options = |value, columns| LoadOptions {
        value,
        columns,
        peer: Some("2".parse().expect("a peer")),
        ..files.with(None, &STRICT)
    };
    let origins =
        read(DUMP, &options(RouteValue::OriginAs, ColumnSelection::Value)).expect("a table");
    assert_eq!(routes(&origins), ["10.0.0.0/8 9"]);
    let peers = read(DUMP, &options(RouteValue::Peer, ColumnSelection::Value)).expect("a table");
    assert_eq!(routes(&peers), ["10.0.0.0/8 192.0.2.3"]);
    let paths = read(DUMP, &options(RouteValue::NextHop, named("as_path"))).expect("a table");
    assert_eq!(routes(&paths), ["10.0.0.0/8 64501 9"]);
    let all = read(DUMP, &options(RouteValue::NextHop, ColumnSelection::All)).expect("a table");
    let records = all.content.records;
    assert!(records.column("communities").is_some() && records.len() == 1);
}

/// Without updates the table is that of the dump, also of several paths of a peer.
#[test]
fn no_updates_change_nothing() {
    let several = DUMP.replace("TABLE_DUMP2|", "TABLE_DUMP2_AP|");
    let several = several.replace("/8|", "/8|7|").replace("/16|", "/16|9|");
    let again = several
        .replace("192.0.2.11", "192.0.2.21")
        .replace("/8|7|", "/8|3|");
    let lines: Vec<_> = [several.lines(), again.lines()]
        .into_iter()
        .flatten()
        .collect();
    let dump = [0, 3, 1, 4, 2].map(|at| lines[at]).join("\n");
    let files = one("none", "");
    for peer in [None, Some("1"), Some("AS64501")] {
        let options = LoadOptions {
            peer: peer.map(|peer| peer.parse().expect("a peer")),
            ..STRICT.clone()
        };
        let plain = read(&*dump, &options).expect("a table");
        let table = read(&*dump, &files.with(None, &options)).expect("a table");
        assert_eq!(routes(&table), routes(&plain), "{peer:?}");
    }
}

#[test]
fn tables_of_one_peer() {
    let table = "10.0.0.0/8 a\n10.1.0.0/16 b\n2001:db8::/32 c\n";
    let files = one("text", "W 10.0.0.0/8\nA 10.1.0.0/16 d\nA 10.2.0.0/16 e\n");
    let after = read(table, &files.with(None, &STRICT)).expect("a table");
    let expected = ["10.1.0.0/16 d", "10.2.0.0/16 e", "2001:db8::/32 c"];
    assert_eq!(routes(&after), expected);
    assert_eq!(after.applied.unwrap(), "3 updates applied");
    let two = "1 192.0.2.1 A 10.0.0.0/8 x 1\n2 192.0.2.2 W 10.1.0.0/16\n";
    let files = one("two", two);
    let message = error(table, &files.with(None, &STRICT));
    assert_eq!(
        message,
        "t: updates of several peers after a table of one: 192.0.2.1 and 192.0.2.2; `peer` chooses one"
    );
    let options = LoadOptions {
        peer: Some("192.0.2.2".parse().expect("a peer")),
        ..files.with(None, &STRICT)
    };
    let after = read(table, &options).expect("a table");
    assert_eq!(routes(&after), ["10.0.0.0/8 a", "2001:db8::/32 c"]);
}

#[test]
fn what_is_left_out_is_said() {
    let lines = "\
BGP4MP|999999999|W|192.0.2.1|64501|10.0.0.0/8
BGP4MP|1000000005|W|192.0.2.2|64502|10.1.0.0/16
BGP4MP|1000000004|A|192.0.2.1|64501|10.2.0.0/16|64501|IGP|192.0.2.11|0|0||NAG||
BGP4MP|1000000009|STATE|192.0.2.2|64502|6|1
BGP4MP|x|
";
    let files = one("notes", lines);
    let options = files.with(Some(1_000_000_005), &STRICT);
    let message = error(DUMP, &options);
    assert!(message.ends_with(":5: \"x\": not a time"), "{message}");
    let table = read(DUMP, &files.with(Some(1_000_000_005), &SKIP)).expect("a table");
    assert_eq!(
        routes(&table),
        ["10.0.0.0/8 192.0.2.11", "10.2.0.0/16 192.0.2.11"]
    );
    let skipped = format!("1 invalid line of {} skipped", files.1[0].display());
    let said = [
        "2 updates applied of 2001-09-09T01:46:44Z to 2001-09-09T01:46:45Z",
        "1 update before the table of 2001-09-09T01:46:40Z left out",
        "1 update older than one before in the same file, applied in its place",
        &skipped,
    ];
    assert_eq!(table.remarks(), said);
    let table = read(DUMP, &files.with(None, &SKIP)).expect("a table");
    let ended = "1 session ended or began, whose peer has no earlier routes then";
    assert!(table.notes.contains(&ended.to_owned()), "{:?}", table.notes);
    // A truncated file is read as far as it goes.
    let mrt = update([192, 0, 2, 1], &[8, 10], &[], &[]);
    let files = one("cut", [&mrt[..], &mrt[..20]].concat());
    let table = read(DUMP, &files.with(None, &SKIP)).expect("a table");
    assert!(table.notes[0].starts_with("truncated, read up to the end: "));
    assert_eq!(routes(&table)[0], "10.0.0.0/8 192.0.2.12");
    assert!(error(DUMP, &files.with(None, &STRICT)).contains("the file ends in a record"));
    // Invalid attributes withdraw the path; the value of a path without a next hop is absent.
    let mut bad = path_attribute(1, &[9]);
    bad.extend([as_path(&[(2, &[64501])]), next_hop([192, 0, 2, 1])].concat());
    let files = one("attributes", update([192, 0, 2, 1], &[], &bad, &[8, 10]));
    let table = read(DUMP, &files.with(None, &STRICT)).expect("a table");
    assert_eq!(routes(&table)[0], "10.0.0.0/8 192.0.2.12");
    let invalid = "1 update with invalid attributes, which count as a withdrawal";
    assert!(table.notes.contains(&invalid.to_owned()));
    let no_hop = DUMP.replace("|192.0.2.12|", "||");
    let files = one("hop", "BGP4MP|1000000001|W|192.0.2.1|64501|10.0.0.0/8\n");
    let table = read(
        format!("{no_hop}{}", DUMP.replace("10.", "11.")),
        &files.with(None, &STRICT),
    );
    let table = table.expect("a table");
    assert_eq!(
        routes(&table),
        [
            "10.0.0.0/8 ",
            "10.1.0.0/16 ",
            "11.0.0.0/8 192.0.2.11",
            "11.1.0.0/16 192.0.2.12"
        ]
    );
    assert_eq!(table.absent.as_deref(), Some("2 routes without a value"));
}

#[test]
fn what_cannot_be_applied_is_refused() {
    let text = "A 10.0.0.0/8 x\n";
    let update = "BGP4MP|1000000001|W|192.0.2.1|64501|10.0.0.0/8\n";
    let refused = |table: &str, files: &[&str], until, options: &LoadOptions| {
        let files: Vec<_> = files.iter().map(|file| file.as_bytes().to_vec()).collect();
        let files = Files::new("refused", &files);
        error(table, &files.with(until, options))
    };
    let several = refused(DUMP, &[text, update], None, &STRICT);
    assert!(
        several.ends_with(
            "updates without times, which cannot be put in order with those of other files"
        ),
        "{several}"
    );
    let timeless = refused("10.0.0.0/8 a\n", &[text], Some(1), &STRICT);
    assert!(timeless.ends_with("updates without times, of which `until` chooses none"));
    assert_eq!(
        refused(DUMP, &[update], Some(999_999_999), &STRICT),
        "t: the table is of 2001-09-09T01:46:40Z, after the time of `until`"
    );
    assert_eq!(
        refused(DUMP, &[text], None, &STRICT),
        "t: updates that name no peer after the paths of several peers; `popfib convert --peer PEER` makes a table of one of them"
    );
    let origins = LoadOptions {
        value: RouteValue::OriginAs,
        ..STRICT.clone()
    };
    let named = "1000000001 192.0.2.1 A 10.0.0.0/8 192.0.2.9 64501\n";
    assert_eq!(
        refused(DUMP, &[named], None, &origins),
        "t: the updates after it have next hops alone; origins and columns need those of mrt and bgpdump"
    );
    let scanner = "=|10.0.0.0/8|64501|192.0.2.1|i|||64501:7|192.0.2.1 64501|1779000000|1\n";
    assert_eq!(
        refused(scanner, &[update], None, &STRICT),
        "t: bgpscanner has the paths of several peers, of which updates need each: mrt and bgpdump have"
    );
    let columns = LoadOptions {
        columns: ColumnSelection::All,
        ..STRICT.clone()
    };
    assert_eq!(
        refused("prefix,a,b\n10.0.0.0/8,1,2\n", &[text], None, &columns),
        "t: csv has columns that updates do not have; `columns` chooses one"
    );
    let missing = LoadOptions {
        updates: Some(UpdateFiles {
            files: vec![Path::new("no/such/file").to_owned()],
            ..UpdateFiles::default()
        }),
        ..STRICT.clone()
    };
    assert!(error(DUMP, &missing).starts_with("no/such/file: cannot open: "));
    let state = "BGP4MP|1000000001|STATE|192.0.2.1|64501|6\n";
    assert!(
        refused(DUMP, &[state], None, &STRICT)
            .ends_with(":1: not a change of a state: TIME|STATE|PEER|PEER_AS|OLD|NEW")
    );
}
