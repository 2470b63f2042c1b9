//! `popfib set` beside each address. Operations and refusals: `set.cases`.

use crate::common::{file, good, run, stdout};
use serde_json::Value;

/// Prefixes of 192.0.2.0/24, by their last byte and length, and the bytes that they hold.
pub(crate) fn random_list(state: &mut u64) -> (String, Vec<bool>) {
    let mut held = vec![false; 256];
    let mut text = String::new();
    let mut below = |end: u64| {
        *state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (*state >> 33) % end
    };
    for _ in 0..1 + below(6) {
        let len = 25 + below(8);
        let size = 1usize << (32 - len);
        let first = below(256) as usize / size * size;
        let prefix = format!("192.0.2.{first}/{len} ");
        if !text.contains(&prefix) {
            text += &format!("{prefix}v{}\n", below(3));
        }
        held[first..first + size].fill(true);
    }
    (text, held)
}

/// The last bytes that lines of prefixes of 192.0.2.0/24 hold, of which none overlaps.
#[track_caller]
pub(crate) fn held(lines: &str) -> (Vec<bool>, Vec<u32>) {
    let mut held = vec![false; 256];
    let mut lengths = Vec::new();
    for line in lines.lines() {
        let (first, len) = line
            .strip_prefix("192.0.2.")
            .unwrap()
            .split_once('/')
            .unwrap();
        let (first, len): (usize, u32) = (first.parse().unwrap(), len.parse().unwrap());
        for held in &mut held[first..first + (1 << (32 - len))] {
            assert!(!std::mem::replace(held, true), "{lines}");
        }
        lengths.push(len);
    }
    (held, lengths)
}

#[test]
fn free_space_and_splits_are_those_of_each_address() {
    let mut state = 45;
    for round in 0..12 {
        let (text, used) = random_list(&mut state);
        let list = file(&format!("used-{round}"), &text);
        let free: Vec<bool> = used.iter().map(|used| !used).collect();
        let of = |args: &[&str]| {
            let output = run(&[&["set", "free", "192.0.2.0/24", &list], args].concat());
            let expected = i32::from(!free.contains(&true));
            assert_eq!(output.status.code(), Some(expected), "{text}");
            stdout(&output).to_owned()
        };
        let all = of(&[]);
        let (found, mut lengths) = held(&all);
        assert_eq!(found, free, "{text}");
        let (_, largest) = held(&of(&["--largest", "2"]));
        lengths.sort_unstable();
        lengths.truncate(2);
        let mut sorted = largest.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, lengths, "{text}");
        // The first free block of each length, by trying each place.
        for len in [26, 29, 32] {
            let size = 1 << (32 - len);
            let places = (0..256).step_by(size);
            let places = places.filter(|&at| !used[at..at + size].contains(&true));
            let expected: String = places
                .take(3)
                .map(|at| format!("192.0.2.{at}/{len}\n"))
                .collect();
            let args = ["--length", &len.to_string(), "--count", "3"];
            let output = run(&[&["set", "free", "192.0.2.0/24", &list], &args[..]].concat());
            assert_eq!(stdout(&output), expected, "{text}");
        }
        for len in [27, 32] {
            let output = run(&["set", "split", &format!("/{len}"), &list]);
            let (found, lengths) = held(good(&output));
            assert_eq!(found, used, "{text}");
            assert!(lengths.iter().all(|&found| found >= len), "{text}");
        }
        // Each prefix that lies in another, with the longest of those.
        let routes: std::collections::BTreeMap<(usize, u32), &str> = text
            .lines()
            .map(|line| {
                let (prefix, value) = line.split_once(' ').unwrap();
                let (first, len) = prefix["192.0.2.".len()..].split_once('/').unwrap();
                ((first.parse().unwrap(), len.parse().unwrap()), value)
            })
            .collect();
        let mut expected = String::new();
        for (&(first, len), value) in &routes {
            let covering = (25..len).rev().find_map(|shorter| {
                let size = 1 << (32 - shorter);
                let at = (first / size * size, shorter);
                routes.get(&at).map(|value| (at, value))
            });
            if let Some(((at, shorter), outer)) = covering {
                expected +=
                    &format!("192.0.2.{first}/{len}\t{value}\t192.0.2.{at}/{shorter}\t{outer}\n");
            }
        }
        let output = run(&["set", "overlaps", &list]);
        assert_eq!(stdout(&output), expected, "{text}");
        assert_eq!(output.status.code(), Some(i32::from(expected.is_empty())));
    }
}

#[test]
fn each_list_beside_each_other() {
    let mut state = 46;
    for round in 0..6 {
        let lists: Vec<_> = (0..4)
            .map(|index| {
                let (text, held) = random_list(&mut state);
                (file(&format!("compared-{round}-{index}"), text), held)
            })
            .collect();
        let files = lists.iter().map(|(file, _)| file.as_str());
        let args: Vec<_> = ["set", "compare", "--json"]
            .into_iter()
            .chain(files)
            .collect();
        let output = run(&args);
        let lines: Vec<Value> = good(&output)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), lists.len());
        let count = |holds: &dyn Fn(usize) -> bool| (0..256).filter(|&byte| holds(byte)).count();
        for (line, (file, held)) in lines.iter().zip(&lists) {
            assert_eq!(
                (&line["list"], &line["family"]),
                (&file.as_str().into(), &"IPv4".into())
            );
            let others = || lists.iter().filter(|(other, _)| other != file);
            let addresses = count(&|byte| held[byte]);
            let unique = count(&|byte| held[byte] && !others().any(|(_, other)| other[byte]));
            assert_eq!(line["addresses"], addresses);
            assert_eq!(line["unique"], unique);
            let shared = line["shared"].as_array().unwrap();
            assert_eq!(shared.len(), lists.len() - 1);
            for (found, (other, theirs)) in shared.iter().zip(others()) {
                let both = count(&|byte| held[byte] && theirs[byte]);
                assert_eq!(
                    (&found["list"], &found["addresses"]),
                    (&other.as_str().into(), &both.into())
                );
                let share = found["share"].as_f64().unwrap() - both as f64 / addresses as f64;
                assert!(share.abs() < 1e-12, "{found}");
            }
        }
    }
}
