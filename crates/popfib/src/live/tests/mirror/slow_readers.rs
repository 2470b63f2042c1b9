//! Mirrors of a map whose readers are slow.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::super::Random;
use super::{Arrays, SlowLookup};
use crate::fib::FibWords;
use crate::live::Mirror;
use crate::map::Shared;
use crate::rounds::rounds;
use crate::{Address, LiveMap, NextHop, Options, Prefix, Size};

/// A slow lookup of one of the addresses, and the values that it may find.
struct Running<A> {
    lookup: SlowLookup<A>,
    /// What it found before it looks for the value of that number.
    number: Option<u32>,
    arrays: Rc<Arrays>,
    at: usize,
    allowed: Vec<u32>,
}

/// A mirror of a map whose readers are slow: many changes happen while each looks up.
struct SlowMirror<A> {
    arrays: Option<Rc<Arrays>>,
    /// By number, and the numbers whose values the arrays lack.
    values: Vec<u32>,
    changed: Vec<u32>,
    addresses: Vec<A>,
    /// By address: its answer in the mirror, and those that it has had since.
    recent: Vec<Vec<u32>>,
    running: Vec<Running<A>>,
    random: Random,
    waits_for_readers: bool,
    graces: usize,
    right: usize,
    wrong: usize,
}

impl<A: Address> SlowMirror<A> {
    /// Takes one step of the lookup at this place. At its end another begins.
    fn step(&mut self, place: usize) -> bool {
        let running = &mut self.running[place];
        let Some(number) = running.number else {
            let end = running.lookup.step(&running.arrays);
            running.number = end.map(|number| number.unwrap_or(u32::MAX));
            return false;
        };
        let values = running.arrays.values.borrow();
        let value = values.get(number as usize);
        let is_right = value.is_some_and(|value| running.allowed.contains(value));
        drop(values);
        *if is_right {
            &mut self.right
        } else {
            &mut self.wrong
        } += 1;
        let at = self.random.below(self.addresses.len() as u64) as usize;
        self.running[place] = Running {
            lookup: SlowLookup::new(self.addresses[at]),
            number: None,
            arrays: self.arrays.clone().expect("loaded"),
            at,
            allowed: self.recent[at].clone(),
        };
        true
    }

    /// Takes a step of some lookup, now and then.
    fn go_on(&mut self) {
        if self.random.below(10) == 0 && !self.running.is_empty() {
            // Some are much slower than others.
            let slowest = self.random.below(self.running.len() as u64);
            let place = self.random.below(slowest + 1);
            self.step(place as usize);
        }
    }

    fn set_value(&mut self, number: NextHop, value: u32) {
        let at = number.get() as usize;
        self.values.resize(self.values.len().max(at + 1), 0);
        self.values[at] = value;
        self.changed.push(number.get());
    }

    /// Stores values, before the words that lead to them.
    fn store_values(&mut self) {
        let mut values = self.arrays.as_ref().expect("loaded").values.borrow_mut();
        values.resize(self.values.len(), 0);
        for number in self.changed.drain(..) {
            values[number as usize] = self.values[number as usize];
        }
    }

    /// The table has changed.
    fn hear(&mut self, table: &LiveMap<A, u32, Shared>) {
        let answer = |address: &A| table.lookup(*address).copied().unwrap_or(0);
        for (recent, address) in self.recent.iter_mut().zip(&self.addresses) {
            recent.push(answer(address));
        }
        for running in &mut self.running {
            running.allowed.push(answer(&self.addresses[running.at]));
        }
    }

    /// The mirror has all changes.
    fn settle(&mut self) {
        for recent in &mut self.recent {
            recent.drain(..recent.len() - 1);
        }
    }
}

impl<A: Address> Mirror for SlowMirror<A> {
    type Error = ();

    fn load(&mut self, words: FibWords<'_>) -> Result<(), ()> {
        // Beside the one that readers are in.
        self.arrays = Some(Rc::new(Arrays::of(words)));
        self.changed.extend(0..self.values.len() as u32);
        self.store_values();
        Ok(())
    }

    fn store_root(&mut self, index: usize, word: u32) {
        self.store_values();
        self.arrays.as_ref().expect("loaded").root[index].set(word);
        self.go_on();
    }

    fn store_arena(&mut self, index: usize, word: u32) {
        self.store_values();
        self.arrays.as_ref().expect("loaded").arena[index].set(word);
        self.go_on();
    }

    fn wait(&mut self) -> Result<(), ()> {
        self.graces += 1;
        for place in 0..self.running.len() {
            while self.waits_for_readers && !self.step(place) {}
        }
        Ok(())
    }
}

/// Slow lookups in a mirror of a table whose routes have this length or more: how many found an answer that the table had
/// meanwhile, and how many did not.
fn slow_readers<A: Address>(
    options: &Options,
    shortest: u8,
    waits_for_readers: bool,
) -> (usize, usize) {
    let mut random = Random(7);
    let mut table = LiveMap::<A, u32, Shared>::with_options(options.clone()).expect("fits");
    let addresses: Vec<A> = (0..64)
        .map(|_| A::from_leading(random.next() as u32 & 0x7000_00f1, A::WIDTH.min(31)))
        .collect();
    let mut mirror = SlowMirror {
        arrays: None,
        values: vec![0],
        changed: Vec::new(),
        recent: vec![vec![0]; addresses.len()],
        addresses,
        running: Vec::new(),
        random: Random(8),
        waits_for_readers,
        graces: 0,
        right: 0,
        wrong: 0,
    };
    table
        .mirror(&mut mirror, |mirror, number, value| {
            mirror.set_value(number, *value)
        })
        .expect("memory");
    for at in 0..mirror.addresses.len() {
        mirror.running.push(Running {
            lookup: SlowLookup::new(mirror.addresses[at]),
            number: None,
            arrays: mirror.arrays.clone().expect("loaded"),
            at,
            allowed: vec![0],
        });
    }
    for _ in 0..rounds(100_000, 500_000) {
        // Routes of few addresses, so that most changes reach one that is looked up.
        let address = mirror.addresses[random.below(64) as usize];
        let len = shortest + random.below(u64::from(A::WIDTH.min(36) - shortest) + 1) as u8;
        let value = Some(random.below(1000) as u32).filter(|value| *value > 0);
        let change = (Prefix::clamped(address, len), value);
        table.apply([change]).expect("fits");
        mirror.hear(&table);
        // Some changes come together.
        if random.below(3) == 0 {
            table
                .mirror(&mut mirror, |mirror, number, value| {
                    mirror.set_value(number, *value)
                })
                .expect("memory");
            mirror.settle();
        }
    }
    assert!(mirror.graces > 3, "{} grace periods", mirror.graces);
    (mirror.right, mirror.wrong)
}

#[test]
fn slow_readers_find_what_the_table_had_meanwhile() {
    let plain = Options::default();
    let flat = plain.clone().direct_bits(Some(18)).size(Size::Balanced);
    let is_right = |(right, wrong)| {
        assert!(right > 1000, "{right} lookups ended");
        assert_eq!(wrong, 0);
    };
    let is_wrong = |(right, wrong)| assert!(right > 1000 && wrong > 0, "{right}, {wrong} wrong");
    is_right(slow_readers::<u32>(&plain, 24, true));
    is_right(slow_readers::<u32>(&flat, 16, true));
    is_right(slow_readers::<u128>(&plain, 30, true));
    // The control: where nobody waits, words are used again under them.
    is_wrong(slow_readers::<u32>(&plain, 24, false));
    is_wrong(slow_readers::<u32>(&flat, 16, false));
    is_wrong(slow_readers::<u128>(&plain, 30, false));
}
