//! `popfib count`: sums, orders, forms.

use crate::common::{TABLE, bad, file, good, run_with, stderr, stdout};

const LOG: &str = "10.1.2.3 5\n10.0.0.1 7\n10.0.0.1 x\nno 9\n2001:db8::1 11\n8.8.8.8 1\n";

fn count(name: &str, args: &[&str], input: &str) -> std::process::Output {
    let table = file(&format!("count-{name}-table"), TABLE);
    run_with(
        &[&["count", "--table", &table], args].concat(),
        input.as_bytes(),
    )
}

#[test]
fn values_and_prefixes() {
    for (args, expected) in [
        (&[][..], "3\teast\n2\t-\n1\t64500\n"),
        (&["--unique"], "2\teast\n1\t-\n1\t64500\n"),
        (&["--top", "1"], "3\teast\n3\t(the rest)\n"),
        (
            &["--shares", "--top", "1"],
            "3\t50.000\teast\n3\t50.000\t(the rest)\n",
        ),
        (
            &["--by", "prefix"],
            "2\t-\t-\n2\t10.0.0.0/8\teast\n1\t10.1.2.3/32\t64500\n1\t2001:db8::/32\teast\n",
        ),
        (&["--to", "csv"], "count,next_hop\n3,east\n2,\n1,64500\n"),
        (
            &["--json", "--shares"],
            "{\"count\":3,\"share\":50.0,\"next_hop\":\"east\"}\n{\"count\":2,\"share\":33.333,\"next_hop\":null}\n\
             {\"count\":1,\"share\":16.667,\"next_hop\":\"64500\"}\n",
        ),
    ] {
        assert_eq!(good(&count("forms", args, LOG)), expected, "{args:?}");
    }
    assert_eq!(good(&count("empty", &[], "")), "");
}

#[test]
fn numbers_of_a_field_are_added() {
    let output = count("weight", &["--weight", "2"], LOG);
    assert_eq!(stdout(&output), "18\teast\n10\t-\n5\t64500\n");
    assert_eq!(
        stderr(&output),
        "popfib: 1 line without a number from 0 to 2^64 - 1, which is taken as 0\n"
    );
    let csv = "ip,\"n\"\n10.0.0.1,\"5\"\n10.0.0.2,3\n";
    let args = ["--column", "ip", "--weight", "n"];
    assert_eq!(good(&count("weight-csv", &args, csv)), "8\teast\n");
    let json = "{\"ip\":\"10.0.0.1\",\"b\":{\"n\":5}}\n{\"ip\":\"10.0.0.1\",\"b\":{\"n\":\"6\"}}\n";
    let quoted = "ip,note,\"a \"\"b\"\", c\"\n10.0.0.1,\"x, \"\"y\"\"\n,9\",\"5\"\n";
    let args = ["--column", "ip", "--weight", "a \"b\", c"];
    assert_eq!(good(&count("weight-quoted", &args, quoted)), "5\teast\n");
    let args = ["--path", "ip", "--weight", "b.n"];
    assert_eq!(good(&count("weight-json", &args, json)), "11\teast\n");
    let args = ["--column", "ip", "--weight", "no"];
    assert!(
        bad(&count("weight-bad", &args, csv))
            .contains("no column \"no\" for --weight; there are \"ip\"")
    );
    assert!(bad(&count("weight-bad", &["--weight", "no"], LOG)).contains("--weight"));
}

#[test]
fn tables_are_crossed() {
    let list = file("count-crossed-list", "10.1.0.0/16\n");
    let table = file("count-crossed-table", TABLE);
    let tables = [format!("hop={table}"), format!("bad={list}")];
    let args = [
        "count", "--table", &tables[0], "--table", &tables[1], "--json",
    ];
    assert_eq!(
        good(&run_with(&args, LOG.as_bytes())),
        "{\"count\":3,\"hop\":\"east\",\"bad\":null}\n{\"count\":2,\"hop\":null,\"bad\":null}\n\
         {\"count\":1,\"hop\":\"64500\",\"bad\":\"\"}\n"
    );
}

/// A capture that keeps 20 bytes of each packet: an IP header, which is of a network of its own.
#[test]
fn packets_count_as_long_as_they_were() {
    let mut capture = Vec::new();
    // Little-endian; bare IP.
    for word in [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 64, 101] {
        capture.extend(word.to_le_bytes());
    }
    let flows: [([u8; 4], [u8; 4], u32); 4] = [
        ([10, 0, 0, 1], [8, 8, 8, 8], 1500),
        ([10, 0, 0, 2], [8, 8, 8, 8], 60),
        ([10, 0, 0, 1], [8, 8, 8, 8], 40),
        ([10, 0, 0, 1], [8, 8, 4, 4], 9000),
    ];
    for (source, destination, length) in flows {
        for word in [0, 0, 20, length] {
            capture.extend(word.to_le_bytes());
        }
        let head = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0];
        capture.extend([&head[..], &source, &destination].concat());
    }
    for (args, expected) in [
        (
            &["--weight", "bytes", "--by", "address"][..],
            "9000\t8.8.4.4\n1600\t8.8.8.8\n",
        ),
        (
            &["--weight", "packets", "--by", "/24", "--sources"],
            "4\t10.0.0.0/24\n",
        ),
        (
            &[
                "--weight",
                "bytes",
                "--by",
                "address",
                "--pairs",
                "--sources",
                "--destinations",
            ],
            "9000\t10.0.0.1\t8.8.4.4\n1540\t10.0.0.1\t8.8.8.8\n60\t10.0.0.2\t8.8.8.8\n",
        ),
    ] {
        let counted = run_with(&[&["count"], args].concat(), &capture);
        assert_eq!(good(&counted), expected, "{args:?}");
    }
}

#[test]
fn counts_as_bars() {
    let bars = |args: &[&str]| {
        let output = count("bars", &[&["--svg"], args].concat(), LOG);
        let svg = good(&output).to_owned();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        svg
    };
    let svg = bars(&[]);
    let widths = |svg: &str| -> Vec<f64> {
        let bars = svg
            .split("<rect class=\"pf-")
            .skip(1)
            .filter(|rect| !rect.starts_with("ground"));
        let width = |rect: &str| {
            rect.split("width=\"")
                .nth(1)?
                .split('"')
                .next()?
                .parse()
                .ok()
        };
        bars.map(|rect| width(rect).unwrap()).collect()
    };
    let all = widths(&svg);
    assert!(
        all.len() == 3
            && (all[0] / all[1] - 1.5).abs() < 0.01
            && (all[0] / all[2] - 3.0).abs() < 0.01
    );
    for text in [
        "Addresses by next_hop",
        "3 values",
        "east",
        "no match or no address",
        "next hop 64500",
        "3 (50.0 %)",
        "addresses",
    ] {
        assert!(svg.contains(&format!(">{text}<")), "{text}");
    }
    let svg = bars(&["--top", "1", "--by", "prefix", "--unique"]);
    assert_eq!(widths(&svg).len(), 1);
    for text in [
        "Distinct addresses by prefix, next_hop",
        "1 of 4 values; the others have 75.0 %",
    ] {
        assert!(svg.contains(&format!(">{text}<")), "{text}");
    }
    let both = count("bars", &["--svg", "--json"], LOG);
    assert!(bad(&both).contains("cannot be used with"));
    // Nothing at all is a picture, too.
    let empty = count("bars", &["--svg"], "");
    assert!(good(&empty).contains(">0 values<") && widths(good(&empty)).is_empty());
    // The names of AS.
    let named = run_with(&["count", "--svg"], b"8.8.8.8\n8.8.4.4\n");
    assert!(good(&named).contains(">AS15169, Google LLC<"));
}
