package popfib

// Addresses in; records, prefixes and numbers of records out.

import (
	"encoding/binary"
	"net/netip"
)

// A Table is what addresses are looked up in. It does not change, and all methods may be called by any
// number of goroutines.
type Table struct {
	// What lookups need is first.
	v4, v6 family
	records
	name    string
	sources []Source
	image   *Image
}

// records are what next hops stand for. Tables may have them in common.
type records struct {
	recordCount uint32
	// How they lie in rows; 0: without rows.
	rowBytes    int
	rows        []byte
	columns     []column
	valueColumn int
}

// Name is what the image calls the table; it may be empty.
func (t *Table) Name() string { return t.name }

// Sources says where the table comes from.
func (t *Table) Sources() []Source { return append([]Source(nil), t.sources...) }

// Image is the image that the table is in, by which its other tables are found.
func (t *Table) Image() *Image { return t.image }

// Len is the number of routes that the table was compiled from, of IPv4 and of IPv6.
func (t *Table) Len() (ipv4, ipv6 int) { return t.v4.count, t.v6.count }

// Lookup returns the record of the longest prefix that contains the address, and whether there is one.
// It allocates nothing. An IPv4-mapped IPv6 address is an IPv6 address; a zone is ignored.
func (t *Table) Lookup(address netip.Addr) (Record, bool) {
	number := t.number(address)
	return Record{t, number}, number != 0
}

// Match returns the longest prefix that contains the address too. If the image has values alone
// ("popfib compile --keep values"; HasPrefixes says so), the prefix is the zero Prefix.
func (t *Table) Match(address netip.Addr) (netip.Prefix, Record, bool) {
	if address.Is4() {
		f := t.v4.longest
		if f == nil {
			return t.bareMatch(address)
		}
		key := key4(address)
		split := uint64(key) << (f.rootBits & 63)
		answer := word(f.root, uint(split>>32))
		if answer >= bitNode {
			answer = f.below4(answer, uint32(split))
		}
		number := answer / 33
		if number == 0 {
			return netip.Prefix{}, Record{t, 0}, false
		}
		length := answer - number*33
		// Of IPv4 that is faster than Addr.Prefix, and of IPv6 slower.
		return prefix4(key&^uint32(1<<(32-length)-1), int(length)), Record{t, number}, true
	}
	f := t.v6.longest
	if f == nil || !address.IsValid() {
		return t.bareMatch(address)
	}
	answer := f.lookup6(key6(address))
	number := answer / 129
	if number == 0 {
		return netip.Prefix{}, Record{t, 0}, false
	}
	prefix, _ := address.Prefix(int(answer - number*129))
	return prefix, Record{t, number}, true
}

// bareMatch is Match where prefixes are not known.
func (t *Table) bareMatch(address netip.Addr) (netip.Prefix, Record, bool) {
	record, found := t.Lookup(address)
	return netip.Prefix{}, record, found
}

// HasPrefixes says whether Match returns prefixes.
func (t *Table) HasPrefixes() bool {
	return t.v4.longest != nil || t.v6.longest != nil
}

// number is the number of the record of an address; 0 if there is none.
func (t *Table) number(address netip.Addr) uint32 {
	if address.Is4() {
		// The root here and not in lookup4: most of IPv4 takes one call less so.
		f := &t.v4
		split := uint64(key4(address)) << (f.fib.rootBits & 63)
		answer := word(f.fib.root, uint(split>>32))
		if answer >= bitNode {
			answer = f.fib.below4(answer, uint32(split))
		}
		if f.isLongest {
			answer /= 33
		}
		return answer
	}
	if !address.IsValid() {
		return 0
	}
	return t.v6.number6(key6(address))
}

func (f *family) number4(key uint32) uint32 {
	answer := f.fib.lookup4(key)
	if f.isLongest {
		answer /= 33
	}
	return answer
}

func (f *family) number6(high, low uint64) uint32 {
	answer := f.fib.lookup6(high, low)
	if f.isLongest {
		answer /= 129
	}
	return answer
}

func key4(address netip.Addr) uint32 {
	b := address.As4()
	return binary.BigEndian.Uint32(b[:])
}

// key6 returns the halves of an IPv6 address.
func key6(address netip.Addr) (high, low uint64) {
	// Not As16: it stores 8 bytes twice and then copies 16 at once, for which a CPU waits until both are
	// in its cache; that took half of the time of a lookup. The slice is not allocated.
	b := address.AsSlice()[:16]
	return binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
}

// LookupBatch returns the number of the record of each address, 0 for those without. The numbers are
// written into the given slice, if it has room for as many, otherwise into a new one.
func (t *Table) LookupBatch(addresses []netip.Addr, numbers []uint32) []uint32 {
	numbers = room(numbers, len(addresses))
	for n, address := range addresses {
		numbers[n] = t.number(address)
	}
	return numbers
}

// LookupBatch4 is LookupBatch of IPv4 addresses as numbers: 10.0.0.1 is 0x0a000001.
func (t *Table) LookupBatch4(addresses []uint32, numbers []uint32) []uint32 {
	numbers = room(numbers, len(addresses))
	for n, address := range addresses {
		numbers[n] = t.v4.number4(address)
	}
	return numbers
}

// LookupBatch6 is LookupBatch of IPv6 addresses in network order.
func (t *Table) LookupBatch6(addresses [][16]byte, numbers []uint32) []uint32 {
	numbers = room(numbers, len(addresses))
	for n := range addresses {
		b := &addresses[n]
		numbers[n] = t.v6.number6(binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:]))
	}
	return numbers
}

// room is a slice of this length, the given one if it is large enough.
func room(numbers []uint32, length int) []uint32 {
	if cap(numbers) < length {
		return make([]uint32, length)
	}
	return numbers[:length]
}
