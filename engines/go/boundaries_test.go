package popfib

// Every boundary of real tables: the first and last address of each route and those beside them, whose
// answers are those of the command. The tables are the one that the command has built in, and those of
// $POPFIB_TABLES (files, with colons).

import (
	"bufio"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBoundariesOfRealTables(t *testing.T) {
	files := []string{"built-in"}
	if more := os.Getenv("POPFIB_TABLES"); more != "" {
		files = append(files, strings.Split(more, ":")...)
	}
	for _, file := range files {
		for _, keep := range []string{"routes", "prefixes", "values"} {
			t.Run(filepath.Base(file)+" "+keep, func(t *testing.T) { boundaries(t, file, keep) })
		}
	}
}

func boundaries(t *testing.T, file, keep string) {
	path := filepath.Join(t.TempDir(), "table.fib")
	run(t, "", "compile", "-o", path, "--keep", "routes", "--table", file)
	whole := open(t, path)
	table := whole
	if keep != "routes" {
		smaller := filepath.Join(t.TempDir(), "smaller.fib")
		run(t, "", "compile", "-o", smaller, "--keep", keep, "--table", path)
		table = open(t, smaller)
	}
	var addresses []netip.Addr
	var input strings.Builder
	add := func(address netip.Addr) {
		if address.IsValid() {
			addresses = append(addresses, address)
			input.Write(append(address.AppendTo(nil), '\n'))
		}
	}
	count := 0
	for prefix := range whole.All() {
		// A sample where all would take long under race detection and debug builds.
		if count++; testing.Short() && count%64 != 0 {
			continue
		}
		add(prefix.Addr().Prev())
		add(prefix.Addr())
		end := last(prefix)
		add(end)
		add(end.Next())
	}
	ipv4, ipv6 := whole.Len()
	if count != ipv4+ipv6 || count == 0 {
		t.Fatalf("%d routes of %d and %d", count, ipv4, ipv6)
	}
	lines := bufio.NewScanner(strings.NewReader(run(t, input.String(), "lookup", "--table", path)))
	for n, address := range addresses {
		if !lines.Scan() {
			t.Fatalf("there are %d answers for %d addresses", n, len(addresses))
		}
		fields := strings.Split(lines.Text(), "\t")
		prefix, record, found := table.Match(address)
		same, _ := table.Lookup(address)
		if fields[0] != address.String() || record != same {
			t.Fatalf("%s: %q; %v, %v", address, fields, record, same)
		}
		if !found {
			if fields[1] != "-" {
				t.Fatalf("%s: %q, not found", address, fields)
			}
			continue
		}
		if record.String() != fields[2] || table.HasPrefixes() && prefix.String() != fields[1] {
			t.Fatalf("%s: %q; %s %q", address, fields, prefix, record)
		}
	}
}
