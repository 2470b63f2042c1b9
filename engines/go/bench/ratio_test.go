package bench

// Ratios to bart, pass by pass in turn, so that both have the same neighbours on a machine that others use.
// An operation is a pass of each over all addresses, in an order that changes: -benchtime 20x are 20 of
// them. The median, least and most of the ratios of their times are printed.

import (
	"net/netip"
	"slices"
	"testing"
	"time"
)

func ratios(b *testing.B, ours, theirs func(f *family, addresses []netip.Addr)) {
	each(b, func(b *testing.B, f *family, s *stream) {
		var found []float64
		for n := range b.N {
			// The first of both brings addresses into the cache.
			passes := [2]func(f *family, addresses []netip.Addr){ours, theirs}
			var took [2]time.Duration
			for turn := range 2 {
				which := (n + turn) % 2
				start := time.Now()
				passes[which](f, s.addresses)
				took[which] = time.Since(start)
			}
			found = append(found, float64(took[1])/float64(took[0]))
		}
		slices.Sort(found)
		b.ReportMetric(found[len(found)/2], "times")
		b.ReportMetric(found[0], "least")
		b.ReportMetric(found[len(found)-1], "most")
	})
}

func BenchmarkRatioOfLookup(b *testing.B) {
	ratios(b, func(f *family, addresses []netip.Addr) {
		for _, address := range addresses {
			record, _ := f.image.Lookup(address)
			sink += record.Number()
		}
	}, func(f *family, addresses []netip.Addr) {
		for _, address := range addresses {
			value, _ := f.fast.Lookup(address)
			sink += value
		}
	})
}

func BenchmarkRatioOfMatch(b *testing.B) {
	ratios(b, func(f *family, addresses []netip.Addr) {
		for _, address := range addresses {
			prefix, record, _ := f.image.Match(address)
			sink += record.Number() + uint32(prefix.Bits())
		}
	}, func(f *family, addresses []netip.Addr) {
		for _, address := range addresses {
			prefix, value, _ := f.fast.LookupPrefixLPM(netip.PrefixFrom(address, address.BitLen()))
			sink += value + uint32(prefix.Bits())
		}
	})
}
