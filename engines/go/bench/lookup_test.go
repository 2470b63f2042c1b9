package bench

// Lookups and matches of both, one address at a time, and batches. An operation is an address.

import (
	"net/netip"
	"runtime"
	"testing"

	popfib "example.org/popfib/engines/go"
	"github.com/gaissmai/bart"
)

var sink uint32

// each runs a benchmark for each family and stream.
func each(b *testing.B, run func(b *testing.B, f *family, s *stream)) {
	for _, of := range []struct {
		name string
		get  func() (*family, error)
	}{{"IPv4", table4}, {"IPv6", table6}} {
		for _, name := range []string{"routes", "zipf"} {
			b.Run(of.name+"/"+name, func(b *testing.B) {
				f := need(b, of.get)
				s := f.streams[name]
				agree(b, f, s)
				b.ReportAllocs()
				b.ResetTimer()
				run(b, f, s)
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
			})
		}
	}
}

var agreed = map[*stream]bool{}

// agree compares all answers of both.
func agree(b *testing.B, f *family, s *stream) {
	if agreed[s] {
		return
	}
	agreed[s] = true
	values := map[uint32]uint32{}
	for _, address := range s.addresses {
		record, found := f.image.Lookup(address)
		value, same := f.fast.Lookup(address)
		if known, seen := values[record.Number()]; found != same || seen && known != value {
			b.Fatalf("%s: the answers differ", address)
		}
		values[record.Number()] = value
		prefix, _, _ := f.image.Match(address)
		other, _, _ := f.fast.LookupPrefixLPM(netip.PrefixFrom(address, address.BitLen()))
		if prefix != other {
			b.Fatalf("%s: %s, %s", address, prefix, other)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	each(b, func(b *testing.B, f *family, s *stream) {
		for n := range b.N {
			record, _ := f.image.Lookup(s.addresses[n%addressCount])
			sink += record.Number()
		}
	})
}

func BenchmarkLookupBart(b *testing.B) {
	each(b, func(b *testing.B, f *family, s *stream) {
		for n := range b.N {
			value, _ := f.fast.Lookup(s.addresses[n%addressCount])
			sink += value
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	each(b, func(b *testing.B, f *family, s *stream) {
		for n := range b.N {
			prefix, record, _ := f.image.Match(s.addresses[n%addressCount])
			sink += record.Number() + uint32(prefix.Bits())
		}
	})
}

func BenchmarkMatchBart(b *testing.B) {
	each(b, func(b *testing.B, f *family, s *stream) {
		for n := range b.N {
			address := s.addresses[n%addressCount]
			prefix, value, _ := f.fast.LookupPrefixLPM(netip.PrefixFrom(address, address.BitLen()))
			sink += value + uint32(prefix.Bits())
		}
	})
}

const burst = 256

func BenchmarkBatch(b *testing.B) {
	each(b, func(b *testing.B, f *family, s *stream) {
		numbers := make([]uint32, burst)
		for n := 0; n < b.N; n += burst {
			at := n % addressCount
			numbers = f.image.LookupBatch(s.addresses[at:at+burst], numbers)
			sink += numbers[0]
		}
	})
}

func BenchmarkBatchNumbers(b *testing.B) {
	each(b, func(b *testing.B, f *family, s *stream) {
		numbers := make([]uint32, burst)
		for n := 0; n < b.N; n += burst {
			at := n % addressCount
			if s.bytes == nil {
				numbers = f.image.LookupBatch4(s.numbers[at:at+burst], numbers)
			} else {
				numbers = f.image.LookupBatch6(s.bytes[at:at+burst], numbers)
			}
			sink += numbers[0]
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	for _, of := range []func() (*family, error){table4, table6} {
		f := need(b, of)
		b.Run(map[bool]string{true: "IPv4", false: "IPv6"}[f.prefixes[0].Addr().Is4()], func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := popfib.Open(f.path); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(f.prefixes)), "routes")
		})
	}
}

// An operation is a table of all routes, which are in order.
func BenchmarkBuild(b *testing.B) {
	building(b, func(f *family) {
		table, err := popfib.Build(func(yield func(netip.Prefix, uint64) bool) {
			for n, prefix := range f.prefixes {
				if !yield(prefix, uint64(f.values[n])) {
					return
				}
			}
		})
		if err != nil {
			panic(err)
		}
		runtime.KeepAlive(table)
	})
}

func BenchmarkBuildBart(b *testing.B) {
	building(b, func(f *family) {
		table := new(bart.Fast[uint64])
		for n, prefix := range f.prefixes {
			table.Insert(prefix, uint64(f.values[n]))
		}
		runtime.KeepAlive(table)
	})
}

func building(b *testing.B, build func(f *family)) {
	for name, of := range map[string]func() (*family, error){"IPv4": table4, "IPv6": table6} {
		b.Run(name, func(b *testing.B) {
			f := need(b, of)
			b.ReportAllocs()
			for b.Loop() {
				build(f)
			}
		})
	}
}
