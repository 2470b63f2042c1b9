//! Every path of a dump with its attributes.

use std::path::Path;
use std::process::Command;

use crate::common::{SKIP, STRICT, input};
use crate::mrt_file::{as_path, next_hop, path_attribute, peer_table, rib, table_dump_with};
use popfib::IpPrefix;
use popfib_formats::bgp::{BgpPath, open_paths};
use popfib_formats::{Input, LoadOptions, ReadError};

/// All paths to the prefixes that `wanted` takes.
fn paths(
    input: Input,
    options: &LoadOptions,
    wanted: fn(IpPrefix) -> bool,
) -> Result<Vec<BgpPath>, ReadError> {
    let mut source = open_paths(input, options, Box::new(wanted))?;
    let (mut path, mut all) = (BgpPath::default(), Vec::new());
    loop {
        match source.next_path(&mut path) {
            Ok(true) => all.push(path.clone()),
            Ok(false) => return Ok(all),
            Err(e) if options.skip_invalid && e.is_invalid_line() => {}
            Err(e) if options.skip_invalid && e.is_cut() => return Ok(all),
            Err(e) => return Err(e),
        }
    }
}

fn every(_: IpPrefix) -> bool {
    true
}

/// The line of `bgpdump -m` for a path.
fn line(path: &BgpPath) -> String {
    let next_hop = path.next_hop.map(|address| address.to_string());
    format!(
        "TABLE_DUMP2|{}|B|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|",
        path.seconds,
        path.peer,
        path.peer_as,
        path.prefix,
        path.as_path,
        path.origin,
        next_hop.unwrap_or_default(),
        path.local_preference.unwrap_or_default(),
        path.med.unwrap_or_default(),
        path.communities,
        if path.is_atomic { "AG" } else { "NAG" },
        path.aggregator,
    )
}

/// A record of two paths; the second has every attribute.
fn dump() -> Vec<u8> {
    let plain = [as_path(&[(2, &[64501, 7])]), next_hop([1; 4])].concat();
    let full = [
        path_attribute(1, &[2]),
        as_path(&[(3, &[65001]), (2, &[64502, 3]), (1, &[8, 9])]),
        next_hop([2; 4]),
        path_attribute(4, &[0, 0, 1, 0]),
        path_attribute(5, &[0, 0, 0, 100]),
        path_attribute(6, &[]),
        path_attribute(7, &[0, 0, 0xfb, 0xf4, 192, 0, 2, 9]),
        path_attribute(8, &[0xfb, 0xf4, 0, 1, 0xff, 0xff, 0xff, 1]),
        path_attribute(32, &[[0, 0, 0xfb, 0xf4], [0, 0, 0, 5], [0xff; 4]].concat()),
    ]
    .concat();
    [
        peer_table(&[([192, 0, 2, 1], 64501), ([192, 0, 2, 2], 64502)]),
        rib(2, &[8, 10], &[(0, plain.clone()), (1, full)]),
        rib(2, &[8, 11], &[(0, plain)]),
    ]
    .concat()
}

#[test]
fn attributes_are_all_there() {
    let all = paths(input(dump()), &STRICT, every).expect("paths");
    let lines: Vec<_> = all.iter().map(line).collect();
    let time = all[0].seconds;
    let expected = [
        format!("TABLE_DUMP2|{time}|B|192.0.2.1|64501|10.0.0.0/8|64501 7||1.1.1.1|0|0||NAG||"),
        format!(
            "TABLE_DUMP2|{time}|B|192.0.2.2|64502|10.0.0.0/8|(65001) 64502 3 {{8,9}}|INCOMPLETE|2.2.2.2|100|256|\
             64500:1 no-export 64500:5:4294967295|AG|64500 192.0.2.9|"
        ),
        format!("TABLE_DUMP2|{time}|B|192.0.2.1|64501|11.0.0.0/8|64501 7||1.1.1.1|0|0||NAG||"),
    ];
    assert_eq!(lines, expected);
    assert_eq!((all[0].med, all[1].med), (None, Some(256)));
    assert_eq!(all[0].origin_as(), "7");
    assert_eq!(all[1].origin_as(), "{8,9}");
    // And from these lines again.
    let text = format!("{}\n", lines.join("\n"));
    let again = paths(input(text.into_bytes()), &STRICT, every).expect("paths");
    assert_eq!(again.iter().map(line).collect::<Vec<_>>(), lines);
}

#[test]
fn prefixes_and_peers_are_chosen() {
    let ten = |prefix: IpPrefix| prefix.to_string() == "10.0.0.0/8";
    assert_eq!(paths(input(dump()), &STRICT, ten).expect("paths").len(), 2);
    let options = LoadOptions {
        peer: Some("AS64502".parse().expect("a peer")),
        ..STRICT.clone()
    };
    let found = paths(input(dump()), &options, every).expect("paths");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].peer_as, 64502);
}

#[test]
fn numbers_of_two_bytes_have_the_real_ones_beside_them() {
    let path = |asns: &[u16]| {
        let mut value = vec![2, asns.len() as u8];
        value.extend(asns.iter().flat_map(|asn| asn.to_be_bytes()));
        path_attribute(2, &value)
    };
    let real = |asns: &[u32]| {
        let mut value = vec![2, asns.len() as u8];
        value.extend(asns.iter().flat_map(|asn| asn.to_be_bytes()));
        path_attribute(17, &value)
    };
    for (attributes, expected) in [
        (path(&[1, 2]), "1 2"),
        (
            [path(&[1, 23456, 23456]), real(&[100_000, 200_000])].concat(),
            "1 100000 200000",
        ),
        ([path(&[23456]), real(&[100_000])].concat(), "100000"),
        // Longer than the path itself: not to be believed (RFC 6793, section 4.2.3).
        ([path(&[1]), real(&[100_000, 200_000])].concat(), "1"),
        (Vec::new(), ""),
    ] {
        let dump = table_dump_with([10, 0, 0, 0, 8], [192, 0, 2, 1], &attributes);
        let found = paths(input(dump), &STRICT, every).expect("paths");
        assert_eq!(found[0].as_path, expected);
    }
}

#[test]
fn damage_is_an_error_and_the_next_record_is_read() {
    for (kind, value) in [
        (1, &[9][..]),
        (4, &[1, 2]),
        (5, &[]),
        (8, &[1, 2, 3]),
        (32, &[0; 11]),
        (2, &[2, 9, 1]),
    ] {
        let bad = rib(
            2,
            &[8, 10],
            &[(0, path_attribute(kind, value)), (0, Vec::new())],
        );
        let good = rib(2, &[8, 12], &[(0, Vec::new())]);
        let dump = [peer_table(&[([192, 0, 2, 1], 64501)]), bad, good].concat();
        let error = paths(input(dump.clone()), &STRICT, every).expect_err("damage");
        assert!(
            error.is_invalid_line() && !error.to_string().contains('\n'),
            "{error}"
        );
        let found = paths(input(dump), &SKIP, every).expect("the rest");
        assert!(
            found
                .iter()
                .any(|path| path.prefix.to_string() == "12.0.0.0/8"),
            "{kind}"
        );
    }
    // An aggregator that cannot be read is left out alone (RFC 7606, section 7.7).
    let attributes = [path_attribute(7, &[1]), path_attribute(5, &[0, 0, 0, 9])].concat();
    let dump = table_dump_with([10, 0, 0, 0, 8], [192, 0, 2, 1], &attributes);
    let found = paths(input(dump), &STRICT, every).expect("paths");
    assert_eq!(
        (&*found[0].aggregator, found[0].local_preference),
        ("", Some(9))
    );
    let error = paths(input(b"10.0.0.0/8 a\n".to_vec()), &STRICT, every).expect_err("no paths");
    assert!(error.to_string().contains("has no paths"), "{error}");
}

/// The same lines as bgpdump, on dumps of 2002, 2014 and of FRR.
#[test]
#[ignore = "many paths"]
fn heavy_the_paths_are_those_of_bgpdump() {
    if Command::new("bgpdump").arg("-h").output().is_err() {
        println!("skipped: heavy_the_paths_are_those_of_bgpdump: bgpdump is not installed");
        return;
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    for name in [
        "raw/bgpdump/bview.20020722.2337.gz",
        "raw/pyasn/rib.20140523.0600_firstMB.bz2",
        "vendor-frr-bird/frr-rib.mrt",
    ] {
        let file = data.join(name);
        if !file.exists() {
            println!("skipped: heavy_the_paths_are_those_of_bgpdump: no {name} beside the project");
            continue;
        }
        let output = Command::new("bgpdump")
            .arg("-m")
            .arg(&file)
            .output()
            .expect("it runs");
        let expected = String::from_utf8(output.stdout).expect("UTF-8");
        let expected: Vec<_> = expected
            .lines()
            .filter(|line| line.starts_with("TABLE_DUMP"))
            .collect();
        let found = paths(Input::open(&file).expect("a file"), &SKIP, every).expect("paths");
        assert_eq!(found.len(), expected.len(), "{name}");
        assert!(found.len() > 10_000, "{name}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(
                line(found),
                expected.replace("TABLE_DUMP|", "TABLE_DUMP2|"),
                "{name}"
            );
        }
    }
}
