use super::*;

#[test]
fn a_run_keeps_its_order_through_growth_and_shrinkage() {
    let mut runs = Runs::<u32>::new_in(Global);
    let mut start = 0;
    for n in 0..127 {
        // Always in the middle.
        runs.reserve_insert(start, n).unwrap();
        start = runs.insert(start, n, n / 2, n as u32);
    }
    let mut expected = Vec::<u32>::new();
    for n in 0..127 {
        expected.insert(n / 2, n as u32);
    }
    assert_eq!(runs.run(start, 127), expected);
    for n in (1..=127).rev() {
        start = runs.remove(start, n, n / 3);
        expected.remove(n / 3);
        assert_eq!(runs.run(start, n - 1), expected);
    }
    assert_eq!(runs.used, 0);
}

#[test]
fn released_blocks_are_used_again() {
    let mut runs = Runs::<u32>::new_in(Global);
    let mut size = 0;
    for round in 0..10 {
        let mut start = 0;
        for n in 0..64 {
            runs.reserve_insert(start, n).unwrap();
            start = runs.insert(start, n, n, 1);
        }
        for n in (1..=64).rev() {
            start = runs.remove(start, n, 0);
        }
        if round == 1 {
            size = runs.slots.len();
        }
    }
    assert_eq!(runs.slots.len(), size);
}

/// Slots that the longer array has.
fn copied(runs: &Runs<u32>) -> usize {
    runs.longer.as_ref().map_or(0, |longer| longer.len())
}

#[test]
fn a_long_array_is_copied_in_parts_that_follow_its_changes() {
    let mut runs = Runs::<u32>::new_in(Global);
    let mut model = Vec::<(u32, Vec<u32>)>::new();
    let mut random = 1u64;
    let (mut moves, mut mostly) = (0, 0);
    for n in 0..if cfg!(miri) { 2000 } else { 60_000 } {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let draw = (random >> 33) as usize;
        let (before, from) = (copied(&runs), runs.slots.as_ptr());
        if draw % 7 < 3 || model.is_empty() {
            runs.reserve_run(1).unwrap();
            model.push((runs.alloc_one(n), Vec::from([n])));
        } else {
            // Every other time one of few, which become long.
            let at = draw / 8
                % if draw % 8 < 4 {
                    model.len()
                } else {
                    model.len().min(200)
                };
            let (start, values) = &mut model[at];
            if draw.is_multiple_of(4) && values.len() > 1 {
                *start = runs.remove(*start, values.len(), draw % values.len());
                values.remove(draw % values.len());
            } else if draw % 4 == 1 {
                runs.set(*start, n);
                values[0] = n;
            } else if values.len() < 100 {
                runs.reserve_insert(*start, values.len()).unwrap();
                *start = runs.insert(*start, values.len(), draw % values.len(), n);
                values.insert(draw % values.len(), n);
            }
        }
        let has_moved = runs.slots.as_ptr() != from;
        let end = if has_moved {
            runs.slots.len()
        } else {
            copied(&runs)
        };
        moves += u32::from(has_moved);
        if runs.slots.len() > 20_000 {
            mostly = mostly.max(end.saturating_sub(before));
        }
        if n % 997 == 0 || has_moved && runs.slots.len() < 20_000 {
            for (start, values) in &model {
                assert_eq!(runs.run(*start, values.len()), values.as_slice());
            }
        }
    }
    assert!(moves > 8, "{moves}");
    assert!(mostly < 5000, "{mostly} slots in one change");
}
