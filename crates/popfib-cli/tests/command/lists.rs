//! Lists in the languages of routers and firewalls: the programs themselves take what
//! `popfib convert` writes, and what they print is read. Each works in a network namespace
//! of its own, or checks only.

use std::collections::BTreeSet;
use std::fs;
use std::net::Ipv4Addr;
use std::process::{Command, Output};

use crate::common::{bad, file, good, path, run, run_with, stderr, stdout};

/// Prefixes inside of each other, hosts, and next to each other, in both families.
const PREFIXES: &str = "\
10.0.0.0/8
10.1.0.0/16
192.0.2.1/32
198.51.100.0/25
198.51.100.128/25
2001:db8::/32
2001:db8:1::/48
";

/// Runs `script` by a shell with the file's name as `$1`, in a new network namespace; `None`
/// where that cannot be made or `program` is not there.
pub(crate) fn on_its_own(program: &str, script: &str, file: &str) -> Option<Output> {
    let run = |script: &str| {
        Command::new("unshare")
            .args(["-rn", "sh", "-c", script, "sh", file])
            .output()
    };
    match run(&format!("command -v {program}")) {
        Ok(output) if output.status.success() => Some(run(script).unwrap()),
        Ok(output) if output.stderr.is_empty() => {
            println!("skipped: {program}: it is not installed");
            None
        }
        _ => {
            println!("skipped: {program}: no network namespace");
            None
        }
    }
}

/// The list in this form, as a file.
fn list(form: &str, more: &[&str]) -> String {
    let args = [&["convert", "--table", "-", "--to", form][..], more].concat();
    let output = run_with(&args, PREFIXES.as_bytes());
    file(&format!("lists-{form}"), good(&output))
}

/// Expects success without a word of complaint; what was printed.
pub(crate) fn taken(program: &str, output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {told}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The prefixes that popfib reads in what a program printed.
fn read_back(name: &str, printed: &str) -> String {
    let table = file(name, printed);
    good(&run(&["convert", "--table", &table, "--to", "plain"])).to_owned()
}

#[test]
fn every_list_comes_back() {
    let forms = [
        "plain",
        "cisco-prefix-list",
        "cisco-acl",
        "junos-prefix-list",
        "junos-route-filter",
        "bird",
        "frr",
        "nftables",
        "ipset",
        "iptables",
        "pf",
        "openbgpd",
    ];
    for form in forms {
        let written = list(form, &[]);
        let back = run(&["convert", "--table", &written, "--to", "plain"]);
        assert_eq!(good(&back), PREFIXES, "{form}");
    }
}

#[test]
fn nft_takes_its_sets() {
    let written = list("nftables", &["--name", "b-l.x"]);
    let script = "nft -c -f $1 && nft -f $1 && nft list ruleset";
    let Some(output) = on_its_own("nft", script, &written) else {
        return;
    };
    // Neighbours and what lies in others are one element there.
    let wanted = "10.0.0.0/8\n192.0.2.1/32\n198.51.100.0/24\n2001:db8::/32\n";
    assert_eq!(read_back("lists-nft-list", &taken("nft", &output)), wanted);
}

/// What popfib refuses as a name the program refuses, too.
#[test]
fn words_of_a_language_are_no_names() {
    let of_nft = "drop accept ip set list xt gc-interval";
    let of_bird = "accept filter protocol net RTS_BGP bgp_path as zero";
    for (program, form, words, check) in [
        ("nft", "nftables", of_nft, "nft -c -f -"),
        ("bird", "bird", of_bird, "bird -p -c /dev/stdin"),
    ] {
        let written = list(form, &["--name", "popfib_or"]);
        let mut script = format!("set -e; {check} < $1; ");
        for word in words.split(' ') {
            let args = ["convert", "-", "--to", form, "--name", word];
            let output = run_with(&args, PREFIXES.as_bytes());
            let refused = "a word of the language, and no name there; ";
            assert!(stderr(&output).contains(refused), "{word}");
            // Not the suffix of IPv6, with which it is one.
            let named = format!("sed 's/popfib_or\\>/{word}/' $1");
            script += &format!("! {named} | {check} 2>/dev/null; ");
        }
        // BIRD wants a protocol.
        let text = fs::read_to_string(&written).unwrap();
        let rest =
            ["", "router id 192.0.2.1;\nprotocol device {}\n"][usize::from(program == "bird")];
        let whole = file(&format!("lists-words-{program}"), text + rest);
        if let Some(output) = on_its_own(program, &script, &whole) {
            taken(program, &output);
        }
    }
}

#[test]
fn ipset_takes_its_sets() {
    let written = list("ipset", &["--name", "b-l.x"]);
    let Some(output) = on_its_own("ipset", "ipset restore -f $1 && ipset save", &written) else {
        return;
    };
    let saved = taken("ipset", &output);
    assert_eq!(read_back("lists-ipset-save", &saved), PREFIXES);
}

#[test]
fn iptables_take_their_chains() {
    let written = list("iptables", &["--name", "b-l.x"]);
    for (program, is_ipv6) in [("iptables", false), ("ip6tables", true)] {
        let script = format!("{program}-restore $1 && {program}-save");
        let Some(output) = on_its_own(&format!("{program}-restore"), &script, &written) else {
            return;
        };
        let lines = PREFIXES
            .lines()
            .filter(|line| line.contains(':') == is_ipv6);
        let wanted: String = lines.map(|line| format!("{line}\n")).collect();
        let saved = taken(program, &output);
        assert_eq!(read_back(&format!("lists-{program}-save"), &saved), wanted);
    }
}

/// Lists of random prefixes, of which many lie in others or touch; what a list in use becomes by their difference.
#[test]
fn firewalls_take_changes() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut prefixes = BTreeSet::new();
    while prefixes.len() < 400 {
        let len = random.u8(0..=12);
        let bits = u32::from(random.u16(..)) & 0xfff & !0 << len;
        prefixes.insert(match random.bool() {
            true => format!("{}/{}\n", Ipv4Addr::from(10 << 24 | bits << 4), 28 - len),
            false => format!("2001:db8:{:x}::/{}\n", bits, 48 - len),
        });
    }
    let mut list = || {
        let kept = prefixes.iter().filter(|_| random.u8(..) < 200);
        kept.map(String::as_str).collect::<String>()
    };
    let lists = [list(), list()];
    let [old, new] = ["old", "new"].map(|name| path(&format!("lists-{name}.txt")));
    for (path, list) in [&old, &new].into_iter().zip(&lists) {
        fs::write(path, list).expect("a file");
    }
    for (form, program, script) in [
        (
            "ipset",
            "ipset",
            "ipset restore -f $1; ipset restore -f $1.changes; ipset save",
        ),
        (
            "iptables",
            "iptables-restore",
            "iptables-restore $1; iptables-restore --noflush $1.changes; iptables-save",
        ),
        (
            "iptables",
            // That of nf_tables (1.8.9) takes away the rule of another length of the same address.
            "ip6tables-legacy-restore",
            "ip6tables-legacy-restore $1; ip6tables-legacy-restore --noflush $1.changes; ip6tables-legacy-save",
        ),
    ] {
        let written = path(&format!("lists-{form}-old"));
        good(&run(&["convert", &old, "--to", form, "-o", &written]));
        let changes = run(&["diff", &old, &new, "--to", form]);
        assert_eq!(changes.status.code(), Some(1));
        fs::write(format!("{written}.changes"), &changes.stdout).expect("a file");
        let Some(output) = on_its_own(program, &format!("set -e; {script}"), &written) else {
            continue;
        };
        let saved = read_back("lists-changed", &taken(program, &output));
        let wanted = stdout(&run(&["convert", &new, "--to", "plain"])).to_owned();
        let wanted = wanted.lines().filter(|line| match program {
            "ipset" => true,
            "iptables-restore" => !line.contains(':'),
            _ => line.contains(':'),
        });
        assert!(saved.lines().eq(wanted), "{program}");
    }
    let nothing = run(&["diff", &new, &new, "--to", "ipset"]);
    assert_eq!(good(&nothing), "");
}

#[test]
fn bird_takes_its_sets() {
    for more in [&[][..], &["--le", "24"], &["--ge", "26"]] {
        let written = list("bird", more);
        let config = format!(
            "{}protocol device {{ }}\nfilter f {{ if net ~ popfib || net ~ popfib_v6 then accept; reject; }}\n",
            fs::read_to_string(&written).unwrap()
        );
        let config = file("lists-bird.conf", config);
        let Some(output) = on_its_own("bird", "bird -p -c $1", &config) else {
            return;
        };
        taken("bird", &output);
    }
}

#[test]
fn openbgpd_takes_its_sets() {
    for more in [
        &[][..],
        &["--le", "24"],
        &["--ge", "26"],
        &["--ge", "24", "--le", "24"],
    ] {
        let written = list("openbgpd", more);
        let config = format!("AS 64500\n{}", fs::read_to_string(&written).unwrap());
        let config = file("lists-bgpd.conf", config);
        // It wants its configuration to be for its owner alone.
        let script = "chmod 600 $1 && bgpd -n -f $1";
        // FRR has a bgpd, too, and no bgpctl.
        let Some(output) = on_its_own("bgpctl", script, &config) else {
            return;
        };
        taken("bgpd", &output);
    }
}

#[test]
fn frr_takes_its_lists() {
    for more in [
        &[][..],
        &["--le", "24"],
        &["--ge", "26"],
        &["--ge", "24", "--le", "24"],
    ] {
        let written = list("frr", more);
        let Some(output) = on_its_own("vtysh", "vtysh -C -f $1", &written) else {
            return;
        };
        taken("vtysh", &output);
    }
}

#[test]
fn what_is_forbidden_leaves_no_file() {
    let table = file("lists-forbidden", "0.0.0.0/0\n10.0.0.0/8\n");
    let out = path("lists-forbidden-out");
    for (args, error) in [
        (
            &["--to", "ipset"][..],
            "--to ipset: the form holds no prefix of length 0",
        ),
        (
            &["--to", "bird", "--name", "a-b"],
            "--to bird: \"a-b\": not a name there, which is a letter, then letters, digits, _",
        ),
        (
            &["--to", "plain", "--name", "a"],
            "--to plain: the form has no name, and \"a\" no place",
        ),
        (
            &["--to", "frr", "--ge", "33"],
            "--to frr: no prefix of IPv4 has the length 33",
        ),
        (
            &["--to", "csv", "--le", "24"],
            "--to csv: the form has no bounds of length (ge, le)",
        ),
    ] {
        let args = [&["convert", "--table", &table, "-o", &out], args].concat();
        assert_eq!(bad(&run(&args)), error);
        assert!(fs::metadata(&out).is_err());
    }
}

#[test]
fn a_table_by_name() {
    let table = file(
        "lists-vrf",
        "10.0.0.0/8 via 192.0.2.1 dev a table 100\n10.0.0.0/8 via 192.0.2.2 dev a\n",
    );
    let of = |name| run(&["convert", "--table", &table, "--vrf", name]);
    assert_eq!(stdout(&of("100")), "10.0.0.0/8 192.0.2.1\n");
    assert_eq!(stdout(&of("main")), "10.0.0.0/8 192.0.2.2\n");
    assert!(bad(&of("blue")).contains("there is no route in it from table \"blue\""));
}
