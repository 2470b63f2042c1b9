//! The route store's memory: what routes leave is used again.

use popfib::{NextHop, Prefix, Rib};

use crate::common::random::Random;

#[test]
fn a_rib_that_changes_does_not_grow() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    // Close together, so that runs of values and of children of all lengths come and go.
    let prefixes: Vec<Prefix<u32>> = (0..3000)
        .map(|_| Prefix::new_masked((random.next() as u32) >> 12, 12 + random.below(21) as u8))
        .map(|prefix| prefix.expect("at most 32 bits"))
        .collect();
    let mut rib = Rib::new();
    let mut change = |rib: &mut Rib<u32>, changes: usize| {
        for _ in 0..changes {
            let prefix = prefixes[random.below(prefixes.len())];
            if random.below(2) == 0 {
                rib.insert(prefix, NextHop::MIN);
            } else {
                rib.remove(prefix);
            }
        }
        rib.bytes()
    };
    let first = change(&mut rib, 60_000);
    let later = change(&mut rib, 600_000);
    assert!(later <= first + first / 4, "{first} bytes, then {later}");
}
