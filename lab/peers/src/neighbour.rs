//! A neighbour that keeps the shared cache busy, and a probe of how busy it is.

use std::hint::black_box;
use std::io::Read;
use std::time::{Duration, Instant};

use popfib_eval::Random;

use crate::exchange::Failure;

/// A cache line.
const LINE: usize = 64;

/// What the probe reads in: more than the caches of a core, less than what cores share.
const PROBED: usize = 24 << 20;

/// Writes to random lines of so many MiB until standard input ends, which it does with whoever started this.
pub(crate) fn disturb(mib: usize) -> Result<(), Failure> {
    std::thread::spawn(move || {
        let mut lines = vec![[0u8; LINE]; (mib << 20) / LINE];
        let mut random = Random::new(1);
        loop {
            let at = random.below(lines.len());
            lines[at][0] = lines[at][0].wrapping_add(1);
            black_box(&mut lines);
        }
    });
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Prints how many million random reads a second 24 MiB give, each of which waits for the one before.
pub(crate) fn probe() {
    let lines: Vec<[u32; LINE / 4]> = chain(PROBED / LINE);
    let mut at = 0;
    let mut walk = |steps: usize| {
        for _ in 0..steps {
            at = lines[at as usize][0];
        }
        black_box(at);
    };
    walk(lines.len());
    let (start, mut steps) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_millis(300) {
        walk(1 << 14);
        steps += 1 << 14;
    }
    println!("{:.1}", steps as f64 / start.elapsed().as_secs_f64() / 1e6);
}

/// Lines each of which has the number of another, all in one circle.
fn chain(count: usize) -> Vec<[u32; LINE / 4]> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    Random::new(2).shuffle(&mut order);
    let mut lines = vec![[0; LINE / 4]; count];
    for (at, next) in order.iter().zip(order.iter().cycle().skip(1)) {
        lines[*at as usize][0] = *next;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_meets_every_line() {
        let lines = chain(1000);
        let (mut at, mut steps) = (0, 0);
        loop {
            at = lines[at as usize][0];
            steps += 1;
            if at == 0 {
                break;
            }
        }
        assert_eq!(steps, 1000);
    }
}
