//! The routes of a kernel, in a network namespace of the test's own.

use std::io::{BufReader, Write};
use std::process::{Command, Stdio};

use super::Follow;
use crate::common::popfib;

/// A network namespace with routes of its own, and `popfib follow --netlink` in it.
struct Namespace(Follow);

impl Namespace {
    /// `None` where this user may not make one, or there is no `ip`.
    fn start(name: &str, routes: &str) -> Option<Self> {
        let try_one = "ip link add v0 index 7 type veth peer name v1 && ip nexthop list \
            && ip link set lo up && ip route add blackhole 2001:db8:9::/48";
        let unshare = |shell: &[&str]| {
            let mut command = Command::new("unshare");
            let options = ["--net", "--pid", "--fork", "--kill-child", "sh"];
            command.args(options).args(shell);
            command
        };
        let can = unshare(&["-c", try_one]).output();
        if !can.is_ok_and(|output| output.status.success()) {
            println!("skipped: {name}: no network namespace with `ip`");
            return None;
        }
        let socket = std::env::temp_dir().join(format!("popfib-{}-{name}", std::process::id()));
        let mut child = unshare(&[])
            .env("POPFIB", popfib(&[]).get_program())
            .env("SOCKET", &socket)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it did before");
        let notes = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut namespace = Self(Follow {
            child,
            notes,
            socket,
        });
        namespace.sh(try_one);
        namespace.sh("ip addr add 192.0.2.2/24 dev v0; ip addr add 2001:db8::2/64 dev v0 nodad");
        namespace.sh("ip link set v0 up; ip link set v1 up; ip link set lo up");
        namespace.sh(routes);
        namespace.sh("$POPFIB follow --netlink --socket $SOCKET &");
        namespace.0.note("answering");
        Some(namespace)
    }

    fn sh(&mut self, commands: &str) {
        let stdin = self.0.child.stdin.as_mut().expect("a pipe");
        writeln!(stdin, "{commands}").unwrap();
    }

    /// Runs commands, then expects what the answers lead to, or `-`.
    #[track_caller]
    fn leads(&mut self, commands: &str, table: &str, answers: &[(&str, &str, &str)]) {
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
