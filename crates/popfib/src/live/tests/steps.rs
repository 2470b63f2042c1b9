//! Changes in steps: each answer one that the Rib had since lookups last saw all changes, and the table of a fresh
//! compile whenever they do.

use alloc::collections::BTreeSet;

use super::*;

/// What each of `addresses` may be answered.
struct Allowed<A> {
    addresses: Vec<A>,
    answers: Vec<BTreeSet<u32>>,
}

impl<A: Address> Allowed<A> {
    fn new(addresses: Vec<A>) -> Self {
        let answers = vec![BTreeSet::from([0]); addresses.len()];
        Self { addresses, answers }
    }

    /// The table has changed, or made a step.
    fn verify(&mut self, table: &LiveFib<A, u16>, context: &str) {
        assert_eq!(table.check(), Ok(()), "{context}");
        let is_settled = table.is_settled();
        for (address, answers) in self.addresses.iter().zip(&mut self.answers) {
            let now = table.rib.lookup(*address).map_or(0, u32::from);
            if is_settled {
                answers.clear();
            }
            answers.insert(now);
            let answer = u32::from(table.lookup(*address));
            assert!(
                answers.contains(&answer),
                "{address:?}: {answer} of {answers:?}, {context}"
            );
        }
    }
}

fn settle<A: Address>(table: &mut LiveFib<A, u16>, allowed: &mut Allowed<A>, context: &str) {
    for step in 0.. {
        let is_more = table.step().expect("memory");
        allowed.verify(table, context);
        if !is_more {
            break;
        }
        assert!(step < 200_000, "ends, {context}");
    }
    assert!(table.is_settled(), "{context}");
    hold(table, allowed.addresses.iter().copied(), context);
}

fn random_steps<A: Address>(seed: u64, changes: usize, addresses: &[A]) {
    for options in options::<A>() {
        for routes in rounds(&[1, 7][..], &[1, 2, 7]) {
            let mut random = Random(seed);
            let mut allowed = Allowed::new(addresses.to_vec());
            let mut table: LiveFib<A, u16> = LiveFib::new(options.clone()).expect("bits fit");
            table.set_step(Some(*routes));
            for change in 0..changes {
                let near = if random.below(4) == 0 {
                    u32::MAX
                } else {
                    0x7000_00f1
                };
                let mut prefix = random_prefix(&mut random, near);
                if random.below(3) == 0 {
                    // Short ones wait.
                    prefix = Prefix::clamped(prefix.address(), random.below(6) as u8);
                }
                let context =
                    format!("seed {seed}, change {change}: {prefix:?}, {routes}, {options:?}");
                let victim = table.rib.next(prefix).map_or(prefix, |(prefix, _)| prefix);
                match random.below(8) {
                    0 => drop(table.withdraw(victim).expect("memory")),
                    1 => drop(table.withdraw(prefix).expect("memory")),
                    2 => {
                        // Many at once.
                        for _ in 0..4 {
                            let prefix = random_prefix(&mut random, near);
                            let next_hop = NextHop::new(random.below(9) as u32);
                            table.change_unseen(prefix, next_hop).expect("memory");
                        }
                        table.publish().expect("memory");
                    }
                    _ => {
                        // Wider ones need a new form.
                        let next_hop =
                            (1 + random.below(3)) << random.below(1 + change as u64 % 14);
                        let next_hop = NextHop::new(next_hop as u32).expect("not 0");
                        table.announce(prefix, next_hop).expect("memory");
                    }
                }
                allowed.verify(&table, &context);
                for _ in 0..random.below(4) {
                    table.step().expect("memory");
                    allowed.verify(&table, &context);
                }
                match random.below(12) {
                    0 => settle(&mut table, &mut allowed, &context),
                    1 => table.set_step(None),
                    2 => table.set_step(Some(*routes)),
                    _ => {}
                }
            }
            settle(&mut table, &mut allowed, "at the end");
        }
    }
}

#[test]
fn every_address_of_8_bits_while_changes_are_made_in_steps() {
    let addresses: Vec<u8> = (0..=u8::MAX).collect();
    for seed in 0..rounds(2, 5) {
        random_steps(seed, 60, &addresses);
    }
}

#[test]
fn long_keys_while_changes_are_made_in_steps() {
    let changes = rounds(4, 60);
    let mut random = Random(0);
    let mut addresses =
        |count| -> Vec<u32> { (0..count).map(|_| random.next() as u32 * 2).collect() };
    let some = addresses(200);
    let short: Vec<u16> = some.iter().map(|at| (at >> 16) as u16).collect();
    random_steps(1, changes, &short);
    random_steps(2, changes, &some);
    let long: Vec<u128> = some.iter().map(|at| u128::from(*at) << 96).collect();
    random_steps(3, changes, &long);
}

#[test]
fn no_words_are_lost_where_routes_come_and_go_while_others_wait() {
    for (bits, size) in [
        (6, Size::Smallest),
        (8, Size::Smallest),
        (10, Size::Smallest),
        (10, Size::Balanced),
    ] {
        let options = Options::default().direct_bits(Some(bits)).size(size);
        let mut table: LiveFib<u16, u16> = LiveFib::new(options).expect("fits");
        table.set_step(Some(1));
        let mut random = Random(u64::from(bits));
        for change in 0..40_000 {
            // Short ones wait for many steps; long ones come and go in few places.
            let (place, len) = match random.below(3) {
                0 => (random.next() as u16, random.below(4)),
                _ => (random.next() as u16 & 0xe001, 9 + random.below(8)),
            };
            let prefix = Prefix::clamped(place, len as u8);
            match random.below(2) {
                0 => drop(table.withdraw(prefix).expect("memory")),
                _ => {
                    let next_hop = NextHop::MIN.saturating_add(random.below(3) as u32);
                    table.announce(prefix, next_hop).expect("memory");
                }
            }
            if change % 100 == 0 {
                while table.step().expect("memory") {}
                table.reclaim();
                // The block of no routes that each arena begins with, and what is left before the line of the first flat block.
                let rest = lost(&table) - 3;
                let most = if table.view().is_flat { 15 } else { 0 };
                assert!(
                    rest <= most,
                    "{bits} bits, {size:?}, change {change}: {rest}"
                );
            }
        }
    }
}

#[test]
fn a_reader_that_stays_inside_stops_no_step() {
    let mut table: LiveFib<u32> =
        LiveFib::new(Options::default().direct_bits(Some(12))).expect("fits");
    table.set_step(Some(16));
    let mut reader = table.reader();
    let guard = reader.pin();
    for n in 1..20_000u32 {
        let prefix = Prefix::clamped(n << 12, 24);
        let next_hop = NextHop::MIN.saturating_add(n % 9);
        table.announce(prefix, next_hop).expect("fits");
        if n % 500 == 0 {
            let default = Prefix::clamped(0, 0);
            table.announce(default, next_hop).expect("fits");
        }
    }
    while table.step().expect("memory") {}
    assert!(table.is_settled());
    assert_eq!(guard.lookup(1 << 12), 2);
    drop(guard);
    table.reclaim();
    table.reclaim();
    assert_eq!(table.bytes().older, 0);
    hold(&table, (0..1 << 12).map(|n| n << 20), "at the end");
}
