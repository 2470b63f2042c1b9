//! `--fib` in the laboratory: an image is measured as it is.

use crate::common::{TABLE, file, path, run, stderr, stdout};
use popfib::{ImageWriter, Options};
use popfib_formats::{LoadOptions, load};
use serde_json::Value;

/// An image of `TABLE`, named `name`, with direct bits that no default would give.
fn image(name: &str, keep_routes: bool) -> String {
    let table = file(&format!("{name}.txt"), TABLE);
    let table = load(table.as_ref(), &LoadOptions::new()).unwrap();
    let mut writer = ImageWriter::new(name, 0);
    let options = Options::default().direct_bits(Some(3)).aggregation(false);
    writer.table(&table.ipv4, &options, keep_routes).unwrap();
    writer.table(&table.ipv6, &options, keep_routes).unwrap();
    let image = path(name);
    writer.save(&image).unwrap();
    image
}

fn json(args: &[&str]) -> Value {
    let output = run(args);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(stdout(&output)).expect("JSON")
}

#[test]
fn verify_and_bench_use_the_image_itself() {
    let image = image("verify.fib", true);
    for trust in [&["--fib", &image][..], &["--fib", &image, "--trust"]] {
        let report = json(&[&["verify", "--json", "--random", "1000"][..], trust].concat());
        assert_eq!(report["ipv4"]["mismatches"], 0);
        assert!(report["ipv6"]["addresses"].as_u64() > Some(1000));
        let args = [
            "bench",
            "--json",
            "--count",
            "1000",
            "--runs",
            "1",
            "--traffic",
            "random",
        ];
        let rows = json(&[&args[..], trust].concat());
        assert_eq!(
            (&rows[0]["direct_bits"], &rows[0]["build_ms"]),
            (&3.into(), &0.0.into())
        );
        // The others are built from the image's routes, also as judges.
        let rows = json(&[&args[..], trust, &["--algorithm", "all"]].concat());
        for row in rows.as_array().unwrap() {
            let is_image = row["algorithm"] == "popfib";
            assert_eq!(row["direct_bits"] == 3, is_image, "{row}");
            assert_eq!(row["build_ms"] == 0.0, is_image, "{row}");
        }
        for option in ["--direct-bits=4", "--no-aggregation"] {
            let output = run(&[&args[..], trust, &[option]].concat());
            assert_eq!(output.status.code(), Some(2));
            assert!(stderr(&output).contains("is compiled already"), "{option}");
            let poptrie = [trust, &[option, "--algorithm", "poptrie"]].concat();
            assert!(json(&[&args[..], &poptrie].concat())[0]["mlps"].is_f64());
        }
        let against = ["verify", "--json", "--random", "10", "--against", "radix"];
        let report = json(&[&against[..], trust].concat());
        assert_eq!(report["ipv4"]["mismatches"], 0);
        assert!(report["ipv4"]["addresses"].as_u64() > Some(10));
    }
    for option in [
        &["--direct-bits", "4"][..],
        &["--no-aggregation"],
        &["--no-leafvec"],
    ] {
        let output = run(&[&["verify", "--fib", &image][..], option].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains("is compiled already"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn without_routes_no_other_structure_is_built() {
    let image = image("no-routes.fib", false);
    for args in [
        &["verify", "--fib", &image][..],
        &["bench", "--fib", &image, "--algorithm", "radix"],
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2));
        let wanted = format!("popfib-lab: {image}: the image was compiled without");
        assert!(stderr(&output).starts_with(&wanted), "{}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), 1);
    }
}
