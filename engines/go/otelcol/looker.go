package popfibprocessor

// Traces, logs and metrics in; the same with more attributes out, and counts of what was found.

import (
	"context"
	"net/netip"

	popfib "example.org/popfib/engines/go"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
)

// What became of a record.
const (
	matched   = iota // a table has the address
	unmatched        // none has it
	noAddress        // attributes are there, but none is an address
	absent           // none of the attributes is there
	results
)

var resultNames = [results]string{"matched", "unmatched", "no_address", "absent"}

// A looker looks up what passes one pipeline.
type looker struct {
	config   *Config
	logger   *zap.Logger
	watchers []*popfib.Watcher[*version]
	counter  metric.Int64Counter
	labels   [results]metric.MeasurementOption
}

func newLooker(set processor.Settings, config *Config) (*looker, error) {
	l := &looker{config: config, logger: set.Logger}
	for n, name := range resultNames {
		l.labels[n] = metric.WithAttributeSet(attribute.NewSet(
			attribute.String("processor", set.ID.String()), attribute.String("result", name)))
	}
	var err error
	l.counter, err = set.MeterProvider.Meter("example.org/popfib/engines/go/otelcol").Int64Counter("otelcol_processor_popfib_records",
		metric.WithUnit("{records}"),
		metric.WithDescription("Records, or resources, by what became of their address: matched, unmatched, no_address or absent."))
	return l, err
}

func (l *looker) start(context.Context, component.Host) (err error) {
	l.watchers, err = l.config.start(l.logger)
	return err
}

func (l *looker) shutdown(context.Context) error {
	if l.watchers != nil {
		l.watchers = nil
		l.config.stop()
	}
	return nil
}

// A batch is looked up in one version of each table.
type batch struct {
	*looker
	versions []*version
	counts   [results]int64
}

func (l *looker) batch() *batch {
	b := &batch{looker: l, versions: make([]*version, len(l.watchers))}
	for n, watcher := range l.watchers {
		b.versions[n] = watcher.Current()
	}
	return b
}

func (b *batch) end(ctx context.Context) {
	for n, count := range b.counts {
		if count > 0 {
			b.counter.Add(ctx, count, b.labels[n])
		}
	}
}

// inResource says whether the batch is about resources, of which it looks up this one.
func (b *batch) inResource(resource pcommon.Resource) bool {
	if b.config.Context != contextResource {
		return false
	}
	b.record(resource.Attributes())
	return true
}

func (b *batch) record(attributes pcommon.Map) {
	address, result := b.address(attributes)
	if result == unmatched {
		for _, version := range b.versions {
			if version.write(attributes, address) {
				result = matched
			}
		}
	}
	b.counts[result]++
}

// address is that of the first attribute that has one; the result is unmatched if there is one.
func (b *batch) address(attributes pcommon.Map) (netip.Addr, int) {
	result := absent
	for _, name := range b.config.Attributes {
		value, there := attributes.Get(name)
		if !there {
			continue
		}
		if value.Type() == pcommon.ValueTypeStr {
			if address, err := netip.ParseAddr(value.Str()); err == nil {
				// Addresses of sockets of both families mean IPv4.
				return address.Unmap(), unmatched
			}
		}
		result = noAddress
	}
	return netip.Addr{}, result
}

func (l *looker) traces(ctx context.Context, traces ptrace.Traces) (ptrace.Traces, error) {
	b := l.batch()
	for _, resource := range traces.ResourceSpans().All() {
		if b.inResource(resource.Resource()) {
			continue
		}
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				b.record(span.Attributes())
			}
		}
	}
	b.end(ctx)
	return traces, nil
}

func (l *looker) logs(ctx context.Context, logs plog.Logs) (plog.Logs, error) {
	b := l.batch()
	for _, resource := range logs.ResourceLogs().All() {
		if b.inResource(resource.Resource()) {
			continue
		}
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				b.record(record.Attributes())
			}
		}
	}
	b.end(ctx)
	return logs, nil
}

func (l *looker) metrics(ctx context.Context, metrics pmetric.Metrics) (pmetric.Metrics, error) {
	b := l.batch()
	for _, resource := range metrics.ResourceMetrics().All() {
		if b.inResource(resource.Resource()) {
			continue
		}
		for _, scope := range resource.ScopeMetrics().All() {
			for _, m := range scope.Metrics().All() {
				b.points(m)
			}
		}
	}
	b.end(ctx)
	return metrics, nil
}

func (b *batch) points(m pmetric.Metric) {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		points(b, m.Gauge().DataPoints().All())
	case pmetric.MetricTypeSum:
		points(b, m.Sum().DataPoints().All())
	case pmetric.MetricTypeHistogram:
		points(b, m.Histogram().DataPoints().All())
	case pmetric.MetricTypeExponentialHistogram:
		points(b, m.ExponentialHistogram().DataPoints().All())
	case pmetric.MetricTypeSummary:
		points(b, m.Summary().DataPoints().All())
	}
}

func points[P interface{ Attributes() pcommon.Map }](b *batch, all func(func(int, P) bool)) {
	for _, point := range all {
		b.record(point.Attributes())
	}
}
