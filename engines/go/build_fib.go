package popfib

// Sorted routes in; root table and arena of one FIB out.

import "math/bits"

// A builder makes one FIB.
type builder struct {
	width, rootBits, pageBits, valueBits uint
	// Whether answers are longest matches, or next hops.
	isLongest     bool
	root          []uint32
	arena         words
	nodes, leaves uint64
	highest       uint32
}

// newBuilder compiles routes, whose highest answer is given.
func newBuilder(routes []route, width uint, highest uint32, isLongest bool) *builder {
	b := &builder{width: width, isLongest: isLongest, highest: highest, valueBits: uint(max(1, bits.Len32(highest)))}
	// More direct bits are fewer steps, and more memory than few routes are worth.
	switch n := len(routes); {
	case n > 1<<14 && width == 32:
		b.rootBits = 18
	case n > 1<<14:
		b.rootBits, b.pageBits = 16, 8
	case n > 1<<9:
		b.rootBits = 12
	}
	// A guess that seldom is too small.
	b.arena = make(words, 0, 64+2*len(routes))
	for _, word := range []uint32{1, 0, 0} {
		b.arena.add(word)
	}
	b.root = make([]uint32, 1<<b.rootBits)
	b.fill(b.root, routes, 0, b.rootBits, 0)
	return b
}

func (b *builder) answerBits() byte {
	if b.highest < 1<<16 {
		return 16
	}
	return 32
}

func (b *builder) rootBytes() words {
	bytes := make(words, 0, 4*len(b.root))
	for _, word := range b.root {
		bytes.add(word)
	}
	return bytes
}

func (b *builder) answer(r *route) uint32 {
	if b.isLongest {
		return r.nextHop*uint32(b.width+1) + uint32(r.length)
	}
	return r.nextHop
}

// slot is the number of `count` bits of the route's address after the first `used`.
func (r *route) slot(used, count uint) uint64 {
	high := r.high<<(used&63) | r.low>>1>>(63-used&63)
	if used >= 64 {
		high = r.low << (used - 64)
	}
	// No bits are 0: a shift by 64 is.
	return high >> (64 - count)
}

// fill sets the slots, which resolve `count` bits after `used`, by the routes that are inside of what all
// of them are, where nothing covers them but the answer given. A route that covers another is before it.
func (b *builder) fill(slots []uint32, routes []route, used, count uint, answer uint32) {
	for n := range slots {
		slots[n] = answer
	}
	for n := 0; n < len(routes); {
		r := &routes[n]
		first := r.slot(used, count)
		if uint(r.length) <= used+count {
			value, size := b.answer(r), uint64(1)<<(used+count-uint(r.length))
			for at := first; at < first+size; at++ {
				slots[at] = value
			}
			n++
			continue
		}
		// All that are in this slot are below it.
		end := n + 1
		for end < len(routes) && routes[end].slot(used, count) == first {
			end++
		}
		slots[first] = b.below(routes[n:end], used+count, slots[first])
		n = end
	}
}

// below is a pointer to what these routes are below the first `used` bits, or an answer.
func (b *builder) below(routes []route, used uint, answer uint32) uint32 {
	if b.pageBits > 0 && used == b.rootBits {
		page := make([]uint32, 1<<b.pageBits)
		b.fill(page, routes, used, b.pageBits, answer)
		place := uint32(len(b.arena) / 4)
		for _, word := range page {
			b.arena.add(word)
		}
		return bitNode | place
	}
	var slots [1 << stride]uint32
	b.fill(slots[:], routes, used, stride, answer)
	var runs, all uint64
	var values [1 << stride]uint32
	isWide := uint32(0)
	for n, value := range slots {
		if n == 0 || value != slots[n-1] {
			runs |= 1 << n
			values[all] = value
			all++
		}
		isWide |= value & bitNode
	}
	if all == 1 && isWide == 0 {
		return slots[0]
	}
	place := uint32(len(b.arena) / 4)
	b.nodes++
	b.arena.add64(runs)
	if isWide != 0 {
		for _, value := range values[:all] {
			b.arena.add(value)
		}
		return bitNode | bitWide | place
	}
	b.leaves += all
	var pending uint64
	var have uint
	for _, value := range values[:all] {
		pending |= uint64(value) << have
		if have += b.valueBits; have >= 32 {
			b.arena.add(uint32(pending))
			pending, have = pending>>32, have-32
		}
	}
	if have > 0 {
		b.arena.add(uint32(pending))
	}
	return bitNode | place
}
