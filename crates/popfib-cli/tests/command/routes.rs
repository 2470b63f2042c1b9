//! `popfib routes`: each condition, and conditions together.

use crate::common::{bad, file, good, keys, run, run_with, stderr, stdout};
use serde_json::Value;

const ROUTES: &str = "\
0.0.0.0/0 up
10.0.0.0/8 east
10.1.0.0/16 west
10.1.2.0/24 east
10.1.2.3/32 64500
10.2.0.0/16 west
2001:db8::/32 east
2001:db8:1::/48 west
";

/// The routes that `args` leave of [`ROUTES`], as the first words of their lines.
#[track_caller]
fn left(name: &str, args: &[&str]) -> Vec<String> {
    let table = file(&format!("routes-{name}"), ROUTES);
    let output = run(&[&["routes", "--table", &table], args].concat());
    let text = stdout(&output);
    let status = if text.is_empty() { 1 } else { 0 };
    assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
    for line in text.lines() {
        assert!(ROUTES.lines().any(|route| route == line), "{line}");
    }
    text.lines()
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect()
}

#[test]
fn without_conditions_every_route() {
    let table = file("routes-all", ROUTES);
    assert_eq!(good(&run(&["routes", "--table", &table])), ROUTES);
}

#[test]
fn where_a_prefix_is() {
    let of = |args: &[&str]| left("place", args);
    assert_eq!(
        of(&["--covering", "10.1.2.0/24"]),
        ["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24"]
    );
    assert_eq!(
        of(&["--covering", "10.1.2.3"]),
        [
            "0.0.0.0/0",
            "10.0.0.0/8",
            "10.1.0.0/16",
            "10.1.2.0/24",
            "10.1.2.3/32"
        ]
    );
    assert_eq!(
        of(&["--covered-by", "10.1.0.0/16"]),
        ["10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32"]
    );
    assert_eq!(
        of(&["--covered-by", "10.1.2.0/23"]),
        ["10.1.2.0/24", "10.1.2.3/32"]
    );
    assert_eq!(
        of(&["--covered-by", "::/0"]),
        ["2001:db8::/32", "2001:db8:1::/48"]
    );
    assert_eq!(
        of(&["--overlapping", "10.1.2.0/24"]),
        [
            "0.0.0.0/0",
            "10.0.0.0/8",
            "10.1.0.0/16",
            "10.1.2.0/24",
            "10.1.2.3/32"
        ]
    );
    assert_eq!(
        of(&["--overlapping", "2001:db8:1:2::/64"]),
        ["2001:db8::/32", "2001:db8:1::/48"]
    );
    assert_eq!(of(&["--exact", "10.1.0.0/16"]), ["10.1.0.0/16"]);
    assert_eq!(of(&["--exact", "10.1.2.3"]), ["10.1.2.3/32"]);
    assert_eq!(of(&["--exact", "10.1.0.0/17"]), [""; 0]);
    assert_eq!(of(&["--covering", "2001:db9::"]), [""; 0]);
}

#[test]
fn what_a_route_is() {
    let of = |args: &[&str]| left("kind", args);
    assert_eq!(
        of(&["--where", "value=west"]),
        ["10.1.0.0/16", "10.2.0.0/16", "2001:db8:1::/48"]
    );
    assert_eq!(of(&["--where", "value=wes"]), [""; 0]);
    assert_eq!(
        of(&["--longer-than", "24"]),
        ["10.1.2.3/32", "2001:db8::/32", "2001:db8:1::/48"]
    );
    assert_eq!(of(&["--shorter-than", "16"]), ["0.0.0.0/0", "10.0.0.0/8"]);
    assert_eq!(of(&["--shorter-than", "0"]), [""; 0]);
    assert_eq!(of(&["--longer-than", "255"]), [""; 0]);
    assert_eq!(
        of(&["--family", "ipv6"]),
        ["2001:db8::/32", "2001:db8:1::/48"]
    );
}

#[test]
fn conditions_combine() {
    let of = |args: &[&str]| left("combined", args);
    assert_eq!(
        of(&[
            "--covering",
            "10.1.2.3",
            "--covered-by",
            "10.0.0.0/8",
            "--where",
            "value=east"
        ]),
        ["10.0.0.0/8", "10.1.2.0/24"]
    );
    assert_eq!(
        of(&[
            "--covered-by",
            "10.0.0.0/8",
            "--longer-than",
            "8",
            "--shorter-than",
            "24"
        ]),
        ["10.1.0.0/16", "10.2.0.0/16"]
    );
    assert_eq!(
        of(&["--overlapping", "10.2.0.0/16", "--covering", "10.2.0.0/24"]),
        ["0.0.0.0/0", "10.0.0.0/8", "10.2.0.0/16"]
    );
    assert_eq!(of(&["--covering", "10.0.0.1", "--family", "ipv6"]), [""; 0]);
    assert_eq!(
        of(&["--covering", "10.0.0.1", "--covered-by", "::/0"]),
        [""; 0]
    );
    assert_eq!(
        of(&["--exact", "10.0.0.0/8", "--where", "value=west"]),
        [""; 0]
    );
}

#[test]
fn json_lines() {
    let table = file("routes-json", ROUTES);
    let output = run(&[
        "routes",
        "--table",
        &table,
        "--json",
        "--shorter-than",
        "16",
    ]);
    let lines: Vec<Value> = good(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(keys(&lines[1]), ["next_hop", "prefix"]);
    assert_eq!(lines[1]["prefix"], "10.0.0.0/8");
    assert_eq!(lines[1]["next_hop"], "east");
}

#[test]
fn bad_prefixes_are_named() {
    let table = file("routes-bad", ROUTES);
    let with = |args: &[&str]| run(&[&["routes", "--table", &table], args].concat());
    for (option, text, why) in [
        ("--covering", "10.0.0.0/33", "32"),
        ("--covered-by", "nonsense", "address"),
        ("--overlapping", "10.0.0.1/8", "host bits"),
        ("--exact", "10.0.0.0/-8", "length"),
        ("--exact", "\u{1b}[31m", "address"),
    ] {
        let output = with(&[option, text]);
        let said = bad(&output);
        assert!(said.starts_with(&format!("{option}: '")), "{said}");
        assert!(said.contains(why) && !said.contains('\u{1b}'), "{said}");
    }
    let output = with(&["--exact", "10.9.9.9/8", "--mask"]);
    assert_eq!(good(&output), "10.0.0.0/8 east\n");
    for args in [
        ["--longer-than", "256"],
        ["--shorter-than", "-1"],
        ["--family", "ipx"],
    ] {
        assert_eq!(with(&args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn the_built_in_table_is_asked_by_default() {
    let output = run(&["routes", "--covering", "8.8.8.8", "--longer-than", "8"]);
    assert_eq!(
        good(&output),
        "8.0.0.0/9 3356\n8.0.0.0/12 3356\n8.8.8.0/24 15169\n"
    );
}

#[test]
fn an_option_given_several_times_takes_any_of_its_prefixes() {
    let of = |args: &[&str]| left("several", args);
    let places = [
        "0.0.0.0/0",
        "10.1.2.3",
        "10.1.2.0/23",
        "10.2.0.0/16",
        "2001:db8:1::/48",
        "9.0.0.0/8",
    ];
    for option in ["--exact", "--covering", "--covered-by", "--overlapping"] {
        let alone = places.map(|place| of(&[option, place]));
        for first in 0..places.len() {
            for second in 0..places.len() {
                let both = of(&[option, places[first], option, places[second]]);
                let expected: Vec<_> = ROUTES
                    .lines()
                    .filter_map(|line| line.split(' ').next())
                    .filter(|prefix| {
                        [first, second]
                            .iter()
                            .any(|at| alone[*at].iter().any(|p| p == prefix))
                    })
                    .collect();
                assert_eq!(
                    both, expected,
                    "{option} {} {}",
                    places[first], places[second]
                );
            }
        }
    }
    assert_eq!(
        of(&["--where", "value=up,64500,nobody"]),
        ["0.0.0.0/0", "10.1.2.3/32"]
    );
    assert_eq!(
        of(&[
            "--covering",
            "10.1.2.3",
            "--covering",
            "::1",
            "--covered-by",
            "10.1.0.0/16",
            "--covered-by",
            "::/0"
        ]),
        ["10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32"]
    );
}

#[test]
fn prefixes_come_from_a_file() {
    let list = file(
        "routes-asked.txt",
        "# asked\n2001:db8:1:2::/64\n10.1.2.0/24\n10.1.2.3\n",
    );
    let asked = format!("@{list}");
    assert_eq!(
        left("asked", &["--covering", &asked, "--longer-than", "8"]),
        [
            "10.1.0.0/16",
            "10.1.2.0/24",
            "10.1.2.3/32",
            "2001:db8::/32",
            "2001:db8:1::/48"
        ]
    );
    let table = file("routes-asked-table", ROUTES);
    let args = [
        "routes",
        "--table",
        &table,
        "--exact",
        "@-",
        "--exact",
        "10.2.0.0/16",
    ];
    let output = run_with(&args, b"10.1.0.0/16\n10.9.0.0/16\n");
    assert_eq!(good(&output), "10.1.0.0/16 west\n10.2.0.0/16 west\n");

    let wrong = file("routes-asked-bad.txt", "10.0.0.0/8\n10.0.0.1/8\n");
    let output = run(&["routes", "--table", &table, "--exact", &format!("@{wrong}")]);
    assert!(
        bad(&output).contains("routes-asked-bad.txt:2: "),
        "{}",
        stderr(&output)
    );
    let output = run(&["routes", "--table", &table, "--exact", "@/nowhere"]);
    assert!(bad(&output).contains("/nowhere"));
    let output = run_with(
        &["routes", "--table", "-", "--exact", "@-"],
        ROUTES.as_bytes(),
    );
    assert!(bad(&output).contains("standard input"));
}

#[test]
fn each_prefix_is_answered_for_itself() {
    let table = file("routes-each", ROUTES);
    let each = |args: &[&str]| run(&[&["routes", "--table", &table, "--each"], args].concat());
    let output = each(&[
        "--covering",
        "10.2.0.1",
        "--covering",
        "::1",
        "--covering",
        "10.1.0.0/16",
        "--longer-than",
        "0",
    ]);
    assert_eq!(
        good(&output),
        "10.2.0.1/32 10.0.0.0/8 east\n10.2.0.1/32 10.2.0.0/16 west\n::1/128 - -\n\
         10.1.0.0/16 10.0.0.0/8 east\n10.1.0.0/16 10.1.0.0/16 west\n"
    );
    let output = each(&["--exact", "10.2.0.1", "--exact", "10.2.0.0/16", "--json"]);
    let lines: Vec<Value> = good(&output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(keys(&lines[0]), ["next_hop", "prefix", "query"]);
    assert_eq!(
        lines[0],
        serde_json::json!({"query": "10.2.0.1/32", "prefix": null, "next_hop": null})
    );
    assert_eq!(lines[1]["next_hop"], "west");
    // Nothing found is a negative answer, though a line says it.
    let output = each(&["--exact", "10.2.0.1"]);
    assert_eq!(
        (output.status.code(), stdout(&output)),
        (Some(1), "10.2.0.1/32 - -\n")
    );
    for args in [&[][..], &["--exact", "::1", "--covering", "::1"]] {
        assert!(bad(&each(args)).contains("--each"), "{args:?}");
    }
}
