//! `--table-column`: each line is looked up in the table that it names.

use std::fs;

use crate::common::{bad, file, good, run, run_with, stderr, stdout};

const LINES: &str = "10.1.2.3 red\n10.1.2.3 blue\n8.8.8.8 red\n8.8.8.8 blue\nno address\n10.0.0.1 green\n2001:db8::1 \"red\"\n10.0.0.1\n";

/// An image of the tables red and blue.
fn image(name: &str, more: &[&str]) -> String {
    let red = file(
        &format!("table-column-{name}-red"),
        "10.0.0.0/8 red1\n0.0.0.0/0 both\n2001:db8::/32 red6\n",
    );
    let blue = file(
        &format!("table-column-{name}-blue"),
        "10.0.0.0/8 both\n10.1.0.0/16 blue2\n",
    );
    let image = file(&format!("table-column-{name}.fib"), "");
    fs::remove_file(&image).unwrap();
    let (red, blue) = (format!("red={red}"), format!("blue={blue}"));
    good(&run(
        &[&["compile", &red, &blue, "-o", &image], more].concat()
    ));
    image
}

#[test]
fn lines_name_their_tables() {
    let image = image("lines", &[]);
    let of = |command: &str, args: &[&str], input: &str| {
        let all = [&[command, "--table", &image, "--table-column"], args].concat();
        let output = run_with(&all, input.as_bytes());
        (stdout(&output).to_owned(), stderr(&output).to_owned())
    };
    let unknown = "popfib: 2 lines of unknown tables, the first of \"green\"\n";
    let answers = [
        "10.0.0.0/8\tred1",
        "10.1.0.0/16\tblue2",
        "0.0.0.0/0\tboth",
        "-\t-",
        "-\t-",
        "-\t-",
        "2001:db8::/32\tred6",
        "-\t-",
    ];
    let lines = LINES.lines().zip(answers);
    let annotated: String = lines
        .map(|(line, answer)| format!("{line}\t{answer}\n"))
        .collect();
    let wanted = (annotated, unknown.to_owned());
    assert_eq!(of("annotate", &["2"], LINES), wanted);
    assert_eq!(of("annotate", &["2", "--threads", "3"], LINES), wanted);
    let counted = "4\t-\n1\tblue2\n1\tboth\n1\tred1\n1\tred6\n";
    assert_eq!(
        of("count", &["2"], LINES),
        (counted.to_owned(), unknown.to_owned())
    );
    let counted = "4\t-\t-\n1\t0.0.0.0/0\tboth\n1\t10.0.0.0/8\tred1\n1\t10.1.0.0/16\tblue2\n1\t2001:db8::/32\tred6\n";
    let by_prefix = of("count", &["2", "--by", "prefix"], LINES);
    assert_eq!(by_prefix, (counted.to_owned(), unknown.to_owned()));
    let asked = "# a comment\n10.1.2.3 blue\n\n10.1.2.3 red\n10.1.2.3 green\n";
    let looked_up = "10.1.2.3\t10.1.0.0/16\tblue2\n10.1.2.3\t10.0.0.0/8\tred1\n10.1.2.3\t-\t-\n";
    let unknown = "popfib: 1 line of unknown tables, the first of \"green\"\n";
    assert_eq!(
        of("lookup", &["2"], asked),
        (looked_up.to_owned(), unknown.to_owned())
    );
    // The IPv4 address is looked up in the table of the line, too.
    let mapped = "::ffff:8.8.8.8 red\n::ffff:8.8.8.8 blue\n";
    let note = "popfib: 1 IPv4-mapped address has no answer as IPv6 and one as IPv4, which --unmap takes\n";
    assert_eq!(
        of("annotate", &["2", "--value-only"], mapped),
        ("-\n-\n".to_owned(), note.to_owned())
    );
}

#[test]
fn columns_and_members_name_tables() {
    let image = image("columns", &[]);
    let table = ["--table", &image, "--table-column", "vrf"];
    let csv = "src,vrf,dst\n10.1.2.3,\"red\",8.8.8.8\n10.1.2.3,blue,\n";
    let columns = [
        "--input-format",
        "csv",
        "--column",
        "src",
        "--column",
        "dst",
    ];
    let both = run_with(
        &[&["annotate", "--value-only"], &table[..], &columns].concat(),
        csv.as_bytes(),
    );
    assert_eq!(
        good(&both),
        "src,vrf,dst,src_next_hop,dst_next_hop\n10.1.2.3,\"red\",8.8.8.8,red1,both\n10.1.2.3,blue,,blue2,\n"
    );
    let pairs = run_with(
        &[&["count", "--pairs"], &table[..], &columns].concat(),
        csv.as_bytes(),
    );
    assert_eq!(good(&pairs), "1\tblue2\t-\n1\tred1\tboth\n");
    let each = run_with(&[&["count"], &table[..], &columns].concat(), csv.as_bytes());
    assert_eq!(good(&each), "1\t-\n1\tblue2\n1\tboth\n1\tred1\n");
    let json = "{\"vrf\":\"blue\",\"ip\":\"10.1.2.3\"}\n{\"ip\":\"10.1.2.3\"}\n";
    let args = ["annotate", "--path", "ip", "--value-only"];
    let output = run_with(&[&args, &table[..]].concat(), json.as_bytes());
    assert_eq!(
        stdout(&output),
        "{\"vrf\":\"blue\",\"ip\":\"10.1.2.3\",\"next_hop\":\"blue2\"}\n{\"ip\":\"10.1.2.3\",\"next_hop\":null}\n"
    );
    let output = run_with(
        &[
            &["annotate", "--input-format", "csv"],
            &["--table", &image, "--table-column", "no"][..],
        ]
        .concat(),
        csv.as_bytes(),
    );
    assert!(
        bad(&output)
            .contains("no column \"no\" for --table-column; there are \"src\", \"vrf\", \"dst\"")
    );
}

#[test]
fn tables_of_a_router_and_conditions() {
    let table = file(
        "table-column-routes",
        "10.0.0.0/8 via 192.0.2.1 dev a table 100\n10.0.0.0/8 via 192.0.2.2 dev a\n10.2.0.0/16 via 192.0.2.3 dev a table 100\n",
    );
    let lines = "10.2.0.1 100\n10.2.0.1 main\n10.2.0.1 254\n10.2.0.1 7\n";
    let of = |more: &[&str]| {
        let args = [
            "annotate",
            "--value-only",
            "--table",
            &table,
            "--table-column",
            "2",
        ];
        let output = run_with(&[&args, more].concat(), lines.as_bytes());
        stdout(&output).to_owned()
    };
    assert_eq!(of(&[]), "192.0.2.3\n192.0.2.2\n192.0.2.2\n-\n");
    assert_eq!(
        of(&["--where", "value=192.0.2.2"]),
        "-\n192.0.2.2\n192.0.2.2\n-\n"
    );
}

#[test]
fn what_has_no_tables_is_refused() {
    let image = image("keep", &["--keep", "prefixes"]);
    let table = file("table-column-one", "10.0.0.0/8 x\n");
    let two = format!("b={table}");
    let with = |args: &[&str], reason: &str| {
        let output = run(&[&["annotate", "--table-column", "2"], args, &[&table]].concat());
        let error = bad(&output);
        assert!(error.contains(reason), "{error}");
    };
    with(&["-t", &image], "the image was compiled without its routes");
    with(&["-t", &table], "text has no tables to choose from");
    with(&[], "--table-column needs --table FILE");
    with(
        &["-t", &table, "-t", &two],
        "--table-column takes the tables of one file; `popfib compile` makes an image of several",
    );
    with(&["-t", &table, "--fill"], "are for one table of a file");
    let output = run(&["lookup", "-t", &image, "--table-column", "2", "10.0.0.1"]);
    let reason =
        "--table-column is for lines of standard input; --vrf NAME names that of arguments";
    assert_eq!(bad(&output), reason);
}
