//! Parquet out: tables and annotated addresses with all columns, of a command that was built with it.

use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use popfib_parquet::ParquetRows;
use serde_json::{Map, Value};

use crate::common::{TABLE, bad, file, good, path, run, run_with};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../engines/vectors");

/// The records that every engine is tested with, by the names of their columns.
fn records() -> Vec<Map<String, Value>> {
    let lines = fs::read_to_string(format!("{VECTORS}/records.jsonl")).unwrap();
    let lines = lines.lines().map(|line| {
        let mut record = Map::new();
        for (name, value) in serde_json::from_str::<Map<String, Value>>(line).unwrap() {
            match value {
                Value::Object(members) => {
                    record.extend(members.into_iter().map(|(n, v)| (format!("{name}.{n}"), v)));
                }
                value => _ = record.insert(name, value),
            }
        }
        record
    });
    lines.collect()
}

/// The rows of a file, without what is null.
fn rows(path: &str) -> Vec<Map<String, Value>> {
    let mut text = String::new();
    let mut rows = ParquetRows::open(Path::new(path)).unwrap();
    rows.read_to_string(&mut text).unwrap();
    let rows = text.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>().unwrap()
}

/// Writes the table of records as Parquet.
fn vectors() -> String {
    let (image, to) = (format!("{VECTORS}/records.fib"), path("vectors.parquet"));
    let from = ["--table", &image, "--vrf", "records", "--columns", "*"];
    let args = [&["convert", "--to", "parquet", "-o", &to], &from[..]].concat();
    assert_eq!(good(&run(&args)), "");
    to
}

#[test]
fn records_keep_their_columns_and_types() {
    let to = vectors();
    assert_eq!(rows(&to), records());
    // And as a table again.
    let args = ["convert", "--table", &to, "--columns", "*", "--to", "jsonl"];
    let again = run(&args);
    let again = good(&again)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    assert_eq!(again.collect::<Vec<Map<_, _>>>(), records());
}

/// As the most used reader of Parquet sees it.
#[test]
fn records_are_read_by_pyarrow() {
    const SCRIPT: &str = "\
import json, sys
import pyarrow.parquet as pq
table = pq.read_table(sys.argv[1])
table.validate(full=True)
print(json.dumps({field.name: str(field.type) for field in table.schema}))
for row in table.to_pylist():
    print(json.dumps({name: value for name, value in row.items() if value is not None}))
";
    // That of the tests of the Python package, or any other.
    let own = concat!(env!("CARGO_TARGET_TMPDIR"), "/../python/bin/python");
    let has = |python: &&&str| {
        let found = Command::new(python).args(["-c", "import pyarrow"]).output();
        found.is_ok_and(|output| output.status.success())
    };
    let Some(python) = [own, "python3"].iter().find(has).copied() else {
        println!("skipped: records_are_read_by_pyarrow: pyarrow is not installed");
        return;
    };
    let output = Command::new(python)
        .args(["-c", SCRIPT, &vectors()])
        .output()
        .unwrap();
    let mut lines = good(&output)
        .lines()
        .map(|line| serde_json::from_str::<Map<_, _>>(line).unwrap());
    let texts = "dictionary<values=string, indices=uint32, ordered=0>";
    let types = serde_json::json!({
        "prefix": "string", "country": texts, "asn": "int64", "names.city": texts,
        "tags": "list<element: string not null>", "ports": "list<element: int64 not null>",
        "rate": "double", "up": "bool", "delta": "int64", "id": "uint64",
    });
    let found: Value = lines.next().unwrap().into();
    assert_eq!(found, types);
    assert_eq!(lines.collect::<Vec<_>>(), records());
}

/// The columns of several tables beside each address, as the lines of JSON have them.
#[test]
fn addresses_get_all_columns() {
    let mut wanted = records();
    let mut addresses = String::new();
    for record in &wanted {
        let prefix = record["prefix"].as_str().unwrap();
        writeln!(addresses, "{}", prefix.split_once('/').unwrap().0).unwrap();
    }
    addresses.push_str("240.0.0.1\nffff::\n");
    wanted.extend([wanted[0].clone(), wanted[5].clone()]);
    let addresses = file("addresses.txt", addresses);
    let to = path("annotated.parquet");
    let image = format!("{VECTORS}/records.fib");
    let of_image = ["--table", &image, "--vrf", "records", "--columns", "*"];
    let (first, second) = (file("first", TABLE), format!("{VECTORS}/records.jsonl"));
    let (first, second) = (format!("a={first}"), format!("b={second}"));
    let of_two = ["--table", &first, "--table", &second, "--columns", "*"];
    for tables in [&of_image[..], &of_two] {
        for more in [&[][..], &["--value-only"]] {
            let args = [
                &["annotate", &addresses, "--input-format", "text"],
                tables,
                more,
            ]
            .concat();
            good(&run(&[&args[..], &["--to", "parquet", "-o", &to]].concat()));
            let lines = run(&[&args[..], &["--to", "csv"]].concat());
            let heading: Vec<_> = good(&lines).lines().next().unwrap().split(',').collect();
            let lines = run(&[&args[..], &["--to", "json-lines"]].concat());
            let lines = good(&lines).lines().map(|line| {
                let mut row: Map<_, _> = serde_json::from_str(line).unwrap();
                // The line itself, which neither CSV nor Parquet has.
                row.remove("message");
                row.retain(|name, value| {
                    assert!(heading.contains(&name.as_str()), "{name}");
                    !value.is_null()
                });
                row
            });
            assert_eq!(rows(&to), lines.collect::<Vec<_>>());
        }
    }
    // Without what the command itself says: no other prefix begins with these addresses, and the rest has the default routes.
    let args = [
        "annotate",
        &addresses,
        "--to",
        "parquet",
        "-o",
        &to,
        "--value-only",
    ];
    good(&run(&[&args[..], &of_image].concat()));
    let rows = rows(&to);
    assert_eq!(rows.len(), wanted.len());
    for (mut row, mut record) in rows.into_iter().zip(wanted) {
        let address = row.remove("address").unwrap();
        record.remove("prefix");
        assert_eq!(row, record, "{address}");
    }
}

#[test]
fn every_command_that_writes_tables() {
    let to = path("table.parquet");
    let text = |rows: Vec<Map<String, Value>>| {
        let rows = rows.iter().map(|row| {
            let value =
                |(name, value): (&String, &Value)| format!("{name}={}", value.as_str().unwrap());
            row.iter().map(value).collect::<Vec<_>>().join(" ")
        });
        rows.collect::<Vec<_>>()
    };
    let table = "10.0.0.0/9 a\n10.128.0.0/9 a\n::/0 b\n";
    let args = ["--table", "-", "--to", "parquet", "-o", &to];
    good(&run_with(
        &[&["convert"], &args[..]].concat(),
        table.as_bytes(),
    ));
    let wanted = [
        "next_hop=a prefix=10.0.0.0/9",
        "next_hop=a prefix=10.128.0.0/9",
        "next_hop=b prefix=::/0",
    ];
    assert_eq!(text(rows(&to)), wanted);
    let output = run_with(&[&["aggregate"], &args[..]].concat(), table.as_bytes());
    assert!(output.status.success());
    assert_eq!(
        text(rows(&to)),
        ["next_hop=a prefix=10.0.0.0/8", "next_hop=b prefix=::/0"]
    );
    good(&run_with(
        &[&["convert"], &args[..]].concat(),
        b"10.0.0.0/8\n",
    ));
    assert_eq!(text(rows(&to)), ["prefix=10.0.0.0/8"]);
    let csv = file("city.csv", "network,city\n10.0.0.0/8,Graz\n");
    let convert = [
        "convert",
        "--table",
        &csv,
        "--columns",
        "city",
        "--to",
        "parquet",
    ];
    good(&run(&[&convert[..], &["-o", &to]].concat()));
    assert_eq!(text(rows(&to)), ["city=Graz prefix=10.0.0.0/8"]);
    let (a, b) = (format!("a={}", file("a.txt", table)), format!("b={csv}"));
    good(&run(&["join", &a, &b, "--to", "parquet", "-o", &to]));
    let wanted = [
        "b.city=Graz prefix=10.0.0.0/8",
        "a=a b.city=Graz prefix=10.0.0.0/9",
        "a=a b.city=Graz prefix=10.128.0.0/9",
        "a=b prefix=::/0",
    ];
    assert_eq!(text(rows(&to)), wanted);
    // To standard output, the same bytes.
    let output = run(&convert);
    good(&run(&[&convert[..], &["-o", &to]].concat()));
    assert_eq!(output.stdout, fs::read(&to).unwrap());
}

#[test]
fn what_parquet_has_not_is_refused() {
    let table = file("table.txt", TABLE);
    let to = path("refused.parquet");
    let args = ["convert", "--table", &table, "--to", "parquet", "-o", &to];
    for option in [["--name", "x"], ["--le", "24"], ["--description", "x"]] {
        let said = "--to parquet: the form has no name, description or bounds of length (ge, le)";
        assert_eq!(bad(&run(&[&args[..], &option].concat())), said);
    }
    assert!(!Path::new(&to).exists());
    let addresses = file("two.csv", "a,b\n10.0.0.1,10.0.0.2\n");
    let args = ["annotate", &addresses, "--table", &table, "--to", "parquet"];
    let two = run(&[&args[..], &["--column", "a", "--column", "b"]].concat());
    assert_eq!(bad(&two), "--to parquet is for one address a row");
    let cut = run(&[&args[..], &["--cut", "/24"]].concat());
    let said = "--to parquet copies columns, addresses and all; --to csv has other addresses";
    assert_eq!(bad(&cut), said);
}

#[test]
fn counts_are_those_of_csv() {
    let text = "id,src,dst,bytes,rate\na,8.8.8.8,1.1.1.1,100,1.5\nb,8.8.8.8,1.1.1.1,50,0.25\n\
                c,2001:db8::8,8.8.8.8,7,0.5\nd,,9.9.9.9,9,2\n";
    let csv = file("flows.csv", text);
    // Its rows are routes to what CSV has in a row.
    let mut lines = text.lines();
    let heading = lines.next().unwrap();
    let routes = (0..)
        .zip(lines)
        .map(|(row, line)| format!("10.0.0.{row},{line}\n"));
    let table = format!("prefix,{heading}\n{}", routes.collect::<String>());
    let (table, to) = (file("flows-table.csv", table), path("flows.parquet"));
    let all = ["--columns", "*", "--to", "parquet", "-o", &to];
    good(&run(&[&["convert", &table], &all[..]].concat()));
    for args in [
        "--column src --column dst --pairs --by address --weight bytes",
        "--column dst --column src --pairs --weight rate --csv",
        "--column src --column dst --json",
        "--column src --by address --weight rate",
        "--column dst --unique --by /8",
    ] {
        let of = |file: &str| {
            let args: Vec<_> = ["count", file].into_iter().chain(args.split(' ')).collect();
            good(&run(&args)).to_owned()
        };
        assert_eq!(of(&to), of(&csv), "{args}");
    }
    let output = run(&["count", &to, "--column", "src", "--weight", "id"]);
    let said = "no line has a number at id for --weight to add";
    assert_eq!(bad(&output), said);
    let output = run(&["count", &to, "--column", "src", "--weight", "nothing"]);
    assert!(bad(&output).contains("no column \"nothing\"; there are "));
    // Without --column it is the first of text that begins with an address.
    let listed = file(
        "listed.csv",
        "network,id,src\n10.0.0.0/8,7,192.0.2.1\n10.0.0.0/9,8,\n",
    );
    good(&run(&[&["convert", &listed], &all[..]].concat()));
    let output = run(&["count", &to, "--by", "address"]);
    assert_eq!(good(&output), "1\t-\n1\t192.0.2.1\n");
}

#[test]
fn a_column_names_the_table_of_each_row() {
    let red = file("parquet-red", "10.0.0.0/8 red1\n0.0.0.0/0 both\n");
    let blue = file("parquet-blue", "10.0.0.0/8 both\n10.1.0.0/16 blue2\n");
    let image = path("parquet-two.fib");
    let (red, blue) = (format!("red={red}"), format!("blue={blue}"));
    good(&run(&["compile", &red, &blue, "-o", &image]));
    let listed = file(
        "parquet-flows.csv",
        "network,id,vrf,src,bytes\n10.0.0.0/32,a,red,10.1.2.3,7\n10.0.0.1/32,b,blue,10.1.2.3,8\n10.0.0.2/32,c,red,192.0.2.1,9\n",
    );
    let flows = path("parquet-flows.parquet");
    let columns = ["--columns", "*", "--to", "parquet", "-o", &flows];
    good(&run(&[&["convert", &listed], &columns[..]].concat()));
    let args = ["-t", &image, "--table-column", "vrf", "--column", "src"];
    let of = |command: &str, more: &[&str]| run(&[&[command, &flows], &args[..], more].concat());
    let annotated =
        "10.1.2.3\t10.0.0.0/8\tred1\n10.1.2.3\t10.1.0.0/16\tblue2\n192.0.2.1\t0.0.0.0/0\tboth\n";
    assert_eq!(good(&of("annotate", &[])), annotated);
    assert_eq!(good(&of("count", &[])), "1\tblue2\n1\tboth\n1\tred1\n");
    let to = path("parquet-annotated.parquet");
    good(&of(
        "annotate",
        &["--value-only", "--to", "parquet", "-o", &to],
    ));
    let hops = rows(&to);
    let hops = hops.iter().map(|row| row["next_hop"].as_str().unwrap());
    assert_eq!(hops.collect::<Vec<_>>(), ["red1", "blue2", "both"]);
    let output = of("count", &["--weight", "bytes"]);
    let error = bad(&output);
    assert!(error.ends_with("a Parquet file has --weight or --table-column"));
}
