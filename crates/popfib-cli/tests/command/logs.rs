//! `popfib annotate` on logs and JSON lines: no line is lost, addresses in every spelling, several tables.

use crate::annotate::{ADDRESSES, annotate};
use crate::common::{bad, file, good, run_with, stderr, stdout};

#[test]
fn each_line_comes_out_with_its_answer() {
    assert_eq!(
        good(&annotate("text", &[], ADDRESSES)),
        "10.1.2.3\t10.1.2.3/32\t64500\n\
         10.1.2.4\t10.1.0.0/16\t192.0.2.1\n\
         2001:DB8:0:1::5\t2001:db8:0:1::/64\twest\n\
         11.0.0.0\t-\t-\n\
         10.9.0.0\t10.0.0.0/8\teast\n\
         ::1\t-\t-\n"
    );
    assert_eq!(
        good(&annotate("value", &["--value-only"], ADDRESSES)),
        "64500\n192.0.2.1\nwest\n-\neast\n-\n"
    );
    assert_eq!(good(&annotate("empty", &[], "")), "");
    // Logs: addresses in all spellings, lines without one, CR LF, no end.
    let log = "10.1.2.3 - - [10/Oct/2000:13:55:36] \"GET /\" \"Chrome/10.0.0.0\"\n\
               \n\
               # no address\r\n\
               a\tb \u{fc} [2001:db8::1]:443\r\n\
               8.8.8.8,10.1.0.1\n\
               last 10[.]1[.]2[.]4:80";
    assert_eq!(
        stdout(&annotate("log", &[], log)),
        "10.1.2.3 - - [10/Oct/2000:13:55:36] \"GET /\" \"Chrome/10.0.0.0\"\t10.1.2.3/32\t64500\n\
         \t-\t-\n\
         # no address\t-\t-\r\n\
         a\tb \u{fc} [2001:db8::1]:443\t2001:db8::/32\teast\r\n\
         8.8.8.8,10.1.0.1\t-\t-\n\
         last 10[.]1[.]2[.]4:80\t10.1.0.0/16\t192.0.2.1\n"
    );
    for (args, expected) in [
        (
            &["--address", "last"][..],
            "a 8.8.8.8 10.0.0.1 10.1.0.1\t10.1.0.0/16\t192.0.2.1\nb\t-\t-\n",
        ),
        (
            &["--address", "2"],
            "a 8.8.8.8 10.0.0.1 10.1.0.1\t10.0.0.0/8\teast\nb\t-\t-\n",
        ),
        (
            &["--address", "all"],
            "a 8.8.8.8 10.0.0.1 10.1.0.1\t-,10.0.0.0/8,10.1.0.0/16\t-,east,192.0.2.1\nb\t-\t-\n",
        ),
        (
            &["--address", "all", "--to", "jsonl"],
            "{\"address\":[\"8.8.8.8\",\"10.0.0.1\",\"10.1.0.1\"],\"prefix\":[null,\"10.0.0.0/8\",\"10.1.0.0/16\"],\
             \"next_hop\":[null,\"east\",\"192.0.2.1\"],\"message\":\"a 8.8.8.8 10.0.0.1 10.1.0.1\"}\n\
             {\"address\":[],\"prefix\":[],\"next_hop\":[],\"message\":\"b\"}\n",
        ),
    ] {
        let output = annotate("parts", args, "a 8.8.8.8 10.0.0.1 10.1.0.1\nb\n");
        assert_eq!(good(&output), expected, "{args:?}");
    }
    for (args, expected, notes) in [
        (
            &["--field", "3", "--field", "2"][..],
            "a 8.8.8.8 10.0.0.1 10.1.0.1\t10.0.0.0/8\teast\t-\t-\nb\t-\t-\t-\t-\n",
            "popfib: <stdin>: 1 line ends before field 3\n",
        ),
        (
            &["--field", "2", "--delimiter", "1"],
            "a 8.8.8.8 10.0.0.1 10.1.0.1\t-\t-\nb\t-\t-\n",
            "popfib: <stdin>: 1 line ends before field 2\npopfib: <stdin>: no line has an address\n",
        ),
    ] {
        let output = annotate("fields", args, "a 8.8.8.8 10.0.0.1 10.1.0.1\nb\n");
        assert_eq!(stdout(&output), expected, "{args:?}");
        assert_eq!(stderr(&output), notes, "{args:?}");
    }
    assert_eq!(
        good(&annotate("unmap", &["--unmap"], "::ffff:10.0.0.1\n")),
        "::ffff:10.0.0.1\t10.0.0.0/8\teast\n"
    );
}

#[test]
fn json_lines_get_members() {
    let input = "{\"a\":1,\"src\":{\"ip\":\"10.1.2.3\"},\"dst\":[\"8.8.8.8\",\"10.0.0.1\"]}\r\n{}\n[\"10.0.0.1\"]\n{\"cut\":\n";
    let output = annotate("json", &["--path", "src.ip"], input);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        stdout(&output),
        "{\"a\":1,\"src\":{\"ip\":\"10.1.2.3\"},\"dst\":[\"8.8.8.8\",\"10.0.0.1\"],\"prefix\":\"10.1.2.3/32\",\"next_hop\":\"64500\"}\r\n\
         {\"prefix\":null,\"next_hop\":null}\n[\"10.0.0.1\"]\n{\"cut\":\n"
    );
    assert_eq!(
        stderr(&output),
        "popfib: <stdin>: 1 line is no JSON, in which nothing was looked for\n\
         popfib: 2 lines are no JSON objects, and were kept as they are\n"
    );
    let args = [
        "--path",
        "src.ip",
        "--path",
        "dst",
        "--address",
        "all",
        "--value-only",
    ];
    assert_eq!(
        good(&annotate(
            "json-all",
            &args,
            "{\"src\":{\"ip\":\"10.1.2.3\"},\"dst\":[\"8.8.8.8\",\"10.0.0.1\"]}\n"
        )),
        "{\"src\":{\"ip\":\"10.1.2.3\"},\"dst\":[\"8.8.8.8\",\"10.0.0.1\"],\"src.ip_next_hop\":[\"64500\"],\"dst_next_hop\":[null,\"east\"]}\n"
    );
    // Recognised by its beginning; as text, a line like any other.
    let line = "{\"x\":\"10.1.2.3\"}";
    assert_eq!(
        stdout(&annotate("json-any", &[], format!("{line}\n"))),
        "{\"x\":\"10.1.2.3\",\"prefix\":\"10.1.2.3/32\",\"next_hop\":\"64500\"}\n"
    );
    assert_eq!(
        stdout(&annotate("json-text", &["--to", "text"], line)),
        format!("{line}\t10.1.2.3/32\t64500\n")
    );
}

#[test]
fn logs_of_zeek_stay_such() {
    let head = "#separator \\x09\n#set_separator\t,\n#unset_field\t-\n#path\tconn\n#open\t2026-10-10-13-00-00\n";
    let rows = [
        "1.0\tC1\t10.1.2.3\t80\t8.8.8.8",
        "2.0\tC2\t-\t80\t2001:db8::1",
    ];
    let log = |names: &str, types: &str, tails: [&str; 2]| {
        let [one, two] = [0, 1].map(|row| format!("{}{}\n", rows[row], tails[row]));
        format!(
            "{head}#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h{names}\n\
             #types\ttime\tstring\taddr\tport\taddr{types}\n{one}{two}#close\t10.0.0.1\n"
        )
    };
    let input = log("", "", ["", ""]);
    let args = [
        "--column",
        "id.orig_h",
        "--column",
        "id.resp_h",
        "--value-only",
    ];
    assert_eq!(
        good(&annotate("zeek", &args[..2], &input)),
        log(
            "\tprefix\tnext_hop",
            "\tstring\tstring",
            ["\t10.1.2.3/32\t64500", "\t-\t-"]
        )
    );
    assert_eq!(
        good(&annotate("zeek", &args[..4], &input)),
        log(
            "\tid.orig_h_prefix\tid.orig_h_next_hop\tid.resp_h_prefix\tid.resp_h_next_hop",
            "\tstring\tstring\tstring\tstring",
            ["\t10.1.2.3/32\t64500\t-\t-", "\t-\t-\t2001:db8::/32\teast"]
        )
    );
    let output = annotate("zeek", &["--column", "src"], &input);
    assert!(
        bad(&output).ends_with(
            "no column \"src\" in \"ts\", \"uid\", \"id.orig_h\", \"id.orig_p\", \"id.resp_h\""
        ),
        "{}",
        bad(&output)
    );
}

#[test]
fn several_tables_in_one_pass() {
    let asn = file("annotate-several-asn", "10.0.0.0/8 64500\n");
    let bad_ones = file(
        "annotate-several-bad",
        "# a list\n10.1.0.0/16\n2001:db8::/32\n",
    );
    let tables = [format!("asn={asn}"), format!("bad={bad_ones}")];
    let args = ["annotate", "--table", &tables[0], "--table", &tables[1]];
    let run = |more: &[&str], input: &str| {
        let output = run_with(&[&args[..], more].concat(), input.as_bytes());
        good(&output).to_owned()
    };
    let log = "a 10.1.0.1\nb 10.0.0.1\nc 2001:db8::1\nd\n";
    assert_eq!(
        run(&[], log),
        "a 10.1.0.1\t10.0.0.0/8\t64500\t10.1.0.0/16\t\nb 10.0.0.1\t10.0.0.0/8\t64500\t-\t-\n\
         c 2001:db8::1\t-\t-\t2001:db8::/32\t\nd\t-\t-\t-\t-\n"
    );
    assert_eq!(
        run(&["--value-only"], "10.1.0.1\n10.0.0.1\nx\n"),
        "64500\t\n64500\t-\n-\t-\n"
    );
    assert_eq!(
        run(&["--json"], "10.1.0.1\n"),
        "{\"address\":\"10.1.0.1\",\"asn_prefix\":\"10.0.0.0/8\",\"asn\":\"64500\",\"bad_prefix\":\"10.1.0.0/16\",\"bad\":\"\",\"message\":\"10.1.0.1\"}\n"
    );
    assert_eq!(
        run(&["--column", "ip"], "ip\n10.0.0.1\n"),
        "ip,asn_prefix,asn,bad_prefix,bad\n10.0.0.1,10.0.0.0/8,64500,,\n"
    );
    for (args, reason) in [
        (&["--table", "a=x", "--table", "a=x"][..], "x: cannot open"),
        (
            &["--table", &tables[0], "--table", &tables[0]],
            "two tables are called asn",
        ),
        (&["--table", &asn, "--table", &asn], "two tables are called"),
        (&["--table", "a=-", "--table", &tables[0]], "standard input"),
    ] {
        let output = run_with(&[&["annotate"], args].concat(), b"");
        assert!(bad(&output).contains(reason), "{}", bad(&output));
    }
    // Chained, columns of one name would be there twice.
    let output = run_with(
        &["annotate", "--table", &asn, "--column", "ip"],
        b"ip,prefix\n10.0.0.1,x\n",
    );
    assert!(
        bad(&output).contains("a column prefix is there already"),
        "{}",
        bad(&output)
    );
}

/// Whatever the input, its lines are there, each once, in order, byte for byte.
#[test]
fn no_line_is_lost() {
    let mut bits = 7u64;
    let mut next = || {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (bits >> 33) as usize
    };
    let pieces: [&[u8]; 12] = [
        b"10.1.2.3",
        b"\n",
        b"\n\n",
        b"\r\n",
        b",",
        b"\t",
        b" ",
        b"\"",
        b"\xff\x00",
        b"{\"a\":1}",
        b"2001:db8::1",
        b"x.y:z",
    ];
    for round in 0..60 {
        // Not taken for a table or JSON.
        let mut input = b"-\n".to_vec();
        for _ in 0..next() % 4000 {
            input.extend_from_slice(pieces[next() % pieces.len()]);
        }
        for args in [
            &[][..],
            &["--address", "all"],
            &["--field", "1", "--field", "2"],
        ] {
            let output = annotate("lost", args, &input);
            assert_eq!(output.status.code(), Some(0));
            let mut lines = input.split(|&byte| byte == b'\n').collect::<Vec<_>>();
            if lines.last().is_some_and(|line| line.is_empty()) {
                lines.pop();
            }
            let mut out = output
                .stdout
                .split(|&byte| byte == b'\n')
                .collect::<Vec<_>>();
            assert_eq!(out.pop(), Some(&b""[..]));
            assert_eq!(out.len(), lines.len(), "{round} {args:?}");
            for (line, out) in lines.iter().zip(out) {
                let (line, out) = match line.strip_suffix(b"\r") {
                    Some(line) => (line, out.strip_suffix(b"\r").expect("the same end")),
                    None => (*line, out),
                };
                assert!(
                    out.strip_prefix(line)
                        .is_some_and(|rest| rest.starts_with(b"\t"))
                );
            }
        }
    }
}

#[test]
fn a_line_of_many_megabytes() {
    let mut input = b"10.0.0.1\n".to_vec();
    input.extend_from_slice(&b"word 1.2 ".repeat(3 << 20));
    input.extend_from_slice(b"10.1.0.1\nx");
    let output = annotate("long-line", &["--value-only"], &input);
    assert_eq!(good(&output), "east\n192.0.2.1\n-\n");
    let output = annotate("utf-16", &[], b"\xff\xfe1\x000\x00");
    assert!(bad(&output).contains("UTF-16"), "{}", stderr(&output));
}

#[test]
fn threads_keep_every_line_and_their_order() {
    // Many blocks, each line another; the last one is not whole.
    let mut log = String::new();
    for n in 0..120_000u32 {
        let [_, b, c, d] = n.wrapping_mul(0x9e37_79b9).to_be_bytes();
        log += &format!("{n} from 10.{b}.{c}.{d} {}\n", "x".repeat(n as usize % 97));
    }
    log += "10.1.2.3";
    let one = annotate("threads", &[], &log);
    let expected = good(&one);
    assert_eq!(expected.lines().count(), 120_001);
    for threads in ["2", "3", "16", "0"] {
        let output = annotate("threads", &["--threads", threads], &log);
        assert_eq!(good(&output), expected, "{threads} threads");
    }
    // An error in the middle: all lines before it come out, none after it.
    let mut rows: String = (0..90_000u32).fold(String::from("ip,n\n"), |rows, n| {
        rows + &format!("10.0.{}.{},{n}\n", n >> 8 & 255, n & 255)
    });
    rows += "10.0.0.1,\"never closed\n";
    let csv = ["--column", "ip"];
    let one = annotate("threads-csv", &csv, &rows);
    for threads in ["2", "16"] {
        let args = [&csv[..], &["--threads", threads]].concat();
        let output = annotate("threads-csv", &args, &rows);
        assert_eq!(output.status, one.status, "{threads} threads");
        assert_eq!(stdout(&output), stdout(&one), "{threads} threads");
        assert_eq!(stderr(&output), stderr(&one), "{threads} threads");
    }
}
