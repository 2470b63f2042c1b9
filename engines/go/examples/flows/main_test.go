package main

import (
	"strings"
	"testing"

	popfib "example.org/popfib/engines/go"
)

func TestEnrich(t *testing.T) {
	table, err := popfib.Open("../../../vectors/records.fib", popfib.WithName("records"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	current := func() *popfib.Table { return table }
	in := "10.1.2.3,10.9.9.9,80\n::ffff:10.1.2.3,2001:db9::1,443,x\nnone,10.1.2.3\n"
	if err := enrich(strings.NewReader(in), &out, current); err != nil {
		t.Fatal(err)
	}
	expected := "10.1.2.3,10.9.9.9,80,10.1.2.3/32,64500,10.0.0.0/8,64500\n" +
		"::ffff:10.1.2.3,2001:db9::1,443,x,10.1.2.3/32,64500,::/0,0\n" +
		"none,10.1.2.3,,,10.1.2.3/32,64500\n"
	if out.String() != expected {
		t.Errorf("%s", out.String())
	}
	if err := enrich(strings.NewReader("x\n"), &out, current); err == nil {
		t.Error("a line without addresses")
	}
}
