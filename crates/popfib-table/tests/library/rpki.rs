//! Route origin validation against a linear scan that follows RFC 6811 word by word, over random
//! VRPs and all routes of narrow keys, and the cases of its examples.

use popfib::{Address, Prefix};
use popfib_table::rpki::{Validity, Vrp, VrpError, Vrps};

use crate::random::Random;

/// RFC 6811, section 2, and the two kinds of invalid.
fn scan<A: Address>(vrps: &[Vrp<A>], route: Prefix<A>, origin: Option<u32>) -> Validity {
    let covers = |vrp: &&Vrp<A>| vrp.prefix().covers(&route);
    let is_origins = |vrp: &&Vrp<A>| vrp.asn() != 0 && Some(vrp.asn()) == origin;
    let is_long_enough = |vrp: &&Vrp<A>| route.len() <= vrp.max_length();
    if !vrps.iter().any(|vrp| covers(&vrp)) {
        Validity::NotFound
    } else if !vrps.iter().filter(covers).any(|vrp| is_origins(&vrp)) {
        Validity::InvalidAs
    } else if vrps
        .iter()
        .filter(covers)
        .filter(is_origins)
        .any(|vrp| is_long_enough(&vrp))
    {
        Validity::Valid
    } else {
        Validity::InvalidLength
    }
}

fn random_vrp<A: Address>(random: &mut Random) -> Vrp<A> {
    let prefix: Prefix<A> = random.prefix();
    let room = usize::from(A::WIDTH - prefix.len());
    let max_length = prefix.len() + random.below(room + 1) as u8;
    Vrp::new(prefix, max_length, random.below(4) as u32).unwrap()
}

fn agrees<A: Address>(rounds: usize, routes: impl Fn(&mut Random) -> Vec<Prefix<A>>) {
    let mut random = Random(u64::from(A::WIDTH) << 32 | 0x40a);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..rounds {
        let count = random.below(20);
        let list: Vec<Vrp<A>> = (0..count).map(|_| random_vrp(&mut random)).collect();
        let vrps: Vrps<A> = list.iter().chain(&list).copied().collect();
        let mut unique = list.clone();
        unique.sort_unstable();
        unique.dedup();
        assert!(vrps.iter().eq(&unique), "each once, in order");
        for route in routes(&mut random) {
            let mut covering: Vec<_> = vrps.covering(route).copied().collect();
            covering.sort_unstable();
            let covers = |vrp: &&Vrp<A>| vrp.prefix().covers(&route);
            assert!(covering.iter().eq(unique.iter().filter(covers)));
            for origin in [None, Some(0), Some(1), Some(2), Some(3), Some(4)] {
                let wanted = scan(&list, route, origin);
                assert_eq!(vrps.validate(route, origin), wanted, "{route} {origin:?}");
                seen.insert(wanted);
                // Those that decided say the same alone.
                let deciding: Vec<_> = vrps.deciding(route, origin, wanted).copied().collect();
                assert_eq!(scan(&deciding, route, origin), wanted);
                if wanted != Validity::InvalidAs {
                    for vrp in deciding {
                        assert_eq!(scan(&[vrp], route, origin), wanted);
                    }
                }
            }
        }
    }
    assert_eq!(seen.len(), 4, "all states were met");
}

#[test]
fn every_route_of_a_narrow_key() {
    agrees::<u8>(30, |_| {
        let of = |len| (0..1u32 << len).map(move |n| Prefix::new(u8::from_leading(n, len), len));
        (0..=8).flat_map(of).map(Result::unwrap).collect()
    });
}

#[test]
fn random_routes_of_wide_keys() {
    agrees::<u32>(100, |random| (0..60).map(|_| random.prefix()).collect());
    agrees::<u128>(100, |random| (0..60).map(|_| random.prefix()).collect());
}

#[test]
fn what_no_vrp_can_be() {
    let prefix: Prefix<u32> = "10.0.0.0/8".parse().unwrap();
    assert_eq!(Vrp::new(prefix, 7, 1), Err(VrpError::Below { length: 8 }));
    assert_eq!(Vrp::new(prefix, 33, 1), Err(VrpError::Beyond { max: 32 }));
    assert!(Vrp::new(prefix, 8, 1).is_ok() && Vrp::new(prefix, 32, u32::MAX).is_ok());
}

/// RFC 6907's cases, as far as prefix, length and AS make them.
#[test]
fn several_vrps_for_one_prefix() {
    let vrp = |prefix: &str, max, asn| Vrp::<u32>::new(prefix.parse().unwrap(), max, asn).unwrap();
    let vrps: Vrps<u32> = [
        vrp("10.1.0.0/16", 20, 64496),
        vrp("10.1.0.0/16", 16, 64511),
        vrp("10.1.0.0/16", 24, 64511),
        vrp("10.2.0.0/16", 32, 0),
        vrp("0.0.0.0/0", 0, 64499),
    ]
    .into_iter()
    .collect();
    let state = |route: &str, origin| vrps.validate(route.parse().unwrap(), origin);
    assert_eq!(state("10.1.16.0/20", Some(64496)), Validity::Valid);
    assert_eq!(state("10.1.17.0/24", Some(64496)), Validity::InvalidLength);
    assert_eq!(state("10.1.17.0/24", Some(64511)), Validity::Valid);
    assert_eq!(state("10.1.17.0/25", Some(64511)), Validity::InvalidLength);
    assert_eq!(state("10.1.17.0/24", Some(64500)), Validity::InvalidAs);
    assert_eq!(state("10.1.17.0/24", None), Validity::InvalidAs);
    // AS 0 makes nothing valid, not even AS 0.
    assert_eq!(state("10.2.0.0/16", Some(0)), Validity::InvalidAs);
    assert_eq!(state("0.0.0.0/0", Some(64499)), Validity::Valid);
    assert_eq!(state("10.3.0.0/16", Some(64499)), Validity::InvalidLength);
    assert_eq!(
        Vrps::<u32>::default().validate("10.1.0.0/16".parse().unwrap(), Some(1)),
        Validity::NotFound
    );
}
