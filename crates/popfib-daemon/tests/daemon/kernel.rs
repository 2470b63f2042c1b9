//! The routes of a kernel, in a network namespace of the test's own.

use std::fs;
use std::io::Write;
use std::net::IpAddr;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Follow, POPFIBD};

/// A network namespace with routes of its own, and `popfibd --netlink` in it.
pub(super) struct Namespace(pub(super) Follow);

impl Namespace {
    /// `None` where this user may not make one, or there is no `ip`.
    pub(super) fn start(name: &str, routes: &str) -> Option<Self> {
        Self::start_by(name, "", routes)
    }

    /// The command is started by `by`.
    fn start_by(name: &str, by: &str, routes: &str) -> Option<Self> {
        let try_one = "ip link add v0 index 7 type veth peer name v1 && ip nexthop list \
            && ip link set lo up && ip route add blackhole 2001:db8:9::/48";
        let unshare = |shell: &[&str]| {
            let mut command = Command::new("unshare");
            let options = ["--net", "--pid", "--fork", "--kill-child", "sh"];
            command.args(options).args(shell);
            command
        };
        let can = unshare(&["-c", &format!("{by} true && {try_one}")]).output();
        if !can.is_ok_and(|output| output.status.success()) {
            println!("skipped: {name}: no network namespace with `ip`");
            return None;
        }
        let mut command = unshare(&[]);
        command
            .env("POPFIBD", POPFIBD)
            .env("SOCKET", Follow::socket(name));
        let mut namespace = Self(Follow::by(name, command));
        namespace.sh(try_one);
        namespace.sh("ip addr add 192.0.2.2/24 dev v0; ip addr add 2001:db8::2/64 dev v0 nodad");
        namespace.sh("ip link set v0 up; ip link set v1 up; ip link set lo up");
        namespace.sh(routes);
        let follow = "$POPFIBD --netlink --socket $SOCKET";
        namespace.sh(&format!("{by} {follow} & P=$!"));
        namespace.0.note("answering");
        Some(namespace)
    }

    pub(super) fn sh(&mut self, commands: &str) {
        let stdin = self.0.child.stdin.as_mut().expect("a pipe");
        writeln!(stdin, "{commands}").unwrap();
    }

    /// What a command prints.
    pub(super) fn read(&mut self, command: &str) -> String {
        let path = self.0.socket.with_extension("out");
        let place = path.display();
        self.sh(&format!("{command} > {place}.new; mv {place}.new {place}"));
        let begin = Instant::now();
        loop {
            if let Ok(text) = fs::read_to_string(&path) {
                fs::remove_file(&path).unwrap();
                return text;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{command}");
            sleep(Duration::from_millis(5));
        }
    }

    /// Runs commands, then expects what the answers lead to, or `-`.
    #[track_caller]
    pub(super) fn leads(&mut self, commands: &str, table: &str, answers: &[(&str, &str, &str)]) {
        self.sh(commands);
        let mut lines = format!("table {table}\n");
        let mut expected = String::from("ok\n");
        for (address, prefix, target) in answers {
            lines += &format!("{address}\n");
            expected += &format!("{address}\t{prefix}\t{target}\n");
        }
        self.0.expect(&lines, &expected);
    }
}

#[test]
fn routes_of_the_kernel() {
    let before = "ip route add 10.0.0.0/8 via 192.0.2.1; ip route add blackhole 10.1.0.0/16";
    let Some(mut kernel) = Namespace::start("kernel", before) else {
        return;
    };
    let first = [
        ("10.9.9.9", "10.0.0.0/8", "192.0.2.1 dev 7"),
        ("10.1.0.1", "10.1.0.0/16", "blackhole"),
        ("192.0.2.77", "192.0.2.0/24", "dev 7"),
    ];
    kernel.leads("", "main", &first);
    let another = "ip route add 10.2.0.0/16 via 192.0.2.9 metric 50";
    kernel.leads(
        another,
        "main",
        &[("10.2.0.1", "10.2.0.0/16", "192.0.2.9 dev 7")],
    );
    // The lower metric counts, as long as it is there.
    let better = "ip route add 10.2.0.0/16 via 192.0.2.8 metric 20";
    kernel.leads(
        better,
        "main",
        &[("10.2.0.1", "10.2.0.0/16", "192.0.2.8 dev 7")],
    );
    let worse = "ip route del 10.2.0.0/16 metric 20";
    kernel.leads(
        worse,
        "main",
        &[("10.2.0.1", "10.2.0.0/16", "192.0.2.9 dev 7")],
    );
    let several =
        "ip route replace 10.0.0.0/8 nexthop via 192.0.2.3 nexthop via 192.0.2.4 weight 2";
    let hops = "192.0.2.3 dev 7, 192.0.2.4 dev 7 weight 2";
    kernel.leads(several, "main", &[("10.9.9.9", "10.0.0.0/8", hops)]);
    let other = "ip route add 10.0.0.0/8 via 192.0.2.5 table 100";
    kernel.leads(
        other,
        "100",
        &[("10.9.9.9", "10.0.0.0/8", "192.0.2.5 dev 7")],
    );
    // IPv6 next hops come and go one by one.
    let several = "ip route add 2001:db8:1::/48 nexthop via 2001:db8::3 nexthop via 2001:db8::4";
    let hops = "2001:db8::3 dev 7, 2001:db8::4 dev 7";
    kernel.leads(
        several,
        "main",
        &[("2001:db8:1::1", "2001:db8:1::/48", hops)],
    );
    let fewer = "ip route del 2001:db8:1::/48 via 2001:db8::3";
    kernel.leads(
        fewer,
        "main",
        &[("2001:db8:1::1", "2001:db8:1::/48", "2001:db8::4 dev 7")],
    );
    let more = "ip route append 2001:db8:1::/48 via 2001:db8::5";
    let hops = "2001:db8::4 dev 7, 2001:db8::5 dev 7";
    kernel.leads(more, "main", &[("2001:db8:1::1", "2001:db8:1::/48", hops)]);
    let gone = "ip route del 2001:db8:1::/48";
    kernel.leads(gone, "main", &[("2001:db8:1::1", "-", "-")]);
    // Of these the kernel says nothing for the route.
    let object = "ip nexthop add id 5 via 192.0.2.6 dev v0; ip route add 10.5.0.0/16 nhid 5";
    kernel.leads(
        object,
        "main",
        &[("10.5.0.1", "10.5.0.0/16", "192.0.2.6 dev 7")],
    );
    let moved = "ip nexthop replace id 5 via 192.0.2.7 dev v0";
    kernel.leads(
        moved,
        "main",
        &[("10.5.0.1", "10.5.0.0/16", "192.0.2.7 dev 7")],
    );
    let deleted = "ip nexthop del id 5; ip route del 10.0.0.0/8";
    kernel.leads(
        deleted,
        "main",
        &[
            ("10.5.0.1", "-", "-"),
            ("10.1.0.1", "10.1.0.0/16", "blackhole"),
        ],
    );
    let down = "ip link set v0 down";
    let left = [
        ("10.2.0.1", "-", "-"),
        ("192.0.2.77", "-", "-"),
        ("10.1.0.1", "10.1.0.0/16", "blackhole"),
    ];
    kernel.leads(down, "main", &left);
}

/// Two more interfaces, with addresses in 192.0.3.0/24, 192.0.4.0/24, 2001:db8:3::/64 and 2001:db8:4::/64.
pub(super) const THREE: &str = "for i in 3 4; do ip link add w$i index 1$i type veth peer name x$i; \
    ip addr add 192.0.$i.2/24 dev w$i; ip addr add 2001:db8:$i::2/64 dev w$i nodad; ip link set w$i up; ip link set x$i up; done";

#[test]
fn of_several_routes_with_one_metric_the_first_is_used_until_it_is_deleted() {
    let Some(mut kernel) = Namespace::start("same-metric", THREE) else {
        return;
    };
    let of = |hop| [("10.1.0.1", "10.1.0.0/16", hop)];
    let add = "ip route add 10.1.0.0/16 via 192.0.2.1; ip route append 10.1.0.0/16 via 192.0.3.1; \
        ip route add 10.9.0.0/16 via 192.0.2.9";
    let last = [("10.9.0.1", "10.9.0.0/16", "192.0.2.9 dev 7")];
    kernel.leads(add, "main", &last);
    kernel.leads("", "main", &of("192.0.2.1 dev 7"));
    let deleted = "ip route del 10.1.0.0/16 via 192.0.2.1";
    kernel.leads(deleted, "main", &of("192.0.3.1 dev 13"));
    let before = "ip route prepend 10.1.0.0/16 via 192.0.4.1";
    kernel.leads(before, "main", &of("192.0.4.1 dev 14"));
    let deleted = "ip route del 10.1.0.0/16 via 192.0.4.1";
    kernel.leads(deleted, "main", &of("192.0.3.1 dev 13"));
    // Each interface has this one.
    let flushed = "ip -6 addr flush dev w3 scope link; \
        for d in v0 v1 x3 x4; do ip -6 route flush fe80::/64 dev $d; done";
    kernel.leads(flushed, "main", &[("fe80::1", "fe80::/64", "dev 14")]);
    let gone = "ip -6 route flush fe80::/64";
    kernel.leads(gone, "main", &[("fe80::1", "-", "-")]);
}

#[test]
fn routes_without_a_usable_hop_and_those_of_other_tables_are_not_answered_by_others() {
    let before = format!("{THREE}; ip route add 10.0.0.0/8 via 192.0.2.1");
    let Some(mut kernel) = Namespace::start("throw", &before) else {
        return;
    };
    let throw = "ip route add throw 10.2.0.0/16";
    kernel.leads(throw, "main", &[("10.2.0.1", "10.2.0.0/16", "throw")]);
    let two = "ip route add 10.3.0.0/16 nexthop via 192.0.2.1 nexthop via 192.0.3.1";
    let hops = "192.0.2.1 dev 7, 192.0.3.1 dev 13";
    kernel.leads(two, "main", &[("10.3.0.1", "10.3.0.0/16", hops)]);
    let down = "ip link set w3 down";
    let left = [("10.3.0.1", "10.3.0.0/16", "192.0.2.1 dev 7")];
    kernel.leads(down, "main", &left);
    let up = "ip link set w3 up";
    kernel.leads(up, "main", &[("10.3.0.1", "10.3.0.0/16", hops)]);
}

/// What the first usable route of `ip -json route show` has as its value.
fn used(json: &str) -> String {
    let routes: Vec<serde_json::Value> = match json.trim() {
        "" => Vec::new(),
        json => serde_json::from_str(json).expect("JSON"),
    };
    let number = |name: &serde_json::Value| match name.as_str().unwrap() {
        "v0" => 7,
        "w3" => 13,
        _ => 14,
    };
    let hop = |route: &serde_json::Value| match route["gateway"].as_str() {
        Some(gateway) => format!("{gateway} dev {}", number(&route["dev"])),
        None => format!("dev {}", number(&route["dev"])),
    };
    let first = routes.first();
    first.map_or("-".to_owned(), |first| match first["nexthops"].as_array() {
        None => hop(first),
        Some(hops) => {
            let key = |hop: &&serde_json::Value| {
                let gateway = hop["gateway"].as_str();
                let gateway: Option<IpAddr> = gateway.map(|g| g.parse().unwrap());
                (gateway, number(&hop["dev"]))
            };
            let mut hops: Vec<_> = hops.iter().collect();
            hops.sort_by_key(key);
            let hops: Vec<String> = hops.into_iter().map(hop).collect();
            hops.join(", ")
        }
    })
}

#[test]
fn any_changes_of_routes_with_one_prefix_leave_the_kernels_choice() {
    let before = format!(
        "{THREE}; ip link add d0 type dummy; ip addr add 192.0.9.1/24 dev d0; ip link set d0 up"
    );
    let Some(mut kernel) = Namespace::start("same-prefix", &before) else {
        return;
    };
    let mut random = fastrand::Rng::with_seed(38);
    let rounds = if std::env::var_os("POPFIB_ROUNDS").is_some() {
        300
    } else {
        30
    };
    for round in 0..rounds {
        let mut said = String::new();
        for _ in 0..random.usize(1..5) {
            let verb = *random
                .choice([
                    "add", "append", "append", "prepend", "replace", "del", "del",
                ])
                .as_ref()
                .unwrap();
            let hop = random.usize(0..3);
            let metric = *random.choice([10, 20]).as_ref().unwrap();
            let (family, prefix, gateways) = match random.bool() {
                true => ("-4", "10.1.0.0/16", ["192.0.2.1", "192.0.3.1", "192.0.4.1"]),
                false => (
                    "-6",
                    "2001:db8:77::/48",
                    ["2001:db8::1", "2001:db8:3::1", "2001:db8:4::1"],
                ),
            };
            let device = ["v0", "w3", "w4"][hop];
            // Of IPv6, routes through gateways are hops of one route, and what a new one of those does not replace is not told.
            let through = match random.bool() {
                true => format!("via {} dev {device}", gateways[hop]),
                false => format!("dev {device}"),
            };
            said += &format!("ip {family} route {verb} {prefix} {through} metric {metric}; ");
        }
        // A change of a link makes a dump.
        let state = random.choice(["", "down", "up"]).unwrap();
        if !state.is_empty() {
            said += &format!("ip link set d0 {state}; ");
        }
        kernel.sh(&format!("exec 3>&2 2> /dev/null; {said} exec 2>&3"));
        for (show, address, prefix) in [
            (
                "ip -4 -json route show 10.1.0.0/16",
                "10.1.0.1",
                "10.1.0.0/16",
            ),
            (
                "ip -6 -json route show 2001:db8:77::/48",
                "2001:db8:77::1",
                "2001:db8:77::/48",
            ),
        ] {
            let value = used(&kernel.read(show));
            let prefix = if value == "-" { "-" } else { prefix };
            println!("{round}: {said} {value}");
            kernel.leads("", "main", &[(address, prefix, &value)]);
        }
    }
}

#[test]
fn a_route_between_the_next_hops_of_another_is_used_when_they_are_deleted() {
    let before = format!("{THREE}; ip link add d0 type dummy; ip addr add 192.0.9.1/24 dev d0");
    let Some(mut kernel) = Namespace::start("between", &before) else {
        return;
    };
    let of = |hop| [("2001:db8:77::1", "2001:db8:77::/48", hop)];
    for (state, deleted) in [
        ("up", "via 2001:db8:3::1 dev w3"),
        ("down", "dev w4 metric 1024"),
    ] {
        let add = "ip -6 route append 2001:db8:77::/48 via 2001:db8:3::1 dev w3; \
            ip -6 route append 2001:db8:77::/48 dev v0; \
            ip -6 route append 2001:db8:77::/48 via 2001:db8:4::1 dev w4";
        let hops = "2001:db8:3::1 dev 13, 2001:db8:4::1 dev 14";
        kernel.leads(add, "main", &of(hops));
        // A change of a link with routes makes a dump, which does not have the route through v0.
        let dumped = format!("ip link set d0 {state}; sleep 1");
        kernel.leads(&dumped, "main", &of(hops));
        let deleted = format!("ip -6 route del 2001:db8:77::/48 {deleted}");
        kernel.leads(&deleted, "main", &of("dev 7"));
        let flushed = "ip -6 route flush 2001:db8:77::/48";
        kernel.leads(flushed, "main", &[("2001:db8:77::1", "-", "-")]);
    }
}

#[test]
fn what_was_deleted_while_messages_were_lost_leaves() {
    // Without capabilities, the queue is short.
    let Some(mut kernel) = Namespace::start_by("overrun", "setpriv --bounding-set -all", "") else {
        return;
    };
    let batch = kernel.0.socket.with_extension("batch");
    let lines = |verb: &str| -> String {
        let line = |n: u32| {
            format!(
                "route {verb} 10.{}.{}.0/24 via 192.0.2.1\n",
                n >> 8,
                n & 255
            )
        };
        (0..10_000).map(line).collect()
    };
    fs::write(&batch, lines("add") + &lines("del")).unwrap();
    let place = batch.display();
    kernel.sh(&format!(
        "kill -STOP $P; ip -batch {place}; ip route add 10.77.0.0/16 via 192.0.2.7; kill -CONT $P"
    ));
    kernel.0.note("did not fit into the buffer");
    kernel.leads(
        "",
        "main",
        &[
            ("10.77.0.1", "10.77.0.0/16", "192.0.2.7 dev 7"),
            ("10.0.5.1", "-", "-"),
        ],
    );
    kernel.0.expect("tables\n", "main\t2\t3\n\n");
    fs::remove_file(&batch).unwrap();
}

#[test]
fn a_kernel_without_routes_is_ready_with_an_empty_table() {
    let none = "ip link set v0 down; ip link set v1 down; ip route flush table main; ip -6 route flush table main";
    let Some(kernel) = Namespace::start("no-routes", none) else {
        return;
    };
    kernel.0.expect("tables\n", "main\t0\t0\n\n");
    let begin = Instant::now();
    while !kernel.0.ask("stats\n").contains("\npopfib_ready 1\n") {
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(20));
    }
}
