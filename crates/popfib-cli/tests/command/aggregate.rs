//! `popfib aggregate`: fewer routes, the same answers.

use crate::common::{TABLE, bad, file, good, run, run_with, stderr, stdout};
use crate::set::{held, random_list};

/// A repetition, halves, a hole (12.0.0.0/7 but for 13.128.0.0/9), and a majority
/// that ORTC alone moves up (20.0.0.0/6).
const WORDY: &str = "\
10.0.0.0/8 east
10.1.0.0/16 east
12.0.0.0/8 west
13.0.0.0/9 west
20.0.0.0/8 north
21.0.0.0/8 south
22.0.0.0/8 north
23.0.0.0/8 east
2001:db8::/33 east
2001:db8:8000::/33 east
";

#[test]
fn ortc_is_the_default() {
    let table = file("aggregate-ortc", WORDY);
    let output = run(&["aggregate", "--table", &table]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        stderr(&output),
        "popfib: ipv4: 8 routes in, 6 out, 2 saved (25.0 %)\n\
         popfib: ipv6: 2 routes in, 1 out, 1 saved (50.0 %)\n"
    );
    let optimal = "10.0.0.0/8 east\n12.0.0.0/8 west\n13.0.0.0/9 west\n20.0.0.0/6 north\n\
        21.0.0.0/8 south\n23.0.0.0/8 east\n2001:db8::/32 east\n";
    assert_eq!(stdout(&output), optimal);
    let named = run(&["aggregate", "--table", &table, "--method", "ortc"]);
    assert_eq!(stdout(&named), optimal);
}

#[test]
fn the_simple_one_invents_no_prefix() {
    let table = file("aggregate-simple", WORDY);
    let output = run(&["aggregate", "--table", &table, "--method", "simple"]);
    assert_eq!(
        stderr(&output),
        "popfib: ipv4: 8 routes in, 7 out, 1 saved (12.5 %)\n\
         popfib: ipv6: 2 routes in, 1 out, 1 saved (50.0 %)\n"
    );
    let lines: Vec<_> = WORDY.lines().filter(|l| !l.starts_with("10.1.")).collect();
    let wanted = lines[..7].join("\n") + "\n2001:db8::/32 east\n";
    assert_eq!(stdout(&output), wanted);
}

#[test]
#[ignore = "full tables"]
fn heavy_answers_stay_the_same_on_the_built_in_table() {
    let whole = file("aggregate-whole.txt", good(&run(&["convert"])));
    let mut lengths = vec![901_899 + 160_147];
    for method in ["simple", "ortc"] {
        let smaller = file(&format!("aggregate-{method}.gz"), "old");
        let output = run(&["aggregate", "--method", method, "-o", &smaller]);
        assert_eq!(stdout(&output), "");
        assert_eq!(stderr(&output).lines().count(), 2);
        assert_eq!(good(&run(&["diff", "--effective", &whole, &smaller])), "");
        let output = run(&["convert", "--table", &smaller]);
        lengths.push(good(&output).lines().count());
    }
    assert!(lengths.is_sorted_by(|a, b| a > b), "{lengths:?}");
    // A table without the last route differs from the whole.
    let text = good(&run(&["convert"])).to_owned();
    let cut = text[..text.len() - 1].rfind('\n').unwrap();
    let short = file("aggregate-short.txt", &text[..=cut]);
    let output = run(&["diff", "--effective", &whole, &short]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn other_forms_and_bad_input() {
    let table = file("aggregate-forms", TABLE);
    let output = run(&["aggregate", "--table", &table, "--to", "csv"]);
    assert!(stdout(&output).starts_with("prefix,next_hop\n10.0.0.0/8,east\n"));
    assert_eq!(
        run(&["aggregate", "--method", "best"]).status.code(),
        Some(2)
    );
    let broken = file("aggregate-broken", "10.0.0.0/8 a\n10.0.0.1/8 a\n");
    let output = run(&["aggregate", "--table", &broken]);
    assert!(bad(&output).starts_with(&format!("{broken}:2: ")));
}

#[test]
fn a_list_of_answers_is_that_of_each_address() {
    let mut state = 452;
    for round in 0..10 {
        let (text, _) = random_list(&mut state);
        let table = file(&format!("answers-{round}"), &text);
        let addresses: String = (0..256).map(|byte| format!("192.0.2.{byte}\n")).collect();
        let answers = run_with(&["lookup", "-t", &table], addresses.as_bytes());
        let wanted = |line: &str| line.ends_with("\tv0") || line.ends_with("\tv2");
        let wanted: Vec<bool> = good(&answers).lines().map(wanted).collect();
        let condition = ["aggregate", "--where", "value=v0,v2", &table];
        let is_known = text.contains("v0") && text.contains("v2");
        if !is_known {
            // A value that is nowhere may be a slip.
            assert!(stderr(&run(&condition)).contains("no record has value="));
        }
        let output = run(&condition);
        let (found, lengths) = held(stdout(&output));
        assert_eq!(found, wanted, "{text}");
        assert_eq!(
            output.status.code(),
            Some(i32::from(!wanted.contains(&true)))
        );
        // Fewer prefixes have more addresses, and none is lost.
        for at_most in 1..=lengths.len() {
            let count = at_most.to_string();
            let output = run(&[&condition[..], &["--at-most", &count]].concat());
            let (covered, lengths) = held(stdout(&output));
            assert!(lengths.len() <= at_most, "{text}");
            let extra = covered.iter().zip(&wanted).filter(|(is_in, wanted)| {
                assert!(**is_in || !**wanted, "{text}");
                is_in != wanted
            });
            let said = format!("{} addresses more", extra.count());
            assert!(stderr(&output).contains(&said), "{text}{said}");
        }
    }
}

#[test]
fn lists_are_made_of_lists() {
    let table = file("several", "10.0.0.0/8 a\n11.0.0.0/8 b\n");
    let said = run(&["aggregate", &table, "--at-most", "1"]);
    assert!(bad(&said).ends_with("this table has several values; --where chooses some"));
    for (args, reason) in [
        (["--at-most", "0"], "--at-most"),
        (["--where", "value"], "COLUMN=VALUE"),
        (["--where", "country=US"], "no column \"country\""),
    ] {
        let output = run(&["aggregate", &table, args[0], args[1]]);
        let said = bad(&output);
        assert!(said.contains(reason), "{said}");
    }
}
