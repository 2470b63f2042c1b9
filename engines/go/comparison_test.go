package popfib

// The comparison of all doors: engines/vectors/comparison.py.

import (
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
)

var comparisonColumns = []string{"name", "asn", "score", "up", "tags"}

func comparisonLines(t *testing.T, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile("../../target/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]string
	for line := range strings.Lines(string(text)) {
		lines = append(lines, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return lines
}

// is tells whether a value is what the command prints of it; `~` is an absent one.
func is(value any, text string) bool {
	switch value := value.(type) {
	case nil:
		return text == "~"
	case string:
		return value == text
	case int64:
		return strconv.FormatInt(value, 10) == text
	case float64:
		number, err := strconv.ParseFloat(text, 64)
		return err == nil && value == number
	case bool:
		return strconv.FormatBool(value) == text
	case []string:
		var parts []string
		for _, part := range value {
			parts = append(parts, strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace(part))
		}
		return strings.Join(parts, ",") == text
	}
	return false
}

func askComparison(t *testing.T, table *Table, routes, questions [][]string, column int) {
	t.Helper()
	var addresses []netip.Addr
	var expected []int
	for _, question := range questions {
		address, err := netip.ParseAddr(question[0])
		if (err != nil) != (question[column] == "-") {
			t.Fatalf("%q: %v", question[0], err)
		}
		if err != nil {
			continue
		}
		number, _ := strconv.Atoi(question[column])
		addresses, expected = append(addresses, address), append(expected, number)
	}
	numbers := table.LookupBatch(addresses, nil)
	for n, address := range addresses {
		prefix, record, found := table.Match(address)
		if record.Number() != numbers[n] || found != (expected[n] != 0) {
			t.Fatalf("%s: %v", address, record)
		}
		want := []string{"", "~", "~", "~", "~", "~"}
		if found {
			want = routes[expected[n]-1]
			if prefix != netip.MustParsePrefix(want[0]) {
				t.Fatalf("%s: %s, not %s", address, prefix, want[0])
			}
		}
		for at, name := range comparisonColumns {
			if value := record.Get(name); !is(value, want[1+at]) {
				t.Fatalf("%s: %s %v, not %s", address, name, value, want[1+at])
			}
		}
	}
}

func TestComparison(t *testing.T) {
	// Written by engines/vectors/generate.py.
	first, err := os.ReadFile("../../target/vectors/first.csv")
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile("../../target/vectors/second.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	questions := comparisonLines(t, "questions.tsv")
	path := compile(t, string(first), "--columns", "*")
	watcher, err := Watch(path)
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	askComparison(t, watcher.Current(), comparisonLines(t, "first.tsv"), questions, 1)
	image, err := os.ReadFile(compile(t, string(second), "--columns", "*", "--mapped"))
	if err != nil {
		t.Fatal(err)
	}
	publish(t, path, image)
	if err := watcher.Reload(); err != nil {
		t.Fatal(err)
	}
	askComparison(t, watcher.Current(), comparisonLines(t, "second.tsv"), questions, 2)
}
