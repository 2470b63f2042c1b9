package popfib

// The sections of routes in; all routes in their order out.

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"sort"
)

// routeArrays are the routes of one family; nil if the image has none.
type routeArrays struct {
	addresses, lengths, nextHops []byte
	// The bytes of an address: 4 or 16.
	size int
}

func (r *routeArrays) len() int {
	if r == nil {
		return 0
	}
	return len(r.lengths)
}

// address is the address of a route, whose halves these are; of IPv4 in the upper 32 bits.
func (r *routeArrays) address(at int) (high, low uint64) {
	if r.size == 4 {
		return uint64(u32(r.addresses, at*4)) << 32, 0
	}
	return u64(r.addresses, at*16+8), u64(r.addresses, at*16)
}

// newRoutes verifies the routes: in order, without host bits, with next hops of 1 to maxNextHop.
func newRoutes(addresses, lengths, nextHops *section, width uint, count, maxNextHop uint64) (*routeArrays, error) {
	r := &routeArrays{addresses.bytes, lengths.bytes, nextHops.bytes, int(width / 8)}
	for _, array := range []struct {
		of   *section
		size uint64
	}{{addresses, uint64(width / 8)}, {lengths, 1}, {nextHops, 4}} {
		if given := uint64(len(array.of.bytes)); given != count*array.size {
			return nil, array.of.broken(0, fmt.Sprintf("it has %d bytes for %d routes", given, count))
		}
	}
	var lastHigh, lastLow uint64
	lastLength := -1
	for at, length := range r.lengths {
		high, low := r.address(at)
		if uint(length) > width || hasHostBits(high, low, uint(length)) ||
			!(high > lastHigh || high == lastHigh && (low > lastLow || low == lastLow && int(length) > lastLength)) {
			return nil, addresses.broken(at*r.size, fmt.Sprintf("route %d is malformed or out of order", at+1))
		}
		lastHigh, lastLow, lastLength = high, low, int(length)
		if nextHop := u32(r.nextHops, at*4); uint64(nextHop)-1 >= maxNextHop {
			return nil, nextHops.broken(at*4, fmt.Sprintf("route %d has the next hop %d, which is none there is", at+1, nextHop))
		}
	}
	return r, nil
}

func hasHostBits(high, low uint64, length uint) bool {
	// Shifts by 64 and more are 0.
	if length <= 64 {
		return high<<length != 0 || low != 0
	}
	return low<<(length-64) != 0
}

// prefix is that of a route.
func (r *routeArrays) prefix(at int) netip.Prefix {
	high, low := r.address(at)
	if r.size == 4 {
		return prefix4(uint32(high>>32), int(r.lengths[at]))
	}
	return prefix6(high, low, int(r.lengths[at]))
}

func prefix4(address uint32, length int) netip.Prefix {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], address)
	return netip.PrefixFrom(netip.AddrFrom4(b), length)
}

func prefix6(high, low uint64, length int) netip.Prefix {
	var b [16]byte
	putHalves(&b, high, low)
	return netip.PrefixFrom(netip.AddrFrom16(b), length)
}

func putHalves(b *[16]byte, high, low uint64) {
	binary.BigEndian.PutUint64(b[:8], high)
	binary.BigEndian.PutUint64(b[8:], low)
}

// HasRoutes says whether the image has kept all routes, which All goes through ("popfib compile
// --keep routes", the default).
func (t *Table) HasRoutes() bool {
	return t.v4.routes != nil || t.v6.routes != nil
}

// All goes through all routes, those of IPv4 first, in the order of their prefixes. There are none if
// the image has not kept them, which HasRoutes says.
func (t *Table) All() iter.Seq2[netip.Prefix, Record] {
	return func(yield func(netip.Prefix, Record) bool) {
		for _, routes := range [2]*routeArrays{t.v4.routes, t.v6.routes} {
			for at := range routes.len() {
				if !yield(routes.prefix(at), Record{t, u32(routes.nextHops, at*4)}) {
					return
				}
			}
		}
	}
}

// ErrNoRoutes is the error of [Table.Supernets] where the image has not kept its routes.
var ErrNoRoutes = errors.New("the image has no routes: make it with `popfib compile --keep routes`, the default")

// Supernets goes through the routes that cover the prefix, itself included, the shortest first. Those of an
// address are of netip.PrefixFrom(address, address.BitLen()). O(width * log routes).
func (t *Table) Supernets(prefix netip.Prefix) (iter.Seq2[netip.Prefix, Record], error) {
	if !t.HasRoutes() {
		return nil, ErrNoRoutes
	}
	routes := t.v6.routes
	if prefix.Addr().Is4() {
		routes = t.v4.routes
	}
	return func(yield func(netip.Prefix, Record) bool) {
		// None of the zero Prefix, which has -1 bits.
		for bits := range prefix.Bits() + 1 {
			cover, _ := prefix.Addr().Prefix(bits)
			at, found := sort.Find(routes.len(), func(at int) int {
				other := routes.prefix(at)
				return cmp.Or(cover.Addr().Compare(other.Addr()), cover.Bits()-other.Bits())
			})
			if found && !yield(cover, Record{t, u32(routes.nextHops, at*4)}) {
				return
			}
		}
	}, nil
}
