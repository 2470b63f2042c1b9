package popfibprocessor

// The configuration; its errors name the field, below the name of the processor that the collector adds.

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
)

// Values of Config.Context.
const (
	contextRecord   = "record"
	contextResource = "resource"
)

// Config says where addresses are found, and what is written for them.
type Config struct {
	// Context is "record", for the attributes of each span, log record and data point, or "resource".
	Context string `mapstructure:"context"`
	// Attributes may have the address: the first that is there and is one counts.
	Attributes []string `mapstructure:"attributes"`
	// Tables are all asked for each address.
	Tables []TableConfig `mapstructure:"tables"`

	// Traces, logs and metrics of one configuration share it.
	open tables
}

// TableConfig is one table of an image, and the attributes that it gives.
type TableConfig struct {
	// Path is the file of the image, which is opened again when it is published again.
	Path string `mapstructure:"path"`
	// Table is its name in an image of several.
	Table string `mapstructure:"table"`
	// Prefix begins the name of each attribute.
	Prefix string `mapstructure:"prefix"`
	// Columns are names of columns, or NAME=COLUMN where the attribute is called otherwise. Without any, all are written.
	Columns []string `mapstructure:"columns"`
	// Match is the name of the attribute for the prefix that matches; without it, none is written.
	Match string `mapstructure:"match"`
	// ReloadInterval is the time between two looks at the file.
	ReloadInterval time.Duration `mapstructure:"reload_interval"`
}

func defaultConfig() component.Config {
	return &Config{
		Context:    contextRecord,
		Attributes: []string{"client.address", "source.address", "network.peer.address"},
	}
}

// Unmarshal has the defaults of a table, as elements of a list have no others.
func (t *TableConfig) Unmarshal(conf *confmap.Conf) error {
	t.Prefix, t.ReloadInterval = "popfib.", time.Second
	return conf.Unmarshal(t)
}

// Validate is called by the collector before anything is started.
func (c *Config) Validate() error {
	var errs []error
	if c.Context != contextRecord && c.Context != contextResource {
		errs = append(errs, fmt.Errorf("context: %q is neither %q nor %q", c.Context, contextRecord, contextResource))
	}
	if len(c.Attributes) == 0 {
		errs = append(errs, errors.New("attributes: none is named that has an address"))
	}
	for n, name := range c.Attributes {
		if name == "" {
			errs = append(errs, fmt.Errorf("attributes::%d: the name is empty", n))
		}
	}
	if len(c.Tables) == 0 {
		errs = append(errs, errors.New("tables: there is none"))
	}
	// What two columns write, one of them would lose.
	writers := map[string]string{}
	for n := range c.Tables {
		t := &c.Tables[n]
		for m := range t.Columns {
			attribute, _ := t.column(m)
			errs = append(errs, once(writers, attribute, fmt.Sprintf("tables::%d::columns::%d", n, m)))
		}
		if t.Match != "" {
			errs = append(errs, once(writers, t.Prefix+t.Match, fmt.Sprintf("tables::%d::match", n)))
		}
	}
	return errors.Join(errs...)
}

// Validate is called by the collector, which adds which table it is.
func (t *TableConfig) Validate() error {
	var errs []error
	if t.Path == "" {
		errs = append(errs, errors.New("path: it is empty; an image is made by `popfib compile FILE -o IMAGE`"))
	}
	if t.ReloadInterval <= 0 {
		errs = append(errs, fmt.Errorf("reload_interval: %v is no time between two looks at the file", t.ReloadInterval))
	}
	for n := range t.Columns {
		if attribute, column := t.column(n); column == "" || attribute == t.Prefix {
			errs = append(errs, fmt.Errorf("columns::%d: %q is neither COLUMN nor NAME=COLUMN", n, t.Columns[n]))
		}
	}
	return errors.Join(errs...)
}

// column is the name of an attribute and of the column whose values it has.
func (t *TableConfig) column(n int) (attribute, column string) {
	name, column, renamed := strings.Cut(t.Columns[n], "=")
	if !renamed {
		column = name
	}
	return t.Prefix + name, column
}

// once is an error if another field writes the attribute.
func once(writers map[string]string, attribute, field string) error {
	if other, twice := writers[attribute]; twice {
		return fmt.Errorf("%s: attribute %q is already that of %s", field, attribute, other)
	}
	writers[attribute] = field
	return nil
}
