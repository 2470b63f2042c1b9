//! PlanB (Zhang and others, "Efficient Software IPv6 Lookup with Linearized B+-Tree", NSDI 2026), from its paper's ideas.
//!
//! Longest match becomes a search in one dimension: the first addresses of all stretches with one answer, in order. A B+-tree of
//! nodes of a cache line, eight boundaries of 64 bits, lies level by level in one array, so that a child's place is computed and
//! not read. A node is one comparison of vectors and a count of bits, without a branch, and a burst goes down level by level
//! together. The paper's keys are the 64 bits of IPv6 networks; here each of them that has longer routes leads on to a list of
//! boundaries below it, which is searched by halves, so that every answer is right to /128. Shorter keys are moved up to 64 bits.

use popfib::intervals::Intervals;
use popfib::{Address, Rib};

use crate::algorithms::{Lookup, Routes};

/// Boundaries of a node; a node within the tree has one child more.
const KEYS: usize = 8;
const CHILDREN: usize = KEYS + 1;
/// Lookups that go down together.
const BURST: usize = 32;
/// In an answer: it is the number of a list below these 64 bits.
const BELOW: u32 = 1 << 31;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Node([u64; KEYS]);

/// A table of routes as PlanB has it.
pub(crate) struct PlanB {
    nodes: Vec<Node>,
    /// Where each level begins, and the last node of the level below, from the root to the leaves: only [`tree_of`] makes them, so a
    /// place that is not above the last one is that of a node.
    levels: Vec<(usize, usize)>,
    /// An answer for each boundary of the leaves.
    answers: Vec<u32>,
    /// Boundaries of the 64 bits below, with their answers, for each 64 bits that have longer routes.
    below: Vec<Vec<(u64, u32)>>,
}

/// An address as 64 bits of the tree and 64 below.
fn halves<A: Address>(address: A) -> (u64, u64) {
    let bits = address.to_u128() << (128 - u32::from(A::WIDTH));
    ((bits >> 64) as u64, bits as u64)
}

impl PlanB {
    pub(crate) fn build<A: Address>(routes: &Routes<A>) -> Self {
        let rib: Rib<A> = routes.iter().copied().collect();
        let mut firsts: Vec<(u64, u64, u32)> = Vec::new();
        for interval in Intervals::new(&rib) {
            let (key, low) = halves(interval.first);
            let answer = interval.next_hop.map_or(0, |next_hop| next_hop.get());
            if firsts.last().is_none_or(|&(_, _, before)| before != answer) {
                firsts.push((key, low, answer));
            }
        }
        let (mut keys, mut answers, mut below) = (Vec::new(), Vec::new(), Vec::new());
        let mut before = 0;
        let mut groups = firsts.chunk_by(|a, b| a.0 == b.0).peekable();
        while let Some(group) = groups.next() {
            let key = group[0].0;
            keys.push(key);
            if let [(_, 0, answer)] = group {
                answers.push(*answer);
            } else {
                answers.push(BELOW | below.len() as u32);
                let goes_on = (group[0].1 > 0).then_some((0, before));
                let within = group.iter().map(|&(_, low, answer)| (low, answer));
                below.push(goes_on.into_iter().chain(within).collect::<Vec<_>>());
            }
            before = group[group.len() - 1].2;
            // The 64 bits after a list have one answer again, unless they begin with a boundary or have a list, too.
            let next = key.checked_add(1);
            if let (true, Some(next)) = (answers[answers.len() - 1] & BELOW != 0, next)
                && groups.peek().is_none_or(|group| group[0].0 != next)
            {
                keys.push(next);
                answers.push(before);
            }
        }
        let (nodes, levels) = tree_of(&keys);
        Self {
            nodes,
            levels,
            answers,
            below,
        }
    }

    /// The answer to an address whose boundary is known.
    #[inline(always)]
    fn answer<A: Address>(&self, place: usize, address: A) -> u32 {
        let answer = self.answers[place];
        if answer & BELOW == 0 {
            return answer;
        }
        let low = halves(address).1;
        let list = &self.below[(answer & !BELOW) as usize];
        list[list.partition_point(|&(first, _)| first <= low) - 1].1
    }

    #[inline(always)]
    fn search<A: Address>(
        &self,
        addresses: &[A],
        next_hops: &mut [u32],
        count: impl Fn(&Node, u64) -> usize,
    ) {
        let (leaves, inner) = self.levels.split_last().expect("a tree has leaves");
        for (addresses, next_hops) in addresses.chunks(BURST).zip(next_hops.chunks_mut(BURST)) {
            // The same number of lanes always, so that loops over them are unrolled.
            let mut keys = [0_u64; BURST];
            for (key, &address) in keys.iter_mut().zip(addresses) {
                *key = halves(address).0;
            }
            let mut places = [0_usize; BURST];
            for &(first, last) in inner {
                let nodes = &self.nodes[first..];
                for (places, keys) in places.chunks_exact_mut(8).zip(keys.chunks_exact(8)) {
                    let places: &mut [usize; 8] = places.try_into().expect("eight");
                    let keys: &[u64; 8] = keys.try_into().expect("eight");
                    *places = core::array::from_fn(|lane| {
                        // SAFETY: see `Self::levels`.
                        let node = unsafe { nodes.get_unchecked(places[lane]) };
                        // A key of all ones also passes what fills the last node.
                        (places[lane] * CHILDREN + count(node, keys[lane])).min(last)
                    });
                }
            }
            let nodes = &self.nodes[leaves.0..];
            for lane in 0..BURST {
                // SAFETY: the same.
                let node = unsafe { nodes.get_unchecked(places[lane]) };
                let place = places[lane] * KEYS + count(node, keys[lane]);
                places[lane] = place.min(self.answers.len()) - 1;
            }
            for ((next_hop, &address), &place) in next_hops.iter_mut().zip(addresses).zip(&places) {
                *next_hop = self.answer(place, address);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,popcnt")]
    fn search_avx512<A: Address>(&self, addresses: &[A], next_hops: &mut [u32]) {
        use core::arch::x86_64::{_mm512_cmple_epu64_mask, _mm512_load_epi64, _mm512_set1_epi64};
        self.search(addresses, next_hops, |node, key| {
            // SAFETY: a node is eight aligned words.
            let keys = unsafe { _mm512_load_epi64(node.0.as_ptr().cast()) };
            _mm512_cmple_epu64_mask(keys, _mm512_set1_epi64(key as i64)).count_ones() as usize
        });
    }
}

/// The nodes of a tree over `keys`, and for each level, from the root, where it begins and the last node of the level below.
fn tree_of(keys: &[u64]) -> (Vec<Node>, Vec<(usize, usize)>) {
    let node = |keys: &[u64]| {
        let mut node = Node([u64::MAX; KEYS]);
        node.0[..keys.len()].copy_from_slice(keys);
        node
    };
    let mut levels = vec![keys.chunks(KEYS).map(node).collect::<Vec<_>>()];
    // The least key below each node of the last level.
    let mut least: Vec<u64> = keys.chunks(KEYS).map(|keys| keys[0]).collect();
    while least.len() > 1 {
        levels.push(
            least
                .chunks(CHILDREN)
                .map(|least| node(&least[1..]))
                .collect(),
        );
        least = least.chunks(CHILDREN).map(|least| least[0]).collect();
    }
    let mut nodes = Vec::new();
    let mut places = Vec::new();
    for (at, level) in levels.iter().enumerate().rev() {
        let last = at.checked_sub(1).map_or(0, |below| levels[below].len() - 1);
        places.push((nodes.len(), last));
        nodes.extend_from_slice(level);
    }
    (nodes, places)
}

impl<A: Address> Lookup<A> for PlanB {
    #[inline]
    fn lookup(&self, addresses: &[A], next_hops: &mut [u32]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("popcnt") {
            // SAFETY: this CPU has both.
            return unsafe { self.search_avx512(addresses, next_hops) };
        }
        self.search(addresses, next_hops, |node, key| {
            node.0.iter().filter(|&&first| first <= key).count()
        });
    }

    fn bytes(&self) -> usize {
        let lists = self.below.iter().map(|list| size_of_val(&list[..]));
        size_of_val(&self.nodes[..])
            + size_of_val(&self.answers[..])
            + size_of_val(&self.below[..])
            + lists.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use popfib::{NextHop, Prefix};

    use super::*;

    /// Compares every boundary of random routes, and its neighbours, with a Rib.
    fn is_right<A: Address>(routes: usize, near: u32) {
        let mut state = 88_172_645_463_325_252_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut rib = Rib::new();
        for _ in 0..routes {
            let bits = u128::from(random() as u32 & near) << 96
                | u128::from(random() & 3) << 64
                | u128::from(random() & 7) << 61
                | u128::from(random() & 5);
            let address = A::truncate(bits >> (128 - u32::from(A::WIDTH)));
            let len = (random() % (u64::from(A::WIDTH) + 1)) as u8;
            let prefix = Prefix::new_masked(address, len).expect("within the key");
            rib.insert(
                prefix,
                NextHop::new(1 + (random() % 9) as u32).expect("not 0"),
            );
        }
        let all: Vec<_> = rib.iter().collect();
        let tree = PlanB::build(&all);
        let mut asked = vec![A::MIN, A::MAX];
        for &(prefix, _) in &all {
            asked.extend(
                [Some(prefix.first()), Some(prefix.last())]
                    .into_iter()
                    .flatten(),
            );
            asked.extend(prefix.first().checked_previous());
            asked.extend(prefix.last().checked_next());
        }
        let mut answers = vec![0; asked.len()];
        tree.lookup(&asked, &mut answers);
        for (address, answer) in asked.into_iter().zip(answers) {
            let right = rib.lookup(address).map_or(0, |next_hop| next_hop.get());
            assert_eq!(answer, right, "{address:?} among {routes}");
        }
    }

    #[test]
    fn every_width_and_size_answers_as_a_rib() {
        for routes in [0, 1, 2, 7, 8, 9, 64, 73, 500, 3_000] {
            for near in [0, 0xff, u32::MAX] {
                is_right::<u8>(routes, near);
                is_right::<u32>(routes, near);
                is_right::<u64>(routes, near);
                is_right::<u128>(routes, near);
            }
        }
    }
}
