package popfib

// The questions of engines/vectors, in images of every form, by every way to ask. Their answers are those
// of Python's ipaddress, by a scan of all routes.

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// forms are the options of the command that make images of each form.
func forms() [][]string {
	var forms [][]string
	for _, keep := range []string{"routes", "prefixes", "values"} {
		for _, size := range []string{"smallest", "balanced"} {
			for _, direct := range []string{"", "0", "5", "18"} {
				form := []string{"--keep", keep, "--size", size}
				if direct != "" {
					form = append(form, "--direct-bits", direct)
				}
				forms = append(forms, form)
			}
		}
	}
	// The largest tables, and pages.
	forms = append(forms, []string{"--keep", "values", "--direct-bits", "24"}, []string{"--keep", "prefixes", "--size", "balanced", "--direct-bits", "20"})
	return append(forms, []string{"--no-aggregation"}, []string{"--no-aggregation", "--direct-bits", "0"})
}

func TestVectors(t *testing.T) {
	tables, invalid := vectors(t)
	for name, vector := range tables {
		for _, form := range forms() {
			t.Run(name+" "+strings.Join(form, " "), func(t *testing.T) {
				askVectors(t, open(t, compile(t, vector.text(), form...)), vector)
			})
		}
	}
	for _, text := range invalid {
		// A zone is none of the other doors' addresses, and ignored here.
		if _, err := netip.ParseAddr(text); err == nil && !strings.Contains(text, "%") {
			t.Errorf("%q is an address", text)
		}
	}
}

func askVectors(t *testing.T, table *Table, vector vectorTable) {
	var addresses []netip.Addr
	var numbers, of4, keys4 []uint32
	var of6 []uint32
	var keys6 [][16]byte
	mapped := 0
	for _, q := range vector.questions {
		address := netip.MustParseAddr(q.text)
		b, _ := hex.DecodeString(q.bytes)
		fromBytes, _ := netip.AddrFromSlice(b)
		if address != fromBytes {
			t.Fatalf("%s is %s", q.text, fromBytes)
		}
		if address.Is4In6() {
			mapped++
		}
		record, found := table.Lookup(address)
		prefix, same, matched := table.Match(address)
		if record != same || found != matched || found != (record.Number() != 0) {
			t.Fatalf("%s: Lookup %v, %t; Match %v, %t", address, record, found, same, matched)
		}
		if found != (len(q.covering) > 0) {
			t.Fatalf("%s: %t", address, found)
		}
		if found {
			route := vector.routes[q.covering[len(q.covering)-1]]
			if record.String() != route[1] {
				t.Fatalf("%s: %q, not %q", address, record, route[1])
			}
			if table.HasPrefixes() && prefix != netip.MustParsePrefix(route[0]) || !table.HasPrefixes() && prefix.IsValid() {
				t.Fatalf("%s: %s, not %s", address, prefix, route[0])
			}
		}
		askSupernets(t, table, vector, address, q.covering)
		if address.Is6() {
			zoned, _ := table.Lookup(address.WithZone("eth0"))
			if zoned != record {
				t.Fatalf("%s: another record with a zone", address)
			}
		}
		addresses, numbers = append(addresses, address), append(numbers, record.Number())
		if address.Is4() {
			keys4, of4 = append(keys4, binary.BigEndian.Uint32(b)), append(of4, record.Number())
		} else {
			keys6, of6 = append(keys6, [16]byte(b)), append(of6, record.Number())
		}
	}
	if mapped == 0 {
		t.Fatal("no IPv4-mapped address was asked for")
	}
	kept := make([]uint32, 0, 1<<16)
	for _, into := range [][]uint32{nil, kept, make([]uint32, 7)} {
		if !slices.Equal(table.LookupBatch(addresses, into), numbers) ||
			!slices.Equal(table.LookupBatch4(keys4, into), of4) ||
			!slices.Equal(table.LookupBatch6(keys6, into), of6) {
			t.Fatal("a batch has other answers")
		}
	}
	if _, found := table.Lookup(netip.Addr{}); found {
		t.Fatal("the zero address is found")
	}
	if _, _, found := table.Match(netip.Addr{}); found {
		t.Fatal("the zero address is matched")
	}
	askRoutes(t, table, vector)
}

// askSupernets compares the routes that cover an address.
func askSupernets(t *testing.T, table *Table, vector vectorTable, address netip.Addr, covering []int) {
	t.Helper()
	found, err := table.Supernets(netip.PrefixFrom(address, address.BitLen()))
	if !table.HasRoutes() {
		if !errors.Is(err, ErrNoRoutes) {
			t.Fatalf("%v", err)
		}
		return
	}
	for prefix, record := range found {
		if len(covering) == 0 {
			t.Fatalf("%s: %s covers it", address, prefix)
		}
		route := vector.routes[covering[0]]
		if prefix != netip.MustParsePrefix(route[0]) || record.String() != route[1] {
			t.Fatalf("%s: %s %q, not %q", address, prefix, record, route)
		}
		// Those of a route are what covers it, and itself.
		last, _ := table.Supernets(prefix)
		var end netip.Prefix
		for end = range last {
		}
		if end != prefix {
			t.Fatalf("%s is not the last that covers %s", end, prefix)
		}
		covering = covering[1:]
	}
	if len(covering) > 0 {
		t.Fatalf("%s: %v is missing", address, covering)
	}
}

func askRoutes(t *testing.T, table *Table, vector vectorTable) {
	expected, got := map[string]string{}, map[string]string{}
	for _, route := range vector.routes {
		expected[route[0]] = route[1]
	}
	before := netip.Prefix{}
	for prefix, record := range table.All() {
		if before.IsValid() && prefix.Addr().Is4() == before.Addr().Is4() &&
			(prefix.Addr().Less(before.Addr()) || prefix.Addr() == before.Addr() && prefix.Bits() <= before.Bits()) {
			t.Fatalf("%s after %s", prefix, before)
		}
		before = prefix
		got[prefix.String()] = record.String()
	}
	if !table.HasRoutes() {
		if len(got) > 0 {
			t.Fatal("there are routes")
		}
		return
	}
	for prefix := range expected {
		if canonical := netip.MustParsePrefix(prefix).String(); canonical != prefix {
			expected[canonical] = expected[prefix]
			delete(expected, prefix)
		}
	}
	if !reflect.DeepEqual(got, expected) {
		t.Fatalf("the routes are %v", got)
	}
	if ipv4, ipv6 := table.Len(); ipv4+ipv6 != len(expected) {
		t.Fatalf("%d and %d routes", ipv4, ipv6)
	}
	for range table.All() {
		break
	}
	none, _ := table.Supernets(netip.Prefix{})
	for prefix := range none {
		t.Fatalf("%s covers the zero prefix", prefix)
	}
}

// valuesOf are the members of a line of records.jsonl by the names of columns.
func valuesOf(t *testing.T, line string) map[string]any {
	var members map[string]any
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		t.Fatal(err)
	}
	if names, is := members["names"].(map[string]any); is {
		delete(members, "names")
		for name, value := range names {
			members["names."+name] = value
		}
	}
	return members
}

func TestRecords(t *testing.T) {
	table := open(t, recordsFile, WithName("records"))
	lines, err := os.ReadFile(strings.TrimSuffix(recordsFile, "fib") + "jsonl")
	if err != nil {
		t.Fatal(err)
	}
	types := []ColumnType{{"country", "text"}, {"asn", "integer"}, {"names.city", "text"}, {"tags", "list of texts"},
		{"ports", "list of integers"}, {"rate", "float"}, {"up", "boolean"}, {"delta", "integer"}, {"id", "unsigned integer"}}
	if !slices.Equal(table.Columns(), types) {
		t.Fatalf("the columns are %v", table.Columns())
	}
	asked := 0
	for line := range strings.Lines(string(lines)) {
		expected := valuesOf(t, line)
		prefix := netip.MustParsePrefix(expected["prefix"].(string))
		delete(expected, "prefix")
		matched, record, _ := table.Match(prefix.Addr())
		if matched != prefix {
			// The first address of this one is of a longer one.
			matched, record, _ = table.Match(last(prefix))
		}
		if matched != prefix {
			t.Fatalf("%s, not %s", matched, prefix)
		}
		for name, value := range record.All() {
			asked++
			wanted, there := expected[name]
			if there != (value != nil) || there && fmt.Sprint(value) != fmt.Sprint(wanted) {
				t.Errorf("%s: %s is %v, not %v", prefix, name, value, wanted)
			}
			if !reflect.DeepEqual(record.Get(name), value) {
				t.Errorf("%s: Get(%q) is %v", prefix, name, record.Get(name))
			}
			delete(expected, name)
		}
		if len(expected) > 0 {
			t.Errorf("%s: there is no %v", prefix, expected)
		}
	}
	if asked != 8*9 {
		t.Fatalf("%d values", asked)
	}
	if table.Image().Writer() != "popfib 0.1.0" || len(table.Image().Tables()) != 2 {
		t.Errorf("%q, %v", table.Image().Writer(), table.Image().Tables())
	}
}

func TestTypedColumns(t *testing.T) {
	table := open(t, recordsFile, WithName("records"))
	record, _ := table.Lookup(netip.MustParseAddr("10.1.2.3"))
	none, _ := table.Lookup(netip.MustParseAddr("10.1.2.4"))
	typed(t, table, record, none, "country", "AT")
	typed(t, table, record, none, "delta", int64(-7))
	typed(t, table, record, none, "id", uint64(18446744073709551615))
	typed(t, table, record, none, "rate", 1.5)
	typed(t, table, record, none, "up", true)
	typed(t, table, record, none, "tags", []string{"vpn", "a,b"})
	typed(t, table, record, none, "ports", []int64{22, 443})
	if record.String() != "64500" {
		t.Errorf("%q", record)
	}
	if _, err := ColumnOf[int64](table, "id"); err == nil || err.Error() != `column "id" is of type unsigned integer, which is not int64` {
		t.Error(err)
	}
	if _, err := ColumnOf[string](table, "city"); err == nil || !strings.HasPrefix(err.Error(), `no column "city" in "country", "asn", "names.city"`) {
		t.Error(err)
	}
	country := open(t, recordsFile, WithName("country"))
	column, err := ColumnOf[string](country, "country")
	if err != nil {
		t.Fatal(err)
	}
	found, _ := country.Lookup(netip.MustParseAddr("10.1.2.3"))
	if value, there := column.Of(found); !there || value != "AT" || found.String() != "AT" {
		t.Errorf("%q, %t", value, there)
	}
	found, matched := country.Lookup(netip.MustParseAddr("10.1.2.4"))
	if _, there := column.Of(found); there || !matched {
		t.Error("the value of 10.1.2.0/24 is not absent")
	}
	defer func() {
		if recover() == nil {
			t.Error("a record of another table was taken")
		}
	}()
	column.Of(record)
}

// typed asks for a value that the first record has, and the second, of all but one column, has not.
func typed[T Value](t *testing.T, table *Table, record, none Record, name string, expected T) {
	t.Helper()
	column, err := ColumnOf[T](table, name)
	if err != nil {
		t.Fatal(err)
	}
	value, there := column.Of(record)
	at, _ := column.At(record.Number())
	if !there || !reflect.DeepEqual(value, expected) || !reflect.DeepEqual(at, expected) {
		t.Errorf("%s: %v, %t", name, value, there)
	}
	for _, absent := range []Record{none, {}} {
		if _, there := column.Of(absent); there && (name == "country" || name == "tags" || name == "up") {
			t.Errorf("%s: a value", name)
		}
	}
	if _, there := column.At(0); there {
		t.Errorf("%s: a value of no record", name)
	}
}

// Texts of values are those of the command.
func TestTextsAreTheCommands(t *testing.T) {
	for _, values := range [][]string{
		{`"a"`, `"b,c"`, `""`},
		{`["a\\b", "b,c", ""]`, `["x"]`},
		{"1.5", "-0.25"},
		{"[1.5, 0.1]", "[-2.5]"},
		{"7", "-5"},
		{"18446744073709551615", "1"},
		{"[1, 2, -3]", "[4]"},
		{"true", "false"},
		{"[true, false]", "[true]"},
	} {
		var lines strings.Builder
		ask := []string{"lookup", "--table", "-"}
		for n, value := range values {
			fmt.Fprintf(&lines, "{\"network\": \"10.%d.0.0/16\", \"v\": %s}\n", n, value)
		}
		path := compile(t, lines.String())
		ask[2] = path
		for n := range values {
			ask = append(ask, fmt.Sprintf("10.%d.0.0", n))
		}
		sameTexts(t, path, ask)
	}
	// Of floats no other format has all.
	image, err := BuildImage(func(yield func(netip.Prefix, float64) bool) {
		for n, value := range floats {
			yield(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(n)}), 16), value)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	path := save(t, image)
	ask := []string{"lookup", "--table", path}
	for n := range floats {
		ask = append(ask, fmt.Sprintf("10.%d.0.0", n))
	}
	sameTexts(t, path, ask)
}

var floats = []float64{
	1, -2, 0, math.Copysign(0, -1), 1e22, 1e-7, 1e300, -1.25e-5, 5e-324, 123456789.125, 0.1, 2e15, 9007199254740993,
	math.Inf(1), math.Inf(-1), math.NaN(),
}

// sameTexts compares the answers of the command with the texts of the records.
func sameTexts(t *testing.T, path string, ask []string) {
	t.Helper()
	table := open(t, path)
	for n, line := range strings.Split(strings.TrimSuffix(run(t, "", ask...), "\n"), "\n") {
		record, _ := table.Lookup(netip.AddrFrom4([4]byte{10, byte(n)}))
		if text := strings.Split(line, "\t")[2]; text != record.String() {
			t.Errorf("%s: %q, and %q of the command", ask[n+3], record, text)
		}
	}
}
