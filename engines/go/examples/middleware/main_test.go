package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	popfib "example.org/popfib/engines/go"
)

func TestGuard(t *testing.T) {
	image, err := os.ReadFile("../../../vectors/records.fib")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "t.fib")
	if err := os.WriteFile(file, image, 0o600); err != nil {
		t.Fatal(err)
	}
	where, err := popfib.WatchAs(file, newCountries, popfib.WithTable("records"))
	if err != nil {
		t.Fatal(err)
	}
	defer where.Close()
	// Its networks of IPv4 alone.
	list, err := popfib.BuildImage(func(yield func(netip.Prefix, string) bool) {
		_ = yield(netip.MustParsePrefix("10.1.0.0/16"), "") && yield(netip.MustParsePrefix("2001:db8::/32"), "")
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".blocked", list, 0o600); err != nil {
		t.Fatal(err)
	}
	blocked, err := popfib.Watch(file + ".blocked")
	if err != nil {
		t.Fatal(err)
	}
	defer blocked.Close()
	handler := guard(blocked, where, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Context().Value(countryKey{}))
	}))
	for _, test := range []struct {
		from, body string
		status     int
	}{
		{"10.9.9.9:1234", "AT", 200},
		{"[::ffff:10.9.9.9]:1234", "AT", 200},
		{"10.1.2.3:1234", "refused: 10.1.0.0/16\n", 403},
		{"[2001:db8::7]:1234", "refused: 2001:db8::/32\n", 403},
		{"[2001:db9::7]:1234", "ZZ", 200},
		{"a socket", "", 200},
	} {
		request := httptest.NewRequest("GET", "/", nil)
		request.RemoteAddr = test.from
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code != test.status || answer.Body.String() != test.body {
			t.Errorf("%s: %d %q", test.from, answer.Code, answer.Body)
		}
	}
}
