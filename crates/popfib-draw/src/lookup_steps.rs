//! A RIB and an address in, the steps of the lookup out: what it reads of the root table, a page and blocks, and what it finds there.
//!
//! A compiled Fib shows none of its arrays. As in [`PoptrieShape`](crate::poptrie_shape::PoptrieShape), the nodes come from [`Fold`], here
//! only those below one entry of the root table.

use popfib::fold::{Fold, STRIDE, Slot, Store};
use popfib::{Address, CompileError, Fib, Options, Rib};

/// The 64 slots of a block.
pub(crate) type BlockSlots = [Slot<u32>; 64];

/// All blocks below one entry of the root table, children before their parents.
#[derive(Default)]
struct BlockCollector(Vec<BlockSlots>);

impl Store for BlockCollector {
    type Node = u32;

    fn store(&mut self, slots: &BlockSlots) -> Result<u32, CompileError> {
        self.0.push(*slots);
        Ok(self.0.len() as u32 - 1)
    }
}

/// What a lookup reads from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StepReads {
    Root,
    Page,
    Block(Box<BlockSlots>),
}

/// One step of a lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LookupStep {
    pub(crate) place: StepReads,
    /// The bits of the address that are read: how many are before them, and how many there are.
    pub(crate) offset: u8,
    pub(crate) bits: u8,
    /// Those bits as a number: which entry, or slot, is read.
    pub(crate) index: u32,
}

/// The steps of the lookup of `address`, and the next hop that it ends at; 0 for none.
///
/// # Errors
/// Those of compiling.
pub(crate) fn lookup_steps<A: Address>(
    rib: &Rib<A>,
    address: A,
) -> Result<(Vec<LookupStep>, u32), CompileError> {
    let fib: Fib<A> = Fib::compile(rib, &Options::default())?;
    let direct_bits = fib.direct_bits();
    // As docs/image-format.md says: what is beyond 16 bits of long keys is in pages.
    let root_bits = if A::WIDTH > 32 {
        direct_bits.min(16)
    } else {
        direct_bits
    };
    let page_bits = direct_bits - root_bits;
    let mut fold = Fold::new(rib, true, u32::MAX, BlockCollector::default());
    let mut steps = Vec::new();
    let step = |place, offset, bits| LookupStep {
        place,
        offset,
        bits,
        index: address.skip_bits(offset).leading(bits),
    };

    // Down to the vertex of the root's entry, by tables of six bits in place of the whole.
    steps.push(step(StepReads::Root, 0, root_bits));
    let (mut vertex, mut inherited) = rib.root_vertex();
    let mut offset = 0;
    while offset < root_bits {
        let bits = STRIDE.min(root_bits - offset);
        let mut entries = [(0, None); 64];
        let entries = &mut entries[..1 << bits];
        fold.table(vertex, inherited, entries, &mut |_, leaf, below| {
            Ok((leaf, below))
        })?;
        let (leaf, below) = entries[address.skip_bits(offset).leading(bits) as usize];
        let Some(below) = below else {
            return Ok((steps, leaf));
        };
        (vertex, inherited) = (below, leaf);
        offset += bits;
    }

    // Without pages, one entry: the block itself.
    let mut page = vec![Slot::Leaf(0); 1 << page_bits];
    fold.table(
        vertex,
        inherited,
        &mut page,
        &mut |fold, leaf, below| match below {
            Some(vertex) => fold.node(vertex, leaf),
            None => Ok(Slot::Leaf(leaf)),
        },
    )?;
    let mut slot = page[address.skip_bits(offset).leading(page_bits) as usize];
    // A page of equal leaves is not kept.
    let is_leaf = matches!(page[0], Slot::Leaf(_)) && page.iter().all(|entry| *entry == page[0]);
    if page_bits > 0 && !is_leaf {
        steps.push(step(StepReads::Page, offset, page_bits));
    }
    offset += page_bits;
    loop {
        match slot {
            Slot::Leaf(next_hop) => return Ok((steps, next_hop)),
            Slot::Node(node) => {
                let slots = fold.store.0[node as usize];
                let index = address.extract(offset, STRIDE);
                steps.push(LookupStep {
                    place: StepReads::Block(Box::new(slots)),
                    offset,
                    bits: STRIDE.min(A::WIDTH - offset),
                    index,
                });
                slot = slots[index as usize];
                offset += STRIDE;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::NextHop;

    fn ends_as_the_fib<A: Address>(rib: &Rib<A>, addresses: impl Iterator<Item = A>) -> usize {
        let fib: Fib<A> = Fib::compile(rib, &Options::default()).unwrap();
        let mut most = 0;
        for address in addresses {
            let (steps, next_hop) = lookup_steps(rib, address).unwrap();
            assert_eq!(next_hop, fib.lookup(address), "{address:?}");
            let mut read = 0;
            for step in &steps {
                assert_eq!(step.offset, read);
                read += step.bits;
            }
            assert!(read <= A::WIDTH);
            assert_eq!(steps[0].place, StepReads::Root);
            most = most.max(steps.len());
        }
        most
    }

    #[test]
    fn ends_where_the_fib_does() {
        let mut random = fastrand::Rng::with_seed(3);
        for (routes, levels) in [(0, 1), (1, 6), (200, 4), (70_000, 3)] {
            let prefix = |_| {
                let bits = random.u32(..);
                let len = if routes == 1 { 32 } else { random.u8(8..33) };
                let next_hop = NextHop::new(random.u32(1..9)).unwrap();
                (popfib::Prefix::new_masked(bits, len).unwrap(), next_hop)
            };
            let rib: Rib<u32> = (0..routes).map(prefix).collect();
            let known: Vec<u32> = rib.iter().take(6).map(|(p, _)| p.first()).collect();
            let addresses = known.into_iter().chain((0..6).map(|i| i << 29));
            assert!(ends_as_the_fib(&rib, addresses) >= levels);
        }
    }

    #[test]
    fn long_keys_go_through_a_page() {
        let routes = (0..20_000u128).map(|i| {
            let address = 0x2001 << 112 | i << 90;
            let len = if i % 3 == 0 { 128 } else { 38 };
            (
                popfib::Prefix::new_masked(address, len).unwrap(),
                NextHop::MIN,
            )
        });
        let rib: Rib<u128> = routes.collect();
        let known: Vec<u128> = rib.iter().step_by(4999).map(|(p, _)| p.first()).collect();
        assert_eq!(ends_as_the_fib(&rib, known.iter().copied()), 20);
        let (steps, _) = lookup_steps(&rib, known[0]).unwrap();
        assert_eq!((&steps[1].place, steps[1].bits), (&StepReads::Page, 8));
        // Not below an entry of the root that is a leaf.
        assert_eq!(lookup_steps(&rib, 5).unwrap().0.len(), 1);
    }
}
