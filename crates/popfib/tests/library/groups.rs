//! Next-hop groups: shares by weight, flows that stay, changes that readers see whole.

use std::collections::BTreeMap;

use popfib::live::{Group, GroupError, LiveGroups};

use crate::common::random::Random;

const FLOWS: usize = 20_000;

fn flows() -> Vec<u64> {
    let mut random = Random(0x1234_5678_9abc_def1);
    (0..FLOWS).map(|_| random.next()).collect()
}

/// Flows of each member.
fn shares(group: &Group<u32>) -> BTreeMap<u32, usize> {
    let mut shares = BTreeMap::new();
    for flow in flows() {
        *shares.entry(*group.select(flow)).or_default() += 1;
    }
    shares
}

#[test]
fn flows_follow_the_weights() {
    let mut random = Random(7);
    for _ in 0..50 {
        let members: Vec<_> = (0..1 + random.below(40) as u32)
            .map(|member| (member, random.below(5) as u32))
            .collect();
        let total: u32 = members.iter().map(|(_, weight)| weight).sum();
        let Ok(group) = Group::new(members.clone()) else {
            assert_eq!(total, 0);
            continue;
        };
        let shares = shares(&group);
        for (member, weight) in &members {
            let share = shares.get(member).copied().unwrap_or(0) as f64 / FLOWS as f64;
            let wanted = f64::from(*weight) / f64::from(total);
            // One bucket, and what chance adds.
            let most = 1.0 / (16.0 * members.len() as f64) + 0.02;
            assert!((share - wanted).abs() <= most, "{share} of {wanted}");
            assert!(*weight > 0 || share == 0.0);
        }
        assert_eq!(group.members(), members);
    }
}

/// When members come and go, flows of the others stay, but for what shares ask for.
#[test]
fn few_flows_move() {
    let mut random = Random(9);
    let equal = |members: &[u32]| members.iter().map(|m| (*m, 1)).collect::<Vec<_>>();
    let mut members: Vec<u32> = (0..8).collect();
    let mut group = Group::new(equal(&members)).unwrap();
    for next in 8..200 {
        let was = members.clone();
        if members.len() > 2 && random.below(2) == 0 {
            members.remove(random.below(members.len()));
        } else {
            members.insert(random.below(members.len() + 1), next);
        }
        let changed = group.with_members(equal(&members)).unwrap();
        let stays = |member: &u32| was.contains(member) && members.contains(member);
        let moved = flows()
            .into_iter()
            .filter(|flow| {
                let (before, after) = (group.select(*flow), changed.select(*flow));
                stays(before) && before != after
            })
            .count();
        // What a new member takes, and what rounding moves.
        let new = members.iter().filter(|member| !was.contains(member));
        let share = (new.count() * FLOWS) as f64 / members.len() as f64;
        let most = share * 1.1 + FLOWS as f64 / 16.0;
        assert!(
            moved as f64 <= most,
            "{moved} flows of {FLOWS} moved, at most {most}"
        );
        group = changed;
    }
}

#[test]
fn refusals() {
    assert_eq!(Group::<u32>::new([]), Err(GroupError::Empty));
    assert_eq!(Group::new([(1, 0)]), Err(GroupError::Empty));
    let max = 4096;
    let many = (0..max as u32 + 1).map(|member| (member, 1));
    assert_eq!(Group::new(many), Err(GroupError::Members { max }));
    let all = Group::new((0..max as u32).map(|member| (member, u32::MAX))).unwrap();
    assert_eq!(shares(&all).len(), shares(&all).keys().len());
    let mut groups = LiveGroups::new();
    groups.set(1, [(1, 1)]).unwrap();
    assert_eq!(groups.set(1, []), Err(GroupError::Empty));
    assert_eq!(groups.get(1).unwrap().members(), [(1, 1)]);
}

#[test]
fn readers_choose_while_groups_change() {
    let mut groups = LiveGroups::new();
    for id in 0..300 {
        groups.set(id, [(id * 2, 1), (id * 2 + 1, 3)]).unwrap();
    }
    let mut reader = groups.reader();
    let mut guard = reader.pin();
    let held = guard.get(5).unwrap();
    let (ids, hashes): (Vec<u32>, Vec<u64>) = (0..1000).zip(flows()).unzip();
    let mut members = vec![None; ids.len()];
    guard.select_batch(&ids, &hashes, &mut members);
    for ((id, hash), member) in ids.iter().zip(&hashes).zip(&members) {
        assert_eq!(*member, guard.select(*id, *hash));
        assert_eq!(member.map(|member| member / 2), (*id < 300).then_some(*id));
    }
    for id in 0..300 {
        groups.set(id, [(id * 2, 1)]).unwrap();
    }
    // Equal members, but two groups.
    groups.set(8, [(10, 1)]).unwrap();
    assert_eq!(groups.remove(5), Ok(true));
    assert_eq!((held.members().len(), guard.get(5)), (2, None));
    assert_eq!(guard.select(8, 1), Some(&10));
    guard.quiescent();
    groups.reclaim();
    assert_eq!((groups.len(), groups.remove(5)), (299, Ok(false)));
}
