//! `popfib routes`: each condition, and conditions together.

use crate::common::{bad, file, good, keys, run};
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
    let text = good(&output);
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
        of(&["--next-hop", "west"]),
        ["10.1.0.0/16", "10.2.0.0/16", "2001:db8:1::/48"]
    );
    assert_eq!(of(&["--next-hop", "wes"]), [""; 0]);
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
            "--next-hop",
            "east"
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
        of(&["--exact", "10.0.0.0/8", "--next-hop", "west"]),
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
