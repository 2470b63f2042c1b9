//! Commands as updates, beside objects of JSON; long messages, and where messages end.

use crate::common::input;
use crate::updates::{BGPDUMP, RIS, all_of, in_full, mrt, updates};
use popfib_formats::updates::Message;
use popfib_formats::{UpdateOptions, open_updates};

const COMMANDS: &str = "\
# of programs
announce 10.0.0.0/8 east
withdraw 10.0.0.0/8
neighbor 192.0.2.9 announce route 2001:db8::/32 next-hop 2001:db8::1 as-path [ 64500 ] med 0 community [64500:1] origin igp
neighbor 192.0.2.9 announce attributes next-hop 192.0.2.1 nlri 10.1.0.0/16 10.2.0.0/16
withdraw ipv4 unicast 10.1.0.0/16 next-hop self path-information 0.0.0.9
announce eor ipv4 unicast
";

#[test]
fn commands() {
    let wanted = [
        "- - A 10.0.0.0/8 east",
        "- - W 10.0.0.0/8",
        "- 192.0.2.9/0 A 2001:db8::/32 2001:db8::1",
        "- 192.0.2.9/0 A 10.1.0.0/16 192.0.2.1",
        "- 192.0.2.9/0 A 10.2.0.0/16 192.0.2.1",
        "- - W 10.1.0.0/16",
    ];
    assert_eq!(updates(COMMANDS), wanted);
    assert_eq!(
        in_full(COMMANDS).unwrap()[2..],
        [
            "None Some((192.0.2.9, 0)) 2001:db8::/32 None 64500 Some(2001:db8::1) Some(0) 64500:1 None IGP",
            "None Some((192.0.2.9, 0)) 10.1.0.0/16 None  Some(192.0.2.1) None  None ",
            "None Some((192.0.2.9, 0)) 10.2.0.0/16 None  Some(192.0.2.1) None  None ",
            "None None 10.1.0.0/16 Some(9)  None None  None ",
        ]
    );
    // Objects and commands in one file, whichever is first.
    let command = wanted[2];
    let line = COMMANDS.lines().nth(3).unwrap();
    let object = RIS.replace("10.0.0.0\\/8", "10.0.0.0/8");
    let of_object = updates(object.as_str());
    let both = [&[command.to_owned()], &of_object[..]].concat();
    assert_eq!(updates(format!("{line}\n{object}")), both);
    let both = [&of_object[..], &[command.to_owned()]].concat();
    assert_eq!(updates(format!("{object}\n{line}")), both);
    let left_out = "announce flow route { match { destination 10.9.0.0/24; } }\n\
                    withdraw route 10.0.0.0/8 rd 64500:1\n";
    assert_eq!(
        in_full(left_out).unwrap(),
        [
            "1 update of other families left out",
            "1 update with a label or route distinguisher left out"
        ]
    );
    let masked = UpdateOptions {
        mask: true,
        ..UpdateOptions::default()
    };
    let mut source = open_updates(input("withdraw 10.1.2.3/8"), &masked).unwrap();
    assert_eq!(all_of(&mut *source), wanted[1..2]);
    let many = format!(
        "attributes next-hop 192.0.2.1 nlri{}",
        " ::/0".repeat(65_537)
    );
    let long = "x".repeat(60_001);
    for (command, reason) in [
        (
            "announce 10.0.0.1/8 x",
            "10.0.0.1/8: host bits are set beyond the prefix length",
        ),
        ("announce ", "no prefix in this line"),
        ("announce 10.0.0.0/8", "no value in this line"),
        (
            &format!("announce 10.0.0.0/8 {long}"),
            "60001 bytes: a next hop of more than 60000 bytes",
        ),
        ("announce 10.0.0.0/8 x y", "more than a value: y"),
        ("withdraw 10.0.0.0/8 x", "a value after withdraw"),
        ("neighbor x announce 10.0.0.0/8 x", "x: not an address"),
        ("neighbor ::1 show", "neither announce nor withdraw"),
        ("announce route", "no prefix"),
        ("announce route 10.0.0.0/8", "no next hop"),
        (
            "announce route 10.0.0.0/8 next-hop 192.0.2.1 next-hop 192.0.2.2",
            "next-hop: twice",
        ),
        (
            "announce route 10.0.0.0/8 next-hop",
            "no value after next-hop",
        ),
        (
            "announce route 10.0.0.0/8 next-hop x",
            "x: not a value of next-hop",
        ),
        (
            "announce route 10.0.0.0/8 as-path [ 1",
            "no value after as-path",
        ),
        ("announce route 10.0.0.0/8 x", "x: not an attribute"),
        (
            "announce route 10.0.0.0/8 next-hop ::1 community x",
            "not a community",
        ),
        (
            "announce route 10.0.0.0/8 withdraw",
            "withdraw: not after announce route",
        ),
        (
            "announce route 10.0.0.0/8 split /7",
            "split /7: not parts of 10.0.0.0/8",
        ),
        (
            "announce route 10.0.0.0/8 split /25",
            "split /25: more than 65,536 prefixes",
        ),
        (
            "announce attributes next-hop ::1 split /24 nlri ::/0",
            "split /24: not after one prefix",
        ),
        ("announce attributes next-hop ::1", "no prefix after nlri"),
        (
            &format!("announce {many}"),
            "nlri: more than 65,536 prefixes",
        ),
        ("announce eor ipv4 unicast x", "x: not after a family"),
        (
            "announce 10.0.0.0/8 \u{1}",
            "this is not text: control character U+0001",
        ),
    ] {
        let data = format!("{command}\nwithdraw ::/0");
        assert_eq!(
            updates(data),
            [format!("t:1: {reason}"), "- - W ::/0".to_owned()]
        );
    }
}

/// What announcements share is not multiplied by their next hops, whatever form they have.
#[test]
fn next_hops_of_a_long_path_are_few() {
    let hop = |n: usize| format!(r#"{{"next_hop":"10.0.0.{n}","prefixes":["10.{n}.0.0/16"]}}"#);
    let hops: Vec<_> = (0..200).map(hop).collect();
    let line = |path: usize| {
        let (path, hops) = (vec!["1"; path].join(","), hops.join(","));
        format!(r#"{{"peer":"::1","type":"UPDATE","path":[{path}],"announcements":[{hops}]}}"#)
    };
    assert_eq!(updates(line(2000)).len(), 200);
    assert_eq!(
        updates(line(4000)),
        ["t:1: too many next hops for a path as long"]
    );
}

/// The end of each line and record, and whether the next one has been read.
#[test]
fn ends() {
    let options = UpdateOptions {
        ends: true,
        ..UpdateOptions::default()
    };
    let seen = |data: Vec<u8>| {
        let mut source = open_updates(input(data), &options).unwrap();
        let mut seen = String::new();
        loop {
            match source.advance() {
                Ok(false) => return seen,
                Err(_) => seen.push('!'),
                Ok(true) => seen.push(match source.message() {
                    Message::Update(_) => 'u',
                    Message::Session(_) => 's',
                    Message::End { may_wait: false } => '.',
                    Message::End { may_wait: true } => '|',
                }),
            }
        }
    };
    assert_eq!(seen(COMMANDS.into()), ".u.u.u.uu.u.|");
    assert_eq!(seen(BGPDUMP.into()), "s.u.u|");
    assert_eq!(seen(b"A ::/0 a\nA\n\n# c\nW ::/0".to_vec()), "u.!|u|");
    assert_eq!(seen(format!("{RIS}\n{{}}\n{RIS}\n").into()), "uu.!uu|");
    assert_eq!(seen(mrt()), "|s|uuu||uu|");
}
