//! `popfib set`: lists put together and compared.

use crate::common::{bad, file, good, keys, run, run_with, stderr, stdout};
use serde_json::Value;

const A: &str = "10.0.0.0/8 east\n10.1.0.0/16 west\n192.0.2.0/24 east\n2001:db8::/32 east\n";
const B: &str = "10.0.0.0/9\n192.0.2.0/25\n192.0.2.128/25\n198.51.100.7\n2001:db8:8000::/33\n";

/// Runs `set OPERATION [OPTIONS] A B`.
#[track_caller]
fn of(name: &str, args: &[&str]) -> Vec<String> {
    let (a, b) = (
        file(&format!("set-{name}-a"), A),
        file(&format!("set-{name}-b"), B),
    );
    let output = run(&[&["set"], args, &[&a, &b]].concat());
    good(&output).lines().map(str::to_owned).collect()
}

#[test]
fn each_operation_gives_the_fewest_prefixes() {
    assert_eq!(
        of("union", &["union"]),
        [
            "10.0.0.0/8",
            "192.0.2.0/24",
            "198.51.100.7/32",
            "2001:db8::/32"
        ]
    );
    assert_eq!(
        of("intersect", &["intersect"]),
        ["10.0.0.0/9", "192.0.2.0/24", "2001:db8:8000::/33"]
    );
    assert_eq!(
        of("subtract", &["subtract"]),
        ["10.128.0.0/9", "2001:db8::/33"]
    );
    assert_eq!(
        of("symmetric", &["symmetric"]),
        ["10.128.0.0/9", "198.51.100.7/32", "2001:db8::/33"]
    );
    let complement = of("complement", &["complement"]);
    assert_eq!(complement[..2], ["0.0.0.0/5", "8.0.0.0/7"]);
    assert!(complement.contains(&"8000::/1".to_owned()));
}

#[test]
fn one_list_and_several() {
    let one = file("set-one", "10.0.0.0/9\n10.128.0.0/9\n10.1.0.0/16\n");
    assert_eq!(good(&run(&["set", "union", &one])), "10.0.0.0/8\n");
    let two = file("set-two", "10.0.0.0/10\n11.0.0.0/8\n");
    let three = file("set-three", "10.0.0.0/11\n11.0.0.0/9\n12.0.0.0/8\n");
    let of = |operation| {
        let output = run(&["set", operation, &one, &two, &three]);
        good(&output).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of("union"), ["10.0.0.0/7", "12.0.0.0/8"]);
    assert_eq!(of("intersect"), ["10.0.0.0/11"]);
    assert_eq!(of("subtract"), ["10.64.0.0/10", "10.128.0.0/9"]);
    // In one list, or in all three.
    assert_eq!(
        of("symmetric"),
        [
            "10.0.0.0/11",
            "10.64.0.0/10",
            "10.128.0.0/9",
            "11.128.0.0/9",
            "12.0.0.0/8"
        ]
    );
}

#[test]
fn a_complement_is_of_both_families_or_of_one() {
    let list = file("set-family", "128.0.0.0/1\n");
    assert_eq!(
        good(&run(&["set", "complement", &list])),
        "0.0.0.0/1\n::/0\n"
    );
    let ipv4 = run(&["set", "complement", "--family", "ipv4", &list]);
    assert_eq!(good(&ipv4), "0.0.0.0/1\n");
    let twice = run_with(
        &["set", "complement", "-"],
        good(&run(&["set", "complement", &list])).as_bytes(),
    );
    assert_eq!(good(&twice), "128.0.0.0/1\n");
}

#[test]
fn routes_as_they_were() {
    assert_eq!(
        of("keep-intersect", &["intersect", "--keep-routes"]),
        ["10.1.0.0/16 west", "192.0.2.0/24 east"]
    );
    assert_eq!(
        of("keep-subtract", &["subtract", "--keep-routes"]),
        ["10.0.0.0/8 east", "2001:db8::/32 east"]
    );
    // In all others, each of which has a part only; and in none of the others together.
    let [a, b, c] = ["10.0.0.0/8 x\n", "10.0.0.0/9\n", "10.128.0.0/9\n"];
    let [a, b, c] =
        [("a", a), ("b", b), ("c", c)].map(|(n, text)| file(&format!("set-keep-{n}"), text));
    for operation in ["intersect", "subtract"] {
        let output = run(&["set", operation, "--keep-routes", &a, &b, &c]);
        assert_eq!(
            (stdout(&output), output.status.code()),
            ("", Some(1)),
            "{operation}"
        );
    }
    for operation in ["union", "symmetric", "complement"] {
        let output = run(&["set", operation, "--keep-routes", &a, &b]);
        assert!(bad(&output).contains("--keep-routes"), "{operation}");
    }
}

#[test]
fn an_empty_result_is_a_negative_answer() {
    let (a, b) = (
        file("set-empty-a", "10.0.0.0/8\n"),
        file("set-empty-b", "11.0.0.0/8\n::/0\n"),
    );
    let output = run(&["set", "intersect", &a, &b]);
    assert_eq!(
        (stdout(&output), stderr(&output)),
        ("", "popfib: no prefix is left\n")
    );
    assert_eq!(output.status.code(), Some(1));
    let output = run(&["set", "complement", "--family", "ipv6", &a, &b]);
    assert_eq!((stdout(&output), output.status.code()), ("", Some(1)));
}

#[test]
fn results_go_where_tables_go() {
    let list = file("set-to", "10.0.0.0/9\n10.128.0.0/9\n");
    let output = run(&["set", "union", "--to", "pfx2as", &list]);
    assert!(bad(&output).starts_with("--to pfx2as: the form needs an AS number"));
    let routes = file("set-to-routes", "10.1.0.0/16 east\n11.0.0.0/8 west\n");
    let output = run(&[
        "set",
        "intersect",
        "--keep-routes",
        "--to",
        "csv",
        &routes,
        &list,
    ]);
    assert_eq!(good(&output), "prefix,next_hop\n10.1.0.0/16,east\n");
    let to = file("set-to-file", "old");
    assert_eq!(good(&run(&["set", "union", &list, "-o", &to])), "");
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "10.0.0.0/8\n");
}

#[test]
fn coverage_says_how_much_of_each_prefix() {
    let (a, b) = (file("set-coverage-a", A), file("set-coverage-b", B));
    let output = run(&["set", "coverage", &a, &b]);
    assert_eq!(
        stdout(&output),
        "10.0.0.0/8\tpart\n10.1.0.0/16\twhole\n192.0.2.0/24\twhole\n2001:db8::/32\tpart\n"
    );
    assert_eq!(
        stderr(&output),
        "popfib: 2 prefixes whole, 2 in part, 0 none\n"
    );
    assert_eq!(output.status.code(), Some(1));
    let output = run(&["set", "coverage", "--json", "--family", "ipv4", &b, &a]);
    let lines: Vec<Value> = stdout(&output)
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(keys(&lines[0]), ["covered", "prefix"]);
    let covered: Vec<_> = lines
        .iter()
        .map(|line| line["covered"].as_str().unwrap())
        .collect();
    assert_eq!(covered, ["whole", "whole", "whole", "none"]);
    assert_eq!(
        stderr(&output),
        "popfib: 3 prefixes whole, 0 in part, 1 none\n"
    );
    assert_eq!(run(&["set", "coverage", &a, &a]).status.code(), Some(0));
    // Two halves make a whole.
    let rest = file("set-coverage-rest", "10.128.0.0/9\n2001:db8::/33\n");
    assert!(!good(&run(&["set", "coverage", &a, &b, &rest])).contains("part"));
}

#[test]
fn what_is_no_list() {
    let list = file("set-good", "10.0.0.0/8\n");
    let empty = file("set-nothing", "\n");
    assert!(bad(&run(&["set", "union", &list, &empty])).contains("there is no route in it"));
    let none = file("set-none", "# nothing\n");
    let output = run(&["set", "union", &list, &none]);
    assert_eq!(stdout(&output), "10.0.0.0/8\n");
    assert!(stderr(&output).ends_with("an empty list: there is no route in it\n"));
    assert!(bad(&run(&["set", "union", &list, "/no/such"])).contains("cannot open"));
    let line = run_with(&["set", "subtract", "-", "-"], b"");
    assert!(bad(&line).contains("standard input"));
    assert!(bad(&run(&["set", "intersect", &list])).contains("2 values required"));
    let host_bits = file("set-host-bits", "10.0.0.1/8\n");
    assert!(bad(&run(&["set", "union", &host_bits])).contains("set-host-bits:1: "));
    assert_eq!(
        good(&run(&["set", "union", "--mask", &host_bits])),
        "10.0.0.0/8\n"
    );
}

/// Prefixes of 192.0.2.0/24, by their last byte and length, and the bytes that they hold.
pub(crate) fn random_list(state: &mut u64) -> (String, Vec<bool>) {
    let mut held = vec![false; 256];
    let mut text = String::new();
    let mut below = |end: u64| {
        *state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (*state >> 33) % end
    };
    for _ in 0..1 + below(6) {
        let len = 25 + below(8);
        let size = 1usize << (32 - len);
        let first = below(256) as usize / size * size;
        let prefix = format!("192.0.2.{first}/{len} ");
        if !text.contains(&prefix) {
            text += &format!("{prefix}v{}\n", below(3));
        }
        held[first..first + size].fill(true);
    }
    (text, held)
}

/// The last bytes that lines of prefixes of 192.0.2.0/24 hold, of which none overlaps.
#[track_caller]
pub(crate) fn held(lines: &str) -> (Vec<bool>, Vec<u32>) {
    let mut held = vec![false; 256];
    let mut lengths = Vec::new();
    for line in lines.lines() {
        let (first, len) = line
            .strip_prefix("192.0.2.")
            .unwrap()
            .split_once('/')
            .unwrap();
        let (first, len): (usize, u32) = (first.parse().unwrap(), len.parse().unwrap());
        for held in &mut held[first..first + (1 << (32 - len))] {
            assert!(!std::mem::replace(held, true), "{lines}");
        }
        lengths.push(len);
    }
    (held, lengths)
}

#[test]
fn free_space_and_splits_are_those_of_each_address() {
    let mut state = 45;
    for round in 0..12 {
        let (text, used) = random_list(&mut state);
        let list = file(&format!("used-{round}"), &text);
        let free: Vec<bool> = used.iter().map(|used| !used).collect();
        let of = |args: &[&str]| {
            let output = run(&[&["set", "free", "192.0.2.0/24", &list], args].concat());
            let expected = i32::from(!free.contains(&true));
            assert_eq!(output.status.code(), Some(expected), "{text}");
            stdout(&output).to_owned()
        };
        let all = of(&[]);
        let (found, mut lengths) = held(&all);
        assert_eq!(found, free, "{text}");
        let (_, largest) = held(&of(&["--largest", "2"]));
        lengths.sort_unstable();
        lengths.truncate(2);
        let mut sorted = largest.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, lengths, "{text}");
        // The first free block of each length, by trying each place.
        for len in [26, 29, 32] {
            let size = 1 << (32 - len);
            let places = (0..256).step_by(size);
            let places = places.filter(|&at| !used[at..at + size].contains(&true));
            let expected: String = places
                .take(3)
                .map(|at| format!("192.0.2.{at}/{len}\n"))
                .collect();
            let args = ["--length", &len.to_string(), "--count", "3"];
            let output = run(&[&["set", "free", "192.0.2.0/24", &list], &args[..]].concat());
            assert_eq!(stdout(&output), expected, "{text}");
        }
        for len in [27, 32] {
            let output = run(&["set", "split", &format!("/{len}"), &list]);
            let (found, lengths) = held(good(&output));
            assert_eq!(found, used, "{text}");
            assert!(lengths.iter().all(|&found| found >= len), "{text}");
        }
        // Each prefix that lies in another, with the longest of those.
        let routes: std::collections::BTreeMap<(usize, u32), &str> = text
            .lines()
            .map(|line| {
                let (prefix, value) = line.split_once(' ').unwrap();
                let (first, len) = prefix["192.0.2.".len()..].split_once('/').unwrap();
                ((first.parse().unwrap(), len.parse().unwrap()), value)
            })
            .collect();
        let mut expected = String::new();
        for (&(first, len), value) in &routes {
            let covering = (25..len).rev().find_map(|shorter| {
                let size = 1 << (32 - shorter);
                let at = (first / size * size, shorter);
                routes.get(&at).map(|value| (at, value))
            });
            if let Some(((at, shorter), outer)) = covering {
                expected +=
                    &format!("192.0.2.{first}/{len}\t{value}\t192.0.2.{at}/{shorter}\t{outer}\n");
            }
        }
        let output = run(&["set", "overlaps", &list]);
        assert_eq!(stdout(&output), expected, "{text}");
        assert_eq!(output.status.code(), Some(i32::from(expected.is_empty())));
    }
}

#[test]
fn space_and_lengths_that_mean_nothing_are_refused() {
    let list = file("set-space", "10.0.0.0/9\n");
    for (args, reason) in [
        (&["free", "10.0.0.1/8"][..], "--mask clears them"),
        (
            &["free", "ten"],
            "\"ten\": not an address; SPACE is a prefix",
        ),
        (
            &["free", "10.0.0.0/8", "--length", "33"],
            "IPv4 has at most 32 bits",
        ),
        (
            &["free", "10.0.0.0/8", "--length", "129"],
            "a prefix length is /0 to /128",
        ),
        (&["free", "10.0.0.0/8", "--count", "2"], "--length"),
        (&["split", "x"], "a prefix length is /0 to /128"),
    ] {
        let output = run(&[&["set"], args, &[&list]].concat());
        let said = bad(&output);
        assert!(said.contains(reason), "{said}");
    }
    let all = file("set-all", "::/0\n");
    let output = run(&["set", "split", "64", &all]);
    assert!(bad(&output).contains("more than 16777216 prefixes"));
    // Nothing of one family is asked of the other.
    let space = run(&["set", "free", "2001:db8::/32", "--length", "48", &list]);
    assert_eq!(good(&space), "2001:db8::/48\n");
}

#[test]
fn each_list_beside_each_other() {
    let mut state = 46;
    for round in 0..6 {
        let lists: Vec<_> = (0..4)
            .map(|index| {
                let (text, held) = random_list(&mut state);
                (file(&format!("compared-{round}-{index}"), text), held)
            })
            .collect();
        let files = lists.iter().map(|(file, _)| file.as_str());
        let args: Vec<_> = ["set", "compare", "--json"]
            .into_iter()
            .chain(files)
            .collect();
        let output = run(&args);
        let lines: Vec<Value> = good(&output)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), lists.len());
        let count = |holds: &dyn Fn(usize) -> bool| (0..256).filter(|&byte| holds(byte)).count();
        for (line, (file, held)) in lines.iter().zip(&lists) {
            assert_eq!(
                (&line["list"], &line["family"]),
                (&file.as_str().into(), &"IPv4".into())
            );
            let others = || lists.iter().filter(|(other, _)| other != file);
            let addresses = count(&|byte| held[byte]);
            let unique = count(&|byte| held[byte] && !others().any(|(_, other)| other[byte]));
            assert_eq!(line["addresses"], addresses);
            assert_eq!(line["unique"], unique);
            let shared = line["shared"].as_array().unwrap();
            assert_eq!(shared.len(), lists.len() - 1);
            for (found, (other, theirs)) in shared.iter().zip(others()) {
                let both = count(&|byte| held[byte] && theirs[byte]);
                assert_eq!(
                    (&found["list"], &found["addresses"]),
                    (&other.as_str().into(), &both.into())
                );
                let share = found["share"].as_f64().unwrap() - both as f64 / addresses as f64;
                assert!(share.abs() < 1e-12, "{found}");
            }
        }
    }
}

#[test]
fn comparisons_are_a_table_of_both_families() {
    let (a, b) = (file("a.txt", A), file("b.txt", B));
    let output = run(&["set", "compare", &a, &b]);
    let lines: Vec<_> = good(&output).lines().collect();
    assert_eq!(
        lines[0],
        format!("list\tfamily\tprefixes\taddresses\tunique\t{a}\t{b}")
    );
    assert_eq!(
        lines[1],
        format!("{a}\tIPv4\t3\t16777472\t8388608\t16777472\t8388864")
    );
    assert_eq!(
        lines[2],
        format!("{b}\tIPv4\t4\t8388865\t1\t8388864\t8388865")
    );
    let all = 1u128 << 96;
    let half = all / 2;
    assert_eq!(
        lines[3],
        format!("{a}\tIPv6\t1\t{all}\t{half}\t{all}\t{half}")
    );
    assert_eq!(lines[4], format!("{b}\tIPv6\t1\t{half}\t0\t{half}\t{half}"));
    let csv = run(&["set", "compare", "--to", "csv", &a, &b]);
    let wanted: Vec<_> = lines.iter().map(|line| line.replace('\t', ",")).collect();
    assert!(good(&csv).lines().eq(wanted));
    let json = |option: &[&str]| {
        let args = [&["set", "compare", &a, &b][..], option].concat();
        good(&run(&args)).to_owned()
    };
    assert_eq!(json(&["--json"]), json(&["--to", "json-lines"]));
    let quoted = file("a, \"b\".txt", A);
    let csv = run(&["set", "compare", "--to", "csv", &quoted, &b]);
    let name = format!("\"{}\"", quoted.replace('"', "\"\""));
    let heading = good(&csv).lines().next();
    assert_eq!(
        heading,
        Some(&*format!(
            "list,family,prefixes,addresses,unique,{name},{b}"
        ))
    );
    let output = run(&["set", "compare", "--shares", "--family", "ipv6", &a, &b]);
    let lines: Vec<_> = good(&output).lines().collect();
    assert_eq!(
        lines[1],
        format!("{a}\tIPv6\t1\t{all}\t50.00\t100.00\t50.00")
    );
    assert_eq!(lines.len(), 3);
}
