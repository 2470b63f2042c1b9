//! What a kernel drops without a message, and messages that are not its own or that are lost.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::AsFd;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, SendFlags, SocketType, sendto, socket};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::Value;

use crate::Follow;
use crate::common::run;
use crate::kernel::{Namespace, THREE};

#[test]
fn routes_go_with_the_last_address_of_an_interface() {
    let before = format!("{THREE}; ip route add 10.0.0.0/8 via 192.0.3.1");
    let Some(mut kernel) = Namespace::start("last-address", &before) else {
        return;
    };
    let there = [("10.0.0.1", "10.0.0.0/8", "192.0.3.1 dev 13")];
    let gone = [("10.0.0.1", "-", "-"), ("192.0.3.9", "-", "-")];
    kernel.leads("", "main", &there);
    kernel.leads("ip addr del 192.0.3.2/24 dev w3", "main", &gone);
    // A next hop of an interface that has an address again is used again.
    let hops = "192.0.2.1 dev 7, 192.0.3.1 dev 13";
    let two = |hops| [("10.0.0.1", "10.0.0.0/8", hops)];
    let again = "ip addr add 192.0.3.3/24 dev w3; \
        ip route add 10.0.0.0/8 nexthop via 192.0.2.1 nexthop via 192.0.3.1";
    kernel.leads(again, "main", &two(hops));
    let deleted = "ip addr del 192.0.3.3/24 dev w3";
    kernel.leads(deleted, "main", &two("192.0.2.1 dev 7"));
    let back = "ip addr add 192.0.3.2/24 dev w3";
    kernel.leads(back, "main", &two(hops));
}

#[test]
fn routes_go_when_an_interface_without_carrier_is_set_down() {
    let before = format!("{THREE}; ip route add 10.0.0.0/8 via 192.0.3.1");
    let Some(mut kernel) = Namespace::start("carrier", &before) else {
        return;
    };
    let there = [("10.0.0.1", "10.0.0.0/8", "192.0.3.1 dev 13")];
    kernel.leads("ip link set x3 down; sleep 0.3", "main", &there);
    // Whether routes without a carrier are used is a setting, of whose changes no message tells.
    let setting = "/proc/sys/net/ipv4/conf/all/ignore_routes_with_linkdown";
    let unused = format!("echo 1 > {setting}");
    kernel.leads(&unused, "main", &[("10.0.0.1", "-", "-")]);
    let used = format!("echo 0 > {setting}; ip link set x3 up; sleep 0.2; ip link set x3 down");
    kernel.leads(&used, "main", &there);
    let down = "ip link set w3 down";
    kernel.leads(down, "main", &[("10.0.0.1", "-", "-")]);
}

/// A netlink message.
fn message(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32 + 16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend([0; 10]);
    bytes.extend(body);
    bytes
}

#[test]
fn messages_of_other_processes_are_left_out() {
    let Some(mut kernel) = Namespace::start("senders", "") else {
        return;
    };
    let known = [("192.0.2.77", "192.0.2.0/24", "dev 7")];
    kernel.leads("", "main", &known);
    let status = kernel.read("cat /proc/self/status /proc/net/netlink");
    let (_, shell) = status.split_once("PPid:").unwrap();
    let shell = shell.split_whitespace().next().unwrap();
    let space = fs::File::open(format!("/proc/{shell}/ns/net")).unwrap();
    let mut sockets = status.lines().map(|line| line.split_whitespace());
    let port = sockets.find_map(|mut line| (line.nth(1)? == "0").then(|| line.next())?);
    let port: u32 = port.unwrap().parse().unwrap();
    // A thread of this process enters the namespace, and sends to the port.
    let send = move |messages: Vec<Vec<u8>>| {
        let space = space.try_clone().unwrap();
        let send = move || {
            let kind = LinkNameSpaceType::Network;
            move_into_link_name_space(space.as_fd(), Some(kind)).unwrap();
            let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None).unwrap();
            for message in messages {
                let to = SocketAddrNetlink::new(port, 0);
                sendto(&socket, &message, SendFlags::empty(), &to).unwrap();
            }
        };
        spawn(send).join().unwrap();
    };
    let attribute = |kind: u16, value: [u8; 4]| {
        let head = [8u16.to_ne_bytes(), kind.to_ne_bytes()].concat();
        [head, value.to_vec()].concat()
    };
    let forged = [
        vec![2, 8, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0],
        attribute(1, [11, 0, 0, 0]),
        attribute(5, [192, 0, 2, 66]),
        attribute(4, 7u32.to_ne_bytes()),
    ];
    let error = [&(-16i32).to_ne_bytes()[..], &[0; 16]].concat();
    send(vec![message(24, &forged.concat()), message(2, &error)]);
    let later = "ip route add 12.0.0.0/8 via 192.0.2.1";
    let right = [
        ("12.0.0.1", "12.0.0.0/8", "192.0.2.1 dev 7"),
        ("11.0.0.1", "-", "-"),
    ];
    kernel.leads(later, "main", &right);
}

/// The routes of the main table that the kernel uses, as popfib shows them, by `ip -json route`.
fn used(json: &str, links: &BTreeMap<String, u64>, to: &mut BTreeMap<String, (u64, String)>) {
    let routes: Vec<Value> = serde_json::from_str(json).unwrap_or_default();
    for route in &routes {
        let kind = route["type"].as_str().unwrap_or("unicast");
        if ["local", "broadcast", "anycast", "multicast"].contains(&kind) {
            continue;
        }
        let is_dead = |hop: &Value| {
            let flags = hop["flags"].as_array();
            flags.is_some_and(|flags| flags.iter().any(|flag| flag == "dead"))
        };
        let hop = |hop: &Value| {
            let gateway = hop["gateway"].as_str().or(hop["via"]["host"].as_str());
            let gateway = gateway.map_or(String::new(), |gateway| format!("{gateway} "));
            let weight = hop["weight"].as_u64().filter(|&weight| weight != 1);
            let weight = weight.map_or(String::new(), |weight| format!(" weight {weight}"));
            let link = links[hop["dev"].as_str().unwrap()];
            format!("{gateway}dev {link}{weight}")
        };
        let alone = std::slice::from_ref(route);
        let hops = route["nexthops"].as_array().map_or(alone, |hops| hops);
        let mut hops: Vec<String> = match kind {
            "unicast" => hops.iter().filter(|hop| !is_dead(hop)).map(hop).collect(),
            kind => vec![kind.to_owned()],
        };
        hops.sort();
        let prefix = match route["dst"].as_str().unwrap() {
            "default" => "0.0.0.0/0".to_owned(),
            prefix if prefix.contains('/') => prefix.to_owned(),
            address if address.contains(':') => format!("{address}/128"),
            address => format!("{address}/32"),
        };
        let metric = route["metric"].as_u64().unwrap_or(0);
        if !hops.is_empty() && to.get(&prefix).is_none_or(|known| metric < known.0) {
            to.insert(prefix, (metric, hops.join(", ")));
        }
    }
}

/// Both tables after each of some random changes of routes, next-hop objects, links and addresses.
#[test]
fn any_changes_leave_the_kernels_table() {
    let Some(mut kernel) = Namespace::start("any-changes", THREE) else {
        return;
    };
    let seed = std::env::var("POPFIB_SEED").map_or(45, |seed| seed.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(seed);
    let rounds = match std::env::var_os("POPFIB_ROUNDS") {
        Some(_) => 300,
        None => 4,
    };
    let links = kernel.read("ip -json link");
    let links: Vec<Value> = serde_json::from_str(&links).unwrap();
    let links: BTreeMap<String, u64> = links
        .iter()
        .map(|link| {
            let name = link["ifname"].as_str().unwrap().to_owned();
            (name, link["ifindex"].as_u64().unwrap())
        })
        .collect();
    let mut said = String::new();
    for round in 0..rounds {
        said.clear();
        for _ in 0..random.usize(1..9) {
            let line = change(&mut random);
            said += &line;
            said += "; ";
        }
        kernel.sh(&format!("exec 3>&2 2> /dev/null; {said} exec 2>&3"));
        let begin = Instant::now();
        loop {
            let mut expected = BTreeMap::new();
            for family in ["-4", "-6"] {
                let json = kernel.read(&format!("ip {family} -json route"));
                used(&json, &links, &mut expected);
            }
            let expected: BTreeMap<String, String> =
                expected.into_iter().map(|(p, (_, v))| (p, v)).collect();
            let seen = seen(&kernel.0);
            if seen == expected {
                break;
            }
            if begin.elapsed() > Duration::from_secs(4) {
                let differ =
                    |(prefix, value): &(&String, &String)| seen.get(*prefix) != Some(value);
                let lacks: Vec<_> = expected.iter().filter(differ).collect();
                let differ =
                    |(prefix, value): &(&String, &String)| expected.get(*prefix) != Some(value);
                let has: Vec<_> = seen.iter().filter(differ).collect();
                panic!("round {round} of seed {seed}: {said}\nkernel {lacks:?}\npopfib {has:?}");
            }
            sleep(Duration::from_millis(20));
        }
    }
}

/// What popfib shows of the main table.
fn seen(follow: &Follow) -> BTreeMap<String, String> {
    let socket = follow.socket.to_str().unwrap();
    let output = run(&["routes", "--live", socket]);
    let text = String::from_utf8(output.stdout).unwrap();
    let routes = text
        .lines()
        .filter_map(|line| line.split_once(char::is_whitespace));
    routes
        .map(|(prefix, value)| {
            let mut hops: Vec<&str> = value.trim().split(", ").collect();
            hops.sort();
            (prefix.to_owned(), hops.join(", "))
        })
        .collect()
}

/// A command that changes something.
fn change(random: &mut fastrand::Rng) -> String {
    let at = random.usize(0..3);
    let (link, peer, net) = [("v0", "v1", 2), ("w3", "x3", 3), ("w4", "x4", 4)][at];
    let six = match net {
        2 => "2001:db8:".to_owned(),
        net => format!("2001:db8:{net}:"),
    };
    let host = random.u8(10..13);
    let state = ["up", "up", "down"][random.usize(0..3)];
    let verb = ["add", "append", "replace", "prepend", "del"][random.usize(0..5)];
    let metric = random.u8(1..3);
    let prefix = format!("10.{}.0.0/16", random.u8(0..6));
    let prefix6 = format!("2001:db8:77{}::/48", random.u8(0..4));
    let object = random.u8(1..4);
    match random.u8(0..16) {
        0..=2 => format!("ip route {verb} {prefix} via 192.0.{net}.{host} metric {metric}"),
        3 => format!(
            "ip route {verb} {prefix} nexthop via 192.0.2.{host} nexthop via 192.0.3.{host} weight 3 metric {metric}"
        ),
        4 => format!("ip route {verb} {prefix} nhid {object} metric {metric}"),
        5 => {
            format!("ip route {verb} {prefix} via 192.0.{net}.{host} src 192.0.2.2 metric {metric}")
        }
        6 => format!("ip -6 route {verb} {prefix6} via {six}:{host} dev {link} metric {metric}"),
        7 => format!("ip -6 route {verb} {prefix6} dev {link} metric {metric}"),
        8 => format!("ip nexthop replace id {object} via 192.0.{net}.{host} dev {link}"),
        9 => format!(
            "ip nexthop replace id 9 group 1/2; ip route {verb} {prefix} nhid 9 metric {metric}"
        ),
        10 => format!("ip nexthop del id {object}"),
        11 => format!("ip link set {link} {state}"),
        12 => format!("ip link set {peer} {state}"),
        13 => format!("ip addr del 192.0.{net}.2/24 dev {link}"),
        14 => format!("ip addr add 192.0.{net}.2/24 dev {link}"),
        _ => format!(
            "ip -6 addr {} {six}:2/64 dev {link} nodad",
            ["add", "del"][random.usize(0..2)]
        ),
    }
}
