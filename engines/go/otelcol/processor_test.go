package popfibprocessor

// The processor by itself: its factory and configuration, each kind of record, types of values, counts, and files that change.

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	popfib "example.org/popfib/engines/go"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

const recordsFile = "../../vectors/records.fib"

type values = map[string]any

// configOf is the configuration that a collector makes of this.
func configOf(t testing.TB, settings values) (*Config, error) {
	t.Helper()
	config := NewFactory().CreateDefaultConfig().(*Config)
	if err := confmap.NewFromStringMap(settings).Unmarshal(config); err != nil {
		return nil, err
	}
	return config, confmap.Validate(config)
}

// records is a configuration with the image of all types.
func records(table values, more values) values {
	table["path"], table["table"] = recordsFile, "records"
	settings := values{"tables": []any{table}}
	for name, value := range more {
		settings[name] = value
	}
	return settings
}

func must(t testing.TB, settings values) *Config {
	t.Helper()
	config, err := configOf(t, settings)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func started[P component.Component](t testing.TB, p P, err error) P {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// logs are records with these attributes.
func logs(t testing.TB, records ...values) plog.Logs {
	t.Helper()
	all := plog.NewLogs()
	into := all.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	for _, record := range records {
		fill(t, into.AppendEmpty().Attributes(), record)
	}
	return all
}

func fill(t testing.TB, attributes pcommon.Map, from values) {
	t.Helper()
	if err := attributes.FromRaw(from); err != nil {
		t.Fatal(err)
	}
}

func TestFactory(t *testing.T) {
	factory := NewFactory()
	if factory.Type() != Type {
		t.Error(factory.Type())
	}
	if err := componenttest.CheckConfigStruct(factory.CreateDefaultConfig()); err != nil {
		t.Error(err)
	}
	processortest.VerifyShutdown(t, factory, must(t, records(values{}, nil)))
}

func TestLifecycle(t *testing.T) {
	factory, config := NewFactory(), must(t, records(values{}, nil))
	set := processortest.NewNopSettings(Type)
	create := []func() (component.Component, error){
		func() (component.Component, error) {
			return factory.CreateLogs(t.Context(), set, config, consumertest.NewNop())
		},
		func() (component.Component, error) {
			return factory.CreateTraces(t.Context(), set, config, consumertest.NewNop())
		},
		func() (component.Component, error) {
			return factory.CreateMetrics(t.Context(), set, config, consumertest.NewNop())
		},
	}
	// Never started, then all of one configuration twice, which share the files until the last ends.
	for _, create := range create {
		p, err := create()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		var all []component.Component
		for _, create := range create {
			p, err := create()
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Start(t.Context(), componenttest.NewNopHost()); err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		if len(config.open.watchers) != 1 || config.open.users != 3 {
			t.Errorf("%d files for %d", len(config.open.watchers), config.open.users)
		}
		for _, p := range all {
			if config.open.watchers == nil {
				t.Error("the files are closed too early")
			}
			if err := p.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if config.open.watchers != nil || config.open.users != 0 {
			t.Error("files stay open")
		}
	}
}

func TestConfigErrorsNameTheField(t *testing.T) {
	for _, of := range []struct {
		settings values
		want     string
	}{
		{values{}, "tables: there is none"},
		{records(values{}, values{"context": "span"}), `context: "span" is neither "record" nor "resource"`},
		{records(values{}, values{"attributes": []any{}}), "attributes: none is named"},
		{records(values{}, values{"attributes": []any{"a", ""}}), "attributes::1: the name is empty"},
		{records(values{}, values{"atributes": []any{"a"}}), "atributes"},
		{records(values{"colums": []any{"a"}}, nil), "colums"},
		{values{"tables": []any{values{"prefix": "a."}}}, "tables::0: path: it is empty"},
		{records(values{"reload_interval": "0s"}, nil), "tables::0: reload_interval: 0s"},
		{records(values{"reload_interval": "often"}, nil), "reload_interval"},
		{records(values{"columns": []any{"asn", "x="}}, nil), `tables::0: columns::1: "x="`},
		{records(values{"columns": []any{"=asn"}}, nil), `tables::0: columns::0: "=asn"`},
		{records(values{"columns": []any{"asn", "asn=up"}}, nil), `tables::0::columns::1: attribute "popfib.asn" is already that of tables::0::columns::0`},
		{records(values{"columns": []any{"asn"}, "match": "asn"}, nil), `tables::0::match: attribute "popfib.asn" is already that of`},
	} {
		_, err := configOf(t, of.settings)
		if err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%v: %v, not %q", of.settings, err, of.want)
		}
	}
}

func TestStartErrorsNameTheField(t *testing.T) {
	for _, of := range []struct {
		table values
		want  string
	}{
		{values{"path": "gone.fib"}, "tables::0: open gone.fib"},
		{values{"path": "factory.go"}, "tables::0: factory.go: not a popfib image"},
		{values{"path": recordsFile}, `tables::0: ` + recordsFile + `: an image of several tables`},
		{values{"path": recordsFile, "table": "cities"}, `cities`},
		{values{"path": recordsFile, "table": "records", "columns": []any{"asn", "city"}}, `columns::1: no column "city" in "country"`},
		{values{"path": "../testdata/values.fib", "match": "network"}, "match: the image has values alone"},
	} {
		config := must(t, values{"tables": []any{of.table}})
		p, err := NewFactory().CreateLogs(t.Context(), processortest.NewNopSettings(Type), config, consumertest.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		err = p.Start(t.Context(), componenttest.NewNopHost())
		if err == nil || !strings.Contains(err.Error(), of.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, not %q", of.table, err, of.want)
		}
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// Attributes of a record in, and what is there afterwards.
func TestRecords(t *testing.T) {
	vienna := values{
		"popfib.country": "AT", "popfib.asn": int64(64500), "popfib.names.city": "Wien", "popfib.tags": []any{"vpn", "a,b"},
		"popfib.ports": []any{int64(22), int64(443)}, "popfib.rate": 1.5, "popfib.up": true, "popfib.delta": int64(-7),
		"popfib.id": "18446744073709551615",
	}
	asn := values{"columns": []any{"asn"}}
	with := func(more values, of values) values {
		all := values{}
		for _, from := range []values{of, more} {
			for name, value := range from {
				all[name] = value
			}
		}
		return all
	}
	for _, of := range []struct {
		what     string
		settings values
		in       values
		added    values
	}{
		{"all columns", records(values{}, nil), values{"client.address": "10.1.2.3"}, vienna},
		{"mapped", records(values{}, nil), values{"client.address": "::ffff:10.1.2.3"}, vienna},
		{"absent values", records(values{}, nil), values{"client.address": "10.1.2.4"},
			values{"popfib.asn": int64(64500), "popfib.ports": []any{int64(443)}, "popfib.delta": int64(7)}},
		{"IPv6", records(asn, nil), values{"client.address": "2001:db9::1"}, values{"popfib.asn": int64(0)}},
		{"a zone", records(asn, nil), values{"client.address": "fe80::1%eth0"}, values{"popfib.asn": int64(0)}},
		{"names", records(values{"prefix": "geo.", "columns": []any{"country", "locality.name=names.city"}, "match": "network"}, nil),
			values{"client.address": "10.1.2.3"}, values{"geo.country": "AT", "geo.locality.name": "Wien", "geo.network": "10.1.2.3/32"}},
		{"no prefix", records(values{"prefix": "", "columns": []any{"asn"}}, nil), values{"client.address": "10.1.2.3"}, values{"asn": int64(64500)}},
		{"one that is there", records(asn, nil), values{"client.address": "10.1.2.3", "popfib.asn": "?"}, values{"popfib.asn": int64(64500)}},
		{"the first", records(asn, nil), values{"network.peer.address": "::1", "source.address": "10.1.2.3"}, values{"popfib.asn": int64(64500)}},
		{"the first address", records(asn, nil), values{"client.address": "host.example", "source.address": "10.1.2.3"}, values{"popfib.asn": int64(64500)}},
		{"named", records(asn, values{"attributes": []any{"ip"}}), values{"ip": "10.1.2.3", "client.address": "::1"}, values{"popfib.asn": int64(64500)}},
		{"no address", records(asn, nil), values{"client.address": "host.example", "source.address": "10.1.2.3:80"}, nil},
		{"a number", records(asn, nil), values{"client.address": int64(10)}, nil},
		{"absent", records(asn, nil), values{"a": "10.1.2.3"}, nil},
		{"no match", values{"tables": []any{values{"path": ten(t)}}}, values{"client.address": "198.18.0.1"}, nil},
		{"several tables", values{"tables": []any{
			values{"path": recordsFile, "table": "records", "columns": []any{"asn"}},
			values{"path": recordsFile, "table": "country", "prefix": "geo."}}},
			values{"client.address": "10.1.2.3"}, values{"popfib.asn": int64(64500), "geo.country": "AT"}},
	} {
		sink := new(consumertest.LogsSink)
		p, err := NewFactory().CreateLogs(t.Context(), processortest.NewNopSettings(Type), must(t, of.settings), sink)
		p = started(t, p, err)
		if !p.Capabilities().MutatesData {
			t.Error("it changes data")
		}
		if err := p.ConsumeLogs(t.Context(), logs(t, of.in)); err != nil {
			t.Fatal(err)
		}
		got := sink.AllLogs()[0].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes().AsRaw()
		if want := with(of.added, of.in); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, not %v", of.what, got, want)
		}
	}
}

// Every kind of record of every signal, by its own attributes or by those of its resource.
func TestSignals(t *testing.T) {
	in := values{"client.address": "10.1.2.3"}
	for _, context := range []string{contextRecord, contextResource} {
		config := must(t, records(values{"columns": []any{"asn"}}, values{"context": context}))
		var seen []pcommon.Map
		expect := func(what string, count int, resource pcommon.Resource) {
			t.Helper()
			if len(seen) != count {
				t.Errorf("%d %s", len(seen), what)
			}
			for _, of := range append(seen, resource.Attributes()) {
				asn, there := of.Get("popfib.asn")
				if isResource := of == resource.Attributes(); there != (isResource == (context == contextResource)) || there && asn.Int() != 64500 {
					t.Errorf("%s, %s: %v", context, what, of.AsRaw())
				}
			}
			seen = nil
		}
		set := processortest.NewNopSettings(Type)

		traces := ptrace.NewTraces()
		spans := traces.ResourceSpans().AppendEmpty()
		fill(t, spans.Resource().Attributes(), in)
		fill(t, spans.ScopeSpans().AppendEmpty().Spans().AppendEmpty().Attributes(), in)
		fill(t, spans.ScopeSpans().At(0).Spans().AppendEmpty().Attributes(), in)
		p, err := NewFactory().CreateTraces(t.Context(), set, config, consumertest.NewNop())
		if err := started(t, p, err).ConsumeTraces(t.Context(), traces); err != nil {
			t.Fatal(err)
		}
		for _, span := range spans.ScopeSpans().At(0).Spans().All() {
			seen = append(seen, span.Attributes())
		}
		expect("spans", 2, spans.Resource())

		ofLogs := logs(t, in, in)
		fill(t, ofLogs.ResourceLogs().At(0).Resource().Attributes(), in)
		l, err := NewFactory().CreateLogs(t.Context(), set, config, consumertest.NewNop())
		if err := started(t, l, err).ConsumeLogs(t.Context(), ofLogs); err != nil {
			t.Fatal(err)
		}
		for _, record := range ofLogs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
			seen = append(seen, record.Attributes())
		}
		expect("log records", 2, ofLogs.ResourceLogs().At(0).Resource())

		metrics := pmetric.NewMetrics()
		resource := metrics.ResourceMetrics().AppendEmpty()
		fill(t, resource.Resource().Attributes(), in)
		all := resource.ScopeMetrics().AppendEmpty().Metrics()
		all.AppendEmpty()
		seen = append(seen, all.AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty().Attributes(),
			all.AppendEmpty().SetEmptySum().DataPoints().AppendEmpty().Attributes(),
			all.AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty().Attributes(),
			all.AppendEmpty().SetEmptyExponentialHistogram().DataPoints().AppendEmpty().Attributes(),
			all.AppendEmpty().SetEmptySummary().DataPoints().AppendEmpty().Attributes())
		for _, of := range seen {
			fill(t, of, in)
		}
		m, err := NewFactory().CreateMetrics(t.Context(), set, config, consumertest.NewNop())
		if err := started(t, m, err).ConsumeMetrics(t.Context(), metrics); err != nil {
			t.Fatal(err)
		}
		expect("data points", 5, resource.Resource())
	}
}

func TestCounts(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	defer func() { _ = telemetry.Shutdown(context.Background()) }()
	set := processor.Settings{ID: component.NewIDWithName(Type, "one"), TelemetrySettings: telemetry.NewTelemetrySettings()}
	path := ten(t)
	config := must(t, values{"tables": []any{values{"path": path}, values{"path": path, "prefix": "b."}}})
	p, err := NewFactory().CreateLogs(t.Context(), set, config, consumertest.NewNop())
	p = started(t, p, err)
	if err := p.ConsumeLogs(t.Context(), logs(t, values{"client.address": "10.1.2.3"}, values{"client.address": "198.18.0.1"},
		values{"client.address": "x"}, values{"client.address": "y"}, values{}, values{"a": "b"}, values{})); err != nil {
		t.Fatal(err)
	}
	got, err := telemetry.GetMetric("otelcol_processor_popfib_records")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, point := range got.Data.(metricdata.Sum[int64]).DataPoints {
		result, _ := point.Attributes.Value("result")
		name, _ := point.Attributes.Value("processor")
		counts[name.AsString()+" "+result.AsString()] = point.Value
	}
	if want := map[string]int64{"popfib/one matched": 1, "popfib/one unmatched": 1, "popfib/one no_address": 2, "popfib/one absent": 3}; !reflect.DeepEqual(counts, want) {
		t.Errorf("%v, not %v", counts, want)
	}
}

// publish puts a file in the place of another as a whole, as the command does.
func publish(t testing.TB, path string, image []byte) {
	t.Helper()
	if err := os.WriteFile(path+".next", image, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".next", path); err != nil {
		t.Fatal(err)
	}
}

// ten is the path of an image of 10.0.0.0/8 alone.
func ten(t testing.TB) string {
	t.Helper()
	image, err := popfib.BuildImage[string](func(yield func(netip.Prefix, string) bool) {
		yield(netip.MustParsePrefix("10.0.0.0/8"), "ten")
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ten.fib")
	publish(t, path, image)
	return path
}

// generation is an image whose every answer says which one it is.
func generation(t testing.TB, number int) []byte {
	t.Helper()
	image, err := popfib.BuildImage[string](func(yield func(netip.Prefix, string) bool) {
		for n := range 64 {
			part := (n + number*7) % 64
			if !yield(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(part)}), 16), fmt.Sprintf("%d.%d", number, part)) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// Batches of many goroutines while files are published, broken in between: each is of one version, and none is lost.
func TestReloadUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.fib")
	publish(t, path, generation(t, 0))
	table := values{"path": path, "reload_interval": "1ms", "prefix": ""}
	config := must(t, values{"tables": []any{table}})
	var in []values
	for part := range 64 {
		in = append(in, values{"client.address": fmt.Sprintf("10.%d.1.2", part)})
	}
	var mutex sync.Mutex
	counts := map[string]int{}
	check := func(l plog.Logs) error {
		first := ""
		for part, record := range l.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
			value, there := record.Attributes().Get("value")
			if !there {
				t.Error(record.Attributes().AsRaw())
				return nil
			}
			number, is, _ := strings.Cut(value.Str(), ".")
			if first == "" {
				first = number
			}
			if number != first || is != fmt.Sprint(part) {
				t.Errorf("part %d has %q in a batch of %s", part, value.Str(), first)
			}
		}
		mutex.Lock()
		defer mutex.Unlock()
		counts[first]++
		return nil
	}
	sink := consumerOf(check)
	p, err := NewFactory().CreateLogs(t.Context(), processortest.NewNopSettings(Type), config, sink)
	p = started(t, p, err)
	done := make(chan struct{})
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := p.ConsumeLogs(context.Background(), logs(t, in...)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for number := range 20 {
		if number%3 == 2 {
			publish(t, path, generation(t, number)[:1000])
		}
		publish(t, path, generation(t, number))
		until(t, func() bool {
			mutex.Lock()
			defer mutex.Unlock()
			return counts[fmt.Sprint(number)] > 0
		})
	}
	close(done)
	senders.Wait()
}

func until(t testing.TB, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it took too long")
		}
	}
}

// consumerOf hands each batch to the function.
func consumerOf(each func(plog.Logs) error) consumer.Logs {
	next, err := consumer.NewLogs(func(_ context.Context, l plog.Logs) error { return each(l) })
	if err != nil {
		panic(err)
	}
	return next
}
