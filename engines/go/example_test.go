package popfib_test

// The code of docs/go.md, which a test compares with it: what the guide shows runs here.

import (
	"fmt"
	"maps"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"

	popfib "example.org/popfib/engines/go"
)

const records = "../vectors/records.fib"

func Example() {
	table, err := popfib.Open(records, popfib.WithName("records"))
	if err != nil {
		panic(err)
	}
	record, found := table.Lookup(netip.MustParseAddr("10.1.2.3"))
	fmt.Println(record.Get("country"), record.Get("asn"), found)
	prefix, record, found := table.Match(netip.MustParseAddr("192.0.2.1"))
	fmt.Println(prefix, record.Get("country"), found)
	// Output:
	// AT 64500 true
	// 0.0.0.0/0 ZZ true
}

func ExampleColumnOf() {
	table, err := popfib.Open(records, popfib.WithName("records"))
	if err != nil {
		panic(err)
	}
	city, err := popfib.ColumnOf[string](table, "names.city")
	if err != nil {
		panic(err)
	}
	ports, err := popfib.ColumnOf[[]int64](table, "ports")
	if err != nil {
		panic(err)
	}
	record, _ := table.Lookup(netip.MustParseAddr("10.9.9.9"))
	name, present := city.Of(record)
	open, _ := ports.Of(record)
	fmt.Println(name, present, open)
	fmt.Println(record.Get("asn"), record.Get("delta"))
	// Output:
	// Wien true [22 443]
	// 64500 -7
}

func ExampleTable_LookupBatch4() {
	table, err := popfib.Open(records, popfib.WithName("records"))
	if err != nil {
		panic(err)
	}
	city, err := popfib.ColumnOf[string](table, "names.city")
	if err != nil {
		panic(err)
	}
	addresses := []uint32{0x0a090909, 0x0a010204, 0xc0000201}
	var numbers []uint32
	numbers = table.LookupBatch4(addresses, numbers)
	for _, number := range numbers {
		name, present := city.At(number)
		fmt.Printf("%q %t\n", name, present)
	}
	// Output:
	// "Wien" true
	// "" false
	// "" false
}

func ExampleWatchAs() {
	type places struct {
		table *popfib.Table
		city  *popfib.Column[string]
	}
	prepare := func(table *popfib.Table) (places, error) {
		city, err := popfib.ColumnOf[string](table, "names.city")
		return places{table, city}, err
	}
	watcher, err := popfib.WatchAs(records, prepare,
		popfib.WithTable("records"),
		popfib.WithOnError(func(err error) { fmt.Fprintln(os.Stderr, err) }))
	if err != nil {
		panic(err)
	}
	defer watcher.Close()

	now := watcher.Current()
	record, _ := now.table.Lookup(netip.MustParseAddr("10.9.9.9"))
	name, _ := now.city.Of(record)
	fmt.Println(name)
	// Output: Wien
}

func ExampleBuild() {
	routes := map[netip.Prefix]string{
		netip.MustParsePrefix("10.0.0.0/8"):    "inside",
		netip.MustParsePrefix("10.1.0.0/16"):   "the branch in the east",
		netip.MustParsePrefix("2001:db8::/32"): "documentation",
	}
	table, err := popfib.Build(maps.All(routes))
	if err != nil {
		panic(err)
	}
	for prefix, record := range table.All() {
		fmt.Println(prefix, record)
	}
	// Output:
	// 10.0.0.0/8 inside
	// 10.1.0.0/16 the branch in the east
	// 2001:db8::/32 documentation
}

// squeeze has the words of a code without their layout.
func squeeze(code string) string { return strings.Join(strings.Fields(code), " ") }

func TestTheGuideIsRun(t *testing.T) {
	guide, err := os.ReadFile("../../docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	run := ""
	for _, file := range []string{"example_test.go", "examples/middleware/main.go", "examples/flows/main.go"} {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		run += squeeze(strings.ReplaceAll(string(code), "panic(err)", "return err")) + "\n"
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(guide, -1)
	if len(blocks) < 4 {
		t.Fatalf("%d blocks of code", len(blocks))
	}
	for _, block := range blocks {
		// The guide has a file of the reader's.
		code := regexp.MustCompile(`"[a-z]+\.fib"`).ReplaceAllString(string(block[1]), "records")
		if !strings.Contains(run, squeeze(code)) {
			t.Errorf("nothing runs\n%s", code)
		}
	}
}
