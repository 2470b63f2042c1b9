//! `popfib draw`: pictures as files, whole or not at all.

use crate::common::{TABLE, bad, file, good, path, run, run_with};
use std::fs;
use std::path::Path;

#[test]
fn each_picture_of_each_family() {
    let table = file("draw-table", TABLE);
    for kind in ["radial", "heatmap", "hilbert"] {
        for family in ["ipv4", "ipv6"] {
            let svg = path(&format!("draw-{kind}-{family}.svg"));
            let args = [
                "draw", kind, "--table", &table, "--family", family, "-o", &svg,
            ];
            // A heat map has the size of its cells.
            let size = if kind == "heatmap" {
                &[][..]
            } else {
                &["--size", "64"]
            };
            assert_eq!(good(&run(&[&args[..], size].concat())), "");
            let text = fs::read_to_string(&svg).unwrap();
            assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
            assert!(text.contains("prefers-color-scheme:dark"));
            let routes = if family == "ipv4" { "3 IPv4" } else { "2 IPv6" };
            assert!(text.contains(&format!("draw-table, {routes} routes")));
        }
    }
}

#[test]
fn parts_and_small_tables() {
    let svg = path("draw-part.svg");
    let draw = |table: &str, args: &[&str]| {
        let args = [&["draw"], args, &["--table", "-", "-o", &svg]].concat();
        assert_eq!(good(&run_with(&args, table.as_bytes())), "");
        fs::read_to_string(&svg).unwrap()
    };
    let text = draw(TABLE, &["hilbert", "--prefix", "10.0.0.0/8"]);
    assert!(text.contains("10.0.0.0/8, a pixel is a /28") && text.contains(">10.16.0.0/12<"));
    assert!(text.contains(">east<") && text.contains(">next hop 64500<"));
    let text = draw(TABLE, &["hilbert", "--by", "length", "--family", "ipv6"]);
    // Where nothing is, IPv6 has no room: a picture of two routes is one of these.
    assert!(text.contains(">/32<") && text.contains(" blocks of 2000::/3 with a route, a /"));
    let unused = text
        .split("no route")
        .nth(1)
        .map(|rest| rest.contains("100.00 %"));
    assert_ne!(unused, Some(true));
    // Its prefix says which family.
    let text = draw(TABLE, &["radial", "--prefix", "2001:db8::/32"]);
    assert!(text.contains(">33 vertices, one bit each<"));
    for route in ["0.0.0.0/0 a", "1.2.3.4/32 a", "::/0 a", "2001:db8::1/128 a"] {
        for kind in ["radial", "heatmap", "hilbert"] {
            let text = draw(route, &[kind]);
            let family = if route.contains(':') { "IPv6" } else { "IPv4" };
            assert!(text.contains(&format!("standard input, 1 {family} route")));
        }
    }
}

#[test]
fn legends_have_names() {
    let svg = path("draw-legend.svg");
    let hilbert = |args: &[&str], table: &str| {
        let args = [&["draw", "hilbert", "-o", &svg, "--size", "64"], args].concat();
        assert_eq!(good(&run_with(&args, table.as_bytes())), "");
        fs::read_to_string(&svg).unwrap()
    };
    // The AS of the built-in table, and those that it does not know.
    let text = hilbert(&["--table", "built-in", "--prefix", "8.8.8.0/24"], "");
    assert!(text.contains(">Google LLC<") && text.contains(">AS15169, 100.00 %<"));
    let text = hilbert(&["-t", "built-in"], "");
    assert!(text.contains(">without a value<") && text.contains(">no route<"));
    // A number alone has the name of its column.
    let text = hilbert(&["--table", "-"], "10.0.0.0/8 17\n12.0.0.0/8 0\n");
    for name in ["next hop 17", "next hop 0", "no route"] {
        assert!(text.contains(&format!(">{name}<")), "{name}");
    }
    let csv = "prefix,asn,country\n10.0.0.0/8,64496,NL\n11.0.0.0/8,0,\n";
    let text = hilbert(&["--table", "-", "--columns", "asn"], csv);
    assert!(text.contains(">AS64496<") && text.contains(">without a value<"));
    let text = hilbert(&["--table", "-", "--columns", "asn,country"], csv);
    assert!(text.contains(">NL<") && text.contains(">AS64496, 0.39 %<"));
}

#[test]
fn a_scheme_has_no_other() {
    let svg = path("draw-scheme.svg");
    let table = file("draw-scheme", TABLE);
    for (theme, ground) in [
        ("light", ".pf-ground{fill:#ffffff}"),
        ("dark", ".pf-ground{fill:#12161b}"),
    ] {
        good(&run(&[
            "draw", "heatmap", "--table", &table, "--theme", theme, "-o", &svg,
        ]));
        let text = fs::read_to_string(&svg).unwrap();
        assert!(text.contains(ground) && !text.contains("prefers-color-scheme"));
        assert_eq!(text.matches(".pf-ground").count(), 1);
    }
}

#[test]
fn a_lookup_step_by_step() {
    let svg = path("draw-lookup.svg");
    let draw = |table: &str, address: &str| {
        let args = ["draw", "lookup", address, "--table", "-", "-o", &svg];
        assert_eq!(good(&run_with(&args, table.as_bytes())), "");
        fs::read_to_string(&svg).unwrap()
    };
    let table = "10.0.0.0/8 north\n10.1.0.0/16 east\n2001:db8::/32 south\n";
    // Six bits a block, since so few routes have no root table to speak of.
    let text = draw(table, "10.1.2.3");
    assert!(text.contains(">Lookup of 10.1.2.3<") && text.contains(">1. Root table: 1 entry<"));
    assert!(text.contains(">4. Block: 64 slots in 3 runs; the values are next hops<"));
    assert!(text.contains(">bits 12 to 17 of the address: 000100, slot 4<"));
    assert!(text.contains(">10.1.0.0/16: east<"));
    assert!(draw(table, "2001:db8::1").contains(">2001:db8::/32: south<"));
    assert!(draw(table, "192.0.2.1").contains(">no route matches<"));
}

#[test]
fn bad_usage_and_places_that_take_nothing() {
    let table = file("draw-bad", "10.0.0.0/8 a\n");
    let draw = |args: &[&str]| run(&[&["draw", "heatmap", "--table", &table], args].concat());
    for name in ["picture", "picture.png", "-"] {
        let output = draw(&["-o", name]);
        assert!(bad(&output).ends_with(": the name of a picture ends in .svg"));
        assert!(!Path::new(name).exists());
    }
    let output = draw(&["-o", "/nowhere/at/all.svg"]);
    assert!(bad(&output).starts_with("/nowhere/at/all.svg: "));
    let svg = path("draw-bad.svg");
    let output = draw(&["--family", "ipv6", "-o", &svg]);
    assert_eq!(
        bad(&output),
        "draw-bad: there is no IPv6 route in it; --family ipv4 draws the others"
    );
    let broken = file("draw-broken", "10.0.0.0/8 a\n10.0.0.1/8 a\n");
    let output = run(&["draw", "radial", "--table", &broken, "-o", &svg]);
    assert!(bad(&output).starts_with(&format!("{broken}:2: ")));
    assert!(!Path::new(&svg).exists(), "nothing is left behind");
    for size in ["63", "4097", "x"] {
        let output = run(&["draw", "hilbert", "--size", size, "-o", &svg]);
        assert_eq!(output.status.code(), Some(2), "{size}");
    }
    // An old picture stays until the new one is complete.
    let old = file("draw-old.svg", "old");
    let output = draw(&["--family", "ipv6", "-o", &old]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read(&old).unwrap(), b"old");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let table = file("draw-full", TABLE);
    let link = path("draw-full.svg");
    std::os::unix::fs::symlink("/dev/full", &link).unwrap();
    let output = run(&["draw", "heatmap", "--table", &table, "-o", &link]);
    assert!(bad(&output).starts_with(&format!("{link}: ")));
}

#[test]
#[ignore = "full tables"]
fn heavy_full_tables_stay_small() {
    for kind in ["radial", "heatmap", "hilbert"] {
        for family in ["ipv4", "ipv6"] {
            let svg = path(&format!("draw-heavy-{kind}-{family}.svg"));
            let began = std::time::Instant::now();
            good(&run(&["draw", kind, "--family", family, "-o", &svg]));
            let bytes = fs::metadata(&svg).unwrap().len();
            assert!(
                (10_000..8_000_000).contains(&bytes),
                "{kind} {family}: {bytes}"
            );
            // Thrice what is promised: the machine has others to serve.
            assert!(began.elapsed().as_secs() < 60);
        }
    }
}
