//! `popfib compile`, and images as tables.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{
    TABLE, bad, directory, file, good, path, popfib, run, run_with, stderr, stdout,
};
use serde_json::Value;

/// An image of `TABLE`, named `name`.
fn image(name: &str, options: &[&str]) -> String {
    let table = file(&format!("{name}.txt"), TABLE);
    let image = path(name);
    let output = popfib(&["compile", "--table", &table, "-o", &image])
        .args(options)
        .env("SOURCE_DATE_EPOCH", "1779000000")
        .output()
        .unwrap();
    assert_eq!((stdout(&output), stderr(&output)), ("", ""));
    assert!(output.status.success());
    image
}

fn json(args: &[&str]) -> Value {
    let output = run(args);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(stdout(&output)).expect("JSON")
}

const ADDRESSES: [&str; 5] = [
    "10.1.2.3",
    "10.1.9.9",
    "10.200.0.1",
    "9.9.9.9",
    "2001:db8:0:1::5",
];

/// The image of records that readers in other languages are tested with is the one that is written now.
#[test]
fn the_image_of_records_is_as_it_was() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engines/vectors");
    let made = path("records.fib");
    let output = popfib(&[
        "compile",
        "--table",
        "records=records.jsonl",
        "--columns",
        "*",
        "--table",
        "country=records.jsonl",
        "--columns",
        "country",
        "--description",
        "records of every type",
        "--licence",
        "MIT OR Apache-2.0",
        "-o",
        &made,
    ])
    .current_dir(&vectors)
    .env("SOURCE_DATE_EPOCH", "1779000000")
    .output()
    .unwrap();
    let absent = "popfib: records.jsonl: 3 routes without country\n";
    assert_eq!((stdout(&output), stderr(&output)), ("", absent));
    let kept = vectors.join("records.fib");
    if std::env::var_os("POPFIB_UPDATE_GOLDEN").is_some() {
        fs::copy(&made, &kept).unwrap();
    }
    let is_same = fs::read(&made).unwrap() == fs::read(&kept).unwrap();
    assert!(is_same, "make it again with POPFIB_UPDATE_GOLDEN=1");
    // And it answers as its source does.
    let addresses = [
        "10.1.2.3",
        "10.1.9.9",
        "10.9.9.9",
        "9.9.9.9",
        "2001:db8::1",
        "::1",
    ];
    let lookup = |table: &[&str]| {
        let output = run(&[&["lookup", "--json"], table, &addresses].concat());
        stdout(&output).to_owned()
    };
    let source = vectors.join("records.jsonl").display().to_string();
    let answers = lookup(&["--table", &made, "--vrf", "records"]);
    assert_eq!(answers, lookup(&["--table", &source, "--columns", "*"]));
    let by_content = lookup(&["--table", &made, "--vrf", "records"]);
    assert_eq!(answers, by_content);
    assert_eq!(answers.lines().count(), addresses.len());
    // All columns of all prefixes, by another reader of JSON.
    let args = ["convert", "--table", &made, "--vrf", "records"];
    let output = run(&[&args[..], &["--columns", "*", "--to", "json-lines"]].concat());
    let read = |text: &str| -> Vec<Value> {
        let lines = text.lines().map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let object = line.as_object_mut().unwrap();
            if let Some(names) = object.remove("names") {
                object.insert("names.city".to_owned(), names["city"].clone());
            }
            line
        });
        lines.collect()
    };
    let written = fs::read_to_string(&source).unwrap();
    assert_eq!(read(good(&output)), read(&written));
    let countries = lookup(&["--table", &made, "--vrf", "country"]);
    let wanted = lookup(&["--table", &source, "--columns", "country"]);
    assert_eq!(countries, wanted);
}

/// Which of several tables is meant has to be said, of whatever command.
#[test]
fn one_of_several_tables_is_chosen_by_its_name() {
    let table = file("several.txt", TABLE);
    let (a, b) = (format!("a={table}"), "b=-");
    let image = path("several.fib");
    let args = ["compile", "--table", &a, "--table", b, "-o", &image];
    let output = run_with(&args, b"10.0.0.0/8 other\n");
    assert!(output.status.success(), "{}", stderr(&output));
    let lookup = |args: &[&str]| run(&[&["lookup", "10.1.2.3"], args].concat());
    let answer = "10.1.2.3\t10.0.0.0/8\tother\n";
    assert_eq!(stdout(&lookup(&["--table", &image, "--vrf", "b"])), answer);
    assert_eq!(stdout(&lookup(&["--table", &image, "--vrf", "b"])), answer);
    let both = ["--table", "x", "--vrf", "a", "--table", "y", "--vrf", "b"];
    let both = both.map(|arg| match arg {
        "x" | "y" => format!("{arg}={image}"),
        arg => arg.to_owned(),
    });
    let both = both.each_ref().map(String::as_str);
    let line = file("several.log", "10.1.2.3\n");
    let output = run(&[&["annotate", &line][..], &both].concat());
    let wanted = "10.1.2.3\t10.1.2.3/32\t64500\t10.0.0.0/8\tother\n";
    assert_eq!(stdout(&output), wanted, "{}", stderr(&output));
    for command in ["lookup", "info", "convert", "verify"] {
        for kind in ["--table", "-t"] {
            let output = run(&[command, kind, &image]);
            let wanted = format!(
                "popfib: {image}: an image of 2 tables, of which one is used: \"a\", \"b\"; --vrf NAME chooses\n"
            );
            assert_eq!(stderr(&output), wanted, "{command} {kind}");
            assert_eq!(output.status.code(), Some(2));
            let output = run(&[command, kind, &image, "--vrf", "c"]);
            let wanted =
                format!("popfib: {image}: no table \"c\": \"a\", \"b\"; --vrf NAME chooses\n");
            assert_eq!(stderr(&output), wanted, "{command} {kind}");
        }
    }
    let twice = ["compile", "--table", &a, "--table", &a, "-o", &image];
    assert!(bad(&run(&twice)).contains("two tables are called a"));
}

/// A size of the compiled tables makes other images, of the same answers.
#[test]
fn flat_images_answer_as_others() {
    let table = file("flat.txt", TABLE);
    let small = path("flat-smallest.fib");
    let run_compile = |size: &str, image: &str| {
        let args = ["compile", "--table", &table, "--size", size, "-o", image];
        let output = run(&[&args[..], &["--direct-bits=18"]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    };
    run_compile("smallest", &small);
    let answers = |image: &str| {
        stdout(&run(
            &[&["lookup", "--table", image][..], &ADDRESSES].concat()
        ))
        .to_owned()
    };
    let large = path("flat-balanced.fib");
    run_compile("balanced", &large);
    assert!(fs::metadata(&large).unwrap().len() > fs::metadata(&small).unwrap().len());
    assert_eq!(answers(&large), answers(&small));
    let report = json(&["verify", "--json", "--random", "1000", "--table", &large]);
    assert_eq!(report["ipv4"]["mismatches"], 0);
}

#[test]
fn an_image_answers_as_its_table_does() {
    let whole = image("answers.fib", &[]);
    let prefixes = image("answers-prefixes.fib", &["--keep=prefixes"]);
    let table = file("answers.txt", TABLE);
    let from_table = run(&[&["lookup", "--table", &table][..], &ADDRESSES[..]].concat());
    let addresses = file("answers.addresses", ADDRESSES.join("\n"));
    let annotated = |source: &[&str]| {
        let output = run(&[&["annotate", &addresses][..], source].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output).to_owned()
    };
    for image in [&whole, &prefixes] {
        for more in [
            &["--table", image][..],
            &["--table", image, "--trust"],
            &["--table", image],
        ] {
            let output = run(&[&["lookup"][..], more, &ADDRESSES[..]].concat());
            assert_eq!(stdout(&output), stdout(&from_table), "{more:?}");
            assert!(output.status.success());
            assert_eq!(annotated(more), annotated(&["--table", &table]));
            let values = [more, &["--value-only"]].concat();
            let wanted = annotated(&["--table", &table, "--value-only"]);
            assert_eq!(annotated(&values), wanted);
        }
    }
    let info = json(&["info", "--json", "--table", &prefixes]);
    assert_eq!(
        (&info["ipv4"]["routes"], &info["image"]["has_routes"]),
        (&3.into(), &false.into())
    );
    let output = run(&["convert", "--table", &prefixes]);
    assert!(bad(&output).contains("the image was compiled without its routes"));
}

#[test]
fn without_routes_the_prefix_is_not_told() {
    let image = image("no-routes.fib", &["--keep=values"]);
    let output = run(&["lookup", "--table", &image, "10.1.2.3", "9.9.9.9"]);
    assert_eq!(stdout(&output), "10.1.2.3\t-\t64500\n9.9.9.9\t-\t-\n");
    let by_content = run(&["lookup", "--table", &image, "10.1.2.3", "9.9.9.9"]);
    assert_eq!(stdout(&by_content), stdout(&output));
    let answer = json(&["lookup", "--json", "--table", &image, "10.1.2.3"]);
    assert_eq!(
        (&answer["prefix"], &answer["next_hop"]),
        (&Value::Null, &"64500".into())
    );
    for args in [
        &["verify", "--table", &image][..],
        &["compile", "--table", &image, "-o", &image],
        &["convert", "--table", &image],
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2));
        let wanted = format!("popfib: {image}: the image was compiled without");
        assert!(stderr(&output).starts_with(&wanted), "{}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), 1);
    }
    // The value needs no route.
    let addresses = file("no-routes.addresses", "10.1.2.3\n9.9.9.9\n2001:db8::1\n");
    let args = ["annotate", &addresses, "--table", &image];
    let output = run(&[&args[..], &["--value-only"]].concat());
    assert_eq!(stdout(&output), "64500\n-\neast\n");
    for args in [args, ["annotate", &addresses, "--table", &image]] {
        let said = stderr(&run(&args)).to_owned();
        assert!(
            said.contains("without the routes to name the matched prefix, which --value-only"),
            "{said}"
        );
    }
    let info = json(&["info", "--json", "--table", &image]);
    assert_eq!(
        (&info["ipv4"]["routes"], &info["ipv4"]["next_hops"]),
        (&3.into(), &3.into())
    );
    assert_eq!(info["image"]["has_routes"], false);
}

#[test]
fn info_tells_where_an_image_comes_from() {
    let other = image("info-7.fib", &["--direct-bits", "7"]);
    let other = json(&["info", "--json", "--table", &other]);
    assert_eq!(other["ipv4"]["direct_bits"], 7);
    let image = image("info.fib", &[]);
    let info = json(&["info", "--json", "--table", &image]);
    let about = &info["image"];
    let source = &info["sources"][0];
    assert!(source["name"].as_str().unwrap().ends_with("info.fib.txt"));
    // Of the file, and no later than the image says that it is.
    assert_eq!(source["date"], "2026-05-17T06:40:00Z");
    assert!(source.get("licence").is_none());
    let options = ["--description", "a table", "--licence", "CC0\n1.0"];
    let told = self::image("info-told.fib", &options);
    let source = &json(&["info", "--json", "--table", &told])["sources"][0];
    assert_eq!(source["description"], "a table");
    assert_eq!(source["licence"], "CC0\u{fffd}1.0");
    // Also in a file of another kind, which says it of itself.
    let database = path("info-told.mmdb");
    let made = run(&["convert", "--table", &told, "--to", "mmdb", "-o", &database]);
    assert!(made.status.success(), "{}", stderr(&made));
    let source = &json(&["info", "--json", "--table", &database])["sources"][0];
    assert_eq!(source["description"], "a table");
    assert_eq!(about["created"], 1_779_000_000);
    assert_eq!(
        about["writer"],
        concat!("popfib ", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(about["bytes"], fs::metadata(&image).unwrap().len());
    assert_eq!(about["file"], image);
    let table = file("info.txt", TABLE);
    let wanted = json(&["info", "--json", "--table", &table]);
    for family in ["ipv4", "ipv6"] {
        for key in [
            "routes",
            "next_hops",
            "nodes",
            "leaves",
            "direct_bits",
            "bytes",
        ] {
            assert_eq!(info[family][key], wanted[family][key], "{family} {key}");
        }
    }
    assert!(wanted.get("image").is_none());
    let output = run(&["info", "--table", &image]);
    assert!(
        stdout(&output).contains(" 2026-05-17T06:40:00Z"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn verify_uses_the_image_itself() {
    let image = image("verify.fib", &["--no-aggregation", "--direct-bits", "3"]);
    for trust in [&["--table", &image][..], &["--table", &image, "--trust"]] {
        let report = json(&[&["verify", "--json", "--random", "1000"][..], trust].concat());
        assert_eq!(report["ipv4"]["mismatches"], 0);
        assert!(report["ipv6"]["addresses"].as_u64() > Some(1000));
    }
}

#[test]
fn an_image_of_an_image_is_the_same() {
    let first = image("first.fib", &[]);
    let second = path("second.fib");
    let output = run(&["compile", "--table", &first, "-o", &second]);
    assert!(output.status.success(), "{}", stderr(&output));
    let answers = |image| json(&["lookup", "--json", "--table", image, "10.1.2.3"]);
    assert_eq!(answers(&first), answers(&second));
    // As a table, an image may also come through a pipe.
    let bytes = fs::read(&first).unwrap();
    let output = crate::common::run_with(&["lookup", "--table", "-", "10.1.2.3"], &bytes);
    assert_eq!(stdout(&output), "10.1.2.3\t10.1.2.3/32\t64500\n");
}

#[test]
fn what_is_no_image_is_told_in_one_line() {
    let good = fs::read(image("good.fib", &[])).unwrap();
    let mut damaged = good.clone();
    damaged[good.len() / 2] ^= 1;
    let mut later = good.clone();
    later[8] = 7;
    let directory = path("");
    let file = |name: &str, content: &[u8]| file(name, content);
    for (path, reason) in [
        (file("empty.fib", b""), "there is no route in it".to_owned()),
        (
            file("later.fib", &later),
            "an image of version 7.0; this program reads".to_owned(),
        ),
        (
            file("cut.fib", &good[..999]),
            format!("cut off at byte 999 of {}", good.len()),
        ),
        (
            file("longer.fib", &[&good[..], b"!"].concat()),
            "1 bytes follow the image".to_owned(),
        ),
        (file("damaged.fib", &damaged), "byte ".to_owned()),
        (directory, "is a directory".to_owned()),
        (path("none.fib"), "cannot open: No such file".to_owned()),
    ] {
        let output = run(&["lookup", "--table", &path, "10.1.2.3"]);
        assert_eq!((output.status.code(), stdout(&output)), (Some(2), ""));
        let text = stderr(&output);
        assert!(
            text.starts_with(&format!("popfib: {path}: {reason}")),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1);
    }
    let output = run(&["lookup", "--trust", "10.1.2.3"]);
    assert_eq!(output.status.code(), Some(2));
}

/// The names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}

/// No room for the new image: the old one stays, and nothing is left behind.
#[test]
#[cfg(unix)]
fn a_failed_compile_leaves_the_old_image() {
    let directory = directory("full");
    let image = directory.join("t.fib");
    fs::write(&image, "old").unwrap();
    let table = file("full.txt", TABLE);
    // A limit for files, in blocks of 512 bytes or more, that an error names.
    let output = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 1; exec \"$0\" compile --table \"$1\" -o \"$2\"",
        ])
        .arg(env!("CARGO_BIN_EXE_popfib"))
        .arg(&table)
        .arg(&image)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let wanted = format!("popfib: {}: File too large", image.display());
    assert!(stderr(&output).starts_with(&wanted), "{}", stderr(&output));
    assert_eq!(names(&directory), ["t.fib"]);
    assert_eq!(fs::read(&image).unwrap(), b"old");
    for path in ["/dev/null", "/proc/t.fib", "/none/t.fib"] {
        let output = run(&["compile", "--table", &table, "-o", path]);
        assert_eq!(output.status.code(), Some(2), "{path}");
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    }
}

#[test]
fn options_that_an_image_cannot_heed_are_refused() {
    let image = image("unheeded.fib", &[]);
    for option in [
        ["--format", "text"],
        ["--peer", "1"],
        ["--value", "origin-as"],
    ] {
        let output = run(&[&["lookup", "10.1.2.3", "--table", &image][..], &option].concat());
        assert_eq!(output.status.code(), Some(2));
        let wanted = format!(
            "popfib: {image}: an image is compiled already; {} is for tables\n",
            option[0]
        );
        assert_eq!((stdout(&output), stderr(&output)), ("", wanted.as_str()));
    }
}

#[test]
fn images_are_files() {
    let image = image("no-stream.fib", &[]);
    let bytes = fs::read(&image).unwrap();
    let output = run_with(&["lookup", "10.1.2.3", "--table", "-", "--trust"], &bytes);
    assert!(bad(&output).contains("--trust is for an image that is a file"));
    let output = run_with(&["lookup", "10.1.2.3", "--table", "-"], &bytes);
    assert_eq!(stdout(&output), "10.1.2.3\t10.1.2.3/32\t64500\n");
    let directory = directory("no-stream");
    let output = popfib(&["compile", "--table", &image, "-o", "-"])
        .current_dir(&directory)
        .output()
        .unwrap();
    assert!(bad(&output).contains("an image has to be a file"));
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}
