package popfib

// Prefixes and their values in; an image out, or the table that it is. For those who have a list and no
// file: the command compiles faster and smaller tables, of several columns, and reads all formats.

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"net/netip"
	"slices"
	"unicode/utf8"
)

// A Scalar is a value that routes may have: what a column of one value a record has.
type Scalar interface {
	string | int64 | uint64 | float64 | bool
}

// A route is a prefix of either family, its address from the highest bit on, and its next hop.
type route struct {
	high, low uint64
	nextHop   uint32
	length    uint8
}

func (r *route) compare(other *route) int {
	switch {
	case r.high != other.high:
		return less(r.high < other.high)
	case r.low != other.low:
		return less(r.low < other.low)
	default:
		return int(r.length) - int(other.length)
	}
}

func less(is bool) int {
	if is {
		return -1
	}
	return 1
}

// Build returns a table of the routes, whose records have one column, "value". They may come in any order;
// sorted ones, as [Table.All] has them, take less time. If a prefix comes twice, the last one wins. It is
// an error if a prefix is not valid or has host bits. O(routes log routes).
func Build[V Scalar](routes iter.Seq2[netip.Prefix, V]) (*Table, error) {
	image, err := BuildImage(routes)
	if err != nil {
		return nil, err
	}
	return fromOwned(image, nil)
}

// BuildImage is Build of an image, which every other reader of images takes: bytes to store in a file or
// send. They depend on the routes alone.
func BuildImage[V Scalar](routes iter.Seq2[netip.Prefix, V]) ([]byte, error) {
	var ofFamily [2][]route
	var values []V
	numbers := map[V]uint32{}
	var last V
	number := uint32(0)
	for prefix, value := range routes {
		if !prefix.IsValid() || prefix != prefix.Masked() {
			return nil, fmt.Errorf("route %d: %s: not a prefix without host bits", 1+len(ofFamily[0])+len(ofFamily[1]), prefix)
		}
		// Routes side by side often have the same one.
		if number == 0 || value != last {
			known := false
			if number, known = numbers[value]; !known {
				values = append(values, value)
				number = uint32(len(values))
				numbers[value] = number
			}
			last = value
		}
		r := route{nextHop: number, length: uint8(prefix.Bits())}
		of := &ofFamily[0]
		if prefix.Addr().Is4() {
			r.high = uint64(key4(prefix.Addr())) << 32
		} else {
			of = &ofFamily[1]
			r.high, r.low = key6(prefix.Addr())
		}
		// Twice as long each time: append alone makes long slices longer by a quarter, and so copies more.
		if len(*of) == cap(*of) {
			*of = slices.Grow(*of, len(*of)+1<<10)
		}
		*of = append(*of, r)
	}
	// Answers of longest matches have 31 bits.
	if len(values) > math.MaxInt32/129-1 || len(ofFamily[0]) > maxRoutes || len(ofFamily[1]) > maxRoutes {
		return nil, fmt.Errorf("%d values and %d routes are more than an image has", len(values), len(ofFamily[0])+len(ofFamily[1]))
	}
	var w imageWriter
	w.add(0, 0, kindMetadata, []byte("writer\tpopfib for Go\n"))
	w.add(1, 0, kindMetadata, []byte("name\t\n"))
	if err := addRecords(&w, values); err != nil {
		return nil, err
	}
	for n, width := range [2]uint{32, 128} {
		if err := addFamily(&w, sorted(ofFamily[n]), width); err != nil {
			return nil, err
		}
	}
	return w.image(), nil
}

// sorted sorts the routes, and keeps the last of each prefix.
func sorted(routes []route) []route {
	order := -1
	for n := 1; n < len(routes); n++ {
		order = max(order, routes[n-1].compare(&routes[n]))
	}
	if order < 0 {
		return routes
	}
	slices.SortStableFunc(routes, func(a, b route) int { return a.compare(&b) })
	kept := 0
	for n := range routes {
		if n+1 < len(routes) && routes[n].compare(&routes[n+1]) == 0 {
			continue
		}
		routes[kept] = routes[n]
		kept++
	}
	return routes[:kept]
}

// addRecords adds the sections of records of one column and no rows: each value is the record of its number.
func addRecords[V Scalar](w *imageWriter, values []V) error {
	const name = "value"
	kind := byte(typeText)
	switch any(*new(V)).(type) {
	case int64:
		kind = typeInteger
	case uint64:
		kind = typeUnsigned
	case float64:
		kind = typeFloat
	case bool:
		kind = typeBoolean
	}
	var bytes, ends words
	for _, value := range values {
		switch value := any(value).(type) {
		case string:
			if !utf8.ValidString(value) {
				return fmt.Errorf("the value %q is not UTF-8", value)
			}
			bytes = append(bytes, value...)
			if uint64(len(bytes)) > math.MaxUint32 {
				return errors.New("texts of more than 4 GiB")
			}
			ends.add(uint32(len(bytes)))
		case int64:
			bytes.add64(uint64(value))
		case uint64:
			bytes.add64(value)
		case float64:
			bytes.add64(math.Float64bits(value))
		case bool:
			bytes = append(bytes, map[bool]byte{true: 1}[value])
		}
	}
	var head words
	for _, number := range []uint32{uint32(len(values)), 1, 0, 0, uint32(kind), uint32(len(name)), uint32(len(values)), 0} {
		head.add(number)
	}
	w.add(1, 0, kindColumns, append(head, name...))
	w.add(1, 0, kindValues, bytes)
	if kind == typeText {
		w.add(1, 0, kindValues+partTextEnds, ends)
	}
	return nil
}

// addFamily adds the sections of the routes of one family, which are sorted.
func addFamily(w *imageWriter, routes []route, width uint) error {
	addresses, lengths, nextHops := make(words, 0, len(routes)*int(width/8)), make(words, 0, len(routes)), make(words, 0, 4*len(routes))
	highest, different := uint32(0), 0
	for n := range routes {
		highest = max(highest, routes[n].nextHop)
	}
	seen := make([]bool, highest+1)
	for n := range routes {
		r := &routes[n]
		if width == 32 {
			addresses.add(uint32(r.high >> 32))
		} else {
			addresses.add64(r.low)
			addresses.add64(r.high)
		}
		lengths = append(lengths, r.length)
		nextHops.add(r.nextHop)
		if !seen[r.nextHop] {
			seen[r.nextHop] = true
			different++
		}
	}
	description := func(b *builder) words {
		d := words{byte(b.rootBits), byte(b.pageBits), byte(b.valueBits), b.answerBits(), 255, 0, 0, 0}
		for _, count := range []uint64{b.nodes, b.leaves, uint64(len(routes)), uint64(different)} {
			d.add64(count)
		}
		return d
	}
	values := newBuilder(routes, width, highest, false)
	longest := newBuilder(routes, width, highest*uint32(width+1)+uint32(width), true)
	if max(len(values.arena), len(longest.arena))/4 > maxArenaWords {
		return fmt.Errorf("%d routes need more blocks than an image has", len(routes))
	}
	w.add(1, uint16(width), kindFib, description(values))
	w.add(1, uint16(width), kindFib+1, values.rootBytes())
	w.add(1, uint16(width), kindFib+2, values.arena)
	w.add(1, uint16(width), kindAddresses, addresses)
	w.add(1, uint16(width), kindLengths, lengths)
	w.add(1, uint16(width), kindNextHops, nextHops)
	w.add(1, uint16(width), kindLongest, description(longest))
	w.add(1, uint16(width), kindLongest+1, longest.rootBytes())
	w.add(1, uint16(width), kindLongest+2, longest.arena)
	return nil
}
