//! Sets from the text of a list, asked by batches, and compared prefix by prefix: against sets of the standard library.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::common::random::Random;
use crate::common::rounds::rounds;
use popfib::diff::PrefixChange::{Added, Removed};
use popfib::map::ListTextError;
use popfib::{Address, IpPrefix, IpSet, Prefix, PrefixError, PrefixSet};

fn random_set<A: Address>(random: &mut Random) -> PrefixSet<A> {
    let count = random.below(12);
    (0..count).map(|_| random.prefix()).collect()
}

fn batches_and_differences_hold<A: Address>(rounds: usize) {
    let mut random = Random(u64::from(A::WIDTH) << 32 | 0x5e7);
    for round in 0..rounds {
        let (old, new) = (random_set::<A>(&mut random), random_set(&mut random));
        // Some prefixes are in both.
        let new: PrefixSet<A> = new.iter().chain(old.iter().step_by(2)).collect();
        let mut addresses: Vec<A> = vec![A::MIN, A::MAX];
        for prefix in old.iter().chain(&new) {
            addresses.extend([prefix.first(), prefix.last()]);
            addresses.extend(prefix.last().checked_next());
        }
        addresses = addresses.iter().copied().cycle().take(round).collect();
        let mut contained = vec![round % 2 == 0; addresses.len()];
        old.contains_batch(&addresses, &mut contained);
        for (address, contained) in addresses.iter().zip(contained) {
            let holds = old.iter().any(|prefix| prefix.contains(*address));
            assert_eq!(contained, holds, "{address:?} in {old:?}");
        }
        let sets = [&old, &new].map(|set| set.iter().collect::<BTreeSet<_>>());
        let mut changes = sets[0].clone();
        let mut last = None;
        for change in old.diff(&new) {
            let (Added(prefix) | Removed(prefix)) = change;
            assert!(last < Some(prefix), "{prefix} after {last:?}");
            last = Some(prefix);
            let is_new = match change {
                Added(prefix) => changes.insert(prefix),
                Removed(prefix) => changes.remove(&prefix),
            };
            assert!(is_new, "{change:?}");
        }
        assert_eq!(changes, sets[1]);
        assert_eq!(old.diff(&new).count(), (&sets[0] ^ &sets[1]).len());
    }
}

#[test]
fn batches_and_differences_are_those_of_the_prefixes() {
    batches_and_differences_hold::<u8>(rounds(300, 1000));
    batches_and_differences_hold::<u32>(rounds(300, 1000));
    batches_and_differences_hold::<u128>(rounds(300, 1000));
}

#[test]
fn both_families_by_batches_and_differences() {
    let set: IpSet = "10.0.0.0/8\n::/96\n2001:db8::/32".parse().unwrap();
    let addresses: Vec<IpAddr> = ["::1", "10.0.0.1", "11.0.0.1", "2001:db8::", "2001:db9::"]
        .map(|address| address.parse().unwrap())
        .repeat(200);
    let mut contained = vec![false; addresses.len()];
    set.contains_batch(&addresses, &mut contained);
    assert_eq!(contained, [true, true, false, true, false].repeat(200));
    let new: IpSet = "10.0.0.0/9\n2001:db8::/32\n::1".parse().unwrap();
    let prefix = |text: &str| -> IpPrefix { text.parse().unwrap() };
    let wanted = [
        Removed(prefix("10.0.0.0/8")),
        Added(prefix("10.0.0.0/9")),
        Removed(prefix("::/96")),
        Added(prefix("::1")),
    ];
    assert!(set.diff(&new).eq(wanted));
}

#[test]
#[should_panic(expected = "one answer for each address")]
fn a_batch_has_an_answer_for_each_address() {
    PrefixSet::<u32>::new().contains_batch(&[1u32, 2], &mut [false]);
}

/// Lists are written as people do, and come back; a range holds each of its addresses and no other.
fn text_is_read_back<A: Address>(rounds: usize) {
    let mut random = Random(u64::from(A::WIDTH) << 32 | 0x7e87);
    for _ in 0..rounds {
        let mut text = String::from(if random.below(2) == 0 { "\u{feff}" } else { "" });
        let mut wanted = BTreeSet::new();
        let mut ranges = Vec::new();
        for _ in 0..random.below(9) {
            let blanks = ["", " ", "\t "][random.below(3)];
            let entry = match random.below(5) {
                0 => String::new(),
                1 => {
                    let [one, other] = [(); 2].map(|()| random.prefix::<A>().last());
                    let (first, last) = (one.min(other), one.max(other));
                    ranges.push((first, last));
                    let [first, last] = [first, last].map(|end| {
                        let host = Prefix::host(end).to_string();
                        host.split('/').next().unwrap().to_owned()
                    });
                    format!("{first}{blanks}-{blanks}{last}")
                }
                2 => {
                    let host = Prefix::host(random.prefix::<A>().last());
                    wanted.insert(host);
                    host.to_string().split('/').next().unwrap().to_owned()
                }
                _ => {
                    let prefix = random.prefix::<A>();
                    wanted.insert(prefix);
                    prefix.to_string()
                }
            };
            let comment = ["", "# 1.2.3.4/33", ";;", " ; x - y"][random.below(4)];
            let end = ["\n", "\r\n"][random.below(2)];
            text.push_str(&format!("{blanks}{entry}{blanks}{comment}{end}"));
        }
        let set: PrefixSet<A> = text.parse().unwrap_or_else(|e| panic!("{e}: {text:?}"));
        for prefix in &wanted {
            assert!(set.contains(*prefix), "{prefix} of {text:?}");
        }
        for (first, last) in &ranges {
            for address in [*first, *last]
                .into_iter()
                .chain(first.checked_previous())
                .chain(last.checked_next())
            {
                let holds = wanted.iter().any(|prefix| prefix.contains(address))
                    || ranges
                        .iter()
                        .any(|(first, last)| (first..=last).contains(&&address));
                assert_eq!(
                    set.contains_address(address),
                    holds,
                    "{address:?} of {text:?}"
                );
            }
        }
        if ranges.is_empty() {
            assert!(set.iter().eq(wanted));
        }
    }
}

#[test]
fn lists_are_read() {
    text_is_read_back::<u32>(rounds(500, 3000));
    text_is_read_back::<u128>(rounds(500, 3000));
    assert_eq!("".parse::<IpSet>().unwrap(), IpSet::new());
    let all: IpSet = "0.0.0.0-255.255.255.255\n::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
        .parse()
        .unwrap();
    assert!(
        all.iter()
            .map(|prefix| prefix.to_string())
            .eq(["0.0.0.0/0", "::/0"])
    );
}

#[test]
fn what_is_no_list_is_told_with_its_line() {
    let error = |text: &str| -> ListTextError { text.parse::<IpSet>().unwrap_err() };
    for (text, line, entry, reason) in [
        (
            "10.0.0.1/8",
            1,
            "10.0.0.1/8",
            "host bits are set beyond the prefix length",
        ),
        ("\n# a\nten # b\n10.0.0.0/8", 3, "ten", "not an address"),
        (
            "10.0.0.0/8\n10.0.0.0/8 east",
            2,
            "10.0.0.0/8 east",
            "the prefix length is not a number",
        ),
        (
            "10.0.0.9-10.0.0.1",
            1,
            "10.0.0.9-10.0.0.1",
            "not a range, whose first address is not above its last one",
        ),
        (
            "10.0.0.0/8-11.0.0.0/8",
            1,
            "10.0.0.0/8-11.0.0.0/8",
            "not a range, whose first address is not above its last one",
        ),
        (
            "10.0.0.0-::1",
            1,
            "10.0.0.0-::1",
            "not a range, whose first address is not above its last one",
        ),
        ("10.0.0.0-", 1, "10.0.0.0-", "not an address"),
        ("a\tb\u{7}", 1, "a\tb\u{7}", "not an address"),
    ] {
        let error = error(text);
        assert_eq!((error.line(), error.text()), (line, entry));
        let shown = format!("line {line}: `{}`: {reason}", entry.escape_debug());
        assert_eq!(error.to_string(), shown);
    }
    let of_family = "10.0.0.0/8\n::1".parse::<PrefixSet<u32>>().unwrap_err();
    assert_eq!(
        of_family.to_string(),
        format!("line 2: `::1`: {}", PrefixError::Address)
    );
}
