// A web server that refuses clients of a list of networks and tells handlers where others are: requests
// in, answers out. Both files are followed while it runs; a signal (SIGHUP) reads them at once.
//
//	popfib compile blocked.txt -o blocked.fib
//	popfib compile city.mmdb --columns country -o city.fib
//	middleware -blocked blocked.fib -countries city.fib -listen :8080
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	popfib "example.org/popfib/engines/go"
)

// countries is a table and its column, which belong together.
type countries struct {
	table   *popfib.Table
	country *popfib.Column[string]
}

func newCountries(table *popfib.Table) (countries, error) {
	country, err := popfib.ColumnOf[string](table, "country")
	return countries{table, country}, err
}

type countryKey struct{}

// client is the address that a request comes from. Behind a proxy that is the proxy's: take the header
// then that the proxy sets, and no other.
func client(r *http.Request) netip.Addr {
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	// A socket of both families has ::ffff:192.0.2.1 for 192.0.2.1.
	return from.Addr().Unmap()
}

// guard refuses clients of blocked networks, and tells the next handler the country of others.
func guard(blocked *popfib.Watcher[*popfib.Table], where *popfib.Watcher[countries], next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address := client(r)
		if prefix, _, found := blocked.Current().Match(address); found {
			http.Error(w, "refused: "+prefix.String(), http.StatusForbidden)
			return
		}
		now := where.Current()
		record, _ := now.table.Lookup(address)
		country, _ := now.country.Of(record)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), countryKey{}, country)))
	})
}

func main() {
	blockedFile := flag.String("blocked", "blocked.fib", "image of networks to refuse")
	countryFile := flag.String("countries", "city.fib", "image with a column country")
	listen := flag.String("listen", "localhost:8080", "address to listen on")
	flag.Parse()
	tell := popfib.WithOnError(func(err error) { log.Print("keeping the table before: ", err) })
	blocked, err := popfib.Watch(*blockedFile, tell)
	if err != nil {
		log.Fatal(err)
	}
	where, err := popfib.WatchAs(*countryFile, newCountries, tell)
	if err != nil {
		log.Fatal(err)
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			log.Print("reload: ", blocked.Reload(), ", ", where.Reload())
		}
	}()
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello, %s\n", r.Context().Value(countryKey{}))
	})
	log.Fatal(http.ListenAndServe(*listen, guard(blocked, where, hello)))
}
