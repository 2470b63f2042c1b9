//! docs/recipes.md: the programs themselves take what its commands print. That they print what is shown there is checked by
//! `scripts/check-readme`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{file, good, path, run, run_with, stdout};
use crate::lists::{on_its_own, taken};
use crate::program;

/// What the commands below a heading print, one after the other.
fn printed(heading: &str) -> Vec<String> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recipes.md");
    let guide = fs::read_to_string(guide).expect("the guide");
    let folder = path("recipes");
    fs::create_dir_all(&folder).expect("a folder");
    let programs = Path::new(program()).parent().expect("a folder").display();
    let mut below = "";
    let mut printed = Vec::new();
    let mut lines = guide.lines().peekable();
    while let Some(line) = lines.next() {
        below = line.strip_prefix("### ").unwrap_or(below);
        let Some(command) = line.strip_prefix("$ ") else {
            continue;
        };
        // The files of the guide are made by its first commands, before any of these headings.
        if !below.is_empty() && below != heading {
            continue;
        }
        let mut command = command.to_owned();
        while command.matches('\'').count() % 2 == 1 {
            let more = lines.next().and_then(|line| line.strip_prefix("> "));
            command = format!("{command}\n{}", more.expect("the rest of a command"));
        }
        let output = Command::new("bash")
            .args(["-ec", &format!("PATH={programs}:$PATH; {command}")])
            .current_dir(&folder)
            .output()
            .expect("a shell");
        let text = good(&output).to_owned();
        if !below.is_empty() {
            printed.push(text);
        }
    }
    assert!(!printed.is_empty(), "{heading}: no command");
    printed
}

/// What `script` prints of a file with this text as `$1`, in a folder and a network namespace of its own where two clients have
/// addresses; `None` if `program` is not there.
fn check(program: &str, script: &str, text: &str) -> Option<String> {
    let conf = file(&format!("{program}.conf"), text);
    let script = format!(
        "cd \"${{1%/*}}\"; export PATH=$PATH:/usr/sbin; ip link set lo up
        for client in 192.0.2.7 198.51.100.9; do ip address add $client dev lo; done
        ask() {{ curl -s --retry 9 --retry-connrefused --retry-max-time 20 --max-time 20 --interface $1 -w ' %{{http_code}}\\n' http://127.0.0.1:8080/; }}
        {script}"
    );
    let output = on_its_own(program, &script, &conf)?;
    Some(taken(program, &output))
}

/// Whether the programs are there that ask servers.
fn can_ask() -> bool {
    ["ip", "curl"]
        .iter()
        .all(|program| on_its_own(program, "", "").is_some())
}

const ASK: &str = "ask 198.51.100.9; ask 192.0.2.7 | tail -c 4";

#[test]
fn nginx_takes_its_lists() {
    let lists = printed("nginx");
    // Folders of its own: it may not have those of the system.
    let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {name};\n"));
    let conf = format!(
        "user root;\npid nginx.pid;\nerror_log nginx.log;\nevents {{ }}\nhttp {{\naccess_log off;\n{}{}\
         server {{ listen 127.0.0.1:8080; location / {{\n{}try_files /none @owner; }}\n\
         location @owner {{ return 200 \"$owner\"; }} }}\n}}\n",
        folders.concat(),
        lists[1],
        lists[0]
    );
    let script = format!(
        "nginx -q -p . -e nginx.log -c $1 2>nginx.log || cat nginx.log >&2; {ASK}; kill $(cat nginx.pid)"
    );
    if can_ask()
        && let Some(said) = check("nginx", &script, &conf)
    {
        assert_eq!(said, "Tests 200\n403\n");
    }
}

/// The first block of text below a heading.
fn text_below(heading: &str) -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recipes.md");
    let guide = fs::read_to_string(guide).expect("the guide");
    let (_, below) = guide
        .split_once(&format!("### {heading}\n"))
        .expect(heading);
    let (_, text) = below.split_once("```text\n").expect("a block");
    let (text, _) = text.split_once("```").expect("an end");
    text.to_owned()
}

#[test]
fn haproxy_takes_its_lists() {
    let lists = printed("HAProxy");
    file("drop.lst", &lists[0]);
    file("owners.map", &lists[1]);
    let conf = "defaults\n mode http\n timeout client 9s\n timeout connect 9s\n timeout server 9s\nfrontend f\n \
        bind 127.0.0.1:8080\n acl blocked src -f drop.lst\n http-request deny if blocked\n http-request return status 200 \
        content-type text/plain lf-string \"%[src,map_ip(owners.map,none)]\"\n";
    let script = format!("haproxy -D -q -p haproxy.pid -f $1; {ASK}; kill $(cat haproxy.pid)");
    if can_ask()
        && let Some(said) = check("haproxy", &script, conf)
    {
        assert_eq!(said, "ZZ 200\n403\n");
    }
}

#[test]
fn apache_takes_its_list() {
    let modules = ["mpm_event", "authz_core", "authz_host"]
        .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"));
    let list = &printed("Apache")[0];
    let conf = format!(
        "{}ServerName x\nErrorLog /dev/null\nPidFile /dev/null\nListen 127.0.0.1:8080\n<Location />\n<RequireAll>\nRequire all granted\n{list}\
         </RequireAll>\n</Location>\n",
        modules.concat()
    );
    check("apache2", "apache2 -t -f $PWD/apache2.conf 2>&1", &conf)
        .inspect(|said| assert_eq!(said, "Syntax OK\n"));
}

#[test]
fn squid_takes_its_list() {
    let conf = format!("{}http_port 3128\n", printed("Squid")[0]);
    let script = "squid -k parse -f $1 2>&1 | grep -E 'Processing: acl|WARNING: .*acl|FATAL|Bungled' | cut -d ' ' -f 2-";
    if let Some(said) = check("squid", script, &conf) {
        let wanted = DROP
            .lines()
            .map(|line| format!("Processing: acl blocked src {line}"));
        let said: Vec<_> = said
            .lines()
            .map(|line| line[line.find("Proc").unwrap_or(0)..].to_owned())
            .collect();
        assert_eq!(said, wanted.collect::<Vec<_>>());
    }
}

#[test]
fn postfix_takes_its_table() {
    let script = "for a in 192.0.2.200 198.51.100.7 198.51.100.8 2001:db8:bad::1; do postmap -q $a cidr:$1 || echo OK; done";
    if let Some(said) = check("postmap", script, &printed("Postfix")[0]) {
        assert_eq!(said, "REJECT blocked\nREJECT blocked\nOK\nREJECT blocked\n");
    }
}

#[test]
fn name_servers_take_their_lists() {
    let conf = format!(
        "{}options {{ blackhole {{ drop; }}; }};\n",
        printed("BIND")[0]
    );
    check("named-checkconf", "named-checkconf -p $1", &conf)
        .inspect(|said| assert_eq!(back("any", said), DROP));
    check(
        "unbound-checkconf",
        "unbound-checkconf $1",
        &printed("Unbound")[0],
    );
}

#[test]
fn nft_takes_a_list_in_place_of_another() {
    let programs = Path::new(program()).parent().expect("a folder").display();
    let transaction = text_below("Lists in use");
    let folder = path("recipes");
    fs::create_dir_all(Path::new(&folder).join("target/recipes")).expect("a folder");
    let new = "192.0.2.0/24\n203.0.113.0/24\n2001:db8:bad::/48\n";
    fs::write(Path::new(&folder).join("target/recipes/new.txt"), new).expect("a file");
    let script = format!(
        "set -e; cd {folder}; PATH={programs}:$PATH; nft -f $1; {transaction} nft list ruleset; {transaction} nft list ruleset"
    );
    let args = ["convert", "-", "--to", "nftables", "--name", "blocked"];
    let old = run_with(&args, b"10.0.0.0/8\n2001:db8::/32\n");
    if let Some(said) = check("nft", &script, good(&old)) {
        // Twice: the second time in place of itself.
        let (first, second) = said.split_at(said.len() / 2);
        assert_eq!(first, second);
        assert_eq!(back("nftables", first), new);
    }
}

#[test]
fn nft_takes_its_map() {
    let said = check(
        "nft",
        "nft -f $1 && nft list ruleset",
        &printed("nftables, as a map")[0],
    );
    if let Some(said) = said {
        let elements = "{ 192.0.2.0/24 : 0x0000fbf4, 198.51.100.0/24 : 0x0000fbf5 }";
        assert!(said.contains(elements), "{said}");
    }
}

#[test]
fn linux_takes_its_routes() {
    let script =
        "ip -batch $1 && for family in -4 -6; do ip $family route show type blackhole; done";
    let list = &printed("Linux, routes to nowhere")[0];
    if let Some(said) = check("ip", script, list) {
        let routes = said.lines().filter_map(|line| line.split(' ').nth(1));
        assert!(routes.eq(["192.0.2.0/24", "198.51.100.7", "2001:db8:bad::/48"]));
    }
}

#[test]
fn terraform_takes_its_list() {
    let script = "mkdir -p tf; cp $1 tf/drop.tf; cd tf; echo 'join(\",\", local.drop)' | terraform console 2>terraform.log";
    if let Some(said) = check("terraform", script, &printed("Terraform")[0]) {
        assert_eq!(said.trim(), format!("{:?}", DROP.trim().replace('\n', ",")));
    }
}

#[test]
fn what_is_yaml_or_json_is_read_so() {
    let entries: serde_json::Value = serde_json::from_str(&printed("AWS")[0]).expect("JSON");
    assert_eq!(entries[0]["Cidr"], "192.0.2.0/24");
    assert_eq!(entries[0]["Description"], "Example, Inc.");
    assert_eq!(entries.as_array().map(Vec::len), Some(2));
    for (heading, pointer, wanted) in [
        (
            "Envoy",
            "/principals/2/remote_ip",
            "{\"address_prefix\":\"2001:db8:bad::\",\"prefix_len\":48}",
        ),
        (
            "Kubernetes",
            "/ipBlock/except",
            "[\"192.0.2.0/24\",\"198.51.100.7/32\"]",
        ),
    ] {
        let script = "python3 -c 'import yaml' 2>/dev/null || exit 0
            python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))' $1";
        let said = check("python3", script, &printed(heading)[0]);
        match said.as_deref() {
            None => {}
            Some("") => println!("skipped: YAML: Python has no module for it"),
            Some(said) => {
                let read: serde_json::Value = serde_json::from_str(said).expect("JSON");
                assert_eq!(read.pointer(pointer).expect(heading).to_string(), wanted);
            }
        }
    }
}

/// Of programs that cannot be installed here.
#[test]
fn what_no_program_takes_is_read_back() {
    let ipv4 = "192.0.2.0/24\n198.51.100.7/32\n";
    for (heading, format, wanted) in [
        ("Cisco IOS XR", "filters", OWNERS),
        ("Cisco ASA", "any", ipv4),
        ("Junos, as commands", "any", DROP),
        ("MikroTik RouterOS", "any", ipv4),
        ("PostgreSQL", "csv", OWNERS),
    ] {
        assert_eq!(back(format, &printed(heading)[0]), wanted, "{heading}");
    }
}

/// The prefixes that popfib reads in a list.
fn back(format: &str, list: &str) -> String {
    let list = file("recipes-back", list);
    stdout(&run(&[
        "convert", &list, "--format", format, "--to", "plain",
    ]))
    .to_owned()
}

/// What the lists without overlaps of the two files of the guide are.
const DROP: &str = "192.0.2.0/24\n198.51.100.7/32\n2001:db8:bad::/48\n";
const OWNERS: &str = "192.0.2.0/24\n198.51.100.0/24\n2001:db8::/32\n";
