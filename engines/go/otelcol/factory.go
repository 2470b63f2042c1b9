// Package popfibprocessor is a processor for the OpenTelemetry Collector: it looks up the address of each span, log record, data
// point or resource in images of popfib, and writes the columns of the longest match as attributes.
//
// docs/pipelines/opentelemetry.md is its guide.
package popfibprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"
)

// Type is the name of the processor in configurations.
var Type = component.MustNewType("popfib")

// NewFactory is what a collector is built with.
func NewFactory() processor.Factory {
	return processor.NewFactory(Type, defaultConfig,
		processor.WithTraces(newTraces, component.StabilityLevelDevelopment),
		processor.WithLogs(newLogs, component.StabilityLevelDevelopment),
		processor.WithMetrics(newMetrics, component.StabilityLevelDevelopment))
}

func newTraces(ctx context.Context, set processor.Settings, config component.Config, next consumer.Traces) (processor.Traces, error) {
	l, err := newLooker(set, config.(*Config))
	if err != nil {
		return nil, err
	}
	return processorhelper.NewTraces(ctx, set, config, next, l.traces, l.options()...)
}

func newLogs(ctx context.Context, set processor.Settings, config component.Config, next consumer.Logs) (processor.Logs, error) {
	l, err := newLooker(set, config.(*Config))
	if err != nil {
		return nil, err
	}
	return processorhelper.NewLogs(ctx, set, config, next, l.logs, l.options()...)
}

func newMetrics(ctx context.Context, set processor.Settings, config component.Config, next consumer.Metrics) (processor.Metrics, error) {
	l, err := newLooker(set, config.(*Config))
	if err != nil {
		return nil, err
	}
	return processorhelper.NewMetrics(ctx, set, config, next, l.metrics, l.options()...)
}

func (l *looker) options() []processorhelper.Option {
	return []processorhelper.Option{
		processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}),
		processorhelper.WithStart(l.start),
		processorhelper.WithShutdown(l.shutdown),
	}
}
