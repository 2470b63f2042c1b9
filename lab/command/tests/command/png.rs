//! `popfib-lab png`: pictures in both themes, and what is none.

use crate::common::{bad, file, good, path, run};
use popfib_draw::{DepthMap, heat_map};
use std::fs;

/// A picture with both themes.
fn picture() -> String {
    let cells = vec![(Some(8), 8, 1 << 24)];
    file(
        "picture.svg",
        heat_map("title", "note", &DepthMap { cells }, 32),
    )
}

/// Width and height of a PNG, from its header.
fn size_of(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn size_and_theme_are_those_that_were_asked_for() {
    let (svg, png) = (picture(), path("picture.png"));
    let drawn = |more: &[&str]| {
        assert_eq!(good(&run(&[&["png", &svg, "-o", &png], more].concat())), "");
        fs::read(&png).unwrap()
    };
    let light = drawn(&[]);
    let (width, height) = size_of(&light);
    let half = size_of(&drawn(&["--scale", "0.5"]));
    assert_eq!((4 * half.0, 4 * half.1), (width, height));
    let dark = drawn(&["--theme", "dark"]);
    assert_eq!(size_of(&dark), (width, height));
    assert_ne!(light, dark);
}

#[test]
fn what_is_no_picture_is_one_line() {
    let (text, png) = (file("picture.txt", "10.0.0.0/8\n"), path("none.png"));
    let line = bad(&run(&["png", &text, "-o", &png])).to_owned();
    assert!(line.starts_with(&format!("{text}: ")), "{line}");
    let huge = run(&["png", &picture(), "-o", &png, "--scale", "1000"]);
    assert!(bad(&huge).contains("pixels a side"));
    let nowhere = run(&["png", "/nowhere.svg", "-o", &png]);
    assert!(bad(&nowhere).starts_with("/nowhere.svg: "));
    assert!(!std::path::Path::new(&png).exists());
    let nowhere = run(&["png", &picture(), "-o", "/nowhere/at/all.png"]);
    assert!(bad(&nowhere).starts_with("/nowhere/at/all.png: "));
}
