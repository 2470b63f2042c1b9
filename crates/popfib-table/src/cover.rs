//! At most so many prefixes that cover a set of addresses, with few others beside them.
//!
//! Every prefix of a best cover is one of the set's, or the smallest that holds two neighbours of them. These are the
//! vertices of the compressed binary tree whose leaves are the fewest prefixes of the set. A vertex is either covered as
//! a whole, which costs its addresses that are not in the set, or its two children are, each by some of the prefixes.
//!
//! * While there is little to try, the costs of each vertex for each number of prefixes are put together from those of its children,
//!   which is exact: no vertex needs more prefixes than there are, and none may save more than are to be saved in all.
//! * Else each prefix has a price. For a price the cheapest cover, addresses and prefixes together, takes one walk over the tree,
//!   and no cover of so many prefixes has fewer other addresses than it (Everett, *Generalized Lagrange multiplier method*,
//!   Operations Research 11, 1963). The least price that is high enough is found by halves. What is left of the number goes
//!   where one more prefix leaves out the most.

use std::collections::BinaryHeap;
use std::mem;
use std::ops::RangeInclusive;

use popfib::{Address, Prefix, algebra};

/// The most numbers of prefixes that are tried for an exact cover: prefixes of the set, times the most that one place may save or
/// have. Some hundred milliseconds.
const EXACT: usize = 1 << 27;

/// Prefixes that cover a set of addresses, by [`cover`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover<A: Address> {
    /// The prefixes, in order; none covers another.
    pub prefixes: Vec<Prefix<A>>,
    /// How many addresses they cover that are not in the set.
    pub extra: u128,
    /// No cover of so many prefixes has fewer of these. The same as `extra` if the cover is known to be a best one.
    pub extra_at_least: u128,
}

/// A cover of the addresses of `prefixes`, which are in their order, by at most `count` prefixes. One of the fewest extra
/// addresses if there is no more than 2^27 to try: n prefixes (the fewest of the set) times `count` or n - `count`,
/// whichever is less; of larger sets one that is near it, and the bound says how near. Without `count` there is none, but of nothing.
///
/// O(n × min(`count`, n - `count`)), or O(n × key width) beyond that; some 200 bytes for each of n.
///
/// ```
/// use popfib::PrefixSet;
///
/// let set: PrefixSet<u32> = ["10.0.0.0/25", "10.0.0.192/26", "10.9.0.0/16"].iter().map(|p| p.parse().unwrap()).collect();
/// let cover = popfib_table::cover(&set, 2).unwrap();
/// assert_eq!(cover.prefixes, ["10.0.0.0/24".parse()?, "10.9.0.0/16".parse()?]);
/// assert_eq!((cover.extra, cover.extra_at_least), (64, 64));
/// # Ok::<(), popfib::PrefixError>(())
/// ```
pub fn cover<A: Address>(
    prefixes: impl IntoIterator<Item = Prefix<A>>,
    count: usize,
) -> Option<Cover<A>> {
    let leaves: Vec<_> = algebra::fewest(prefixes).collect();
    if leaves.len() <= count {
        return Some(Cover {
            prefixes: leaves,
            extra: 0,
            extra_at_least: 0,
        });
    }
    if count == 0 {
        return None;
    }
    let tree = CoverTree::new(&leaves);
    let tries = count.min(leaves.len() - count);
    let (chosen, extra_at_least) = if leaves.len().saturating_mul(tries) <= EXACT {
        (tree.exact(count), None)
    } else {
        let (chosen, least) = tree.priced(count);
        (tree.split(chosen, count), Some(least))
    };
    let chosen = chosen.iter().map(|&vertex| &tree.vertices[vertex]);
    let extra = chosen.clone().map(|vertex| vertex.extra).sum();
    let mut prefixes: Vec<_> = chosen.map(|vertex| vertex.prefix).collect();
    prefixes.sort();
    Some(Cover {
        // Neighbours may have become one.
        prefixes: algebra::fewest(prefixes).collect(),
        extra,
        extra_at_least: extra_at_least.unwrap_or(extra),
    })
}

/// A prefix that a cover may have.
struct CoverVertex<A> {
    prefix: Prefix<A>,
    /// Those of its addresses that are not in the set.
    extra: u128,
    /// How many prefixes of the set it holds.
    leaves: usize,
    /// The two vertices below it; none below a prefix of the set.
    children: Option<[usize; 2]>,
}

/// All of them, children before their parents, the root last.
struct CoverTree<A> {
    vertices: Vec<CoverVertex<A>>,
}

impl<A: Address> CoverTree<A> {
    /// Of disjoint prefixes in order, at least one.
    fn new(leaves: &[Prefix<A>]) -> Self {
        let mut tree = Self {
            vertices: Vec::with_capacity(2 * leaves.len()),
        };
        // Subtrees that are not joined yet, each after the length that it has in common with the one before it.
        let mut open: Vec<(u8, usize)> = Vec::new();
        for (index, &prefix) in leaves.iter().enumerate() {
            let common = match index.checked_sub(1) {
                Some(before) => (leaves[before].first() ^ prefix.first()).leading_zeros(),
                None => 0,
            };
            tree.join(&mut open, common);
            open.push((common, tree.vertices.len()));
            tree.vertices.push(CoverVertex {
                prefix,
                extra: 0,
                leaves: 1,
                children: None,
            });
        }
        tree.join(&mut open, 0);
        tree
    }

    /// Joins the last of `open` as long as they have more than `common` bits in common; of 0 all, as only one pair has none in
    /// common, which is the last to be joined.
    fn join(&mut self, open: &mut Vec<(u8, usize)>, common: u8) {
        while let [.., (_, left), (len, right)] = open[..]
            && (len > common || common == 0)
        {
            let children = [&self.vertices[left], &self.vertices[right]];
            let prefix = Prefix::new_masked(children[0].prefix.first(), len);
            let prefix = prefix.expect("no longer than its children");
            let wanted = children.map(|child| size(child.prefix) - child.extra);
            let vertex = CoverVertex {
                prefix,
                // The size of all of IPv6 is 0 here, and what is left of it is right.
                extra: size(prefix).wrapping_sub(wanted[0] + wanted[1]),
                leaves: children[0].leaves + children[1].leaves,
                children: Some([left, right]),
            };
            open.pop();
            if let Some((_, last)) = open.last_mut() {
                *last = self.vertices.len();
            }
            self.vertices.push(vertex);
        }
    }

    /// The vertices of a cover of `count` prefixes with the fewest extra addresses.
    fn exact(&self, count: usize) -> Vec<usize> {
        let all = self.vertices.last().map_or(0, |root| root.leaves);
        let counts = |vertex: &CoverVertex<A>| {
            let least = (count + vertex.leaves).saturating_sub(all).max(1);
            least..=vertex.leaves.min(count)
        };
        // By vertex and number of prefixes: extra addresses, and prefixes on the left of a vertex that is not whole.
        let mut extra: Vec<Vec<u128>> = Vec::with_capacity(self.vertices.len());
        let mut on_left: Vec<Vec<u32>> = Vec::with_capacity(self.vertices.len());
        for vertex in &self.vertices {
            let own = counts(vertex);
            let size = own.end() - own.start() + 1;
            let (mut best, mut by) = (vec![u128::MAX; size], Vec::new());
            if *own.start() == 1 {
                best[0] = vertex.extra;
            }
            if let Some([left, right]) = vertex.children {
                by = vec![0; size];
                let sides = [left, right]
                    .map(|child| (counts(&self.vertices[child]), mem::take(&mut extra[child])));
                convolve(&own, &sides, &mut best, &mut by);
            }
            extra.push(best);
            on_left.push(by);
        }
        let mut chosen = Vec::with_capacity(count);
        let mut open = vec![(self.vertices.len() - 1, count)];
        while let Some((index, count)) = open.pop() {
            let vertex = &self.vertices[index];
            let place = count - counts(vertex).start();
            match (vertex.children, on_left[index].get(place)) {
                (Some([left, right]), Some(&on_left)) if on_left > 0 => {
                    open.push((left, on_left as usize));
                    open.push((right, count - on_left as usize));
                }
                _ => chosen.push(index),
            }
        }
        chosen
    }

    /// The vertices of a cover of at most `count` prefixes by the least price, and how many extra addresses any has.
    fn priced(&self, count: usize) -> (Vec<usize>, u128) {
        // At this price one prefix is best, as it costs more than any address does.
        let (mut low, mut high) = (0, self.vertices.last().map_or(0, |root| root.extra));
        while high - low > 1 {
            let price = low + (high - low) / 2;
            match self.at_price(price).1 > count {
                true => low = price,
                false => high = price,
            }
        }
        // What as many prefixes cost has to be taken off; a cost that is too large to be told is none to go by.
        let least = |price: u128, cost| match cost {
            u128::MAX => 0,
            cost => cost.saturating_sub(price.saturating_mul(count as u128)),
        };
        let least_below = least(low, self.at_price(low).0);
        let (cost, _, whole) = self.at_price(high);
        let mut chosen = Vec::with_capacity(count);
        let mut open = vec![self.vertices.len() - 1];
        while let Some(index) = open.pop() {
            match self.vertices[index].children {
                Some(children) if !whole[index] => open.extend(children),
                _ => chosen.push(index),
            }
        }
        (chosen, least_below.max(least(high, cost)))
    }

    /// The cheapest cover where each prefix costs `price` addresses, of those the one of the fewest prefixes: its cost, how many
    /// prefixes, and which vertices are covered as a whole.
    fn at_price(&self, price: u128) -> (u128, usize, Vec<bool>) {
        let mut costs: Vec<(u128, usize)> = Vec::with_capacity(self.vertices.len());
        let mut whole = Vec::with_capacity(self.vertices.len());
        for vertex in &self.vertices {
            let as_whole = (vertex.extra.saturating_add(price), 1);
            let cheapest = match vertex.children {
                None => as_whole,
                Some([left, right]) => {
                    let (left, right) = (costs[left], costs[right]);
                    let apart = (left.0.saturating_add(right.0), left.1 + right.1);
                    as_whole.min(apart)
                }
            };
            whole.push(cheapest == as_whole);
            costs.push(cheapest);
        }
        let (cost, count) = costs.last().copied().unwrap_or_default();
        (cost, count, whole)
    }

    /// Takes vertices apart until there are `count`, each time the one whose children have the fewest extra addresses less.
    fn split(&self, chosen: Vec<usize>, count: usize) -> Vec<usize> {
        let gain = |index: usize| {
            let vertex = &self.vertices[index];
            let below = vertex.children?.map(|child| self.vertices[child].extra);
            Some((vertex.extra - below[0] - below[1], index))
        };
        let mut is_chosen = vec![false; self.vertices.len()];
        let mut left = count - chosen.len();
        let mut gains: BinaryHeap<_> = chosen.iter().filter_map(|&index| gain(index)).collect();
        for index in chosen {
            is_chosen[index] = true;
        }
        while left > 0
            && let Some((_, index)) = gains.pop()
        {
            left -= 1;
            is_chosen[index] = false;
            for child in self.vertices[index].children.into_iter().flatten() {
                is_chosen[child] = true;
                gains.extend(gain(child));
            }
        }
        let chosen = is_chosen.iter().enumerate();
        let chosen = chosen.filter(|(_, is_chosen)| **is_chosen);
        chosen.map(|(index, _)| index).collect()
    }
}

/// Puts together what the two sides have for each number of prefixes: the least of it for each number of `own`, and how many
/// are on the left of it.
fn convolve(
    own: &RangeInclusive<usize>,
    [(of_left, left), (of_right, right)]: &[(RangeInclusive<usize>, Vec<u128>); 2],
    best: &mut [u128],
    by: &mut [u32],
) {
    for (on_left, &left) in of_left.clone().zip(left) {
        for (on_right, &right) in of_right.clone().zip(right) {
            let count = on_left + on_right;
            if own.contains(&count) && left + right < best[count - own.start()] {
                best[count - own.start()] = left + right;
                by[count - own.start()] = on_left as u32;
            }
        }
    }
}

/// How many addresses there are; 0 for all of IPv6.
fn size<A: Address>(prefix: Prefix<A>) -> u128 {
    let hosts = prefix.last().to_u128() - prefix.first().to_u128();
    hosts.wrapping_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::PrefixSet;

    /// The fewest extra addresses of a cover of the set's addresses in `prefix` by `count` prefixes, if there is one.
    fn fewest_extra<A: Address>(
        set: &PrefixSet<A>,
        prefix: Prefix<A>,
        count: usize,
    ) -> Option<u128> {
        if !set.overlaps(prefix) {
            return Some(0);
        }
        if count == 0 {
            return None;
        }
        if set.covers_all(prefix) {
            return Some(0);
        }
        let wanted = algebra::address_count(algebra::intersection(set, [prefix]));
        let whole = size(prefix).wrapping_sub(wanted);
        let half = |address| Prefix::new_masked(address, prefix.len() + 1).unwrap();
        let halves = [prefix.first(), prefix.last()].map(half);
        let apart = (0..=count).filter_map(|on_left| {
            let left = fewest_extra(set, halves[0], on_left)?;
            Some(left + fewest_extra(set, halves[1], count - on_left)?)
        });
        apart.chain([whole]).min()
    }

    /// That `chosen` covers the set by at most `count`, and says how many more there are.
    #[track_caller]
    fn check<A: Address>(set: &PrefixSet<A>, chosen: &[Prefix<A>], extra: u128, count: usize) {
        assert!(chosen.len() <= count, "{chosen:?}");
        let cover: PrefixSet<A> = chosen.iter().copied().collect();
        assert!(set.is_subset(&cover), "{set:?} in {cover:?}");
        let wanted = algebra::address_count(cover.difference(set));
        assert_eq!(extra, wanted, "{set:?} in {cover:?}");
    }

    fn covers_of_random_sets<A: Address>(rounds: u32) {
        let mut state = u64::from(A::WIDTH) | 1 << 40;
        let mut below = |end: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 8) % end
        };
        for _ in 0..rounds {
            // Narrow, so that a search takes no time.
            let count = 1 + below(8);
            let prefixes = (0..count).map(|_| {
                let address = A::truncate(u128::from(below(256)) << (A::WIDTH - 8));
                Prefix::new_masked(address, below(9) as u8).unwrap()
            });
            let set: PrefixSet<A> = prefixes.collect();
            let leaves: Vec<_> = set.fewest().collect();
            assert_eq!(cover(&set, 0), None);
            for count in 1..=leaves.len() + 1 {
                let found = cover(&set, count).unwrap();
                check(&set, &found.prefixes, found.extra, count);
                let merged = algebra::fewest(found.prefixes.iter().copied());
                assert!(merged.eq(found.prefixes.iter().copied()));
                let fewest = fewest_extra(&set, Prefix::DEFAULT_ROUTE, count);
                assert_eq!(Some(found.extra), fewest, "{set:?} by {count}");
                assert_eq!(found.extra_at_least, found.extra);
                if count >= leaves.len() {
                    continue;
                }
                // The way of larger sets.
                let tree = CoverTree::new(&leaves);
                let (chosen, least) = tree.priced(count);
                assert!(least <= found.extra, "{least} of {set:?} by {count}");
                for chosen in [chosen.clone(), tree.split(chosen, count)] {
                    let of = |&vertex: &usize| {
                        (tree.vertices[vertex].prefix, tree.vertices[vertex].extra)
                    };
                    let (prefixes, extra): (Vec<_>, Vec<_>) = chosen.iter().map(of).unzip();
                    let extra: u128 = extra.iter().sum();
                    check(&set, &prefixes, extra, count);
                    assert!(extra >= found.extra);
                }
            }
        }
    }

    #[test]
    fn covers_are_best_and_bounds_hold() {
        covers_of_random_sets::<u8>(300);
        covers_of_random_sets::<u32>(100);
        covers_of_random_sets::<u128>(100);
    }

    #[test]
    fn what_has_few_prefixes_is_its_own_cover() {
        assert_eq!(cover::<u32>([], 0).unwrap().prefixes, []);
        let all = Prefix::<u128>::DEFAULT_ROUTE;
        assert_eq!(cover([all], 1).unwrap().prefixes, [all]);
        let ends = [Prefix::host(u128::MIN), Prefix::host(u128::MAX)];
        let found = cover(ends, 1).unwrap();
        assert_eq!((found.prefixes, found.extra), (vec![all], u128::MAX - 1));
    }
}
