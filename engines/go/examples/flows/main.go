// Flows in, as lines of CSV that begin with source and destination address; the same lines out, with the
// prefix and the value (an AS number, say) of both addresses. The table is followed while lines come.
//
//	popfib compile origins.txt -o origins.fib
//	flows -table origins.fib <flows.csv
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"net/netip"
	"os"
	"strings"

	popfib "example.org/popfib/engines/go"
)

// describe is the prefix and the value of an address, or two empty fields.
func describe(table *popfib.Table, text string) (string, string) {
	address, err := netip.ParseAddr(text)
	if err != nil {
		return "", ""
	}
	// Flow records of both families have ::ffff:192.0.2.1 for 192.0.2.1.
	prefix, record, found := table.Match(address.Unmap())
	if !found {
		return "", ""
	}
	return prefix.String(), record.String()
}

// enrich adds four fields to each line.
func enrich(from io.Reader, to io.Writer, current func() *popfib.Table) error {
	out := bufio.NewWriter(to)
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		// One table for all of a line.
		table := current()
		fields := strings.SplitN(lines.Text(), ",", 3)
		if len(fields) < 2 {
			return fmt.Errorf("a flow of less than two addresses: %q", lines.Text())
		}
		sourcePrefix, source := describe(table, fields[0])
		destinationPrefix, destination := describe(table, fields[1])
		fmt.Fprintf(out, "%s,%s,%s,%s,%s\n", lines.Text(), sourcePrefix, source, destinationPrefix, destination)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}

func main() {
	file := flag.String("table", "routes.fib", "image of the table")
	flag.Parse()
	table, err := popfib.Watch(*file, popfib.WithOnError(func(err error) { log.Print(err) }))
	if err != nil {
		log.Fatal(err)
	}
	if err := enrich(os.Stdin, os.Stdout, table.Current); err != nil {
		log.Fatal(err)
	}
}
