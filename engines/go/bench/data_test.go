// Benchmarks of the image reader beside github.com/gaissmai/bart and
// github.com/oschwald/maxminddb-golang, in one process and with the same addresses.
//
//	cd engines/go/bench
//	TABLE4=ris-v4.txt.gz TABLE6=ris-v6.txt.gz POPFIB=../../../target/release/popfib \
//	    GOMAXPROCS=1 taskset -c 1 go test -bench . -count 7
//
// TABLE4 and TABLE6 are lists of a prefix and a value a line; CITY is a MaxMind database with the columns
// of FIELDS (names with commas). Benchmarks of what is not given are skipped. Each name says what is
// measured, with which addresses: hosts of random routes, or of few of them as real traffic has (zipf).
// Before anything is measured, both have to give the same answers.
package bench

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math/rand"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	popfib "example.org/popfib/engines/go"
	"github.com/gaissmai/bart"
)

const addressCount = 1 << 20

// A family is one table of one family in both, and addresses to ask for.
type family struct {
	prefixes []netip.Prefix
	values   []uint32
	path     string
	image    *popfib.Table
	fast     *bart.Fast[uint32]
	streams  map[string]*stream
}

type stream struct {
	addresses []netip.Addr
	numbers   []uint32
	bytes     [][16]byte
}

// table4 and table6 are made once for all benchmarks.
var (
	table4 = sync.OnceValues(func() (*family, error) { return load(os.Getenv("TABLE4")) })
	table6 = sync.OnceValues(func() (*family, error) { return load(os.Getenv("TABLE6")) })
)

// need returns the family, or skips.
func need(b *testing.B, of func() (*family, error)) *family {
	b.Helper()
	f, err := of()
	if err != nil {
		b.Fatal(err)
	}
	if f == nil {
		b.Skip("skipped: TABLE4 or TABLE6 is not set")
	}
	return f
}

func load(path string) (*family, error) {
	if path == "" {
		return nil, nil
	}
	f := &family{streams: map[string]*stream{}, fast: new(bart.Fast[uint32])}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var lines io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if lines, err = gzip.NewReader(file); err != nil {
			return nil, err
		}
	}
	known := map[string]uint32{}
	for scanner := bufio.NewScanner(lines); scanner.Scan(); {
		fields := strings.Fields(scanner.Text())
		prefix, err := netip.ParsePrefix(fields[0])
		if err != nil {
			return nil, err
		}
		value, seen := known[fields[1]]
		if !seen {
			value = uint32(len(known) + 1)
			known[fields[1]] = value
		}
		f.prefixes, f.values = append(f.prefixes, prefix), append(f.values, value)
		f.fast.Insert(prefix, value)
	}
	folder, err := os.MkdirTemp("", "popfib-bench")
	if err != nil {
		return nil, err
	}
	f.path = filepath.Join(folder, "table.fib")
	compile := exec.Command(os.Getenv("POPFIB"), "compile", path, "-o", f.path)
	compile.Stderr = os.Stderr
	if err := compile.Run(); err != nil {
		return nil, err
	}
	if f.image, err = popfib.Open(f.path); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewSource(1))
	f.streams["routes"] = f.hosts(random, func() int { return random.Intn(len(f.prefixes)) })
	order := random.Perm(len(f.prefixes))
	zipf := rand.NewZipf(random, 1.1, 8, uint64(len(order)-1))
	f.streams["zipf"] = f.hosts(random, func() int { return order[zipf.Uint64()] })
	return f, nil
}

// hosts are random hosts of the routes that choose says.
func (f *family) hosts(random *rand.Rand, choose func() int) *stream {
	s := &stream{}
	for range addressCount {
		prefix := f.prefixes[choose()]
		b := prefix.Addr().AsSlice()
		for n := prefix.Bits(); n < len(b)*8; n++ {
			b[n/8] |= byte(random.Intn(2)) << (7 - n%8)
		}
		address, _ := netip.AddrFromSlice(b)
		s.addresses = append(s.addresses, address)
		if len(b) == 4 {
			s.numbers = append(s.numbers, binary.BigEndian.Uint32(b))
		} else {
			s.bytes = append(s.bytes, [16]byte(b))
		}
	}
	return s
}
