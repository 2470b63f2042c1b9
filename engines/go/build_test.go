package popfib

// Images of Build, which the command has to accept and to answer from alike, and made by hand, of the forms
// that Build does not make.

import (
	"iter"
	"math/rand"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (v vectorTable) all() iter.Seq2[netip.Prefix, string] {
	return func(yield func(netip.Prefix, string) bool) {
		for _, route := range v.routes {
			if !yield(netip.MustParsePrefix(route[0]), route[1]) {
				return
			}
		}
	}
}

// save writes an image that the command reads.
func save(t *testing.T, image []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "built.fib")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBuiltVectors(t *testing.T) {
	tables, _ := vectors(t)
	for name, vector := range tables {
		image, err := BuildImage(vector.all())
		if err != nil {
			t.Fatal(err)
		}
		table, err := FromBytes(image)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			askVectors(t, table, vector)
			run(t, "", "verify", "--table", save(t, image))
		})
	}
}

func build[V Scalar](t *testing.T, routes iter.Seq2[netip.Prefix, V]) *Table {
	t.Helper()
	image, err := BuildImage(routes)
	if err != nil {
		t.Fatal(err)
	}
	run(t, "", "verify", "--table", save(t, image))
	table, err := Build(routes)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestBuiltValues(t *testing.T) {
	built(t, "a", "", "日本")
	built(t, int64(-5), 7, 1<<62)
	built(t, uint64(1<<63), 7, 0)
	built(t, 1.5, -0.25, 1e300)
	built(t, true, false, true)
}

func built[V Scalar](t *testing.T, values ...V) {
	t.Helper()
	prefixes := []string{"10.0.0.0/8", "2001:db8::/32", "0.0.0.0/0", "10.0.0.0/8"}
	routes := func(yield func(netip.Prefix, V) bool) {
		for n, prefix := range prefixes {
			if !yield(netip.MustParsePrefix(prefix), values[n%len(values)]) {
				return
			}
		}
	}
	table := build(t, routes)
	column, err := ColumnOf[V](table, "value")
	if err != nil {
		t.Fatal(err)
	}
	for address, expected := range map[string]V{"10.1.2.3": values[0], "11.0.0.1": values[2], "2001:db8::1": values[1]} {
		record, _ := table.Lookup(netip.MustParseAddr(address))
		if value, there := column.Of(record); !there || value != expected {
			t.Errorf("%s: %v, %t, not %v", address, value, there, expected)
		}
	}
	for range 2 {
		if table = build(t, func(func(netip.Prefix, V) bool) {}); len(table.Columns()) != 1 {
			t.Error("no column")
		}
		if _, found := table.Lookup(netip.MustParseAddr("10.1.2.3")); found {
			t.Error("an empty table has an answer")
		}
	}
}

func TestWhatCannotBeBuilt(t *testing.T) {
	one := func(prefix netip.Prefix, value string) iter.Seq2[netip.Prefix, string] {
		return func(yield func(netip.Prefix, string) bool) { yield(prefix, value) }
	}
	for expected, routes := range map[string]iter.Seq2[netip.Prefix, string]{
		"route 1: 10.0.0.1/8: not a prefix without host bits":     one(netip.MustParsePrefix("10.0.0.1/8"), ""),
		"route 1: invalid Prefix: not a prefix without host bits": one(netip.Prefix{}, ""),
		`the value "\xff" is not UTF-8`:                           one(netip.MustParsePrefix("::/0"), "\xff"),
	} {
		if _, err := Build(routes); err == nil || err.Error() != expected {
			t.Errorf("%v, not %s", err, expected)
		}
	}
}

// Routes of the built-in table, in their order and in any, and the command's answers from both.
func TestBuiltRealTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.fib")
	run(t, "", "compile", "-o", path, "--table", "built-in")
	table := open(t, path)
	routes := func(yield func(netip.Prefix, string) bool) {
		for prefix, record := range table.All() {
			if !yield(prefix, record.String()) {
				return
			}
		}
	}
	image, err := BuildImage(routes)
	if err != nil {
		t.Fatal(err)
	}
	built := save(t, image)
	run(t, "", "verify", "--table", built)
	if differences := run(t, "", "diff", "--effective", path, built); differences != "" {
		t.Fatal(differences[:min(len(differences), 1000)])
	}
	type pair struct {
		prefix netip.Prefix
		value  string
	}
	var pairs []pair
	for prefix, value := range routes {
		pairs = append(pairs, pair{prefix, value})
	}
	rand.New(rand.NewSource(1)).Shuffle(len(pairs), func(a, b int) { pairs[a], pairs[b] = pairs[b], pairs[a] })
	mixed, err := Build(func(yield func(netip.Prefix, string) bool) {
		for _, pair := range pairs {
			if !yield(pair.prefix, pair.value) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 100_000 {
		address := pairs[n%len(pairs)].prefix.Addr()
		prefix, record, _ := table.Match(address)
		same, other, _ := mixed.Match(address)
		if prefix != same || record.String() != other.String() {
			t.Fatalf("%s: %s %v, %s %v", address, prefix, record, same, other)
		}
	}
}

// flat is an image of values alone for IPv4 and IPv6, whose roots and arenas are these.
func flat(root4, arena4 []uint32, rootBits6 byte, root6, arena6 []uint32) []byte {
	bytes := func(numbers []uint32) (b words) {
		for _, number := range numbers {
			b.add(number)
		}
		return b
	}
	var w imageWriter
	w.add(0, 0, kindMetadata, nil)
	w.add(1, 0, kindMetadata, []byte("name\tflat\n"))
	for n, root := range [][]uint32{root4, root6} {
		rootBits := [2]byte{byte(len(root4) / 2), rootBits6}[n]
		width := [2]uint16{32, 128}[n]
		description := append(words{rootBits, 0, 4, 32, 255, 0, 1, 0}, make([]byte, 32)...)
		// The command asks no table of no routes.
		description[24] = 2
		w.add(1, width, kindFib, description)
		w.add(1, width, kindFib+1, bytes(root))
		w.add(1, width, kindFib+2, bytes([][]uint32{arena4, arena6}[n]))
	}
	return w.image()
}

// Flat tables as small as they can be: two blocks of IPv4, one of them of halves, and two of IPv6 below a
// root of one entry.
func flatImage() []byte {
	arena := func(length int) []uint32 {
		a := make([]uint32, length)
		a[0] = 1
		return a
	}
	const to = bitNode | bitFlat
	arena4 := arena(16 + 64 + 32 + 3)
	for n := range 64 {
		arena4[16+n] = uint32(n + 1)
	}
	// A block with runs below it: slot 0 has 5, all others 6.
	arena4[16+63] = bitNode | 112
	arena4[112], arena4[114] = 3, 0x65
	for n := range 32 {
		arena4[80+n] = uint32(2*n+100) | uint32(2*n+101)<<16
	}
	arena6 := arena(16 + 64 + 64)
	for n := range 64 {
		arena6[16+n], arena6[80+n] = uint32(n+200), uint32(n+300)
	}
	arena6[80+8] = to | 16
	return flat([]uint32{to | 16, to | 80 | bitHalf}, arena4, 0, []uint32{to | 80}, arena6)
}

func TestFlatBlocks(t *testing.T) {
	image := flatImage()
	table, err := FromBytes(image)
	if err != nil {
		t.Fatal(err)
	}
	for address, number := range map[string]uint32{
		"0.0.0.0": 1, "2.0.0.0": 2, "126.0.0.0": 5, "127.0.0.0": 6, "128.0.0.0": 100, "130.0.0.0": 101, "255.0.0.0": 163,
		"::": 300, "ffff::": 363, "2000::": 200, "2010::": 201, "23f0::": 263,
	} {
		if record, _ := table.Lookup(netip.MustParseAddr(address)); record.Number() != number {
			t.Errorf("%s: %d, not %d", address, record.Number(), number)
		}
	}
	// The command is of the same mind.
	asked := run(t, "", "lookup", "--table", save(t, image), "126.0.0.0", "130.0.0.0", "2010::", "::")
	if expected := "126.0.0.0\t-\t5\n130.0.0.0\t-\t101\n2010::\t-\t201\n::\t-\t300\n"; asked != expected {
		t.Errorf("%s", asked)
	}
	refuseOrAnswer(t, map[string][]byte{"flat": image}, 20_000)
	const to = bitNode | bitFlat
	arena := make([]uint32, 144)
	arena[0] = 1
	for reason, broken := range map[string][]byte{
		"leads nowhere": flat([]uint32{to | 16, 7}, arena, 0, []uint32{0}, arena[:3]),
		"size fastest":  flat([]uint32{to | 16 | bitHalf}, arena, 0, []uint32{0}, arena[:3]),
		"has two":       flat([]uint32{to | 16, to | 16 | bitHalf}, arena, 0, []uint32{0}, arena[:3]),
		"0xa0000010":    flat([]uint32{to | 80, to | 80}, arena, 0, []uint32{to | 16}, arena[:40]),
		"begin with":    flat([]uint32{to | 80, to | 80}, arena, 0, []uint32{0}, []uint32{1, 0, 1}),
	} {
		if _, err := FromBytes(broken); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, not %s", err, reason)
		}
	}
	// A block that leads to itself, for ever.
	arena[80] = to | 80
	if _, err := FromBytes(flat([]uint32{to | 16, to | 16}, make([]uint32, 0), 0, []uint32{to | 80}, arena)); err == nil {
		t.Error("no arena")
	}
	idle := append([]uint32{1}, make([]uint32, 79)...)
	if _, err := FromBytes(flat([]uint32{to | 16, to | 16}, idle, 0, []uint32{to | 80}, arena)); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Error(err)
	}
}
