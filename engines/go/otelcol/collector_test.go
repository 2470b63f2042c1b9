package popfibprocessor

// A collector in this process: it follows a file by filelog, has the processor of the example, and hands what comes out to the test.
// Its answers are those of the command.

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// command runs the command with this input; without one, the test is skipped.
func command(t testing.TB, input string, arguments ...string) string {
	t.Helper()
	path := os.Getenv("POPFIB")
	if path == "" {
		t.Skip("skipped: the OpenTelemetry Collector beside the command: POPFIB is not set")
	}
	c := exec.Command(path, arguments...)
	c.Stdin, c.Stderr = strings.NewReader(input), os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("popfib %s: %v", strings.Join(arguments, " "), err)
	}
	return string(out)
}

// sink is an exporter that hands logs to a function.
type sink struct {
	component.StartFunc
	component.ShutdownFunc
	consumer.Logs
}

// run runs a collector of the example's configuration and what overrides it, with its exporters `debug` and `sink`, until the test ends.
func run(t testing.TB, each func(plog.Logs) error, extra []processor.Factory, uris ...string) {
	t.Helper()
	typeOfSink := component.MustNewType("sink")
	factories := func() (otelcol.Factories, error) {
		f := otelcol.Factories{Telemetry: otelconftelemetry.NewFactory()}
		var err error
		if f.Receivers, err = otelcol.MakeFactoryMap[receiver.Factory](filelogreceiver.NewFactory()); err != nil {
			return f, err
		}
		if f.Processors, err = otelcol.MakeFactoryMap(append(extra, NewFactory())...); err != nil {
			return f, err
		}
		f.Exporters, err = otelcol.MakeFactoryMap[exporter.Factory](debugexporter.NewFactory(),
			exporter.NewFactory(typeOfSink, func() component.Config { return &struct{}{} },
				exporter.WithLogs(func(context.Context, exporter.Settings, component.Config) (exporter.Logs, error) {
					return sink{Logs: consumerOf(each)}, nil
				}, component.StabilityLevelDevelopment)))
		return f, err
	}
	collector, err := otelcol.NewCollector(otelcol.CollectorSettings{
		Factories:               factories,
		BuildInfo:               component.NewDefaultBuildInfo(),
		DisableGracefulShutdown: true,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			URIs:              append(uris, "yaml:exporters::sink: {}", "yaml:service::pipelines::logs::exporters: [sink]", "yaml:service::telemetry::logs::level: warn"),
			ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory(), envprovider.NewFactory(), yamlprovider.NewFactory()},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- collector.Run(context.Background()) }()
	t.Cleanup(func() {
		collector.Shutdown()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	until(t, func() bool {
		select {
		case err := <-ended:
			ended <- nil
			t.Fatal("the collector ended: ", err)
		default:
		}
		return collector.GetState() == otelcol.StateRunning
	})
}

// routes are random prefixes of both families with values of the columns that the example has.
func routes(random *rand.Rand, count int, release string) (lines string, prefixes []netip.Prefix) {
	var b strings.Builder
	for n := range count {
		prefix := netip.PrefixFrom(addressIn(random, netip.Prefix{}), 8+random.Intn(20)).Masked()
		if n%3 == 0 {
			var bytes [16]byte
			random.Read(bytes[:])
			bytes[0], bytes[1], bytes[2] = 0x20, 0x01, bytes[2]&15
			prefix = netip.PrefixFrom(netip.AddrFrom16(bytes), 19+random.Intn(46)).Masked()
		}
		prefixes = append(prefixes, prefix)
		fmt.Fprintf(&b, `{"prefix":"%s","country":"%c%c","asn":%d`, prefix, 'A'+random.Intn(26), 'A'+random.Intn(26), random.Intn(100_000))
		// Some lack some.
		if n%5 != 0 {
			fmt.Fprintf(&b, `,"city":"%s %d","name":"%s"`, release, n%1000, release)
		}
		b.WriteString("}\n")
	}
	return b.String(), prefixes
}

// addressIn is a random address of the prefix, or any of IPv4.
func addressIn(random *rand.Rand, prefix netip.Prefix) netip.Addr {
	if !prefix.IsValid() {
		return netip.AddrFrom4([4]byte{byte(1 + random.Intn(223)), byte(random.Int()), byte(random.Int()), byte(random.Int())})
	}
	bytes := prefix.Addr().AsSlice()
	for n := prefix.Bits(); n < len(bytes)*8; n++ {
		bytes[n/8] |= byte(random.Intn(2)) << (7 - n%8)
	}
	address, _ := netip.AddrFromSlice(bytes)
	return address
}

// questions are addresses of both families, mapped ones, and what is none.
func questions(random *rand.Rand, prefixes []netip.Prefix, count int) []string {
	var all []string
	for n := range count {
		switch address := addressIn(random, prefixes[random.Intn(len(prefixes))]); {
		case n%100 == 0:
			all = append(all, "host.example")
		case n%10 == 1:
			all = append(all, addressIn(random, netip.Prefix{}).String())
		case n%10 == 2 && address.Is4():
			all = append(all, "::ffff:"+address.String())
		default:
			all = append(all, address.String())
		}
	}
	return all
}

// expected is what the command answers, by the attributes of the example.
func expected(t testing.TB, images string, questions []string) []map[string]any {
	t.Helper()
	all := make([]map[string]any, len(questions))
	var addresses []string
	var at []int
	for n, question := range questions {
		all[n] = map[string]any{"client.address": question, "n": float64(n)}
		if question != "host.example" {
			addresses, at = append(addresses, question), append(at, n)
		}
	}
	for image, attributes := range map[string]map[string]string{
		"places.fib": {"country": "geo.country.iso_code", "city": "geo.locality.name"},
		"asn.fib":    {"asn": "client.as.number", "name": "client.as.organization.name", "prefix": "client.as.network"},
	} {
		out := command(t, strings.Join(addresses, "\n")+"\n", "lookup", "--table", filepath.Join(images, image), "--unmap", "--json")
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if len(lines) != len(addresses) {
			t.Fatalf("%d answers to %d addresses", len(lines), len(addresses))
		}
		for n, line := range lines {
			var answer map[string]any
			if err := json.Unmarshal([]byte(line), &answer); err != nil {
				t.Fatal(err)
			}
			for column, attribute := range attributes {
				if value := answer[column]; value != nil {
					all[at[n]][attribute] = value
				}
			}
		}
	}
	return all
}

// The files that docs/pipelines/opentelemetry.md shows are those that are run.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/pipelines/opentelemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(guide), "```yaml\n")[1:]
	for n, path := range []string{"example/builder.yaml", "example/collector.yaml"} {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if block, _, _ := strings.Cut(blocks[n], "```"); !strings.Contains(string(file), block) {
			t.Errorf("%s is not as the guide has it", path)
		}
	}
}

func TestCollector(t *testing.T) {
	random := rand.New(rand.NewSource(75))
	folder := t.TempDir()
	t.Setenv("IMAGES", folder)
	t.Setenv("LOGS", filepath.Join(folder, "*.jsonl"))
	var prefixes []netip.Prefix
	compile := func(release string) {
		var lines string
		lines, prefixes = routes(random, 5000, release)
		command(t, lines, "compile", "--columns", "country,city", "-o", filepath.Join(folder, "places.fib"), "--table", "-")
		command(t, lines, "compile", "--columns", "asn,name", "-o", filepath.Join(folder, "asn.fib"), "--table", "-")
	}
	compile("first")

	var mutex sync.Mutex
	seen := map[int]string{}
	run(t, func(logs plog.Logs) error {
		mutex.Lock()
		defer mutex.Unlock()
		for _, resource := range logs.ResourceLogs().All() {
			for _, scope := range resource.ScopeLogs().All() {
				for _, record := range scope.LogRecords().All() {
					attributes := record.Attributes().AsRaw()
					delete(attributes, "log.file.name")
					n, _ := record.Attributes().Get("n")
					text, _ := json.Marshal(attributes)
					seen[int(n.Double())] = string(text)
				}
			}
		}
		return nil
	}, nil, "file:example/collector.yaml")

	file, err := os.Create(filepath.Join(folder, "app.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	write := func(n int, address string) {
		if _, err := fmt.Fprintf(file, `{"n":%d,"client.address":"%s"}`+"\n", n, address); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(n int) string {
		mutex.Lock()
		defer mutex.Unlock()
		return seen[n]
	}
	probes := 1_000_000
	for _, release := range []string{"first", "second"} {
		if release == "second" {
			compile(release)
			// Until both files are read again.
			for {
				for _, prefix := range prefixes[1:5] {
					probes++
					write(probes, prefix.Addr().String())
				}
				until(t, func() bool { return answer(probes) != "" })
				if strings.Count(answer(probes), "second") == 2 {
					break
				}
			}
		}
		mutex.Lock()
		clear(seen)
		mutex.Unlock()
		asked := questions(random, prefixes, 10_000)
		for n, address := range asked {
			write(n, address)
		}
		until(t, func() bool {
			mutex.Lock()
			defer mutex.Unlock()
			return len(seen) >= len(asked)
		})
		found := 0
		for n, want := range expected(t, folder, asked) {
			text, _ := json.Marshal(want)
			if got := answer(n); got != string(text) {
				t.Fatalf("%s, not %s", got, text)
			}
			if len(want) > 3 {
				found++
			}
		}
		if found < 5000 || found > 9900 {
			t.Errorf("%d of %d have a match", found, len(asked))
		}
	}
}
