package popfibprocessor

// Images in; functions that write the values of a record as attributes, of the newest version of each file.

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"sync"

	popfib "example.org/popfib/engines/go"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.uber.org/zap"
)

// A version is one table and what belongs to it, which is used as a whole.
type version struct {
	table   *popfib.Table
	match   string
	writers []writer
}

// A writer writes the value that the record of this number has in one column, if it has one.
type writer func(attributes pcommon.Map, number uint32)

// write says whether the address has a match.
func (v *version) write(attributes pcommon.Map, address netip.Addr) bool {
	var record popfib.Record
	var found bool
	if v.match == "" {
		record, found = v.table.Lookup(address)
	} else {
		var prefix netip.Prefix
		if prefix, record, found = v.table.Match(address); found {
			attributes.PutStr(v.match, prefix.String())
		}
	}
	if found {
		attributes.EnsureCapacity(attributes.Len() + len(v.writers))
		for _, write := range v.writers {
			write(attributes, record.Number())
		}
	}
	return found
}

// versionOf returns the table with what is chosen of it.
func (t *TableConfig) versionOf(table *popfib.Table) (*version, error) {
	v := &version{table: table}
	if t.Match != "" {
		if v.match = t.Prefix + t.Match; !table.HasPrefixes() {
			return nil, errors.New("match: the image has values alone; `popfib compile --keep prefixes` keeps prefixes")
		}
	}
	types := map[string]string{}
	chosen := *t
	for _, column := range table.Columns() {
		types[column.Name] = column.Type
		if len(t.Columns) == 0 {
			chosen.Columns = append(chosen.Columns, column.Name+"="+column.Name)
		}
	}
	for n := range chosen.Columns {
		attribute, column := chosen.column(n)
		write, err := writerOf(table, column, types[column], attribute)
		if err != nil {
			return nil, fmt.Errorf("columns::%d: %w", n, err)
		}
		v.writers = append(v.writers, write)
	}
	if len(v.writers) == 0 && v.match == "" {
		return nil, errors.New("columns: the image has none, and no attribute is named for `match`")
	}
	return v, nil
}

func writerOf(table *popfib.Table, column, kind, attribute string) (writer, error) {
	switch kind {
	case "integer":
		return put(table, column, attribute, pcommon.Value.SetInt)
	case "list of integers":
		return put(table, column, attribute, list(pcommon.Value.SetInt))
	case "unsigned integer":
		return put(table, column, attribute, setUnsigned)
	case "list of unsigned integers":
		return put(table, column, attribute, list(setUnsigned))
	case "float":
		return put(table, column, attribute, pcommon.Value.SetDouble)
	case "list of floats":
		return put(table, column, attribute, list(pcommon.Value.SetDouble))
	case "boolean":
		return put(table, column, attribute, pcommon.Value.SetBool)
	case "list of booleans":
		return put(table, column, attribute, list(pcommon.Value.SetBool))
	case "list of texts":
		return put(table, column, attribute, list(pcommon.Value.SetStr))
	default:
		// Text, or no column at all, of which ColumnOf says which there are.
		return put(table, column, attribute, pcommon.Value.SetStr)
	}
}

func put[T popfib.Value](table *popfib.Table, column, attribute string, set func(pcommon.Value, T)) (writer, error) {
	values, err := popfib.ColumnOf[T](table, column)
	if err != nil {
		return nil, err
	}
	return func(attributes pcommon.Map, number uint32) {
		if value, present := values.At(number); present {
			set(attributes.PutEmpty(attribute), value)
		}
	}, nil
}

func list[T any](set func(pcommon.Value, T)) func(pcommon.Value, []T) {
	return func(value pcommon.Value, elements []T) {
		slice := value.SetEmptySlice()
		slice.EnsureCapacity(len(elements))
		for _, element := range elements {
			set(slice.AppendEmpty(), element)
		}
	}
}

// setUnsigned writes an integer, or its digits if attributes have no integers as large.
func setUnsigned(value pcommon.Value, number uint64) {
	if number <= math.MaxInt64 {
		value.SetInt(int64(number))
	} else {
		value.SetStr(strconv.FormatUint(number, 10))
	}
}

// tables are the files of a configuration, open as long as anyone uses them.
type tables struct {
	mutex    sync.Mutex
	users    int
	watchers []*popfib.Watcher[*version]
}

func (c *Config) start(logger *zap.Logger) ([]*popfib.Watcher[*version], error) {
	c.open.mutex.Lock()
	defer c.open.mutex.Unlock()
	for n := len(c.open.watchers); n < len(c.Tables); n++ {
		t := &c.Tables[n]
		with := []popfib.WatchOption{
			popfib.WithInterval(t.ReloadInterval),
			popfib.WithOnError(func(err error) {
				logger.Error("The image cannot be opened again; the one before it stays in use.", zap.Error(err))
			}),
			popfib.WithOnReload(func() { logger.Info("The image was opened again.", zap.String("path", t.Path)) }),
		}
		if t.Table != "" {
			with = append(with, popfib.WithTable(t.Table))
		}
		watcher, err := popfib.WatchAs(t.Path, t.versionOf, with...)
		if err != nil {
			c.open.closeUnused()
			return nil, fmt.Errorf("tables::%d: %w", n, err)
		}
		c.open.watchers = append(c.open.watchers, watcher)
	}
	c.open.users++
	return c.open.watchers, nil
}

func (c *Config) stop() {
	c.open.mutex.Lock()
	defer c.open.mutex.Unlock()
	c.open.users--
	c.open.closeUnused()
}

func (t *tables) closeUnused() {
	if t.users > 0 {
		return
	}
	for _, watcher := range t.watchers {
		watcher.Close()
	}
	t.watchers = nil
}
