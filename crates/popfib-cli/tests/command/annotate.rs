//! `popfib annotate`: every form of input and output. Where its lines go: `annotate_output.rs`.

use crate::common::{TABLE, bad, feed, file, good, path, popfib, run, run_with, stderr, stdout};

pub(crate) const ADDRESSES: &str = "10.1.2.3\n10.1.2.4\n2001:DB8:0:1::5\n11.0.0.0\n10.9.0.0\n::1\n";

/// Runs `popfib annotate --table TABLE` with more arguments and `input` on standard input.
pub(crate) fn annotate(name: &str, args: &[&str], input: impl AsRef<[u8]>) -> std::process::Output {
    let table = file(&format!("annotate-{name}-table"), TABLE);
    let args = [&["annotate", "--table", &table], args].concat();
    run_with(&args, input.as_ref())
}

#[test]
fn csv_and_json_lines_of_addresses() {
    let input = "10.1.2.3\n2001:DB8::\n::\n";
    for (args, expected) in [
        (
            &["--to", "csv"][..],
            "address,prefix,next_hop\n10.1.2.3,10.1.2.3/32,64500\n2001:db8::,2001:db8::/32,east\n::,,\n",
        ),
        (
            &["--to", "csv", "--value-only"],
            "address,next_hop\n10.1.2.3,64500\n2001:db8::,east\n::,\n",
        ),
        (
            &["--to", "json-lines"],
            "{\"address\":\"10.1.2.3\",\"prefix\":\"10.1.2.3/32\",\"next_hop\":\"64500\",\"message\":\"10.1.2.3\"}\n\
             {\"address\":\"2001:db8::\",\"prefix\":\"2001:db8::/32\",\"next_hop\":\"east\",\"message\":\"2001:DB8::\"}\n\
             {\"address\":\"::\",\"prefix\":null,\"next_hop\":null,\"message\":\"::\"}\n",
        ),
        (
            &["--to", "jsonl", "--value-only"],
            "{\"address\":\"10.1.2.3\",\"next_hop\":\"64500\"}\n\
             {\"address\":\"2001:db8::\",\"next_hop\":\"east\"}\n\
             {\"address\":\"::\",\"next_hop\":null}\n",
        ),
    ] {
        assert_eq!(good(&annotate("forms", args, input)), expected, "{args:?}");
    }
}

#[test]
fn csv_keeps_the_columns_byte_by_byte() {
    let input = "id;ip;\"a;note\"\r\n1;\"10.1.2.3\";\"two\r\nlines, \"\"quoted\"\"\"\r\n2;;\r\n3;10.9.9.9;x\r\n";
    assert_eq!(
        good(&annotate("csv", &["--column", "ip", "--to", "csv"], input)),
        "id;ip;\"a;note\";prefix;next_hop\r\n\
         1;\"10.1.2.3\";\"two\r\nlines, \"\"quoted\"\"\";10.1.2.3/32;64500\r\n\
         2;;;;\r\n\
         3;10.9.9.9;x;10.0.0.0/8;east\r\n"
    );
    assert_eq!(
        good(&annotate(
            "csv-text",
            &["--column", "2", "--to", "text", "--value-only"],
            input
        )),
        "64500\n-\neast\n"
    );
    let spellings = "ip,n\n10.1.2.3:443,x\n-,\n\n\"[2001:db8::1]\",z\nshort\n";
    let output = annotate("csv-any", &["--column", "n", "--column", "ip"], spellings);
    assert_eq!(
        stdout(&output),
        "ip,n,n_prefix,n_next_hop,ip_prefix,ip_next_hop\n10.1.2.3:443,x,,,10.1.2.3/32,64500\n-,,,,,\n,,,,\n\
         \"[2001:db8::1]\",z,,,2001:db8::/32,east\nshort,,,,\n"
    );
    assert_eq!(
        stderr(&output),
        "popfib: <stdin>: 1 row ends before the column of addresses\n"
    );
    // No header in, no header out.
    let args = ["--to", "csv", "--value-only"];
    let output = annotate("tsv", &args, "10.9.9.9\ta\n");
    assert_eq!(stdout(&output), "10.9.9.9\ta\teast\n");
    assert_eq!(
        stderr(&output),
        "popfib: <stdin>: addresses are taken from column 1\n"
    );
}

#[test]
fn answers_are_quoted_where_the_form_needs_it() {
    let table = file(
        "annotate-quoted-table",
        "10.0.0.0/8 a;\"b\\\n11.0.0.0/8 \"q\"\n",
    );
    let run = |form: &str| {
        let output = run_with(
            &["annotate", "--table", &table, "--to", form, "--value-only"],
            b"11.0.0.1\n",
        );
        good(&output).to_owned()
    };
    assert_eq!(run("csv"), "address,next_hop\n11.0.0.1,\"\"\"q\"\"\"\n");
    assert_eq!(
        run("jsonl"),
        "{\"address\":\"11.0.0.1\",\"next_hop\":\"\\\"q\\\"\"}\n"
    );
}

#[test]
fn long_names_are_written_whole() {
    let long = "n".repeat(500);
    let mut routes: String = (0..200).map(|n| format!("10.{n}.0.0/16 {n}\n")).collect();
    routes.push_str(&format!("11.0.0.0/8 {long}\n"));
    let table = file("annotate-long-table", routes);
    let output = run_with(&["annotate", "--table", &table], b"11.1.1.1\n10.7.0.0\n");
    assert_eq!(
        good(&output),
        format!("11.1.1.1\t11.0.0.0/8\t{long}\n10.7.0.0\t10.7.0.0/16\t7\n")
    );
}

#[test]
fn many_addresses_of_both_families_are_what_lookup_prints() {
    let table = file("annotate-many-table", TABLE);
    let mut bits = 1u64;
    let input: String = (0..100_000)
        .map(|n| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let [a, b, c, ..] = bits.to_be_bytes();
            match n / 1000 % 3 {
                0 => format!("10.{}.{b}.{c}\n", a % 3),
                1 if n % 2 == 0 => format!("2001:db8:{}:{:x}::{b:x}\n", a % 2, b % 3),
                _ => format!("{}.1.{}.{c}\n", 9 + a % 3, b % 4),
            }
        })
        .collect();
    let looked_up = run_with(&["lookup", "--table", &table], input.as_bytes());
    // Of which annotate keeps the spelling of the address.
    let spelled: String = input
        .lines()
        .zip(good(&looked_up).lines())
        .map(|(line, answer)| format!("{line}\t{}\n", answer.split_once('\t').unwrap().1))
        .collect();
    let output = annotate("many", &[], &input);
    assert!(good(&output) == spelled);
    let values: String = good(&looked_up)
        .lines()
        .map(|line| format!("{}\n", line.rsplit('\t').next().unwrap()))
        .collect();
    assert!(good(&annotate("many", &["--value-only"], &input)) == values);

    // An image says the same, in whatever form it was compiled, and by every kernel.
    let image = path("annotate-many.fib");
    let of_image = |args: &[&str], kernel: &str| {
        let args = [&["annotate", "--table", &image], args].concat();
        let mut command = popfib(&args);
        if !kernel.is_empty() {
            command.env("POPFIB_KERNEL", kernel);
        }
        feed(command, input.as_bytes())
    };
    for form in [&[][..], &["--direct-bits", "12"], &["--no-aggregation"]] {
        let compile = ["compile", "--table", &table, "-o", &image];
        good(&run(&[&compile[..], form].concat()));
        for kernel in ["", "scalar", "portable"] {
            assert!(good(&of_image(&[], kernel)) == spelled, "{form:?}");
            let of_values = of_image(&["--value-only"], kernel);
            assert!(good(&of_values) == values, "{form:?}");
        }
    }
    let output = of_image(&[], "quantum");
    assert!(bad(&output).starts_with("POPFIB_KERNEL: "));
    // Of a file: how the bytes of a pipe come in pieces decides where pages of Parquet end.
    #[cfg(feature = "parquet")]
    for args in [&[][..], &["--value-only"]] {
        let addresses = file("annotate-many-addresses", &input);
        let args = [&["--to", "parquet", &addresses], args].concat();
        let of_table = annotate("many", &args, "");
        assert!(of_table.status.success() && !of_table.stdout.is_empty());
        assert!(of_image(&args, "").stdout == of_table.stdout, "{args:?}");
    }
}

#[test]
fn files_one_behind_the_other() {
    let table = file("annotate-files-table", TABLE);
    let one = file("annotate-files-1.csv", "ip,n\n10.0.0.1,1\n");
    let two = file("annotate-files-2.csv", "ip,n\n10.1.0.1,2\n");
    let other = file("annotate-files-3.csv", "n,ip\n3,10.1.0.1\n");
    let args = [
        "annotate", "--table", &table, "--to", "csv", "--column", "ip",
    ];
    let output = run(&[&args[..], &[&one, &two]].concat());
    assert_eq!(
        good(&output),
        "ip,n,prefix,next_hop\n10.0.0.1,1,10.0.0.0/8,east\n10.1.0.1,2,10.1.0.0/16,192.0.2.1\n"
    );
    let output = run(&[&args[..], &[&one, &other]].concat());
    assert!(bad(&output).starts_with(&format!("{other}: ")));
    // As text, columns don't matter.
    let output = run(&[
        "annotate",
        "--table",
        &table,
        "--column",
        "ip",
        "--value-only",
        "--to",
        "text",
        &one,
        &other,
    ]);
    assert_eq!(good(&output), "east\n192.0.2.1\n");
    let output = run(&["annotate", "--table", &table, "-", "-"]);
    assert!(bad(&output).contains("standard input"));
    assert!(bad(&run(&["annotate", "--table", "-"])).contains("standard input"));
}

/// A pcap file of bare IP packets to these addresses.
pub(crate) fn packets(destinations: &[[u8; 4]]) -> Vec<u8> {
    let mut file = Vec::new();
    for value in [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 101] {
        file.extend(value.to_le_bytes());
    }
    for destination in destinations {
        for value in [0u32, 0, 20, 20] {
            file.extend(value.to_le_bytes());
        }
        file.extend([0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, 9, 9]);
        file.extend(destination);
    }
    file
}

#[test]
fn packets_and_records() {
    let mut capture = packets(&[[10, 1, 2, 3], [11, 0, 0, 1]]);
    assert_eq!(
        good(&annotate("pcap", &[], &capture)),
        "10.1.2.3\t10.1.2.3/32\t64500\n11.0.0.1\t-\t-\n"
    );
    assert_eq!(
        good(&annotate(
            "pcap-sources",
            &["--sources", "--value-only"],
            &capture
        )),
        "east\neast\n"
    );
    capture.pop();
    let output = annotate("pcap-cut", &["--value-only"], &capture);
    assert_eq!(
        bad(&output),
        "<stdin>: byte 60: packet 2: the file is cut off, 35 bytes into it; --skip-invalid goes on without it"
    );
    assert_eq!(stdout(&output), "64500\n");
    let output = annotate("pcap-cut", &["--value-only", "--skip-invalid"], &capture);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output), "64500\n");
    assert_eq!(
        stderr(&output),
        "popfib: <stdin>: 1 invalid packet skipped\n"
    );

    let records = [10, 1, 2, 3, 11, 0, 0, 1];
    let args = ["--input-format", "raw-ipv4", "--value-only"];
    assert_eq!(good(&annotate("raw", &args, records)), "64500\n-\n");
}

#[test]
fn both_ends_of_packets() {
    let both = ["--sources", "--destinations"];
    let dns = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/dns.pcap");
    let output = run(&[
        "annotate",
        dns,
        "--sources",
        "--destinations",
        "--value-only",
    ]);
    assert_eq!(stdout(&output), "-\t15169\n15169\t-\n-\t13335\n");
    assert!(stderr(&output).contains("1 packet without an IP address (1 "));
    let mut capture = packets(&[[10, 1, 2, 3], [11, 0, 0, 1]]);
    for (more, expected) in [
        (
            &[][..],
            "10.9.9.9\t10.0.0.0/8\teast\t10.1.2.3\t10.1.2.3/32\t64500\n\
             10.9.9.9\t10.0.0.0/8\teast\t11.0.0.1\t-\t-\n",
        ),
        (&["--value-only"], "east\t64500\neast\t-\n"),
        (
            &["--to", "csv"],
            "source,source_prefix,source_next_hop,destination,destination_prefix,destination_next_hop\n\
             10.9.9.9,10.0.0.0/8,east,10.1.2.3,10.1.2.3/32,64500\n\
             10.9.9.9,10.0.0.0/8,east,11.0.0.1,,\n",
        ),
        (
            &["--json", "--value-only", "--threads", "2"],
            "{\"source\":\"10.9.9.9\",\"source_next_hop\":\"east\",\
              \"destination\":\"10.1.2.3\",\"destination_next_hop\":\"64500\"}\n\
             {\"source\":\"10.9.9.9\",\"source_next_hop\":\"east\",\
              \"destination\":\"11.0.0.1\",\"destination_next_hop\":null}\n",
        ),
    ] {
        let output = annotate("pcap-both", &[&both[..], more].concat(), &capture);
        assert_eq!(good(&output), expected, "{more:?}");
    }
    // With --destinations alone, what is printed without.
    assert_eq!(
        good(&annotate("pcap-to", &["--destinations"], &capture)),
        good(&annotate("pcap-to", &[], &capture)),
    );
    let list = file("pcap-both-list", "10.1.0.0/16\n");
    let grep = |args: &[&str]| {
        let args = [&["grep", "--table", &list], &both[..], args].concat();
        stdout(&run_with(&args, &capture)).to_owned()
    };
    assert_eq!(grep(&[]), "10.9.9.9\t10.1.2.3\n");
    assert_eq!(grep(&["-vn"]), "2:10.9.9.9\t11.0.0.1\n");
    assert_eq!(grep(&["-o"]), "10.1.2.3\n");
    let count = [&["count", "--table", &list], &both[..]].concat();
    assert_eq!(stdout(&run_with(&count, &capture)), "3\t-\n1\t\n");
    // Many, in several batches, and cut off.
    let many: Vec<[u8; 4]> = (0..40_000u32)
        .map(|n| [10, 0, (n >> 8) as u8, n as u8])
        .collect();
    capture = packets(&many);
    capture.pop();
    let output = annotate(
        "pcap-many",
        &[&both[..], &["--skip-invalid"]].concat(),
        &capture,
    );
    let lines = stdout(&output);
    assert_eq!(lines.lines().count(), 39_999);
    for (line, to) in lines.lines().zip(&many) {
        let [a, b, c, d] = to;
        let expected = format!("10.9.9.9\t10.0.0.0/8\teast\t{a}.{b}.{c}.{d}\t10.0.0.0/8\teast");
        assert_eq!(line, expected);
    }
    for (args, reason) in [
        (&[][..], "no capture of packets"),
        (&["--address", "all"], "no capture of packets"),
        (&["--field", "1"], "cannot be used with"),
    ] {
        let output = annotate("pcap-none", &[&both[..], args].concat(), "10.0.0.1\n");
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
        assert_eq!(output.status.code(), Some(2));
    }
    for end in both {
        let said = annotate("pcap-text", &[end], "10.0.0.1\n");
        assert!(bad(&said).contains("no capture of packets"), "{end}");
    }
    let all = [&both[..], &["--address", "all"]].concat();
    assert!(bad(&annotate("pcap-all", &all, &capture)).contains("--address means nothing"));
}

#[test]
fn a_column_that_is_not_there() {
    let output = annotate("column", &["--column", "ip"], "a,b\n1,2\n");
    assert_eq!(
        bad(&output),
        "<stdin>: no column \"ip\"; there are \"a\", \"b\""
    );
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_keeps_its_rows() {
    use std::fs;

    let (one, two) = (path("annotate-1.parquet"), path("annotate-2.parquet"));
    let args = ["--to", "parquet", "-o", &one, "--column", "ip"];
    good(&annotate(
        "parquet",
        &args,
        "ip,n\n10.1.2.3,1\n,2\n2001:db8::1,3\n11.0.0.1,4\n",
    ));
    assert!(fs::read(&one).unwrap().starts_with(b"PAR1"));

    // Its own output is a Parquet file like any other: addresses, and prefixes that are none.
    let table = file("annotate-parquet-table", TABLE);
    let run = |args: &[&str]| run(&[&["annotate", "--table", &table], args].concat());
    assert_eq!(
        good(&run(&[&one])),
        "10.1.2.3\t10.1.2.3/32\t64500\n-\t-\t-\n2001:db8::1\t2001:db8::/32\teast\n11.0.0.1\t-\t-\n"
    );
    assert_eq!(
        bad(&run(&[&one, "--column", "prefix"])),
        format!("{one}: row 1: \"10.1.2.3/32\": not an address")
    );
    assert!(
        bad(&run(&[&one, "--column", "ip"])).contains("no column \"ip\"; there are \"address\"")
    );
    // It has the columns already that would be added.
    assert!(bad(&run(&[&one, "--to", "parquet", "-o", &two])).contains("\"prefix\" already"));
    let cut = file("annotate-cut.parquet", &fs::read(&one).unwrap()[..100]);
    assert!(bad(&run(&[&cut])).starts_with(&format!("{cut}: ")));
    let output = run_with(&["annotate", "--table", &table], &fs::read(&one).unwrap());
    assert!(bad(&output).contains("files only"));
}

/// Texts of answers are made beforehand as far as memory allows; here a text that the table has once is in every record.
#[test]
fn long_texts_of_many_records_are_written_one_by_one() {
    let long = "D".repeat(50_000);
    let rows =
        (0..40).map(|n| format!("{{\"prefix\":\"10.{n}.0.0/16\",\"id\":{n},\"d\":\"{long}\"}}\n"));
    let table = file("annotate-long.jsonl", rows.collect::<String>());
    let addresses: Vec<_> = (0..41).map(|n| format!("10.{n}.0.1")).collect();
    let input = addresses.join("\n") + "\n";
    let args = ["annotate", "--table", &table, "--columns", "*"];
    let output = run_with(&args, input.as_bytes());
    let lines = good(&output);
    for (n, line) in lines.lines().enumerate() {
        let expected = match n {
            40 => "10.40.0.1\t-\t-\t-".to_owned(),
            _ => format!("10.{n}.0.1\t10.{n}.0.0/16\t{n}\t{long}"),
        };
        assert!(line == expected, "{n}: {}", &line[..line.len().min(80)]);
    }
    assert_eq!(lines.lines().count(), 41);
    for form in ["csv", "json-lines"] {
        let args = [&args[..], &["--to", form]].concat();
        let output = run_with(&args, b"10.3.0.1\n11.0.0.1\n");
        let lines = good(&output);
        let expected = match form {
            "csv" => format!("address,prefix,id,d\n10.3.0.1,10.3.0.0/16,3,{long}\n11.0.0.1,,,\n"),
            _ => format!(
                "{{\"address\":\"10.3.0.1\",\"prefix\":\"10.3.0.0/16\",\"id\":3,\"d\":\"{long}\",\"message\":\"10.3.0.1\"}}\n\
                 {{\"address\":\"11.0.0.1\",\"prefix\":null,\"id\":null,\"d\":null,\"message\":\"11.0.0.1\"}}\n"
            ),
        };
        assert!(lines == expected, "{}", &lines[..200]);
    }
}
