package popfib

// What tests share: the command, which compiles tables and gives answers to compare with, and random
// addresses. The command is $POPFIB or one built in this tree.

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const vectorsFile = "../../target/vectors/vectors.json"
const recordsFile = "../vectors/records.fib"

// command is the path of the command; without one, the test is skipped.
func command(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("POPFIB"); path != "" {
		return path
	}
	for _, build := range []string{"release", "debug"} {
		path, err := filepath.Abs("../../target/" + build + "/popfib")
		if err == nil {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	t.Skip("skipped: no command: POPFIB is not set, and target/ has none")
	return ""
}

// run runs the command with this input, and returns what it prints.
func run(t testing.TB, input string, arguments ...string) string {
	t.Helper()
	c := exec.Command(command(t), arguments...)
	c.Stdin = strings.NewReader(input)
	var failed bytes.Buffer
	c.Stderr = &failed
	out, err := c.Output()
	if err != nil {
		t.Fatalf("popfib %s: %v: %s", strings.Join(arguments, " "), err, failed.String())
	}
	return string(out)
}

// compile compiles a table with these options, and returns the path of the image.
func compile(t testing.TB, table string, options ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.fib")
	run(t, table, append([]string{"compile", "-o", path, "--table", "-"}, options...)...)
	return path
}

// open is Open, which may not fail.
func open(t testing.TB, path string, with ...Option) *Table {
	t.Helper()
	table, err := Open(path, with...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

type vectorTable struct {
	routes    [][2]string
	questions []question
}

type question struct {
	text     string
	bytes    string
	covering []int
}

func (q *question) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&q.text, &q.bytes, &q.covering})
}

// vectors are the tables that the tests of all doors ask for.
func vectors(t testing.TB) (map[string]vectorTable, []string) {
	t.Helper()
	b, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tables map[string]struct {
			Routes    [][2]string
			Questions []question
		}
		Invalid []string
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	tables := map[string]vectorTable{}
	for name, table := range file.Tables {
		tables[name] = vectorTable{table.Routes, table.Questions}
	}
	return tables, file.Invalid
}

// text is the table in lines.
func (v vectorTable) text() string {
	var lines strings.Builder
	for _, route := range v.routes {
		lines.WriteString(strings.TrimRight(route[0]+" "+route[1], " ") + "\n")
	}
	return lines.String()
}

// last is the last address of a prefix.
func last(prefix netip.Prefix) netip.Addr {
	b := prefix.Addr().AsSlice()
	for n := prefix.Bits(); n < len(b)*8; n++ {
		b[n/8] |= 0x80 >> (n % 8)
	}
	address, _ := netip.AddrFromSlice(b)
	return address
}
