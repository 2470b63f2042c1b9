//! `popfib diff`: routes and answers in which two tables differ.

use crate::common::{TABLE, bad, file, good, keys, run, run_with, stderr, stdout};
use serde_json::Value;

const OLD: &str = "\
10.0.0.0/8 east
10.1.0.0/16 west
10.2.0.0/16 east
192.0.2.0/24 north
2001:db8::/32 east
";

/// The names appear in another order, so their numbers differ.
const NEW: &str = "\
198.51.100.0/24 north
10.0.0.0/8 east
10.1.0.0/16 north
192.0.2.0/24 north
2001:db8::/32 west
2001:db8:1::/48 west
";

#[track_caller]
fn different(args: &[&str]) -> (String, String) {
    let output = run(args);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    (stdout(&output).to_owned(), stderr(&output).to_owned())
}

#[test]
fn routes_added_removed_and_changed() {
    let (old, new) = (file("diff-old", OLD), file("diff-new", NEW));
    let (text, said) = different(&["diff", &old, &new]);
    assert_eq!(
        text,
        "~ 10.1.0.0/16 west north\n\
         - 10.2.0.0/16 east\n\
         + 198.51.100.0/24 north\n\
         ~ 2001:db8::/32 east west\n\
         + 2001:db8:1::/48 west\n"
    );
    assert_eq!(said, "popfib: 2 routes added, 1 removed, 2 changed\n");
    let (back, said) = different(&["diff", &new, &old]);
    let mirrored = text
        .replace("- 10.2", "* 10.2")
        .replace("+ ", "- ")
        .replace("* 10.2", "+ 10.2")
        .replace("west north", "north west")
        .replace("east west", "west east");
    assert_eq!(back, mirrored);
    assert_eq!(said, "popfib: 1 route added, 2 removed, 2 changed\n");
}

#[test]
fn answers_that_differ() {
    let (old, new) = (file("diff-answers-old", OLD), file("diff-answers-new", NEW));
    let (text, said) = different(&["diff", "--effective", &old, &new]);
    // The removed 10.2.0.0/16 said what 10.0.0.0/8 says, and 2001:db8:1::/48 what is around it.
    assert_eq!(
        text,
        "10.1.0.0-10.1.255.255 west north 65536\n\
         198.51.100.0-198.51.100.255 - north 256\n\
         2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff east west \
         79228162514264337593543950336\n"
    );
    assert_eq!(
        said,
        "popfib: 65792 IPv4 addresses in 2 ranges get another answer; \
         79228162514264337593543950336 IPv6 addresses in 1 range get another answer\n"
    );
}

#[test]
fn the_same_table_in_other_words() {
    let old = file("diff-same-old", TABLE);
    let lines: Vec<_> = TABLE.lines().rev().collect();
    let new = file("diff-same-new", lines.join("\n"));
    assert_eq!(good(&run(&["diff", &old, &new])), "");
    assert_eq!(good(&run(&["diff", "--effective", &old, &new])), "");
    let halves = file("diff-halves", "10.0.0.0/9 a\n10.128.0.0/9 a\n");
    let whole = file("diff-whole", "10.0.0.0/8 a\n");
    assert_eq!(good(&run(&["diff", "--effective", &halves, &whole])), "");
    let (text, _) = different(&["diff", &halves, &whole]);
    assert_eq!(text, "+ 10.0.0.0/8 a\n- 10.0.0.0/9 a\n- 10.128.0.0/9 a\n");
}

#[test]
fn json_lines() {
    let (old, new) = (file("diff-json-old", OLD), file("diff-json-new", NEW));
    let json = |args: &[&str]| -> Vec<Value> {
        let (text, _) = different(&[args, &["--json", &old, &new]].concat());
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let routes = json(&["diff"]);
    assert_eq!(routes.len(), 5);
    for line in &routes {
        assert_eq!(keys(line), ["change", "new", "old", "prefix"]);
    }
    assert_eq!(routes[0]["change"], "changed");
    assert_eq!(routes[0]["old"], "west");
    assert_eq!(routes[1]["change"], "removed");
    assert_eq!(routes[1]["new"], Value::Null);
    assert_eq!(routes[2]["change"], "added");
    assert_eq!(routes[2]["old"], Value::Null);
    assert_eq!(routes[2]["prefix"], "198.51.100.0/24");

    let answers = json(&["diff", "--effective"]);
    assert_eq!(answers.len(), 3);
    for line in &answers {
        assert_eq!(keys(line), ["addresses", "first", "last", "new", "old"]);
    }
    assert_eq!(answers[1]["first"], "198.51.100.0");
    assert_eq!(answers[1]["last"], "198.51.100.255");
    assert_eq!(answers[1]["old"], Value::Null);
    assert_eq!(answers[1]["addresses"], 256);
}

#[test]
fn every_address_there_is() {
    let old = file("diff-all-old", "::/0 a\n0.0.0.0/0 a\n");
    let new = file("diff-all-new", "::/1 b\n8000::/1 b\n0.0.0.0/0 b\n");
    let (text, said) = different(&["diff", "--effective", &old, &new]);
    let all = "340282366920938463463374607431768211456";
    assert_eq!(
        text,
        format!(
            "0.0.0.0-255.255.255.255 a b 4294967296\n\
             ::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff a b {all}\n"
        )
    );
    assert!(said.contains(&format!("{all} IPv6 addresses in 1 range ")));
    let (json, _) = different(&["diff", "--effective", "--json", &old, &new]);
    let last: Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(last["addresses"].as_f64(), Some(2f64.powi(128)));
    // All but one of them, as two ranges.
    let mended = file("diff-all-mended", "::/0 b\n::1 a\n0.0.0.0/0 a\n");
    let (text, said) = different(&["diff", "--effective", &old, &mended]);
    assert_eq!(text.lines().count(), 2);
    assert!(said.contains("340282366920938463463374607431768211455 IPv6 addresses in 2 ranges "));
}

#[test]
fn standard_input_and_bad_input() {
    let old = file("diff-stdin-old", OLD);
    let output = run_with(&["diff", &old, "-"], OLD.as_bytes());
    assert_eq!(good(&output), "");
    let output = run_with(&["diff", "-", &old], OLD.as_bytes());
    assert_eq!(good(&output), "");
    assert!(bad(&run(&["diff", "-", "-"])).contains("standard input"));
    let broken = file("diff-broken", "10.0.0.0/8 a\nnonsense b\n");
    for args in [[&old, &broken], [&broken, &old]] {
        let output = run(&["diff", args[0], args[1]]);
        assert!(bad(&output).starts_with(&format!("{broken}:2: ")));
        assert_eq!(stdout(&output), "");
    }
    let output = run(&["diff", "--skip-invalid", &broken, &broken]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(run(&["diff", &old]).status.code(), Some(2));
    assert!(bad(&run(&["diff", &old, "does/not/exist"])).starts_with("does/not/exist: "));
}

#[test]
fn changes_are_counted_by_next_hop() {
    let (old, new) = (file("diff-by-old", OLD), file("diff-by-new", NEW));
    let (text, said) = different(&["diff", "--summary", &old, &new]);
    assert_eq!(
        text,
        "next_hop\tadded\tremoved\tgained\tlost\n\
         west\t1\t0\t1\t1\n\
         east\t0\t1\t0\t1\n\
         north\t1\t0\t1\t0\n"
    );
    assert_eq!(said, "popfib: 2 routes added, 1 removed, 2 changed\n");
    let (text, _) = different(&["diff", "--summary", "--json", &old, &new]);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(
        keys(&lines[0]),
        ["added", "gained", "lost", "next_hop", "removed"]
    );
    assert_eq!(
        (&lines[1]["next_hop"], &lines[1]["lost"]),
        (&"east".into(), &1.into())
    );
    assert_eq!(good(&run(&["diff", "--summary", &old, &old])), "");
    // Addresses are those that the ranges add up to; those of IPv6 are more than numbers of JSON hold here.
    let lines = |args: &[&str]| -> Vec<Value> {
        let (text, _) = different(&[args, &["--effective", "--json", &old, &new]].concat());
        let lines = text
            .lines()
            .filter(|line| !line.contains("2001:") && !line.contains("IPv6"));
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    };
    let ranges = lines(&["diff"]);
    let sums = lines(&["diff", "--summary"]);
    assert!(sums.len() > 1);
    for sum in sums {
        let all = |side: &str, other: &str, is_other: bool| {
            let is_it = |range: &&Value| {
                range[side] == sum["next_hop"] && range[other].is_null() != is_other
            };
            let of = ranges.iter().filter(is_it);
            of.map(|range| range["addresses"].as_u64().expect("a number"))
                .sum::<u64>()
        };
        for (name, count) in [
            ("added", all("new", "old", false)),
            ("removed", all("old", "new", false)),
            ("gained", all("new", "old", true)),
            ("lost", all("old", "new", true)),
        ] {
            assert_eq!(sum[name], count, "{sum} {name}");
        }
    }
}

#[test]
fn each_side_may_be_of_a_peer_of_its_own() {
    let lines = "\
        TABLE_DUMP2|1|B|192.0.2.1|64501|10.0.0.0/8|64501 7|IGP|192.0.2.1|0|0||NAG||\n\
        TABLE_DUMP2|1|B|192.0.2.2|64502|10.0.0.0/8|64502 8|IGP|192.0.2.2|0|0||NAG||\n\
        TABLE_DUMP2|1|B|192.0.2.2|64502|11.0.0.0/8|64502 9|IGP|192.0.2.2|0|0||NAG||\n";
    let dump = file("diff-peers", lines);
    let args = [
        "diff",
        "--value",
        "origin-as",
        "--peer",
        "AS64501",
        &dump,
        &dump,
    ];
    assert_eq!(good(&run(&args)), "");
    let (text, _) = different(&[&args[..], &["--new-peer", "AS64502"]].concat());
    assert_eq!(text, "~ 10.0.0.0/8 7 8\n+ 11.0.0.0/8 9\n");
}

#[test]
fn what_a_route_less_would_change() {
    let table = file("diff-without", OLD);
    let (text, said) = different(&["diff", "--effective", "--without", "10.1.0.0/16", &table]);
    assert_eq!(text, "10.1.0.0-10.1.255.255 west east 65536\n");
    assert!(said.contains("65536 IPv4 addresses"), "{said}");
    // The route around it says the same.
    let same = ["diff", "--effective", "--without", "10.2.0.0/16", &table];
    assert_eq!(good(&run(&same)), "");
    let (text, _) = different(&[
        "diff",
        "--without",
        "10.2.0.0/16",
        "--without",
        "2001:db8::/32",
        &table,
    ]);
    assert_eq!(text, "- 10.2.0.0/16 east\n- 2001:db8::/32 east\n");
    let output = run(&["diff", "--without", "10.3.0.0/16", &table]);
    assert!(
        bad(&output).contains("no route for 10.3.0.0/16"),
        "{}",
        stderr(&output)
    );
    for args in [
        &["diff", &table][..],
        &["diff", "--without", "10.1.0.0/16", &table, &table],
    ] {
        assert_eq!(run(args).status.code(), Some(2), "{args:?}");
    }
}

/// xorshift.
fn random(state: &mut u64, bound: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % bound
}

/// Against a scan over all routes of the old table.
#[test]
fn origins_are_those_of_a_scan() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for round in 0..5 {
        let mut tables = [Vec::new(), Vec::new()];
        for prefix in (8..=12u32).flat_map(|len| {
            (0..1u32 << (len - 8)).map(move |at| (10 << 24 | at << (32 - len), len))
        }) {
            for table in &mut tables {
                if random(&mut state, 3) > 0 {
                    table.push((prefix, random(&mut state, 3)));
                }
            }
        }
        let text = |(bits, len): (u32, u32)| format!("{}/{len}", std::net::Ipv4Addr::from(bits));
        let [old, new] = &tables;
        let mut expected = Vec::new();
        for &(prefix, origin) in new {
            let covers = |&&((bits, len), _): &&((u32, u32), u64)| {
                len <= prefix.1 && (bits ^ prefix.0) >> (32 - len) == 0
            };
            let Some(&(before, was)) = old.iter().filter(covers).max_by_key(|((_, len), _)| *len)
            else {
                continue;
            };
            if before != prefix || was != origin {
                let sign = if before == prefix { '~' } else { '+' };
                expected.push(format!(
                    "{sign} {}\t{}\t{was}\t{origin}",
                    text(prefix),
                    text(before)
                ));
            }
        }
        let mut number = 0;
        let [old, new] = tables.each_ref().map(|table| {
            number += 1;
            let lines = table
                .iter()
                .map(|(prefix, origin)| format!("{} {origin}\n", text(*prefix)));
            file(
                &format!("diff-origins-{round}-{number}"),
                lines.collect::<String>(),
            )
        });
        let (seen, _) = different(&["diff", "--origins", &old, &new]);
        let mut seen: Vec<_> = seen.lines().collect();
        seen.sort_unstable();
        expected.sort_unstable();
        assert_eq!(seen, expected, "{round}");
    }
}
