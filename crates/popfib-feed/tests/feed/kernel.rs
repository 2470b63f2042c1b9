use std::time::Instant;

use popfib_feed::{ConnectionId, KernelReader, KernelStep, Tables};

use crate::at_once::AtOnce as _;
use crate::{answers, limits, wire};

/// A kernel's tables, and the socket's side of it.
struct Socket {
    tables: Tables,
    kernel: KernelReader,
    id: ConnectionId,
}

impl Socket {
    fn new() -> Self {
        let mut tables = Tables::new(limits());
        let id = tables.connected("kernel", Instant::now());
        let kernel = KernelReader::within(tables.memory_budget());
        Self { tables, kernel, id }
    }

    fn push(&mut self, datagram: &[u8]) -> Result<KernelStep, String> {
        let (tables, id) = (&mut self.tables, self.id);
        let next = self.kernel.push(datagram, &mut |streams, transaction| {
            tables.apply(id, streams, transaction, Instant::now());
        });
        next.map_err(|error| error.to_string())
    }

    /// A dump that is answered with these IPv4 routes, and with `objects` in the place of the end of the objects.
    fn dump(&mut self, objects: &[u8], routes: &[Vec<u8>]) -> Result<KernelStep, String> {
        self.id = self.tables.connected("kernel", Instant::now());
        let first = self.kernel.dump();
        assert_eq!(first[4..6], 106u16.to_ne_bytes());
        let KernelStep::Send(second) = self.push(objects)? else {
            panic!("IPv4 routes have to be asked for");
        };
        assert_eq!((&second[4..6], second[16]), (&26u16.to_ne_bytes()[..], 2));
        for route in routes {
            assert_eq!(self.push(route), Ok(KernelStep::Read));
        }
        let KernelStep::Send(third) = self.push(&done())? else {
            panic!("IPv6 routes have to be asked for");
        };
        assert_eq!((&third[4..6], third[16]), (&26u16.to_ne_bytes()[..], 10));
        let next = self.push(&done());
        assert!(!self.kernel.is_dumping());
        while self.tables.tick(Instant::now(), 1) {}
        next
    }

    fn answers(&self) -> Vec<String> {
        let answers = answers(&self.tables, "main");
        let answers = answers.iter();
        answers
            .map(|(prefix, value)| format!("{prefix} {value}"))
            .collect()
    }
}

fn done() -> Vec<u8> {
    wire::netlink(3, &[0; 4])
}

fn route(prefix: &str, next_hop: &str) -> Vec<u8> {
    let gateway = wire::gateway(next_hop.parse().unwrap(), 3);
    wire::route(prefix.parse().unwrap(), 254, 1, Some(&gateway))
}

#[test]
fn what_a_dump_does_not_name_leaves() {
    let mut socket = Socket::new();
    let both = [
        route("10.0.0.0/8", "192.0.2.1"),
        route("10.1.0.0/16", "192.0.2.2"),
    ];
    assert_eq!(socket.dump(&done(), &both), Ok(KernelStep::Read));
    let first = ["10.0.0.0/8 192.0.2.1 dev 3", "10.1.0.0/16 192.0.2.2 dev 3"];
    assert_eq!(socket.answers(), first);
    let later = route("10.2.0.0/16", "192.0.2.3");
    assert_eq!(socket.push(&later), Ok(KernelStep::Read));
    // Kernels without next-hop objects refuse them.
    let refused = wire::netlink(2, &(-95i32).to_ne_bytes());
    assert_eq!(
        socket.dump(&refused, &[both[1].clone(), later]),
        Ok(KernelStep::Read)
    );
    let left = ["10.1.0.0/16 192.0.2.2 dev 3", "10.2.0.0/16 192.0.2.3 dev 3"];
    assert_eq!(socket.answers(), left);
}

#[test]
fn routes_that_go_without_a_message_are_asked_for_again() {
    let mut socket = Socket::new();
    socket
        .dump(&done(), &[route("10.0.0.0/8", "192.0.2.1")])
        .unwrap();
    let about = |kind: u16, index: u8, flags: u32| {
        let mut body = vec![0, 0, 1, 0, index, 0, 0, 0];
        body.extend(flags.to_ne_bytes());
        body.extend([0; 4]);
        wire::netlink(kind, &body)
    };
    let link = |flags| about(16, 3, flags);
    // Whether the link was up before is not known.
    assert_eq!(socket.push(&link(0x41)), Ok(KernelStep::Dump));
    assert_eq!(socket.push(&link(0x1041)), Ok(KernelStep::Read));
    assert_eq!(socket.push(&link(0x1)), Ok(KernelStep::Dump));
    assert_eq!(socket.push(&link(0x1)), Ok(KernelStep::Read));
    // Routes go when the carrier is lost, and others when the link is then set down.
    assert_eq!(socket.push(&link(0)), Ok(KernelStep::Dump));
    assert_eq!(socket.push(&link(0x1_0041)), Ok(KernelStep::Dump));
    assert_eq!(socket.push(&about(21, 3, 0)), Ok(KernelStep::Dump));
    assert_eq!(socket.push(&about(20, 3, 0)), Ok(KernelStep::Dump));
    // Routes through other links may name the address that has gone; there are none through this one.
    assert_eq!(socket.push(&about(21, 7, 0)), Ok(KernelStep::Dump));
    for (kind, flags) in [(16, 0x41), (16, 0), (20, 0), (17, 0)] {
        assert_eq!(socket.push(&about(kind, 7, flags)), Ok(KernelStep::Read));
    }
    assert_eq!(socket.push(&about(17, 3, 0)), Ok(KernelStep::Dump));
    let object = wire::attribute(1, &5u32.to_ne_bytes());
    let object = wire::netlink(105, &[&[0; 8][..], &object].concat());
    assert_eq!(socket.push(&object), Ok(KernelStep::Dump));
    // Nothing leaves before the answer, nor after one that was interrupted.
    let mut interrupted = route("10.9.0.0/16", "192.0.2.9");
    interrupted[6] |= 0x10;
    let next = socket.dump(&done(), &[interrupted]);
    assert_eq!((next, socket.answers().len()), (Ok(KernelStep::Dump), 2));
    socket.kernel.dump();
    socket.push(&done()).unwrap();
    let refused = socket.push(&wire::netlink(2, &(-1i32).to_ne_bytes()));
    assert_eq!(refused, Err("the kernel refuses: error 1".to_owned()));
}

#[test]
fn of_routes_with_one_metric_the_first_answers() {
    const MULTI: u16 = 2;
    const REPLACE: u16 = 0x100;
    const ALONE: u16 = 0x600;
    const CREATE: u16 = 0x400;
    const APPEND: u16 = 0xc00;
    let message = |flags: u16, kind: u16, next_hop: &str| {
        let mut bytes = route("10.1.0.0/16", next_hop);
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes
    };
    let new = |flags, next_hop| message(flags, 24, next_hop);
    let gone = |next_hop| message(0, 25, next_hop);
    let mut socket = Socket::new();
    socket.dump(&done(), &[]).unwrap();
    let [a, b, c] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
    let steps = [
        (new(ALONE, a), Some(a)),
        (new(APPEND, b), Some(a)),
        (gone(a), Some(b)),
        (new(APPEND, a), Some(b)),
        (new(REPLACE, c), Some(c)),
        (new(CREATE, b), Some(b)),
        (gone(b), Some(c)),
        (gone(c), Some(a)),
        (gone(a), None),
    ];
    for (at, (message, left)) in steps.into_iter().enumerate() {
        assert_eq!(socket.push(&message), Ok(KernelStep::Read), "step {at}");
        let expected: Vec<String> = left
            .map(|hop| format!("10.1.0.0/16 {hop} dev 3"))
            .into_iter()
            .collect();
        assert_eq!(socket.answers(), expected, "step {at}");
    }
    // No message has told of the route before which another one is put: only a dump can tell.
    socket.push(&new(ALONE, a)).unwrap();
    socket.push(&new(CREATE, b)).unwrap();
    assert_eq!(socket.push(&gone(b)), Ok(KernelStep::Dump));
    let dumped = [new(MULTI, a), new(MULTI, c)];
    socket.dump(&done(), &dumped).unwrap();
    assert_eq!(socket.answers(), ["10.1.0.0/16 192.0.2.1 dev 3"]);
    assert_eq!(socket.push(&gone(a)), Ok(KernelStep::Read));
    assert_eq!(socket.answers(), ["10.1.0.0/16 192.0.2.3 dev 3"]);
}

#[test]
fn a_part_of_a_dump_that_is_older_than_a_message_before_it_makes_another_dump() {
    let message = |flags: u16, kind: u16, next_hop: &str| {
        let mut bytes = route("10.1.0.0/16", next_hop);
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes
    };
    let dumped = |next_hop| message(2, 24, next_hop);
    let [a, b] = ["192.0.2.1", "192.0.2.2"];
    let replaced = message(0x100, 24, b);
    let added = message(0x600, 24, b);
    let appended = message(0xc00, 24, b);
    let gone = message(0, 25, a);
    // The message during the dump, the part after it, and whether that part has the change.
    let cases: [(&[u8], &[&str], bool); 8] = [
        (&replaced, &[b], true),
        (&replaced, &[a], false),
        (&added, &[b], true),
        (&added, &[a], false),
        (&appended, &[a, b], true),
        (&appended, &[a], false),
        (&gone, &[], true),
        (&gone, &[a], false),
    ];
    for (at, (message, part, is_new)) in cases.into_iter().enumerate() {
        let mut socket = Socket::new();
        let before = [dumped(a)];
        socket.dump(&done(), &before).unwrap();
        let routes: Vec<Vec<u8>> = part.iter().map(|hop| dumped(hop)).collect();
        let next = socket.dump(&done(), &[&[message.to_vec()], &routes[..]].concat());
        // A message about an appended route does not tell what was there before.
        let is_right = is_new && at != 4;
        assert_eq!(
            next == Ok(KernelStep::Read),
            is_right,
            "case {at}: {next:?}"
        );
    }
}

#[test]
fn what_a_dump_hides_between_the_next_hops_of_an_ipv6_route_is_asked_for_when_they_go() {
    const PREFIX: &str = "2001:db8:77::/48";
    let route = |flags: u16, kind: u16, attributes: &[u8]| {
        let mut bytes = wire::route(PREFIX.parse().unwrap(), 254, 1, Some(attributes));
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes
    };
    let [a, b] = ["2001:db8:3::1", "2001:db8:4::1"].map(|hop| hop.parse().unwrap());
    let [first, last] = [wire::gateway(a, 3), wire::gateway(b, 4)];
    let both = wire::multipath(&[(a, 3, 1), (b, 4, 1)]);
    let between = wire::attribute(4, &7u32.to_ne_bytes());
    let other = wire::attribute(4, &8u32.to_ne_bytes());
    let is = |socket: &Socket, value: &str| {
        assert_eq!(socket.answers(), [format!("{PREFIX} {value}")]);
    };
    let hops = "2001:db8:3::1 dev 3, 2001:db8:4::1 dev 4";
    // What is deleted, and what is left by then.
    for (deleted, left) in [(&both, &[&between][..]), (&first, &[&between, &last])] {
        let mut socket = Socket::new();
        let next = socket.dump(&done(), &[route(2, 24, &first), route(2, 24, &between)]);
        assert_eq!(next, Ok(KernelStep::Read));
        is(&socket, "2001:db8:3::1 dev 3");
        socket.push(&route(0xc00, 24, &both)).unwrap();
        is(&socket, hops);
        // Also after several dumps.
        for _ in 0..2 {
            let next = socket.dump(&done(), &[route(2, 24, &both), route(2, 24, &other)]);
            assert_eq!(next, Ok(KernelStep::Read));
            is(&socket, hops);
        }
        assert_eq!(socket.push(&route(0, 25, deleted)), Ok(KernelStep::Dump));
        let left: Vec<_> = left
            .iter()
            .map(|attributes| route(2, 24, attributes))
            .collect();
        assert_eq!(socket.dump(&done(), &left), Ok(KernelStep::Read));
        is(&socket, "dev 7");
        // Nothing is hidden any more.
        socket.push(&route(0, 25, &last)).unwrap();
        assert_eq!(socket.push(&route(0, 25, &between)), Ok(KernelStep::Read));
        assert_eq!(socket.answers(), [""; 0]);
    }
}

#[test]
fn a_lost_message_ends_the_reader() {
    let mut socket = Socket::new();
    socket.dump(&done(), &[]).unwrap();
    let lost = socket.push(&wire::netlink(4, &[]));
    assert_eq!(lost, Err("messages were lost".to_owned()));
}

#[test]
fn any_datagrams_are_survived() {
    let mut random = fastrand::Rng::with_seed(3);
    let good = [
        route("10.0.0.0/8", "192.0.2.1"),
        wire::object(5, "192.0.2.6".parse().unwrap(), 3),
        wire::netlink(16, &[1; 16]),
        done(),
    ]
    .concat();
    let mut socket = Socket::new();
    for _ in 0..3000 {
        let mut bytes = good.clone();
        bytes.truncate(random.usize(..=bytes.len()));
        for _ in 0..random.usize(..4) {
            if let Some(at) = (!bytes.is_empty()).then(|| random.usize(..bytes.len())) {
                bytes[at] = random.u8(..);
            }
        }
        if socket.push(&bytes).is_err() || random.u8(..) == 0 {
            socket = Socket::new();
            socket.kernel.dump();
        }
    }
}
