package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The daemon itself answers.
func TestAsk(t *testing.T) {
	daemon := filepath.Join(filepath.Dir(os.Getenv("POPFIB")), "popfibd")
	if _, err := os.Stat(daemon); err != nil {
		fmt.Println("skipped: the Go example that asks popfibd: it is not built")
		return
	}
	file := filepath.Join(t.TempDir(), "geo.csv")
	rows := "prefix,country,city\n192.0.2.0/24,AT,\"Wien, Zentrum\"\n2001:db8::/32,DE,\n"
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(daemon, "--table", file, "--http", "127.0.0.1:0")
	said, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer command.Wait()
	defer command.Process.Kill()
	lines := bufio.NewScanner(said)
	url := ""
	for url == "" && lines.Scan() {
		if _, address, found := strings.Cut(lines.Text(), "HTTP on "); found {
			url = "http://" + address + "/v1/lookup?columns=country,city"
		}
	}
	// More than a request holds, and what is no address among them.
	var from, wanted strings.Builder
	for number := range 2*batch + 7 {
		switch number % 3 {
		case 0:
			fmt.Fprintf(&from, "192.0.2.%d\n", number%256)
			fmt.Fprintf(&wanted, `{"address":"192.0.2.%d","prefix":"192.0.2.0/24","country":"AT","city":"Wien, Zentrum"}`+"\n", number%256)
		case 1:
			fmt.Fprintf(&from, "2001:db8::%x\n", number)
			fmt.Fprintf(&wanted, `{"address":"2001:db8::%x","prefix":"2001:db8::/32","country":"DE","city":null}`+"\n", number)
		default:
			fmt.Fprintln(&from, "no address")
			fmt.Fprintln(&wanted, `{"address":"no address","error":"not an IP address"}`)
		}
	}
	var to strings.Builder
	if err := ask(client{url: url}, strings.NewReader(from.String()), &to); err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(to.String(), "\n"), strings.Split(wanted.String(), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines for %d", len(got), len(want))
	}
	for number := range got {
		if got[number] != want[number] {
			t.Fatalf("line %d: %s, wanted %s", number, got[number], want[number])
		}
	}
	if err := ask(client{url: url + "&table=none"}, strings.NewReader("::1\n"), &to); err == nil || !strings.Contains(err.Error(), "no such table") {
		t.Fatalf("a table that is not there: %v", err)
	}
}
