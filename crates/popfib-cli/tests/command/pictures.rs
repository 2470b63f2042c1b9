//! Pictures and counts say what `lookup` says, of tables with absent values, joined ones, one family and default routes.

use std::collections::BTreeMap;
use std::fs;

use crate::common::{file, path, run, run_with, stdout};

/// No route is longer than /12: what each of 4096 addresses has is a share of the space.
const ROUTES: &str = "\
network,name,asn
10.0.0.0/8,Ten,64500
10.16.0.0/12,,64501
11.0.0.0/8,\"a\tb\",64502
12.0.0.0/8,,
13.0.0.0/8,,0
64.0.0.0/3,Ten,64500
2001:db8::/32,Doc,64503
2001:db8:1::/48,,
";

/// All tables as files, one of them an image.
fn tables() -> Vec<String> {
    let image = path("pictures.fib");
    let joined = path("joined.fib");
    let routes = file("routes.csv", ROUTES);
    let columns = ["--columns", "name,asn", "-o", &image];
    run(&[&["compile", &routes], &columns[..]].concat());
    let countries = "10.0.0.0/8 NL\n11.0.0.0/8 DE\n14.0.0.0/8 FR\n";
    let countries = format!("c={}", file("countries.txt", countries));
    let of_routes = format!("r={image}");
    run(&["join", &of_routes, &countries, "-o", &joined]);
    let ipv4: String = ROUTES.split_inclusive('\n').take(7).collect();
    let others = [
        file("one.csv", &ipv4),
        file("default.csv", format!("{ROUTES}0.0.0.0/0,All,1\n::/0,,\n")),
        file("blank.csv", format!("{ROUTES}0.0.0.0/0,,\n")),
        file("list.txt", "10.0.0.0/8\n2001:db8::/32\n"),
    ];
    [routes, image, joined].into_iter().chain(others).collect()
}

/// What a picture says for the values of a record: names, then AS numbers.
fn said(values: &[&str]) -> Vec<String> {
    let said = values.iter().filter(|value| **value != "-");
    let said = said.map(|value| match value.parse::<u32>() {
        Ok(0) => "no AS".to_owned(),
        Ok(number) => format!("AS{number}"),
        Err(_) if value.is_empty() => "listed".to_owned(),
        Err(_) => value.replace("\\t", "\u{fffd}"),
    });
    said.collect()
}

/// The texts of a picture.
fn texts(svg: &str) -> Vec<String> {
    let texts = svg.split("<text ").skip(1);
    let text = |text: &str| text.split(['>', '<']).nth(1).unwrap().to_owned();
    texts.map(text).collect()
}

#[test]
fn shares_and_answers_are_those_of_lookup() {
    let svg = path("out.svg");
    let addresses: Vec<String> = (0..4096u32)
        .map(|at| std::net::Ipv4Addr::from(at << 20).to_string())
        .chain(["2001:db8::1", "2001:db8:1::1", "2001:db9::"].map(str::to_owned))
        .collect();
    let input = addresses.join("\n");
    for table in tables() {
        let of = ["-t", &table, "--columns", "*"];
        let answers = run_with(&[&["lookup"], &of[..]].concat(), input.as_bytes());
        let answers: Vec<Vec<&str>> = stdout(&answers)
            .lines()
            .map(|line| line.split('\t').skip(1).collect())
            .collect();
        let mut shares: BTreeMap<String, f64> = BTreeMap::new();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (at, answer) in answers.iter().enumerate() {
            let said = said(&answer[1..]);
            let is_none = answer[0] == "-";
            let mut names = said.iter().filter(|said| *said != "no AS");
            let holder = match names.next() {
                _ if is_none => "no route",
                Some(name) => name,
                None => "without a value",
            };
            if at < 4096 {
                *shares.entry(holder.to_owned()).or_default() += 100.0 / 4096.0;
            }
            let mut values = answer[1..].join("\t");
            if !is_none && said.is_empty() {
                values.replace_range(..1, "(no value)");
            }
            *counts.entry(values).or_default() += 1;
        }

        let draw = |args: &[&str]| {
            let args = [&["draw"], args, &of, &["-o", &svg]].concat();
            assert_eq!(stdout(&run(&args)), "");
            texts(&fs::read_to_string(&svg).unwrap())
        };
        let legend = draw(&["hilbert", "--size", "256"]);
        let mut found: BTreeMap<String, f64> = BTreeMap::new();
        for pair in legend.windows(2) {
            if let Some(share) = pair[1].strip_suffix(" %") {
                let share = share.rsplit(", ").next().unwrap();
                *found.entry(pair[0].clone()).or_default() += share.parse::<f64>().unwrap();
            }
        }
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            shares.keys().collect::<Vec<_>>(),
            "{table}"
        );
        for (name, share) in &shares {
            assert!((share - found[name]).abs() < 0.03, "{table}: {name}");
        }

        let asked = [
            "10.16.0.0",
            "11.0.0.0",
            "12.0.0.0",
            "13.0.0.0",
            "200.0.0.0",
            "2001:db8:1::1",
        ];
        for address in asked {
            let at = addresses.iter().position(|other| other == address);
            let answer = &answers[at.unwrap()];
            // A picture of a family without routes is refused.
            if address.contains(':') && answer[0] == "-" {
                continue;
            }
            let expected = match &said(&answer[1..])[..] {
                _ if answer[0] == "-" => "no route matches".to_owned(),
                [] => format!("{}: without a value", answer[0]),
                said => format!("{}: {}", answer[0], said.join(", ")),
            };
            let last = draw(&["lookup", address]).pop();
            assert_eq!(last, Some(expected), "{table} {address}");
        }

        let by = ["count", "-t", &table, "--by", "*"];
        let counted = run_with(&by, input.as_bytes());
        let counted: BTreeMap<String, usize> = stdout(&counted)
            .lines()
            .map(|line| line.split_once('\t').unwrap())
            .map(|(count, values)| (values.to_owned(), count.parse().unwrap()))
            .collect();
        assert_eq!(counted, counts, "{table}");
        let bars = run_with(&[&by[..], &["--svg"]].concat(), input.as_bytes());
        let bars = texts(stdout(&bars));
        for (values, count) in &counts {
            let said = said(&values.split('\t').collect::<Vec<_>>());
            let name = match said.len() {
                0 => "no match".to_owned(),
                _ => said.join(", "),
            };
            let label = format!("{} ({:.1} %)", grouped(*count), *count as f64 / 40.99);
            let at = bars.windows(2).find(|pair| pair[0] == name);
            assert_eq!(at.map(|pair| &pair[1]), Some(&label), "{table} {name}");
        }
    }
}

/// A count below a million as pictures write it.
fn grouped(count: usize) -> String {
    match count {
        1000.. => format!("{},{:03}", count / 1000, count % 1000),
        _ => count.to_string(),
    }
}

#[test]
fn programs_see_no_value_as_no_match() {
    let table = file("routes.csv", ROUTES.replace('\t', " "));
    let input = b"12.0.0.1\n13.0.0.1\n200.0.0.1\nno address\n";
    let count = |args: &[&str]| {
        let by = ["count", "-t", &table, "--by", "name"];
        stdout(&run_with(&[&by, args].concat(), input)).to_owned()
    };
    assert_eq!(count(&[]), "2\t-\n2\t(no value)\n");
    assert_eq!(count(&["--json"]), "{\"count\":4,\"name\":null}\n");
    assert_eq!(count(&["--csv"]), "count,name\n4,\n");
    assert!(count(&["--svg"]).contains(">no match or no address<"));
}
