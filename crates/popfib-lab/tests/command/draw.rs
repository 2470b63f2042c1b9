//! `popfib-lab draw`: what `popfib draw` draws, as PNG too.

use crate::common::{TABLE, bad, file, good, run};
use std::fs;
use std::path::Path;

/// A picture that is not there yet.
fn picture(name: &str) -> String {
    let path = file(name, "");
    fs::remove_file(&path).unwrap();
    path
}

/// Width and height of a PNG, from its header.
fn size_of(path: &str) -> (u32, u32) {
    let bytes = fs::read(path).unwrap();
    assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn each_picture_of_each_family_in_each_form() {
    let table = file("draw-table", TABLE);
    for kind in ["radial", "heatmap", "hilbert"] {
        for family in ["ipv4", "ipv6"] {
            let svg = picture(&format!("draw-{kind}-{family}.svg"));
            let args = [
                "draw", kind, "--table", &table, "--family", family, "--size", "64", "-o",
            ];
            assert_eq!(good(&run(&[&args[..], &[&svg]].concat())), "");
            let text = fs::read_to_string(&svg).unwrap();
            assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
            assert!(text.contains("prefers-color-scheme:dark"));
            let routes = if family == "ipv4" { "3 IPv4" } else { "2 IPv6" };
            assert!(text.contains(&format!("draw-table, {routes} routes")));

            let png = picture(&format!("draw-{kind}-{family}.png"));
            let mut pictures = Vec::new();
            for theme in ["light", "dark"] {
                let args = [&args[..], &[&png, "--theme", theme]].concat();
                assert_eq!(good(&run(&args)), "");
                pictures.push(fs::read(&png).unwrap());
            }
            assert_ne!(pictures[0], pictures[1]);
        }
    }
}

#[test]
fn size_is_that_of_the_map() {
    let table = file("draw-size", TABLE);
    let png = picture("draw-size.png");
    let mut sizes = Vec::new();
    for size in ["180", "360"] {
        good(&run(&[
            "draw", "hilbert", "--table", &table, "--size", size, "-o", &png,
        ]));
        sizes.push(size_of(&png));
    }
    // 940 by 824 units, of which the map has 720.
    assert_eq!(sizes, [(235, 206), (470, 412)]);
}

#[test]
fn a_form_that_is_none_is_told() {
    let table = file("draw-bad", "10.0.0.0/8 a\n");
    let output = run(&["draw", "heatmap", "--table", &table, "-o", "picture.jpg"]);
    assert_eq!(
        bad(&output),
        "picture.jpg: the name of a picture ends in .svg or .png"
    );
    assert!(!Path::new("picture.jpg").exists());
}

#[test]
#[ignore = "full tables"]
fn heavy_full_tables_stay_small() {
    for kind in ["radial", "heatmap", "hilbert"] {
        for family in ["ipv4", "ipv6"] {
            let path = picture(&format!("draw-heavy-{kind}-{family}.png"));
            let began = std::time::Instant::now();
            good(&run(&["draw", kind, "--family", family, "-o", &path]));
            let bytes = fs::metadata(&path).unwrap().len();
            assert!(
                (10_000..8_000_000).contains(&bytes),
                "{kind} {family}: {bytes}"
            );
            // Thrice what is promised: the machine has others to serve.
            assert!(began.elapsed().as_secs() < 60);
        }
    }
}
