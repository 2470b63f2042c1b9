//! `popfib clickhouse`: blocks of the format Native, as ClickHouse sends them.
//!
//! `engines/clickhouse/test` asks the same of ClickHouse itself.

use std::io::{Read, Write};
use std::net::IpAddr;
use std::process::Stdio;

use crate::common::{TABLE, bad, feed, file, popfib, run_with, stderr};

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn text(text: impl AsRef<[u8]>) -> Vec<u8> {
    let mut bytes = varint(text.as_ref().len() as u64);
    bytes.extend_from_slice(text.as_ref());
    bytes
}

fn block(name: &str, type_name: &str, rows: usize, values: impl AsRef<[u8]>) -> Vec<u8> {
    let start = [vec![1], varint(rows as u64), text(name), text(type_name)];
    [&start.concat(), values.as_ref()].concat()
}

fn texts(rows: &[&str]) -> Vec<u8> {
    let values: Vec<u8> = rows.iter().flat_map(text).collect();
    block("c1", "String", rows.len(), values)
}

/// The block that answers with these texts.
fn answers(rows: &[Option<&str>]) -> Vec<u8> {
    let nulls = rows.iter().map(|row| u8::from(row.is_none()));
    let values = rows.iter().flat_map(|row| text(row.unwrap_or_default()));
    let values: Vec<u8> = nulls.chain(values).collect();
    block("result", "Nullable(String)", rows.len(), values)
}

/// What comes out for `input`.
#[track_caller]
fn ask(args: &[&str], input: &[u8]) -> Vec<u8> {
    let output = run_with(&[&["clickhouse"], args].concat(), input);
    assert_eq!(stderr(&output), "");
    assert_eq!(output.status.code(), Some(0));
    output.stdout
}

#[test]
fn every_row_of_every_block_is_answered() {
    let table = file("clickhouse-rows", TABLE);
    let args = ["--table", &table];
    assert_eq!(ask(&args, b""), b"");
    let long = "1".repeat(300_000);
    let first = texts(&["10.1.2.3", "", "2001:db8::1", "11.0.0.0", "10.9.0.0", &long]);
    let second = texts(&[
        "2001:db8:0:1::",
        "::ffff:10.1.2.3",
        " 10.1.2.3",
        "10.0.0.0/8",
    ]);
    let want = [
        answers(&[Some("64500"), None, Some("east"), None, Some("east"), None]),
        answers(&[Some("west"), None, None, None]),
    ];
    assert_eq!(ask(&args, &[first, second.clone()].concat()), want.concat());
    let unmapped = answers(&[Some("west"), Some("64500"), None, None]);
    assert_eq!(ask(&[&args[..], &["--unmap"]].concat(), &second), unmapped);
    let prefixes = answers(&[Some("2001:db8:0:1::/64"), None, None, None]);
    let args = ["--table", &table, "--answer", "prefix"];
    assert_eq!(ask(&args, &second), prefixes);
}

#[test]
fn a_block_is_answered_before_the_next_comes() {
    let table = file("clickhouse-flush", TABLE);
    let mut command = popfib(&["clickhouse", "--table", &table]);
    let mut child = (command.stdin(Stdio::piped()).stdout(Stdio::piped()))
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = child.stdout.take().expect("a pipe");
    for (asked, want) in [
        ("10.0.0.1", Some("east")),
        ("x", None),
        ("10.1.2.3", Some("64500")),
    ] {
        let want = answers(&[want]);
        let mut answer = vec![0; want.len()];
        // Byte by byte: no read of the command's is a whole block.
        for byte in texts(&[asked]) {
            stdin.write_all(&[byte]).expect("it reads");
        }
        stdout.read_exact(&mut answer).expect("it answers");
        assert_eq!(answer, want);
    }
    drop(stdin);
    assert!(child.wait().expect("the command ends").success());
}

/// Addresses of both families near the routes' edges, asked in blocks that are longer than what is read at a time.
#[test]
fn every_type_gives_the_answer_of_a_scan() {
    let routes: [(&str, &str); 6] = [
        ("10.0.0.0/8", "1"),
        ("10.1.0.0/16", "4294967295"),
        ("10.1.2.3/32", "0"),
        ("2001:db8::/32", "7"),
        ("2001:db8:0:1::/64", "8"),
        ("::ffff:10.1.0.0/112", "9"),
    ];
    let lines: String = routes
        .iter()
        .map(|(prefix, value)| format!("{prefix} {value}\n"))
        .collect();
    let table = file("clickhouse-types", lines);
    let networks =
        routes.map(|(prefix, value)| (prefix.parse::<popfib::IpPrefix>().unwrap(), value));
    let scan = |address: IpAddr| {
        let covering = networks
            .iter()
            .filter(|(prefix, _)| prefix.contains(address));
        covering
            .max_by_key(|(prefix, _)| prefix.len())
            .map(|(_, value)| *value)
    };
    let mut random = fastrand::Rng::with_seed(1);
    let ipv4: Vec<u32> = (0..70_000)
        .map(|_| 0x0a01_0200 ^ random.u32(..) >> random.u32(..32))
        .collect();
    let near = |bits: u128| bits ^ random.u128(..) >> random.u32(..128);
    let starts = [
        0x2001_0db8_u128 << 96,
        0x2001_0db8_u128 << 96 | 1 << 64,
        0xffff_0a01_0000,
    ];
    let ipv6: Vec<u128> = starts.into_iter().cycle().take(50_000).map(near).collect();
    let null = |row: usize| row % 5 == 3;

    let of_4: Vec<u8> = ipv4.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let of_6: Vec<u8> = ipv6.iter().flat_map(|bits| bits.to_be_bytes()).collect();
    let as_4: Vec<IpAddr> = ipv4.iter().map(|&bits| IpAddr::V4(bits.into())).collect();
    let as_6: Vec<IpAddr> = ipv6.iter().map(|&bits| IpAddr::V6(bits.into())).collect();
    let both: Vec<IpAddr> = as_4.iter().zip(&as_6).flat_map(|(&a, &b)| [a, b]).collect();
    let as_text: Vec<u8> = both
        .iter()
        .flat_map(|address| text(address.to_string()))
        .collect();
    let columns = [
        ("UInt32", &of_4, &as_4),
        ("IPv4", &of_4, &as_4),
        ("IPv6", &of_6, &as_6),
        ("FixedString(16)", &of_6, &as_6),
        ("String", &as_text, &both),
    ];
    for (name, values, addresses) in columns {
        let rows = addresses.len();
        let nulls: Vec<u8> = (0..rows).map(|row| u8::from(null(row))).collect();
        let nullable = [&nulls, &values[..]].concat();
        let plain = block("c1", name, rows, values);
        let with_nulls = block("c1", &format!("Nullable({name})"), rows, nullable);
        for (block_in, nullable) in [(plain, false), (with_nulls, true)] {
            let found: Vec<_> = (addresses.iter().enumerate())
                .map(|(row, &address)| scan(address).filter(|_| !(nullable && null(row))))
                .collect();
            assert!(
                ask(&["--table", &table], &block_in) == answers(&found),
                "{name}"
            );
            let nulls = found.iter().map(|value| u8::from(value.is_none()));
            let numbers = found
                .iter()
                .map(|value| value.map_or(0, |value| value.parse().unwrap()));
            let of_32: Vec<u8> = nulls
                .clone()
                .chain(numbers.clone().flat_map(u32::to_le_bytes))
                .collect();
            let of_64: Vec<u8> = nulls
                .chain(numbers.flat_map(|n: u32| i64::from(n).to_le_bytes()))
                .collect();
            for (answer, type_name, values) in [
                ("uint32", "Nullable(UInt32)", of_32),
                ("int64", "Nullable(Int64)", of_64),
            ] {
                let out = ask(&["--table", &table, "--answer", answer], &block_in);
                assert!(
                    out == block("result", type_name, rows, values),
                    "{name} {answer}"
                );
            }
        }
    }
}

const RECORDS: &str = "../../engines/vectors/records.fib";

/// Elements of a tuple one after the other, each as a column by itself.
#[test]
fn several_columns_are_a_tuple() {
    let of = ["--table", RECORDS, "--vrf", "records", "--columns"];
    let asked = texts(&["10.1.2.3", "10.1.0.1", "x", "10.1.2.9"]);
    let names = "`up` Nullable(Bool), `ports` Array(Int64), `id` Nullable(UInt64), `country` Nullable(String), `rate` Nullable(Float64)";
    let numbers =
        |numbers: &[u64]| -> Vec<u8> { numbers.iter().flat_map(|n| n.to_le_bytes()).collect() };
    let values = [
        vec![0, 0, 1, 1, 1, 0, 0, 0],
        numbers(&[2, 2, 2, 3, 22, 443, 443]),
        vec![0, 1, 1, 1],
        numbers(&[u64::MAX, 0, 0, 0]),
        vec![0, 0, 1, 1],
        [text("AT"), text("AT"), text(""), text("")].concat(),
        vec![0, 0, 1, 1],
        numbers(&[1.5_f64.to_bits(), (-0.25_f64).to_bits(), 0, 0]),
    ];
    let want = block("result", &format!("Tuple({names})"), 4, values.concat());
    let columns = "up,ports,id,country,rate";
    assert_eq!(ask(&[&of[..], &[columns]].concat(), &asked), want);
    // One by itself is text, as is the column of values; null where the record has none.
    let id = ["18446744073709551615"];
    let want = answers(&[Some(id[0]), None, None, None]);
    assert_eq!(ask(&[&of[..], &["id"]].concat(), &asked), want);
    let want = answers(&[Some("64500"), None, None, Some("64500")]);
    assert_eq!(ask(&of[..4], &asked), want);
}

#[test]
fn columns_that_are_no_answer() {
    let cases: &[(&[&str], &str)] = &[
        (
            &["--columns", "up,town"],
            "no column \"town\" in \"country\", \"asn\",",
        ),
        (
            &["--columns", "up,id,up"],
            "--columns: \"up\" is given twice, which no tuple has",
        ),
        (
            &["--columns", "*", "--answer", "int64"],
            "--answer is for one column",
        ),
        (
            &["--columns", "id", "--answer", "int64"],
            "the value '18446744073709551615' is no number of the type Nullable(Int64)",
        ),
        (&["--xml", "1st"], "--xml: \"1st\" is no name of a function"),
        (&["--xml", "a b"], "--xml: \"a b\" is no name of a function"),
        (
            &["--xml", "a", "--argument", "Date"],
            "--argument: an argument of the type Date; addresses are String",
        ),
    ];
    for (args, reason) in cases {
        let args = [
            &["clickhouse", "--table", RECORDS, "--vrf", "records"],
            *args,
        ]
        .concat();
        let output = run_with(&args, b"");
        assert!(
            bad(&output).contains(reason),
            "{args:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn the_configuration_has_the_types_and_the_command() {
    let print = |args: &[&str]| {
        let xml = ask(
            &[&["--table", RECORDS, "--vrf", "records"], args].concat(),
            b"",
        );
        String::from_utf8(xml).expect("it is text")
    };
    for args in [
        &["--xml", "f", "--columns", "*", "--argument", "IPv6"][..],
        &["--argument=IPv6", "--columns", "*", "--xml=f"],
    ] {
        let xml = print(args);
        let command = format!(
            "<command>exec popfib clickhouse --table {RECORDS} --vrf records --columns '*'</command>"
        );
        assert!(xml.contains(&command), "{xml}");
        assert!(
            xml.contains("<name>f</name>\n        <argument><type>IPv6</type></argument>"),
            "{xml}"
        );
        assert!(xml.contains("<return_type>Tuple(`country` Nullable(String), `asn` Nullable(Int64), `names.city` "), "{xml}");
    }
    assert!(print(&["--xml", "f"]).contains("<return_type>Nullable(String)<"));
    let number = print(&["--xml", "f", "--answer", "uint32", "--columns", "asn"]);
    assert!(number.contains("<return_type>Nullable(UInt32)<"));
}

#[test]
fn images_are_tables_and_may_lack_prefixes() {
    let table = file("clickhouse-image", TABLE);
    let image = crate::common::path("clickhouse-image.fib");
    let bare = crate::common::path("clickhouse-bare.fib");
    for (image, option) in [(&image, None), (&bare, Some("--keep=values"))] {
        let args = ["compile", "--table", &table, "-o", image];
        let mut command = popfib(&args);
        command.args(option);
        assert!(command.status().expect("the command runs").success());
    }
    let asked = texts(&["10.1.2.3", "::1"]);
    for image in [&image, &bare] {
        assert_eq!(
            ask(&["--table", image], &asked),
            answers(&[Some("64500"), None])
        );
    }
    let prefix = ["--answer", "prefix", "--table"];
    assert_eq!(
        ask(&[&prefix[..], &[&image]].concat(), &asked),
        answers(&[Some("10.1.2.3/32"), None])
    );
    // Ends of arrays, and then prefixes, and values with those that are null.
    let covering = ask(&["--answer", "covering", "--table", &image], &asked);
    let routes = [
        ("10.0.0.0/8", "east"),
        ("10.1.0.0/16", "192.0.2.1"),
        ("10.1.2.3/32", "64500"),
    ];
    let values = [
        [3_u64.to_le_bytes(), 3_u64.to_le_bytes()].concat(),
        routes.iter().flat_map(|route| text(route.0)).collect(),
        vec![0; routes.len()],
        routes.iter().flat_map(|route| text(route.1)).collect(),
    ];
    let type_name = "Array(Tuple(`prefix` String, `value` Nullable(String)))";
    assert_eq!(covering, block("result", type_name, 2, values.concat()));
    for (answer, lacks) in [
        ("prefix", "name the matched prefix"),
        ("covering", "name all that cover"),
    ] {
        let args = ["clickhouse", "--answer", answer, "--table", &bare];
        let output = run_with(&args, &asked);
        let expected = format!("without the routes to {lacks}; `popfib compile`");
        assert!(bad(&output).contains(&expected), "{}", stderr(&output));
    }
}

#[test]
fn what_is_no_block_is_told_in_one_line() {
    let table = file("clickhouse-bad", TABLE);
    let args = ["clickhouse", "--table", &table];
    let good = texts(&["10.0.0.1"]);
    let endless = block("c1", "String", 1, [0xff; 16]);
    let cases: &[(&[u8], &str)] = &[
        // The header of `send_chunk_header`.
        (
            b"1\n",
            "standard input: block 1: 49 columns, and not the one argument",
        ),
        (
            &block("c1", "Date", 1, [0, 0]),
            "block 1: an argument of the type Date; addresses are",
        ),
        (
            &block("c1", "Nullable(Nullable(IPv4))", 1, [0; 9]),
            "the type Nullable(Nullable(IPv4))",
        ),
        (
            &[&good[..], &good[..good.len() - 1]].concat(),
            "block 2: the input ends within it",
        ),
        // As many rows as there may be, without any.
        (
            &block("c1", "IPv6", u32::MAX as usize, ""),
            "block 1: the input ends within it",
        ),
        (
            &block("c1", "String", u32::MAX as usize + 1, ""),
            "4294967296 rows are more",
        ),
        (&endless, "block 1: a number of more than 64 bits"),
        (
            &[&[1, 1][..], &varint(1 << 40)].concat(),
            "a name of 1099511627776 bytes",
        ),
    ];
    for (input, want) in cases {
        let output = run_with(&args, input);
        assert!(bad(&output).contains(want), "{want}: {}", stderr(&output));
    }
    let cut = run_with(&args, &[&good[..], &good[..3]].concat());
    assert_eq!(
        cut.stdout,
        answers(&[Some("east")]),
        "what was whole is answered"
    );
    let output = run_with(
        &["clickhouse", "--table", &table, "--answer", "uint32"],
        &good,
    );
    assert!(bad(&output).contains("is no number of the type Nullable(UInt32)"));
    let output = feed(popfib(&["clickhouse", "--table", "-"]), b"");
    assert!(bad(&output).contains("standard input has the addresses"));
}
